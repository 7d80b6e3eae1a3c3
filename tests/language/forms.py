"""The programs of this folder, which have every form of the language between them."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent

RUN = (
    "expressions", "reductions", "products", "schedules", "online", "parts", "scans", "fused",
    "stored",
)  # fmt: skip
"""The folders whose programs run whatever the sizes of their labels are."""

ACCURATE = (
    "expressions/functions", "expressions/more_functions", "expressions/activations",
    "expressions/powers", "reductions/inside", "expressions/broadcast",
)  # fmt: skip
"""The programs that are compiled with the device library's functions, too."""


def programs(*folders: str) -> dict[str, str]:
    """Returns the texts of programs by name, `folder/name`.

    Args:
        folders: the folders to look in, by default those of `RUN`.
    """
    found = {
        f"{folder}/{path.stem}": path.read_text(encoding="utf-8")
        for folder in folders or RUN
        for path in sorted((ROOT / folder).glob("*.dt"))
    }
    for name in ACCURATE:
        if name in found:
            text = found[name].replace("f.compile()", "f.math(accurate);\nf.compile()")
            found[f"{name}_accurate"] = text
    return found
