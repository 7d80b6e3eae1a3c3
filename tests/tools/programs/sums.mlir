tile.kernel @rows(%A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "k"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [4 : i64], grid_labels = ["x"], labels = ["x", "k"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %X = tile.size x
  %K = tile.size k
  %pid = tile.program_id
  %x0 = arith.muli %pid, %c4 : index
  %x = tile.range x: 4 from %x0 to %X
  %k = tile.range k: 4 from %c0 to %K
  %a = tile.load %A[%x, %k]
  %r = tile.reduce add %a along k
  tile.store %r, %f[%x]
}
tile.kernel @total(%V: memref<?xf32> {host.name = "V", host.axes = ["k"]}, %s: memref<f32> {host.name = "s", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["k"], root = "s"} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %K = tile.size k
  %k = tile.range k: 4 from %c0 to %K
  %v = tile.load %V[%k] : !tile.of<k: 4, f32>
  %r = tile.reduce add %v along k
  tile.store %r, %s[]
}
