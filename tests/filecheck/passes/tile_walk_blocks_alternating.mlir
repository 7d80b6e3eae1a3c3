// RUN: dt-opt %s -p tile-walk-blocks | filecheck %s
// RUN: dt-opt %s -p tile-walk-blocks | dt-opt -p tile-walk-blocks | filecheck %s
// The number of the loop says which block it is by way of the walk that turns around.
tile.kernel @f_kernel(
    %A: memref<?xf32> {host.name = "A", host.axes = ["x"]},
    %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}
  ) attributes {alternating, grid_blocks = [8 : i64], grid_labels = ["x"], labels = ["x"], persistent = 1 : i32, root = "f"} {
  %x_size = tile.size x
  %pid = tile.program_id
  %c8 = arith.constant 8 : index
  %origin = arith.muli %pid, %c8 : index
  %x = tile.range x: 8 from %origin
  %mask = tile.mask %x below %x_size divisor 8
  %a = tile.load %A[%x] masked [%mask] pad 0.0
  tile.store %a, %f[%x] masked [%mask]
}
// CHECK: tile.kernel @f_kernel
// CHECK-NOT: alternating
// CHECK-NOT: persistent
// CHECK: %x_blocks = arith.ceildivsi %x_size,
// CHECK: %pid = tile.program_id
// CHECK-NEXT: %programs = tile.num_programs
// CHECK-NEXT: scf.for %number = %pid to %x_blocks step %programs {
// CHECK-NEXT: %block = tile.alternate %number of %x_blocks by %programs
// CHECK-NEXT: arith.muli %block,
