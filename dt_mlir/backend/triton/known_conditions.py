"""Conditions on sizes, which Triton knows when it compiles a kernel."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, SSAValue

from dt_mlir.dialects import tile
from dt_mlir.element_types import is_bool


class KnownConditions:
    """Tells which conditions are constants of Triton's.

    Args:
        dynamic: whether sizes are run-time arguments, so that none is.
    """

    def __init__(self, dynamic: bool) -> None:
        self._dynamic = dynamic

    def is_known(self, condition: SSAValue) -> bool:
        """Returns whether a condition compares sizes and only chooses between tensors.

        Otherwise it is a tile of Triton's, not a constant.
        """
        if self._dynamic or not _is_constant(condition):
            return False
        source = _outside(condition)
        op = source.owner
        parts = op.operands if isinstance(op, arith.AndIOp | arith.OrIOp) else ()
        return _only_chooses(source) and all(map(self.is_known, parts))


def _outside(condition: SSAValue) -> SSAValue:
    """Returns what a map takes an element of, or the value itself."""
    block = condition.owner
    op = block.parent_op() if isinstance(block, Block) else None
    if not isinstance(op, tile.MapOp):
        return condition
    return op.inputs[next(n for n, arg in enumerate(op.body.block.args) if arg is condition)]


def _is_constant(condition: SSAValue) -> bool:
    """Returns whether a condition is computed from sizes and numbers alone, by comparisons."""
    op = _outside(condition).owner
    if isinstance(op, arith.AndIOp | arith.OrIOp) and is_bool(condition.type):
        return all(map(_is_constant, op.operands))
    if isinstance(op, arith.CmpiOp):
        # Two numbers are emitted as tensors, which compare to one.
        sizes = [isinstance(value.owner, tile.SizeOp) for value in op.operands]
        numbers = (isinstance(value.owner, arith.ConstantOp) for value in op.operands)
        return any(sizes) and all(a or b for a, b in zip(sizes, numbers))
    return False


def _is_of_tensors(op: arith.SelectOp) -> bool:
    """Returns whether what is chosen is a tensor of Triton's; numbers are not, which `where` makes.
    """
    values = (op.lhs, op.rhs)
    return not any(isinstance(v.owner, arith.ConstantOp) for v in values) and not isinstance(
        op.result.type, IndexType
    )


def _only_chooses(condition: SSAValue) -> bool:
    """Returns whether all that a condition is used for is to choose between two tensors."""
    for use in condition.uses:
        op = use.operation
        if isinstance(op, tile.MapOp):
            chooses = _only_chooses(op.body.block.args[use.index])
        elif isinstance(op, arith.AndIOp | arith.OrIOp):
            chooses = _is_constant(op.result) and _only_chooses(op.result)
        else:
            chooses = isinstance(op, arith.SelectOp) and use.index == 0 and _is_of_tensors(op)
        if not chooses:
            return False
    return True
