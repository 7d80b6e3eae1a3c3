// RUN: dt-opt %s -p tile-unroll-jam --split-input-file --disable-verify | filecheck %s
// RUN: dt-opt %s -p tile-unroll-jam,tile-cse --split-input-file --disable-verify | filecheck %s
// The trips of the inner loop and the two tiles need four elements; each is loaded once. What only the second
// tile has beyond the end is masked, in the load that is its alone. The outer loop carries two tiles of sums.
tile.kernel @f_kernel(%X: memref<?x?xf32> {host.name = "X", host.axes = ["k", "a"]}, %W: memref<?xf32> {host.name = "W", host.axes = ["r"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["k", "a", "r", "x"], root = "f", unroll_jam = {x = 2 : i64}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = tile.size x
  %k_size = tile.size k
  %x = tile.range x: 16 from %c0 to %n
  %zero = arith.constant 0.0 : f32
  %init = tile.fill %zero : !tile.of<x: 16, f32>
  %sums = scf.for %k = %c0 to %k_size step %c1 iter_args(%outer = %init) -> (!tile.of<x: 16, f32>) {
    %sum = scf.for %r = %c0 to %c3 step %c1 iter_args(%acc = %outer) -> (!tile.of<x: 16, f32>) {
      %w = tile.load %W[%r]
      %at = tile.map (%i = %x, %j = %r) {
        %s = arith.addi %i, %j : index
        %c = arith.constant 1 : index
        %t = arith.subi %s, %c : index
        tile.yield %t : index
      }
      %a = tile.load %X[%k, %at]
      %next = tile.map (%p = %acc, %q = %a, %v = %w) {
        %m = arith.mulf %q, %v : f32
        %s = arith.addf %p, %m : f32
        tile.yield %s : f32
      }
      scf.yield %next : !tile.of<x: 16, f32>
    } {triton.range = {loop_unroll_factor = 3 : i32}}
    scf.yield %sum : !tile.of<x: 16, f32>
  }
  tile.store %sums, %f[%x]
}
// CHECK-NOT: unroll_jam
// CHECK: %x = tile.range x: 8 from %{{.*}} to %[[N:.*]] step 2
// CHECK: %[[SECOND:.*]] = tile.map arith.addi %x, 1
// CHECK: %[[MASK:.*]] = tile.mask %[[SECOND]] below %[[N]] divisor 16
// CHECK: %[[INIT:.*]] = tile.fill %{{.*}} : !tile.of<x: 8, f32>
// CHECK: %[[SUMS:.*]], %[[OTHERS:.*]] = scf.for %k =
// CHECK-NEXT: iter_args(%[[A:.*]] = %[[INIT]], %[[B:.*]] = %[[INIT]])
// CHECK-NOT: scf.for
// CHECK: tile.load %X[%k, %{{.*}}]{{$}}
// CHECK-NEXT: tile.map (%{{.*}} = %[[A]],
// CHECK-COUNT-2: tile.load %X[%k, %{{.*}}]{{$}}
// CHECK: tile.map (%{{.*}} = %[[B]],
// CHECK: tile.load %X[%k, %{{.*}}] masked [%[[MASK]]] pad 0.0
// CHECK-NOT: tile.load %X
// CHECK: scf.yield
// CHECK: tile.store %[[SUMS]], %f[%x]
// CHECK-NEXT: tile.store %[[OTHERS]], %f[%{{.*}}] masked [%[[MASK]]]
// -----
// A reduction along the axis reduces the combination of the tiles, each without what is beyond the end.
tile.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f", unroll_jam = {x = 2 : i64}} {
  %c0 = arith.constant 0 : index
  %n = tile.size x
  %x = tile.range x: 8 from %c0 to %n
  %a = tile.load %A[%x]
  %s = tile.reduce maximum %a along x
  tile.store %s, %f[]
}
// CHECK: tile.kernel @f_kernel(
// CHECK: %[[FIRST:.*]] = tile.load %A[%x]
// CHECK: %[[SECOND:.*]] = tile.load %A[%{{.*}}] masked [%[[MASK:.*]]] pad 0.0
// CHECK: %[[INSIDE:.*]] = tile.map arith.select %[[MASK]], %[[SECOND]], -inf
// CHECK-NEXT: %[[BOTH:.*]] = tile.map arith.maximumf %[[FIRST]], %[[INSIDE]]
// CHECK-NEXT: tile.reduce maximum %[[BOTH]] along x
// -----
// Several loops may step along one axis. What no longer reads an index stays in the loop of its range.
tile.kernel @f_kernel(%f: memref<?xf32> {host.name = "f", host.axes = ["k"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["k", "x"], root = "f", unroll_jam = {k = 2 : i64}} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tile.size x
  %k_size = tile.size k
  %cut = arith.divsi %n, %c2 : index
  %k = tile.range k: 4 from %c0 to %k_size
  %zero = arith.constant 0.0 : f32
  %init = tile.fill %zero : !tile.of<k: 4, f32>
  %few = scf.for %i = %c0 to %cut step %c2 iter_args(%acc = %init) -> (!tile.of<k: 4, f32>) {
    %x = tile.range x: 2 from %i to %cut
    %one = tile.map (%j = %x) {
      %c = arith.constant 1.0 : f32
      tile.yield %c : f32
    }
    %all = tile.broadcast %one : !tile.of<k: 4, x: 2, f32>
    %part = tile.reduce add %all along x
    %next = tile.map arith.addf %acc, %part
    scf.yield %next : !tile.of<k: 4, f32>
  }
  %sum = scf.for %i = %cut to %n step %c2 iter_args(%acc = %few) -> (!tile.of<k: 4, f32>) {
    %x = tile.range x: 2 from %i to %n
    %far = tile.map (%p = %k, %q = %x) -> !tile.of<k: 4, x: 2, f32> {
      %c = arith.constant 3 : index
      %m = arith.muli %q, %c : index
      %s = arith.addi %p, %m : index
      %t = arith.index_cast %s : index to i32
      %v = arith.sitofp %t : i32 to f32
      tile.yield %v : f32
    }
    %part = tile.reduce add %far along x
    %next = tile.map arith.addf %acc, %part
    scf.yield %next : !tile.of<k: 4, f32>
  }
  tile.store %sum, %f[%k]
}
// CHECK: tile.kernel @f_kernel(
// CHECK: scf.for
// CHECK: %[[X:.*]] = tile.range x: 2
// CHECK-NEXT: tile.map (%{{.*}} = %[[X]]) {
// CHECK: scf.for
// CHECK: %[[X:.*]] = tile.range x: 2
// CHECK: tile.map (%{{.*}} = %k, %{{.*}} = %[[X]]) -> !tile.of<k: 2, x: 2, index> {
