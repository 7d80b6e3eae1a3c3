"""Operands of index arithmetic that Triton takes for 32 bits where indices are wider.

Triton gives a size, and the index of a loop whose bounds are numbers, 32 bits if it fits into them,
and to a size below 2^32 bits without a sign. What is made of them may be larger.
"""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.dialects import tile

_PERIODIC = (arith.MuliOp, arith.RemSIOp)


def narrow_operand(op: Operation, far: bool) -> SSAValue | None:
    """Returns the operand of an operation that must become as wide as indices; None for none.

    Args:
        op: a scalar operation.
        far: whether indices may be larger than the sizes of tensors.
    """
    if not op.results or not isinstance(op.results[0].type, IndexType):
        return None
    match op:
        case arith.MuliOp():
            # A part of a label begins at the number of parts before, times the indices of one.
            parts = _is_counted(op.lhs) and isinstance(op.rhs.owner, arith.MuliOp)
            return op.lhs if parts else None
        case arith.MaxSIOp() | arith.SubiOp():
            # Periods of mirrors are multiples of a size, or of one less.
            factor = any(isinstance(use.operation, _PERIODIC) for use in op.results[0].uses)
            return op.operands[0] if far and factor and _is_size(op.operands[0]) else None
        case _:
            return None


def _is_size(value: SSAValue) -> bool:
    op = value.owner
    if isinstance(op, Block):
        outer = op.parent_op()
        return isinstance(outer, tile.MapOp) and _is_size(outer.inputs[op.args.index(value)])
    return isinstance(op, tile.SizeOp)


def _is_counted(value: SSAValue) -> bool:
    """Returns whether an index is that of a loop whose bounds are numbers."""
    op = value.owner
    if not isinstance(op, Block):
        return False
    outer = op.parent_op()
    if isinstance(outer, tile.MapOp):
        return _is_counted(outer.inputs[op.args.index(value)])
    if not isinstance(outer, scf.ForOp) or value is not op.args[0]:
        return False
    return constant_index(outer.ub) is not None
