// RUN: ROUNDTRIP
// Types are written where they cannot be inferred from operands.
// CHECK: tile.kernel @f_kernel
// CHECK-NEXT: %A: memref<?x?xf16> {host.name = "A", host.axes = ["x", "k"]},
// CHECK-NEXT: %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}
// CHECK-NEXT: ) attributes {
// CHECK-NEXT: grid_blocks = [128 : i64],
// CHECK-NEXT: grid_labels = ["x"],
// CHECK-NEXT: labels = ["x", "k"],
// CHECK-NEXT: least = {k = 16 : i64},
// CHECK-NEXT: root = "f"
// CHECK-NEXT: } {
tile.kernel @f_kernel(%A: memref<?x?xf16> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [128 : i64], grid_labels = ["x"], labels = ["x", "k"], least = {k = 16 : i64}, root = "f"} {
  // CHECK-NEXT: %[[P:.*]] = tile.program_id
  %p = tile.program_id
  // CHECK-NEXT: %[[N:.*]] = tile.size k
  %n = tile.size k
  // CHECK-NEXT: tile.alternate %[[P]] of %[[N]] by %[[N]] {my.mark}
  %turned = tile.alternate %p of %n by %n {my.mark}
  // CHECK-NEXT: %[[X:.*]] = tile.range x: 32 from %[[P]]
  %x = tile.range x: 32 from %p
  // CHECK-NEXT: %[[K:.*]] = tile.range k from %[[P]] to %[[N]]
  %k = tile.range k from %p to %n
  // CHECK-NEXT: tile.joined_range u_v (u: 2 from %[[P]] to %[[N]], v: 8 from %[[P]] to %[[N]])
  %i1, %i2 = tile.joined_range u_v (u: 2 from %p to %n, v: 8 from %p to %n)
  // CHECK-NEXT: tile.joined_range u_w (u: 3 from %[[P]], w: 1 from %[[N]]) {my.mark = 4 : i64}
  %i3, %i4 = tile.joined_range u_w (u: 3 from %p, w: 1 from %n) {my.mark = 4}
  // CHECK-NEXT: %[[M:.*]] = tile.mask %[[X]] below %[[N]] divisor 32
  %m = tile.mask %x below %n divisor 32
  // CHECK-NEXT: tile.mask %[[K]] below %[[N]] whole
  %w = tile.mask %k below %n whole
  // CHECK-NEXT: tile.mask %[[X]] below %[[N]] within %[[P]]
  %within = tile.mask %x below %n within %p
  // CHECK-NEXT: %[[A:.*]] = tile.load %{{.*}}[%[[X]], %[[K]]] masked [%[[M]]] pad 0.0
  %a = tile.load %A[%x, %k] masked [%m] pad 0.0
  // CHECK-NEXT: %[[S:.*]] = tile.load %{{.*}}[%[[P]], %[[P]]]
  %s = tile.load %A[%p, %p]
  // The axes may be in any order; a masked load says what stands in, a float as a number.
  // CHECK-NEXT: tile.load %{{.*}}[%[[X]], %[[K]]] masked [%[[M]]] pad -inf
  // CHECK-NEXT: eviction_policy "evict_last" {my.mark = 4 : i64} : !tile.of<k, x: 32, f16>
  %o = tile.load %A[%x, %k] masked [%m] pad -inf eviction_policy "evict_last" {my.mark = 4} : !tile.of<k, x: 32, f16>
  // Elements out of bounds have a value of the algorithm's, lanes of a mask one of a pass' choice.
  // CHECK-NEXT: tile.load %{{.*}}[%[[X]], %[[K]]] inside [%[[M]]] fill -inf masked [%[[M]]] pad 0.0
  %bounded = tile.load %A[%x, %k] inside [%m] fill -inf masked [%m] pad 0.0
  // CHECK-NEXT: %[[B:.*]] = tile.map (%[[U:.*]] = %[[A]], %[[V:.*]] = %[[S]]) {
  %b = tile.map (%u = %a, %v = %s) {
    %0 = arith.addf %u, %v : f16
    %1 = arith.extf %0 : f16 to f32
    // CHECK: tile.yield %{{.*}} : f32
    tile.yield %1 : f32
  }
  // CHECK: tile.transpose %[[A]] to [k, x]
  %t = tile.transpose %a to [k, x]
  %j = tile.range x_1: 32 over x from %p
  // CHECK: %[[R:.*]] = tile.rename %{{.*}} to [%{{.*}}] : !tile.of<k, x_1: 32, f16>
  %r = tile.rename %t to [%j] : !tile.of<k, x_1: 32, f16>
  %z = arith.constant 0.0 : f32
  // CHECK: %[[Z:.*]] = tile.fill %{{.*}} : !tile.of<x: 32, x_1: 32, f32>
  %c = tile.fill %z : !tile.of<x: 32, x_1: 32, f32>
  // CHECK-NEXT: tile.dot %[[A]], %[[R]] acc %[[Z]]{{$}}
  %d = tile.dot %a, %r acc %c
  // CHECK-NEXT: tile.scan add %[[B]] along k reverse {my.mark}
  %scan = tile.scan add %b along k reverse {my.mark}
  // CHECK-NEXT: %[[T:.*]] = tile.reduce add %[[B]] along k
  %e = tile.reduce add %b along k
  // CHECK-NEXT: tile.broadcast %[[T]] : !tile.of<x: 32, x_1: 32, f32>
  %g = tile.broadcast %e : !tile.of<x: 32, x_1: 32, f32>
  %h = arith.constant 0 : i64
  %i = tile.fill %h : !tile.of<x: 32, k, i64>
  // CHECK: tile.arg_reduce argmax %[[B]], %{{.*}} along k
  %best, %where = tile.arg_reduce argmax %b, %i along k
  // CHECK-NEXT: tile.store %[[T]], %{{.*}}[%[[X]]] masked [%[[M]]]
  tile.store %e, %f[%x] masked [%m]
  // A body of one operation, with its constants, is one line.
  // CHECK-NEXT: %[[N:.*]] = tile.map arith.negf %[[B]]
  %n1 = tile.map arith.negf %b
  // CHECK-NEXT: tile.map arith.mulf %[[N]], 0.125 {my.mark = 4 : i64}
  %n2 = tile.map (%u = %n1) attributes {my.mark = 4} {
    %0 = arith.constant 0.125 : f32
    %1 = arith.mulf %u, %0 : f32
    tile.yield %1 : f32
  }
  // CHECK-NEXT: tile.map arith.mulf %[[N]], %[[N]]
  %n3 = tile.map arith.mulf %n1, %n1
  // CHECK-NEXT: tile.map arith.select %[[W:.*]], %[[N]], -inf
  %n4 = tile.map arith.select %w, %n1, -inf
  // CHECK-NEXT: tile.map arith.select %[[W]], nan, %[[N]]
  %n5 = tile.map arith.select %w, nan, %n1
  // CHECK-NEXT: tile.map arith.select %[[W]], (1.5 : f32), (-2.0 : f32) : !tile.of<k, f32>
  %n6 = tile.map arith.select %w, (1.5 : f32), (-2 : f32) : !tile.of<k, f32>
  // CHECK-NEXT: tile.map arith.truncf %[[N]] : !tile.of<x: 32, k, f16>
  %n7 = tile.map arith.truncf %n1 : !tile.of<x: 32, k, f16>
  // CHECK-NEXT: tile.map arith.cmpf olt, %[[N]], inf
  %n8 = tile.map arith.cmpf olt, %n1, inf
  // CHECK-NEXT: tile.map arith.cmpi sge, %[[I:.*]], -9223372036854775808
  %n9 = tile.map arith.cmpi sge, %i, -9223372036854775808
  // CHECK-NEXT: tile.map elem.apply sigmoid, %[[N]]
  %n10 = tile.map elem.apply sigmoid, %n1
  // CHECK-NEXT: tile.map arith.xori %[[M]], true
  %n11 = tile.map arith.xori %m, true
  // CHECK-NEXT: tile.map arith.addf %[[T]], %[[N]]{{$}}
  %n12 = tile.map arith.addf %e, %n1
  // What a line cannot say has a body.
  // CHECK-NEXT: tile.map (%{{.*}} = %[[N]]) {
  // CHECK-NEXT: arith.addf %{{.*}}, %{{.*}} fastmath<fast> : f32
  %n13 = tile.map (%u = %n1) {
    %0 = arith.addf %u, %u fastmath<fast> : f32
    tile.yield %0 : f32
  }
}
