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
// A store waits for the last copy of its buffer: of the same number, or of one that is not known.
warp.kernel @g(%g: memref<?x?xbf16> {host.name = "g", host.axes = ["x", "y"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "y"], num_warps = 4 : i32, root = "g"} {
  %box = warp.tma_descriptor %g : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %r = warp.alloc : !warp.ring<3 x [64, 64] x bf16, swizzle 128>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %z = arith.constant 0.0 : bf16
  warp.specialize {
    warp.partition one warps 4 {
      %t = tile.fill %z : !tile.of<x: 64, y: 64, bf16 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>
      %a = warp.index %r[%zero]
      warp.local_store %t to %a
      warp.fence_async
      warp.tma_store %a to %box[%zero, %zero]
      warp.tma_store_wait 0
      %b = warp.index %r[%one]
      warp.local_store %t to %b
      warp.fence_async
      warp.tma_store %b to %box[%zero, %zero]
      warp.tma_store_wait 0
      %again = warp.index %r[%zero]
      warp.local_store %t to %again
      warp.fence_async
      warp.tma_store %again to %box[%zero, %zero]
      warp.tma_store_wait 0
      %pid = tile.program_id
      %any = warp.index %r[%pid]
      warp.local_store %t to %any
      warp.fence_async
      warp.tma_store %any to %box[%zero, %zero]
      warp.tma_store_wait 0
    }
  }
}
// CHECK: warp.kernel @g
// CHECK: warp.partition one
// CHECK-NOT: warp.tma_store_wait
// CHECK: warp.local_store {{.*}} to %a
// CHECK-NOT: warp.tma_store_wait
// CHECK: warp.local_store {{.*}} to %b
// CHECK: warp.tma_store_wait 1
// CHECK-NEXT: warp.local_store {{.*}} to %again
// CHECK: warp.tma_store_wait 0
// CHECK-NEXT: warp.local_store {{.*}} to %any
// CHECK: warp.tma_store %any
// CHECK-NEXT: warp.tma_store_wait 0
