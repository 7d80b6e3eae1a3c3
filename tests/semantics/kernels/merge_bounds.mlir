// PASSES: tile-merge-axes
// Two axes that end at different places: what lies beyond the second's end is not summed.
!i = tensor<8xindex, #tile.axes<i>>
!j = tensor<8xindex, #tile.axes<j>>
!a = tensor<8xf32, #tile.axes<i>>
!b = tensor<8xf32, #tile.axes<j>>
tile.kernel @bounds(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %n = tile.size "k" : index
  %m = arith.minsi %n, %c3 : index
  %i = tile.range "k" from %c0 to %n : !i
  %a = tile.load %A[%i] : memref<?xf32>[!i] -> !a
  %j = tile.range "k" from %c0 to %m : !j
  %b = tile.rename %a to %j : !a, !j -> !b
  %r = tile.reduce add %b along "j" : !b -> f32
  tile.store %r, %f[] : f32, memref<f32>[]
}
