"""The folder that the compiler keeps files in between runs."""

from __future__ import annotations

import os
from pathlib import Path

from dt_mlir.diagnostics import CompileError


def default_folder() -> Path:
    """Returns `$DT_MLIR_CACHE`, or a folder in the user's cache folder."""
    given = os.environ.get("DT_MLIR_CACHE")
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "dt-mlir" / "kernels"


def check_owner(path: Path) -> None:
    """Checks that only this user can have written a file or folder, whose contents are run.

    Raises:
        CompileError: if another user may write to it.
    """
    if not hasattr(os, "getuid"):
        return
    try:
        found = path.stat()
    except OSError:
        return
    if found.st_uid not in (os.getuid(), 0):
        raise CompileError(
            f"the cache of kernels is not this user's: '{path}' belongs to user {found.st_uid}",
            None, "set DT_MLIR_CACHE to a folder of your own",
        )  # fmt: skip
    if found.st_mode & 0o022:
        raise CompileError(
            f"others may write to the cache of kernels: '{path}' has mode "
            f"{found.st_mode & 0o777:o}", None,
            f"take the permission away with 'chmod -R go-w {path}', or set DT_MLIR_CACHE",
        )  # fmt: skip


def private_file(name: str) -> Path | None:
    """Returns a file's path in the folder, which is made; None where others may write to it.

    Args:
        name: the file's name, or that of a folder in it and the file's, as in `sound/0a1b`.
    """
    folder = default_folder()
    path = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.parent.mkdir(exist_ok=True, mode=0o700)
        for place in (folder, path.parent, path):
            check_owner(place)
    except (OSError, CompileError):
        return None
    return path
