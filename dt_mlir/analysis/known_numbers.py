"""Evaluates scalar operations on known numbers, where every target computes the same.

It serves the question what masked elements become on their way to a reduction or to memory, so
that it knows the operations that occur there and gives up on the rest. A finite result is known
only if it is exact: then it does not matter whether a target rounds the product of a sum, and how
well it divides. Integers wrap.
"""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

Number = float | int


_FAR = 5000.0
"""Beyond this, exponentials of all types are zero or infinite, however they are computed."""


def _exponential(x: float) -> float | None:
    if math.isnan(x) or abs(x) > _FAR:
        return x if math.isnan(x) else math.inf if x > 0 else 0.0
    return 1.0 if x == 0 else None


def _exact(function: Callable[[Any, Any], Any]) -> Callable[[float, float], float | None]:
    """A sum, difference or product of floats; None where doubles do not hold it."""

    def compute(a: float, b: float) -> float | None:
        result = function(a, b)
        if not math.isfinite(a) or not math.isfinite(b):
            return result
        known = math.isfinite(result) and Fraction(result) == function(Fraction(a), Fraction(b))
        return result if known else None

    return compute


def _extreme(function: Callable[[float, float], float]) -> Callable[[float, float], float | None]:
    def compute(a: float, b: float) -> float | None:
        if math.isnan(a) or math.isnan(b):
            return math.nan
        # Which of two zeros is larger is for the target to say.
        zeros = a == 0 and b == 0 and math.copysign(1.0, a) != math.copysign(1.0, b)
        return None if zeros else function(a, b)

    return compute


def _divide(a: float, b: float) -> float | None:
    """A quotient that no way to divide gets wrong."""
    if b == 0 or math.isnan(a) or math.isnan(b) or (math.isinf(a) and math.isinf(b)):
        return None
    return a / b if a == 0 or math.isinf(a) or math.isinf(b) else None


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "arith.addf": _exact(operator.add),
    "arith.addi": operator.add,
    "arith.subf": _exact(operator.sub),
    "arith.subi": operator.sub,
    "arith.mulf": _exact(operator.mul),
    "arith.muli": operator.mul,
    "arith.divf": _divide,
    "arith.negf": operator.neg,
    "arith.maximumf": _extreme(max),
    "arith.minimumf": _extreme(min),
    "arith.maxsi": max,
    "arith.minsi": min,
    "arith.extf": lambda a: a,
    "arith.truncf": lambda a: a if a == 0 or math.isinf(a) else None,
    "arith.extsi": lambda a: a,
    "arith.extui": lambda a: a if a >= 0 else None,
    "arith.sitofp": lambda a: float(a) if int(float(a)) == a else None,
    "arith.andi": operator.and_,
    "arith.ori": operator.or_,
    "math.absf": abs,
    "math.absi": abs,
    "math.exp": _exponential,
    "math.exp2": _exponential,
    "math.log": lambda a: a if a == math.inf else None,
    "math.sqrt": lambda a: a if a == 0 or a == math.inf else None,
}


def evaluate(block: Block, known: dict[SSAValue, Number]) -> dict[SSAValue, Number]:
    """Evaluates the operations of a block as far as their operands are known.

    Args:
        block: a block of scalar operations.
        known: values that are known at its start.

    Returns:
        The known values and those that follow.
    """
    values = dict(known)
    for op in block.ops:
        result = evaluate_op(op, [values.get(operand) for operand in op.operands])
        if result is not None:
            values[op.results[0]] = result
    return values


def evaluate_op(op: Operation, operands: Sequence[Number | None]) -> Number | None:
    """Evaluates a scalar operation.

    Args:
        op: the operation.
        operands: a number for each operand, or None if it is not known.

    Returns:
        The result, or None if it is not known.
    """
    if isinstance(op, arith.ConstantOp):
        attr = op.value
        if isinstance(attr, IntegerAttr):
            return _wrapped(attr.value.data, attr.type)
        return attr.value.data if isinstance(attr, FloatAttr) else None
    if isinstance(op, arith.SelectOp):
        condition, true, false = operands
        if condition is None:
            return true if true == false else None
        return true if condition else false
    function = _OPERATIONS.get(op.name)
    if function is None or any(operand is None for operand in operands):
        return None
    try:
        result = function(*operands)
    except (OverflowError, ValueError):
        return None
    return None if result is None else _held(result, op.results[0].type)


def _held(value: Number, type: Attribute) -> Number | None:
    """A result in its type; None where the type does not hold it exactly."""
    if not isinstance(type, AnyFloat):
        return _wrapped(int(value), type)
    if isinstance(type, Float64Type) or value == 0:
        return value
    if not math.isfinite(value):
        # What an f8 type makes of infinities, and whether it has any, is for the target to say.
        return None if type.bitwidth == 8 else value
    if not isinstance(type, Float32Type):
        return None
    try:
        single: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return None
    return single if single == value else None


def _wrapped(value: int, type: Attribute) -> int:
    """An integer in two's complement."""
    width = type.width.data if isinstance(type, IntegerType) else 64
    half = 2 ** (width - 1)
    return (value + half) % (2 * half) - half
