"""Elements that depend on an extreme by comparison alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.numbers import Number
from dt_mlir.laws.body import Body, number_of

_ABOVE = {
    "eq": False, "ne": True, "lt": True, "le": True, "gt": False, "ge": False,
}  # fmt: skip
"""The outcome of comparing an element with a maximum that is larger than it."""
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
"""The comparison of the same two operands the other way around."""
_FLOATS = {"oeq": "eq", "une": "ne", "olt": "lt", "ole": "le", "ogt": "gt", "oge": "ge"}
_INTEGERS = {"eq": "eq", "ne": "ne", "slt": "lt", "sle": "le", "sgt": "gt", "sge": "ge"}


class Dominated(NamedTuple):
    """An element that compares in one way with each extreme that is more so than an earlier one."""

    extreme: loop.RunningOp
    """The running extreme."""
    above: SSAValue | None
    """The element then; None for the neutral one."""
    neutral: Number
    """The neutral element."""
    is_ordered: bool
    """True if the element is the neutral one where the extreme is NaN, and another one above."""


def dominated(body: Body, kind: ReductionKind, value: SSAValue) -> Dominated | None:
    """Returns how an element depends on an extreme, if it does by comparison alone.

    For the elements of earlier steps a new extreme is the old one, or more so than any of them. In
    the latter case each comparison has one outcome.

    Args:
        body: the body of the loop.
        kind: the reduction of the element.
        value: the element.
    """
    comparisons: dict[SSAValue, tuple[loop.RunningOp, str]] = {}
    if not _collect(body, value, comparisons):
        return None
    extremes = {op for op, _ in comparisons.values()}
    if len(extremes) != 1:
        return None
    (extreme,) = extremes
    neutral = identity(kind, value.type)
    outcomes = {v: _ABOVE[predicate] for v, (_, predicate) in comparisons.items()}
    not_ordered = {v: predicate == "ne" for v, (_, predicate) in comparisons.items()}
    above = _decided(body, value, outcomes)
    unordered = _decided(body, value, not_ordered)
    if body.sources(above) or not body.is_neutral(unordered, kind):
        return None
    if body.is_neutral(above, kind):
        return Dominated(extreme, None, neutral, False)
    return Dominated(extreme, above, neutral, True)


def _collect(
    body: Body, value: SSAValue, found: dict[SSAValue, tuple[loop.RunningOp, str]]
) -> bool:
    """Collects comparisons with extremes; False if the value depends on one in another way."""
    if not body.sources(value) or value in found:
        return True
    op = value.owner
    if not isinstance(op, Operation) or isinstance(op, loop.RunningOp) or op.regions:
        return False
    compared = _comparison(body, op)
    if compared is not None:
        found[value] = compared
        return True
    return all(_collect(body, operand, found) for operand in op.operands)


def _comparison(body: Body, op: Operation) -> tuple[loop.RunningOp, str] | None:
    """Returns the extreme that an element is compared with, and how, as with a maximum."""
    if not isinstance(op, arith.CmpfOp | arith.CmpiOp):
        return None
    names = _FLOATS if isinstance(op, arith.CmpfOp) else _INTEGERS
    predicate = names.get(_predicate(op))
    if predicate is None:
        return None
    for element, extreme, flipped in ((op.lhs, op.rhs, False), (op.rhs, op.lhs, True)):
        running = extreme.owner
        if (
            isinstance(running, loop.RunningOp)
            and running.repair is None
            and extreme is running.result
            and tuple(running.terms) == (element,)
        ):
            if flipped:
                predicate = _MIRRORED.get(predicate, predicate)
            if running.kind.data is ReductionKind.MINIMUM:
                return running, _MIRRORED.get(predicate, predicate)
            if running.kind.data is ReductionKind.MAXIMUM:
                return running, predicate
    return None


def _predicate(op: arith.CmpfOp | arith.CmpiOp) -> str:
    floats = isinstance(op, arith.CmpfOp)
    table = arith.CMPF_COMPARISON_OPERATIONS if floats else arith.CMPI_COMPARISON_OPERATIONS
    return table[op.predicate.value.data]


def _decided(body: Body, value: SSAValue, outcomes: Mapping[SSAValue, bool]) -> SSAValue:
    """Builds a value with comparisons replaced by their outcomes."""
    if value in outcomes:
        return body.number(outcomes[value], i1)
    op = value.owner
    if not body.sources(value) or not isinstance(op, Operation):
        return value
    operands = [_decided(body, operand, outcomes) for operand in op.operands]
    if isinstance(op, arith.SelectOp) and (known := number_of(operands[0])) is not None:
        return operands[1] if known else operands[2]
    if isinstance(op, arith.AndIOp | arith.OrIOp):
        absorbing = isinstance(op, arith.OrIOp)
        for one, other in (operands, operands[::-1]):
            known = number_of(one)
            if known is not None:
                return one if bool(known) is absorbing else other
    known = number_of(operands[0]) if len(operands) == 1 else None
    if known is not None and isinstance(op, arith.UIToFPOp):
        return body.number(abs(known), value.type)
    if known is not None and isinstance(op, arith.ExtUIOp):
        return body.number(int(abs(known)), value.type)
    return body.clone(op, dict(zip(op.operands, operands))).results[0]
