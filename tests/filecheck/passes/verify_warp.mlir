// RUN: dt-opt %s -p verify-warp --split-input-file --verify-diagnostics
warp.kernel @f() attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x"], num_warps = 4 : i32, root = "f"} {
// expected-error@above {{the kernel of 'f' takes 245776 bytes of shared memory, more than the 232448 that there are}}
// expected-help@above {{smaller tiles, or fewer stages (f.num_stages), would fit}}
  %a = warp.alloc : !warp.ring<30 x [64, 64] x bf16, swizzle 128>
  %b = warp.mbarrier_create 2 arrivals 1
  warp.fence_async
  warp.specialize {
    warp.partition one warps 4 {
    }
  }
}
// -----
// Two groups that wait for each other, and a phase that nobody ends.
warp.kernel @f() attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x"], num_warps = 4 : i32, root = "f"} {
  %a = warp.mbarrier_create 1 arrivals 1
  %b = warp.mbarrier_create 1 arrivals 1
  warp.fence_async
  %zero = arith.constant 0 : index
  warp.specialize {
    warp.partition one warps 4 {
      warp.mbarrier_wait %a[%zero] parity %zero
      // expected-error@above {{all wait, and nothing is under way: 'one' for the phase of parity 0 of 'a[0]', which lacks an arrival; 'two' for the phase of parity 0 of 'b[0]', which lacks an arrival}}
      warp.mbarrier_arrive %b[%zero]
    }
    warp.partition two warps 4 registers 24 {
      warp.mbarrier_wait %b[%zero] parity %zero
      warp.mbarrier_arrive %a[%zero]
    }
  }
}
// -----
// More arrivals than a phase counts.
warp.kernel @f() attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x"], num_warps = 4 : i32, root = "f"} {
  %a = warp.mbarrier_create 1 arrivals 1
  warp.fence_async
  %zero = arith.constant 0 : index
  warp.specialize {
    warp.partition one warps 4 {
      warp.mbarrier_expect %a[%zero] bytes 16
      warp.mbarrier_arrive %a[%zero]
      // expected-error@above {{'one' arrives at 'a[0]', whose phase has had the 1 arrivals that it counts}}
    }
  }
}
// -----
// Bytes that nobody waits for never come.
warp.kernel @f() attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x"], num_warps = 4 : i32, root = "f"} {
// expected-error@above {{'a[0]' expects 16 bytes that never come}}
  %a = warp.mbarrier_create 1 arrivals 1
  warp.fence_async
  %zero = arith.constant 0 : index
  warp.specialize {
    warp.partition one warps 4 {
      warp.mbarrier_expect %a[%zero] bytes 16
    }
  }
}
// -----
// A buffer that is read once before and once behind what fills it, as the groups happen to be fast.
warp.kernel @f(%f: memref<?x?xbf16> {host.name = "f", host.axes = ["x", "y"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "y"], num_warps = 4 : i32, root = "f"} {
  %box = warp.tma_descriptor %f : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %r = warp.alloc : !warp.ring<1 x [64, 64] x bf16, swizzle 128>
  %m = warp.mbarrier_create 1 arrivals 1
  warp.fence_async
  %zero = arith.constant 0 : index
  %none = arith.constant 0.0 : bf16
  warp.specialize {
    warp.partition one warps 4 {
      %b = warp.index %r[%zero]
      %t = tile.fill %none : !tile.of<x: 64, y: 64, bf16>
      warp.local_store %t to %b
      warp.fence_async
      warp.mbarrier_arrive %m[%zero]
      warp.local_store %t to %b
      // expected-error@above {{'one' stores into a buffer, 'r[0]', which a copy of 'two' to a tensor still reads}}
      warp.fence_async
    }
    warp.partition two warps 4 registers 24 {
      warp.mbarrier_wait %m[%zero] parity %zero
      %b = warp.index %r[%zero]
      warp.tma_store %b to %box[%zero, %zero]
      warp.tma_store_wait 0
    }
  }
}
