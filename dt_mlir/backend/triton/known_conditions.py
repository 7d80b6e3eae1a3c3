"""Conditions on sizes, which Triton knows when it compiles a kernel."""

from __future__ import annotations

from xdsl.dialects import arith
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

    def holds(self, condition: SSAValue) -> bool:
        """Returns whether a condition compares sizes and only chooses between values.

        What meets tiles otherwise is a tile of Triton's, and no constant.
        """
        if self._dynamic:
            return False
        op = condition.owner
        if isinstance(op, Block):
            outer = op.parent_op()
            if not isinstance(outer, tile.MapOp):
                return False
            place = next(n for n, arg in enumerate(op.args) if arg is condition)
            return self.holds(outer.inputs[place])
        if not _only_chooses(condition):
            return False
        if isinstance(op, arith.AndIOp | arith.OrIOp) and is_bool(condition.type):
            return all(map(self.holds, op.operands))
        if isinstance(op, arith.CmpiOp):
            return all(isinstance(v.owner, tile.SizeOp | arith.ConstantOp) for v in op.operands)
        return False


def _only_chooses(condition: SSAValue) -> bool:
    """Returns whether all that a condition is used for is to choose between two values."""
    for use in condition.uses:
        op = use.operation
        if isinstance(op, tile.MapOp):
            chooses = _only_chooses(op.body.block.args[use.index])
        elif isinstance(op, arith.AndIOp | arith.OrIOp):
            chooses = _only_chooses(op.result)
        else:
            chooses = isinstance(op, arith.SelectOp) and use.index == 0
        if not chooses:
            return False
    return True
