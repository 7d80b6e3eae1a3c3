"""Mistakes and warnings of the compiler, each at its place in a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute

from dt_mlir.diagnostics import CompileError, Note, file_line_col

Place = tuple[int, int]
"""A line and a column, from 1."""


@dataclass(frozen=True)
class Problem:
    """A mistake or a warning; it can be handed from one process to another."""

    message: str
    """The compiler's sentence about it."""
    place: Place | None
    """Where; None if it is about all of the text."""
    hint: str | None = None
    """The change that would help."""
    notes: tuple[tuple[str, Place], ...] = ()
    """Other places that explain it."""
    is_warning: bool = False
    """True if the program is compiled even so."""

    @staticmethod
    def of(error: CompileError, file: str) -> Problem:
        """Returns the problem that an error is."""
        notes = ((note.message, place_in(note.location, file)) for note in error.notes)
        return Problem(
            error.message, place_in(error.location, file), error.hint,
            tuple((message, place) for message, place in notes if place is not None),
        )  # fmt: skip

    @staticmethod
    def of_warning(note: Note, file: str) -> Problem:
        """Returns the problem that a warning of the compiler's is about."""
        return Problem(note.message, place_in(note.location, file), is_warning=True)


def place_in(location: Attribute | None, file: str) -> Place | None:
    """Returns the line and the column of a location, if it lies in a file."""
    found = file_line_col(location)
    return found[1:] if found is not None and found[0] == file else None


def unique(problems: Sequence[Problem]) -> list[Problem]:
    """Returns problems without those that say what another one says at the same place."""
    found = {(item.message, item.place): item for item in reversed(problems)}
    return list(reversed(found.values()))
