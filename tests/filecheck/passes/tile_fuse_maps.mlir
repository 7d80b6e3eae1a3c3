// RUN: dt-opt %s -p tile-fuse-maps | filecheck %s
!t = !tile.of<x: 8, f32>
tile.kernel @k(%f: memref<?xf32> {host.name = "f", host.axes = ["x"]}, %s: f32 {host.name = "s", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 8 from %c0
  %a = tile.fill %s : !t
  // CHECK: %[[A:.*]] = tile.fill
  // CHECK-NEXT: %[[C:.*]] = tile.map (%[[U:.*]] = %[[A]], %[[V:.*]] = %{{.*}}) {
  // CHECK-NEXT: %[[E:.*]] = math.exp %[[U]] : f32
  // CHECK-NEXT: %[[M:.*]] = arith.mulf %[[E]], %[[V]] : f32
  // CHECK-NEXT: %[[N:.*]] = arith.negf %[[M]] : f32
  // CHECK-NEXT: tile.yield %[[N]] : f32
  %b = tile.map (%u = %a) -> !t {
    %0 = math.exp %u : f32
    tile.yield %0 : f32
  }
  %c = tile.map (%u = %b, %v = %s) -> !t {
    %0 = arith.mulf %u, %v : f32
    tile.yield %0 : f32
  }
  // What is used twice stays.
  // CHECK: tile.map math.sqrt %[[C]]
  %d = tile.map (%u = %c) -> !t {
    %0 = arith.negf %u : f32
    tile.yield %0 : f32
  }
  %e = tile.map (%u = %d) -> !t {
    %0 = math.sqrt %u : f32
    tile.yield %0 : f32
  }
  %g = tile.reduce add %d along x
  tile.store %e, %f[%x]
}
