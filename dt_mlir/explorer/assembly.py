"""The emitted kernels as Triton compiles them, ahead of time and without a GPU."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.analysis.interface import Interface
from dt_mlir.diagnostics import CompileError
from dt_mlir.runtime.machine_code_lines import LinkedText, linked_machine_code, linked_ptx

NOMINAL = 1024
"""The size of labels that are not given, as for `dtc --emit ptx`."""


@dataclass(frozen=True)
class CompiledText:
    """A kernel as a target runs it."""

    name: str
    target: str
    registers: int | None
    spills: int | None
    shared: int
    problems: list[str]
    """Why it cannot run on the target."""
    texts: dict[str, LinkedText]
    """PTX and machine code, where there are such."""


@dataclass
class Assembly:
    """The compiled kernels of a module, and why some are missing."""

    sizes: dict[str, int] = field(default_factory=dict[str, int])
    kernels: list[CompiledText] = field(default_factory=list[CompiledText])
    notes: list[str] = field(default_factory=list[str])


def assemble(
    module: ModuleOp, source: str, architecture: str, given: Mapping[str, int]
) -> Assembly:
    """Compiles a module's kernels; what cannot be compiled becomes a note.

    Args:
        module: the module of kernels.
        source: the module as it was emitted.
        architecture: the target, as for `dtc --arch`.
        given: sizes of labels; others are 1024.
    """
    found = Assembly()
    if find_spec("triton") is None:
        found.notes.append("Triton is not installed: pip install 'dt-mlir[run]'")
        return found
    try:
        from dt_mlir.runtime.ahead_of_time import CompiledKernel, compile_for
        from dt_mlir.runtime.assembly import is_specialized
        from dt_mlir.runtime.gluon_ahead_of_time import compile_gluon
    except ImportError as error:
        found.notes.append(f"this needs {error.name}: pip install 'dt-mlir[run]'")
        return found
    if os.environ.get("TRITON_INTERPRET") == "1":
        found.notes.append("Triton interprets kernels in this process, and compiles none")
        return found
    interface = Interface.of(module)
    try:
        wanted = {label: given.get(label, NOMINAL) for label in interface.labels}
        sizes = interface.sizes({
            label: size for label, size in wanted.items()
            if label not in interface.derived() or label in given
        })  # fmt: skip
    except CompileError:
        sizes = interface.sizes(given)
    found.sizes = sizes
    compiled: list[CompiledKernel] = []
    try:
        compiled += compile_for(module, source, architecture, sizes)
    except CompileError as error:
        found.notes.append(str(error))
    if is_specialized(module, architecture):
        try:
            compiled += compile_gluon(module, source, sizes)
        except CompileError as error:
            found.notes.append(str(error))
    for kernel in compiled:
        texts: dict[str, LinkedText] = {}
        for stage in ("ptx", "amdgcn"):
            if stage in kernel.asm:
                texts[stage] = linked_ptx(str(kernel.asm[stage]), FILE)
        if "cubin" in kernel.asm:
            code = linked_machine_code(kernel.asm["cubin"], FILE)
            if code is not None:
                texts["sass"] = code
        found.kernels.append(CompiledText(
            kernel.name, architecture, kernel.registers, kernel.spills, kernel.shared,
            kernel.problems(), texts,
        ))  # fmt: skip
    return found


FILE = "dt_program.py"
"""The name of the file that the emitted module is compiled from."""
