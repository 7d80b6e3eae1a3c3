"""The compiler as a function: from a program's text to an emitted module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.backend.triton.target import emit_module
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import STAGES, default_pipeline, run_pipeline


@dataclass(frozen=True)
class Compiled:
    """A compiled program."""

    algorithm: ModuleOp
    """The program at the `dt` level, its schedule beside it."""
    module: ModuleOp
    """It at the `tile` level."""
    source: str
    """It as a Python module, with a wrapper even where only the kernels are wanted."""


def compile_program(
    text: str,
    file: str = "-",
    types: Mapping[str, str] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Compiled:
    """Compile a program.

    Args:
        text: the program.
        file: what to call it in messages.
        types: element types of inputs and functions that are declared anew, by name.
        sizes: sizes of labels that the program is compiled for; its wrapper refuses others.

    Raises:
        CompileError: at the first mistake of the program or of its schedule.
    """
    algorithm, _ = compile_text(text, file)
    run_pipeline(algorithm, default_pipeline("dt", list((types or {}).items())))
    module = algorithm.clone()
    run_pipeline(module, default_pipeline("tile", sizes=sizes)[len(STAGES["dt"]) :])
    return Compiled(algorithm, module, emit_module(module, wrapped=True))
