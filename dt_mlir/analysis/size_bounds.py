"""Bounds of integers of the `tile` level by the sizes of labels."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, SSAValue

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.dialects import tile
from dt_mlir.dialects.formats import names


class SizeBound(NamedTuple):
    """A bound of a magnitude: a multiple of the largest of some labels' sizes, and a number."""

    labels: frozenset[str]
    factor: int
    offset: int

    def plus(self, other: SizeBound) -> SizeBound:
        """The bound of a sum or a difference."""
        labels = self.labels | other.labels
        return SizeBound(labels, self.factor + other.factor, self.offset + other.offset)

    def times(self, factor: int) -> SizeBound:
        """The bound of a multiple."""
        return SizeBound(self.labels, self.factor * abs(factor), self.offset * abs(factor))

    def either(self, other: SizeBound) -> SizeBound:
        """The bound of what is one of two integers."""
        labels = self.labels | other.labels
        return SizeBound(labels, max(self.factor, other.factor), max(self.offset, other.offset))

    @staticmethod
    def number(value: int) -> SizeBound:
        """The bound of a number."""
        return SizeBound(frozenset(), 0, abs(value))

    @staticmethod
    def size(label: str) -> SizeBound:
        """The bound of a size, and of the indices below it."""
        return SizeBound(frozenset([label]), 1, 0)


class SizeBounds:
    """Finds bounds of integers, and of the elements of tiles of integers.

    Elements beyond the end of an axis do not count: nothing depends on them.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[SSAValue, str | None], SizeBound | None] = {}
        self._of_blocks: dict[SSAValue, bool] = {}

    def of(self, value: SSAValue, label: str | None = None) -> SizeBound | None:
        """Returns a bound; None if none is known.

        Args:
            value: an integer, an index, or a tile of these.
            label: the label along which the value is an index of the kernel, if it is one.
        """
        key = value, label
        if key not in self._known:
            self._known[key] = self._computed(value, label)
        return self._known[key]

    def _computed(self, value: SSAValue, label: str | None) -> SizeBound | None:
        number = constant_index(value)
        if number is not None:
            return SizeBound.number(number)
        op = value.owner
        if isinstance(op, Block):
            return self._of_argument(value, op, label)
        match op:
            case tile.SizeOp():
                return SizeBound.size(op.label.data)
            case tile.RangeOp():
                extent = op.axis.extent
                if isinstance(extent, str):
                    return self._sum(self.of(op.origin, op.label.data), SizeBound.size(extent))
                width = SizeBound.number(extent * op.stride)
                return self._sum(self.of(op.origin, op.label.data), width)
            case tile.JoinedRangeOp():
                side = op.side_of(value)
                origin = self.of(op.origins[side], names(op.labels)[side])
                return self._sum(origin, SizeBound.number(op.extents[side]))
            case tile.MapOp():
                return self.of(op.yielded)
            case arith.IndexCastOp():
                return self.of(op.input, label)
            case arith.AddiOp() | arith.SubiOp():
                return self._sum(self.of(op.lhs, label), self.of(op.rhs, label))
            case arith.MinSIOp() | arith.MaxSIOp():
                left, right = self.of(op.lhs, label), self.of(op.rhs, label)
                return None if left is None or right is None else left.either(right)
            case arith.MuliOp():
                return self._product(op, label)
            case arith.DivSIOp():
                # Divisors are at least 1.
                return self.of(op.lhs)
            case arith.RemSIOp():
                return self.of(op.rhs)
            case _:
                return None

    @staticmethod
    def _sum(left: SizeBound | None, right: SizeBound | None) -> SizeBound | None:
        return None if left is None or right is None else left.plus(right)

    def _of_argument(self, value: SSAValue, block: Block, label: str | None) -> SizeBound | None:
        """Returns the bound of the index of a loop, or of what a map takes an element of."""
        op = block.parent_op()
        if isinstance(op, tile.MapOp):
            place = next(n for n, arg in enumerate(block.args) if arg is value)
            return self.of(op.inputs[place])
        if isinstance(op, scf.ForOp) and value is block.args[0]:
            begin, end = self.of(op.lb, label), self.of(op.ub, label)
            return None if begin is None or end is None else begin.either(end)
        return None

    def _product(self, op: arith.MuliOp, label: str | None) -> SizeBound | None:
        for one, other in (op.operands, op.operands[::-1]):
            factor = constant_index(one)
            if factor is None:
                continue
            if label is not None and self._is_of_block(other):
                # The blocks of the grid begin inside of their label.
                return SizeBound.size(label)
            found = self.of(other)
            return None if found is None else found.times(factor)
        return None

    def _is_of_block(self, value: SSAValue) -> bool:
        """Returns whether a number is computed from the number of the program instance."""
        if value not in self._of_blocks:
            op = value.owner
            self._of_blocks[value] = isinstance(op, tile.ProgramIdOp) or (
                isinstance(op, Operation) and any(map(self._is_of_block, op.operands))
            )
        return self._of_blocks[value]
