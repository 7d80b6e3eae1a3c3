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
from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, SSAValue

from dt_mlir.analysis.divisibility import multiple_of
from dt_mlir.analysis.moving_addresses import Part
from dt_mlir.backend.triton import axis_info, code
from dt_mlir.backend.triton.axis_info import NUMBERS, AxisInfo
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import Axis, axes_of


class _Tile(NamedTuple):
    """Properties of a value that matter here."""

    axes: frozenset[str]
    """The axes along which it varies."""
    is_uneven: bool
    """True if Triton may take it for better aligned than it is."""
    is_cut: bool
    """True if only parts of it are contiguous: a remainder is uneven then."""
    info: AxisInfo = NUMBERS
    """Triton's knowledge of it along its axis, if it has one alone."""


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
        total: _Tile | None = None
        for part in parts:
            found = self._tile(part.value, part.from_origin)
            if abs(part.factor) != 1:
                scaled = axis_info.product(found.info, axis_info.uniform(part.factor))
                found = found._replace(info=scaled)
            if part.factor < 0:
                total = _difference(total or _of_number(1), found)
            else:
                total = found if total is None else _total(total, found)
        return total is not None and total.is_uneven

    def _tile(self, value: SSAValue, from_origin: bool = False) -> _Tile:
        key = value, from_origin
        if key not in self._known:
            self._known[key] = self._found(value, from_origin)
        return self._known[key]

    def _found(self, value: SSAValue, from_origin: bool) -> _Tile:
        axes = frozenset(axis.name for axis in axes_of(value.type) if axis.extent != 1)
        op = value.owner
        if not axes:
            return _of_number(multiple_of(value))
        if isinstance(op, tile.RangeOp | tile.JoinedRangeOp):
            side = op.side_of(value) if isinstance(op, tile.JoinedRangeOp) else 0
            return _Tile(axes, False, False, axis_info.of_range(op, side, from_origin))
        if isinstance(op, tile.MapOp):
            inner: dict[SSAValue, _Tile] = {
                a: self._tile(v) for a, v in zip(op.body.block.args, op.inputs)
            }
            for scalar in op.body.block.ops:
                for result in scalar.results:
                    inner[result] = _computed(scalar, [inner[v] for v in scalar.operands])
            return inner[op.yielded]
        if isinstance(op, tile.TransposeOp | tile.RenameOp | tile.BroadcastOp):
            return self._tile(op.operands[0])._replace(axes=axes)
        # What a loop carries is not followed.
        carried = isinstance(op, Block | scf.ForOp)
        # Of what is loaded or reduced Triton knows nothing.
        return _Tile(axes, carried, carried)


def _of_number(divisor: int) -> _Tile:
    return _Tile(frozenset(), False, False, axis_info.uniform(divisor))


def _known(axes: frozenset[str], is_uneven: bool, cut: bool, doubt: bool, info: AxisInfo) -> _Tile:
    """Returns a tile of which Triton may know too much, unless some numbers are contiguous."""
    if len(axes) > 1:
        info = NUMBERS
    return _Tile(axes, is_uneven or (doubt and info.contiguous == 1), cut, info)


def _total(a: _Tile, b: _Tile) -> _Tile:
    return _known(
        a.axes | b.axes, a.is_uneven or b.is_uneven, a.is_cut or b.is_cut, bool(a.axes & b.axes),
        axis_info.total(a.info, b.info),
    )


def _difference(a: _Tile, b: _Tile) -> _Tile:
    return _known(
        a.axes | b.axes, a.is_uneven or b.is_uneven, a.is_cut or b.is_cut, bool(b.axes),
        axis_info.difference(a.info, b.info),
    )


def _computed(op: Operation, operands: list[_Tile]) -> _Tile:
    """Returns the properties of the result of an operation on an element."""
    match op:
        case arith.AddiOp():
            return _total(*operands)
        case arith.SubiOp():
            return _difference(*operands)
        case _:
            pass
    axes = frozenset[str]().union(*(operand.axes for operand in operands))
    is_uneven = any(operand.is_uneven for operand in operands)
    is_cut = any(operand.is_cut for operand in operands)
    doubt = False
    match op:
        case arith.RemSIOp():
            doubt = operands[0].is_cut or bool(operands[1].axes)
            is_cut = True
        case arith.SelectOp():
            condition, *values = (operand.axes for operand in operands)
            doubt = bool(condition.intersection(*values))
            is_cut = True
        case arith.CmpiOp():
            is_uneven = is_cut = False
        case _:
            pass
    info = axis_info.of_result(op, [operand.info for operand in operands])
    return _known(axes, is_uneven, is_cut, doubt, info)
