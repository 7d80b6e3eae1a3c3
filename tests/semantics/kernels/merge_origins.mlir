// PASSES: tile-merge-axes
// Two axes of one extent that start at different places: an element of one is not that of the other.
!b = !tile.of<j: 4, f32>
tile.kernel @origins(%A: memref<?xf32> {host.name = "A", host.axes = ["k"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tile.size k
  %i = tile.range i: 4 over k from %c0 to %n
  %a = tile.load %A[%i]
  %j = tile.range j: 4 over k from %c1 to %n
  %b = tile.load %A[%j]
  %c = tile.rename %a to [%j] : !b
  %d = tile.map (%u = %b, %v = %c) -> !b {
    %0 = arith.mulf %u, %v : f32
    tile.yield %0 : f32
  }
  %r = tile.reduce add %d along j
  tile.store %r, %f[]
}
