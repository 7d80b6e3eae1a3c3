// RUN: dt-opt %s -p tile-walk-blocks | filecheck %s
// RUN: dt-opt %s -p tile-walk-blocks | dt-opt -p tile-walk-blocks | filecheck %s
// Scalars that all blocks share stay in front of the loop; tiles do not.
tile.kernel @f_kernel(
    %A: memref<?x?xf32> {host.name = "A", host.axes = ["x", "y"]},
    %f: memref<?x?xf32> {host.name = "f", host.axes = ["x", "y"]}
  ) attributes {grid_blocks = [8 : i64, 1 : i64], grid_labels = ["x", "y"], labels = ["x", "y"], persistent = 2 : i32, root = "f"} {
  %x_size = tile.size x
  %pid = tile.program_id
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %x_blocks = arith.ceildivsi %x_size, %c8 : index
  %x_block = arith.remsi %pid, %x_blocks : index
  %y_block = arith.divsi %pid, %x_blocks : index
  %origin = arith.muli %x_block, %c8 : index
  %x = tile.range x: 8 from %origin
  %mask = tile.mask %x below %x_size divisor 8
  %first = tile.load %A[%zero, %zero]
  %ones = tile.fill %one : !tile.of<x: 8, f32>
  %sum = tile.map arith.addf %ones, %first : !tile.of<x: 8, f32>
  tile.store %sum, %f[%x, %y_block] masked [%mask]
}
// CHECK: tile.kernel @f_kernel
// CHECK-NOT: persistent
// CHECK: programs = 2 : i32
// CHECK: %x_size = tile.size x
// CHECK-NEXT: [[C8:%[a-z0-9_]+]] = arith.constant 8 : index
// CHECK-NEXT: [[XB:%[a-z0-9_]+]] = arith.ceildivsi %x_size, [[C8]] : index
// CHECK-NEXT: %y_size = tile.size y
// CHECK: %blocks = arith.muli [[XB]], %y_size : index
// CHECK: %one = arith.constant
// CHECK: tile.load %A
// CHECK-NEXT: %pid = tile.program_id
// CHECK-NEXT: %programs = tile.num_programs
// CHECK-NEXT: scf.for %block = %pid to %blocks step %programs {
// CHECK-NEXT: arith.remsi %block,
// CHECK: tile.range x: 8
// CHECK: tile.fill %one
// CHECK: tile.store
// CHECK-NEXT: }
// CHECK-NEXT: }
