"""Operations of other packages that only tell Triton something about an operand."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from dt_mlir.dialects import tile
from dt_mlir.traversal import operations


def without_hints(module: ModuleOp) -> ModuleOp:
    """Returns a module in which operands stand for the operations that print hints on them.

    Args:
        module: a module of any level; it is not changed, and returned itself where it has no hints.
    """
    if not any(tile.hinted_operand(op) for op in operations(module)):
        return module
    copy = module.clone()
    for op in operations(copy):
        operand = tile.hinted_operand(op)
        if operand is not None:
            Rewriter.replace_op(op, [], [operand])
    return copy
