// RUN: dt-opt %s -p tile-elide-masks | filecheck %s
!t = !tile.of<k: 8, f32>
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %n = tile.size k
  %k = tile.range k: 8 from %c0
  %mask = tile.mask %k below %n
  // CHECK: %[[A:.*]] = tile.load {{.*}} pad -inf
  %a = tile.load %A[%k] masked [%mask] pad 0.0
  // CHECK-NEXT: %[[E:.*]] = tile.map math.exp %[[A]]
  %e = tile.map (%u = %a) -> !t {
    %0 = math.exp %u : f32
    tile.yield %0 : f32
  }
  %s = tile.map (%m = %mask, %u = %e) -> !t {
    %0 = arith.constant 0.0 : f32
    %1 = arith.select %m, %u, %0 : f32
    tile.yield %1 : f32
  }
  // CHECK-NOT: arith.select
  // CHECK: tile.reduce add %[[E]] along k
  %r = tile.reduce add %s along k
  // The load's stand-in is chosen once: what another consumer needs is selected.
  // CHECK: arith.select
  // CHECK: tile.reduce mul
  %p = tile.map (%m = %mask, %u = %a) -> !t {
    %0 = arith.constant 1.0 : f32
    %1 = arith.select %m, %u, %0 : f32
    tile.yield %1 : f32
  }
  %q = tile.reduce mul %p along k
  %t = arith.addf %r, %q : f32
  tile.store %t, %f[]
}
// What another axis' mask selects says nothing about this one's.
// CHECK-LABEL: tile.kernel @others
tile.kernel @others(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %n = tile.size k
  %s = tile.size x
  %x = tile.range x: 4 from %c0
  %k = tile.range k: 8 from %c0
  %xm = tile.mask %x below %s
  %km = tile.mask %k below %n
  %a = tile.load %A[%x, %k] : !tile.of<x: 4, k: 8, f32>
  // CHECK: arith.select
  %b = tile.map (%m = %xm, %u = %a) -> !tile.of<x: 4, k: 8, f32> {
    %0 = arith.constant 0.0 : f32
    %1 = arith.select %m, %u, %0 : f32
    tile.yield %1 : f32
  }
  // CHECK: arith.select
  %c = tile.map (%m = %km, %u = %b) -> !tile.of<x: 4, k: 8, f32> {
    %0 = arith.constant 0.0 : f32
    %1 = arith.select %m, %u, %0 : f32
    tile.yield %1 : f32
  }
  // CHECK: tile.reduce add
  %r = tile.reduce add %c along k
  tile.store %r, %f[%x]
}
