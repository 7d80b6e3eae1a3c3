"""Scalar operations on what stands for values: integers of the solver, and terms of data."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Block, Operation, SSAValue

from dt_mlir.builders.scalars import expansion_of
from dt_mlir.certificates.proving import Prover
from dt_mlir.certificates.solver import z3
from dt_mlir.certificates.terms import Apply, Choice, Index, Number, Reduction, Term, Unknown
from dt_mlir.certificates.universe import Integer
from dt_mlir.dialects import elem
from dt_mlir.dialects.comparisons import predicate_of
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.elementwise import APPLICABLE

Value = Any
"""An integer or a condition of the solver, or a term."""

_INTEGERS: dict[type[Operation], Callable[[Integer, Integer], Integer]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.FloorDivSIOp: lambda a, b: a / b,
    arith.CeilDivSIOp: lambda a, b: -((-a) / b),
    arith.MinSIOp: lambda a, b: z3.If(a <= b, a, b),
    arith.MaxSIOp: lambda a, b: z3.If(a >= b, a, b),
}
"""The operations on integers; divisors are positive."""
_CONDITIONS: dict[type[Operation], Callable[..., Any]] = {
    arith.AndIOp: lambda a, b: z3.And(a, b),
    arith.OrIOp: lambda a, b: z3.Or(a, b),
    arith.XOrIOp: lambda a, b: z3.Xor(a, b),
}
_COMPARISONS: dict[int, Callable[[Integer, Integer], Any]] = {
    0: lambda a, b: a == b,
    1: lambda a, b: a != b,
    2: lambda a, b: a < b,
    3: lambda a, b: a <= b,
    4: lambda a, b: a > b,
    5: lambda a, b: a >= b,
}
"""The comparisons of `arith.cmpi` by the number of their predicate."""
_EXTREMES = (ReductionKind.MAXIMUM, ReductionKind.MINIMUM)
_DIVISIONS = (arith.DivSIOp, arith.RemSIOp, arith.FloorDivSIOp, arith.CeilDivSIOp)
_CASTS = (arith.IndexCastOp, arith.ExtSIOp)


def _is_zero_of(value: Value) -> bool:
    """Returns whether a value is 0 times numbers: it is NaN where one of them is not finite."""
    match value:
        case Number():
            return value.value.value.data == 0
        case Choice():
            return _is_zero_of(value.then) and _is_zero_of(value.otherwise)
        case Reduction():
            of = value.kind is ReductionKind.ADD
            return of and all(_is_zero_of(piece.body) for piece in value.pieces)
        case Apply():
            if isinstance(value.op, arith.SelectOp):
                return all(map(_is_zero_of, value.operands[1:]))
            numbers = [x for x in value.operands if isinstance(x, Number)]
            return isinstance(value.op, arith.MulfOp) and any(map(_is_zero_of, numbers))
        case _:
            return False


def is_condition(value: Value) -> bool:
    """Returns whether a value is a condition of the solver."""
    return isinstance(value, z3.BoolRef)


def as_term(value: Value, type: Attribute) -> Term:
    """Returns a value as a term of a type."""
    if isinstance(value, Term):
        return value
    if z3.is_app_of(value, z3.Z3_OP_ITE):
        condition, then, otherwise = value.children()
        return Choice(condition, _branch(then, type), _branch(otherwise, type))
    return Index(value, type)


def _branch(value: Value, type: Attribute) -> Term:
    """Returns one of two integers as a term, which may be a constant."""
    if z3.is_int_value(value) and isinstance(type, IntegerType):
        # What was said in a wider type loses its upper bits.
        width = type.width.data
        found = value.as_long() % 2**width
        return Number(IntegerAttr(found - 2**width * (found >= 2 ** (width - 1) > 1), type))
    return as_term(value, type)


def operation(cls: Callable[..., Operation], *types: Attribute) -> Operation:
    """Returns an operation of a class, on operands of some types."""
    return cls(*Block(arg_types=types).args)


class Scalars:
    """Evaluates scalar operations.

    Args:
        prover: decides what is known of integers.
    """

    def __init__(self, prover: Prover) -> None:
        self.prover = prover
        self._positive: dict[int, Term] = {}
        self._expanding: list[str] = []
        """The functions whose expansions are evaluated, each inside the one before."""

    def positive(self, scalar: Term) -> Term:
        """Notes that a scalar is positive, and returns a term for it.

        The product of an extreme and it is the extreme of the products: rounding keeps the order.
        """
        found = scalar if not isinstance(scalar, Number) else Number(scalar.value)
        self._positive[id(found)] = found
        return found

    def _moved_inside(self, op: Operation, a: Value, b: Value) -> Value | None:
        """Returns the product of an extreme and a positive scalar as an extreme of products."""
        for extreme, factor in ((a, b), (b, a)):
            if (
                isinstance(extreme, Reduction) and extreme.kind in _EXTREMES
                and self._positive.get(id(factor)) is factor
            ):
                pieces = [p.with_body(Apply(op, (p.body, factor))) for p in extreme.pieces]
                return Reduction(extreme.kind, extreme.type, tuple(pieces))
        return None

    def apply(self, op: Operation, operands: Sequence[Value]) -> Value:
        """Returns the value of an operation of `arith`, `math` or `elem`."""
        if isinstance(op, arith.ConstantOp):
            return self._constant(op)
        if isinstance(op, arith.SelectOp):
            return self._select(op, *operands)
        if isinstance(op, elem.ApplyOp) and APPLICABLE[op.function.data].expansion is not None:
            return self._expanded(op, operands)
        if isinstance(op, elem.ModerationOp):
            # Numbers are moderate.
            return Number(FloatAttr(1.0, op.result.type))
        same = len(operands) == 2 and operands[0] is operands[1]
        asks = isinstance(op, arith.CmpfOp) and predicate_of(op) == "une" and same
        if asks and _is_zero_of(operands[0]):
            # A kernel asks so whether what it sums is finite, which all values are.
            return z3.BoolVal(False)
        if isinstance(op, arith.MulfOp):
            for one, other in (operands, operands[::-1]):
                if isinstance(one, Number) and one.value.value.data == 1.0:
                    return other
            moved = self._moved_inside(op, *operands)
            if moved is not None:
                return moved
        if any(isinstance(value, Term) for value in operands):
            types = [operand.type for operand in op.operands]
            return Apply(op, tuple(as_term(v, t) for v, t in zip(operands, types)))
        if all(is_condition(value) for value in operands) and type(op) in _CONDITIONS:
            return _CONDITIONS[type(op)](*operands)
        if isinstance(op, _DIVISIONS) and not self._divides(operands[1]):
            return Unknown("a quotient by what may be negative")
        if type(op) in _INTEGERS:
            return _INTEGERS[type(op)](*operands)
        if isinstance(op, _CASTS) and not is_condition(operands[0]):
            return operands[0]
        if isinstance(op, arith.TruncIOp) and self._fits(operands[0], op.result.type):
            return operands[0]
        if isinstance(op, math.AbsIOp) and not is_condition(operands[0]):
            return z3.If(operands[0] >= 0, operands[0], -operands[0])
        if isinstance(op, arith.DivSIOp | arith.RemSIOp):
            return self._divided(op, *operands)
        whole = not any(is_condition(value) for value in operands)
        if whole and isinstance(op, arith.CmpiOp) and op.predicate.value.data in _COMPARISONS:
            return _COMPARISONS[op.predicate.value.data](*operands)
        types = [operand.type for operand in op.operands]
        return Apply(op, tuple(as_term(v, t) for v, t in zip(operands, types)))

    def _expanded(self, op: elem.ApplyOp, operands: Sequence[Value]) -> Value:
        """Returns a function of another package as what it is in terms of others."""
        block, result = expansion_of(op, self._expanding)
        values: dict[SSAValue, Value] = dict(zip(block.args, operands))
        self._expanding.append(op.function.data)
        try:
            for inner in block.ops:
                found = self.apply(inner, [values[operand] for operand in inner.operands])
                values[inner.results[0]] = found
        finally:
            self._expanding.pop()
        return values[result]

    def _fits(self, value: Value, type: Attribute) -> bool:
        """Returns whether an integer is one of a narrower type."""
        if is_condition(value) or not isinstance(type, IntegerType) or type == i1:
            return False
        half = 2 ** (type.width.data - 1)
        return self.prover.implied([], z3.And(value >= -half, value < half))

    def _divides(self, divisor: Value) -> bool:
        """Returns whether an integer is a divisor that is not negative, as those of sizes are."""
        if z3.is_int_value(divisor):
            return bool(divisor.as_long() > 0)
        return self.prover.implied([], divisor >= 0)

    def _divided(self, op: Operation, a: Integer, b: Integer) -> Integer:
        # The solver's quotient is the floor, the operation's is truncated.
        if self.prover.implied([], a >= 0):
            return a / b if isinstance(op, arith.DivSIOp) else a % b
        quotient = z3.If(a >= 0, a / b, -((-a) / b))
        return quotient if isinstance(op, arith.DivSIOp) else a - quotient * b

    @staticmethod
    def _constant(op: arith.ConstantOp) -> Value:
        if isinstance(op.value, IntegerAttr):
            number = op.value.value.data
            return z3.BoolVal(bool(number)) if op.result.type == i1 else z3.IntVal(number)
        if isinstance(op.value, FloatAttr):
            return Number(op.value)
        return Unknown(f"a constant of {op.result.type}")

    @staticmethod
    def _select(op: arith.SelectOp, condition: Value, a: Value, b: Value) -> Value:
        type = op.result.type
        if is_condition(condition) and (z3.is_true(condition) or z3.is_false(condition)):
            return a if z3.is_true(condition) else b
        if not is_condition(condition):
            return Apply(op, (condition, as_term(a, type), as_term(b, type)))
        if isinstance(a, Term) or isinstance(b, Term):
            return Choice(condition, as_term(a, type), as_term(b, type))
        return z3.If(condition, a, b)
