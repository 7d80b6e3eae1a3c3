"""Contiguity of indices, as far as Triton knows it.

This follows Triton's analysis of tiles of integers (`AxisInfo`), along one axis at a time. Its
numbers are powers of two, and no larger than Triton's, which also knows sizes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.ir import Operation

from dt_mlir.analysis.divisibility import constant_index, multiple_of
from dt_mlir.dialects import tile
from dt_mlir.dialects.comparisons import predicate_of

WHOLE = 2**62
"""Stands for the extent of an axis, and divides 0 alone."""


class AxisInfo(NamedTuple):
    """Properties of numbers along an axis."""

    contiguous: int = 1
    """The number of those that follow each other by 1."""
    divisor: int = 1
    """A divisor of the first of those."""
    constant: int = 1
    """The number of those that are the same."""


NUMBERS = AxisInfo()
"""Numbers of which nothing is known."""


def power_in(number: int) -> int:
    """Returns the largest power of two that divides a number; `WHOLE` for 0."""
    return number & -number if number else WHOLE


def uniform(number: int) -> AxisInfo:
    """Returns what is known of one number along an axis.

    Args:
        number: a number that divides it, or the number itself.
    """
    return AxisInfo(1, power_in(number), WHOLE)


def of_range(op: tile.RangeOp | tile.JoinedRangeOp, side: int, from_origin: bool) -> AxisInfo:
    """Returns what is known of a range.

    Args:
        op: the range.
        side: the side of a box that it goes along, if it is one of several labels.
        from_origin: whether its elements are distances to its origin.
    """
    found = AxisInfo(WHOLE, WHOLE, 1)
    if isinstance(op, tile.JoinedRangeOp):
        origin, behind = op.origins[side], math.prod(op.extents[side + 1 :])
        if behind > 1:
            found = quotient(found, uniform(behind))
        if side:
            found = rest(found, uniform(op.extents[side]))
    else:
        origin = op.origin
        if op.stride > 1:
            found = product(found, uniform(op.stride))
    return found if from_origin else total(found, uniform(multiple_of(origin)))


def total(a: AxisInfo, b: AxisInfo) -> AxisInfo:
    """Returns what is known of a sum."""
    contiguous = max(min(a.constant, b.contiguous), min(a.contiguous, b.constant))
    return AxisInfo(contiguous, min(a.divisor, b.divisor), min(a.constant, b.constant))


def difference(a: AxisInfo, b: AxisInfo) -> AxisInfo:
    """Returns what is known of a difference."""
    return total(a, b)._replace(contiguous=min(a.contiguous, b.constant))


def product(a: AxisInfo, b: AxisInfo) -> AxisInfo:
    """Returns what is known of a product."""
    own, other = (1 if x.contiguous > 1 else x.divisor for x in (a, b))
    return AxisInfo(1, min(own * other, WHOLE), min(a.constant, b.constant))


def quotient(a: AxisInfo, b: AxisInfo) -> AxisInfo:
    """Returns what is known of a quotient of numbers that are not negative."""
    constant = min(a.constant, b.constant)
    if a.contiguous == b.constant == WHOLE:
        constant = max(constant, min(a.divisor, b.divisor))
    return AxisInfo(1, 1, constant)


def rest(a: AxisInfo, b: AxisInfo) -> AxisInfo:
    """Returns what is known of a remainder of numbers that are not negative."""
    divisor = min(a.divisor, b.divisor)
    contiguous = divisor if a.contiguous == b.constant == WHOLE else 1
    return AxisInfo(contiguous, divisor if b.constant > 1 else 1, min(a.constant, b.constant))


def of_result(op: Operation, operands: list[AxisInfo]) -> AxisInfo:
    """Returns what is known of the result of an operation on each element.

    Args:
        op: the operation.
        operands: what is known of its operands.
    """
    match op:
        case arith.ConstantOp():
            number = constant_index(op.result)
            return uniform(1 if number is None else number)
        case arith.AddiOp():
            return total(*operands)
        case arith.SubiOp():
            return difference(*operands)
        case arith.MuliOp():
            return product(*operands)
        case arith.DivSIOp():
            return quotient(*operands)
        case arith.RemSIOp():
            return rest(*operands)
        case arith.MinSIOp() | arith.MaxSIOp():
            return _either(*operands)
        case arith.SelectOp():
            condition, *values = operands
            found = _either(*values)
            return found._replace(
                contiguous=min(found.contiguous, condition.constant),
                constant=min(found.constant, condition.constant),
            )
        case arith.CmpiOp():
            return AxisInfo(1, 1, _agreeing(op, *operands))
        case arith.IndexCastOp() | arith.ExtSIOp() | arith.ExtUIOp() | arith.TruncIOp():
            return operands[0]
        case arith.AndIOp() | arith.OrIOp() | arith.XOrIOp():
            return AxisInfo(1, 1, min(operand.constant for operand in operands))
        case _:
            return NUMBERS


def _either(a: AxisInfo, b: AxisInfo) -> AxisInfo:
    """Returns what is known of numbers that are those of one tile or of another."""
    divisor = min(a.divisor, b.divisor)
    if a.contiguous != b.contiguous:
        divisor = min(divisor, a.contiguous, b.contiguous)
    return AxisInfo(min(a.contiguous, b.contiguous), divisor, min(a.constant, b.constant))


def _agreeing(op: arith.CmpiOp, a: AxisInfo, b: AxisInfo) -> int:
    """Returns for how many numbers a comparison has one outcome."""
    constant = min(a.constant, b.constant)
    least = min(a.divisor, b.divisor)
    predicate = predicate_of(op)
    if predicate in ("sgt", "ugt", "sle", "ule") and a.constant == WHOLE:
        return max(constant, min(b.contiguous, least))
    if predicate in ("slt", "ult", "sge", "uge") and b.constant == WHOLE:
        return max(constant, min(a.contiguous, least))
    return constant
