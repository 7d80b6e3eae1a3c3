"""The `warp` dialect: what each group of warps of a program instance does.

Partitions, rings of buffers in shared memory, barriers with phases, asynchronous copies and
products. What threads compute on tiles in registers is said by `tile`, whose tiles then have
layouts. Names are those of MLIR's `nvgpu` where it has the same.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from dt_mlir.dialects.warp.barriers import (
    BarrierOp,
    GridWaitOp,
    MBarrierArriveOp,
    MBarrierCreateOp,
    MBarrierExpectOp,
    MBarrierWaitOp,
)
from dt_mlir.dialects.warp.copies import (
    AllocOp,
    FenceAsyncOp,
    IndexOp,
    LocalStoreOp,
    TmaDescriptorOp,
    TmaLoadOp,
    TmaStoreOp,
    TmaStoreWaitOp,
    TransposeOp,
    panel_axes,
)
from dt_mlir.dialects.warp.kernel import KernelOp, PartitionOp, SpecializeOp
from dt_mlir.dialects.warp.products import ConvertLayoutOp, HalveOp, MmaOp, MmaWaitOp
from dt_mlir.dialects.warp.types import (
    ArrayType,
    BarrierType,
    BufferType,
    DescriptorType,
    MmaLayoutAttr,
    OperandLayoutAttr,
    RingType,
    RowsLayoutAttr,
)

__all__ = [
    "AllocOp",
    "ArrayType",
    "BarrierOp",
    "BarrierType",
    "BufferType",
    "ConvertLayoutOp",
    "DescriptorType",
    "FenceAsyncOp",
    "GridWaitOp",
    "HalveOp",
    "IndexOp",
    "KernelOp",
    "LocalStoreOp",
    "MBarrierArriveOp",
    "MBarrierCreateOp",
    "MBarrierExpectOp",
    "MBarrierWaitOp",
    "MmaLayoutAttr",
    "MmaOp",
    "MmaWaitOp",
    "OperandLayoutAttr",
    "PartitionOp",
    "RingType",
    "RowsLayoutAttr",
    "SpecializeOp",
    "TmaDescriptorOp",
    "TmaLoadOp",
    "TmaStoreOp",
    "TmaStoreWaitOp",
    "TransposeOp",
    "Warp",
    "panel_axes",
]

Warp = Dialect(
    "warp",
    [
        KernelOp, SpecializeOp, PartitionOp, TmaDescriptorOp, AllocOp, IndexOp, TransposeOp,
        MBarrierCreateOp, MBarrierWaitOp, MBarrierArriveOp, MBarrierExpectOp, TmaLoadOp, TmaStoreOp,
        TmaStoreWaitOp, FenceAsyncOp, GridWaitOp, LocalStoreOp, MmaOp, MmaWaitOp, ConvertLayoutOp,
        HalveOp,
    ],
    [
        BufferType, RingType, DescriptorType, BarrierType, MmaLayoutAttr, OperandLayoutAttr,
        RowsLayoutAttr,
    ],
)  # fmt: skip
