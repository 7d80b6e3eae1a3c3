// RUN: dt-opt %s -p tile-merge-axes | filecheck %s
!a = tensor<?xf32, #tile.axes<k = k>>
!b = tensor<?xf32, #tile.axes<k_1 = k>>
tile.kernel @k(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %n = tile.size "k" : index
  %k = tile.range "k" from %c0 to %n : tensor<?xindex, #tile.axes<k = k>>
  // CHECK: %[[A:.*]] = tile.load
  %a = tile.load %A[%k] : memref<?xf32>[tensor<?xindex, #tile.axes<k = k>>] -> !a
  // CHECK: tile.range "k" from %{{.*}} to %{{.*}} : tensor<?xindex, #tile.axes<k = k>>
  %j = tile.range "k" from %c0 to %n : tensor<?xindex, #tile.axes<k_1 = k>>
  // CHECK-NOT: tile.rename
  %b = tile.rename %a to %j : !a, tensor<?xindex, #tile.axes<k_1 = k>> -> !b
  // CHECK: tile.reduce add %[[A]] along "k"
  %r = tile.reduce add %b along "k_1" : !b -> f32
  tile.store %r, %f[] : f32, memref<f32>[]
}
// Axes that end at different places stay two.
// CHECK-LABEL: tile.kernel @ends
tile.kernel @ends(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tile.size "k" : index
  %m = arith.minsi %n, %c4 : index
  // CHECK: #tile.axes<k>
  %k = tile.range "k" from %c0 to %n : tensor<8xindex, #tile.axes<k>>
  %a = tile.load %A[%k] : memref<?xf32>[tensor<8xindex, #tile.axes<k>>] -> tensor<8xf32, #tile.axes<k>>
  // CHECK: #tile.axes<k_1>
  %j = tile.range "k" from %c0 to %m : tensor<8xindex, #tile.axes<k_1>>
  // CHECK: tile.rename
  %b = tile.rename %a to %j : tensor<8xf32, #tile.axes<k>>, tensor<8xindex, #tile.axes<k_1>> -> tensor<8xf32, #tile.axes<k_1>>
  %r = tile.reduce add %b along "k_1" : tensor<8xf32, #tile.axes<k_1>> -> f32
  tile.store %r, %f[] : f32, memref<f32>[]
}
