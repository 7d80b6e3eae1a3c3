"""`warp-sink-store-waits`: waits for copies to tensors where their buffers are needed again."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

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
    first = stores[0]
    for wait in waits:
        Rewriter.erase_op(wait)
    if isinstance(block.parent_op(), scf.ForOp):
        again = warp.TmaStoreWaitOp()
        again.location = first.location
        Rewriter.insert_op(again, InsertPoint.before(first))
    last = warp.TmaStoreWaitOp()
    last.location = first.location
    Rewriter.insert_op(last, InsertPoint.at_end(partition.body.block))


@dataclass(frozen=True)
class WarpSinkStoreWaitsPass(ModulePass):
    """Waits for copies to tensors only where their buffers are needed again.

    A result is on its way to its tensor while the products of the next block are made. The group
    waits in front of the next store to shared memory, and before it ends.

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
