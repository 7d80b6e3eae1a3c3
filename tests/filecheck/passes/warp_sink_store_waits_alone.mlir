// RUN: dt-opt %s -p warp-overlap-products,warp-sink-store-waits | filecheck %s
// What no group has stored to is left alone.
warp.kernel @f(%f: memref<?x?xbf16> {host.name = "f", host.axes = ["x", "y"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "y"], num_warps = 4 : i32, root = "f"} {
  %box = warp.tma_descriptor %f : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %r = warp.alloc : !warp.ring<1 x [64, 64] x bf16, swizzle 128>
  %zero = arith.constant 0 : index
  warp.specialize {
    warp.partition one warps 4 {
      %b = warp.index %r[%zero]
      warp.tma_store %b to %box[%zero, %zero]
      warp.tma_store_wait 0
    }
  }
}
// CHECK: warp.tma_store %b
// CHECK-NEXT: warp.tma_store_wait 0
