"""Reads and writes `.npz` files."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np

from dt_mlir.diagnostics import CompileError
from dt_mlir.interpreters.bounded import Array


def pack_arrays(arrays: Mapping[str, Array]) -> bytes:
    """The contents of an `.npz` file; unlike NumPy's function it takes any name."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as stream:
                np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()


def read_arrays(path: str) -> dict[str, Any]:
    """The arrays of an `.npz` file by name.

    Raises:
        CompileError: if it is none.
    """
    try:
        file = np.load(path, allow_pickle=False)
        if isinstance(file, np.ndarray):
            raise CompileError(f"{path} is not a file of several arrays (.npz)")
        with file:
            found = {name: file[name] for name in file.files}
    except (ValueError, zipfile.BadZipFile, EOFError) as error:
        raise CompileError(f"{path} is not a file of arrays (.npz)") from error
    for name, array in found.items():
        if not isinstance(array, np.ndarray):
            raise CompileError(f"{path}: '{name}' is not an array")
    return found
