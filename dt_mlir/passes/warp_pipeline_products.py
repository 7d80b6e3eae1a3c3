"""`warp-pipeline-products`: lets the last product of a trip run beside the first of the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.analysis.label_sizes import label_classes
from dt_mlir.builders.constants import raise_constants
from dt_mlir.builders.dead_code import remove_dead
from dt_mlir.builders.index import IndexBuilder
from dt_mlir.dialects import tile, warp
from dt_mlir.dialects.tile.types import TileType
from dt_mlir.traversal import captured_by, operations_of


@dataclass
class _Late:
    """A product at the end of a trip, and what belongs to it."""

    loop: scf.ForOp
    product: warp.MmaOp
    wait: warp.MmaWaitOp
    arrive: warp.MBarrierArriveOp
    ready: warp.MBarrierWaitOp
    """The wait for its factor in shared memory."""
    early: warp.MmaOp
    """The first product of a trip."""
    early_wait: warp.MmaWaitOp
    position: int
    """The place of its sum among what the loop carries."""
    scaling: list[Operation] = field(default_factory=list[Operation])
    """The operations by which a trip scales the sum before the product is added."""
    places: list[Operation] = field(default_factory=list[Operation])
    """The operations that compute its stage and its phase, in order."""
    numbers: list[SSAValue] = field(default_factory=list[SSAValue])
    """The numbers of the trip that these are computed from."""

    @property
    def own(self) -> set[Operation]:
        """The operations that move to the next trip."""
        return {self.product, self.wait, self.arrive, self.ready}


def _lone_wait(product: warp.MmaOp) -> warp.MmaWaitOp | None:
    """Returns the wait for a product, which is all that uses it; None if there is none."""
    uses = list(product.result.uses)
    wait = uses[0].operation if len(uses) == 1 else None
    if not isinstance(wait, warp.MmaWaitOp) or wait.pending.value.data or len(wait.values) != 1:
        return None
    return wait if wait.parent is product.parent else None


def _late(loop: scf.ForOp) -> _Late | None:
    """Returns the product of a loop that may move to the next trip; None if there is none."""
    body = list(loop.body.block.ops)
    products = [op for op in body if isinstance(op, warp.MmaOp)]
    if len(products) != 2:
        return None
    early, product = products
    early_wait, wait = map(_lone_wait, products)
    if early_wait is None or wait is None or not isinstance(product.lhs.type, TileType):
        return None
    if body.index(early_wait) > body.index(product):
        return None
    waits = [op for op in body[: body.index(product)] if isinstance(op, warp.MBarrierWaitOp)]
    last, arrive = body[-1], wait.next_op
    behind = waits and body.index(waits[-1]) > body.index(early_wait)
    if not behind or not isinstance(arrive, warp.MBarrierArriveOp):
        return None
    assert isinstance(last, scf.YieldOp)
    uses = [use.operation for use in wait.sums[0].uses]
    if uses != [last]:
        return None
    position = list(last.operands).index(wait.sums[0])
    found = _Late(
        loop, product, wait, arrive, waits[-1], early, early_wait, position
    )
    return found if _has_parts(found, body) else None


def _has_parts(late: _Late, body: list[Operation]) -> bool:
    """Finds what scales the sum, and what the stage is computed from; returns whether it can move.
    """
    args = late.loop.body.block.args
    depending: set[SSAValue] = {args[1 + late.position]}
    for op in body:
        if op in late.own or isinstance(op, scf.YieldOp):
            continue
        if any(value in depending for value in (*op.operands, *captured_by(op))):
            if not is_side_effect_free(op):
                return False
            depending.update(op.results)
            late.scaling.append(op)
    acc, last = late.product.acc, body[-1]
    if acc is None or acc not in depending or late.product.lhs in depending:
        return False
    if any(value in depending for value in last.operands):
        return False
    needed = {*late.ready.operands, *late.arrive.operands, late.product.rhs}
    for op in reversed(body):
        if any(result in needed for result in op.results):
            if not is_side_effect_free(op):
                return False
            late.places.insert(0, op)
            needed.update(op.operands)
    late.numbers = [arg for arg in args if arg in needed]
    return not depending & needed


class _Copies:
    """Inserts copies of operations on other values.

    Args:
        builder: where they go.
        values: what stands for the values that they use.
    """

    def __init__(self, builder: Builder, values: Mapping[SSAValue, SSAValue]) -> None:
        self.builder, self.values = builder, dict(values)

    def copy(self, ops: Iterable[Operation]) -> None:
        """Inserts copies."""
        for op in ops:
            new = self.builder.insert(op.clone(self.values))
            new.location = op.location
            for old, result in zip(op.results, new.results):
                result.name_hint = old.name_hint

    def of(self, value: SSAValue) -> SSAValue:
        """Returns what stands for a value."""
        return self.values.get(value, value)


def _pipeline(late: _Late) -> None:
    loop, index = late.loop, IndexBuilder(Builder(InsertPoint.before(late.loop)))
    iv, *carried = loop.body.block.args
    last = loop.body.block.last_op
    assert isinstance(last, scf.YieldOp)
    acc = late.product.acc
    assert acc is not None
    rest = [op for op in loop.body.block.ops if op not in late.own and op is not last]
    kept = [n for n in range(len(carried)) if n != late.position]

    def handed(copies: _Copies) -> list[SSAValue]:
        """Returns what a trip hands to the next: what it yields, and the product that is left."""
        values = [last.operands[n] for n in kept] + [late.product.lhs, acc]
        return [copies.of(value) for value in (*values, *late.numbers)]

    # The first trip, but for its last product.
    first = _Copies(index.builder, {iv: loop.lb, **dict(zip(carried, loop.iter_args))})
    first.copy(rest)
    inits = handed(first)
    start = index.add(loop.lb, loop.step)
    body = Block(arg_types=[iv.type, *(value.type for value in inits)])
    names = [iv, *(carried[n] for n in kept), late.product.lhs, acc, *late.numbers]
    for arg, value in zip(body.args, names):
        arg.name_hint = value.name_hint
    trip = _Copies(Builder(InsertPoint.at_end(body)), {
        iv: body.args[0], **dict(zip((carried[n] for n in kept), body.args[1:])),
    })  # fmt: skip
    left, before = body.args[1 + len(kept) :], None
    for op in rest:
        if op in late.scaling:
            continue
        trip.copy([op])
        if op is late.early:
            before = _begin(late, trip.builder, left)
        elif op is late.early_wait:
            # The product of the trip before is under way, and was begun behind this one.
            wait = trip.of(op.results[0]).owner
            assert isinstance(wait, warp.MmaWaitOp)
            wait.pending = IntegerAttr(1, i64)
    assert before is not None
    trip.values[carried[late.position]] = _end(late, before)
    trip.copy(late.scaling)
    yielded = scf.YieldOp(*handed(trip))
    yielded.location = last.location
    body.add_op(yielded)
    new = scf.ForOp(start, loop.ub, loop.step, inits, Region(body))
    new.location = loop.location
    Rewriter.insert_op(new, InsertPoint.before(loop))
    # The last product.
    end = Builder(InsertPoint.before(loop))
    total = _end(late, _begin(late, end, new.results[len(kept) :]))
    for n, result in zip(kept, new.results):
        result.name_hint = loop.results[n].name_hint
        loop.results[n].replace_all_uses_with(result)
    total.name_hint = loop.results[late.position].name_hint
    loop.results[late.position].replace_all_uses_with(total)
    Rewriter.erase_op(loop)


def _begin(late: _Late, builder: Builder, left: Iterable[SSAValue]) -> _Copies:
    """Begins the product that the trip before has left."""
    lhs, acc, *numbers = left
    assert late.product.acc is not None
    values = {late.product.lhs: lhs, late.product.acc: acc, **dict(zip(late.numbers, numbers))}
    copies = _Copies(builder, values)
    copies.copy([*late.places, late.ready, late.product])
    return copies


def _end(late: _Late, begun: _Copies) -> SSAValue:
    """Waits for a product that was begun, and releases what it has read; returns the sum."""
    begun.copy([late.wait, late.arrive])
    return begun.of(late.wait.sums[0])


def _makes_a_trip(loop: scf.ForOp, kernel: warp.KernelOp, same: dict[str, str]) -> bool:
    """Returns whether a loop makes a trip at least, as tensors that are copied have elements."""
    first, last = constant_index(loop.lb), constant_index(loop.ub)
    if first is not None and last is not None:
        return first < last
    size = loop.ub.owner
    if first != 0 or not isinstance(size, tile.SizeOp):
        return False
    described = {
        same.get(label, label)
        for op in operations_of(kernel, warp.TmaDescriptorOp)
        for label in kernel.axes_of(op.tensor)
    }
    return same.get(size.label.data, size.label.data) in described


def _guard(loop: scf.ForOp) -> None:
    """Puts a loop into a branch that is taken if it makes a trip."""
    builder = Builder(InsertPoint.before(loop))
    condition = builder.insert(arith.CmpiOp(loop.lb, loop.ub, "slt"))
    body = Block()
    types = [result.type for result in loop.results]
    otherwise = Block([scf.YieldOp(*loop.iter_args)])
    branch = scf.IfOp(condition.result, types, Region(body), Region(otherwise))
    builder.insert(branch)
    for old, new in zip(loop.results, branch.results):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    loop.detach()
    body.add_ops([loop, scf.YieldOp(*loop.results)])
    for op in (condition, branch, *body.ops, *otherwise.ops):
        if op is not loop:
            op.location = loop.location


@dataclass(frozen=True)
class WarpPipelineProductsPass(ModulePass):
    """Lets the last product of a trip run beside the first of the next one.

    Where a first factor is computed from another product, as the weights of attention are from
    scores, the tensor cores would wait while it is computed. So a trip begins the product of the
    scores, and then that of the weights of the trip before; the weights of its own are computed
    while the latter is under way. The first trip stands in front of the loop, and the last product
    behind it, in a branch if the loop may make no trip. It applies to loops with two products in a
    trip.

    ```
                                            %s0 = warp.mma %q, %k0  …  %p0
    scf.for … iter_args(%acc) {             scf.for … iter_args(%p, %acc) {
      %s = warp.mma %q, %k                    %s = warp.mma %q, %k
      warp.mma_wait 0 for [%s]                %o = warp.mma %p, %v_before acc %acc
      …                                ->     warp.mma_wait 1 for [%s]
      %o = warp.mma %p, %v acc %scaled        …
      warp.mma_wait 0 for [%o]                warp.mma_wait 0 for [%o]
    }                                       }
                                            %o = warp.mma %p_last, %v_last acc %acc_last
    ```
    """

    name = "warp-pipeline-products"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        same = label_classes(op)
        for kernel in op.ops:
            if not isinstance(kernel, warp.KernelOp):
                continue
            for loop in operations_of(kernel, scf.ForOp):
                late = _late(loop)
                if late is None:
                    continue
                if not _makes_a_trip(loop, kernel, same):
                    _guard(loop)
                _pipeline(late)
            remove_dead(kernel)
            raise_constants(kernel.specialize)
