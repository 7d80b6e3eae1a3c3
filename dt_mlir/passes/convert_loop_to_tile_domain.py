"""Domains of reductions: the part of a loop that meets them, and the elements that are in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from dt_mlir.builders.index import IndexBuilder
from dt_mlir.builders.indices import build_index, floored_quotient
from dt_mlir.builders.values import ValueBuilder
from dt_mlir.dialects import loop, tile
from dt_mlir.dialects.index_ranges import collected, split_dimension, terms_of
from dt_mlir.dialects.indices import (
    add,
    compacted,
    has_dimension,
    multiply,
    number,
)
from dt_mlir.dialects.tile.types import axes_of


class Part(NamedTuple):
    """A part of a loop over a domain."""

    start: SSAValue
    """The first index."""
    end: SSAValue
    """The index behind the last one."""
    open: list[AffineExpr]
    """The constraints that elements of its tiles may not meet; none if all are in the domain."""


class _Edge(NamedTuple):
    """A bound of a loop's index."""

    place: SSAValue
    """The first index at which a constraint holds, or the one behind the last."""
    from_below: bool
    """True for the first one."""


class Domain:
    """The domain of a reduction, on the values of the tile level.

    Args:
        op: a reduction with a domain.
        env: what stands for values of the loop level.
        size_of: gives the size of a label.
    """

    def __init__(
        self,
        op: loop.ReductionLoop,
        env: Mapping[SSAValue, SSAValue],
        size_of: Callable[[str], SSAValue],
    ) -> None:
        assert op.domain is not None
        domain = op.domain.data
        self.op, self.size_of = op, size_of
        count = domain.num_dims - 1
        self.dims = [env[value] for value in op.bounds[:count]]
        self.symbols = [env[value] for value in op.bounds[count:]]
        self.constraints = op.constraints

    def narrowed(
        self, start: SSAValue, end: SSAValue, step: int, index: IndexBuilder
    ) -> tuple[SSAValue, SSAValue, list[AffineExpr]]:
        """Returns the part of a loop in whose steps something is in the domain.

        The first step keeps its distance from the loop's start a multiple of the step.

        Args:
            start: the first index.
            end: the index behind the last one.
            step: the number of elements of a step.
            index: builds arithmetic in front of the loop.

        Returns:
            The new start and end, and the constraints that hold in all of it.
        """
        first, last = start, end
        decided: list[AffineExpr] = []
        for expr in self.constraints:
            edge = self._edge(expr, False, index)
            if edge is None:
                continue
            rest = split_dimension(expr, 0)[1]
            if step == 1 and all(not axes_of(self.dims[d - 1].type) for d in rest.used_dims()):
                decided.append(expr)
            if not edge.from_below:
                last = index.minimum(last, edge.place, f"{self.op.label_name}_last")
                continue
            distance = index.maximum(index.sub(edge.place, start), index.constant(0))
            steps = index.div(distance, index.constant(step))
            moved = index.add(start, index.mul(steps, index.constant(step)))
            first = index.maximum(first, moved, f"{self.op.label_name}_first")
        return first, last, decided

    def parts(
        self, bounds: tuple[SSAValue, SSAValue], step: int, index: IndexBuilder
    ) -> list[Part]:
        """Cuts a loop where its tiles begin, and end, to be in the domain as a whole.

        Each part starts at a distance from the loop's start that is a multiple of the step.

        Args:
            bounds: the first index, and the index behind the last one.
            step: the number of elements of a step.
            index: builds arithmetic in front of the loop.
        """
        start, end = bounds
        low, high = start, None
        upper: list[AffineExpr] = []
        zero, size = index.constant(0), index.constant(step)

        def moved(distance: SSAValue, divide: Callable[[SSAValue, SSAValue], SSAValue]) -> SSAValue:
            steps = divide(index.maximum(distance, zero), size)
            return index.add(start, index.mul(steps, size))

        for expr in self.constraints:
            edge = self._edge(expr, True, index)
            if edge is None:
                return [Part(start, end, list(self.constraints))]
            distance = index.sub(edge.place, start)
            if edge.from_below:
                low = index.maximum(low, moved(distance, index.ceil_div))
            else:
                upper.append(expr)
                cut = moved(distance, index.div)
                high = cut if high is None else index.minimum(high, cut)
        name = self.op.label_name
        found: list[Part] = []
        if low is not start:
            found.append(Part(start, index.minimum(low, end), list(self.constraints)))
        low.name_hint = low.name_hint if low is start else f"{name}_whole"
        if high is None:
            return [*found, Part(low, end, [])]
        high = high if low is start else index.maximum(high, low)
        high.name_hint = f"{name}_cut"
        return [*found, Part(low, index.minimum(high, end), []), Part(high, end, upper)]

    def _edge(self, expr: AffineExpr, everywhere: bool, index: IndexBuilder) -> _Edge | None:
        """Builds where a constraint begins, or ends, to hold for the elements of the tiles around.

        None if its own index is in no term by itself, or a term is not bounded.

        Args:
            expr: the constraint.
            everywhere: whether it is to hold for all of them, not for any.
            index: builds arithmetic in front of the loop.
        """
        # factor * i + rest >= 0 where i >= -rest / factor, or i <= rest / -factor.
        factor, rest = split_dimension(expr, 0)
        below = factor > 0
        bound = collected(multiply(rest, number(-1))) if below else rest
        value = None if factor == 0 else self._extreme(bound, below == everywhere, index)
        if value is None:
            return None
        unit = index.constant(abs(factor))
        if below:
            value = index.add(value, index.sub(unit, index.constant(1)))
            return _Edge(floored_quotient(index, value, unit), True)
        behind = index.add(floored_quotient(index, value, unit), index.constant(1))
        return _Edge(behind, False)

    def _extreme(self, expr: AffineExpr, largest: bool, index: IndexBuilder) -> SSAValue | None:
        """Builds the largest or the least value of an expression for any element of a tile.

        None if it is not a sum of multiples of indices and sizes.
        """
        total = index.constant(0)
        for term, factor in sorted(terms_of(expr), key=lambda item: item[1] < 0):
            value: SSAValue | None
            if isinstance(term, AffineConstantExpr):
                value = index.constant(term.value)
            elif isinstance(term, AffineDimExpr):
                value = self._end(self.dims[term.position - 1], (factor > 0) == largest, index)
            elif not has_dimension(term):
                value = build_index(index.builder, term, [], self.symbols)
            else:
                return None
            if value is None:
                return None
            part = index.mul(value, index.constant(abs(factor)))
            total = index.add(total, part) if factor > 0 else index.sub(total, part)
        return total

    def _end(self, value: SSAValue, last: bool, index: IndexBuilder) -> SSAValue | None:
        """Builds the first or the last index of a tile; a scalar is both."""
        owner = value.owner
        if not axes_of(value.type):
            return value
        if not isinstance(owner, tile.RangeOp):
            return None
        if not last:
            return owner.origin
        extent = owner.axis.extent
        if isinstance(extent, str):
            end = self.size_of(extent) if owner.bound is None else owner.bound
        else:
            end = index.add(owner.origin, index.constant(extent))
            if owner.bound is not None:
                end = index.minimum(end, owner.bound)
        return index.sub(end, index.constant(1))

    def restrict(
        self,
        value: SSAValue,
        own: SSAValue,
        neutral: arith.ConstantOp,
        constraints: Sequence[AffineExpr],
        builder: ValueBuilder,
    ) -> SSAValue:
        """Builds a value with the neutral element where constraints do not hold.

        Args:
            value: the value of one step.
            own: the indices of the step.
            neutral: the neutral element; it is not in any block.
            constraints: the constraints.
            builder: where operations go.
        """
        if not constraints:
            return value
        found = compacted(constraints)
        indices = [own, *self.dims]
        operands = [indices[i] for i in found.dims] + [self.symbols[i] for i in found.symbols]
        count = len(found.dims)

        def build(inner: Builder, elements: list[SSAValue]) -> SSAValue:
            result: SSAValue | None = None
            for expr in found.results:
                sides, kind = _sides(expr)
                left, right = (
                    build_index(inner, side, elements[:count], elements[count:]) for side in sides
                )
                holds = inner.insert(arith.CmpiOp(left, right, kind)).result
                result = (
                    holds if result is None else inner.insert(arith.AndIOp(result, holds)).result
                )
            assert result is not None
            return result

        inside = builder.elementwise(operands, build)

        def choose(inner: Builder, v: list[SSAValue]) -> SSAValue:
            other = inner.insert(neutral).result
            return inner.insert(arith.SelectOp(v[0], v[1], other)).result

        return builder.elementwise([inside, value], choose)


def _sides(expr: AffineExpr) -> tuple[tuple[AffineExpr, AffineExpr], str]:
    """Returns the sides of a constraint as a comparison of sums without negative terms, and which.

    The sides depend on fewer axes than their difference, so that a tile of both is only compared.
    """
    terms = terms_of(collected(expr))
    strictly = (number(1), -1) in terms
    left = right = number(0)
    for term, factor in terms:
        if factor > 0:
            left = add(left, multiply(term, number(factor)))
        elif not strictly or term != number(1):
            right = add(right, multiply(term, number(-factor)))
    return (left, right), "sgt" if strictly else "sge"
