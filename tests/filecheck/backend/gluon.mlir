// RUN: dt-opt %S/../dialects/warp/product.mlir -t gluon | filecheck %s
// RUN: sed 's/scf.if %later {/scf.if %later { } else {/' %S/../dialects/warp/product.mlir | dt-opt -t gluon | filecheck %s --check-prefix ELSE
// RUN: not dt-opt %s -t gluon 2>&1 | filecheck %s --check-prefix ERROR
// Each statement comes from an operation: of the partitions, then of the kernel around them.
// CHECK: from triton.experimental import gluon
// CHECK: def _tensor_map(function, name, tensor, box, swizzle, ends=()):
// CHECK: @gluon.jit
// CHECK-NEXT: def mm_consumer(
// CHECK-NEXT: i: gl.constexpr, A_box, B_box, mm_box, As, Bs, mms, empty, ready, x_SIZE: gl.constexpr,
// CHECK-NEXT: y_SIZE: gl.constexpr, k_SIZE: gl.constexpr
// CHECK-NEXT: ):
// CHECK-NEXT: """consumer: 4 warps of 240 registers, in 2 groups."""
// CHECK-NEXT: x_y_layout: gl.constexpr = gl.NVMMADistributedLayout(
// CHECK-NEXT: version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 256, 16]
// CHECK-NEXT: )
// CHECK: for block in range(pid, gl.cdiv(x_SIZE, 128) * y_blocks, programs):
// CHECK-NEXT: acc = gl.full((64, 256), 0.0, gl.float32, x_y_layout)
// CHECK-NEXT: it = trips
// CHECK-NEXT: for k in range(0, k_SIZE, 64):
// CHECK-NEXT: stage = it % 3
// CHECK-NEXT: mbarrier.wait(ready.index(stage), it // 3 % 2)
// CHECK-NEXT: product = warpgroup_mma(As.index(stage * 2 + i), Bs.index(stage), acc, is_async=True)
// CHECK-NEXT: sum_ = warpgroup_mma_wait(num_outstanding=1, deps=(product,))
// CHECK-NEXT: if k > 0:
// CHECK-NEXT: mbarrier.arrive(empty.index((it + 2) % 3), count=1)
// CHECK-NEXT: acc, it = (sum_, it + 1)
// CHECK-NEXT: total = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
// CHECK-NEXT: mbarrier.arrive(empty.index((it + 2) % 3), count=1)
// CHECK-NEXT: tma.store_wait(0)
// CHECK-NEXT: c = mms.index(i)
// CHECK-NEXT: c.store(total.to(gl.bfloat16))
// CHECK-NEXT: fence_async_shared()
// CHECK-NEXT: tma.async_copy_shared_to_global(
// CHECK: def mm_consumer_0(
// CHECK: mm_consumer(0, A_box,
// CHECK: def mm_producer(
// CHECK: mbarrier.wait(empty.index(stage), 1 - it // 3 % 2)
// CHECK-NEXT: mbarrier.expect(ready.index(stage), 49152)
// CHECK: tma.async_copy_global_to_shared(A_box, [x, k], ready.index(stage), As.index(slot))
// CHECK: def mm_kernel(
// CHECK: As = gl.allocate_shared_memory(
// CHECK: empty = gl.allocate_shared_memory(gl.int64, [3, 1], mbarrier.MBarrierLayout())
// CHECK-NEXT: for number in gl.static_range(3):
// CHECK-NEXT: mbarrier.init(empty.index(number), count=2)
// CHECK: fence_async_shared()
// CHECK-NEXT: gl.warp_specialize(
// CHECK: [4, 4],
// CHECK-NEXT: [240, 24],
// CHECK: mm_kernel[
// CHECK-NEXT: _persistent_grid('mm', triton.cdiv(x, 128) * triton.cdiv(y, 256), A.device, 1)
// CHECK-NEXT: ](
// CHECK-NEXT: _tensor_map('mm', 'A', A, [64, 64], 128),
// ELSE: if k > 0:
// ELSE-NEXT: pass
// ELSE-NEXT: else:
// ELSE-NEXT: mbarrier.arrive(empty.index((it + 2) % 3), count=1)
// ELSE-NEXT: acc, it = (sum_, it + 1)
// ERROR: error: the Gluon backend takes a module of the 'warp' level: kernels and one host function
// ERROR: help: the passes behind 'convert-tile-to-warp' make it of kernels with warp_specialize
