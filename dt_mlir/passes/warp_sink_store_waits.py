"""`warp-sink-store-waits`: waits for copies to tensors where their buffers are needed again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.dialects import warp
from dt_mlir.traversal import operations_of


def _sink(partition: warp.PartitionOp) -> None:
    """Moves the waits of a partition in front of its stores to buffers, and to its end."""
    waits = operations_of(partition, warp.TmaStoreWaitOp)
    stores = operations_of(partition, warp.LocalStoreOp)
    copies = operations_of(partition, warp.TmaStoreOp)
    # A copy is waited for where it was made, in the only loop in which anything is stored.
    blocks = {op.parent for op in (*waits, *stores, *copies)}
    if not stores or len(blocks) != 1 or not all(wait.pending.value.data == 0 for wait in waits):
        return
    block = next(iter(blocks))
    assert isinstance(block, Block)
    places = {op: place for place, op in enumerate(block.ops)}
    repeats = isinstance(block.parent_op(), scf.ForOp)
    needed = {store: _pending(store, copies, places, repeats) for store in stores}
    for wait in waits:
        Rewriter.erase_op(wait)
    for store, pending in needed.items():
        if pending is not None:
            again = warp.TmaStoreWaitOp(pending)
            again.location = store.location
            Rewriter.insert_op(again, InsertPoint.before(store))
    last = warp.TmaStoreWaitOp()
    last.location = stores[0].location
    Rewriter.insert_op(last, InsertPoint.at_end(partition.body.block))


def _pending(
    store: warp.LocalStoreOp, copies: Sequence[warp.TmaStoreOp], places: Mapping[Operation, int],
    repeats: bool,
) -> int | None:  # fmt: skip
    """Returns how many copies may be under way at a store; None if it need not wait for any.

    Args:
        store: a store to a buffer.
        copies: the copies of its block, in their order.
        places: the place of each operation in the block.
        repeats: whether the block is a loop's.
    """
    before = sum(places[copy] < places[store] for copy in copies)
    # Those of this trip, the last one first, and then those of the trip before.
    earlier = [*reversed(copies[:before]), *(reversed(copies) if repeats else ())]
    for count, copy in enumerate(earlier):
        if _may_be_same(copy.buffer, store.buffer):
            return count
    return None


def _may_be_same(a: SSAValue, b: SSAValue) -> bool:
    """Returns whether two values may be one buffer."""
    one, other = a.owner, b.owner
    if a is b or not isinstance(one, warp.IndexOp) or not isinstance(other, warp.IndexOp):
        return True
    if one.ring is not other.ring:
        return False
    (base, number), (base_of_other, number_of_other) = _number(one.index), _number(other.index)
    return base is not base_of_other or number == number_of_other


def _number(index: SSAValue) -> tuple[SSAValue | None, int]:
    """Returns an index as a value, if there is one, and a number that is added to it."""
    known = constant_index(index)
    if known is not None:
        return None, known
    if isinstance(index.owner, arith.AddiOp):
        added = constant_index(index.owner.rhs)
        if added is not None:
            return index.owner.lhs, added
    return index, 0


@dataclass(frozen=True)
class WarpSinkStoreWaitsPass(ModulePass):
    """Waits for copies to tensors only where their buffers are needed again.

    A result is on its way to its tensor while the products of the next block are made. In front of
    a store to a buffer the group waits for the last copy of that buffer, while later ones go on;
    before it ends it waits for all.

    ```
    scf.for … {                           scf.for … {
      warp.local_store %v to %c             warp.tma_store_wait 0
      warp.tma_store %c to …         ->     warp.local_store %v to %c
      warp.tma_store_wait 0                 warp.tma_store %c to …
    }                                     }
                                          warp.tma_store_wait 0
    ```
    """

    name = "warp-sink-store-waits"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, warp.KernelOp):
                for partition in kernel.specialize.partitions:
                    if operations_of(partition, warp.TmaStoreOp):
                        _sink(partition)
