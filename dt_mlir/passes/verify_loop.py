"""`verify-loop`: checks that a module is of the `loop` level."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from dt_mlir.analysis.joined_labels import check_joined_labels
from dt_mlir.analysis.loop_program import LoopProgram
from dt_mlir.analysis.nests import check_reductions, check_writes, loops_in
from dt_mlir.analysis.part_labels import check_part_labels
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import loop

BODY_DIALECTS = ("loop", "arith", "math", "elem")
"""The dialects that the body of a kernel is made of."""


def check_kernel(kernel: loop.KernelOp) -> None:
    """Checks that a kernel is one of the `loop` level that can be lowered.

    Raises:
        CompileError: at the first operation that is out of place.
    """
    for inner in kernel.body.block.walk():
        dialect = inner.name.split(".")[0]
        if dialect not in BODY_DIALECTS and inner.name != "builtin.unrealized_conversion_cast":
            raise CompileError(f"'{inner.name}' cannot stand in a 'loop.kernel'", inner)
    check_writes(kernel)
    check_reductions(kernel)
    grid = kernel.grid
    blocks: dict[SSAValue, int] = dict(zip(grid.body.block.args, grid.block_sizes.values()))
    for op in loops_in(kernel):
        if op.origin is not None and op.origin in blocks and op.extent_size != blocks[op.origin]:
            raise CompileError(
                f"the loop walks {op.extent_size} elements of a block of {blocks[op.origin]}", op
            )


@dataclass(frozen=True)
class VerifyLoopPass(ModulePass):
    """Checks that a module is of the `loop` level: kernels, launched by one host function.

    No schedule is left to apply, a kernel holds loops over labels and scalar operations, and each
    tensor or buffer that it writes it writes in one place, and does not read it if it is a tensor.
    """

    name = "verify-loop"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        program = LoopProgram(op)
        for inner in op.ops:
            if inner.name not in ("host.func", "loop.kernel"):
                raise CompileError(f"'{inner.name}' is not of the 'loop' level", inner)
        for kernel in program.kernels:
            check_kernel(kernel)
            check_joined_labels(kernel, program.host)
            check_part_labels(kernel, program.host)
