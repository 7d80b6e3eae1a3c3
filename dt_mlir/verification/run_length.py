"""The number of operations that the interpreters run of block programs, by the sizes of labels."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Mapping

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from dt_mlir.analysis.known_numbers import Number, evaluate_op
from dt_mlir.dialects import tile
from dt_mlir.interpreters.tile_level import number_of_programs
from dt_mlir.traversal import operations_of

_QUOTIENTS: dict[type[Operation], Callable[[int, int], int]] = {
    arith.CeilDivSIOp: lambda a, b: -(-a // b),
    arith.DivSIOp: operator.floordiv,
    arith.DivUIOp: operator.floordiv,
    arith.FloorDivSIOp: operator.floordiv,
    arith.RemSIOp: operator.mod,
    arith.RemUIOp: operator.mod,
}
"""The quotients and remainders of indices that are not negative."""


def operations_run(module: ModuleOp, sizes: Mapping[str, int]) -> int:
    """Returns about how many operations are run of the block programs of a module.

    Each instance of a kernel counts as its first one, and each trip of a loop as the first trip of
    the loops around it; loops that end where data says count once, and so does each branch.

    Args:
        module: a module; what it has of other levels does not count.
        sizes: the size of each label; 1 where a wrong pass has made another one.
    """
    known = defaultdict(lambda: 1, sizes)
    return sum(
        number_of_programs(kernel, known) * _Kernel(kernel, known).length(kernel.body.block)
        for kernel in operations_of(module, tile.KernelOp)
    )


class _Kernel:
    def __init__(self, kernel: tile.KernelOp, sizes: Mapping[str, int]) -> None:
        self.programs, self.sizes = number_of_programs(kernel, sizes), sizes
        self.known: dict[SSAValue, Number | None] = {}

    def length(self, block: Block) -> int:
        """Returns the number of operations that run where a block does."""
        return sum(1 + self._inner(op) for op in block.ops)

    def _inner(self, op: Operation) -> int:
        inside = sum(self.length(block) for region in op.regions for block in region.blocks)
        return inside * self._trips(op) if isinstance(op, scf.ForOp) else inside

    def _trips(self, op: scf.ForOp) -> int:
        start, end, step = (self.number(value) for value in (op.lb, op.ub, op.step))
        if start is None or end is None or not step:
            return 1
        return max(0, -int((start - end) // step))

    def number(self, value: SSAValue[Attribute]) -> Number | None:
        """Returns an index in the first trips of the first instance; None if data says it."""
        if value not in self.known:
            self.known[value] = self._number(value)
        return self.known[value]

    def _number(self, value: SSAValue[Attribute]) -> Number | None:
        if isinstance(value, BlockArgument):
            around = value.block.parent_op()
            if isinstance(around, scf.ForOp) and value.index == 0:
                return self.number(around.lb)
            return None
        assert isinstance(value, OpResult)
        match value.op:
            case tile.SizeOp():
                return self.sizes[value.op.label.data]
            case tile.NumProgramsOp():
                return self.programs
            case tile.ProgramIdOp():
                return 0
            case tile.AlternateOp():
                # Any block is as good as another, and the first one is among them.
                return self.number(value.op.number)
            case op:
                operands = [self.number(operand) for operand in op.operands]
        if not operands or None not in operands:
            quotient = _QUOTIENTS.get(type(op))
            if quotient is None:
                return evaluate_op(op, operands)
            a, b = (int(operand or 0) for operand in operands)
            return quotient(a, b) if b else None
        return None
