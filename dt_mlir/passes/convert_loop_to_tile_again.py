"""Sums of the `tile` level that are computed again, where those by dots are not finite.

A factor that is not finite reaches sums by dots from which a domain excludes it. Where warps are
specialized no tile can be loaded again, as other warps have copied it. Elements can: behind the
loop, each sum that is not finite is computed anew, one element after the other. What a running sum
is repaired by is known by then, so that an element is added as it counts in the end. The computed
factors of a step are a tile, whose own reductions take their elements one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from dt_mlir.builders.reductions import combine, product_of
from dt_mlir.builders.scope import Scope
from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.tile.types import Axis
from dt_mlir.passes.convert_loop_to_tile_products import (
    Nests,
    Products,
    not_finite,
)


def can_sum_again(op: loop.OnlineOp) -> bool:
    """Returns whether an element of a loop's sums can be computed by itself, behind the loop."""
    return all(map(_is_known, op.body.block.ops))


def _is_known(op: Operation) -> bool:
    match op:
        case loop.RunningOp():
            # What others depend on has to be exact before they are.
            last = all(isinstance(use.operation, loop.YieldOp) for use in op.results[0].uses)
            return not op.kind.data.is_arg and (last or not op.is_dot)
        case loop.ReduceOp():
            plain = op.domain is None and not op.named_kind.is_arg
            return plain and all(map(_is_known, op.body.block.ops))
        case loop.ReadOp():
            # What a kernel holds is held for the elements of a tile.
            return isinstance(op.base, BlockArgument)
        case loop.YieldOp():
            return True
        case _:
            return not op.regions and is_side_effect_free(op)


class SumsAgain:
    """Sums that are computed again behind their loop.

    Args:
        nests: the lowering of loops.
        products: that of products.
        op: the loop.
    """

    def __init__(self, nests: Nests, products: Products, op: loop.OnlineOp) -> None:
        self.nests, self.products, self.op = nests, products, op

    def insert(
        self, found: Sequence[SSAValue], places: Sequence[int], scope: Scope
    ) -> list[SSAValue]:
        """Inserts a loop over steps, which makes no trip where all sums are finite.

        Args:
            found: the running values behind the loop.
            places: the places of the sums by dots among them.
            scope: where it goes.

        Returns:
            The running values, exact ones in the places of these sums.
        """
        nests, op, values = self.nests, self.op, scope.values
        bad: SSAValue | None = None
        for place in places:
            other = not_finite(scope, found[place], apart=True)
            bad = other if bad is None else scope.builder.insert(arith.OrIOp(bad, other)).result
        assert bad is not None
        start, end = nests.bounds(op, scope)
        last = scope.builder.insert(arith.SelectOp(bad, end, start)).result
        for value, final in zip(op.yielded, found):
            nests.env[value] = final
        sums = [_running(op.yielded[place]) for place in places]
        zeros = [
            values.fill(identity(ReductionKind.DOT, item.result.type), self._axes(item.result))
            for item in sums
        ]
        first = [
            values.elementwise(
                [bad, zero, found[place]], lambda b, v: b.insert(arith.SelectOp(*v)).result
            )
            for zero, place in zip(zeros, places)
        ]
        steps = (start, last, op.step_size)
        result, inner = nests.loop_between(op, steps, scope, first, ["exact"] * len(first))
        index, *carried = result.body.block.args
        nests.enter(op, index, inner)
        self._block(op.body.block, inner)
        inner.builder.insert(scf.YieldOp(*(
            self.products.add_elements(item, self._axes(item.result), inner, before)
            for item, before in zip(sums, carried)
        )))  # fmt: skip
        exact = dict(zip(places, result.results))
        return [exact.get(place, value) for place, value in enumerate(found)]

    def _axes(self, value: SSAValue) -> list[Axis]:
        axes = self.nests.axes
        return axes.axes(axes.of(value))

    def _block(self, block: Block, scope: Scope) -> None:
        """Inserts what a block computes; running values are the last ones.

        Factors that are read as they are need no tile: their elements are read.
        """
        for op in block.ops:
            match op:
                case loop.RunningOp() | loop.YieldOp():
                    pass
                case loop.ReadOp() if all(
                    isinstance(use.operation, loop.RunningOp) for use in op.result.uses
                ):
                    pass
                case loop.ReduceOp():
                    self._reduce(op, scope)
                case _:
                    self.nests.lower(op, scope)

    def _reduce(self, op: loop.ReduceOp, scope: Scope) -> None:
        """Inserts a reduction, by elements too: a tile of them would be one that was copied."""
        nests = self.nests
        kind = op.named_kind
        zero = scope.values.fill(identity(kind, op.result.type), self._axes(op.result))
        bounds = (*nests.bounds(op, scope), 1)
        result, inner = nests.loop_between(op, bounds, scope, [zero], ["acc"])
        index, before = result.body.block.args
        nests.env[op.iv] = index
        self._block(op.body.block, inner)
        factors = [nests.env[value] for value in op.yielded]
        term = factors[0]
        if kind is ReductionKind.DOT:
            term = inner.values.elementwise(
                factors, lambda b, v: product_of(b, v[0], v[1], op.result.type)
            )
            kind = ReductionKind.ADD
        term = inner.values.broadcast(term, self._axes(op.result))
        total = inner.values.elementwise(
            [before, term], lambda b, v: combine(b, kind, v[0], v[1])
        )
        inner.builder.insert(scf.YieldOp(total))
        nests.env[op.result] = result.results[0]


def _running(value: SSAValue) -> loop.RunningOp:
    assert isinstance(value.owner, loop.RunningOp)
    return value.owner
