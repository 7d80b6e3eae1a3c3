// RUN: dt-opt %s -p warp-split-producer --verify-diagnostics
warp.kernel @f(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "k"], num_warps = 4 : i32, root = "f"} {
  %box = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %r = warp.alloc : !warp.ring<1 x [64, 64] x bf16, swizzle 128>
  %m = warp.mbarrier_create 1 arrivals 1
  warp.fence_async
  %zero = arith.constant 0 : index
  warp.specialize {
    warp.partition one (%i to 1) warps 4 {
      %b = warp.index %r[%zero]
      warp.mbarrier_expect %m[%zero] bytes 8192
      // expected-error@above {{copies are not waited for at once, by the number of the trip}}
      // expected-help@above {{run it behind convert-tile-to-warp}}
      warp.tma_load %box[%zero, %zero] to %b signal %m[%zero]
      warp.mbarrier_wait %m[%zero] parity %zero
    }
  }
}
