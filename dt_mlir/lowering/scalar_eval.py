"""Evaluates scalar operations on known numbers.

It serves the question what masked elements become on their way to a reduction, so that it knows
the operations that occur there and gives up on the rest. Values are those of real arithmetic with
infinities, rounded as their types are; a result is used only where it is an identity.
"""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import math
import struct
from collections.abc import Callable
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
from xdsl.ir import Attribute, Block, SSAValue

Number = float | int


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf


def _maximum(a: float, b: float) -> float:
    return math.nan if math.isnan(a) or math.isnan(b) else max(a, b)


def _minimum(a: float, b: float) -> float:
    return math.nan if math.isnan(a) or math.isnan(b) else min(a, b)


def _divide(a: float, b: float) -> float | None:
    return None if b == 0 else a / b


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "arith.addf": lambda a, b: a + b,
    "arith.addi": lambda a, b: a + b,
    "arith.subf": lambda a, b: a - b,
    "arith.subi": lambda a, b: a - b,
    "arith.mulf": lambda a, b: a * b,
    "arith.muli": lambda a, b: a * b,
    "arith.divf": _divide,
    "arith.negf": lambda a: -a,
    "arith.maximumf": _maximum,
    "arith.minimumf": _minimum,
    "arith.maxsi": max,
    "arith.minsi": min,
    "arith.extf": lambda a: a,
    "arith.truncf": lambda a: a if a == 0 or math.isinf(a) else None,
    "arith.extsi": lambda a: a,
    "arith.extui": lambda a: a if a >= 0 else None,
    "arith.sitofp": lambda a: float(a),
    "arith.andi": lambda a, b: a & b,
    "arith.ori": lambda a, b: a | b,
    "math.absf": abs,
    "math.absi": abs,
    "math.exp": _exp,
    "math.exp2": lambda a: _exp(a * math.log(2)) if math.isinf(a) or a == 0 else None,
    "math.log": lambda a: math.log(a) if a > 0 else None,
    "math.sqrt": lambda a: math.sqrt(a) if a >= 0 else None,
}


def evaluate(block: Block, known: dict[SSAValue, Number]) -> dict[SSAValue, Number]:
    """Evaluate the operations of a block as far as their operands are known.

    Args:
        block: a block of scalar operations.
        known: values that are known at its start.

    Returns:
        The known values and those that follow.
    """
    values = dict(known)
    for op in block.ops:
        if isinstance(op, arith.ConstantOp):
            attr = op.value
            if isinstance(attr, FloatAttr | IntegerAttr):
                values[op.result] = attr.value.data
            continue
        if isinstance(op, arith.SelectOp):
            condition = values.get(op.cond)
            chosen = None if condition is None else (op.lhs if condition else op.rhs)
            if chosen is not None and chosen in values:
                values[op.result] = values[chosen]
            elif chosen is None and op.lhs in values and values[op.lhs] == values.get(op.rhs):
                values[op.result] = values[op.lhs]
            continue
        function = _OPERATIONS.get(op.name)
        operands = [values.get(operand) for operand in op.operands]
        if function is None or any(operand is None for operand in operands):
            continue
        try:
            result = function(*operands)
        except (OverflowError, ValueError):
            result = None
        result = None if result is None else _rounded(result, op.results[0].type)
        if result is not None:
            values[op.results[0]] = result
    return values


def _rounded(value: Number, type: Attribute) -> Number | None:
    """A result as its type holds it; None where that is not known here."""
    if isinstance(type, Float64Type):
        return value
    if isinstance(type, AnyFloat):
        if value == 0 or math.isinf(value) or math.isnan(value):
            return value
        try:
            single: float = struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
        return single if isinstance(type, Float32Type) else None
    width = type.width.data if isinstance(type, IntegerType) else 64
    return value if -(2 ** (width - 1)) <= value < 2**width else None
