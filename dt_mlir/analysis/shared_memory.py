"""The shared memory that kernels of the `warp` level allocate."""

from __future__ import annotations

from dt_mlir.dialects import warp
from dt_mlir.traversal import operations

SHARED_MEMORY = 232448
"""The bytes of shared memory that a program instance may have on sm_90."""
BARRIER = 8
"""The bytes of a barrier."""
PART = 128
"""The bytes of a row of a part of a result: the widest swizzle, which the copy engine takes at
once."""
PARTS = 2
"""The parts of a result that have buffers: one is filled while another one is copied."""


def shared_memory_of(kernel: warp.KernelOp) -> int:
    """Returns the bytes that a kernel's buffers and barriers take."""
    total = 0
    for op in operations(kernel):
        if isinstance(op, warp.AllocOp):
            type = op.result.type
            assert isinstance(type, warp.RingType)
            total += type.depth.data * type.bytes
        elif isinstance(op, warp.MBarrierCreateOp):
            total += BARRIER * op.depth
    return total
