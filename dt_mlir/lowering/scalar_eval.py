"""Evaluates scalar operations on known numbers.

It serves the question what masked elements become on their way to a reduction, so that it knows
the operations that occur there and gives up on the rest. Values are those of real arithmetic with
infinities; a result is used only where it is exactly an identity.
"""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Block, SSAValue

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
    "arith.truncf": lambda a: a if a == 0 or math.isinf(a) or abs(a) == 1 else None,
    "arith.extsi": lambda a: a,
    "arith.extui": lambda a: abs(a),
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
            continue
        function = _OPERATIONS.get(op.name)
        operands = [values.get(operand) for operand in op.operands]
        if function is None or any(operand is None for operand in operands):
            continue
        try:
            result = function(*operands)
        except (OverflowError, ValueError):
            result = None
        if result is not None:
            values[op.results[0]] = result
    return values
