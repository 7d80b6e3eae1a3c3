"""Builds index arithmetic."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue

from dt_mlir.analysis.divisibility import constant_index


@cache
def _number(value: int) -> IntegerAttr[IndexType]:
    return IntegerAttr(value, IndexType())


class IndexBuilder:
    """Builds index arithmetic, folding what is known.

    Args:
        builder: where operations go.
    """

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def constant(self, value: int) -> SSAValue:
        """A constant index."""
        number = _number(value)
        return self.builder.insert(
            arith.ConstantOp.create(result_types=[number.type], properties={"value": number})
        ).result

    def _binary(
        self, cls: type[Operation], a: SSAValue, b: SSAValue, hint: str | None
    ) -> SSAValue:
        op = cls.create(operands=[a, b], result_types=[a.type])
        result = self.builder.insert(op).results[0]
        result.name_hint = hint
        return result

    def _folded(
        self, a: SSAValue, b: SSAValue, function: Callable[[int, int], int]
    ) -> SSAValue | None:
        """Returns the function of two constants; None if an operand is not a constant."""
        x, y = constant_index(a), constant_index(b)
        return None if x is None or y is None else self.constant(function(x, y))

    def _moved(self, a: SSAValue, by: int | None, hint: str | None) -> SSAValue | None:
        """Returns a sum with a number plus another number; None if there are no two numbers."""
        if by is None or not isinstance(a.owner, arith.AddiOp | arith.SubiOp):
            return None
        known = constant_index(a.owner.rhs)
        if known is None:
            return None
        total = by + (known if isinstance(a.owner, arith.AddiOp) else -known)
        if total == 0:
            return a.owner.lhs
        cls = arith.AddiOp if total > 0 else arith.SubiOp
        return self._binary(cls, a.owner.lhs, self.constant(abs(total)), hint)

    def add(self, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        """a + b"""
        if constant_index(a) == 0:
            return b
        if constant_index(b) == 0:
            return a
        folded = self._folded(a, b, operator.add) or self._moved(a, constant_index(b), hint)
        return folded or self._binary(arith.AddiOp, a, b, hint)

    def mul(self, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        """a * b"""
        if constant_index(a) == 1:
            return b
        if constant_index(b) == 1:
            return a
        return self._folded(a, b, operator.mul) or self._binary(arith.MuliOp, a, b, hint)

    def sum(self, terms: Sequence[tuple[SSAValue, int]], number: int) -> SSAValue:
        """The sum of multiples of indices and a number."""
        total: SSAValue | None = None
        for value, factor in sorted(terms, key=lambda term: term[1] < 0):
            size = abs(factor)
            part = value if size == 1 else self.mul(value, self.constant(size))
            if factor < 0:
                total = self.sub(self.constant(0) if total is None else total, part)
            else:
                total = part if total is None else self.add(total, part)
        if total is None or number == 0:
            return self.constant(number) if total is None else total
        other = self.constant(abs(number))
        return self.add(total, other) if number > 0 else self.sub(total, other)

    def sub(self, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        """a - b"""
        number = constant_index(b)
        if number == 0:
            return a
        folded = self._folded(a, b, operator.sub)
        folded = folded or self._moved(a, None if number is None else -number, hint)
        return folded or self._binary(arith.SubiOp, a, b, hint)

    def div(self, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        """a // b, of numbers that are not negative"""
        return a if constant_index(b) == 1 else self._binary(arith.DivSIOp, a, b, hint)

    def rem(self, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        """a % b, of numbers that are not negative"""
        return self._binary(arith.RemSIOp, a, b, hint)

    def ceil_div(self, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        """a / b rounded up"""
        if constant_index(b) == 1:
            return a
        folded = self._folded(a, b, lambda x, y: -(-x // y))
        return folded or self._binary(arith.CeilDivSIOp, a, b, hint)

    def minimum(self, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        """The smaller"""
        return self._folded(a, b, min) or self._binary(arith.MinSIOp, a, b, hint)

    def maximum(self, a: SSAValue, b: SSAValue, hint: str | None = None) -> SSAValue:
        """The larger"""
        return self._folded(a, b, max) or self._binary(arith.MaxSIOp, a, b, hint)
