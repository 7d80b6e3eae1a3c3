"""Reductions over one label in one pass: their running values, and the repair of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, prod

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects import math as math_ops
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.numbers import constant
from dt_mlir.element_types import is_float
from dt_mlir.laws.body import Body
from dt_mlir.laws.dominance import dominated
from dt_mlir.laws.nested import split_sum
from dt_mlir.laws.terms import NotSeparable, Powers, Shift, Term, Terms, Variable, check_product

_EXTREMES = (ReductionKind.MAXIMUM, ReductionKind.MINIMUM)

Insert = Callable[[Operation], Operation]


@dataclass(frozen=True)
class Summand:
    """A term of the elements of a sum, summed by running values of a loop."""

    value: SSAValue
    """Its value for the elements so far, which depends on running values alone."""
    sums: tuple[SSAValue, ...]
    """The running values of its coefficients."""
    term: Term
    """The term, without its coefficients."""
    visited: loop.RunningOp | None
    """True where there was an element; None if there is one in each step, or the domain says it."""
    may_be_empty: bool
    """True if there may be no element."""


@dataclass(frozen=True)
class Reduced:
    """A reduction as running values of a loop."""

    value: SSAValue
    """Its value for the elements so far, which depends on running values alone."""
    summands: tuple[Summand, ...] = ()
    """The terms that it is the sum of, if it is a sum."""


@dataclass
class Laws:
    """Derives the running values of reductions over one label, one after the other.

    Args:
        body: the body of the loop.
        size: the number of steps of one element, as a number of a type, if all are visited; None
            if the loop has a domain.
        is_whole: whether each reduction is of all elements that are visited.
        has_point: inserts whether the domain of the loop has a point, outside of the loop; None if
            only the loop can tell.
    """

    body: Body
    size: Callable[[Attribute], SSAValue] | None
    is_whole: bool
    has_point: Callable[[Insert], SSAValue] | None = None

    def __post_init__(self) -> None:
        self.terms = Terms(self.body, self.centre, split_sum)

    def reduce(
        self, kind: ReductionKind, elements: Sequence[SSAValue], type: Attribute
    ) -> list[Reduced]:
        """Adds a reduction to the loop.

        Args:
            kind: the combination.
            elements: the element of the body that is reduced; two factors of a dot, and of an
                index reduction the element and its index.
            type: the type of the result.

        Returns:
            The value; of an index reduction the index, and the extreme.

        Raises:
            NotSeparable: if no law repairs it.
        """
        if not any(self.body.sources(value) for value in elements):
            extreme = elements[0].type if kind.is_arg else None
            op = self._running(kind, elements, type, extreme=extreme)
            return [Reduced(value) for value in op.results]
        if kind in (ReductionKind.ADD, ReductionKind.DOT):
            try:
                return [self._sum(kind, elements, type)]
            except NotSeparable as error:
                found = self._dominated(kind, elements, type)
                if found is None:
                    raise error from None
                return [found]
        found = self._dominated(kind, elements, type)
        if found is None:
            raise NotSeparable(
                elements[0], f"no law repairs a '{kind}' of elements with a running value"
            )
        return [found]

    def _running(
        self,
        kind: ReductionKind,
        elements: Sequence[SSAValue],
        type: Attribute,
        sources: Sequence[loop.RunningOp] = (),
        law: str | None = None,
        repair: Block | None = None,
        extreme: Attribute | None = None,
    ) -> loop.RunningOp:
        region = None if repair is None else Region(repair)
        values = [source.result for source in sources]
        op = loop.RunningOp(kind, elements, type, values, law, region, extreme)
        found = self.body.insert(op)
        assert isinstance(found, loop.RunningOp)
        return found

    # Sums

    def _sum(
        self, kind: ReductionKind, elements: Sequence[SSAValue], type: Attribute
    ) -> Reduced:
        factors = [self.terms.split(value) for value in elements]
        if kind is ReductionKind.DOT:
            check_product(factors[0], factors[1], elements[0])
        summands = tuple(self._summand(parts, type) for parts in product(*factors))
        value = summands[0].value
        for summand in summands[1:]:
            value = self.body.value(arith.AddfOp(value, summand.value))
        return Reduced(value, summands)

    def _summand(self, parts: Sequence[Term], type: Attribute) -> Summand:
        """Adds the sum of a term, or of the products of two."""
        term = self.terms.joined(parts)
        sums = self._coefficients(term, self.terms.elements(parts), type)
        value = self._expanded(term.variables, sums)
        for factor in term.outside:
            cls = arith.DivfOp if factor.inverse else arith.MulfOp
            value = self.body.value(cls(value, self.body.widened(factor.value, type)))
        masks = list(dict.fromkeys(part.mask for part in parts if part.mask is not None))
        visited = None
        # What multiplies a sum may be infinite where there is nothing to sum.
        changes = bool(term.outside or term.shifts or term.variables)
        may_be_empty = changes and not self._has_element(masks)
        if may_be_empty and (masks or self.has_point is None):
            visited = self._visited(masks)
        results = tuple(op.result for op in sums.values())
        return Summand(value, results, term, visited, may_be_empty)

    def _has_element(self, masks: Sequence[SSAValue]) -> bool:
        """Returns whether there is an element, as all of a label are reduced to an extreme."""
        whole = self.size is not None and self.is_whole and not masks
        kinds = [op.kind.data for op in self.body.running]
        return whole and any(kind.is_arg or kind in _EXTREMES for kind in kinds)

    def _visited(self, masks: Sequence[SSAValue]) -> loop.RunningOp:
        """Returns the reduction of whether an element counted."""
        value = self.body.number(True, i1)
        for number, mask in enumerate(masks):
            value = mask if number == 0 else self.body.value(arith.AndIOp(value, mask))
        return self._running(ReductionKind.OR, [value], i1)

    def _coefficients(
        self, term: Term, elements: dict[Powers, list[SSAValue]], type: Attribute
    ) -> dict[Powers, loop.RunningOp]:
        """Adds the sums of Taylor's coefficients, those of the highest powers first."""
        found: dict[Powers, loop.RunningOp] = {}
        for powers in sorted(elements, key=_by_degree, reverse=True):
            above = sorted((p for p in found if _is_above(p, powers)), key=_by_degree)
            higher = {p: found[p] for p in above}
            repair, sources, law = self._moved(term, powers, higher, type)
            kind, factors = ReductionKind.DOT, elements[powers]
            if len(factors) == 1:
                # The other factor of a product is outside: its sum has a wider type.
                kind, factors = ReductionKind.ADD, [self.body.widened(factors[0], type)]
            found[powers] = self._running(kind, factors, type, sources, law, repair)
        return found

    def _moved(
        self, term: Term, powers: Powers, higher: dict[Powers, loop.RunningOp], type: Attribute
    ) -> tuple[Block | None, list[loop.RunningOp], str | None]:
        """The repair of the sum of a coefficient: its region, what that reads, and its law.

        The coefficient at the new centres is a sum of those at the old ones. All of them have the
        exponentials, and are multiplied by the quotients of new and old ones.
        """
        needed = frozenset[loop.RunningOp]()
        if higher:
            needed = needed.union(*(self.body.sources(v.centre) for v in term.variables))
        for shift in term.shifts:
            needed |= self.body.sources(shift.sum.offset)
        own = [op for op in self.body.running if op in needed and op not in higher.values()]
        sources = [*higher.values(), *own]
        if not sources:
            return None, [], None
        region = _Region(self.body, type, sources)
        value = region.earlier
        if higher:
            value = self._at_new_centres(term.variables, powers, higher, region)
        for shift in term.shifts:
            scaled = region.insert(arith.MulfOp(value, self._quotient(shift, region)))
            value = scaled if shift.is_bounded else self._unless_zero(value, scaled, region)
        law = "scale" if not higher else "scaled_polynomial" if term.shifts else "polynomial"
        return region.finished(value), sources, law

    def _at_new_centres(
        self,
        variables: Sequence[Variable],
        powers: Powers,
        higher: dict[Powers, loop.RunningOp],
        region: _Region,
    ) -> SSAValue:
        """The sum of a coefficient at new centres, of those at the old ones."""
        type = region.earlier.type
        distances = [
            region.insert(arith.SubfOp(v.centre, region.old(v.centre))) for v in variables
        ]
        products = _Products(distances, region.insert)
        value = region.earlier
        for above, op in higher.items():
            more = tuple(p - q for p, q in zip(above, powers))
            moved = region.insert(arith.MulfOp(region.old(op.result), products.of(more)))
            ways = prod(comb(p, q) for p, q in zip(above, powers))
            if ways > 1:
                times = region.insert(arith.ConstantOp(constant(float(ways), type)))
                moved = region.insert(arith.MulfOp(moved, times))
            value = region.insert(arith.AddfOp(value, moved))
        return value

    def _expanded(
        self, variables: Sequence[Variable], sums: dict[Powers, loop.RunningOp]
    ) -> SSAValue:
        """The sum of a term, of the sums of its coefficients."""
        body = self.body
        distances = [body.value(arith.SubfOp(v.value, v.centre)) for v in variables]
        products = _Products(distances, body.value)
        constant_term, *others = sorted(sums, key=_by_degree)
        value = sums[constant_term].result
        for powers in others:
            term = body.value(arith.MulfOp(sums[powers].result, products.of(powers)))
            value = body.value(arith.AddfOp(value, term))
        return value

    def _unless_zero(self, value: SSAValue, scaled: SSAValue, region: _Region) -> SSAValue:
        """A sum times a quotient, and 0 where it is 0: the quotient may be infinite then."""
        zero = region.insert(arith.ConstantOp(constant(0.0, value.type)))
        empty = region.insert(arith.CmpfOp(value, zero, "oeq"))
        return region.insert(arith.SelectOp(empty, zero, scaled))

    def _quotient(self, shift: Shift, region: _Region) -> SSAValue:
        """The new value of an exponential over the old one.

        An infinite offset is no shift (`Terms.safe`). A maximum of -inf is none that elements were
        shifted by, and all of them count nothing: what it is repaired to is 0, not a product of 0
        with an exponential that may be infinite. An offset of inf makes what came before 0.
        """
        found, offset = shift.sum, shift.sum.offset
        old = region.old(offset)
        type = offset.type
        infinity = region.insert(arith.ConstantOp(constant(math.inf, type)))
        tested = old if shift.is_bounded else region.insert(math_ops.AbsFOp(old))
        infinite = region.insert(arith.CmpfOp(tested, infinity, "oeq"))
        zero = region.insert(arith.ConstantOp(constant(0.0, type)))
        before = region.insert(arith.SelectOp(infinite, zero, old))
        after = self.terms.safe(offset, shift.is_bounded)
        ends = (before, after) if found.minus != shift.inverse else (after, before)
        value = region.insert(arith.SubfOp(*ends))
        for scale in found.scales:
            value = region.insert(scale.build(value))
        quotient = region.insert(shift.exponential.clone({shift.exponential.operand: value}))
        if shift.is_bounded and shift.inverse:
            # What was divided by exponentials of -inf is infinite, or there was nothing.
            lowest = region.insert(arith.ConstantOp(constant(-math.inf, type)))
            none = region.insert(arith.CmpfOp(old, lowest, "oeq"))
            one = region.insert(arith.ConstantOp(constant(1.0, type)))
            quotient = region.insert(arith.SelectOp(none, one, quotient))
        return quotient

    # Polynomials

    def centre(self, value: SSAValue) -> SSAValue:
        """The centre of a polynomial in a running value: the value as it will be in the end.

        That is computed from the sums of all elements, of which so many have come: the mean of
        those is near the mean of all. Deviations from it do not cancel, as in the method of Welford
        (1962) and Chan, Golub and LeVeque (1979). Any finite number is a centre, and 0 is one where
        the value is not finite.
        """
        body, type = self.body, value.type
        # What is a quotient of sums over a part of the elements is the same of both, made larger.
        sources = [op for op in body.running if op in body.sources(value)]
        values: dict[SSAValue, SSAValue] = {v: v for op in sources for v in op.results}
        sums = [op for op in sources if _is_plain(op, type)]
        if self.size is not None and sums:
            one = body.number(1.0, type)
            count = self._running(ReductionKind.ADD, [one], type)
            ratio = body.value(arith.DivfOp(self.size(type), count.result))
            for op in sums:
                if op is not count:
                    values[op.result] = body.value(arith.MulfOp(op.result, ratio))
        found = body.rebuild(value, values, body.insert)
        size = body.value(math_ops.AbsFOp(found))
        finite = body.value(arith.CmpfOp(size, body.number(math.inf, type), "olt"))
        return body.value(arith.SelectOp(finite, found, body.number(0.0, type)))

    # Comparisons with an extreme

    def _dominated(
        self, kind: ReductionKind, elements: Sequence[SSAValue], type: Attribute
    ) -> Reduced | None:
        if len(elements) > 1:
            return None
        found = dominated(self.body, kind, elements[0])
        if found is None:
            return None
        body, extreme = self.body, found.extreme
        sources = [extreme]
        above: loop.RunningOp | None = None
        if found.above is not None:
            above = self._running(kind, [found.above], type)
            sources.insert(0, above)
        region = _Region(self.body, type, sources)
        neutral = region.insert(arith.ConstantOp(found.neutral))
        old, new = region.old(extreme.result), extreme.result
        same = region.insert(_equal(old, new))
        other = neutral if above is None else region.old(above.result)
        if above is not None and found.is_ordered and is_float(new.type):
            # What is compared with NaN is not less.
            number = region.insert(arith.CmpfOp(new, new, "oeq"))
            other = region.insert(arith.SelectOp(number, other, neutral))
        value = region.insert(arith.SelectOp(same, region.earlier, other))
        op = self._running(
            kind, elements, type, sources, "dominated", region.finished(value)
        )
        assert body.is_running(op.result)
        return Reduced(op.result)

    # Behind the loop

    def final(
        self, reduced: Reduced, values: dict[SSAValue, SSAValue], insert: Insert
    ) -> SSAValue:
        """Builds a reduction's value behind the loop.

        Args:
            reduced: the reduction.
            values: what stands for running values there.
            insert: inserts an operation.
        """
        own = dict(values)
        for summand in reduced.summands:
            own[summand.value] = self._final_summand(summand, dict(values), insert)
        return self.body.rebuild(reduced.value, own, insert, everything=True)

    def _final_summand(
        self, summand: Summand, own: dict[SSAValue, SSAValue], insert: Insert
    ) -> SSAValue:
        def build(op: Operation) -> SSAValue:
            return insert(op).results[0]

        def outer(value: SSAValue) -> SSAValue:
            return self.body.rebuild(value, own, insert, everything=True)

        term = summand.term
        visited: SSAValue | None = None
        if summand.visited is not None:
            visited = outer(summand.visited.result)
        elif summand.may_be_empty:
            assert self.has_point is not None
            visited = self.has_point(insert)
        for shift in term.shifts:
            for value in summand.sums:
                own[value] = self._unshifted(shift, own[value], outer, build, visited)
        found = outer(summand.value)
        if visited is not None and (term.outside or term.variables or not term.shifts):
            # A sum of nothing is 0, whatever the factors are.
            zero = build(arith.ConstantOp(constant(0.0, found.type)))
            found = build(arith.SelectOp(visited, found, zero))
        return found

    def _unshifted(
        self,
        shift: Shift,
        value: SSAValue,
        outer: Callable[[SSAValue], SSAValue],
        build: Callable[[Operation], SSAValue],
        visited: SSAValue | None,
    ) -> SSAValue:
        """Builds the value that the algorithm gives where the offset of a shift is infinite."""
        offset = outer(shift.sum.offset)
        type = offset.type
        if shift.is_bounded:
            # All elements are -inf, and so is what is subtracted from them.
            infinity = build(arith.ConstantOp(constant(-math.inf, type)))
            infinite = build(arith.CmpfOp(offset, infinity, "oeq"))
            wanted = build(arith.ConstantOp(constant(math.nan, value.type)))
        else:
            infinity = build(arith.ConstantOp(constant(math.inf, type)))
            infinite = build(arith.CmpfOp(build(math_ops.AbsFOp(offset)), infinity, "oeq"))
            power = build(arith.NegfOp(offset)) if shift.sum.minus else offset
            for scale in shift.sum.scales:
                op = scale.build(power)
                if scale.factor is not None:
                    op.operands = [power, outer(scale.factor)]
                power = build(op)
            factor = build(shift.exponential.clone({shift.exponential.operand: power}))
            cls = arith.DivfOp if shift.inverse else arith.MulfOp
            wanted = build(cls(value, factor))
        if visited is not None:
            infinite = build(arith.AndIOp(infinite, visited))
        return build(arith.SelectOp(infinite, wanted, value))


class _Products:
    """Products of powers of numbers, each inserted once.

    Args:
        factors: the numbers.
        insert: inserts an operation; returns its result.
    """

    def __init__(
        self, factors: Sequence[SSAValue], insert: Callable[[Operation], SSAValue]
    ) -> None:
        self.insert = insert
        self._known: dict[Powers, SSAValue] = {}
        for place, factor in enumerate(factors):
            self._known[tuple(int(place == other) for other in range(len(factors)))] = factor

    def of(self, powers: Powers) -> SSAValue:
        """Inserts the product of the numbers to these powers, of which one is not 0."""
        if powers not in self._known:
            place = max(n for n, power in enumerate(powers) if power)
            unit = tuple(int(place == other) for other in range(len(powers)))
            fewer = tuple(p - q for p, q in zip(powers, unit))
            self._known[powers] = self.insert(arith.MulfOp(self.of(fewer), self._known[unit]))
        return self._known[powers]


def _is_plain(op: loop.RunningOp, type: Attribute) -> bool:
    """Returns whether a running value is a sum that grows with the number of its elements."""
    is_sum = op.kind.data in (ReductionKind.ADD, ReductionKind.DOT)
    # A sum of deviations grows as well, from whatever centre.
    grows = op.repair is None or (op.law is not None and op.law.data == "polynomial")
    return is_sum and grows and op.result.type == type


def _by_degree(powers: Powers) -> tuple[int, Powers]:
    return sum(powers), powers


def _is_above(a: Powers, b: Powers) -> bool:
    """Returns whether no power is lower, and one is higher."""
    return a != b and all(p >= q for p, q in zip(a, b))


class _Region:
    """The region that repairs a running value.

    Args:
        body: the body of the loop.
        type: the type of the value.
        sources: the running values that it depends on.
    """

    def __init__(self, body: Body, type: Attribute, sources: Sequence[loop.RunningOp]) -> None:
        self.body = body
        self.block = Block(arg_types=[type, *(source.result.type for source in sources)])
        self.builder = Builder(InsertPoint.at_end(self.block))
        self.values = dict[SSAValue, SSAValue](
            zip((source.result for source in sources), self.block.args[1:])
        )

    @property
    def earlier(self) -> SSAValue:
        """The value of the steps before."""
        return self.block.args[0]

    def insert(self, op: Operation) -> SSAValue:
        """Inserts an operation; returns its result."""
        return self._insert(op).results[0]

    def _insert(self, op: Operation) -> Operation:
        op.location = self.body.location
        return self.builder.insert(op)

    def old(self, value: SSAValue) -> SSAValue:
        """Inserts what a value was before this step."""
        return self.body.rebuild(value, self.values, self._insert)

    def finished(self, value: SSAValue) -> Block:
        """Ends the region with the repaired value."""
        self._insert(loop.YieldOp(value))
        return self.block


def _equal(a: SSAValue, b: SSAValue) -> Operation:
    return arith.CmpfOp(a, b, "oeq") if is_float(a.type) else arith.CmpiOp(a, b, "eq")
