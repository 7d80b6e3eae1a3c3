"""The targets `triton` and `gluon`: standalone Python modules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter
from xdsl.utils.target import Target

from dt_mlir.backend.python_module import emit_module
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import host, warp


@dataclass(frozen=True)
class TritonTarget(Target):
    """A standalone Python module with kernels and the wrapper that launches them.

    Kernels of the `tile` level are Triton's. One whose warps are specialized is there twice: for
    sm_90 in Gluon too.
    """

    name = "triton"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(emit_module(module))


@dataclass(frozen=True)
class GluonTarget(Target):
    """A standalone Python module for sm_90 alone, with kernels of Gluon where there are such."""

    name = "gluon"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(emit_module(specialized(module)))


def specialized(module: ModuleOp) -> ModuleOp:
    """Returns a module in which specialized kernels stand in the place of those that they are of.

    Args:
        module: a module with kernels of the `warp` level; it stays as it is.

    Raises:
        CompileError: if it has no such kernels.
    """
    if not any(isinstance(op, warp.KernelOp) for op in module.ops):
        raise CompileError(
            "the Gluon backend takes a module of the 'warp' level: kernels and one host function",
            module,
            "the passes behind 'convert-tile-to-warp' make it of kernels with warp_specialize",
        )  # fmt: skip
    result = module.clone()
    function = host.function_of(result)
    for launch in [] if function is None else function.launches():
        kernel = launch.kernel_op()
        if launch.specialized is not None and kernel is not None:
            launch.kernel, launch.specialized = launch.specialized, None
            Rewriter.erase_op(kernel)
    return result
