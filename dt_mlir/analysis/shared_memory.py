"""The shared memory that kernels of the `warp` level allocate."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import FixedBitwidthType

from dt_mlir.dialects import warp
from dt_mlir.dialects.tile.types import axes_of, element_of, layout_of
from dt_mlir.traversal import operations, operations_of

SHARED_MEMORY = 232448
"""The bytes of shared memory that a program instance may have on sm_90."""
BARRIER = 8
"""The bytes of a barrier."""
PART = 128
"""The bytes of a row of a part of a result: the widest swizzle, which the copy engine takes at
once."""
PARTS = 2
"""The parts of a result that have buffers: one is filled while another one is copied."""
EXCHANGE = 16384
"""The most bytes through which a group of warps exchanges a tile to store it in rows (Triton 3.6
and 3.7): larger tiles are exchanged in parts."""


def shared_memory_of(kernel: warp.KernelOp) -> int:
    """Returns the bytes that a kernel's buffers and barriers take, and tiles that are exchanged."""
    total = 0
    for op in operations(kernel):
        if isinstance(op, warp.AllocOp):
            type = op.result.type
            assert isinstance(type, warp.RingType)
            total += type.depth.data * type.bytes
        elif isinstance(op, warp.MBarrierCreateOp):
            total += BARRIER * op.depth
        elif isinstance(op, warp.PartitionOp):
            tiles = operations_of(op, warp.ConvertLayoutOp)
            total += op.count * max(map(_exchanged, tiles), default=0)
    return total


def _exchanged(op: warp.ConvertLayoutOp) -> int:
    type, axes = op.result.type, axes_of(op.result.type)
    if not isinstance(layout_of(type), warp.RowsLayoutAttr) or len(axes) < 2:
        return 0
    extents = [axis.extent for axis in axes if isinstance(axis.extent, int)]
    element = element_of(type)
    assert isinstance(element, FixedBitwidthType), "it is stored"
    return min(prod(extents) * element.size, EXCHANGE)
