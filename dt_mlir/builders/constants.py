"""Constants of regions, moved in front of them."""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.dialects import tile
from dt_mlir.traversal import operations


def raise_constants(op: Operation) -> None:
    """Moves the constants in an operation to the block around it, each once.

    Those of the block itself, in front of the operation, serve as well.

    Args:
        op: the operation; bodies of maps keep their constants.
    """
    block = op.parent
    assert isinstance(block, Block)
    known: dict[Attribute, SSAValue] = {}
    for other in list(block.ops):
        if other is op:
            break
        if isinstance(other, arith.ConstantOp):
            if other.value in known:
                other.result.replace_all_uses_with(known[other.value])
                Rewriter.erase_op(other)
            else:
                known[other.value] = other.result
    builder = Builder(InsertPoint.before(op))
    for inner in operations(op):
        if isinstance(inner, arith.ConstantOp) and not isinstance(inner.parent_op(), tile.MapOp):
            if inner.value not in known:
                inner.detach()
                known[inner.value] = builder.insert(inner).result
            else:
                inner.result.replace_all_uses_with(known[inner.value])
                Rewriter.erase_op(inner)
