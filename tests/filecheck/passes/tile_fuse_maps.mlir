// RUN: dt-opt %s -p tile-fuse-maps | filecheck %s
!t = tensor<8xf32, #tile.axes<x>>
tile.kernel @k(%f: memref<?xf32> {host.name = "f", host.axes = ["x"]}, %s: f32 {host.name = "s", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %c0 = arith.constant 0 : index
  %x = tile.range "x" from %c0 : tensor<8xindex, #tile.axes<x>>
  %a = tile.fill %s : f32 -> !t
  // CHECK: %[[A:.*]] = tile.fill
  // CHECK-NEXT: %[[C:.*]] = tile.map (%[[U:.*]] = %[[A]] : {{.*}}, %[[V:.*]] = %{{.*}} : f32) -> tensor<8xf32, #tile.axes<x>> {
  // CHECK-NEXT: %[[E:.*]] = math.exp %[[U]] : f32
  // CHECK-NEXT: %[[M:.*]] = arith.mulf %[[E]], %[[V]] : f32
  // CHECK-NEXT: %[[N:.*]] = arith.negf %[[M]] : f32
  // CHECK-NEXT: tile.yield %[[N]] : f32
  %b = tile.map (%u = %a : !t) -> !t {
    %0 = math.exp %u : f32
    tile.yield %0 : f32
  }
  %c = tile.map (%u = %b : !t, %v = %s : f32) -> !t {
    %0 = arith.mulf %u, %v : f32
    tile.yield %0 : f32
  }
  // What is used twice stays.
  // CHECK: tile.map (%{{.*}} = %[[C]] :
  %d = tile.map (%u = %c : !t) -> !t {
    %0 = arith.negf %u : f32
    tile.yield %0 : f32
  }
  %e = tile.map (%u = %d : !t) -> !t {
    %0 = math.sqrt %u : f32
    tile.yield %0 : f32
  }
  %g = tile.reduce add %d along "x" : !t -> f32
  tile.store %e, %f[%x] : !t, memref<?xf32>[tensor<8xindex, #tile.axes<x>>]
}
