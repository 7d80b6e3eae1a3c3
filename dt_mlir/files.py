"""Writes files whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from dt_mlir.diagnostics import CompileError


def check_output(path: str | None) -> None:
    """Checks that a file can be written, before the work whose result it is to hold.

    Raises:
        CompileError: if its name is empty.
        OSError: if its folder is not there, or nothing can be written to it.
    """
    if path is None or path == "-":
        return
    if not path:
        raise CompileError("the name of the output is empty")
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such file or directory", path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a directory", path)
    replaced = target.parent if target.is_file() or not target.exists() else target
    if not os.access(replaced, os.W_OK):
        raise PermissionError(errno.EACCES, "permission denied", path)


def check_spared(option: str, path: str | None, inputs: Iterable[str]) -> None:
    """Checks that an output does not take the place of what it is made from.

    Args:
        option: the option that names the output.
        path: the output; `-` and None are standard output.
        inputs: the files that are read.

    Raises:
        CompileError: if it is one of them.
    """
    if path is None or path == "-" or not os.path.exists(path):
        return
    if any(os.path.exists(other) and os.path.samefile(path, other) for other in inputs):
        raise CompileError(
            f"{option}: {path} is an input, and would be overwritten", None, "name another file"
        )


def write_output(path: str | None, content: str | bytes) -> None:
    """Writes a whole file or nothing; `-` and None are standard output."""
    data = content.encode() if isinstance(content, str) else content
    if path is None or path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    check_output(path)
    target = Path(path)
    if target.exists() and not target.is_file():
        # A device or a pipe cannot be replaced.
        target.write_bytes(data)
        return
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        mode = target.stat().st_mode if target.exists() else 0o666 & ~_umask()
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
