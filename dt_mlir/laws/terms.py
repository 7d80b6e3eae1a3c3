"""Decomposes the elements of a reduction into what differs between elements and what does not.

An element that depends on running values is separable if it is a sum of terms, each a product of

- an element of its own, or a polynomial in running values with such coefficients,
- factors that are the same for all elements, which the sum need not know (`outside`),
- exponentials of sums of such an element and a running value (`shifts`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from xdsl.dialects import arith
from xdsl.dialects import math as math_ops
from xdsl.ir import Operation, SSAValue

from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.element_types import is_float
from dt_mlir.laws.body import Body, number_of

WHOLE_POWERS = (1, 2, 3, 4)
"""The powers that are multiplied out: those of moments."""
HIGHER_POWERS = range(5, 17)
"""Others that products of them could be written for."""
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
class Variable:
    """A running value that a term is a polynomial in."""

    value: SSAValue
    centre: SSAValue
    """The value around which the polynomial is expanded."""


Powers = tuple[int, ...]
"""The power of each variable of a polynomial."""


@dataclass(frozen=True)
class Term:
    """A part of a decomposed element: `constant * outside`, with exponentials inside of the former.

    In variables it is a polynomial, which is expanded around their centres.
    """

    coefficients: Mapping[Powers, SSAValue]
    """Taylor's coefficients. Where there is one of some powers, there is one of all lower ones."""
    variables: tuple[Variable, ...] = ()
    outside: tuple[Factor, ...] = ()
    shifts: tuple[Shift, ...] = ()
    mask: SSAValue | None = None
    """The condition without which the term is neutral; None if there is none."""

    @property
    def constant(self) -> SSAValue:
        """The term where all variables are at their centres."""
        return self.coefficients[(0,) * len(self.variables)]

    def powers_of(self, variables: Sequence[Variable]) -> dict[Powers, SSAValue]:
        """Returns the coefficients by the powers of more variables.

        Args:
            variables: the variables, among which are the term's own.
        """
        places = [variables.index(variable) for variable in self.variables]
        found: dict[Powers, SSAValue] = {}
        for powers, value in self.coefficients.items():
            more = [0] * len(variables)
            for place, power in zip(places, powers):
                more[place] = power
            found[tuple(more)] = value
        return found

    def has_factors_of(self, other: Term) -> bool:
        """Returns whether both terms have the same factors and exponentials."""
        mine, others = (Counter[object]([*t.outside, *t.shifts]) for t in (self, other))
        return mine == others


def variables_of(*terms: Term) -> tuple[Variable, ...]:
    """Returns the variables of terms, each once."""
    return tuple(dict.fromkeys(variable for term in terms for variable in term.variables))


Nested = Callable[[Body, Centre, loop.ReduceOp, SSAValue | None], list[Term]]
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
        self._known: dict[tuple[SSAValue, SSAValue | None], tuple[Term, ...]] = {}

    def split(self, value: SSAValue, mask: SSAValue | None = None) -> list[Term]:
        """Decomposes an element that is summed into terms.

        Args:
            value: the element.
            mask: where it counts; None for everywhere.

        Raises:
            NotSeparable: with the part that spoils it.
        """
        # What is read twice would be decomposed for each path that leads to it.
        key = value, mask
        if key not in self._known:
            self._known[key] = tuple(self._split(value, mask))
        return list(self._known[key])

    def _split(self, value: SSAValue, mask: SSAValue | None) -> list[Term]:
        body = self.body
        if not body.sources(value):
            return [Term({(): value})]
        if not is_float(value.type):
            raise NotSeparable(value, "it is a whole number that changes with a running value")
        if body.is_running(value):
            return [Term({(): body.number(1.0, value.type)}, outside=(Factor(value),))]
        op = value.owner
        match op:
            case arith.MulfOp():
                return self.products(self.split(op.lhs, mask), self.split(op.rhs, mask), op)
            case arith.DivfOp():
                divisor = self._inverse(self.split(op.rhs, mask), op)
                return self.products(self.split(op.lhs, mask), [divisor], op)
            case arith.NegfOp():
                return [self._each(t, self._negated) for t in self.split(op.operand, mask)]
            case arith.ExtFOp():
                return [self._extended(term, op) for term in self.split(op.input, mask)]
            case math_ops.PowFOp() if number_of(op.rhs) in WHOLE_POWERS:
                inner = found = self.split(op.lhs, mask)
                for _ in range(int(number_of(op.rhs) or 0) - 1):
                    found = self.products(found, inner, op)
                return found
            case math_ops.PowFOp() if (number_of(op.rhs) or 0.0) in HIGHER_POWERS:
                raise NotSeparable(
                    value, _name_of(op), "write powers above the fourth as products of lower ones"
                )
            case arith.AddfOp() | arith.SubfOp():
                return self._sum(op, mask)
            case math_ops.ExpOp() | math_ops.Exp2Op():
                return [self._exponential(op, mask)]
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
        found = {powers: change(v).results[0] for powers, v in term.coefficients.items()}
        return replace(term, coefficients=found)

    def _extended(self, term: Term, op: arith.ExtFOp) -> Term:
        """A term of a wider type."""

        def wide(value: SSAValue) -> SSAValue:
            return self.body.clone(op, {op.input: value}).results[0]

        variables = tuple(Variable(wide(v.value), wide(v.centre)) for v in term.variables)
        term = self._each(term, lambda v: self.body.clone(op, {op.input: v}))
        return replace(term, variables=variables)

    def products(self, a: Sequence[Term], b: Sequence[Term], op: Operation) -> list[Term]:
        """Returns the product of two decomposed elements.

        Raises:
            NotSeparable: if a product of sums would cancel.
        """
        check_product(a, b, op.results[0])
        return [self.product(*pair) for pair in product(a, b)]

    def product(self, a: Term, b: Term) -> Term:
        """Returns the product of two terms."""
        found: dict[Powers, SSAValue] = {}
        for powers, pairs in _pairs(a, b).items():
            found[powers] = self._sum_of_products(pairs)
        return replace(self.joined([a, b]), coefficients=found)

    def joined(self, parts: Sequence[Term]) -> Term:
        """Returns what the product of terms has, apart from its coefficients."""
        mask = parts[0].mask
        for part in parts[1:]:
            mask = self.both(mask, part.mask)
        return Term(
            {}, variables_of(*parts), tuple(f for part in parts for f in part.outside),
            tuple(s for part in parts for s in part.shifts), mask,
        )  # fmt: skip

    def elements(self, parts: Sequence[Term]) -> dict[Powers, list[SSAValue]]:
        """Inserts what a sum of a term, or of the products of two, sums for each coefficient.

        Returns:
            By its powers the element, or two factors.
        """
        if len(parts) == 1:
            return {powers: [value] for powers, value in parts[0].coefficients.items()}
        found: dict[Powers, list[SSAValue]] = {}
        for powers, pairs in _pairs(*parts).items():
            (x, y), *others = pairs
            is_dot = not others and number_of(x) is None and number_of(y) is None
            found[powers] = [x, y] if is_dot else [self._sum_of_products(pairs)]
        return found

    def _sum_of_products(self, pairs: Sequence[tuple[SSAValue, SSAValue]]) -> SSAValue:
        value = self.times(*pairs[0])
        for pair in pairs[1:]:
            value = self._plus(value, self.times(*pair))
        return value

    def _plus(self, x: SSAValue, y: SSAValue) -> SSAValue:
        a, b = number_of(x), number_of(y)
        if a is not None and b is not None:
            return self.body.number(a + b, x.type)
        return self.body.value(arith.AddfOp(x, y))

    def times(self, x: SSAValue, y: SSAValue) -> SSAValue:
        """Inserts a product; one with 1 or -1 needs no multiplication."""
        known = number_of(x), number_of(y)
        if known[0] is not None and known[1] is not None:
            return self.body.number(known[0] * known[1], x.type)
        for number, value in zip(known, (y, x)):
            if number == 1:
                return value
            if number == -1:
                return self.body.value(arith.NegfOp(value))
        return self.body.value(arith.MulfOp(x, y))

    def both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        """Inserts whether two conditions hold; None is one that holds everywhere."""
        if a is None or b is None or a is b:
            return b if a is None else a
        return self.body.value(arith.AndIOp(a, b))

    def _inverse(self, terms: Sequence[Term], op: arith.DivfOp) -> Term:
        term = terms[0]
        if len(terms) > 1 or term.variables:
            raise NotSeparable(op.result, "it divides by a sum with a running value")
        value = term.constant
        if number_of(value) != 1:
            value = self.body.value(arith.DivfOp(self.body.number(1.0, value.type), value))
        return Term(
            {(): value},
            outside=tuple(Factor(f.value, not f.inverse) for f in term.outside),
            shifts=tuple(replace(s, inverse=not s.inverse) for s in term.shifts),
        )

    def _sum(self, op: arith.AddfOp | arith.SubfOp, mask: SSAValue | None) -> list[Term]:
        """The terms of a sum. Running values that are added to elements are variables."""
        found: list[Term] = []
        for number, value in enumerate((op.lhs, op.rhs)):
            subtracted = number == 1 and isinstance(op, arith.SubfOp)
            if self.body.is_running(value):
                centre = self.centre(value)
                one = self.body.number(1.0, value.type)
                terms = [Term({(0,): centre, (1,): one}, (Variable(value, centre),))]
            else:
                terms = self.split(value, mask)
            for term in terms:
                self._add(found, term, subtracted)
        return found

    def _add(self, found: list[Term], term: Term, subtracted: bool) -> None:
        """Adds a term to a sum; to the term that has its factors, if there is one."""
        alike = (n for n, t in enumerate(found) if t.has_factors_of(term) and _is_one(t, term))
        number = next(alike, None)
        if number is None:
            found.append(self._each(term, self._negated) if subtracted else term)
            return
        known = found[number]
        variables = variables_of(known, term)
        sums = known.powers_of(variables)
        cls = arith.SubfOp if subtracted else arith.AddfOp
        for powers, value in term.powers_of(variables).items():
            if powers in sums:
                sums[powers] = self.body.value(cls(sums[powers], value))
            else:
                sums[powers] = self._negative(value) if subtracted else value
        mask = known.mask if known.mask is term.mask else None
        found[number] = replace(known, coefficients=sums, variables=variables, mask=mask)

    def _negated(self, value: SSAValue) -> Operation:
        op = self._negative(value).owner
        assert isinstance(op, Operation)
        return op

    def _negative(self, value: SSAValue) -> SSAValue:
        known = number_of(value)
        if known is not None:
            return self.body.number(-known, value.type)
        return self.body.value(arith.NegfOp(value))

    def _select(self, op: arith.SelectOp) -> list[Term]:
        """An element that is 0 where a condition does not hold."""
        if number_of(op.rhs) != 0:
            raise NotSeparable(op.result, "it is one of two elements, of which none is 0")
        zero, found = op.rhs, list[Term]()
        for inner in self.split(op.lhs, op.cond):
            term = self._each(inner, lambda v: self.body.insert(arith.SelectOp(op.cond, v, zero)))
            found.append(replace(term, mask=self.both(op.cond, inner.mask)))
        return found

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
        return Term({(): value}, shifts=(Shift(found, op, False, bounded),))

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


def _pairs(a: Term, b: Term) -> dict[Powers, list[tuple[SSAValue, SSAValue]]]:
    """Returns the products that each coefficient of a product of two terms is the sum of."""
    variables = variables_of(a, b)
    found: dict[Powers, list[tuple[SSAValue, SSAValue]]] = {}
    left, right = a.powers_of(variables), b.powers_of(variables)
    for (p, x), (q, y) in product(left.items(), right.items()):
        found.setdefault(tuple(map(sum, zip(p, q))), []).append((x, y))
    return found


def check_product(a: Sequence[Term], b: Sequence[Term], value: SSAValue) -> None:
    """Checks that the product of two sums of terms can be taken term by term.

    A sum of terms that have different factors may be smaller than each of them. Of a product of two
    such sums the sums of products would cancel, which those of the products do not.

    Raises:
        NotSeparable: if both have several terms.
    """
    if len(a) > 1 and len(b) > 1:
        raise NotSeparable(value, "it is a product of two sums, whose terms have different factors")


def _is_one(a: Term, b: Term) -> bool:
    """Returns whether two terms of the same factors are one term where both conditions are.

    Outside of its condition a term is 0. It has no other effect if it depends on no running value;
    another one is 0 where there is no element, whatever the running values are.
    """
    if a.mask is b.mask:
        return True
    if not (a.outside or a.shifts or a.variables or b.variables):
        return True
    plain = [not (t.outside or t.shifts or t.variables) for t in (a, b)]
    return any(p and other.mask is None for p, other in zip(plain, (b, a)))


def _name_of(op: Operation) -> str:
    if isinstance(op, loop.ReduceOp):
        return f"it is reduced over '{op.label_name}' with a running value in each element"
    name = op.name.split(".")[-1].removesuffix("f")
    return f"'{name}' of a sum with a running value is not a product with it"
