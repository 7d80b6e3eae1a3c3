"""Combinations up to each index of a loop: scans of tiles, and what is carried between them."""

from __future__ import annotations

from typing import Protocol

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.ir import SSAValue

from dt_mlir.analysis.tile_axes import TileAxes
from dt_mlir.builders.reductions import combine, product_of
from dt_mlir.builders.scope import Scope
from dt_mlir.dialects import loop, tile
from dt_mlir.dialects.elem import identity
from dt_mlir.dialects.tile.types import Axis, axes_of
from dt_mlir.passes.convert_loop_to_tile_products import where_equal


class PrefixNests(Protocol):
    """The lowering of loops, as combinations up to each index need it."""

    axes: TileAxes
    order: list[Axis]
    env: dict[SSAValue, SSAValue]
    starts: dict[loop.LoopLike, SSAValue]

    def bounds(self, op: loop.LoopLike, scope: Scope) -> tuple[SSAValue, SSAValue]:
        """Inserts the ends of a loop."""
        ...

    def step(self, op: loop.LoopLike, start: SSAValue, body: Scope) -> None:
        """Inserts one step of a loop from an index, for all elements of its tile."""
        ...

    def loop_between(
        self, op: loop.LoopLike, bounds: tuple[SSAValue, SSAValue, int], scope: Scope,
        carried: list[SSAValue], hints: list[str],
    ) -> tuple[scf.ForOp, Scope]:  # fmt: skip
        """Inserts a sequential loop; returns it and the scope of its body."""
        ...


class Prefixes:
    """Lowers loops with `loop.prefix`.

    Args:
        nests: the lowering of loops.
    """

    def __init__(self, nests: PrefixNests) -> None:
        self.nests = nests
        self.before: dict[loop.PrefixOp, SSAValue] = {}
        """The combinations of the tiles before the one that is computed."""
        self.after: dict[loop.PrefixOp, SSAValue] = {}
        """Those with the tile that is computed."""
        self.is_first: dict[loop.PrefixOp, SSAValue] = {}
        """True in the first trip of the loop, where no sum is multiplied by a factor."""

    def loop(self, op: loop.ForOp, scope: Scope) -> None:
        """Inserts a loop that carries the combinations of the tiles so far.

        Args:
            op: the loop.
            scope: where it goes.
        """
        nests, prefixes = self.nests, loop.prefixes_of(op)
        start, end = nests.bounds(op, scope)
        down = prefixes[0].descending is not None
        index, size = scope.index, op.step_size
        trips = (start, end, size)
        carried = [
            scope.values.fill(identity(inner.kind.data, inner.result.type), self._axes(inner))
            for inner in prefixes
        ]
        hints = [inner.result.name_hint or "acc" for inner in prefixes]
        if down:
            # Trip t has the tile that is the t-th from the end.
            count = index.ceil_div(index.sub(end, start), index.constant(size))
            trips = (index.constant(0), count, 1)
            result, body = nests.loop_between(op, trips, scope, carried, hints)
            trip = result.body.block.args[0]
            trip.name_hint = "trip"
            left = body.index.sub(body.index.sub(count, body.index.constant(1)), trip)
            hint = f"{op.label_name}_start"
            first = body.index.mul(left, body.index.constant(size), hint)
            if op.origin is not None:
                first = body.index.add(start, first, hint)
        else:
            result, body = nests.loop_between(op, trips, scope, carried, hints)
            first = result.body.block.args[0]
        self.before.update(zip(prefixes, result.body.block.args[1:]))
        if any(inner.factor is not None for inner in prefixes):
            trip = result.body.block.args[0]
            is_first = body.builder.insert(arith.CmpiOp(trip, trips[0], "eq")).result
            self.is_first.update((inner, is_first) for inner in prefixes)
        nests.step(op, first, body)
        body.builder.insert(scf.YieldOp(*(self.after[inner] for inner in prefixes)))
        for inner in prefixes:
            self.before.pop(inner)

    def _last(self, op: loop.PrefixOp, value: SSAValue, scope: Scope) -> SSAValue:
        """Inserts the combination of all elements of a tile, which stands at its last one.

        Elements behind the end of the label are neutral, so that it stands there, too.
        """
        nests, kind, index = self.nests, op.kind.data, scope.index
        place = nests.starts[op.loop]
        if op.descending is None:
            place = index.add(place, index.constant(op.loop.step_size - 1))
        neutral = scope.values.constant(identity(kind, op.result.type))
        alone = scope.values.elementwise(
            [nests.env[op.loop.iv], place, value, neutral], where_equal
        )
        own = nests.axes.loops[op.loop].name
        return scope.builder.insert(tile.ReduceOp(kind, alone, own)).result

    def _axes(self, op: loop.PrefixOp) -> list[Axis]:
        """Returns the axes of what is carried."""
        axes = self.nests.axes
        return axes.axes(axes.of(op.result) - {op.loop})

    def _spread(self, op: loop.PrefixOp, value: SSAValue, scope: Scope) -> SSAValue:
        """Inserts an element with all axes of the combinations, that of the loop among them."""
        nests, values = self.nests, scope.values
        if nests.axes.loops[op.loop] not in axes_of(value.type):
            value = values.elementwise([nests.env[op.loop.iv], value], lambda b, v: v[1])
        return values.broadcast(value, nests.axes.axes(nests.axes.of(op.result)))

    def _multiplied(
        self, op: loop.PrefixOp, before: SSAValue, factor: SSAValue | None, scope: Scope
    ) -> SSAValue:
        """Inserts the sum of the trips before times a factor, or 0 in the first trip."""
        if factor is None:
            return before
        values = scope.values
        zero = values.constant(identity(op.kind.data, op.result.type))

        def build(builder: Builder, v: list[SSAValue]) -> SSAValue:
            product = product_of(builder, v[1], v[2], op.result.type)
            return builder.insert(arith.SelectOp(v[0], v[3], product)).result

        return values.elementwise([self.is_first[op], before, factor, zero], build)

    def step(self, op: loop.PrefixOp, scope: Scope) -> None:
        """Inserts the combinations up to each element of a tile.

        Args:
            op: the combination.
            scope: the body of the loop, or where its only trip is.
        """
        nests, kind, values = self.nests, op.kind.data, scope.values
        value, around = nests.env[op.value], op.loop
        before = self.before.get(op)
        carried = self._axes(op)
        if not around.is_tile:
            value = values.broadcast(value, carried)
            if before is not None:
                factor = None if op.factor is None else nests.env[op.factor]
                before = self._multiplied(op, before, factor, scope)
                value = values.elementwise(
                    [before, value], lambda b, v: combine(b, kind, v[0], v[1])
                )
            self.after[op] = value
        else:
            own = nests.axes.loops[around]
            value = self._spread(op, value, scope)
            alone, operand = len(axes_of(value.type)) == 1 and op.factor is None, value
            factor = None if op.factor is None else self._spread(op, nests.env[op.factor], scope)
            scan = tile.ScanOp(kind, value, own.name, op.descending is not None, factor)
            scanned = scope.builder.insert(scan).result
            if before is None:
                nests.env[op.result] = self.after[op] = scanned
                return
            before = self._multiplied(op, before, scan.products, scope)
            value = values.elementwise(
                [before, scanned], lambda b, v: combine(b, kind, v[0], v[1])
            )
            if alone:
                total = scope.builder.insert(tile.ReduceOp(kind, operand, own.name)).result
                total = values.elementwise(
                    [before, total], lambda b, v: combine(b, kind, v[0], v[1])
                )
            else:
                # Triton 3.6 and 3.7 fail on a sum along one axis of several that is added to what
                # a loop carries, if something else uses that too.
                total = self._last(op, value, scope)
            self.after[op] = total
        nests.env[op.result] = value

