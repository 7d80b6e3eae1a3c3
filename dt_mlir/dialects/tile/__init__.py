"""The `tile` dialect: block programs on tiles, with masks and memory, free of labels' loops.

What has no axis is a plain scalar and needs no operation of this dialect. Elementwise work on
tiles sits in `tile.map`, whose body is scalar `arith`, `math` and `elem`.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from dt_mlir.dialects.tile.access import (
    AccessOp,
    LoadOp,
    StoreOp,
)
from dt_mlir.dialects.tile.compute import (
    ArgReduceOp,
    BroadcastOp,
    DotOp,
    FillOp,
    ReduceOp,
    RenameOp,
    ScanOp,
    TransposeOp,
)
from dt_mlir.dialects.tile.factors import FactorsOp
from dt_mlir.dialects.tile.kernel import (
    AlternateOp,
    JoinedRangeOp,
    KernelOp,
    MaskOp,
    NumProgramsOp,
    ProgramIdOp,
    RangeOp,
    SizeOp,
)
from dt_mlir.dialects.tile.map import SCALAR_DIALECTS, MapOp, YieldOp
from dt_mlir.dialects.tile.printing import (
    DESCRIPTOR,
    RANGE_OPTIONS,
    PrintsTriton,
    hinted_operand,
    triton_printer,
)
from dt_mlir.dialects.tile.types import TileType

__all__ = [
    "DESCRIPTOR",
    "RANGE_OPTIONS",
    "PrintsTriton",
    "AccessOp",
    "AlternateOp",
    "ArgReduceOp",
    "BroadcastOp",
    "DotOp",
    "FactorsOp",
    "FillOp",
    "JoinedRangeOp",
    "KernelOp",
    "LoadOp",
    "MapOp",
    "MaskOp",
    "NumProgramsOp",
    "ProgramIdOp",
    "RangeOp",
    "ReduceOp",
    "ScanOp",
    "RenameOp",
    "SCALAR_DIALECTS",
    "SizeOp",
    "StoreOp",
    "Tile",
    "TileType",
    "TransposeOp",
    "YieldOp",
    "hinted_operand",
    "triton_printer",
]

Tile = Dialect(
    "tile",
    [
        KernelOp, ProgramIdOp, NumProgramsOp, AlternateOp, SizeOp, RangeOp, JoinedRangeOp, MaskOp,
        LoadOp, StoreOp, MapOp, YieldOp, ReduceOp, ScanOp, ArgReduceOp, DotOp, FillOp, BroadcastOp,
        TransposeOp, RenameOp, FactorsOp,
    ],
    [TileType],
)  # fmt: skip
