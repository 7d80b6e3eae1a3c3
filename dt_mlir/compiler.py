"""The compiler as a function: from a program's text to an emitted module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.backend.python_module import emit_module
from dt_mlir.compiling import compiling
from dt_mlir.diagnostics import show_warning
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline


@dataclass(frozen=True)
class Compiled:
    """A compiled program."""

    text: str
    """The program."""
    file: str
    """The name of the program in messages."""
    types: tuple[tuple[str, str], ...]
    """Element types that are declared anew, as pairs of a name and a type."""
    module: ModuleOp
    """The program at the `tile` level, with kernels of the `warp` level beside it."""
    source: str
    """The program as a Python module, with a wrapper even where only the kernels are wanted."""

    @cached_property
    def algorithm(self) -> ModuleOp:
        """The program at the `dt` level, its schedule beside it."""
        return _algorithm(self.text, self.file, self.types)


def _algorithm(text: str, file: str, types: tuple[tuple[str, str], ...]) -> ModuleOp:
    module, warnings = compile_text(text, file, types)
    for warning in warnings:
        show_warning(warning)
    # What the frontend makes is verified at the end of the pipeline, if it gets there.
    run_pipeline(module, default_pipeline("dt", types), verify=False)
    return module


@compiling()
def compile_program(
    text: str,
    file: str = "-",
    types: Mapping[str, str] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Compiled:
    """Compiles a program.

    Args:
        text: the program.
        file: what to call it in messages.
        types: element types of inputs and functions that are declared anew, by name.
        sizes: sizes of labels that the program is compiled for; its wrapper refuses others.

    Raises:
        CompileError: at the first mistake of the program or of its schedule.
    """
    declared = tuple((types or {}).items())
    module = _algorithm(text, file, declared)
    passes = default_pipeline("warp", sizes=sizes)
    run_pipeline(module, passes[len(default_pipeline("dt")) :])
    return Compiled(text, file, declared, module, emit_module(module, wrapped=True))
