// RUN: dt-opt %s -p tile-place-masks | filecheck %s
// A mask of later indices under the same bound is false where the axis' own is. One of earlier indices, under another
// bound, or of a tile that is padded, whose elements end before the bound, implies nothing.
tile.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x", "y"], grid_blocks = [16], grid_labels = ["x"], root = "f"} {
  %x_size = tile.size x
  %y_size = tile.size y
  %pid = tile.program_id
  %0 = arith.constant 16 : index
  %x_origin = arith.muli %pid, %0 : index
  %x = tile.range x: 16 from %x_origin to %x_size step 2
  %later = tile.map arith.addi %x, 1
  %earlier = tile.map arith.addi %x, -1
  %m = tile.mask %later below %x_size
  %before = tile.mask %earlier below %x_size
  %other = tile.mask %later below %y_size
  %a = tile.load %A[%later] masked [%m] pad 0.0
  %b = tile.load %A[%later] masked [%before] pad 0.0
  %c = tile.load %A[%later] masked [%other] pad 0.0
  tile.store %a, %f[%later] masked [%m]
  tile.store %b, %f[%later] masked [%before]
  tile.store %c, %f[%later] masked [%other]
  %z = tile.range z: 12 over x from %x_origin to %x_size
  %z_later = tile.map arith.addi %z, 1
  %z_in = tile.mask %z_later below %x_size
  %d = tile.load %A[%z_later] masked [%z_in] pad 0.0
  tile.store %d, %f[%z_later] masked [%z_in]
}
// CHECK: tile.load %A[%later] masked [%m] pad 0.0
// CHECK-NEXT: tile.load %A[%later] masked [%before, %x_mask] pad 0.0
// CHECK-NEXT: tile.load %A[%later] masked [%other, %x_mask] pad 0.0
// CHECK-NEXT: tile.store %{{.*}}, %f[%later] masked [%m]
// CHECK: tile.load %A[%z_later] masked [%z_in, %z_mask] pad 0.0
