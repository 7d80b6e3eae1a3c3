// PASSES: tile-unroll-jam
// The tiles of a label that is taken apart are reduced together, none beyond the end of the label.
tile.kernel @most(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f", unroll_jam = {x = 4 : i64}} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = tile.size x
  %least = arith.constant 0xFF800000 : f32
  %m = scf.for %x_start = %c0 to %n step %c8 iter_args(%acc = %least) -> (f32) {
    %x = tile.range x: 8 from %x_start to %n
    %a = tile.load %A[%x]
    %s = tile.reduce maximum %a along x
    %next = arith.maximumf %acc, %s : f32
    scf.yield %next : f32
  }
  tile.store %m, %f[]
}
