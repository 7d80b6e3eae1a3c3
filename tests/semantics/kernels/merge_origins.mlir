// PASSES: tile-merge-axes
// Two axes of one extent that start at different places: an element of one is not that of the other.
!i = tensor<4xindex, #tile.axes<i>>
!j = tensor<4xindex, #tile.axes<j>>
!a = tensor<4xf32, #tile.axes<i>>
!b = tensor<4xf32, #tile.axes<j>>
tile.kernel @origins(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tile.size "k" : index
  %i = tile.range "k" from %c0 to %n : !i
  %a = tile.load %A[%i] : memref<?xf32>[!i] -> !a
  %j = tile.range "k" from %c1 to %n : !j
  %b = tile.load %A[%j] : memref<?xf32>[!j] -> !b
  %c = tile.rename %a to %j : !a, !j -> !b
  %d = tile.map (%u = %b : !b, %v = %c : !b) -> !b {
    %0 = arith.mulf %u, %v : f32
    tile.yield %0 : f32
  }
  %r = tile.reduce add %d along "j" : !b -> f32
  tile.store %r, %f[] : f32, memref<f32>[]
}
