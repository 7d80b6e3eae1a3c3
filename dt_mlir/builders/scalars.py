"""Builds scalar arithmetic: what an elementwise function is in terms of others."""

from __future__ import annotations

import traceback
from collections.abc import Collection, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import elem
from dt_mlir.dialects.numbers import constant
from dt_mlir.element_types import is_float
from dt_mlir.elementwise import APPLICABLE


class ScalarBuilder:
    """Builds scalar operations of one type in front of an operation, at its location.

    Args:
        op: the operation.
        type: the type of the operations; None for that of the operation's result.
    """

    def __init__(self, op: Operation, type: Attribute | None = None) -> None:
        self.op = op
        self.type = op.results[0].type if type is None else type
        self.builder = Builder(InsertPoint.before(op))

    def of_type(self, type: Attribute) -> ScalarBuilder:
        """Returns a builder of operations of another type at the same place."""
        return ScalarBuilder(self.op, type)

    def insert(self, op: Operation) -> SSAValue:
        """Inserts an operation; returns its first result."""
        op.location = self.op.location
        return self.builder.insert(op).results[0]

    def constant(self, value: float) -> SSAValue:
        """Inserts a constant of the type."""
        number = float(value) if self.is_float else int(value)
        return self.insert(arith.ConstantOp(constant(number, self.type)))

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


def expansion_of(op: elem.ApplyOp, within: Collection[str] = ()) -> tuple[Block, SSAValue]:
    """Returns another package's function in terms of others, as a block of its own.

    Args:
        op: a use of the function.
        within: the functions in whose expansions the use stands.

    Returns:
        A block with an argument for each operand, and the function's value in it.

    Raises:
        CompileError: as `expand_function`.
    """
    block = Block(arg_types=[value.type for value in op.arguments])
    use = elem.ApplyOp(op.function.data, block.args)
    use.location = op.location
    block.add_op(use)
    result = expand_function(use, within)
    block.detach_op(use)
    return block, result


def expand_function(op: elem.ApplyOp, within: Collection[str] = ()) -> SSAValue:
    """Inserts what another package's function is in terms of others in front of its use.

    Args:
        op: the use.
        within: the functions in whose expansions the use stands.

    Returns:
        The value to take in place of the operation's.

    Raises:
        CompileError: if the expansion fails, uses its own function, or returns anything but a
            value of the type.
    """
    name = op.function.data
    expansion = APPLICABLE[name].expansion
    assert expansion is not None
    code = getattr(expansion, "__code__", None)
    place = f"{code.co_filename}:{code.co_firstlineno}" if code else repr(expansion)
    if name in within:
        raise CompileError(f"the expansion of '{name}' needs '{name}' itself", op, f"see {place}")
    try:
        result = expansion(ScalarBuilder(op), *op.operands)
    except CompileError:
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        if code is not None and last.filename == code.co_filename:
            place = f"{last.filename}:{last.lineno}"
        raise CompileError(
            f"the expansion of '{name}' fails: {type(error).__name__}: {error}",
            op, f"see {place}",
        ) from error
    if not isinstance(result, SSAValue):
        raise CompileError(
            f"the expansion of '{name}' returns a {type(result).__name__}, not a value",
            op, f"see {place}",
        )
    if result.type != op.result.type:
        raise CompileError(
            f"the expansion of '{name}' returns a value of type {result.type}, "
            f"not of {op.result.type}",
            op, f"see {place}",
        )
    return result
