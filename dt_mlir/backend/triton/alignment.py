"""Indices that Triton takes for better aligned than they are.

Triton knows of a tile of numbers, along each of its axes, how many are contiguous and what divides
the first of those (its "axis info"). Its versions 3.6 and 3.7 take what divides both operands of a
sum, a difference, a remainder or a selection for a divisor of the result, although there may be
fewer contiguous numbers in it: 16 divides the first of `16 * p`, and of `x % 16`, but not all
`16 * p + x % 16`. Along the axis itself this does no harm, as vectors are no longer than what is
contiguous. Along another axis, vectors begin at what is not aligned, and the load fails on a GPU.
A hint, `tl.multiple_of(rows, (1, 1))`, takes the place of what Triton would know.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, SSAValue

from dt_mlir.analysis.moving_addresses import Part
from dt_mlir.backend.triton import code
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


class Alignments:
    """Finds the indices of a kernel whose alignment Triton overestimates, or may."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, _Tile] = {}

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
        seen = frozenset[str]()
        for part in parts:
            found = self._tile(part.value)
            if found.is_uneven or (found.axes and part.factor < 0) or found.axes & seen:
                return True
            seen |= found.axes
        return False

    def _tile(self, value: SSAValue) -> _Tile:
        if value not in self._known:
            self._known[value] = self._found(value)
        return self._known[value]

    def _found(self, value: SSAValue) -> _Tile:
        axes = frozenset(axis.name for axis in axes_of(value.type) if axis.extent != 1)
        op = value.owner
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
        # Ranges are what they seem to be; of what is loaded or reduced Triton knows nothing.
        return _Tile(axes, carried and bool(axes), carried)


def _computed(op: Operation, operands: Sequence[_Tile]) -> _Tile:
    """Returns the properties of the result of an operation on an element."""
    axes = frozenset[str]().union(*(operand.axes for operand in operands))
    is_uneven = any(operand.is_uneven for operand in operands)
    is_cut = any(operand.is_cut for operand in operands)
    match op:
        case arith.AddiOp():
            is_uneven |= bool(operands[0].axes & operands[1].axes)
        case arith.SubiOp():
            is_uneven |= bool(operands[1].axes)
        case arith.RemSIOp():
            is_uneven |= operands[0].is_cut or bool(operands[1].axes)
            is_cut = True
        case arith.SelectOp():
            condition, *values = (operand.axes for operand in operands)
            is_uneven |= bool(condition.intersection(*values))
            is_cut = True
        case arith.CmpiOp():
            is_uneven = is_cut = False
        case _:
            pass
    return _Tile(axes, is_uneven, is_cut)
