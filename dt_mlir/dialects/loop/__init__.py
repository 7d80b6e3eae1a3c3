"""The `loop` dialect: loop nests over labels, and what is computed where.

A loop knows its label, where it starts, how far it goes and in what step, and it ends at its
label's size by definition, so that splitting one never needs a remainder. Bodies stay scalar: a
loop that is marked `tile` means that the elements of one step are computed at once.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from dt_mlir.dialects.loop.access import (
    AccessOp,
    Index,
    LocalOp,
    ReadOp,
    SizeOp,
    WriteOp,
    index_map_of,
)
from dt_mlir.dialects.loop.delinearize import DelinearizeOp, is_induction_variable
from dt_mlir.dialects.loop.grid import (
    GridOp,
    KernelOp,
    WalkAttr,
)
from dt_mlir.dialects.loop.nests import (
    ForOp,
    LoopLike,
)
from dt_mlir.dialects.loop.online import LAWS, OnlineOp, RunningOp
from dt_mlir.dialects.loop.parts import PartOp
from dt_mlir.dialects.loop.prefix import PrefixOp, prefixes_of
from dt_mlir.dialects.loop.reductions import (
    ReduceOp,
    ReductionLoop,
    YieldOp,
)

__all__ = [
    "LAWS",
    "AccessOp",
    "DelinearizeOp",
    "ForOp",
    "GridOp",
    "Index",
    "KernelOp",
    "LocalOp",
    "Loop",
    "LoopLike",
    "OnlineOp",
    "PartOp",
    "PrefixOp",
    "ReadOp",
    "ReduceOp",
    "ReductionLoop",
    "RunningOp",
    "SizeOp",
    "WalkAttr",
    "WriteOp",
    "YieldOp",
    "index_map_of",
    "is_induction_variable",
    "prefixes_of",
]

Loop = Dialect(
    "loop",
    [
        KernelOp, GridOp, ForOp, ReduceOp, OnlineOp, RunningOp, YieldOp, PrefixOp, DelinearizeOp,
        PartOp, ReadOp, WriteOp, LocalOp, SizeOp,
    ],
    [WalkAttr],
)
