"""Indices that Triton takes for better aligned than they are.

Triton knows of a tile of numbers, along each of its axes, how many are contiguous and what divides
the first of those (its "axis info"). Its versions 3.6 and 3.7 take what divides both operands of a
sum, a difference, a remainder or a selection for a divisor of the result, although there may be
fewer contiguous numbers in it: 16 divides the first of `16 * p`, and of `x % 16`, but not all
`16 * p + x % 16`. Along the axis itself this does no harm, as vectors are no longer than what is
contiguous; nor does it where some numbers are contiguous, which Triton takes for odd along other
axes. Where none are, vectors along another axis begin at what is not aligned, and the load fails on
a GPU. A hint, `tl.multiple_of(rows, (1, 1))`, takes the place of what Triton would know.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from dt_mlir.analysis.divisibility import multiple_of
from dt_mlir.analysis.moving_addresses import Part
from dt_mlir.backend.triton import axis_info, code
from dt_mlir.backend.triton.axis_info import NUMBERS, AxisInfo
from dt_mlir.dialects import tile, warp
from dt_mlir.dialects.tile.types import Axis, axes_of, axis_names

_MOVES = (tile.TransposeOp, tile.BroadcastOp, warp.ConvertLayoutOp)
"""Operations that leave numbers as they are."""
_UNKNOWN = (tile.LoadOp, tile.ReduceOp, tile.ArgReduceOp, tile.ScanOp, tile.FillOp, tile.MaskOp)
"""Operations of whose results Triton knows nothing, or that all numbers are one."""


class _Tile(NamedTuple):
    """Properties of a value that matter here."""

    info: Mapping[str, AxisInfo]
    """Triton's knowledge of it along each axis along which it varies."""
    is_uneven: bool = False
    """True if Triton may take it for better aligned than it is."""
    is_cut: bool = False
    """True if only parts of it may be contiguous: a remainder is uneven then."""
    elsewhere: AxisInfo = axis_info.uniform(1)
    """Triton's knowledge along other axes."""

    def along(self, axis: str) -> AxisInfo:
        """Returns what Triton knows of it along an axis."""
        return self.info.get(axis, self.elsewhere)


class Alignments:
    """Finds the indices of a kernel whose alignment Triton overestimates, or may."""

    def __init__(self) -> None:
        self._known: dict[tuple[SSAValue, bool], _Tile] = {}

    def hinted(self, index: ast.expr, parts: Sequence[Part], axes: Sequence[Axis]) -> ast.expr:
        """Returns an index of an access, with a hint where one is needed.

        Args:
            index: the index.
            parts: its parts, which are added up.
            axes: the axes of the access.
        """
        if len([axis for axis in axes if axis.extent != 1]) < 2 or not self._is_uneven(parts):
            return index
        hint = code.tuple_of([code.constant(1)] * len(axes))
        return code.call("tl.multiple_of", index, hint)

    def _is_uneven(self, parts: Sequence[Part]) -> bool:
        """Returns whether Triton may overestimate the alignment of a sum."""
        total = _number(0)
        for part in parts:
            found = self._tile(part.value, part.from_origin)
            if abs(part.factor) != 1:
                found = _combined([found, _number(part.factor)], axis_info.product)
            total = _difference(total, found) if part.factor < 0 else _total(total, found)
        return total.is_uneven

    def _tile(self, value: SSAValue, from_origin: bool = False) -> _Tile:
        key = value, from_origin
        if key not in self._known:
            self._known[key] = self._found(value, from_origin)
        return self._known[key]

    def _found(self, value: SSAValue, from_origin: bool) -> _Tile:
        axes = [axis.name for axis in axes_of(value.type) if axis.extent != 1]
        op = value.owner
        if not axes:
            return _number(multiple_of(value))
        if isinstance(op, tile.RangeOp | tile.JoinedRangeOp):
            side = op.side_of(value) if isinstance(op, tile.JoinedRangeOp) else 0
            return _Tile({axes[0]: axis_info.of_range(op, side, from_origin)}, is_cut=side > 0)
        if isinstance(op, tile.MapOp):
            inner: dict[SSAValue, _Tile] = {
                a: self._tile(v) for a, v in zip(op.body.block.args, op.inputs)
            }
            for scalar in op.body.block.ops:
                for result in scalar.results:
                    inner[result] = _computed(scalar, [inner[v] for v in scalar.operands])
            return inner[op.yielded]
        if isinstance(op, tile.RenameOp):
            found = self._tile(op.operands[0])
            new = dict(zip(axis_names(op.operands[0].type), axis_names(value.type)))
            return found._replace(info={new[axis]: info for axis, info in found.info.items()})
        if isinstance(op, _MOVES):
            return self._tile(op.operands[0])
        nothing = dict.fromkeys(axes, NUMBERS)
        return _Tile(nothing) if isinstance(op, _UNKNOWN) else _Tile(nothing, True, True)


def _number(divisor: int) -> _Tile:
    return _Tile({}, elsewhere=axis_info.uniform(divisor))


def _combined(
    operands: Sequence[_Tile], combine: Callable[..., AxisInfo], doubt: bool = False,
    cuts: bool = False,
) -> _Tile:  # fmt: skip
    """Returns what is computed of tiles.

    Args:
        operands: the tiles.
        combine: gives what is known along an axis by what is known of the operands.
        doubt: whether Triton may know too much, unless some numbers are contiguous.
        cuts: whether only parts of it may be contiguous.
    """
    axes = dict.fromkeys(axis for operand in operands for axis in operand.info)
    info = {axis: combine(*(operand.along(axis) for operand in operands)) for axis in axes}
    scattered = all(found.contiguous == 1 for found in info.values())
    return _Tile(
        info,
        any(operand.is_uneven for operand in operands) or (doubt and scattered),
        cuts or any(operand.is_cut for operand in operands),
        axis_info.uniform(1) if axes else combine(*(operand.elsewhere for operand in operands)),
    )


def _total(a: _Tile, b: _Tile) -> _Tile:
    return _combined([a, b], axis_info.total, not a.info.keys().isdisjoint(b.info))


def _difference(a: _Tile, b: _Tile) -> _Tile:
    return _combined([a, b], axis_info.difference, bool(b.info))


def _computed(op: Operation, operands: list[_Tile]) -> _Tile:
    """Returns the properties of the result of an operation on an element."""

    def combine(*infos: AxisInfo) -> AxisInfo:
        return axis_info.of_result(op, list(infos))

    match op:
        case arith.AddiOp():
            return _total(*operands)
        case arith.SubiOp():
            return _difference(*operands)
        case arith.RemSIOp():
            dividend, divisor = operands
            return _combined(operands, combine, dividend.is_cut or bool(divisor.info), True)
        case arith.SelectOp():
            condition, first, second = operands
            both = condition.info.keys() & first.info.keys() & second.info.keys()
            return _combined(operands, combine, bool(both), True)
        case arith.CmpiOp():
            return _combined(operands, combine)._replace(is_uneven=False, is_cut=False)
        case _:
            return _combined(operands, combine)
