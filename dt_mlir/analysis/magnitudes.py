"""The magnitudes of scalars that are numbers or made of sizes, as in `/ sqrt(len(k))`."""

from __future__ import annotations

import math as pymath
from typing import NamedTuple

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import SSAValue

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.dialects import loop, tile
from dt_mlir.element_types import is_moderate

_LEAST, _MOST = 2.0**-126, 2.0**126
"""The magnitudes between which numbers of f32 have reciprocals that are normal numbers."""


class Magnitude(NamedTuple):
    """The bounds of a scalar's magnitude, as far as they are known."""

    least: float
    """The least magnitude that it has where it is not 0."""
    most: float
    """The largest one."""
    is_positive: bool
    """True if it is surely more than 0."""


def magnitude_of(value: SSAValue) -> Magnitude | None:
    """Returns the magnitude of a scalar; None if nothing is known of it.

    It is known if the scalar is computed of numbers and of integers that are made of sizes, by
    multiplications, divisions, and roots.

    Args:
        value: a float of the `loop` or `tile` level.
    """
    op = value.owner
    match op:
        case arith.ConstantOp(value=FloatAttr(value=number)):
            size = abs(number.data)
            known = size > 0 and pymath.isfinite(size)
            return Magnitude(size, size, number.data > 0) if known else None
        case arith.SIToFPOp() if _is_of_sizes(op.input):
            number = _integer(op.input)
            if number is None:
                return Magnitude(1.0, 2.0**63, False)
            size = float(max(abs(number), 1))
            return Magnitude(size, size, number > 0)
        case math.SqrtOp():
            found = magnitude_of(op.operand)
            if found is None:
                return None
            return Magnitude(pymath.sqrt(found.least), pymath.sqrt(found.most), found.is_positive)
        case arith.MulfOp() | arith.DivfOp():
            left, right = map(magnitude_of, op.operands)
            if left is None or right is None:
                return None
            positive = left.is_positive and right.is_positive
            if isinstance(op, arith.MulfOp):
                return Magnitude(left.least * right.least, left.most * right.most, positive)
            return Magnitude(left.least / right.most, left.most / right.least, positive)
        case _:
            return None


def is_surely_moderate(value: SSAValue) -> bool:
    """Returns whether a scalar is positive and of moderate size, as `is_moderate` has it.

    Args:
        value: as for `magnitude_of`.
    """
    found = magnitude_of(value)
    if found is None or not found.is_positive:
        return False
    return is_moderate(found.least) and is_moderate(found.most)


def has_reciprocal(value: SSAValue) -> bool:
    """Returns whether a scalar of f32 is 0, or has a reciprocal that is a normal number.

    Its product with a number is the quotient by the scalar then, but for the rounding of the
    reciprocal. By 0 both are infinite, or no number.

    Args:
        value: as for `magnitude_of`.
    """
    found = magnitude_of(value)
    return found is not None and _LEAST <= found.least <= found.most <= _MOST


def is_power_of_two(number: float) -> bool:
    """Returns whether multiplying by the reciprocal of a number is exactly to divide by it, in any
    type of 32 bits or more."""
    mantissa, _ = pymath.frexp(number)
    return abs(mantissa) == 0.5 and _LEAST <= abs(number) <= _MOST


def _is_of_sizes(value: SSAValue) -> bool:
    """Returns whether an integer is computed of numbers and sizes alone."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp | loop.SizeOp | tile.SizeOp):
        return True
    if isinstance(owner, arith.IndexCastOp | arith.AddiOp | arith.SubiOp | arith.MuliOp):
        return all(map(_is_of_sizes, owner.operands))
    return False


def _integer(value: SSAValue) -> int | None:
    """Returns an integer that is known."""
    owner = value.owner
    return constant_index(owner.input if isinstance(owner, arith.IndexCastOp) else value)
