"""Bounds of integers of the `tile` level by the sizes of labels."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects import arith, scf
from xdsl.ir import Block, SSAValue

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.dialects import tile
from dt_mlir.traversal import operations_of


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
    """Finds bounds of integers of a kernel, and of the elements of tiles of integers.

    Elements beyond the end of an axis do not count: nothing depends on them.

    Args:
        kernel: the kernel.
    """

    def __init__(self, kernel: tile.KernelOp) -> None:
        self._known: dict[SSAValue, SizeBound | None] = {}
        extents = dict(kernel.grid)
        for op in operations_of(kernel, tile.RangeOp):
            origin, label = _first_of(op.origin), op.label.data
            if label in extents and _is_multiple(origin, extents[label]):
                # A block of the grid begins inside of its label.
                self._known[origin] = SizeBound.size(label)

    def of(self, value: SSAValue) -> SizeBound | None:
        """Returns a bound of an integer, an index, or a tile of these; None if none is known."""
        if value not in self._known:
            self._known[value] = self._computed(value)
        return self._known[value]

    def _computed(self, value: SSAValue) -> SizeBound | None:
        number = constant_index(value)
        if number is not None:
            return SizeBound.number(number)
        op = value.owner
        if isinstance(op, Block):
            return self._of_argument(value, op)
        match op:
            case tile.SizeOp():
                return SizeBound.size(op.label.data)
            case tile.RangeOp():
                extent = op.axis.extent
                if isinstance(extent, str):
                    return self._sum(self.of(op.origin), SizeBound.size(extent))
                return self._sum(self.of(op.origin), SizeBound.number(extent * op.stride))
            case tile.JoinedRangeOp():
                side = op.side_of(value)
                return self._sum(self.of(op.origins[side]), SizeBound.number(op.extents[side]))
            case tile.MapOp():
                return self.of(op.yielded)
            case arith.IndexCastOp():
                return self.of(op.input)
            case arith.AddiOp() | arith.SubiOp():
                return self._sum(self.of(op.lhs), self.of(op.rhs))
            case arith.MinSIOp() | arith.MaxSIOp():
                left, right = self.of(op.lhs), self.of(op.rhs)
                return None if left is None or right is None else left.either(right)
            case arith.MuliOp():
                for one, other in (op.operands, op.operands[::-1]):
                    factor, found = constant_index(one), self.of(other)
                    if factor is not None and found is not None:
                        return found.times(factor)
                return None
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

    def _of_argument(self, value: SSAValue, block: Block) -> SizeBound | None:
        """Returns the bound of the index of a loop, or of what a map takes an element of."""
        op = block.parent_op()
        if isinstance(op, tile.MapOp):
            place = next(n for n, arg in enumerate(block.args) if arg is value)
            return self.of(op.inputs[place])
        if isinstance(op, scf.ForOp) and value is block.args[0]:
            begin, end = self.of(op.lb), self.of(op.ub)
            return None if begin is None or end is None else begin.either(end)
        return None


def _first_of(origin: SSAValue) -> SSAValue:
    """Returns where the first tile begins of those that a loop walks; else the origin itself."""
    block = origin.owner
    op = block.parent_op() if isinstance(block, Block) else None
    return op.lb if isinstance(op, scf.ForOp) and origin is op.body.block.args[0] else origin


def _is_multiple(value: SSAValue, factor: int) -> bool:
    """Returns whether a value is computed as a multiple of a number."""
    op = value.owner
    return isinstance(op, arith.MuliOp) and factor in map(constant_index, op.operands)
