"""Reductions over one label in one pass: their running values, and the repair of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

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
from dt_mlir.laws.terms import Factor, NotSeparable, Shift, Term, Terms

_EXTREMES = (ReductionKind.MAXIMUM, ReductionKind.MINIMUM)

Insert = Callable[[Operation], Operation]


@dataclass
class Reduced:
    """A reduction as running values of a loop."""

    value: SSAValue
    """Its value for the elements so far, which depends on running values alone."""
    running: loop.RunningOp
    """The running value that it is computed from."""
    shifts: tuple[Shift, ...] = ()
    """The exponentials in its elements."""
    outside: tuple[Factor, ...] = ()
    """The factors that its elements lack."""
    visited: loop.RunningOp | None = None
    """True where there was an element; None if there is one in each step, or the domain says it."""
    may_be_empty: bool = False
    """True if the domain may have no point."""


@dataclass
class Laws:
    """Derives the running values of reductions over one label, one after the other.

    Args:
        body: the body of the loop.
        size: the number of steps of one element, as a number of a type, if all are visited; None
            if the loop has a domain.
        has_point: inserts whether the domain of the loop has a point, outside of the loop; None if
            only the loop can tell.
    """

    body: Body
    size: Callable[[Attribute], SSAValue] | None
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
            return [Reduced(value, op) for value in op.results]
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
        parts = [self.terms.split(value) for value in elements]
        outside = tuple(factor for part in parts for factor in part.outside)
        shifts = tuple(shift for part in parts for shift in part.shifts)
        moving = [part for part in parts if part.variable is not None]
        masks = list(dict.fromkeys(part.mask for part in parts if part.mask is not None))
        if moving and shifts:
            raise NotSeparable(elements[0], "it is a polynomial times an exponential")
        if len(moving) > 1:
            raise NotSeparable(elements[0], "both factors are sums with a running value")
        if moving:
            running, value = self._polynomial(kind, parts, type)
        else:
            values = [part.coefficients[0] for part in parts]
            repair, sources = self._scaled(shifts, type)
            law = "scale" if shifts else None
            running = self._running(kind, values, type, sources, law, repair)
            value = running.result
        for factor in outside:
            cls = arith.DivfOp if factor.inverse else arith.MulfOp
            value = self.body.value(cls(value, factor.value))
        visited = None
        # What multiplies a sum may be infinite where there is nothing to sum.
        may_be_empty = bool(outside or shifts or moving) and not self._has_element(masks)
        if may_be_empty and (masks or self.has_point is None):
            visited = self._visited(masks)
        return Reduced(value, running, shifts, outside, visited, may_be_empty)

    def _has_element(self, masks: Sequence[SSAValue]) -> bool:
        """Returns whether there is an element, as all of a label are reduced to an extreme."""
        whole = self.size is not None and not masks
        kinds = [op.kind.data for op in self.body.running]
        return whole and any(kind.is_arg or kind in _EXTREMES for kind in kinds)

    def _visited(self, masks: Sequence[SSAValue]) -> loop.RunningOp:
        """Returns the reduction of whether an element counted."""
        value = self.body.number(True, i1)
        for number, mask in enumerate(masks):
            value = mask if number == 0 else self.body.value(arith.AndIOp(value, mask))
        return self._running(ReductionKind.OR, [value], i1)

    def _scaled(
        self, shifts: Sequence[Shift], type: Attribute
    ) -> tuple[Block | None, list[loop.RunningOp]]:
        """The multiplication by the quotients of new and old exponentials."""
        if not shifts:
            return None, []
        found = frozenset[loop.RunningOp]()
        for shift in shifts:
            found |= self.body.sources(shift.sum.offset)
        sources = [op for op in self.body.running if op in found]
        region = _Region(self.body, type, sources)
        value = region.earlier
        for shift in shifts:
            scaled = region.insert(arith.MulfOp(value, self._quotient(shift, region)))
            value = scaled if shift.is_bounded else self._unless_zero(value, scaled, region)
        return region.finished(value), sources

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
        values: dict[SSAValue, SSAValue] = {}
        if self.size is not None:
            one = body.number(1.0, type)
            count = self._running(ReductionKind.ADD, [one], type)
            ratio = body.value(arith.DivfOp(self.size(type), count.result))
            for op in body.sources(value):
                plain = op.repair is None and op.kind.data in (ReductionKind.ADD, ReductionKind.DOT)
                if plain and op is not count and op.result.type == type:
                    values[op.result] = body.value(arith.MulfOp(op.result, ratio))
        found = body.rebuild(value, values, body.insert)
        size = body.value(math_ops.AbsFOp(found))
        finite = body.value(arith.CmpfOp(size, body.number(math.inf, type), "olt"))
        return body.value(arith.SelectOp(finite, found, body.number(0.0, type)))

    def _polynomial(
        self, kind: ReductionKind, parts: Sequence[Term], type: Attribute
    ) -> tuple[loop.RunningOp, SSAValue]:
        """The sums of Taylor's coefficients, which move with the centre."""
        body = self.body
        (moving,) = (part for part in parts if part.variable is not None)
        others = [part.coefficients[0] for part in parts if part is not moving]
        variable, centre = moving.variable, moving.centre
        assert variable is not None
        assert centre is not None
        of_centre = body.sources(centre)
        found: dict[int, loop.RunningOp] = {}
        degree = len(moving.coefficients) - 1
        for power in range(degree, -1, -1):
            element = moving.coefficients[power]
            higher = [found[n] for n in range(power + 1, degree + 1)]
            needed = [op for op in body.running if op in of_centre and op not in higher]
            sources = [*higher, *needed] if higher else []
            repair = self._moved(power, higher, centre, type, sources) if higher else None
            law = "polynomial" if higher else None
            values = [body.value(arith.MulfOp(element, other)) for other in others] or [element]
            own = ReductionKind.ADD
            if kind is ReductionKind.DOT and power == 0:
                own = ReductionKind.DOT
                values = [p.coefficients[0] for p in parts]
            found[power] = self._running(own, values, type, sources, law, repair)
        value, distance = found[0].result, body.value(arith.SubfOp(variable, centre))
        factor = distance
        for power in range(1, degree + 1):
            term = body.value(arith.MulfOp(found[power].result, factor))
            value = body.value(arith.AddfOp(value, term))
            if power < degree:
                factor = body.value(arith.MulfOp(factor, distance))
        return found[0], value

    def _moved(
        self,
        power: int,
        higher: Sequence[loop.RunningOp],
        centre: SSAValue,
        type: Attribute,
        sources: Sequence[loop.RunningOp],
    ) -> Block:
        """The sum of a coefficient at the new centre, of those at the old one."""
        region = _Region(self.body, type, sources)
        distance = region.insert(arith.SubfOp(centre, region.old(centre)))
        value, factor = region.earlier, distance
        for number, op in enumerate(higher, start=1):
            ways = comb(power + number, power)
            term = region.insert(arith.MulfOp(region.old(op.result), factor))
            if ways > 1:
                times = region.insert(arith.ConstantOp(constant(float(ways), type)))
                term = region.insert(arith.MulfOp(term, times))
            value = region.insert(arith.AddfOp(value, term))
            if number < len(higher):
                factor = region.insert(arith.MulfOp(factor, distance))
        return region.finished(value)

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
        return Reduced(op.result, op)

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

        def build(op: Operation) -> SSAValue:
            return insert(op).results[0]

        def outer(value: SSAValue) -> SSAValue:
            return self.body.rebuild(value, own, insert, everything=True)

        running = reduced.running.result
        visited: SSAValue | None = None
        if reduced.visited is not None:
            visited = outer(reduced.visited.result)
        elif reduced.may_be_empty:
            assert self.has_point is not None
            visited = self.has_point(insert)
        for shift in reduced.shifts:
            own[running] = self._unshifted(shift, own[running], outer, build, visited)
        value = outer(reduced.value)
        if visited is not None and (reduced.outside or not reduced.shifts):
            # A sum of nothing is 0, whatever the factors are.
            zero = build(arith.ConstantOp(constant(0.0, value.type)))
            value = build(arith.SelectOp(visited, value, zero))
        return value

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
