"""Writes down what shows a fault, so that one command shows it again."""

from __future__ import annotations

import shlex
import zipfile
from collections.abc import Sequence
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np
from xdsl.printer import Printer

from dt_mlir.diagnostics import CompileError, Note
from dt_mlir.interpreters.bounded import Bounded
from dt_mlir.verification.semantics import Given, Mode, SemanticsError, Stage

_INPUT, _SIZE, _MODE = "input/", "size/", "arithmetic"


def save_inputs(path: Path, given: Given) -> None:
    """Write inputs and sizes to an `.npz` file."""
    arrays: dict[str, np.ndarray] = {_MODE: np.array(given.mode.value)}
    arrays |= {f"{_SIZE}{label}": np.array(size) for label, size in given.sizes.items()}
    arrays |= {f"{_INPUT}{name}": np.asarray(v.value) for name, v in given.inputs.items()}
    buffer = BytesIO()
    np.savez_compressed(buffer, **arrays)  # pyright: ignore[reportArgumentType]
    path.write_bytes(buffer.getvalue())


def load_inputs(path: str) -> Given:
    """Read what `save_inputs` has written.

    Raises:
        CompileError: if the file is none of those.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, zipfile.BadZipFile, EOFError) as error:
        raise CompileError(f"{path} is no file of inputs (.npz)") from error
    mode = str(arrays.get(_MODE, "bounded"))
    if mode not in list(Mode):
        raise CompileError(f"{path}: there is no arithmetic '{mode}'")
    sizes = {n.removeprefix(_SIZE): int(a) for n, a in arrays.items() if n.startswith(_SIZE)}
    inputs = {
        name.removeprefix(_INPUT): Bounded.exact(array)
        for name, array in arrays.items()
        if name.startswith(_INPUT)
    }
    return Given(Mode(mode), sizes, inputs)


def write_reproducer(
    error: SemanticsError, stages: Sequence[Stage], path: Path, load: Sequence[str] = ()
) -> None:
    """Write the IR before the pass that is at fault, the passes from there and the inputs.

    Args:
        error: what was found; a note with the command is added to it.
        stages: the pipeline's stages.
        path: where the IR goes; the inputs go beside it.
        load: files that the passes are loaded from.
    """
    before = stages[min(error.stage, len(stages)) - 1].module
    passes = [stage.item for stage in stages[error.stage :] if stage.item is not None]
    pipeline = ",".join(str(item.pipeline_pass_spec()) for item in passes)
    inputs = path.with_suffix(".npz")
    words = ["dt-opt", str(path)]
    for file in load:
        words += ["--load", file]
    if pipeline:
        words += ["-p", pipeline]
    words += ["--verify-semantics"]
    if error.given is not None:
        save_inputs(inputs, error.given)
        words += ["--inputs", str(inputs)]
    command = shlex.join(words)
    stream = StringIO()
    Printer(stream=stream, print_debuginfo=True).print_op(before)
    text = f"// {error.message}\n// run: {command}\n{stream.getvalue()}\n"
    path.write_text(text, encoding="utf-8")
    error.notes.append(Note(f"to see it again: {command}"))
