"""The search by predicted times against exhaustive ones that are kept."""

import importlib.util
import sys
from pathlib import Path
from statistics import median
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
FILES = sorted((BENCHMARKS / "searches").glob("*.json"))


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Loads the script that replays searches."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("search", BENCHMARKS / "search.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "search", module)
    spec.loader.exec_module(module)
    return module


def test_few_candidates_are_enough(search: Any) -> None:
    assert len(FILES) >= 10
    found = [search.replay(path) for path in FILES]
    assert all(item.schedules > 100 for item in found)
    assert median(item.needed for item in found) <= 12
    assert max(item.needed for item in found) <= 20
