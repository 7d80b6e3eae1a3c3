// RUN: dt-opt %s -p tile-use-reciprocals --split-input-file | filecheck %s
// A divisor that is made of sizes is there once; its reciprocal, too, where the divisor is.
// CHECK-LABEL: tile.kernel @sizes
// CHECK: %[[N:.*]] = tile.size k
// CHECK: %[[R:.*]] = math.sqrt
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[I:.*]] = arith.divf %[[ONE]], %[[R]] : f32
// CHECK: %[[A:.*]] = tile.load
// CHECK-NEXT: %{{.*}} = tile.map arith.mulf %[[A]], %[[I]]
// Its numerator is no tile of the kernel's, and the divisor stays for others.
// CHECK: %{{.*}} = tile.map arith.divf %[[R]], %[[A]]
// CHECK: tile.map (%[[X:.*]] = %[[A]], %[[D:.*]] = %[[R]], %[[F:.*]] = %[[I]]) {
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[X]], %[[F]] : f32
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[P]], %[[D]] : f32
// CHECK-NEXT: tile.yield %[[S]] : f32
tile.kernel @sizes(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["k"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %n = tile.size k
  %i = arith.index_cast %n : index to i32
  %g = arith.sitofp %i : i32 to f32
  %r = math.sqrt %g : f32
  %k = tile.range k: 512 from %c0
  %a = tile.load %A[%k]
  %p = tile.map arith.divf %a, %r
  tile.store %p, %f[%k]
  %q = tile.map arith.divf %r, %a
  tile.store %q, %f[%k]
  %s = tile.map (%x = %a, %y = %r) {
    %d = arith.divf %x, %y : f32
    %t = arith.addf %d, %y : f32
    tile.yield %t : f32
  }
  tile.store %s, %f[%k]
}
// -----
// A power of two has an exact reciprocal, in each type and in accurate kernels; of other numbers
// the reciprocal is computed once where that is accurate enough.
// CHECK-LABEL: tile.kernel @numbers
// CHECK: %[[C:.*]] = arith.constant 3.000000e+00 : f32
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: %[[I:.*]] = arith.divf %[[ONE]], %[[C]] : f32
// CHECK: %[[A:.*]] = tile.load
// CHECK: tile.map arith.mulf %[[A]], -0.125
// CHECK: tile.map arith.mulf %[[A]], %[[I]]
// CHECK: tile.map arith.mulf %[[A]], %[[I]]
// There is none of zero, of what is infinite, and of what is tiny.
// CHECK: tile.map arith.divf %[[A]], 0.0
// CHECK: tile.map arith.divf %[[A]], inf
// CHECK: tile.map arith.divf %[[A]], 1.0e-40
tile.kernel @numbers(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["k"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %k = tile.range k: 512 from %c0
  %a = tile.load %A[%k]
  %m = tile.map arith.divf %a, -8.0
  tile.store %m, %f[%k]
  %p = tile.map arith.divf %a, 3.0
  tile.store %p, %f[%k]
  %q = tile.map arith.divf %a, 3.0
  tile.store %q, %f[%k]
  %z = tile.map arith.divf %a, 0.0
  tile.store %z, %f[%k]
  %y = tile.map arith.divf %a, inf
  tile.store %y, %f[%k]
  %t = tile.map arith.divf %a, 1.0e-40
  tile.store %t, %f[%k]
}
// -----
// CHECK-LABEL: tile.kernel @accurate
// CHECK: tile.map arith.mulf %{{.*}}, 0.25
// CHECK: tile.map arith.divf %{{.*}}, 3.0
tile.kernel @accurate(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["k"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], math = "accurate", root = "f"} {
  %c0 = arith.constant 0 : index
  %k = tile.range k: 512 from %c0
  %a = tile.load %A[%k]
  %m = tile.map arith.divf %a, 4.0
  tile.store %m, %f[%k]
  %p = tile.map arith.divf %a, 3.0
  tile.store %p, %f[%k]
}
// -----
// Doubles are divided as they were, but by powers of two.
// CHECK-LABEL: tile.kernel @doubles
// CHECK: tile.map arith.mulf %{{.*}}, 2.0
// CHECK: tile.map arith.divf %{{.*}}, 3.0
tile.kernel @doubles(%A: memref<?xf64> {host.name = "A", host.axes = ["k"]}, %f: memref<?xf64> {host.name = "f", host.axes = ["k"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %k = tile.range k: 512 from %c0
  %a = tile.load %A[%k]
  %m = tile.map arith.divf %a, 0.5
  tile.store %m, %f[%k]
  %p = tile.map arith.divf %a, 3.0
  tile.store %p, %f[%k]
}
// -----
// Of an argument nothing is known: the reciprocal of a tiny one would be infinite. And where each
// thread divides once, outside of loops, a reciprocal would save nothing; in a loop it does.
// CHECK-LABEL: tile.kernel @short
// CHECK: tile.map arith.divf %{{.*}}, %s
// CHECK: tile.map arith.divf %{{.*}}, %g
// CHECK: scf.for
// CHECK: tile.map arith.mulf
tile.kernel @short(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %s: f32 {host.name = "s", host.axes = []}, %f: memref<?xf32> {host.name = "f", host.axes = ["k"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %n = tile.size k
  %i = arith.index_cast %n : index to i32
  %g = arith.sitofp %i : i32 to f32
  %k = tile.range k: 128 from %c0
  %a = tile.load %A[%k]
  %m = tile.map arith.divf %a, %s
  tile.store %m, %f[%k]
  %p = tile.map arith.divf %a, %g
  tile.store %p, %f[%k]
  scf.for %o = %c0 to %n step %c128 {
    %j = tile.range k_1: 128 from %o
    %b = tile.load %A[%j]
    %q = tile.map arith.divf %b, %g
    tile.store %q, %f[%j]
  }
}
// -----
// What is computed for each element has a reciprocal for each, whatever it is made of.
// CHECK-LABEL: tile.kernel @elements
// CHECK: arith.sitofp
// CHECK-NEXT: arith.divf
// CHECK: math.sqrt
// CHECK-NEXT: arith.divf
tile.kernel @elements(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %B: memref<?xi32> {host.name = "B", host.axes = ["k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["k"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %k = tile.range k: 512 from %c0
  %a = tile.load %A[%k]
  %b = tile.load %B[%k]
  %p = tile.map (%x = %a, %y = %b) {
    %g = arith.sitofp %y : i32 to f32
    %d = arith.divf %x, %g : f32
    tile.yield %d : f32
  }
  tile.store %p, %f[%k]
  %q = tile.map (%x = %a) {
    %two = arith.constant 2.0 : f32
    %r = math.sqrt %two : f32
    %d = arith.divf %x, %r : f32
    tile.yield %d : f32
  }
  tile.store %q, %f[%k]
}
