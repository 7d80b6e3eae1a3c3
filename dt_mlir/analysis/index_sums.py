"""Indices of the `tile` level as sums of multiples of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.arith import CMPI_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.dialects import tile


class Sum(NamedTuple):
    """A sum of multiples of indices and a number."""

    terms: tuple[tuple[SSAValue, int], ...]
    """The indices with their factors, in the order in which they first occurred."""
    number: int

    @staticmethod
    def of(value: SSAValue) -> Sum:
        """An index by itself."""
        known = constant_index(value)
        return Sum(((value, 1),), 0) if known is None else Sum((), known)


class Sums:
    """Brings indices into one form: `(x + 1) + 2 - 1` and `x + 2` are one sum."""

    def __init__(self) -> None:
        self.known: dict[SSAValue, Sum] = {}
        """The indices that are known to be sums of others."""
        self._places: dict[SSAValue, int] = {}

    def sum_of(self, value: SSAValue) -> Sum:
        """Returns an index as a sum of others; by itself where no sum of it is known."""
        return self.known.get(value) or Sum.of(value)

    def added(self, a: Sum, b: Sum, factor: int) -> Sum:
        """Returns a sum plus a multiple of another one."""
        found = dict(a.terms)
        for value, number in b.terms:
            self._places.setdefault(value, len(self._places))
            found[value] = found.get(value, 0) + number * factor
        for value in found:
            self._places.setdefault(value, len(self._places))
        terms = sorted(((v, n) for v, n in found.items() if n), key=lambda t: self._places[t[0]])
        return Sum(tuple(terms), a.number + b.number * factor)

    def combined(self, op: Operation, operands: Sequence[Sum | None]) -> Sum | None:
        """Returns what an operation computes as a sum; None if it is none of these sums."""
        known = [operand for operand in operands if operand is not None]
        if isinstance(op, arith.ConstantOp) and isinstance(op.result.type, IndexType):
            return Sum.of(op.result)
        if len(known) != 2:
            return None
        a, b = known
        match op:
            case arith.AddiOp():
                return self.added(a, b, 1)
            case arith.SubiOp():
                return self.added(a, b, -1)
            case arith.MuliOp() if not b.terms:
                return self.added(Sum((), 0), a, b.number)
            case arith.MuliOp() if not a.terms:
                return self.added(Sum((), 0), b, a.number)
            case _:
                return None

    def sum_in(self, op: tile.MapOp, inputs: Sequence[SSAValue]) -> Sum | None:
        """Returns what a map of other operands computes as a sum; None if it is none."""
        sums = self.arguments(op, inputs)
        for inner in op.body.block.ops:
            if inner.results:
                found = self.combined(inner, [sums.get(value) for value in inner.operands])
                if found is None:
                    return None
                sums[inner.results[0]] = found
        return sums.get(op.yielded)

    def arguments(self, op: tile.MapOp, inputs: Sequence[SSAValue]) -> dict[SSAValue, Sum]:
        """Returns what the arguments of a map's body are where the operands are these."""
        args = zip(op.body.block.args, inputs)
        return {arg: self.sum_of(v) for arg, v in args if isinstance(arg.type, IndexType)}


class TileSums(Sums):
    """The indices of a kernel of the `tile` level as sums, those that maps compute too."""

    def __init__(self) -> None:
        super().__init__()
        self._deep: dict[SSAValue, Sum] = {}

    def shallow(self, value: SSAValue) -> Sum:
        """Returns a tile of indices as a sum of ranges and of numbers; a number is one by itself.
        """
        op = value.owner
        if value not in self.known and isinstance(op, tile.MapOp):
            for operand in op.inputs:
                self.shallow(operand)
            found = self.sum_in(op, op.inputs)
            if found is not None:
                self.known[value] = found
        return self.sum_of(value)

    def deep(self, value: SSAValue) -> Sum:
        """Returns an index as a sum, in which numbers that are sums are taken apart, too."""
        if value not in self._deep:
            total, op = self.shallow(value), value.owner
            if total.terms != ((value, 1),):
                found = Sum((), total.number)
                for term, factor in total.terms:
                    found = self.added(found, self.deep(term), factor)
                total = found
            elif isinstance(op, Operation):
                sums = [self.deep(operand) for operand in op.operands]
                total = self.combined(op, sums) or total
            self._deep[value] = total
        return self._deep[value]


def comparisons(condition: SSAValue, sums: TileSums) -> list[tuple[str, Sum, Sum] | None]:
    """Returns the comparisons that all hold where a condition does: the kind, and both sides.

    None stands for a condition that compares no indices.

    Args:
        condition: a condition, or a tile of such.
        sums: brings indices into one form.
    """
    op = condition.owner
    if isinstance(op, tile.MapOp):
        known: dict[SSAValue, Sum] = {
            arg: sums.deep(value) for arg, value in zip(op.body.block.args, op.inputs)
            if isinstance(arg.type, IndexType)
        }  # fmt: skip
        for inner in op.body.block.ops:
            operands = [known.get(value) for value in inner.operands]
            found = sums.combined(inner, operands) if inner.results else None
            if found is not None:
                known[inner.results[0]] = found
        return _compared(op.yielded, known.get)
    return _compared(condition, sums.deep)


def _compared(
    condition: SSAValue, sum_of: Callable[[SSAValue], Sum | None]
) -> list[tuple[str, Sum, Sum] | None]:
    op = condition.owner
    if isinstance(op, arith.AndIOp):
        return [*_compared(op.lhs, sum_of), *_compared(op.rhs, sum_of)]
    if isinstance(op, arith.CmpiOp) and isinstance(op.lhs.type, IndexType):
        left, right = sum_of(op.lhs), sum_of(op.rhs)
        kind = CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
        if left is not None and right is not None:
            return [(kind, left, right)]
    return [None]
