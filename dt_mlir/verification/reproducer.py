"""Writes down what shows a fault, so that one command shows it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import AnyFloat, ModuleOp

from dt_mlir.analysis.interface import Interface
from dt_mlir.diagnostics import CompileError, Note
from dt_mlir.files import write_output
from dt_mlir.interpreters.arrays import pack_arrays, read_arrays
from dt_mlir.interpreters.bounded import Bounded
from dt_mlir.printing import module_text
from dt_mlir.scheduling.directive import Directive
from dt_mlir.verification.semantics import Given, Mode, SemanticsError, Stage, without_schedule

_INPUT, _SIZE, _MODE = "input/", "size/", "arithmetic"


def saved_inputs(given: Given) -> bytes:
    """Inputs and sizes as an `.npz` file."""
    arrays = {_MODE: np.array(given.mode.value)}
    arrays |= {f"{_SIZE}{label}": np.array(size) for label, size in given.sizes.items()}
    arrays |= {f"{_INPUT}{name}": value.value for name, value in given.inputs.items()}
    return pack_arrays(arrays)


def load_inputs(path: str, module: ModuleOp) -> Given:
    """Reads what `saved_inputs` has written.

    Args:
        path: the file.
        module: the module that takes the inputs.

    Raises:
        CompileError: if the file is none of those, or does not fit the module.
    """
    arrays = read_arrays(path)
    mode = str(arrays.get(_MODE, "bounded"))
    if mode not in list(Mode):
        raise CompileError(f"{path}: there is no arithmetic '{mode}'")
    sizes: dict[str, int] = {}
    for name, array in arrays.items():
        if name.startswith(_SIZE):
            if array.shape or array.dtype.kind not in "iu" or array < 0:
                raise CompileError(f"{path}: '{name}' is not a size")
            sizes[name.removeprefix(_SIZE)] = int(array)
    interface = Interface.of(module)
    for label in interface.labels:
        if label not in sizes:
            raise CompileError(f"{path}: there is no size of '{label}'")
    inputs: dict[str, Bounded] = {}
    for item in interface.inputs:
        array = arrays.get(f"{_INPUT}{item.name}")
        if array is None:
            raise CompileError(f"{path}: there is no input '{item.name}'")
        shape = tuple(interface.shape(item, sizes))
        floats = isinstance(item.element, AnyFloat) and mode == Mode.BOUNDED
        if array.shape != shape or (array.dtype.kind == "f") != floats:
            raise CompileError(f"{path}: the input '{item.name}' is not for this program")
        inputs[item.name] = Bounded.exact(array)
    return Given(Mode(mode), sizes, inputs)


def write_reproducer(
    error: SemanticsError, stages: Sequence[Stage], path: Path, load: Sequence[str] = ()
) -> None:
    """Writes the IR before the pass that is at fault, the passes from there and the inputs.

    Args:
        error: what was found; a note with the command is added to it.
        stages: the pipeline's stages.
        path: where the IR goes; the inputs go beside it.
        load: files that the passes are loaded from.
    """
    before = stages[error.stage - 1].module
    if error.stage < len(stages) and isinstance(stages[error.stage].item, Directive):
        # The directives that follow are run one by one, and not once more by apply-schedule.
        before = without_schedule(before)
    passes = [stage.item for stage in stages[error.stage :] if stage.item is not None]
    pipeline = ",".join(str(item.pipeline_pass_spec()) for item in passes)
    inputs = path.with_suffix(".npz")
    given = error.given
    words = ["dt-opt", str(path)]
    for file in load:
        words += ["--load", file]
    if pipeline:
        words += ["-p", pipeline]
    words += ["--verify-semantics"]
    if given is not None:
        write_output(str(inputs), saved_inputs(given))
        words += ["--inputs", str(inputs)]
    command = shlex.join(words)
    text = f"// {error.message}\n// run: {command}\n{module_text(before, debuginfo=True)}\n"
    write_output(str(path), text)
    error.notes.append(Note(f"to see it again: {command}"))
