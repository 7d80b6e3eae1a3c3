// RUN: dt-opt %s -p tile-propagate-transposes | filecheck %s
!xk = !tile.of<x: 16, k: 8, f32>
tile.kernel @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["k", "x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %x = tile.range x: 16 from %c0
  %k = tile.range k: 8 from %c0
  // Loads and maps that nothing else uses are computed in the other order.
  // CHECK: %[[A:.*]] = tile.load %{{.*}}[%{{.*}}, %{{.*}}] : !tile.of<k: 8, x: 16, f32>
  // CHECK-NEXT: %[[B:.*]] = tile.map math.exp %[[A]]{{$}}
  // CHECK-NOT: tile.transpose
  // CHECK: tile.store %[[B]]
  %a = tile.load %A[%x, %k]
  %b = tile.map (%u = %a) -> !xk {
    %0 = math.exp %u : f32
    tile.yield %0 : f32
  }
  %t = tile.transpose %b to [k, x]
  tile.store %t, %f[%k, %x]
  // What something else uses stays.
  // CHECK: %[[C:.*]] = tile.load %A[%x, %k]{{$}}
  // CHECK-NEXT: tile.transpose %[[C]]
  %c = tile.load %A[%x, %k]
  %s = tile.transpose %c to [k, x]
  tile.store %s, %f[%k, %x]
  tile.store %c, %f[%x, %k]
}
