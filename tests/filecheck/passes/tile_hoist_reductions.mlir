// RUN: dt-opt %s -p tile-hoist-reductions | filecheck %s
// CHECK-LABEL: tile.kernel @sum
tile.kernel @sum(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = tile.size k
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  // CHECK: %[[START:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[ZEROS:.*]] = tile.fill %{{.*}} : !tile.of<k: 8, f32>
  // CHECK: %[[LEAST:.*]] = tile.fill %{{.*}} : !tile.of<k: 8, f32>
  // CHECK-NEXT: %[[R0:.*]], %[[R1:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[ZEROS]], %[[B:.*]] = %[[LEAST]])
  // CHECK-NEXT: -> (!tile.of<k: 8, f32>, !tile.of<k: 8, f32>)
  %r:2 = scf.for %k0 = %c0 to %n step %c8 iter_args(%acc = %zero, %largest = %one) -> (f32, f32) {
    %k = tile.range k: 8 from %k0
    %mask = tile.mask %k below %n
    %a = tile.load %A[%k] masked [%mask] pad 0.0
    // CHECK: %[[V:.*]] = tile.load
    // CHECK-NOT: tile.reduce
    // CHECK: %[[S:.*]] = tile.map arith.addf %[[A]], %[[V]]
    %s = tile.reduce add %a along k
    %1 = arith.addf %acc, %s : f32
    // CHECK: %[[P:.*]] = tile.map arith.maximumf %[[B]]
    %m = tile.reduce maximum %a along k
    %2 = arith.maximumf %m, %largest : f32
    // CHECK: scf.yield %[[S]], %[[P]]
    scf.yield %1, %2 : f32, f32
  }
  // What the loop starts from is not lost, but for an identity.
  // CHECK: %[[MAX:.*]] = tile.reduce maximum %[[R1]] along k
  // CHECK-NEXT: %[[T:.*]] = arith.maximumf %{{.*}}, %[[MAX]] : f32
  // CHECK-NEXT: %[[SUM:.*]] = tile.reduce add %[[R0]] along k
  // CHECK-NEXT: arith.addf %[[SUM]], %[[T]]
  %t = arith.addf %r#0, %r#1 : f32
  tile.store %t, %f[]
}
// Several axes are hoisted one by one, and out of several loops.
// CHECK-LABEL: tile.kernel @axes
tile.kernel @axes(%A: memref<?x?xi32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<i32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = tile.size k
  %m = tile.size x
  %zero = arith.constant 0 : i32
  // CHECK: scf.for
  %r = scf.for %x0 = %c0 to %m step %c4 iter_args(%outer = %zero) -> (i32) {
    %x = tile.range x: 4 from %x0
    %xm = tile.mask %x below %m
    // CHECK: scf.for
    %q = scf.for %k0 = %c0 to %n step %c8 iter_args(%inner = %outer) -> (i32) {
      %k = tile.range k: 8 from %k0
      %mask = tile.mask %k below %n
      %a = tile.load %A[%x, %k] masked [%xm, %mask] pad 0
      %b = tile.reduce add %a along k
      %s = tile.reduce add %b along x
      %1 = arith.addi %inner, %s : i32
      scf.yield %1 : i32
    }
    // CHECK-NOT: tile.reduce
    // CHECK: scf.yield %{{.*}} : !tile.of<x: 4, k: 8, i32>
    // CHECK-NOT: tile.reduce
    // CHECK: scf.yield %{{.*}} : !tile.of<x: 4, k: 8, i32>
    scf.yield %q : i32
  }
  // CHECK: tile.reduce add %{{.*}} along k
  // CHECK: tile.reduce add %{{.*}} along x
  // CHECK-NEXT: tile.store
  tile.store %r, %f[]
}
// What a step needs whole, combines otherwise, or what is too large for registers stays.
// CHECK-LABEL: tile.kernel @kept
tile.kernel @kept(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %B: memref<?xf32> {host.name = "B", host.axes = ["y"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k", "y"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = tile.size k
  %zero = arith.constant 0.0 : f32
  // CHECK: -> (f32, f32, f32, f32, f32) {
  %r:5 = scf.for %k0 = %c0 to %n step %c8 iter_args(%p = %zero, %q = %zero, %s = %zero, %t = %zero, %w = %zero) -> (f32, f32, f32, f32, f32) {
    %k = tile.range k: 8 from %k0
    %mask = tile.mask %k below %n
    %a = tile.load %A[%k] masked [%mask] pad 0.0
    // The running value is used, too.
    // CHECK: tile.reduce add
    %a1 = tile.reduce add %a along k
    %p1 = arith.addf %p, %a1 : f32
    // The sum so far is used.
    // CHECK: tile.reduce maximum
    %a2 = tile.reduce maximum %a along k
    %q1 = arith.maximumf %q, %a2 : f32
    %p2 = arith.mulf %p1, %q1 : f32
    // A maximum of sums is not a sum.
    // CHECK: tile.reduce add
    %a3 = tile.reduce add %a along k
    %s1 = arith.maximumf %s, %a3 : f32
    // The reduced tile is used, too.
    // CHECK: tile.reduce minimum
    %a4 = tile.reduce minimum %a along k
    %t1 = arith.minimumf %t, %a4 : f32
    %s2 = arith.addf %s1, %a4 : f32
    %y = tile.range y: 8192 from %k0
    %b = tile.load %B[%y]
    // 64 registers of each of 128 threads.
    // CHECK: tile.reduce add
    %b1 = tile.reduce add %b along y
    %w1 = arith.addf %w, %b1 : f32
    scf.yield %p2, %q1, %s2, %t1, %w1 : f32, f32, f32, f32, f32
  }
  %1 = arith.addf %r#0, %r#1 : f32
  %2 = arith.addf %r#2, %r#3 : f32
  %3 = arith.addf %1, %2 : f32
  %4 = arith.addf %3, %r#4 : f32
  tile.store %4, %f[]
}
