"""Triton's reductions of tiles."""

from __future__ import annotations

import ast
from collections.abc import Callable

from dt_mlir.backend.triton import code
from dt_mlir.dialects import tile
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.tile.types import Axis, axes_of, axis_names, element_of
from dt_mlir.element_types import is_float


def reduction(
    op: tile.ReduceOp | tile.MultiReduceOp, value: ast.expr, extent: Callable[[Axis], ast.expr],
    combine: Callable[[str], ast.expr],
) -> ast.expr:  # fmt: skip
    """Returns the expression of a reduction.

    Args:
        op: the reduction.
        value: the tile.
        extent: gives the extent of an axis.
        combine: gives the function of a name that combines two elements.
    """
    if isinstance(op, tile.ReduceOp):
        place = axis_names(op.value.type).index(op.axis.data)
    else:
        value, place = _flattened(op, value, extent)
    axis, kind = code.constant(place), op.kind.data
    floats = is_float(element_of(op.value.type))
    match kind:
        case ReductionKind.ADD:
            return code.call("tl.sum", value, axis=axis)
        case ReductionKind.MAXIMUM | ReductionKind.MINIMUM if not floats:
            function = "tl.max" if kind is ReductionKind.MAXIMUM else "tl.min"
            return code.call(function, value, axis=axis)
        case ReductionKind.AND | ReductionKind.OR:
            # Triton reduces no truth values.
            function = "tl.max" if kind is ReductionKind.OR else "tl.min"
            wide = code.method(value, "to", code.path("tl.int32"))
            return code.compare("!=", code.call(function, wide, axis=axis), code.constant(0))
        case _:
            return code.call("tl.reduce", value, axis, combine(f"_{kind}"))


def _flattened(
    op: tile.MultiReduceOp, value: ast.expr, extent: Callable[[Axis], ast.expr]
) -> tuple[ast.expr, int]:
    """Returns a tile whose reduced axes, which are neighbours, are one; and the place of that."""
    axes = axes_of(op.value.type)
    first = min(axis_names(op.value.type).index(name) for name in op.axis_names)
    last = first + len(op.axis_names)
    joined = code.total("*", [extent(axis) for axis in axes[first:last]])
    shape = [*map(extent, axes[:first]), joined, *map(extent, axes[last:])]
    return code.call("tl.reshape", value, code.tuple_of(shape)), first
