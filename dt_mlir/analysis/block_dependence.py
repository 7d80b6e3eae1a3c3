"""Dependence of what a program instance does on which blocks of the grid are its own."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Operation, SSAValue

from dt_mlir.dialects import tile
from dt_mlir.traversal import operations


def depends_on_blocks(kernel: Operation) -> bool:
    """Returns whether a block's place in the grid decides about trips of loops, or about branches.

    The loop with which an instance walks its blocks does not count.

    Args:
        kernel: a kernel of the `tile` or the `warp` level.
    """
    moving: set[SSAValue] = set()
    for op in operations(kernel):
        if isinstance(op, tile.ProgramIdOp):
            moving.update(op.results)
        elif isinstance(op, scf.ForOp):
            if not isinstance(op.step.owner, tile.NumProgramsOp):
                if moving.intersection((op.lb, op.ub, op.step)):
                    return True
            else:
                moving.add(op.body.block.args[0])
        elif isinstance(op, scf.IfOp):
            if op.cond in moving:
                return True
        elif moving.intersection(op.operands):
            moving.update(v for v in op.results if isinstance(v.type, IndexType | IntegerType))
    return False
