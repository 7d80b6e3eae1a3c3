"""Products of the `tile` level: dots of tiles, and products over a domain.

A dot multiplies all elements of its tiles. Over a domain, tiles that are in it as a whole are
multiplied so. Of a tile that is partly in it, each operand has zeros where its own indices are not
in the domain. A factor that is not finite still reaches sums that exclude it, which are not finite
then: a tile of sums that are not all finite is summed again, by elements. Where warps are
specialized no tile can be loaded again, as other warps have copied it: there each that is partly in
the domain is added by elements, if the sums with it are not all finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from dt_mlir.analysis.dot_plans import (
    DotPlan,
    dot_operand_bits,
    least_depth,
    loops_of_constraint,
    plan_dot,
)
from dt_mlir.analysis.tile_axes import TileAxes
from dt_mlir.builders.reductions import combine, product_of, widened
from dt_mlir.builders.scope import Scope
from dt_mlir.dialects import loop, tile
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.numbers import constant
from dt_mlir.dialects.tile.types import Axis, axes_of, element_of, tile_type
from dt_mlir.element_types import is_float
from dt_mlir.passes.convert_loop_to_tile_domain import Domain, Part
from dt_mlir.traversal import operations_of


class Nests(Protocol):
    """The lowering of loops, as products need it."""

    axes: TileAxes
    env: dict[SSAValue, SSAValue]
    least: dict[str, int]
    starts: dict[loop.LoopLike, SSAValue]

    def start(self, op: loop.LoopLike, scope: Scope) -> SSAValue:
        """Inserts the first index of a loop."""
        ...

    def end(self, op: loop.LoopLike, scope: Scope) -> SSAValue:
        """Inserts the index behind a loop's last one."""
        ...

    def bounds(self, op: loop.LoopLike, scope: Scope) -> tuple[SSAValue, SSAValue]:
        """Inserts the ends of a loop, as its domain has them."""
        ...

    def enter(self, op: loop.LoopLike, start: SSAValue, scope: Scope) -> None:
        """Inserts the indices of one step of a loop."""
        ...

    def step(self, op: loop.LoopLike, start: SSAValue, body: Scope) -> None:
        """Inserts one step of a loop from an index, for all elements of its tile."""
        ...

    def element(self, op: loop.LoopLike, index: SSAValue, body: Scope) -> None:
        """Inserts one element of a loop."""
        ...

    def loop_between(
        self, op: loop.LoopLike, bounds: tuple[SSAValue, SSAValue, int], scope: Scope,
        carried: list[SSAValue], hints: list[str],
    ) -> tuple[scf.ForOp, Scope]:  # fmt: skip
        """Inserts a sequential loop; returns it and the scope of its body."""
        ...

    def lower(self, op: Operation, scope: Scope) -> None:
        """Inserts what an operation computes, and says what stands for its results."""
        ...

    def domain(self, op: loop.ReductionLoop) -> Domain:
        """Returns the domain of a reduction."""
        ...

    def reduced(
        self, op: loop.ReductionLoop, kind: ReductionKind, value: SSAValue, axes: list[Axis],
        scope: Scope,
    ) -> SSAValue:  # fmt: skip
        """Inserts the contribution of one step."""
        ...


@dataclass(frozen=True)
class _Product:
    """A product that is lowered."""

    op: loop.ReductionLoop
    """The loop over what is summed."""
    factors: tuple[SSAValue, SSAValue]
    """The factors of one element, at the loop level."""
    type: Attribute
    """The type of the sum."""
    axes: list[Axis]
    """The axes of its result."""
    plan: DotPlan | None
    """The plan of the dot that computes it; None if elements are multiplied and added."""

    @property
    def zero(self) -> FloatAttr | IntegerAttr:
        return identity(ReductionKind.DOT, self.type)


class Products:
    """Lowers products.

    Args:
        nests: the lowering of loops.
        by_steps: whether each step sees to its sums, and not what follows the loop.
    """

    def __init__(self, nests: Nests, by_steps: bool) -> None:
        self.nests = nests
        self.by_steps = by_steps

    def lower(
        self,
        op: loop.ReduceOp,
        axes: list[Axis],
        scope: Scope,
        once: bool,
        start: SSAValue | None,
    ) -> SSAValue:
        """Inserts a product.

        Args:
            op: a `dot` reduction.
            axes: the axes of its result.
            scope: where it goes.
            once: whether its loop makes one trip.
            start: what it is added to, if not 0.
        """
        nests = self.nests
        product = self._product(op, axes)
        over_domain = product.plan is not None and op.domain is not None
        if once and not over_domain:
            nests.step(op, nests.start(op, scope), scope)
            return self._multiplied(product, self._operands(product), start, scope)
        acc = scope.values.fill(product.zero, axes) if start is None else start
        if over_domain:
            return self._over_domain(product, scope, once, acc)
        return self._loop(product, nests.bounds(op, scope), scope, acc, [])

    def running(
        self,
        op: loop.RunningOp,
        axes: list[Axis],
        scope: Scope,
        start: SSAValue | None,
        open: list[AffineExpr],
        checked: bool,
        excludes: bool,
    ) -> SSAValue:
        """Inserts one step of a running product.

        Args:
            op: a `dot`.
            axes: the axes of its result.
            scope: the body of the step.
            start: what it is added to, if there is anything.
            open: the constraints of the loop's domain that elements may not meet.
            checked: whether a sum by dots that is not finite is computed again by elements.
            excludes: whether the domain may exclude elements.
        """
        product = self._product(op, axes)
        if product.plan is None:
            return self._multiplied(product, self._operands(product), start, scope)
        operands = self._restricted(product, scope, open)
        if excludes and self.by_steps and is_float(product.type):
            return self._checked_sum(product, scope, operands, start)
        if not open or not checked or not is_float(product.type):
            return self._multiplied(product, operands, start, scope)
        found = self._multiplied(product, operands, None, scope)
        found = self._checked_step(product, scope, found)
        return found if start is None else self._added(start, found, scope)

    def is_by_dots(self, op: loop.RunningOp, axes: list[Axis]) -> bool:
        """Returns whether a running value is a sum of floats that dots compute."""
        if not op.is_dot or not is_float(op.result.type):
            return False
        return self._product(op, axes).plan is not None

    def _product(self, op: loop.ReduceOp | loop.RunningOp, axes: list[Axis]) -> _Product:
        """Returns a product with its plan, whose depth has the extent that a dot needs."""
        nests = self.nests
        found = plan_dot(op, nests.axes)
        plan = found if isinstance(found, DotPlan) else None
        around = op if isinstance(op, loop.ReduceOp) else op.loop
        left, right = op.yielded if isinstance(op, loop.ReduceOp) else op.terms
        if plan is not None and isinstance(plan.depth.extent, str):
            known = nests.least.get(plan.depth.extent, 1)
            least = least_depth(dot_operand_bits(left.type))
            nests.least[plan.depth.extent] = max(known, least)
        return _Product(around, (left, right), op.result.type, axes, plan)

    def _loop(
        self,
        product: _Product,
        bounds: tuple[SSAValue, SSAValue],
        scope: Scope,
        acc: SSAValue,
        constraints: list[AffineExpr],
    ) -> SSAValue:
        """Inserts a loop over tiles, whose elements may not meet some constraints."""
        op = product.op
        result, inner = self.nests.loop_between(op, (*bounds, op.step_size), scope, [acc], ["acc"])
        index, carried = result.body.block.args
        self.nests.step(op, index, inner)
        operands = self._restricted(product, inner, constraints)
        total = self._step_over(product, operands, carried, inner, bool(constraints))
        inner.builder.insert(scf.YieldOp(total))
        return result.results[0]

    def _operands(self, product: _Product) -> tuple[SSAValue, SSAValue]:
        left, right = product.factors
        return self.nests.env[left], self.nests.env[right]

    def _multiplied(
        self,
        product: _Product,
        operands: tuple[SSAValue, SSAValue],
        acc: SSAValue | None,
        scope: Scope,
    ) -> SSAValue:
        """Inserts the product of one step's operands, added to an accumulator if there is one."""
        if product.plan is not None:
            return self._dot(product, product.plan, operands, acc, scope)
        terms = self._elementwise(product, operands, scope)
        value = self.nests.reduced(product.op, ReductionKind.ADD, terms, product.axes, scope)
        return value if acc is None else self._added(acc, value, scope)

    def _dot(
        self,
        product: _Product,
        plan: DotPlan,
        operands: tuple[SSAValue, SSAValue],
        acc: SSAValue | None,
        scope: Scope,
    ) -> SSAValue:
        values = scope.values
        left, right = operands[::-1] if plan.swapped else operands
        left = values.transpose(left, [*plan.batch, plan.rows, plan.depth])
        right = values.transpose(right, [*plan.batch, plan.depth, plan.columns])
        order = [*plan.batch, plan.rows, plan.columns]
        in_order = order == product.axes
        type = tile_type(product.type, order)
        dot = tile.DotOp(left, right, acc if in_order else None, type)
        value = values.transpose(scope.builder.insert(dot).result, product.axes)
        return value if in_order or acc is None else self._added(acc, value, scope)

    def _elementwise(
        self, product: _Product, operands: tuple[SSAValue, SSAValue], scope: Scope
    ) -> SSAValue:
        return scope.values.elementwise(
            operands, lambda b, v: product_of(b, v[0], v[1], product.type)
        )

    def _added(self, acc: SSAValue, value: SSAValue, scope: Scope) -> SSAValue:
        return scope.values.elementwise(
            [acc, value], lambda b, v: combine(b, ReductionKind.ADD, v[0], v[1])
        )

    # Domains

    def _over_domain(
        self, product: _Product, scope: Scope, once: bool, acc: SSAValue
    ) -> SSAValue:
        """Inserts a product over a domain: loops over tiles in part, and as a whole."""
        nests, op = self.nests, product.op
        first, last = nests.start(op, scope), nests.end(op, scope)
        if once:
            nests.step(op, first, scope)
            operands = self._restricted(product, scope, list(op.constraints))
            found = self._step_over(product, operands, acc, scope, True)
            if _reads_what_is_held(op) and is_float(product.type) and not self.by_steps:
                # Single elements of such a tile are nowhere to be read again.
                bad = not_finite(scope, found)
                return self._by_elements(product, scope, bad, acc, found)
            return self._checked(product, scope, (first, last), acc, found)
        domain = nests.domain(op)
        start, end, _ = domain.narrowed(first, last, op.step_size, scope.index)
        found = acc
        parts = domain.parts((start, end), op.step_size, scope.index)
        whole = [part for part in parts if not part.open]
        edges = [part for part in parts if part.open]
        # Tiles that are whole come first, which was measured to be faster than between the edges.
        for part in [*whole, *edges] if len(edges) == 1 else whole:
            found = self._loop(product, (part.start, part.end), scope, found, part.open)
        if len(edges) == 2:
            found = self._edges(product, edges, scope, found)
        return self._checked(product, scope, (start, end), acc, found)

    def _edges(
        self, product: _Product, edges: Sequence[Part], scope: Scope, acc: SSAValue
    ) -> SSAValue:
        """Inserts one loop over the tiles of two edges, which starts its loads once."""
        op = product.op
        result, inner, start = loop_over_edges(self.nests, op, edges, scope, [acc], ["acc"])
        carried = result.body.block.args[1]
        self.nests.step(op, start, inner)
        operands = self._restricted(product, inner, list(op.constraints))
        total = self._step_over(product, operands, carried, inner, True)
        inner.builder.insert(scf.YieldOp(total))
        return result.results[0]

    def _step_over(
        self,
        product: _Product,
        operands: tuple[SSAValue, SSAValue],
        acc: SSAValue,
        scope: Scope,
        excludes: bool,
    ) -> SSAValue:
        """Inserts a step of a loop over a domain, which may exclude elements of the step."""
        if excludes and self.by_steps and product.plan is not None and is_float(product.type):
            return self._checked_sum(product, scope, operands, acc)
        return self._multiplied(product, operands, acc, scope)

    def _restricted(
        self, product: _Product, scope: Scope, constraints: list[AffineExpr]
    ) -> tuple[SSAValue, SSAValue]:
        """Inserts one step's operands, with zeros where their own indices are not in the domain.

        Args:
            product: the product.
            scope: the body of the step.
            constraints: the constraints of the domain that elements may not meet.
        """
        if not constraints:
            return self._operands(product)
        nests, op, domain = self.nests, product.op, self.nests.domain(product.op)
        operands: list[SSAValue] = []
        for value in product.factors:
            loops = nests.axes.of(value)
            mine = [e for e in constraints if loops_of_constraint(op, e, nests.axes) <= loops]
            constraints = [expr for expr in constraints if expr not in mine]
            zero = arith.ConstantOp(identity(ReductionKind.ADD, value.type))
            own = nests.env[op.iv]
            operands.append(domain.restrict(nests.env[value], own, zero, mine, scope.values))
        left, right = operands
        return left, right

    def _checked(
        self,
        product: _Product,
        scope: Scope,
        bounds: tuple[SSAValue, SSAValue],
        acc: SSAValue,
        found: SSAValue,
    ) -> SSAValue:
        """Inserts the sum by elements, in place of one by dots that is not finite.

        Args:
            product: the product.
            scope: where it goes.
            bounds: the first index, and the index behind the last one.
            acc: what the product is added to.
            found: the sum by dots.
        """
        if not is_float(product.type) or self.by_steps:
            return found
        nests, values, (start, end) = self.nests, scope.values, bounds
        bad = not_finite(scope, found)
        # The loop makes no trip where the sum is finite. It starts from that sum then, so that one
        # tile is live, not two.
        last = scope.builder.insert(arith.SelectOp(bad, end, start)).result
        first = values.elementwise(
            [bad, acc, found], lambda b, v: b.insert(arith.SelectOp(*v)).result
        )
        result, inner = nests.loop_between(product.op, (start, last, 1), scope, [first], ["exact"])
        index, carried = result.body.block.args
        nests.element(product.op, index, inner)
        terms = self._elementwise(product, self._operands(product), inner)
        domain, zero = nests.domain(product.op), arith.ConstantOp(product.zero)
        value = domain.restrict(terms, index, zero, domain.constraints, inner.values)
        value = inner.values.broadcast(value, product.axes)
        inner.builder.insert(scf.YieldOp(self._added(carried, value, inner)))
        return result.results[0]

    def _checked_step(self, product: _Product, scope: Scope, found: SSAValue) -> SSAValue:
        """Inserts one step's sum by elements, in place of one by dots that is not finite."""
        zeros = scope.values.fill(product.zero, axes_of(found.type))
        return self._by_elements(product, scope, not_finite(scope, found), zeros, found)

    def _checked_sum(
        self,
        product: _Product,
        scope: Scope,
        operands: tuple[SSAValue, SSAValue],
        acc: SSAValue | None,
    ) -> SSAValue:
        """Inserts the sum with a step: by elements of the step where that by dots is not finite.

        Args:
            product: the product.
            scope: the body of the step.
            operands: the factors, with zeros where their own indices are not in the domain.
            acc: what it is added to, if there is anything.
        """
        found = self._multiplied(product, operands, acc, scope)
        before = scope.values.fill(product.zero, axes_of(found.type)) if acc is None else acc
        # Either way gives the same, so that each group of warps may decide for its own rows.
        bad = not_finite(scope, found, apart=True)
        return self._by_elements(product, scope, bad, before, found)

    def _by_elements(
        self, product: _Product, scope: Scope, bad: SSAValue, before: SSAValue, found: SSAValue
    ) -> SSAValue:
        """Inserts one step's sum by elements, in place of one by dots under a condition.

        The elements are taken from the step's tiles: all others count as 0 in a sum along the axis.
        Where warps are specialized, what other warps have copied is read again.

        Args:
            product: the product.
            scope: the body of the step.
            bad: the condition.
            before: what the sum by elements starts from.
            found: the sum by dots.
        """
        start, stop = self._ends_of_step(product.op, scope)
        first = scope.values.elementwise(
            [bad, before, found], lambda b, v: b.insert(arith.SelectOp(*v)).result
        )
        last = scope.builder.insert(arith.SelectOp(bad, stop, start)).result
        return self._elements(product, scope, (start, last), first)

    def add_elements(
        self, op: loop.RunningOp, axes: list[Axis], scope: Scope, start: SSAValue
    ) -> SSAValue:
        """Inserts a step of a running product by elements, whether dots could compute it or not.

        Args:
            op: a `dot`.
            axes: the axes of its result.
            scope: the body of the step.
            start: what it is added to.
        """
        product = self._product(op, axes)
        return self._elements(product, scope, self._ends_of_step(product.op, scope), start)

    def _ends_of_step(self, op: loop.ReductionLoop, scope: Scope) -> tuple[SSAValue, SSAValue]:
        """Inserts the first index of a step, and the one behind its last."""
        nests, index = self.nests, scope.index
        start, stop = nests.starts[op], nests.end(op, scope)
        if op.step_size:
            stop = index.minimum(index.add(start, index.constant(op.step_size)), stop)
        return start, stop

    def _elements(
        self, product: _Product, scope: Scope, bounds: tuple[SSAValue, SSAValue], first: SSAValue
    ) -> SSAValue:
        """Inserts a loop over elements of a step, taken from its tiles or read again."""
        nests, op = self.nests, product.op
        result, inner = nests.loop_between(op, (*bounds, 1), scope, [first], ["exact"])
        place, carried = result.body.block.args
        own, axis = nests.env[op.iv], nests.axes.loops[op].name
        operands: list[SSAValue] = []
        for element in product.factors:
            read = element.owner
            if self.by_steps and isinstance(read, loop.ReadOp) and _is_of_tensor(read, op.iv):
                operands.append(self._read_again(op, read, place, inner))
                continue
            value = nests.env[element]
            zero = inner.values.constant(identity(ReductionKind.ADD, element_of(value.type)))
            alone = inner.values.elementwise(
                [own, place, value, zero],
                lambda b, v: widened(b, where_equal(b, v), product.type),
            )
            reduced = tile.ReduceOp(ReductionKind.ADD, alone, axis)
            operands.append(inner.builder.insert(reduced).result)
        terms = self._elementwise(product, (operands[0], operands[1]), inner)
        domain, neutral = nests.domain(op), arith.ConstantOp(product.zero)
        term = domain.restrict(terms, place, neutral, domain.constraints, inner.values)
        term = inner.values.broadcast(term, product.axes)
        inner.builder.insert(scf.YieldOp(self._added(carried, term, inner)))
        return result.results[0]

    def _read_again(
        self, op: loop.ReductionLoop, read: loop.ReadOp, place: SSAValue, scope: Scope
    ) -> SSAValue:
        """Inserts a read at one index of a loop, beside that at the indices of a step."""
        env, own, known = self.nests.env, self.nests.env[op.iv], self.nests.env.get(read.result)
        env[op.iv] = place
        self.nests.lower(read, scope)
        found = env[read.result]
        env[op.iv] = own
        if known is not None:
            env[read.result] = known
        return found


def loop_over_edges(
    nests: Nests,
    op: loop.ReductionLoop,
    edges: Sequence[Part],
    scope: Scope,
    carried: list[SSAValue],
    hints: list[str],
) -> tuple[scf.ForOp, Scope, SSAValue]:
    """Inserts one loop over the tiles of two edges, which starts its loads once.

    Args:
        nests: the lowering of loops.
        op: the loop over the domain.
        edges: the edges.
        scope: where it goes.
        carried: the initial values of what it carries.
        hints: their names.

    Returns:
        The loop, the scope of its body, and the first index of a trip's tile.
    """
    index = scope.index
    zero, step = index.constant(0), index.constant(op.step_size)
    first, second = (
        index.ceil_div(index.maximum(index.sub(edge.end, edge.start), zero), step)
        for edge in edges
    )
    trips = (zero, index.add(first, second), 1)
    result, inner = nests.loop_between(op, trips, scope, carried, hints)
    trip = result.body.block.args[0]
    trip.name_hint = "trip"
    behind = inner.index.sub(trip, first)
    starts = [
        inner.index.add(edge.start, inner.index.mul(number, step))
        for edge, number in zip(edges, (trip, behind))
    ]
    is_first = inner.builder.insert(arith.CmpiOp(trip, first, "slt")).result
    start = inner.builder.insert(arith.SelectOp(is_first, starts[0], starts[1])).result
    start.name_hint = f"{op.label_name}_start"
    return result, inner, start


def not_finite(scope: Scope, found: SSAValue, apart: bool = False) -> SSAValue:
    """Builds whether some element of a tile is an infinity or NaN.

    Args:
        scope: where it goes.
        found: the tile.
        apart: whether each part of it that is computed apart may have an answer of its own.
    """
    # 0 times an infinity or NaN is NaN, and so is a sum with it. Threads hold neighbours along
    # the last axis: to add those first needs the fewest exchanges between threads.
    sign = scope.values.elementwise([found], lambda b, v: _times_zero(b, v[0]))
    for axis in reversed(axes_of(sign.type)):
        total = tile.ReduceOp(ReductionKind.ADD, sign, axis.name, apart)
        sign = scope.builder.insert(total).result
    return scope.builder.insert(arith.CmpfOp(sign, sign, "une")).result


def _reads_what_is_held(op: loop.ReductionLoop) -> bool:
    """Returns whether the element of a sum is computed of what its kernel holds along its loop."""
    return any(
        op.iv in read.indices and not _is_of_tensor(read, op.iv)
        for read in operations_of(op, loop.ReadOp)
    )


def _is_of_tensor(read: loop.ReadOp, index: SSAValue) -> bool:
    """Returns whether a tensor is read, and not what a kernel holds, at an index among others."""
    return index in read.indices and not isinstance(read.base.owner, loop.LocalOp)


def where_equal(builder: Builder, v: list[SSAValue]) -> SSAValue:
    """Builds a value where two indices are equal, and another one elsewhere."""
    equal = builder.insert(arith.CmpiOp(v[0], v[1], "eq")).result
    return builder.insert(arith.SelectOp(equal, v[2], v[3])).result


def _times_zero(builder: Builder, value: SSAValue) -> SSAValue:
    """Builds 0 times a scalar."""
    zero = builder.insert(arith.ConstantOp(constant(0.0, value.type))).result
    return builder.insert(arith.MulfOp(value, zero)).result
