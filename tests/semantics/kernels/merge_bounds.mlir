// PASSES: tile-merge-axes
// Two axes that end at different places: what lies beyond the second's end is not summed.
!b = !tile.of<j: 8, f32>
tile.kernel @bounds(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %n = tile.size k
  %m = arith.minsi %n, %c3 : index
  %i = tile.range i: 8 over k from %c0 to %n
  %a = tile.load %A[%i]
  %j = tile.range j: 8 over k from %c0 to %m
  %b = tile.rename %a to [%j] : !b
  %r = tile.reduce add %b along j
  tile.store %r, %f[]
}
