"""`warp-hoist-reductions`: reduces tiles in front of products that do not need them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import is_side_effect_free

from dt_mlir.dialects import tile, warp
from dt_mlir.traversal import captured_by, operations_of


def _hoist(block: Block) -> None:
    """Moves the reductions of a block in front of the products that they stand behind."""
    for product in [op for op in block.ops if isinstance(op, warp.MmaOp)]:
        behind: list[Operation] = []
        op = product.next_op
        while op is not None:
            behind.append(op)
            op = op.next_op
        moved: dict[Operation, None] = {}
        for op in behind:
            if isinstance(op, tile.ReduceOp):
                needed = _needed(op, behind)
                moved.update(dict.fromkeys(needed or ()))
        for op in behind:
            if op in moved:
                op.detach()
                block.insert_op_before(op, product)


def _needed(op: Operation, behind: list[Operation]) -> list[Operation] | None:
    """Returns what must move with an operation; None if it needs what stays, as waits do."""
    found = {op}
    needed: set[SSAValue] = {*op.operands, *captured_by(op)}
    for other in reversed(behind[: behind.index(op)]):
        if needed.isdisjoint(other.results):
            continue
        if not is_side_effect_free(other) or isinstance(other, warp.MmaWaitOp):
            return None
        found.add(other)
        needed.update((*other.operands, *captured_by(other)))
    return [other for other in behind if other in found]


@dataclass(frozen=True)
class WarpHoistReductionsPass(ModulePass):
    """Reduces tiles in front of products that do not need them.

    A tile that is reduced behind a product takes its registers while the product is waited for, as
    the weights of attention do, whose sums nothing else needs.

    ```
    %o = warp.mma %p, %v acc %scaled           %l = tile.reduce add %weights along j
    warp.mma_wait 0 for [%o]              ->   %o = warp.mma %p, %v acc %scaled
    %l = tile.reduce add %weights along j      warp.mma_wait 0 for [%o]
    ```
    """

    name = "warp-hoist-reductions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, warp.KernelOp):
                blocks = {product.parent for product in operations_of(kernel, warp.MmaOp)}
                for block in blocks:
                    assert block is not None
                    _hoist(block)
