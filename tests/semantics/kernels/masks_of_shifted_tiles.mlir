// PASSES: tile-place-masks
// A tile that starts at no multiple of its extent reaches beyond the end where the extent divides
// the size; each instance sums what follows its third element.
!a = !tile.of<x: 8, f32>
tile.kernel @shifted(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [8 : i64], grid_labels = ["x"], labels = ["x"], root = "f"} {
  %n = tile.size x
  %pid = tile.program_id
  %c8 = arith.constant 8 : index
  %c3 = arith.constant 3 : index
  %o = arith.muli %pid, %c8 : index
  %p = arith.addi %o, %c3 : index
  %x = tile.range x: 8 from %o to %n
  %y = tile.range y: 8 over x from %p to %n
  %b = tile.load %A[%y]
  %r = tile.reduce add %b along y
  %a = tile.load %A[%x]
  %c = tile.map (%u = %a, %v = %r) -> !a {
    %0 = arith.addf %u, %v : f32
    tile.yield %0 : f32
  }
  tile.store %c, %f[%x]
}
// Windows of 8 that start at every fourth element: the last reaches beyond the end whatever it is.
tile.kernel @windows(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<f32> {host.name = "f", host.axes = []}) attributes {grid_blocks = [], grid_labels = [], labels = ["x"], root = "f"} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tile.size x
  %zero = arith.constant 0.0 : f32
  %r = scf.for %x0 = %c0 to %n step %c4 iter_args(%acc = %zero) -> (f32) {
    %x = tile.range x: 8 from %x0 to %n
    %a = tile.load %A[%x]
    %s = tile.reduce add %a along x
    %1 = arith.addf %acc, %s : f32
    scf.yield %1 : f32
  }
  tile.store %r, %f[]
}
