"""Indices of the `tile` level as sums of multiples of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects import arith
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
