"""The cache of kernels runs what is in it, and so trusts nothing that others may have written."""

import os
from pathlib import Path

import pytest

from dt_mlir.diagnostics import CompileError
from dt_mlir.runtime.cache import key_of, source_of


def test_an_entry_is_made_once(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    key = key_of("program")
    path = source_of(key, lambda: "x = 1\n", folder)
    assert source_of(key, lambda: "x = 2\n", folder) == path
    assert path.read_text().startswith("x = 1\n")
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("place", ["folder", "subfolder", "entry"])
def test_what_others_may_write_is_refused(tmp_path: Path, place: str) -> None:
    folder = tmp_path / "cache"
    key = key_of("program")
    path = source_of(key, lambda: "x = 1\n", folder)
    writable = {"folder": folder, "subfolder": path.parent, "entry": path}[place]
    writable.chmod(0o777)
    with pytest.raises(CompileError, match="others may write to the cache of kernels") as error:
        source_of(key, lambda: "x = 1\n", folder)
    assert "chmod -R go-w" in (error.value.hint or "")


def test_what_belongs_to_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache"
    key = key_of("program")
    path = source_of(key, lambda: "x = 1\n", folder)
    if os.getuid() == 0:
        os.chown(path, 12345, 12345)
    else:
        monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(CompileError, match="is not this user's"):
        source_of(key, lambda: "x = 1\n", folder)
