"""The fixture of the tests of command-line tools."""

import shutil
from pathlib import Path

import pytest
from command import PROGRAMS, Tools


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tools:
    """The tools, in a folder of their own, which is the current one."""
    shutil.copytree(PROGRAMS, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return Tools(tmp_path)
