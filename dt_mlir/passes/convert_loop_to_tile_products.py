"""Products of the `tile` level: dots of tiles, and products over a domain.

A dot multiplies all elements of its tiles. Over a domain, tiles that are in it as a whole are
multiplied so. Of a tile that is partly in it, each operand has zeros where its own indices are not
in the domain. A factor that is not finite would still reach sums that exclude it: it counts as zero
in the dot, and a loop over elements adds the terms that have one. That loop makes a trip only where
there are such factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from dt_mlir.analysis.dot_plans import DotPlan, dot_operand_bits, is_dottable, least_depth, plan_dot
from dt_mlir.analysis.nests import loops_in
from dt_mlir.analysis.tile_axes import TileAxes
from dt_mlir.builders.reductions import combine
from dt_mlir.dialects import loop, tile
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.tile.types import Axis, axes_of, tile_type
from dt_mlir.element_types import compute_type, is_float
from dt_mlir.passes.convert_loop_to_tile_domain import Domain
from dt_mlir.passes.convert_loop_to_tile_scope import Scope


class Nests(Protocol):
    """The lowering of loops, as products need it."""

    axes: TileAxes
    env: dict[SSAValue, SSAValue]
    least: dict[str, int]

    def start(self, op: loop.LoopLike, scope: Scope) -> SSAValue:
        """Inserts the first index of a loop."""
        ...

    def end(self, op: loop.LoopLike, scope: Scope) -> SSAValue:
        """Inserts the index behind a loop's last one."""
        ...

    def bounds(self, op: loop.LoopLike, scope: Scope) -> tuple[SSAValue, SSAValue]:
        """Inserts the ends of a loop, as its domain has them."""
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

    def domain(self, op: loop.ReduceOp) -> Domain:
        """Returns the domain of a reduction."""
        ...

    def reduced(
        self, op: loop.ReduceOp, kind: ReductionKind, value: SSAValue, axes: list[Axis],
        scope: Scope,
    ) -> SSAValue:  # fmt: skip
        """Inserts the contribution of one step."""
        ...


class Products:
    """Lowers products.

    Args:
        nests: the lowering of loops.
    """

    def __init__(self, nests: Nests) -> None:
        self.nests = nests

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
        nests, operand = self.nests, op.yielded[0].type
        plan = plan_dot(op, nests.axes, dot_operand_bits(operand), is_dottable(operand))
        if op.domain is not None and plan is not None and not self._is_separable(op):
            plan = None
        if plan is not None and isinstance(plan.depth.extent, str):
            known = nests.least.get(plan.depth.extent, 1)
            least = least_depth(dot_operand_bits(operand))
            nests.least[plan.depth.extent] = max(known, least)
        zero = identity(ReductionKind.DOT, op.result.type)
        if plan is not None and op.domain is not None:
            acc = scope.values.fill(zero, axes) if start is None else start
            return self._over_domain(op, plan, axes, scope, once, acc)
        if once:
            nests.step(op, nests.start(op, scope), scope)
            return self._multiplied(op, plan, axes, start, scope)
        acc = scope.values.fill(zero, axes) if start is None else start
        return self._loop(op, plan, axes, scope, nests.bounds(op, scope), acc)

    def _loop(
        self,
        op: loop.ReduceOp,
        plan: DotPlan | None,
        axes: list[Axis],
        scope: Scope,
        bounds: tuple[SSAValue, SSAValue],
        acc: SSAValue,
    ) -> SSAValue:
        result, inner = self.nests.loop_between(op, (*bounds, op.step_size), scope, [acc], ["acc"])
        index, carried = result.body.block.args
        self.nests.step(op, index, inner)
        total = self._multiplied(op, plan, axes, carried, inner)
        inner.builder.insert(scf.YieldOp(total))
        return result.results[0]

    def _multiplied(
        self,
        op: loop.ReduceOp,
        plan: DotPlan | None,
        axes: list[Axis],
        acc: SSAValue | None,
        scope: Scope,
    ) -> SSAValue:
        """Inserts the product of one step's operands, added to an accumulator if there is one."""
        operands = self._operands(op)
        if plan is not None:
            return self._dot(op, plan, operands, axes, acc, scope)
        product = self._elementwise(op, operands, scope)
        value = self.nests.reduced(op, ReductionKind.ADD, product, axes, scope)
        return value if acc is None else self._added(acc, value, scope)

    def _operands(self, op: loop.ReduceOp) -> tuple[SSAValue, SSAValue]:
        left, right = op.yielded
        return self.nests.env[left], self.nests.env[right]

    def _dot(
        self,
        op: loop.ReduceOp,
        plan: DotPlan,
        operands: tuple[SSAValue, SSAValue],
        axes: list[Axis],
        acc: SSAValue | None,
        scope: Scope,
    ) -> SSAValue:
        values = scope.values
        left, right = operands[::-1] if plan.swapped else operands
        left = values.transpose(left, [*plan.batch, plan.rows, plan.depth])
        right = values.transpose(right, [*plan.batch, plan.depth, plan.columns])
        order = [*plan.batch, plan.rows, plan.columns]
        in_order = order == axes
        type = tile_type(op.result.type, order)
        dot = tile.DotOp(left, right, acc if in_order else None, type)
        value = values.transpose(scope.builder.insert(dot).result, axes)
        return value if in_order or acc is None else self._added(acc, value, scope)

    def _elementwise(
        self, op: loop.ReduceOp, operands: tuple[SSAValue, SSAValue], scope: Scope
    ) -> SSAValue:
        return scope.values.elementwise(
            operands, lambda b, v: _multiply(b, v[0], v[1], op.result.type)
        )

    def _added(self, acc: SSAValue, value: SSAValue, scope: Scope) -> SSAValue:
        return scope.values.elementwise(
            [acc, value], lambda b, v: combine(b, ReductionKind.ADD, v[0], v[1])
        )

    # Domains

    def _is_separable(self, op: loop.ReduceOp) -> bool:
        """Returns whether each constraint is one on the indices of one operand.

        What is computed in the loop must be so of each element by itself, too.
        """
        operands = [self.nests.axes.of(value) for value in op.yielded]
        needs = [self._loops_of(op, expr) for expr in self.nests.domain(op).constraints]
        alone = not any(inner is not op for inner in loops_in(op))
        return alone and all(any(need <= axes for axes in operands) for need in needs)

    def _loops_of(self, op: loop.ReduceOp, expr: AffineExpr) -> frozenset[loop.LoopLike]:
        """Returns the tiled loops around a reduction that a constraint depends on."""
        values = [op.bounds[dim - 1] for dim in expr.used_dims() if dim]
        return frozenset[loop.LoopLike]().union(*map(self.nests.axes.of, values))

    def _over_domain(
        self,
        op: loop.ReduceOp,
        plan: DotPlan,
        axes: list[Axis],
        scope: Scope,
        once: bool,
        acc: SSAValue,
    ) -> SSAValue:
        """Inserts a product over a domain: loops over tiles in part, and as a whole."""
        nests = self.nests
        first, last = nests.start(op, scope), nests.end(op, scope)
        if once:
            nests.step(op, first, scope)
            acc, flags = self._partly(op, plan, axes, scope, acc)
            return self._with_rest(op, axes, scope, (first, last), acc, flags)
        domain = nests.domain(op)
        start, end, _ = domain.narrowed(first, last, op.step_size, scope.index)
        flags: Sequence[SSAValue] = self._no_flags(op, scope)
        for part in domain.parts((start, end), op.step_size, scope.index):
            if part.whole:
                acc = self._loop(op, plan, axes, scope, (part.start, part.end), acc)
                continue
            bounds, inits = (part.start, part.end, op.step_size), [acc, *flags]
            hints = ["acc", *("bad" for _ in flags)]
            result, inner = nests.loop_between(op, bounds, scope, inits, hints)
            index, carried, *before = result.body.block.args
            nests.step(op, index, inner)
            total, found = self._partly(op, plan, axes, inner, carried)
            found = [inner.values.elementwise(pair, _either) for pair in zip(before, found)]
            inner.builder.insert(scf.YieldOp(total, *found))
            acc, *flags = result.results
        # A term that is not finite may be added twice: the sum is then what it was.
        return self._with_rest(op, axes, scope, (start, end), acc, flags)

    def _partly(
        self, op: loop.ReduceOp, plan: DotPlan, axes: list[Axis], scope: Scope, acc: SSAValue
    ) -> tuple[SSAValue, list[SSAValue]]:
        """Inserts the product of tiles that are in a domain in part, without what is not finite.

        Args:
            op: the product.
            plan: its dot.
            axes: the axes of its result.
            scope: where it goes; the operands are there.
            acc: what it is added to.

        Returns:
            The sum, and whether a row, or a column, has a factor that is left out.
        """
        nests, values, domain = self.nests, scope.values, self.nests.domain(op)
        own, open_constraints = nests.env[op.iv], list(domain.constraints)
        operands: list[SSAValue] = []
        flags: list[SSAValue] = []
        for value in op.yielded:
            loops = nests.axes.of(value)
            mine = [expr for expr in open_constraints if self._loops_of(op, expr) <= loops]
            open_constraints = [expr for expr in open_constraints if expr not in mine]
            zero = arith.ConstantOp(identity(ReductionKind.ADD, value.type))
            operand = domain.restrict(nests.env[value], own, zero, mine, values)
            if is_float(value.type):
                left_out = values.elementwise([operand], lambda b, v: _is_not_finite(b, v[0]))
                operand = values.elementwise([left_out, operand], _zero_or_kept)
                found = tile.ReduceOp(ReductionKind.OR, left_out, plan.depth.name)
                flags.append(scope.builder.insert(found).results[0])
            operands.append(operand)
        left, right = operands
        return self._dot(op, plan, (left, right), axes, acc, scope), flags

    def _no_flags(self, op: loop.ReduceOp, scope: Scope) -> list[SSAValue]:
        """Inserts that no row and no column has a factor that is left out."""
        axes, own = self.nests.axes, frozenset([op])
        none = IntegerAttr(0, i1)
        return [
            scope.values.fill(none, axes.axes(axes.of(value) - own))
            for value in op.yielded
            if is_float(value.type)
        ]

    def _with_rest(
        self,
        op: loop.ReduceOp,
        axes: list[Axis],
        scope: Scope,
        bounds: tuple[SSAValue, SSAValue],
        acc: SSAValue,
        flags: Sequence[SSAValue],
    ) -> SSAValue:
        """Inserts the terms that dots left out, those with a factor that is not finite.

        Args:
            op: the product.
            axes: the axes of its result.
            scope: where it goes.
            bounds: the first index, and the index behind the last one.
            acc: the sum of the other terms.
            flags: whether there are such terms, for rows and for columns; none for integers.
        """
        if not flags:
            return acc
        nests, (start, end) = self.nests, bounds
        found = [self._any(flag, scope) for flag in flags]
        some = scope.builder.insert(arith.OrIOp(found[0], found[1])).result
        # The loop makes no trip where all factors are finite.
        last = scope.builder.insert(arith.SelectOp(some, end, start)).result
        result, inner = nests.loop_between(op, (start, last, 1), scope, [acc], ["acc"])
        index, carried = result.body.block.args
        nests.element(op, index, inner)
        zero = arith.ConstantOp(identity(ReductionKind.ADD, op.result.type))
        product = inner.values.elementwise(
            self._operands(op), lambda b, v: _left_out_product(b, v[0], v[1], op.result.type)
        )
        domain = nests.domain(op)
        value = domain.restrict(product, index, zero, domain.constraints, inner.values)
        value = inner.values.broadcast(value, axes)
        inner.builder.insert(scf.YieldOp(self._added(carried, value, inner)))
        return result.results[0]

    def _any(self, flags: SSAValue, scope: Scope) -> SSAValue:
        """Inserts whether a flag of a tile is set, an i1."""
        for axis in axes_of(flags.type):
            reduced = tile.ReduceOp(ReductionKind.OR, flags, axis.name)
            flags = scope.builder.insert(reduced).results[0]
        return flags


def _is_not_finite(builder: Builder, value: SSAValue) -> SSAValue:
    """Builds whether a scalar is an infinity or NaN, which 0 times it is not 0 for."""
    type = compute_type(value.type)
    if value.type != type:
        value = builder.insert(arith.ExtFOp(value, type)).result  # pyright: ignore
    zero = builder.insert(arith.ConstantOp(FloatAttr(0.0, type))).result  # pyright: ignore
    product = builder.insert(arith.MulfOp(value, zero)).result
    return builder.insert(arith.CmpfOp(product, zero, "une")).result


def _either(builder: Builder, v: list[SSAValue]) -> SSAValue:
    return builder.insert(arith.OrIOp(v[0], v[1])).result


def _zero_or_kept(builder: Builder, v: list[SSAValue]) -> SSAValue:
    zero = builder.insert(arith.ConstantOp(FloatAttr(0.0, v[1].type))).result  # pyright: ignore
    return builder.insert(arith.SelectOp(v[0], zero, v[1])).result


def _left_out_product(builder: Builder, a: SSAValue, b: SSAValue, type: Attribute) -> SSAValue:
    """Builds a product of scalars if one is not finite, else 0."""
    flags = [_is_not_finite(builder, value) for value in (a, b)]
    some = builder.insert(arith.OrIOp(flags[0], flags[1])).result
    zero = builder.insert(arith.ConstantOp(identity(ReductionKind.ADD, type))).result
    return builder.insert(arith.SelectOp(some, _multiply(builder, a, b, type), zero)).result


def _multiply(builder: Builder, a: SSAValue, b: SSAValue, type: Attribute) -> SSAValue:
    """A product of scalars, widened first."""

    def widen(value: SSAValue) -> SSAValue:
        if value.type == type:
            return value
        cls = arith.ExtFOp if is_float(value.type) else arith.ExtSIOp
        return builder.insert(cls(value, type)).results[0]  # pyright: ignore

    cls = arith.MulfOp if is_float(type) else arith.MuliOp
    return builder.insert(cls(widen(a), widen(b))).results[0]
