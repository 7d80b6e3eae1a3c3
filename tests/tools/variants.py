"""Variants of programs and modules."""

from __future__ import annotations

from pathlib import Path


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """Returns a text in which parts are replaced, wherever they occur.

    Args:
        text: the text.
        pairs: each part, which must occur, and what stands in its place.
    """
    for old, new in pairs:
        assert old in text, f"'{old}' is not in the text:\n{text}"
        text = text.replace(old, new)
    return text


def vary(path: str, *pairs: tuple[str, str]) -> None:
    """Replaces parts of a file; see `replaced`."""
    file = Path(path)
    file.write_text(replaced(file.read_text(), *pairs))
