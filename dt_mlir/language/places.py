"""Places in the user's Python code, checks of what it gives, and errors that show them."""

from __future__ import annotations

import inspect
import os
from itertools import count, islice
from pathlib import Path

from dt_mlir.diagnostics import CompileError, SourceTexts, make_location
from dt_mlir.frontend.syntax import NOWHERE, Position

# As the interpreter names it, whether or not there are links on the way.
_OWN = f"{Path(__file__).parents[1]}{os.sep}"
serial = count()
"""Numbers what is written, in its order."""


def here() -> Position:
    """The place of the expression outside this package that is being evaluated."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    if frame is None:
        return NOWHERE
    place = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
    column = 0 if place is None else place[2] or 0
    return Position(frame.f_lineno, column + 1, frame.f_code.co_filename)


def is_a(value: object, *kinds: type) -> bool:
    """Returns whether an argument is of some classes, which Python does not check for users."""
    return isinstance(value, kinds)


def refusal(message: str, hint: str | None = None, at: Position | None = None) -> CompileError:
    """An error at a place of the user's code, by default where that code is now."""
    place = at or here()
    location = make_location(place.file or "-", place.line, place.column)
    error = CompileError(message, location, hint)
    error.add_note(SourceTexts().show(location, "note", "written here"))
    return error
