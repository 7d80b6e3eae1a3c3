"""Plans products of matrices for Triton's dot."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    IntegerType,
)
from xdsl.ir import Attribute

from dt_mlir.analysis.tile_axes import TileAxes
from dt_mlir.dialects import loop
from dt_mlir.dialects.tile.types import Axis

_FLOATS = (Float16Type, BFloat16Type, Float32Type, Float8E4M3FNType, Float8E5M2Type)


def is_dottable(type: Attribute) -> bool:
    """Returns whether Triton's dot multiplies operands of an element type."""
    return isinstance(type, _FLOATS) or type == IntegerType(8)


def dot_operand_bits(type: Attribute) -> int:
    """Returns the width of an element type in bits."""
    if isinstance(type, AnyFloat):
        return type.bitwidth
    assert isinstance(type, IntegerType)
    return type.width.data


@dataclass(frozen=True)
class DotPlan:
    """The axes of a product of matrices on tiles."""

    batch: tuple[Axis, ...]
    rows: Axis
    columns: Axis
    depth: Axis
    swapped: bool
    """True if the second operand is the left matrix, so that the result's axes are in order."""


def least_depth(bits: int) -> int:
    """Returns the least depth of Triton's dot for operands of a width in bits."""
    return 32 if bits <= 8 else 16


def plan_dot(op: loop.ReduceOp, axes: TileAxes, bits: int, dottable: bool) -> DotPlan | None:
    """Returns a plan for a product; None if Triton's dot cannot carry it out.

    Args:
        op: a `dot` reduction.
        axes: the axes of its kernel.
        bits: the width of its operands.
        dottable: whether Triton's dot takes the operands' type.
    """
    if not op.is_tile or not dottable:
        return None
    left, right = (axes.of(value) for value in op.yielded)
    if op not in left or op not in right:
        return None
    rows, columns = axes.axes(left - right), axes.axes(right - left)
    batch = axes.axes((left & right) - {op})
    depth = axes.loops[op]
    if len(rows) != 1 or len(columns) != 1 or len(batch) > 1:
        return None
    if isinstance(depth.extent, int) and depth.extent < least_depth(bits):
        return None
    order = list(axes.loops.values())
    swapped = order.index(rows[0]) > order.index(columns[0])
    if swapped:
        rows, columns = columns, rows
    return DotPlan(tuple(batch), rows[0], columns[0], depth, swapped)
