// RUN: dt-opt %s -p tile-convert-terms | filecheck %s
// The terms of a difference along two axes are converted, one before the loop that leaves it alone.
// CHECK-LABEL: tile.kernel @difference
tile.kernel @difference(%A: memref<?x?xf32> {host.name = "A", host.axes = ["i", "j"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["i"]}) attributes {grid_blocks = [16], grid_labels = ["i"], labels = ["i", "j"], root = "f"} {
  // CHECK: %i_size = tile.size i
  // CHECK-NEXT: %[[MOST_I:.*]] = arith.constant 16777200 : index
  // CHECK-NEXT: %[[I:.*]] = arith.cmpi sle, %i_size, %[[MOST_I]]
  // CHECK-NEXT: %j_size = tile.size j
  // CHECK-NEXT: %[[MOST_J:.*]] = arith.constant 16777208 : index
  // CHECK-NEXT: %[[J:.*]] = arith.cmpi sle, %j_size, %[[MOST_J]]
  // CHECK-NEXT: %exact = arith.andi %[[I]], %[[J]]
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %n = tile.size j
  %pid = tile.program_id
  %o = arith.muli %pid, %c16 : index
  %i = tile.range i: 16 from %o
  %a = tile.map arith.index_cast %i : !tile.of<i: 16, i32>
  %zero = arith.constant 0.0 : f32
  %zeros = tile.fill %zero : !tile.of<i: 16, f32>
  // CHECK: %[[AF:.*]] = tile.map arith.sitofp %{{.*}} : !tile.of<i: 16, f32>
  // CHECK-NEXT: scf.for
  %r = scf.for %j0 = %c0 to %n step %c8 iter_args(%t = %zeros) -> (!tile.of<i: 16, f32>) {
    %j = tile.range j: 8 from %j0
    %l = tile.load %A[%i, %j]
    %b = tile.map arith.index_cast %j : !tile.of<j: 8, i32>
    // CHECK: %[[BF:.*]] = tile.map arith.sitofp %{{.*}} : !tile.of<j: 8, f32>
    // CHECK-NEXT: %s = tile.map (%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}}, %[[L:.*]] = %l, %[[P:.*]] = %[[BF]], %[[Q:.*]] = %[[AF]]
    // CHECK-SAME: %exact_1 = %exact
    // CHECK-NEXT: %[[D:.*]] = arith.subi %[[X]], %[[Y]] : i32
    // CHECK-NEXT: %[[F:.*]] = arith.subf %[[P]], %[[Q]] : f32
    // CHECK-NEXT: %[[W:.*]] = arith.sitofp %[[D]] : i32 to f32
    // CHECK-NEXT: %[[C:.*]] = arith.select %exact_1, %[[F]], %[[W]] : f32
    // CHECK-NEXT: arith.mulf %[[L]], %[[C]]
    %s = tile.map (%x = %b, %y = %a, %z = %l) -> !tile.of<i: 16, j: 8, f32> {
      %d = arith.subi %x, %y : i32
      %e = arith.sitofp %d : i32 to f32
      %m = arith.mulf %z, %e : f32
      tile.yield %m : f32
    }
    %u = tile.reduce add %s along j
    %v = tile.map arith.addf %t, %u
    scf.yield %v : !tile.of<i: 16, f32>
  }
  tile.store %r, %f[%i]
}
// Multiples, numbers and sizes are parts of a term; absolute values and extremes follow. What is
// converted counts: 3 * i, up to a tile beyond the size, and j + j_size - 5.
// CHECK-LABEL: tile.kernel @distance
// CHECK: %i_size = tile.size i
// CHECK: arith.constant 5592389 : index
// CHECK: %j_size = tile.size j
// CHECK: arith.constant 16777203 : index
tile.kernel @distance(%f: memref<?x?xf32> {host.name = "f", host.axes = ["i", "j"]}) attributes {grid_blocks = [16], grid_labels = ["i"], labels = ["i", "j"], root = "f"} {
  %c0 = arith.constant 0 : index
  %n = tile.size j
  %m = arith.index_cast %n : index to i32
  %pid = tile.program_id
  %c16 = arith.constant 16 : index
  %o = arith.muli %pid, %c16 : index
  %i = tile.range i: 16 from %o
  %j = tile.range j: 8 from %c0
  %a = tile.map arith.index_cast %i : !tile.of<i: 16, i32>
  %b = tile.map arith.index_cast %j : !tile.of<j: 8, i32>
  // CHECK: %[[JF:.*]] = tile.map (%[[Y:.*]] = %b, %[[M:.*]] = %m) {
  // CHECK-NEXT: %[[S:.*]] = arith.addi %[[Y]], %[[M]] : i32
  // CHECK-NEXT: %[[FIVE:.*]] = arith.constant -5 : i32
  // CHECK-NEXT: %[[U:.*]] = arith.addi %[[S]], %[[FIVE]] : i32
  // CHECK-NEXT: arith.sitofp %[[U]]
  // CHECK: %[[IF:.*]] = tile.map (%[[X:.*]] = %a) {
  // CHECK-NEXT: %[[THREE:.*]] = arith.constant 3 : i32
  // CHECK-NEXT: %[[T:.*]] = arith.muli %[[X]], %[[THREE]] : i32
  // CHECK-NEXT: arith.sitofp %[[T]]
  // CHECK: arith.subf
  // CHECK-NEXT: arith.constant 9.000000e+00 : f32
  // CHECK-NEXT: arith.minimumf
  // CHECK-NEXT: math.absf
  // CHECK-NEXT: arith.sitofp
  // CHECK-NEXT: arith.select %exact
  %s = tile.map (%x = %a, %y = %b, %z = %m) -> !tile.of<i: 16, j: 8, f32> {
    %c3 = arith.constant 3 : i32
    %c5 = arith.constant 5 : i32
    %c9 = arith.constant 9 : i32
    %0 = arith.muli %x, %c3 : i32
    %1 = arith.subi %y, %0 : i32
    %2 = arith.addi %1, %z : i32
    %3 = arith.subi %2, %c5 : i32
    %4 = arith.minsi %3, %c9 : i32
    %5 = math.absi %4 : i32
    %6 = arith.sitofp %5 : i32 to f32
    tile.yield %6 : f32
  }
  tile.store %s, %f[%i, %j]
}
// What loads give has no bound, and what runs along both axes already is as many conversions.
// CHECK-LABEL: tile.kernel @apart
// CHECK-NOT: arith.select
// CHECK-NOT: arith.subf
tile.kernel @apart(%A: memref<?xi32> {host.name = "A", host.axes = ["i"]}, %B: memref<?x?xi32> {host.name = "B", host.axes = ["i", "j"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["i", "j"]}, %g: memref<?x?xf32> {host.name = "g", host.axes = ["i", "j"]}, %h: memref<?xf32> {host.name = "h", host.axes = ["j"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["i", "j"], root = "f"} {
  %c0 = arith.constant 0 : index
  %n = tile.size j
  %m = arith.index_cast %n : index to i32
  %i = tile.range i: 16 from %c0
  %j = tile.range j: 8 from %c0
  %b = tile.map arith.index_cast %j : !tile.of<j: 8, i32>
  %l = tile.load %A[%i]
  %k = tile.load %B[%i, %j]
  %s = tile.map (%x = %l, %y = %b) -> !tile.of<i: 16, j: 8, f32> {
    %0 = arith.subi %y, %x : i32
    %1 = arith.sitofp %0 : i32 to f32
    tile.yield %1 : f32
  }
  %t = tile.map (%x = %k, %y = %b) -> !tile.of<i: 16, j: 8, f32> {
    %0 = arith.subi %y, %x : i32
    %1 = arith.sitofp %0 : i32 to f32
    tile.yield %1 : f32
  }
  %u = tile.map (%x = %b, %y = %m) -> !tile.of<j: 8, f32> {
    %0 = arith.subi %y, %x : i32
    %1 = arith.sitofp %0 : i32 to f32
    tile.yield %1 : f32
  }
  tile.store %s, %f[%i, %j]
  tile.store %t, %g[%i, %j]
  tile.store %u, %h[%j]
}
// A type that holds more integers, or fewer, keeps its conversion; so does a kernel whose sizes are
// arguments, in which the choice would cost more than the conversion.
// CHECK-LABEL: tile.kernel @double
// CHECK-NOT: arith.select
tile.kernel @double(%f: memref<?x?xf64> {host.name = "f", host.axes = ["i", "j"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["i", "j"], root = "f"} {
  %c0 = arith.constant 0 : index
  %i = tile.range i: 16 from %c0
  %j = tile.range j: 8 from %c0
  %a = tile.map arith.index_cast %i : !tile.of<i: 16, i32>
  %b = tile.map arith.index_cast %j : !tile.of<j: 8, i32>
  %s = tile.map (%x = %a, %y = %b) -> !tile.of<i: 16, j: 8, f64> {
    %0 = arith.subi %x, %y : i32
    %1 = arith.sitofp %0 : i32 to f64
    tile.yield %1 : f64
  }
  tile.store %s, %f[%i, %j]
}
// CHECK-LABEL: tile.kernel @dynamic
// CHECK-NOT: arith.select
tile.kernel @dynamic(%f: memref<?x?xf32> {host.name = "f", host.axes = ["i", "j"]}) attributes {dynamic, grid_blocks = [], grid_labels = [], labels = ["i", "j"], root = "f"} {
  %c0 = arith.constant 0 : index
  %i = tile.range i: 16 from %c0
  %j = tile.range j: 8 from %c0
  %a = tile.map arith.index_cast %i : !tile.of<i: 16, i32>
  %b = tile.map arith.index_cast %j : !tile.of<j: 8, i32>
  %s = tile.map (%x = %a, %y = %b) -> !tile.of<i: 16, j: 8, f32> {
    %0 = arith.subi %x, %y : i32
    %1 = arith.sitofp %0 : i32 to f32
    tile.yield %1 : f32
  }
  tile.store %s, %f[%i, %j]
}
