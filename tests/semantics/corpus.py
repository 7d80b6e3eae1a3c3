"""Programs of every form that the language has, for what runs passes and compares."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Scripts use this file, too.
sys.path.append(str(ROOT / "tests" / "language"))
import forms  # noqa: E402

ILLEGAL = forms.programs("refused")
"""Programs that no pass may let through: what a compiler that does makes of them is wrong."""

_FIXED = forms.programs("fixed")

FIXED = {
    name: (_FIXED[name], sizes)
    for name, sizes in {
        "fixed/tiles_of_no_power_of_two": {"x": 8, "k": 24},
        "fixed/a_whole_label": {"x": 7, "k": 5},
    }.items()
}
"""Programs with the sizes that they are compiled for."""


NEED_SIZES = ("conv2d_grouped",)
"""Operators whose sizes must divide each other, which no drawn sizes do."""


def kernels() -> dict[Path, list[str]]:
    """IR that the compiler does not make of any program: by file the passes to run."""
    found: dict[Path, list[str]] = {}
    for path in sorted((ROOT / "tests" / "semantics" / "kernels").glob("*.mlir")):
        first = path.read_text().partition("\n")[0]
        found[path] = first.removeprefix("// PASSES: ").split(",")
    return found


def programs() -> dict[str, str]:
    """The texts by name: examples, regressions, the language's forms one by one, operators."""
    found: dict[str, str] = {}
    for folder in ("examples", "tests/regressions"):
        found |= _texts(folder)
    return found | forms.programs() | _texts("tests/operators")


def _texts(folder: str) -> dict[str, str]:
    return {
        f"{path.parent.name}/{path.name}": path.read_text()
        for path in sorted((ROOT / folder).glob("*.dt"))
        if path.stem not in NEED_SIZES
    }
