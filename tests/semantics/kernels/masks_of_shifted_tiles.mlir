// PASSES: tile-place-masks
// A tile that starts at no multiple of its extent reaches beyond the end where the extent divides
// the size; each instance sums what follows its third element.
!x = tensor<8xindex, #tile.axes<x>>
!y = tensor<8xindex, #tile.axes<y>>
!a = tensor<8xf32, #tile.axes<x>>
!b = tensor<8xf32, #tile.axes<y>>
tile.kernel @shifted(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {grid_blocks = [8 : i64], grid_labels = ["x"], labels = ["x"], root = "f"} {
  %n = tile.size "x" : index
  %pid = tile.program_id : index
  %c8 = arith.constant 8 : index
  %c3 = arith.constant 3 : index
  %o = arith.muli %pid, %c8 : index
  %p = arith.addi %o, %c3 : index
  %x = tile.range "x" from %o to %n : !x
  %y = tile.range "x" from %p to %n : !y
  %b = tile.load %A[%y] : memref<?xf32>[!y] -> !b
  %r = tile.reduce add %b along "y" : !b -> f32
  %a = tile.load %A[%x] : memref<?xf32>[!x] -> !a
  %c = tile.map (%u = %a : !a, %v = %r : f32) -> !a {
    %0 = arith.addf %u, %v : f32
    tile.yield %0 : f32
  }
  tile.store %c, %f[%x] : !a, memref<?xf32>[!x]
}
