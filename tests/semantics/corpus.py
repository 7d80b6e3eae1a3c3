"""Programs of every form that the language has, for what runs passes and compares."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def programs() -> dict[str, str]:
    """The texts by name: the examples, the regressions, and the language's forms one by one."""
    found = {
        f"{path.parent.name}/{path.name}": path.read_text()
        for folder in ("examples", "tests/regressions")
        for path in sorted((ROOT / folder).glob("*.dt"))
    }
    language = _module(ROOT / "tests" / "exec" / "test_language.py")
    for name, body in language.PROGRAMS.items():
        found[name] = language.complete(body)
    for name, (outputs, body) in language.FUSED.items():
        found[name] = language.complete(body, outputs)
    return found
