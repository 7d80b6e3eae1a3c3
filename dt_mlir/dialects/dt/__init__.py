"""The `dt` dialect: an algorithm, free of loops, tiles and memory.

Each function's body computes one element of it from scalars. Labels are the dimensions of the
index space; what a label's size is, the inputs' shapes say at the call, or an expression of other
sizes.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from dt_mlir.dialects.dt.access import ClampOp, IndexOp, ReadOp, SizeOp
from dt_mlir.dialects.dt.declarations import InputOp, LabelOp
from dt_mlir.dialects.dt.functions import (
    FuncOp,
    OutputOp,
    ReduceOp,
    YieldOp,
    check_labels,
    check_reduction,
)

__all__ = [
    "ClampOp",
    "Dt",
    "FuncOp",
    "IndexOp",
    "InputOp",
    "LabelOp",
    "OutputOp",
    "ReadOp",
    "ReduceOp",
    "SizeOp",
    "YieldOp",
    "check_labels",
    "check_reduction",
]

Dt = Dialect(
    "dt",
    [LabelOp, InputOp, FuncOp, ReadOp, ClampOp, IndexOp, SizeOp, ReduceOp, YieldOp, OutputOp],
    [],
)
"""Algorithms."""
