// RUN: dt-opt %s | filecheck %s
// RUN: dt-opt %s | dt-opt | filecheck %s
// RUN: dt-opt %s --print-op-generic | dt-opt | filecheck %s
// Boxes whose axes are in another order than their tensor's, and matrices of panels.
func.func @f(%A: memref<?x?x?xbf16>, %i: index) {
  // CHECK: %a = warp.tma_descriptor %A axes [1, 0, 2] : !warp.descriptor<[4, 64, 64] x bf16, swizzle 128>
  %a = warp.tma_descriptor %A axes [1, 0, 2] : !warp.descriptor<[4, 64, 64] x bf16, swizzle 128>
  // CHECK: %b = warp.tma_descriptor %A axes [1, 0, 2] ends [x, _, _] : !warp.descriptor<[4, 64, 64] x bf16
  %b = warp.tma_descriptor %A axes [1, 0, 2] ends [x, _, _] : !warp.descriptor<[4, 64, 64] x bf16, swizzle 128>
  %r = warp.alloc : !warp.ring<1 x [64, 256] x bf16, swizzle 128>
  %s = warp.alloc : !warp.ring<1 x [256, 64] x bf16, swizzle 128>
  %m = warp.mbarrier_create 1 arrivals 1
  %panels = warp.index %r[%i]
  %rows = warp.index %s[%i]
  // CHECK: warp.tma_load %a[%i, %i, %i] to %panels signal %m[%i]
  warp.tma_load %a[%i, %i, %i] to %panels signal %m[%i]
  // CHECK: warp.tma_store %rows to %b[%i, %i, %i]
  warp.tma_store %rows to %b[%i, %i, %i]
  func.return
}
