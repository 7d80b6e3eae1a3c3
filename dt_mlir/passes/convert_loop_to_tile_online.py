"""Reductions of the `tile` level that advance together: one loop that carries all of their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineExpr

from dt_mlir.builders.reductions import combine, is_more_extreme
from dt_mlir.builders.scope import Scope
from dt_mlir.dialects import loop, tile
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.tile.types import Axis
from dt_mlir.laws.exponentials import sums_shifted_by
from dt_mlir.passes.convert_loop_to_tile_again import SumsAgain, can_sum_again
from dt_mlir.passes.convert_loop_to_tile_domain import Domain, Part
from dt_mlir.passes.convert_loop_to_tile_products import (
    Nests,
    Products,
    loop_over_edges,
    not_finite,
)

_IDEMPOTENT = (
    ReductionKind.MAXIMUM, ReductionKind.MINIMUM, ReductionKind.AND, ReductionKind.OR,
)  # fmt: skip
"""The combinations in which an element may count more than once."""


class OnlineNests(Nests, Protocol):
    """The lowering of loops, as reductions that advance together need it."""

    products: Products
    decided: dict[loop.ReductionLoop, list[AffineExpr]]

    def block(self, block: Block, scope: Scope) -> None:
        """Inserts what a block computes."""
        ...

    def domain(self, op: loop.ReductionLoop) -> Domain:
        """Returns the domain of a reduction."""
        ...

    def spread(
        self, op: loop.ReductionLoop, value: SSAValue, axes: list[Axis], scope: Scope
    ) -> SSAValue:
        """Inserts a value with the axes of a result and the reduction's own."""
        ...


class Online:
    """Lowers `loop.online`.

    Args:
        nests: the lowering of loops.
    """

    def __init__(self, nests: OnlineNests) -> None:
        self.nests = nests
        self.before: dict[loop.RunningOp, Sequence[SSAValue]] = {}
        """The running values of the steps before; none in the only step of a loop."""
        self.checked = True
        """True where steps see to factors that are not finite and that the domain excludes."""
        self.sums_again = False
        """True where such a sum is computed again behind the loop."""
        self.neutral: set[loop.RunningOp] = set()
        """The sums whose elements are 0 where they do not count."""

    def lower(self, op: loop.OnlineOp, scope: Scope, once: bool) -> None:
        """Inserts the loop, and defines its results.

        Args:
            op: the loop.
            scope: where it goes.
            once: whether it makes one trip.
        """
        nests, running = self.nests, op.running
        if once:
            nests.decided[op] = []
            self.checked, self.sums_again = True, False
            for inner in running:
                self.before.pop(inner, None)
            nests.step(op, nests.start(op, scope), scope)
            found = [nests.env[value] for value in op.yielded]
        else:
            found = self._loops(op, scope)
        for out, inner, value in zip(op.outs, op.yielded, found):
            value.name_hint = value.name_hint or inner.name_hint
            nests.env[out] = value

    def _loops(self, op: loop.OnlineOp, scope: Scope) -> list[SSAValue]:
        """Inserts the loops over the parts of a domain; returns the running values behind them.

        A factor that is not finite reaches sums by dots from which the domain excludes it. Where
        such a sum is not finite in the end, all steps are made again, with a check in each: a loop
        that holds a loop is not pipelined. Where warps are specialized, the sum is computed again
        by elements; each step checks if it cannot be.
        """
        nests = self.nests
        neutral = [value for inner in op.running for value in self._neutral(inner, scope)]
        parts = self._parts(op, scope)
        found, dots = neutral, self._dots(op) if any(part.open for part in parts) else []
        self.checked = False
        self.sums_again = nests.products.by_steps and bool(dots) and can_sum_again(op)
        edges = [part for part in parts if part.open]
        if len(edges) == 2:
            # Whole tiles first, and then both edges, whose loop starts its loads once.
            whole = [part for part in parts if not part.open]
            for part in whole:
                found = self._loop(op, part, found, scope)
            found = self._edges(op, edges, found, scope)
        else:
            for part in parts:
                found = self._loop(op, part, found, scope)
        self.checked = True
        if self.sums_again:
            return SumsAgain(nests, nests.products, op).insert(found, dots, scope)
        if not dots or nests.products.by_steps:
            return found
        bad: SSAValue | None = None
        for place in dots:
            other = not_finite(scope, found[place])
            bad = other if bad is None else scope.builder.insert(arith.OrIOp(bad, other)).result
        assert bad is not None
        start, end = nests.bounds(op, scope)
        last = scope.builder.insert(arith.SelectOp(bad, end, start)).result
        first = [
            scope.values.elementwise([bad, *pair], _select) for pair in zip(neutral, found)
        ]
        return self._loop(op, Part(start, last, list(op.constraints)), first, scope)

    def _dots(self, op: loop.OnlineOp) -> list[int]:
        """Returns the places of the running values that are sums of floats by dots."""
        return [
            place
            for place, value in enumerate(op.yielded)
            if isinstance(inner := value.owner, loop.RunningOp)
            and self.nests.products.is_by_dots(inner, self._axes(inner))
        ]

    def _parts(self, op: loop.OnlineOp, scope: Scope) -> list[Part]:
        """Returns the parts of the loop: tiles that are in the domain as a whole, and others."""
        nests = self.nests
        start, end = nests.bounds(op, scope)
        if op.domain is None:
            return [Part(start, end, [])]
        if not op.is_tile:
            decided = nests.decided.get(op, [])
            return [Part(start, end, [expr for expr in op.constraints if expr not in decided])]
        return nests.domain(op).parts((start, end), op.step_size, scope.index)

    def _loop(
        self, op: loop.OnlineOp, part: Part, carried: list[SSAValue], scope: Scope
    ) -> list[SSAValue]:
        """Inserts a loop over a part; returns the running values behind it."""
        bounds = (part.start, part.end, op.step_size)
        hints = self._hints(op)
        result, inner = self.nests.loop_between(op, bounds, scope, carried, hints)
        return self._steps(op, result, result.body.block.args[0], part.open, inner)

    def _edges(
        self, op: loop.OnlineOp, edges: list[Part], carried: list[SSAValue], scope: Scope
    ) -> list[SSAValue]:
        """Inserts one loop over both edges of a domain; returns the running values behind it."""
        hints = self._hints(op)
        result, inner, start = loop_over_edges(self.nests, op, edges, scope, carried, hints)
        return self._steps(op, result, start, list(op.constraints), inner)

    def _hints(self, op: loop.OnlineOp) -> list[str]:
        return [value.name_hint or "acc" for inner in op.running for value in inner.results]

    def _steps(
        self,
        op: loop.OnlineOp,
        result: scf.ForOp,
        start: SSAValue,
        open: list[AffineExpr],
        inner: Scope,
    ) -> list[SSAValue]:
        """Inserts a step of a loop; returns the running values behind it.

        Args:
            op: the loop.
            result: the loop that is inserted.
            start: the first index of the step.
            open: the constraints that elements may not meet.
            inner: the body of the loop.
        """
        nests = self.nests
        args = list(result.body.block.args[1:])
        for reduction in op.running:
            count = len(reduction.results)
            self.before[reduction], args = args[:count], args[count:]
        nests.decided[op] = [expr for expr in op.constraints if expr not in open]
        self.neutral.clear()
        nests.step(op, start, inner)
        inner.builder.insert(scf.YieldOp(*(nests.env[value] for value in op.yielded)))
        return list(result.results)

    def _axes(self, op: loop.RunningOp) -> list[Axis]:
        axes = self.nests.axes
        return axes.axes(axes.of(op.result))

    def _neutral(self, op: loop.RunningOp, scope: Scope) -> list[SSAValue]:
        """Inserts the running values before the first step."""
        kind, axes = op.kind.data, self._axes(op)
        if kind.is_arg:
            extreme = scope.values.fill(identity(kind, op.terms[0].type), axes)
            return [scope.values.fill(IntegerAttr(0, i64), axes), extreme]
        return [scope.values.fill(identity(kind, op.result.type), axes)]

    def step(self, op: loop.RunningOp, scope: Scope) -> None:
        """Inserts a step of one running reduction, and defines its value.

        Args:
            op: the reduction.
            scope: the body of the step.
        """
        nests, axes, kind = self.nests, self._axes(op), op.kind.data
        before = self.before.get(op)
        decided = nests.decided[op.loop]
        excludes = any(expr not in decided for expr in op.loop.constraints)
        excludes = excludes and not self.sums_again
        if kind is ReductionKind.MAXIMUM and not self.checked:
            self._restrict_at_source(op, scope)
        if op in self.neutral:
            nests.decided[op.loop] = list(op.loop.constraints)
        if kind.is_arg:
            found = self._extreme(op, axes, before, scope)
        elif kind is ReductionKind.DOT:
            known = nests.decided[op.loop]
            open = [expr for expr in op.loop.constraints if expr not in known]
            start = self._repaired(op, axes, before, scope)
            products = nests.products
            checked = self.checked
            found = [products.running(op, axes, scope, start, open, checked, excludes)]
        else:
            start = self._repaired(op, axes, before, scope)
            value = self._reduced(op, axes, scope)
            if start is not None:
                value = scope.values.elementwise(
                    [start, value], lambda b, v: combine(b, kind, v[0], v[1])
                )
            found = [value]
        nests.decided[op.loop] = decided
        for result, value in zip(op.results, found):
            if result.name_hint is not None and not isinstance(value.owner, Block):
                value.name_hint = result.name_hint
            nests.env[result] = value

    def _restrict_at_source(self, op: loop.RunningOp, scope: Scope) -> None:
        """Makes elements that do not count -inf for a maximum and all sums of exponentials of them.

        One choice serves all of these. A dot of such a sum has factors of 0 then, as it has by a
        choice of its own; a product by elements needs that choice.
        """
        nests, around = self.nests, op.loop
        open = [expr for expr in around.constraints if expr not in nests.decided[around]]
        sums = sums_shifted_by(op) if open else None
        (element,) = op.terms
        if not sums or not around.is_tile or around not in nests.axes.of(element):
            return
        own, lowest = nests.env[around.iv], arith.ConstantOp(identity(op.kind.data, element.type))
        nests.env[element] = nests.domain(around).restrict(
            nests.env[element], own, lowest, open, scope.values
        )
        self.neutral.add(op)
        self.neutral.update(
            inner for inner in sums
            if not inner.is_dot or nests.products.is_by_dots(inner, self._axes(inner))
        )  # fmt: skip

    def _repaired(
        self,
        op: loop.RunningOp,
        axes: list[Axis],
        before: Sequence[SSAValue] | None,
        scope: Scope,
    ) -> SSAValue | None:
        """Inserts the repair of the value of the steps before; None if there were none."""
        if before is None or op.repair is None:
            return None if before is None else before[0]
        nests = self.nests
        nests.env[op.earlier] = before[0]
        for arg, source in zip(op.repair.block.args[1:], op.sources):
            assert isinstance(source.owner, loop.RunningOp)
            nests.env[arg] = self.before[source.owner][0]
        nests.block(op.repair.block, scope)
        return scope.values.broadcast(nests.env[op.repaired], axes)

    def _reduced(self, op: loop.RunningOp, axes: list[Axis], scope: Scope) -> SSAValue:
        """Inserts what a step's elements combine to."""
        nests, around, kind = self.nests, op.loop, op.kind.data
        value, own = op.terms[0], around in nests.axes.of(op.terms[0])
        decided = set(nests.decided[around]) >= set(around.constraints)
        if around.is_tile and not own and decided and kind in _IDEMPOTENT:
            # A step has an element, and all are equal.
            return scope.values.broadcast(nests.env[value], axes)
        return nests.reduced(around, kind, nests.env[value], axes, scope)

    def _extreme(
        self,
        op: loop.RunningOp,
        axes: list[Axis],
        before: Sequence[SSAValue] | None,
        scope: Scope,
    ) -> list[SSAValue]:
        """Inserts the index of the extreme element up to a step, and the element."""
        nests, around, kind, values = self.nests, op.loop, op.kind.data, scope.values
        value, index = (nests.env[term] for term in op.terms)
        if around.is_tile:
            value = nests.spread(around, value, axes, scope)
            index = nests.spread(around, index, axes, scope)
            axis = nests.axes.loops[around].name
            found = scope.builder.insert(tile.ArgReduceOp(kind, value, index, axis))
            value, index = found.results[0], found.results[1]
        value, index = values.broadcast(value, axes), values.broadcast(index, axes)
        if before is None:
            return [index, value]
        old = [before[1], before[0]]
        better = values.elementwise(
            [value, old[0]], lambda b, v: is_more_extreme(b, kind, v[0], v[1])
        )
        chosen = [
            values.elementwise([better, n, o], _select) for n, o in zip((value, index), old)
        ]
        return [chosen[1], chosen[0]]


def _select(builder: Builder, v: list[SSAValue]) -> SSAValue:
    return builder.insert(arith.SelectOp(*v)).result
