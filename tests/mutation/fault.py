"""The description of a seeded fault."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A seeded fault."""

    name: str
    file: str
    """The file, from the root of the repository."""
    old: str
    """A text that occurs there exactly once."""
    new: str
    """The replacement."""
    summary: str
    """The consequence of the fault."""
