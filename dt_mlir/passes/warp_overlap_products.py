"""`warp-overlap-products`: lets the product of a trip begin before that of the last one has ended.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.builders.constants import raise_constants
from dt_mlir.builders.index import IndexBuilder
from dt_mlir.dialects import warp
from dt_mlir.traversal import operations_of


@dataclass
class _Release:
    """A stage that is released as soon as its product has ended."""

    wait: warp.MmaWaitOp
    arrive: warp.MBarrierArriveOp
    loop: scf.ForOp
    position: int
    """The place of the sum among what the loop carries."""


def _release(wait: warp.MmaWaitOp) -> _Release | None:
    """Returns the release behind a product that is summed up in a loop; None if it is another."""
    loop, following = wait.parent_op(), wait.next_op
    if wait.pending.value.data or len(wait.values) != 1 or not isinstance(loop, scf.ForOp):
        return None
    product, last = wait.values[0].owner, loop.body.block.last_op
    if not isinstance(product, warp.MmaOp) or not isinstance(last, scf.YieldOp):
        return None
    if not isinstance(following, warp.MBarrierArriveOp) or wait.sums[0] not in last.operands:
        return None
    stage = following.index.owner
    # A stage is the number of the trip, which the loop carries, modulo the depth of the ring.
    if not isinstance(stage, arith.RemSIOp) or stage.lhs not in loop.body.block.args[1:]:
        return None
    barriers = following.barriers.type
    assert isinstance(barriers, warp.BarrierType)
    if barriers.depth.data < 2:
        # The only stage must be released in its own trip, or nothing fills it for the next one.
        return None
    position = list(last.operands).index(wait.sums[0])
    carried = loop.body.block.args[1 + position]
    # The sum is used by the next product alone.
    lone = product.acc is carried and len(list(carried.uses)) == 1
    if not lone or len(list(wait.sums[0].uses)) != 1:
        return None
    return _Release(wait, following, loop, position)


def _overlap(found: _Release) -> None:
    wait, arrive, loop = found.wait, found.arrive, found.loop
    type = arrive.barriers.type
    stage = arrive.index.owner
    assert isinstance(type, warp.BarrierType)
    assert isinstance(stage, arith.RemSIOp), "stages are numbers of trips, modulo their depth"
    depth, last = type.depth.data, loop.body.block.last_op
    assert isinstance(last, scf.YieldOp)
    # In the loop: the product of the trip may be under way, and the stage before is released.
    overlapping = warp.MmaWaitOp(list(wait.values), 1)
    overlapping.location = wait.location
    Rewriter.replace_op(wait, overlapping)
    index = IndexBuilder(Builder(InsertPoint.before(arrive)))
    later = index.builder.insert(arith.CmpiOp(loop.body.block.args[0], loop.lb, "sgt")).result
    before = _previous(stage.lhs, depth, index)
    _release_if(later, arrive.barriers, before, index.builder)
    Rewriter.erase_op(arrive)
    # Behind it: the last product ends, and its stage is released, if there was one.
    behind = IndexBuilder(Builder(InsertPoint.after(loop)))
    result = loop.results[found.position]
    uses = list(result.uses)
    ended = behind.builder.insert(warp.MmaWaitOp([result]))
    ended.location = wait.location
    ended.sums[0].name_hint = result.name_hint
    for use in uses:
        use.operation.operands[use.index] = ended.sums[0]
    counter = _counter_behind(loop, stage.lhs)
    some = behind.builder.insert(arith.CmpiOp(loop.ub, loop.lb, "sgt")).result
    previous = _previous(counter, depth, behind)
    _release_if(some, arrive.barriers, previous, behind.builder)


def _previous(counter: SSAValue, depth: int, index: IndexBuilder) -> SSAValue:
    """The stage of the trip before."""
    moved = index.add(counter, index.constant(depth - 1))
    return index.rem(moved, index.constant(depth), "previous")


def _release_if(
    condition: SSAValue, barriers: SSAValue, stage: SSAValue, builder: Builder
) -> None:
    arrive = warp.MBarrierArriveOp(barriers, stage)
    branch = scf.IfOp(condition, [], Region(Block([arrive, scf.YieldOp()])))
    builder.insert(branch)


def _counter_behind(loop: scf.ForOp, counter: SSAValue) -> SSAValue:
    """The number of trips behind a loop that carries it."""
    place = list(loop.body.block.args).index(counter)  # pyright: ignore[reportArgumentType]
    return loop.results[place - 1]


@dataclass(frozen=True)
class WarpOverlapProductsPass(ModulePass):
    """Lets the product of a trip begin before that of the last one has ended.

    The tensor cores then never wait for barriers. A stage is released one trip later, when it is
    sure that its product has ended, and the last one behind the loop. Rings of one stage stay as
    they are: that stage is needed in the next trip.

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
            for wait in operations_of(kernel, warp.MmaWaitOp):
                found = _release(wait)
                if found is not None:
                    _overlap(found)
            raise_constants(kernel.specialize)
