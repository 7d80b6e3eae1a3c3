"""Variants of programs and modules in files."""

from __future__ import annotations

from pathlib import Path

from texts import replaced


def vary(path: str, *pairs: tuple[str, str]) -> None:
    """Replaces parts of a file; see `texts.replaced`."""
    file = Path(path)
    file.write_text(replaced(file.read_text(), *pairs))
