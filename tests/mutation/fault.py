"""What a seeded fault is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A seeded fault."""

    name: str
    file: str
    """Where it is, from the root of the repository."""
    old: str
    """A text that occurs there exactly once."""
    new: str
    """What takes its place."""
    summary: str
    """What is wrong then."""
