// RUN: dt-opt %s -p tile-hoist-indices | filecheck %s
// What a loop of products adds numbers to is known before the loop.
// CHECK-LABEL: tile.kernel @taps
tile.kernel @taps(%A: memref<?x?xf32> {host.name = "A", host.axes = ["i", "k"]}, %B: memref<?x?x?xf32> {host.name = "B", host.axes = ["r", "k", "y"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "y", "k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %n = tile.size k
  %x = tile.range x: 16 from %c0
  %y = tile.range y: 16 from %c0
  %zero = arith.constant 0.0 : f32
  %zeros = tile.fill %zero : !tile.of<x: 16, y: 16, f32>
  // CHECK: %[[H:.*]] = tile.map (%[[E:.*]] = %x) {
  // CHECK-NEXT: %[[TWO:.*]] = arith.constant 2 : index
  // CHECK-NEXT: %[[T:.*]] = arith.muli %[[E]], %[[TWO]]
  // CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : index
  // CHECK-NEXT: %[[D:.*]] = arith.subi %[[T]], %[[ONE]]
  // CHECK-NEXT: tile.yield %[[D]]
  // CHECK: scf.for %r =
  %r0 = scf.for %r = %c0 to %c3 step %c1 iter_args(%a0 = %zeros) -> (!tile.of<x: 16, y: 16, f32>) {
    // CHECK: scf.for %k0 =
    // CHECK: %i = tile.map arith.addi %[[H]], %r
    %r1 = scf.for %k0 = %c0 to %n step %c16 iter_args(%a1 = %a0) -> (!tile.of<x: 16, y: 16, f32>) {
      %i = tile.map (%e = %x, %s = %r) {
        %2 = arith.constant 2 : index
        %3 = arith.muli %e, %2 : index
        %4 = arith.addi %3, %s : index
        %5 = arith.constant 1 : index
        %6 = arith.subi %4, %5 : index
        tile.yield %6 : index
      }
      // A tile of indices that the loop itself computes stays.
      // CHECK: %j = tile.map (%{{.*}} = %k, %{{.*}} = %r) {
      %k = tile.range k: 16 from %k0
      %j = tile.map (%e = %k, %s = %r) {
        %2 = arith.constant 2 : index
        %3 = arith.muli %e, %2 : index
        %4 = arith.addi %3, %s : index
        tile.yield %4 : index
      }
      // So does what is one sum of a tile and a number.
      // CHECK: %b = tile.map arith.addi %y, %k0
      %b = tile.map arith.addi %y, %k0
      %l = tile.load %A[%i, %j]
      %m = tile.load %B[%r, %k, %b]
      %a2 = tile.dot %l, %m acc %a1
      scf.yield %a2 : !tile.of<x: 16, y: 16, f32>
    }
    scf.yield %r1 : !tile.of<x: 16, y: 16, f32>
  }
  tile.store %r0, %f[%x, %y]
}
// A loop without products leaves its indices where they are.
// CHECK-LABEL: tile.kernel @sums
tile.kernel @sums(%A: memref<?xf32> {host.name = "A", host.axes = ["i"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %x = tile.range x: 16 from %c0
  %zero = arith.constant 0.0 : f32
  %zeros = tile.fill %zero : !tile.of<x: 16, f32>
  // CHECK: scf.for
  // CHECK: %i = tile.map (%{{.*}} = %x, %{{.*}} = %r) {
  %t = scf.for %r = %c0 to %c3 step %c1 iter_args(%a0 = %zeros) -> (!tile.of<x: 16, f32>) {
    %i = tile.map (%e = %x, %s = %r) {
      %2 = arith.constant 2 : index
      %3 = arith.muli %e, %2 : index
      %4 = arith.addi %3, %s : index
      tile.yield %4 : index
    }
    %l = tile.load %A[%i]
    %a1 = tile.map arith.addf %a0, %l
    scf.yield %a1 : !tile.of<x: 16, f32>
  }
  tile.store %t, %f[%x]
}
