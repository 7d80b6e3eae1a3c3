"""Emitted modules on disk, which many processes share.

An entry is a Python file whose last line is a digest of the rest. It is written whole or not at
all, and what does not match its digest is written anew. Entries are run, so that a file or folder
that others may write to is refused. Its name depends on all that makes it:
the program, the element types and the versions of this compiler, Triton and torch.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType

from dt_mlir.cache_folder import check_owner, default_folder
from dt_mlir.diagnostics import CompileError

_MARK = "\n# sha256 of the above: "


@lru_cache
def compiler_digest(leave_out: tuple[str, ...] = ()) -> str:
    """A digest of this compiler's text: another one may emit other modules.

    Args:
        leave_out: folders of the package that do not count.
    """
    root = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".lark") and path.relative_to(root).parts[0] not in leave_out:
            digest.update(path.read_bytes())
    return digest.hexdigest()


@lru_cache
def _versions() -> str:
    found: list[str] = [compiler_digest(), sys.version]
    for name in ("triton", "torch"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return "\n".join(found)


def key_of(*parts: str) -> str:
    """The name of an entry that is made of some texts, by this compiler and these versions."""
    digest = hashlib.sha256()
    for part in (_versions(), *parts):
        digest.update(f"{len(part)}\n".encode())
        digest.update(part.encode())
    return digest.hexdigest()


def source_of(key: str, make: Callable[[], str], folder: Path | None = None) -> Path:
    """The file of an entry, made where there is none that is whole.

    Args:
        key: the entry's name.
        make: gives the module's text.
        folder: where entries lie; None for `default_folder()`.

    Raises:
        CompileError: if the folder cannot be written, or others may write to it, or where `make`
            raises it.
    """
    root = folder or default_folder()
    path = root / key[:2] / f"dt_{key[:32]}.py"
    for place in (root, path.parent, path):
        check_owner(place)
    try:
        if _is_whole(path.read_text(encoding="utf-8")):
            return path
    except (OSError, UnicodeDecodeError):
        pass
    source = make()
    text = f"{source}{_MARK}{hashlib.sha256(source.encode()).hexdigest()}\n"
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.parent.mkdir(exist_ok=True, mode=0o700)
        # Of processes that make the same entry the last one wins, with the same text.
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise CompileError(
            f"the cache of kernels cannot be written: {error}", None,
            "set DT_MLIR_CACHE to a folder that can",
        ) from None
    return path


def _is_whole(text: str) -> bool:
    source, mark, digest = text.rpartition(_MARK)
    return bool(mark) and hashlib.sha256(source.encode()).hexdigest() == digest.strip()


def load(path: Path, source: str) -> ModuleType:
    """Runs an entry's module; no bytecode is kept, which nothing would check.

    Args:
        path: the entry's file, in which Triton looks for kernels.
        source: its text.
    """
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(source, str(path), "exec"), module.__dict__)
    # PyTorch's compiler looks functions up by their module's name.
    sys.modules[path.stem] = module
    return module


def entries(folder: Path | None = None) -> Sequence[Path]:
    """The files of all entries."""
    return sorted((folder or default_folder()).glob("*/dt_*.py"))
