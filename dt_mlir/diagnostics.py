"""Errors as the user sees them: a place, what is wrong, and what would mend it.

Everything that the *user* can cause is a :class:`CompileError`. An ``assert`` or any other
exception is a fault of the compiler itself.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from xdsl.dialects.builtin import (
    ArrayAttr,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import PassFailedException, VerifyException

WINDOW = 160
"""The number of characters of a line that are shown with an error."""


@dataclass
class Note:
    """A further place that explains an error."""

    message: str
    location: Attribute | None = None


class CompileError(PassFailedException):
    """A mistake in the user's program, schedule, IR or options.

    Args:
        message: what is wrong, in one sentence without a full stop.
        at: the operation or location attribute that it is about.
        hint: the change that would make it right.
        notes: other places that the reader needs to see.
    """

    def __init__(
        self,
        message: str,
        at: Operation | Attribute | None = None,
        hint: str | None = None,
        notes: Iterable[Note] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.location = at.location if isinstance(at, Operation) else at
        self.hint = hint
        self.notes = list(notes)

    def __str__(self) -> str:
        return self.message + (f"; {self.hint}" if self.hint else "")


class MalformedError(VerifyException):
    """A fault that the verifier of one operation finds in another one inside it.

    Args:
        message: what is wrong.
        op: the operation that it is about.
    """

    def __init__(self, message: str, op: Operation) -> None:
        super().__init__(message)
        self.op = op


class CompileWarning(UserWarning):
    """A warning about a program: of what is unused, or costs more than it need."""


_WARNED: dict[str | tuple[str, type[Warning], int], int] = {}
"""The warnings of this process, which Python shows once for each place."""


def _warn_in_python(note: Note) -> None:
    place = file_line_col(note.location)
    file, line = place[:2] if place is not None else ("<program>", 0)
    warnings.warn_explicit(note.message, CompileWarning, file, line, registry=_WARNED)


_SHOW: ContextVar[Callable[[Note], None]] = ContextVar("show_warning", default=_warn_in_python)


def warn(message: str, at: Operation | Attribute | None, hint: str) -> None:
    """Says what a program costs: by a warning of Python's, or as `showing_warnings` has it.

    Args:
        message: what is expensive, in one sentence without a full stop.
        at: the operation or location attribute that it is about.
        hint: the change that would make it cheaper.
    """
    location = at.location if isinstance(at, Operation) else at
    show_warning(Note(f"{message}; {hint}", location))


def show_warning(note: Note) -> None:
    """Shows a warning: as one of Python's, or as `showing_warnings` has it."""
    _SHOW.get()(note)


@contextmanager
def showing_warnings(show: Callable[[Note], None]) -> Generator[None]:
    """Gives the warnings of the compiler to a function, instead of to Python's `warnings`."""
    token = _SHOW.set(show)
    try:
        yield
    finally:
        _SHOW.reset(token)


@dataclass
class SourceTexts:
    """The texts that locations point into; files are read when they are first needed."""

    texts: dict[str, str] = field(default_factory=dict[str, str])

    def line(self, file: str, number: int) -> str | None:
        """Line `number` (from 1) of `file`, or None where there is no such text."""
        if file not in self.texts:
            try:
                self.texts[file] = Path(file).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                return None
        lines = self.texts[file].splitlines()
        return lines[number - 1] if 0 < number <= len(lines) else None

    def show(self, location: Attribute | None, kind: str, message: str) -> str:
        """`file:line:column: kind: message`, followed by the line and a caret."""
        place = file_line_col(location)
        if place is None:
            return f"{kind}: {message}"
        file, line, column = place
        head = f"{file}:{line}:{column}: {kind}: {message}"
        text = self.line(file, line)
        if text is None:
            return head
        text, column = _window(text, column)
        caret = "".join("\t" if c == "\t" else " " for c in text[: column - 1]) + "^"
        return f"{head}\n  {text}\n  {caret}"

    def show_error(self, error: CompileError) -> str:
        """The whole of an error: place, message, hint, notes."""
        parts = [self.show(error.location, "error", error.message)]
        if error.hint:
            parts.append(f"  help: {error.hint}")
        parts.extend(self.show(n.location, "note", n.message) for n in error.notes)
        return "\n".join(parts)


def _window(text: str, column: int) -> tuple[str, int]:
    """The part of a long line around a column, and where the column is in it."""
    start = 0 if column <= WINDOW - 20 else column - WINDOW // 2
    shown = text[start : start + WINDOW]
    front, back = "…" if start else "", "…" if start + WINDOW < len(text) else ""
    return front + shown + back, column - start + len(front)


@lru_cache(maxsize=4096)
def make_location(file: str, line: int, column: int) -> FileLineColLoc:
    """The location attribute of a place in a text (lines and columns from 1)."""
    return FileLineColLoc(StringAttr(file), _number(line), _number(column))


_number = lru_cache(maxsize=4096)(IntAttr)


def file_line_col(location: Attribute | None) -> tuple[str, int, int] | None:
    """The file, line and column that a location stands for; None for an unknown one.

    Of a fused location the first part that names a place counts: that is the most specific.
    """
    match location:
        case FileLineColLoc():
            return location.filename.data, location.line.data, location.column.data
        case NameLoc():
            return file_line_col(location.location)
        case FusedLoc():
            places = map(file_line_col, _parts(location))
            return next((place for place in places if place is not None), None)
        case _:
            return None


def _parts(location: FusedLoc) -> Sequence[Attribute]:
    assert isinstance(location.locations, ArrayAttr)
    return location.locations.data


def directive_location(location: Attribute) -> Attribute:
    """Returns the directive's place in a fused location, or the location itself."""
    if isinstance(location, FusedLoc):
        return _parts(location)[-1]
    return location


def has_location(op: Operation) -> bool:
    """Returns whether an operation knows where it comes from."""
    return not isinstance(op.location, UnknownLoc)


Place = tuple[str, int, int]
"""A file, a line and a column, from 1."""


def places_of(location: Attribute | None) -> list[tuple[str, int, int]]:
    """Returns the places that a location stands for: an operation's own, then those of directives.

    Each is a file, a line and a column, as of `file_line_col`.
    """
    parts = _parts(location) if isinstance(location, FusedLoc) else [location]
    found = (file_line_col(part) for part in parts)
    return list(dict.fromkeys(place for place in found if place is not None))


def with_place(location: LocationAttr, place: LocationAttr) -> LocationAttr:
    """Returns a location with a further place of a directive, behind its own place.

    It stands in front of the places of other directives, so that `directive_location` gives what
    it did before.
    """
    own: list[Attribute] = [location]
    if isinstance(location, FusedLoc):
        own = list(_parts(location))
    elif isinstance(location, UnknownLoc):
        return place
    if place in own:
        return location
    # xDSL's parser reads no metadata of fused locations.
    return FusedLoc(ArrayAttr([own[0], place, *own[1:]]), NoneAttr())


def give_locations(root: Operation) -> None:
    """Gives each operation without a location that of what uses it, or else of what is around it.

    Args:
        root: an operation with a location.
    """
    lost: list[Operation] = []
    pending = [root]
    while pending:
        op = pending.pop()
        lost += [] if op is root or has_location(op) else [op]
        for region in reversed(op.regions):
            for block in reversed(region.blocks):
                pending += reversed(block.ops)
    # What is used has its users behind it, and what is around it in front of it.
    for op in reversed(lost):
        users = [use.operation for result in op.results for use in result.uses]
        op.location = next((u.location for u in users if has_location(u)), op.location)
    for op in lost:
        parent = op.parent_op()
        if not has_location(op) and parent is not None:
            op.location = parent.location


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be."""
    names = list(known)
    longer = [other for other in names if len(name) > 2 and other.startswith(name)]
    matches = longer or difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return matches[0] if matches else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint with the nearest of the known names, or None."""
    match = nearest(name, known)
    return f"did you mean '{match}'?" if match else None
