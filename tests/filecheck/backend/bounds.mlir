// RUN: dt-opt %s -p tile-place-masks,tile-elide-masks,tile-fuse-maps,tile-cse,verify-tile -t triton | filecheck %s
// An element out of bounds is 7, a lane that is masked off is anything.
host.func @f(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}) -> memref<?xf32> attributes {algorithm = [], schedule = [], compiled = ["f.compile();"], labels = ["x"]} {
  %x = host.size x
  %f = host.alloc f[x](%x) : memref<?xf32>
  host.launch @f_kernel(%A, %f)
  host.return %f
}
tile.kernel @f_kernel(%A: memref<?xf32> {host.name = "A", host.axes = ["x"]}, %f: memref<?xf32> {host.name = "f", host.axes = ["x"]}) attributes {labels = ["x"], grid_blocks = [16], grid_labels = ["x"], root = "f"} {
  %x_size = tile.size x
  %pid = tile.program_id
  %0 = arith.constant 16 : index
  %x_origin = arith.muli %pid, %0 : index
  %x = tile.range x: 16 from %x_origin to %x_size
  %i = tile.map (%e = %x) {
    %1 = arith.constant 1 : index
    %2 = arith.subi %e, %1 : index
    tile.yield %2 : index
  }
  %in = tile.map (%e = %i) {
    %1 = arith.constant 0 : index
    %2 = arith.cmpi sge, %e, %1 : index
    tile.yield %2 : i1
  }
  %a = tile.load %A[%i] inside [%in] fill 7.0
  tile.store %a, %f[%x]
}
// CHECK: i = x - 1
// Masked elements are what is out of bounds: one number stands for both.
// CHECK-NEXT: a = tl.load(A_ptr + i * A_x_stride, mask=x_mask & (i >= 0), other=7.0)
