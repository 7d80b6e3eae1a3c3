"""The assembly of all kernels of a module, and what they use of a target."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.analysis.interface import Interface
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import warp
from dt_mlir.runtime.ahead_of_time import CompiledKernel, compile_for
from dt_mlir.runtime.gluon_ahead_of_time import compile_gluon


def is_specialized(module: ModuleOp, architecture: str) -> bool:
    """Returns whether a module has kernels for a target that are not Triton's.

    Args:
        module: a module of kernels.
        architecture: the target, as `compile_for` takes it.
    """
    return architecture == "sm_90" and any(isinstance(op, warp.KernelOp) for op in module.ops)


def compile_all(
    module: ModuleOp, source: str, architecture: str, sizes: Mapping[str, int]
) -> list[CompiledKernel]:
    """Compiles the kernels of a module to machine code, the specialized ones behind the others.

    Arguments and errors are those of `compile_for`.
    """
    found = compile_for(module, source, architecture, sizes)
    if is_specialized(module, architecture):
        found += compile_gluon(module, source, sizes)
    return found


def report(
    algorithm: ModuleOp,
    module: ModuleOp,
    source: str,
    what: str,
    architecture: str,
    given: Mapping[str, int],
) -> str:
    """Returns the assembly of the kernels, or a table of what they use.

    For sm_90 these are the specialized kernels, too.

    Args:
        algorithm: the program at the `dt` level.
        module: it at the `tile` or the `warp` level.
        source: it as emitted.
        what: `stats`, or a stage of Triton: `ttir`, `ptx`, `amdgcn`.
        architecture: the target.
        given: sizes of labels; others are 1024.

    Raises:
        CompileError: if there is no such stage on the target, or Triton refuses a kernel.
    """
    labels = Interface.of(algorithm).labels
    Interface.of(algorithm).sizes(given)
    sizes = {label: given.get(label, 1024) for label in labels}
    compiled = compile_all(module, source, architecture, sizes)
    if what != "stats":
        # Gluon has no stage of Triton's language.
        parts = [str(kernel.asm[what]) for kernel in compiled if what in kernel.asm]
        if not parts:
            raise CompileError(f"there is no '{what}' for {architecture}")
        return "\n".join(parts)
    lines = ["kernel target registers spilled_bytes shared_bytes threads"]
    for kernel in compiled:
        values = [kernel.registers, kernel.spills, kernel.shared, kernel.threads]
        shown = " ".join("?" if v is None else str(v) for v in values)
        lines.append(f"{kernel.name} {architecture} {shown}")
        lines += [f"  cannot run: {problem}" for problem in kernel.problems()]
    return "\n".join(lines) + "\n"
