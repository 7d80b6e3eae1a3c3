"""Builds scalar arithmetic: what an elementwise function is in terms of others."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from dt_mlir.element_types import is_float


class ScalarBuilder:
    """Builds scalar operations of one type in front of an operation, at its location.

    Args:
        op: the operation; its result has the type.
    """

    def __init__(self, op: Operation) -> None:
        self.op = op
        self.type = op.results[0].type
        self.builder = Builder(InsertPoint.before(op))

    def insert(self, op: Operation) -> SSAValue:
        """Inserts an operation; returns its first result."""
        op.location = self.op.location
        return self.builder.insert(op).results[0]

    def constant(self, value: float) -> SSAValue:
        """Inserts a constant of the type."""
        if isinstance(self.type, AnyFloat):
            return self.insert(arith.ConstantOp(FloatAttr(float(value), self.type)))
        return self.insert(arith.ConstantOp(IntegerAttr(int(value), self.type)))  # pyright: ignore

    @property
    def is_float(self) -> bool:
        """True if the type is a floating-point type."""
        return is_float(self.type)

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Inserts a sum."""
        return self.insert(arith.AddfOp(a, b) if self.is_float else arith.AddiOp(a, b))

    def sub(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Inserts a difference."""
        return self.insert(arith.SubfOp(a, b) if self.is_float else arith.SubiOp(a, b))

    def mul(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Inserts a product."""
        return self.insert(arith.MulfOp(a, b) if self.is_float else arith.MuliOp(a, b))

    def div(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Inserts a quotient of floats."""
        return self.insert(arith.DivfOp(a, b))

    def compare(self, a: SSAValue, b: SSAValue, how: str) -> SSAValue:
        """Inserts a comparison: `how` is eq, ne, lt, le, gt or ge."""
        if self.is_float:
            return self.insert(arith.CmpfOp(a, b, ("u" if how == "ne" else "o") + how))
        return self.insert(arith.CmpiOp(a, b, how if how in ("eq", "ne") else "s" + how))

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """Inserts a choice between two values."""
        return self.insert(arith.SelectOp(condition, a, b))

    def maximum(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Inserts the larger of two values; NaN wins."""
        return self.insert(arith.MaximumfOp(a, b) if self.is_float else arith.MaxSIOp(a, b))

    def minimum(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Inserts the smaller of two values; NaN wins."""
        return self.insert(arith.MinimumfOp(a, b) if self.is_float else arith.MinSIOp(a, b))

    def polynomial(self, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
        """Inserts a polynomial by Horner's rule; the constant term comes first."""
        value = self.constant(coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            value = self.add(self.mul(value, x), self.constant(coefficient))
        return value

    def neg(self, a: SSAValue) -> SSAValue:
        """Inserts the negative of a float."""
        return self.insert(arith.NegfOp(a))

    def call(self, cls: type[Operation], *operands: SSAValue) -> SSAValue:
        """Inserts an operation of a class on operands."""
        return self.insert(cls(*operands))
