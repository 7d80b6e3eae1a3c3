// RUN: dt-opt %s -p tile-propagate-transposes | filecheck %s
!xk = tensor<16x8xf32, #tile.axes<x, k>>
!kx = tensor<8x16xf32, #tile.axes<k, x>>
!x = tensor<16xindex, #tile.axes<x>>
!k = tensor<8xindex, #tile.axes<k>>
tile.kernel @f(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?x?xf32> {host.name = "f", host.axes = ["k", "x"]}) attributes {grid_blocks = [], grid_labels = [], labels = ["x", "k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %x = tile.range "x" from %c0 : !x
  %k = tile.range "k" from %c0 : !k
  // Loads and maps that nothing else uses are computed in the other order.
  // CHECK: %[[A:.*]] = tile.load %{{.*}}[%{{.*}}, %{{.*}}] : {{.*}} -> tensor<8x16xf32, #tile.axes<k, x>>
  // CHECK-NEXT: %[[B:.*]] = tile.map (%{{.*}} = %[[A]] : {{.*}}) -> tensor<8x16xf32, #tile.axes<k, x>> {
  // CHECK-NOT: tile.transpose
  // CHECK: tile.store %[[B]]
  %a = tile.load %A[%x, %k] : memref<?x?xf32>[!x, !k] -> !xk
  %b = tile.map (%u = %a : !xk) -> !xk {
    %0 = math.exp %u : f32
    tile.yield %0 : f32
  }
  %t = tile.transpose %b : !xk -> !kx
  tile.store %t, %f[%k, %x] : !kx, memref<?x?xf32>[!k, !x]
  // What something else uses stays.
  // CHECK: %[[C:.*]] = tile.load {{.*}} -> tensor<16x8xf32, #tile.axes<x, k>>
  // CHECK-NEXT: tile.transpose %[[C]]
  %c = tile.load %A[%x, %k] : memref<?x?xf32>[!x, !k] -> !xk
  %s = tile.transpose %c : !xk -> !kx
  tile.store %s, %f[%k, %x] : !kx, memref<?x?xf32>[!k, !x]
  tile.store %c, %f[%x, %k] : !xk, memref<?x?xf32>[!x, !k]
}
