"""Decomposes the elements of a reduction into what differs between elements and what does not.

An element that depends on running values is separable if it is a product of

- an element of its own, or a polynomial in one running value with such coefficients,
- factors that are the same for all elements, which the sum need not know (`outside`),
- exponentials of sums of such an element and a running value (`shifts`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.dialects import math as math_ops
from xdsl.ir import Operation, SSAValue

from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.element_types import is_float
from dt_mlir.laws.body import Body, number_of

Exponential = math_ops.ExpOp | math_ops.Exp2Op
Centre = Callable[[SSAValue], SSAValue]
Change = Callable[[SSAValue], Operation]


class NotSeparable(Exception):
    """An element that no law separates from the running values.

    Args:
        value: the part that spoils it.
        reason: why it does.
        hint: the change that would help, if one is known.
    """

    def __init__(self, value: SSAValue, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.value, self.reason, self.hint = value, reason, hint


@dataclass(frozen=True)
class Scale:
    """A multiplication or division by a number that no step changes, or a change of sign."""

    op: type[arith.MulfOp] | type[arith.DivfOp] | type[arith.NegfOp]
    factor: SSAValue | None = None

    def build(self, value: SSAValue) -> Operation:
        """Builds the scaled value."""
        if self.factor is None:
            return arith.NegfOp(value)
        cls = arith.DivfOp if self.op is arith.DivfOp else arith.MulfOp
        return cls(value, self.factor)

    @property
    def is_positive(self) -> bool:
        """True if the number is known to be positive."""
        known = None if self.factor is None else number_of(self.factor)
        return known is not None and 0 < known < math.inf


@dataclass(frozen=True)
class Sum:
    """`scales(element - offset)`, or `scales(element + offset)`."""

    element: SSAValue
    """The part that differs between elements, and depends on no running value."""
    offset: SSAValue
    """The part that depends on running values alone."""
    minus: bool
    scales: tuple[Scale, ...] = ()


@dataclass(frozen=True)
class Shift:
    """A factor that is an exponential of a sum with a running value."""

    sum: Sum
    exponential: Exponential
    inverse: bool
    """True if the element is divided by it."""
    is_bounded: bool
    """True if the running value is the maximum of what it is subtracted from."""


@dataclass(frozen=True)
class Factor:
    """A value that is the same for all elements of a step."""

    value: SSAValue
    inverse: bool = False
    """True if elements are divided by it."""


@dataclass(frozen=True)
class Term:
    """A decomposed element: `coefficients[0] * outside`, with exponentials inside of the former.

    As a polynomial in `variable` it has the coefficients of Taylor at `centre`.
    """

    coefficients: tuple[SSAValue, ...]
    outside: tuple[Factor, ...] = ()
    shifts: tuple[Shift, ...] = ()
    variable: SSAValue | None = None
    centre: SSAValue | None = None
    mask: SSAValue | None = None
    """The condition without which the element is neutral; None if there is none."""

    @property
    def is_plain(self) -> bool:
        """True if it does not depend on running values, apart from what is outside."""
        return not self.shifts and self.variable is None


Nested = Callable[[Body, Centre, loop.ReduceOp, SSAValue | None], Term]
_ADD = ReductionKind.ADD


class Terms:
    """Decomposes elements in the body of a loop.

    Args:
        body: the body.
        centre: gives the centre of a polynomial in a running value.
        nested: decomposes a sum over another label in the body.
    """

    def __init__(self, body: Body, centre: Centre, nested: Nested) -> None:
        self.body, self.centre, self.nested = body, centre, nested

    def split(self, value: SSAValue, mask: SSAValue | None = None) -> Term:
        """Decomposes an element that is summed.

        Args:
            value: the element.
            mask: where it counts; None for everywhere.

        Raises:
            NotSeparable: with the part that spoils it.
        """
        body = self.body
        if not body.sources(value):
            return Term((value,))
        if not is_float(value.type):
            raise NotSeparable(value, "it is a whole number that changes with a running value")
        if body.is_running(value):
            return Term((body.number(1.0, value.type),), (Factor(value),))
        op = value.owner
        match op:
            case arith.MulfOp():
                return self.product(self.split(op.lhs, mask), self.split(op.rhs, mask), op)
            case arith.DivfOp():
                divisor = self._inverse(self.split(op.rhs, mask), op)
                return self.product(self.split(op.lhs, mask), divisor, op)
            case arith.NegfOp() | arith.ExtFOp():
                inner = self.split(op.operands[0], mask)
                return self._each(inner, lambda v: body.clone(op, {op.operands[0]: v}))
            case math_ops.PowFOp() if number_of(op.rhs) == 2:
                inner = self.split(op.lhs, mask)
                return self.product(inner, inner, op)
            case arith.AddfOp() | arith.SubfOp():
                return self._sum(op, mask)
            case math_ops.ExpOp() | math_ops.Exp2Op():
                return self._exponential(op, mask)
            case arith.SelectOp() if not body.sources(op.cond):
                return self._select(op)
            case loop.ReduceOp() if op.is_dot or op.kind is not None and op.named_kind is _ADD:
                return self.nested(body, self.centre, op, mask)
            case arith.TruncFOp():
                raise NotSeparable(
                    value, f"it is rounded to {op.result.type}",
                    "leave out its type, and round in products alone: precision(narrow)",
                )  # fmt: skip
            case _:
                assert isinstance(op, Operation)
                raise NotSeparable(value, _name_of(op))

    def _each(self, term: Term, change: Change) -> Term:
        found = tuple(change(v).results[0] for v in term.coefficients)
        return replace(term, coefficients=found)

    def product(self, a: Term, b: Term, op: Operation) -> Term:
        """Returns the product of two decomposed elements.

        Raises:
            NotSeparable: if it is a polynomial in two running values.
        """
        if a.variable is not None and b.variable not in (None, a.variable):
            raise NotSeparable(op.results[0], "it is a polynomial in two running values")
        found: list[SSAValue | None] = [None] * (len(a.coefficients) + len(b.coefficients) - 1)
        for i, x in enumerate(a.coefficients):
            for j, y in enumerate(b.coefficients):
                term = self._times(x, y)
                known = found[i + j]
                found[i + j] = (
                    term if known is None else self.body.value(arith.AddfOp(known, term))
                )
        variable = a.variable if a.variable is not None else b.variable
        return Term(
            tuple(v for v in found if v is not None), (*a.outside, *b.outside),
            (*a.shifts, *b.shifts), variable, a.centre if a.variable is not None else b.centre,
            a.mask if a.mask is not None else b.mask,
        )  # fmt: skip

    def _times(self, x: SSAValue, y: SSAValue) -> SSAValue:
        known = number_of(x), number_of(y)
        if known[0] is not None and known[1] is not None:
            return self.body.number(known[0] * known[1], x.type)
        for number, value in zip(known, (y, x)):
            if number == 1:
                return value
            if number == -1:
                return self.body.value(arith.NegfOp(value))
        return self.body.value(arith.MulfOp(x, y))

    def _inverse(self, term: Term, op: arith.DivfOp) -> Term:
        if term.variable is not None:
            raise NotSeparable(op.result, "it divides by a sum with a running value")
        (value,) = term.coefficients
        if number_of(value) != 1:
            value = self.body.value(
                arith.DivfOp(self.body.number(1.0, value.type), value)
            )
        return Term(
            (value,),
            tuple(Factor(f.value, not f.inverse) for f in term.outside),
            tuple(replace(s, inverse=not s.inverse) for s in term.shifts),
        )

    def _sum(self, op: arith.AddfOp | arith.SubfOp, mask: SSAValue | None) -> Term:
        """A polynomial in a running value that is added to elements."""
        body = self.body
        sides: list[Term] = []
        for value in (op.lhs, op.rhs):
            if body.is_running(value):
                centre = self.centre(value)
                one = body.number(1.0, value.type)
                sides.append(Term((centre, one), variable=value, centre=centre))
            else:
                sides.append(self.split(value, mask))
        a, b = sides
        if a.outside or b.outside or a.shifts or b.shifts:
            raise NotSeparable(op.result, "its summands have different factors")
        if a.variable is not None and b.variable not in (None, a.variable):
            raise NotSeparable(op.result, "it is a sum with two running values")
        found: list[SSAValue] = []
        for i in range(max(len(a.coefficients), len(b.coefficients))):
            if i >= len(b.coefficients):
                found.append(a.coefficients[i])
            elif i < len(a.coefficients):
                found.append(body.value(type(op)(a.coefficients[i], b.coefficients[i])))
            elif isinstance(op, arith.AddfOp):
                found.append(b.coefficients[i])
            else:
                found.append(self._negative(b.coefficients[i]))
        variable = a.variable if a.variable is not None else b.variable
        return Term(
            tuple(found), variable=variable, centre=a.centre if a.variable is not None else b.centre
        )

    def _negative(self, value: SSAValue) -> SSAValue:
        known = number_of(value)
        if known is not None:
            return self.body.number(-known, value.type)
        return self.body.value(arith.NegfOp(value))

    def _select(self, op: arith.SelectOp) -> Term:
        """An element that is 0 where a condition does not hold."""
        if number_of(op.rhs) != 0:
            raise NotSeparable(op.result, "it is one of two elements, of which none is 0")
        inner = self.split(op.lhs, op.cond)
        zero = op.rhs
        term = self._each(inner, lambda v: self.body.insert(arith.SelectOp(op.cond, v, zero)))
        mask = op.cond
        if inner.mask is not None and inner.mask is not mask:
            mask = self.body.value(arith.AndIOp(mask, inner.mask))
        return replace(term, mask=mask)

    # Exponentials

    def _exponential(self, op: Exponential, mask: SSAValue | None) -> Term:
        found = self.sum_of(op.operand)
        bounded = self._is_bounded(found, mask)
        safe = self.safe(found.offset, bounded)
        build = arith.SubfOp if found.minus else arith.AddfOp
        value = self.body.value(build(found.element, safe))
        for scale in found.scales:
            value = self.body.value(scale.build(value))
        value = self.body.clone(op, {op.operand: value}).results[0]
        return Term((value,), shifts=(Shift(found, op, False, bounded),))

    def safe(self, offset: SSAValue, bounded: bool) -> SSAValue:
        """A running value, and 0 where it is infinite: -inf alone, if it bounds the elements.

        Elements that it bounds are -inf then too, and their exponentials 0.
        """
        body, type = self.body, offset.type
        value, infinity = offset, body.number(-math.inf if bounded else math.inf, type)
        if not bounded:
            value = body.value(math_ops.AbsFOp(offset))
        infinite = body.value(arith.CmpfOp(value, infinity, "oeq"))
        return body.value(arith.SelectOp(infinite, body.number(0.0, type), offset))

    def sum_of(self, value: SSAValue) -> Sum:
        """Returns a value as the sum of an element and a running value, scaled.

        Raises:
            NotSeparable: if it is not such a sum.
        """
        body, op = self.body, value.owner
        match op:
            case arith.SubfOp() | arith.AddfOp():
                return self._sum_of(op)
            case arith.MulfOp() | arith.DivfOp():
                inner, factor = op.lhs, op.rhs
                if isinstance(op, arith.MulfOp) and body.is_mixed(factor):
                    inner, factor = factor, inner
                if body.is_mixed(inner) and not body.sources(factor) and not body.varies(factor):
                    found = self.sum_of(inner)
                    return replace(found, scales=(*found.scales, Scale(type(op), factor)))
            case arith.NegfOp():
                found = self.sum_of(op.operand)
                return replace(found, scales=(*found.scales, Scale(arith.NegfOp)))
            case _:
                pass
        raise NotSeparable(value, "its exponent is not a sum with a running value")

    def _sum_of(self, op: arith.AddfOp | arith.SubfOp) -> Sum:
        body, plus = self.body, isinstance(op, arith.AddfOp)
        for own, other, flipped in ((op.lhs, op.rhs, False), (op.rhs, op.lhs, True)):
            if not body.sources(own) and body.is_running(other):
                if not flipped:
                    return Sum(own, other, not plus)
                # Of `offset - element` the element is taken with the other sign.
                element = own if plus else body.value(arith.NegfOp(own))
                return Sum(element, other, False)
            if not body.is_mixed(own):
                continue
            inner = self.sum_of(own)
            if inner.scales or body.is_mixed(other):
                break
            if not plus and flipped:
                break
            if body.sources(other):
                # x - r - q is x - (r + q).
                join = arith.AddfOp if inner.minus != plus else arith.SubfOp
                return replace(inner, offset=body.value(join(inner.offset, other)))
            return replace(inner, element=body.value(type(op)(inner.element, other)))
        raise NotSeparable(op.result, "its exponent is not a sum with a running value")

    def _is_bounded(self, found: Sum, mask: SSAValue | None) -> bool:
        """Returns whether the offset is the maximum of the elements, or of more than those."""
        running = found.offset.owner
        if not (
            found.minus
            and isinstance(running, loop.RunningOp)
            and running.kind.data is ReductionKind.MAXIMUM
            and running.repair is None
            and all(scale.is_positive for scale in found.scales)
        ):
            return False
        (term,) = running.terms
        if term is found.element or self.body.is_extreme_of(term, found.element):
            return True
        # Where elements do not count, neither does the exponential.
        choice = term.owner
        return (
            isinstance(choice, arith.SelectOp)
            and choice.cond is mask
            and choice.lhs is found.element
            and self.body.is_neutral(choice.rhs, ReductionKind.MAXIMUM)
        )


def _name_of(op: Operation) -> str:
    if isinstance(op, loop.ReduceOp):
        return f"it is reduced over '{op.label_name}' with a running value in each element"
    name = op.name.split(".")[-1].removesuffix("f")
    return f"'{name}' of a sum with a running value is not a product with it"
