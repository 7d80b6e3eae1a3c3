"""Sums of exponentials that a running maximum shifts."""

from __future__ import annotations

import math

from xdsl.dialects import arith
from xdsl.dialects import math as math_ops
from xdsl.ir import Operation, SSAValue

from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.element_types import is_float
from dt_mlir.laws.body import number_of

_CASTS = (arith.ExtFOp, arith.TruncFOp)
_SUMS = (ReductionKind.ADD, ReductionKind.DOT)


def sums_shifted_by(maximum: loop.RunningOp) -> set[loop.RunningOp] | None:
    """Returns the sums whose elements are exponentials of the elements of a maximum.

    Of an element of -inf the exponential is 0, as the shift is never -inf. So an element that does
    not count may be -inf for the maximum and all of these sums at once. It is NaN where the maximum
    is, but so are then the sums, whatever is added.

    Args:
        maximum: a running maximum.

    Returns:
        The sums; None if the element has another use.
    """
    if maximum.kind.data is not ReductionKind.MAXIMUM or maximum.repair is not None:
        return None
    (element,) = maximum.terms
    if not is_float(element.type) or not isinstance(element.owner, Operation):
        return None
    found: set[loop.RunningOp] = set()
    for use in element.uses:
        op = use.operation
        if op is maximum:
            continue
        if not isinstance(op, arith.SubfOp) or use.index != 0 or not _is_shift(op.rhs, maximum):
            return None
        if not _add_sums(op.result, maximum, found):
            return None
    return found


def _is_shift(value: SSAValue, maximum: loop.RunningOp) -> bool:
    """Returns whether a value is a maximum, and a finite number where that is -inf."""
    choice = value.owner
    if not isinstance(choice, arith.SelectOp) or choice.rhs is not maximum.result:
        return False
    test, instead = choice.cond.owner, number_of(choice.lhs)
    return (
        instead is not None
        and math.isfinite(instead)
        and isinstance(test, arith.CmpfOp)
        and arith.CMPF_COMPARISON_OPERATIONS[test.predicate.value.data] == "oeq"
        and test.lhs is maximum.result
        and number_of(test.rhs) == -math.inf
    )


def _add_sums(
    exponent: SSAValue, maximum: loop.RunningOp, found: set[loop.RunningOp]
) -> bool:
    """Adds the sums of an exponential; returns whether there is nothing else of its exponent."""
    pending = [exponent]
    while pending:
        value = pending.pop()
        for use in value.uses:
            op = use.operation
            match op:
                case arith.MulfOp():
                    factor = number_of(op.operands[1 - use.index])
                    if factor is None or not 0 < factor < math.inf or _is_power(value):
                        return False
                    pending.append(op.result)
                case math_ops.ExpOp() | math_ops.Exp2Op() if not _is_power(value):
                    pending.append(op.result)
                case arith.ExtFOp() | arith.TruncFOp() if _is_power(value):
                    pending.append(op.result)
                case loop.RunningOp() if (
                    _is_power(value)
                    and op.kind.data in _SUMS
                    and op.law is not None
                    and op.law.data == "scale"
                    and list(op.sources) == [maximum.result]
                ):
                    found.add(op)
                case _:
                    return False
    return True


def _is_power(value: SSAValue) -> bool:
    """Returns whether a value is an exponential, perhaps of another type."""
    op = value.owner
    while isinstance(op, _CASTS):
        op = op.operands[0].owner
    return isinstance(op, math_ops.ExpOp | math_ops.Exp2Op)
