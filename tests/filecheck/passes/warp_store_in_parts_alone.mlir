// RUN: dt-opt %s -p warp-store-in-parts | filecheck %s
// What else uses the buffers, or the box, of a result is left alone, and so is what waits for less.
warp.kernel @f(%f: memref<?x?xbf16> {host.name = "f", host.axes = ["x", "y"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "y"], num_warps = 4 : i32, root = "f"} {
  %box = warp.tma_descriptor %f : !warp.descriptor<[64, 256] x bf16, swizzle 128>
  %other = warp.tma_descriptor %f : !warp.descriptor<[64, 256] x bf16, swizzle 128>
  %last = warp.tma_descriptor %f : !warp.descriptor<[64, 256] x bf16, swizzle 128>
  %r = warp.alloc : !warp.ring<1 x [64, 256] x bf16, swizzle 128>
  %s = warp.alloc : !warp.ring<1 x [64, 256] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<1 x [64, 256] x bf16, swizzle 128>
  %ready = warp.mbarrier_create 1 arrivals 1
  warp.fence_async
  %zero = arith.constant 0 : index
  %z = arith.constant 0.0 : bf16
  warp.specialize {
    warp.partition one warps 4 {
      %t = tile.fill %z : !tile.of<x: 64, y: 256, bf16 in #warp.mma<[x, y], warps [4, 1], instruction [16, 256, 16]>>
      %b = warp.index %r[%zero]
      warp.mbarrier_expect %ready[%zero] bytes 32768
      warp.tma_load %box[%zero, %zero] to %b signal %ready[%zero]
      warp.mbarrier_wait %ready[%zero] parity %zero
      warp.local_store %t to %b
      warp.fence_async
      warp.tma_store %b to %box[%zero, %zero]
      warp.tma_store_wait 0
      %c = warp.index %s[%zero]
      warp.local_store %t to %c
      warp.fence_async
      warp.tma_store %c to %other[%zero, %zero]
      warp.tma_store_wait 1
      %d = warp.index %q[%zero]
      warp.tma_store %d to %last[%zero, %zero]
      warp.tma_store_wait 0
    }
  }
}
// CHECK: warp.partition one
// CHECK-NOT: warp.halve
// CHECK: warp.tma_store %b to %box
// CHECK: warp.tma_store %c to %other
// CHECK: warp.tma_store %d to %last
