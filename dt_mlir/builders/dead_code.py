"""Operations that nothing needs."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.rewriter import Rewriter
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from dt_mlir.traversal import operations


def remove_dead(root: Operation) -> None:
    """Removes the operations in an operation whose results nothing uses and that have no effect.

    MLIR: `isOpTriviallyDead`. The last ones go first, so that one walk removes all of them.

    Args:
        root: the operation, which stays.
    """
    for op in reversed(operations(root)[1:]):
        if op.parent is not None and is_trivially_dead(op):
            Rewriter.erase_op(op)
