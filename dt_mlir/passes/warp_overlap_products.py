"""`warp-overlap-products`: lets the product of a trip begin before that of the last one has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.builders.constants import raise_constants
from dt_mlir.builders.index import IndexBuilder
from dt_mlir.dialects import warp
from dt_mlir.traversal import operations_of


@dataclass
class _Product:
    """A product that is summed up in a loop."""

    wait: warp.MmaWaitOp
    position: int
    """The place of the sum among what the loop carries."""
    releases: list[warp.MBarrierArriveOp]
    """The stages that are released behind it, before the next one begins."""


@dataclass
class _Stage:
    """A stage of a ring that is released."""

    barriers: SSAValue
    counter: BlockArgument
    """The number of the trip, which the loop carries: the stage is that modulo the depth."""
    depth: int


def _products(loop: scf.ForOp) -> list[_Product]:
    """Returns the products of a loop's trip; none where it computes anything else of their sums."""
    body = list(loop.body.block.ops)
    found: list[_Product] = []
    for op in body:
        if isinstance(op, warp.MmaOp):
            product = _summed(op, loop)
            if product is None or body.index(product.wait) < body.index(op):
                return []
            found.append(product)
        elif isinstance(op, warp.MmaWaitOp) and (not found or op is not found[-1].wait):
            return []
        elif isinstance(op, warp.MBarrierArriveOp):
            if not found or body.index(op) < body.index(found[-1].wait):
                return []
            found[-1].releases.append(op)
        elif any(operations_of(op, warp.MmaOp, warp.MBarrierArriveOp)):
            return []
    return found


def _summed(op: warp.MmaOp, loop: scf.ForOp) -> _Product | None:
    """Returns a product whose sum is used by the product of the next trip alone; None for another.
    """
    uses, last = list(op.result.uses), loop.body.block.last_op
    wait = uses[0].operation if len(uses) == 1 else None
    if not isinstance(wait, warp.MmaWaitOp) or wait.pending.value.data or len(wait.values) != 1:
        return None
    users = [use.operation for use in wait.sums[0].uses]
    if users != [last] or wait.parent is not loop.body.block:
        return None
    assert isinstance(last, scf.YieldOp)
    position = list(last.operands).index(wait.sums[0])
    carried = loop.body.block.args[1 + position]
    lone = op.acc is carried and len(list(carried.uses)) == 1
    return _Product(wait, position, []) if lone else None


def _stage(arrive: warp.MBarrierArriveOp, loop: scf.ForOp) -> _Stage | None:
    """Returns the stage that is released; None if it cannot be released a trip later."""
    stage, barriers = arrive.index.owner, arrive.barriers.type
    assert isinstance(barriers, warp.BarrierType)
    if not isinstance(stage, arith.RemSIOp) or stage.lhs not in loop.body.block.args[1:]:
        return None
    # The only stage must be released in its own trip, or nothing fills it for the next one.
    depth = barriers.depth.data
    assert isinstance(stage.lhs, BlockArgument)
    return _Stage(arrive.barriers, stage.lhs, depth) if depth > 1 else None


def _overlap(loop: scf.ForOp) -> None:
    """Lets the products of a loop overlap, if that is possible."""
    products = _products(loop)
    if not products or not products[-1].releases:
        return
    stages = [_stage(arrive, loop) for arrive in products[-1].releases]
    known = [stage for stage in stages if stage is not None]
    if len(known) < len(stages):
        return
    # In the loop: a product may be under way until the next one is.
    for product in products:
        overlapping = warp.MmaWaitOp(list(product.wait.values), 1)
        overlapping.location = product.wait.location
        Rewriter.replace_op(product.wait, overlapping)
        product.wait = overlapping
    for product, following in zip(products, products[1:]):
        place: Operation = following.wait
        for arrive in product.releases:
            arrive.detach()
            Rewriter.insert_op(arrive, InsertPoint.after(place))
            place = arrive
    for arrive in products[-1].releases:
        Rewriter.erase_op(arrive)
    index = IndexBuilder(Builder(InsertPoint.after(products[0].wait)))
    later = index.builder.insert(arith.CmpiOp(loop.body.block.args[0], loop.lb, "sgt")).result
    _release(later, known, [stage.counter for stage in known], index)
    # Behind it: the last products end, and their stages are released, if there were any.
    behind = IndexBuilder(Builder(InsertPoint.after(loop)))
    for product in products:
        _end(loop.results[product.position], product.wait, behind.builder)
    some = behind.builder.insert(arith.CmpiOp(loop.ub, loop.lb, "sgt")).result
    _release(some, known, [loop.results[s.counter.index - 1] for s in known], behind)


def _end(result: SSAValue, wait: warp.MmaWaitOp, builder: Builder) -> None:
    """Waits for the last product of a sum before that is used."""
    uses = list(result.uses)
    ended = builder.insert(warp.MmaWaitOp([result]))
    ended.location = wait.location
    ended.sums[0].name_hint = result.name_hint
    for use in uses:
        use.operation.operands[use.index] = ended.sums[0]


def _release(
    condition: SSAValue, stages: Sequence[_Stage], counters: Iterable[SSAValue], index: IndexBuilder
) -> None:
    """Releases the stages of the trip before, if there was one.

    Args:
        condition: whether there was.
        stages: the stages.
        counters: the number of the trip, for each.
        index: where it is done.
    """
    numbers: dict[tuple[SSAValue, int], SSAValue] = {}
    arrives: list[Operation] = []
    for stage, counter in zip(stages, counters):
        known = counter, stage.depth
        if known not in numbers:
            moved = index.add(counter, index.constant(stage.depth - 1))
            numbers[known] = index.rem(moved, index.constant(stage.depth), "previous")
        arrives.append(warp.MBarrierArriveOp(stage.barriers, numbers[known]))
    index.builder.insert(scf.IfOp(condition, [], Region(Block([*arrives, scf.YieldOp()]))))


@dataclass(frozen=True)
class WarpOverlapProductsPass(ModulePass):
    """Lets the product of a trip begin before that of the last one has ended.

    The tensor cores then never wait for barriers. A stage is released when the next product has
    begun and it is sure that its own has ended: that of a trip's last product one trip later, and
    the last one behind the loop. It applies to loops that do nothing with sums but to add products
    to them, one or several in a trip. Rings of one stage stay as they are: that stage is needed in
    the next trip.

    ```
    scf.for … {                                  scf.for … {
      %q = warp.mma %a, %b acc %acc                %q = warp.mma %a, %b acc %acc
      %p = warp.mma_wait 0 for [%q]                %p = warp.mma_wait 1 for [%q]
      warp.mbarrier_arrive %empty[%stage]   ->     scf.if … warp.mbarrier_arrive %empty[%previous]
    }                                            }
                                                 %s = warp.mma_wait 0 for [%sum]
                                                 scf.if … warp.mbarrier_arrive %empty[%previous]
    ```
    """

    name = "warp-overlap-products"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if not isinstance(kernel, warp.KernelOp):
                continue
            for loop in operations_of(kernel, scf.ForOp):
                _overlap(loop)
            raise_constants(kernel.specialize)
