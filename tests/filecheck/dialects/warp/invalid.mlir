// RUN: dt-opt %s --split-input-file --verify-diagnostics
// Types and layouts.
%a = warp.alloc : !warp.ring<0 x [64, 64] x bf16>
// expected-error@above {{a ring has a buffer at least}}
// -----
%a = warp.alloc : !warp.ring<2 x [64, 0] x bf16>
// expected-error@above {{an array has positive extents}}
// -----
%a = warp.alloc : !warp.ring<2 x [64] x index>
// expected-error@above {{an array has no elements of index}}
// -----
%a = warp.alloc : !warp.ring<2 x [64] x bf16, swizzle 48>
// expected-error@above {{a swizzle is of 0, 32, 64 or 128 bytes}}
// -----
%a = warp.mbarrier_create 0 arrivals 1
// expected-error@above {{there is a barrier at least}}
// -----
%a = warp.mbarrier_create 2 arrivals 0
// expected-error@above {{'warp.mbarrier_create' is malformed: a barrier counts an arrival at least}}
// -----
%c = arith.constant 0.0 : f32
%a = tile.fill %c : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, x], warps [4, 1], instruction [16, 64, 16]>>
// expected-error@above {{the result of a product has rows and columns}}
// -----
%c = arith.constant 0.0 : f32
%a = tile.fill %c : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64]>>
// expected-error@above {{an instruction has rows, columns and a depth}}
// -----
%c = arith.constant 0.0 : f32
%a = tile.fill %c : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [2, 1], instruction [16, 64, 16]>>
// expected-error@above {{the warps along rows are warpgroups of four}}
// -----
%c = arith.constant 0.0 : f32
%a = tile.fill %c : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 300, 16]>>
// expected-error@above {{wgmma has 16 rows a warp, a multiple of 8 columns up to 256, and a depth of 8, 16 or 32}}
// -----
%c = arith.constant 0.0 : f32
%a = tile.fill %c : !tile.of<x: 64, y: 64, f32 in #warp.rows<[x, x], warps 4>>
// expected-error@above {{rows and columns are two axes}}
// -----
%c = arith.constant 0.0 : f32
%a = tile.fill %c : !tile.of<x: 64, y: 64, f32 in #warp.rows<[x, y], warps 3>>
// expected-error@above {{the number of warps is a power of two}}
// -----
%c = arith.constant 0.0 : f32
%a = tile.fill %c : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>
%b = tile.fill %c : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [8, 1], instruction [16, 64, 16]>>
%d = tile.map arith.addf %a, %b
// expected-error@above {{tiles of different layouts are combined: convert one of them}}
// -----
%c = arith.constant 0.0 : f32
%a = tile.fill %c : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>
%d = tile.map arith.negf %a : !tile.of<x: 64, y: 64, f32>
// expected-error@above {{a map of such operands is not held as !tile.of<x: 64, y: 64, f32>}}
// -----
// Buffers and copies.
%i = arith.constant 0 : index
%r = warp.alloc : !warp.ring<2 x [64, 32] x bf16>
%a = "warp.index"(%r, %i) : (!warp.ring<2 x [64, 32] x bf16>, index) -> !warp.buffer<[64, 64] x bf16>
// expected-error@above {{is not a !warp.buffer<[64, 64] x bf16>}}
// -----
%i = arith.constant 0 : index
%r = warp.mbarrier_create 1 arrivals 1
%a = warp.index %r[%i]
// expected-error@above {{!warp.mbarrier<1> has no buffers}}
// -----
%i = arith.constant 0 : index
%r = warp.alloc : !warp.ring<2 x [64] x bf16>
%a = warp.index %r[%i]
%b = warp.transpose %a
// expected-error@above {{a transpose exchanges two axes}}
// -----
%i = arith.constant 0 : index
%b = warp.transpose %i
// expected-error@above {{index is not a buffer}}
// -----
%i = arith.constant 0 : index
%r = warp.mbarrier_create 1 arrivals 1
warp.mbarrier_expect %r[%i] bytes 0
// expected-error@above {{a barrier expects a byte at least}}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64] x bf16>
  // expected-error@above {{a box has an extent for each axis of its tensor}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x f16>
  // expected-error@above {{a box has elements of its tensor's type}}
  func.return
}
// -----
func.func @f(%A: memref<?x?x?xbf16>) {
  %a = warp.tma_descriptor %A axes [0, 2, 1] : !warp.descriptor<[2, 64, 64] x bf16>
  // expected-error@above {{a box has each axis of its tensor once, the last one last}}
  func.return
}
// -----
func.func @f(%A: memref<?x?x?xbf16>) {
  %a = warp.tma_descriptor %A axes [0, 0, 2] : !warp.descriptor<[2, 64, 64] x bf16>
  // expected-error@above {{a box has each axis of its tensor once, the last one last}}
  func.return
}
// -----
func.func @f(%A: memref<?x?x?xbf16>) {
  %a = warp.tma_descriptor %A axes [1, 0, 2] : !warp.ring<2 x [64] x bf16>
  // expected-error@above {{!warp.ring<2 x [64] x bf16> does not describe a tensor}}
  func.return
}
// -----
func.func @f(%A: memref<?x?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[4, 64, 32] x bf16, swizzle 64>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 128] x bf16, swizzle 64>
  %s = warp.alloc : !warp.ring<2 x [32, 256] x bf16, swizzle 64>
  %b = warp.index %r[%i]
  %c = warp.index %s[%i]
  // Panels have the first axes of a box, and all rows.
  warp.tma_store %b to %a[%i, %i, %i]
  warp.tma_store %c to %a[%i, %i, %i]
  // expected-error@above {{does not fit into !warp.buffer<[32, 256] x bf16, swizzle 64>}}
  func.return
}
// -----
func.func @f(%A: memref<?x?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[4, 64, 64] x bf16, swizzle 64>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 256] x bf16, swizzle 64>
  %b = warp.index %r[%i]
  // A panel is as wide as the swizzle.
  warp.tma_store %b to %a[%i, %i, %i]
  // expected-error@above {{does not fit into !warp.buffer<[64, 256] x bf16, swizzle 64>}}
  func.return
}
// -----
func.func @f(%A: memref<?x?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[8, 4, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [4, 512] x bf16, swizzle 128>
  %b = warp.index %r[%i]
  // A swizzle repeats after eight rows.
  warp.tma_store %b to %a[%i, %i, %i]
  // expected-error@above {{does not fit into !warp.buffer<[4, 512] x bf16, swizzle 128>}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 512] x bf16>
  // expected-error@above {{the copy engine takes boxes of 256 elements along an axis}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  warp.tma_load %a[%i] to %b signal %m[%i]
  // expected-error@above {{a box has a first index along each axis}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  warp.tma_load %a[%i, %i] to %c signal %m[%i]
  // expected-error@above {{does not fit into !warp.buffer<[64, 64] x bf16>}}
  func.return
}
// -----
func.func @f(%A: memref<?x?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[8, 8, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [32, 128] x bf16, swizzle 128>
  %b = warp.index %r[%i]
  // Rows may be those of several axes; the last axis is one by itself.
  warp.tma_store %b to %a[%i, %i, %i]
  // expected-error@above {{does not fit into !warp.buffer<[32, 128] x bf16, swizzle 128>}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  warp.tma_store %c to %a[%i, %i]
  // expected-error@above {{does not fit into !warp.buffer<[64, 64] x bf16>}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %t = tile.fill %z : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>
  warp.local_store %t to %b
  // expected-error@above {{does not fit into !warp.buffer<[64, 64] x bf16, swizzle 128>}}
  func.return
}
// -----
// Products.
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %p = warp.mma %b, %b : !tile.of<x: 64, y: 64, f32>
  // expected-error@above {{the result of a product is held in a layout '#warp.mma'}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %p = warp.mma %b, %b
  func.return
  // expected-error@above {{the type of a product without a sum is written}}
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %p = warp.mma %b, %b : !tile.of<y: 64, x: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>
  // expected-error@above {{the axes of a product are those of its layout}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %p = warp.mma %b, %b : !tile.of<x: 64, y: 32, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>
  // expected-error@above {{the rows and columns of a product are those of its factors}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %t = tile.fill %z : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>
  %p = warp.mma %b, %b acc %t : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [8, 1], instruction [16, 64, 16]>>
  // expected-error@above {{a product is added to a sum of its own type}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %s = warp.alloc : !warp.ring<1 x [32, 64] x bf16>
  %e = warp.index %s[%i]
  %p = warp.mma %b, %e : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>
  // expected-error@above {{the factors of a product have one depth}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %s = warp.alloc : !warp.ring<1 x [64, 64] x f16>
  %e = warp.index %s[%i]
  %p = warp.mma %b, %e : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>
  // expected-error@above {{tensor cores multiply factors of one type of 8 or 16 bits}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %p = warp.mma %b, %b : !tile.of<x: 64, y: 64, bf16 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>
  // expected-error@above {{a product of bf16 is summed in f32}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %p = warp.mma %b, %b : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 32]>>
  // expected-error@above {{an instruction on elements of 16 bits has a depth of 16, which divides that of the factors}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xi8>) {
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x i8, swizzle 64>
  %q = warp.alloc : !warp.ring<2 x [256, 64] x i8, swizzle 64>
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %d = warp.transpose %c
  %p = warp.mma %b, %d : !tile.of<x: 64, y: 256, i32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 256, 32]>>
  // expected-error@above {{an instruction on i8 has 8, 16, 24 or 32 columns, or a multiple of 16 up to 224}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %z16 = arith.constant 0.0 : bf16
  %t = tile.fill %z16 : !tile.of<x: 64, k: 64, bf16 in #warp.mma<[x, y], warps [8, 1], instruction [16, 64, 16]>>
  %p = warp.mma %t, %b : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>
  // expected-error@above {{an operand in registers has the layout '#warp.operand'}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  warp.mma_wait 0 for []
  // expected-error@above {{a wait is for a sum at least}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %t = tile.fill %z : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>
  %p = warp.convert_layout %t : !tile.of<x: 64, y: 32, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>
  // expected-error@above {{a conversion changes the layout of a tile alone}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %t = tile.fill %z : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>
  %p = warp.convert_layout %t : !tile.of<x: 64, y: 64, f32>
  // expected-error@above {{a conversion is from one layout to another}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %t = tile.fill %z : !tile.of<x: 64, y: 64, f32>
  %p, %s = warp.halve %t
  // expected-error@above {{has no halves}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %t = tile.fill %z : !tile.of<x: 64, y: 8, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 8, 16]>>
  %p, %s = warp.halve %t
  // expected-error@above {{has no halves}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %t = tile.fill %z : !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>
  %p, %s = "warp.halve"(%t) : (!tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>) -> (!tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>, !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>)
  // expected-error@above {{a half of !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>> is not a}}
  func.return
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  %i = arith.constant 0 : index
  %r = warp.alloc : !warp.ring<2 x [64, 64] x bf16, swizzle 128>
  %q = warp.alloc : !warp.ring<2 x [64, 64] x bf16>
  %m = warp.mbarrier_create 1 arrivals 1
  %b = warp.index %r[%i]
  %c = warp.index %q[%i]
  %z = arith.constant 0.0 : f32
  %t = tile.fill %z : !tile.of<x: 64, y: 64, f32>
  %p, %s = "warp.halve"(%t) : (!tile.of<x: 64, y: 64, f32>) -> (!tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>, !tile.of<x: 64, y: 64, f32 in #warp.mma<[x, y], warps [4, 1], instruction [16, 64, 16]>>)
  // expected-error@above {{!tile.of<x: 64, y: 64, f32> has no halves}}
  func.return
}
// -----
// Kernels and partitions.
warp.kernel @k(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "k"], num_warps = 4 : i32, root = "f"} {
// expected-error@above {{the body of a 'warp.kernel' ends with 'warp.specialize'}}
  warp.fence_async
}
// -----
warp.kernel @k(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "k"], num_warps = 8 : i32, root = "f"} {
// expected-error@above {{'num_warps' is the number of warps of the first partition}}
  warp.specialize {
    warp.partition a warps 4 {
    }
  }
}
// -----
warp.kernel @k(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "k"], num_warps = 4 : i32, root = "f"} {
// expected-error@above {{a tensor does not end at 'k' along 'x'}}
  %a = warp.tma_descriptor %A ends [k, _] : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  warp.specialize {
    warp.partition a warps 4 {
    }
  }
}
// -----
func.func @f(%A: memref<?x?xbf16>) {
  %a = warp.tma_descriptor %A ends [x] : !warp.descriptor<[64, 64] x bf16, swizzle 128>
  // expected-error@above {{where a tensor ends is said for each of its axes, or not at all}}
  func.return
}
// -----
warp.kernel @k(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "k"], num_warps = 4 : i32, root = "f"} {
// expected-error@above {{'z' is not a label of the kernel}}
  %z = tile.size z
  warp.specialize {
    warp.partition a warps 4 {
    }
  }
}
// -----
warp.kernel @k(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "k"], num_warps = 4 : i32, root = "f"} {
// expected-error@above {{'programs' and 'tile.num_programs' go together}}
  warp.specialize {
    warp.partition a warps 4 {
      %n = tile.num_programs
    }
  }
}
// -----
warp.kernel @k(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "k"], num_warps = 4 : i32, root = "f"} {
// expected-error@above {{a kernel with 'dependent_launch', and no other, has one 'warp.grid_wait'}}
  warp.grid_wait
  warp.specialize {
    warp.partition a warps 4 {
    }
  }
}
// -----
warp.kernel @k(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}) attributes {dependent_launch, grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "k"], num_warps = 4 : i32, root = "f"} {
// expected-error@above {{a kernel with 'dependent_launch', and no other, has one 'warp.grid_wait'}}
  warp.specialize {
    warp.partition a warps 4 {
    }
  }
}
// -----
warp.kernel @k(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "k"], num_warps = 4 : i32, root = "f"} {
  warp.specialize {
  // expected-error@above {{what is specialized are partitions, one at least}}
    warp.fence_async
  }
}
// -----
warp.kernel @k(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "k"], num_warps = 4 : i32, root = "f"} {
  warp.specialize {
  // expected-error@above {{partitions have different names}}
    warp.partition a warps 4 {
    }
    warp.partition a warps 4 {
    }
  }
}
// -----
warp.kernel @k(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "k"], num_warps = 4 : i32, root = "f"} {
  warp.specialize {
  // expected-error@above {{the partitions take 68608 registers, and a multiprocessor has 65536}}
    warp.partition a (%i to 2) warps 4 registers 256 {
    }
    warp.partition b warps 4 registers 24 {
    }
  }
}
// -----
warp.kernel @k(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "k"], num_warps = 4 : i32, root = "f"} {
  warp.specialize {
    warp.partition b warps 4 {
    }
    warp.partition a (%i to 2) warps 3 registers 24 {
    // expected-error@above {{a group has a power of two of warps, 16 at most}}
    }
  }
}
// -----
warp.kernel @k(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "k"], num_warps = 4 : i32, root = "f"} {
  warp.specialize {
    warp.partition a warps 4 registers 20 {
    // expected-error@above {{a thread has a multiple of 8 registers, from 24 to 256}}
    }
  }
}
// -----
warp.kernel @k(%A: memref<?x?xbf16> {host.name = "A", host.axes = ["x", "k"]}) attributes {grid_blocks = [64 : i64], grid_labels = ["x"], labels = ["x", "k"], num_warps = 4 : i32, root = "f"} {
  %pid = tile.program_id
  warp.specialize {
    warp.partition a warps 4 {
      %c = arith.addi %pid, %pid : index
      // expected-error@above {{a partition uses a value from around it that is none of buffers, barriers, descriptors, arguments, sizes and constants}}
    }
  }
}
