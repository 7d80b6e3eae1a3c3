"""Compares the diagnostics of a text with those that it expects, as MLIR's test tools do."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dt_mlir.diagnostics import CompileError, Note, file_line_col, make_location

_EXPECTED = re.compile(
    r"expected-(?P<kind>error|warning|note|help)"
    r"(?:@(?P<place>above|below|unknown|[+-]\d+))?"
    r"\s*\{\{(?P<text>.*?)\}\}"
)

_KINDS = "'error', 'warning', 'note' or 'help'"
_START = re.compile(r"expected-\w+")


@dataclass(frozen=True)
class _Diagnostic:
    kind: str
    line: int | None
    """The line that it is about, from 1; None where it has no place in the text."""
    text: str


class ExpectedDiagnostics:
    """The diagnostics that comments of a text expect.

    Each word `expected-…` of a comment begins an expectation.

    `expected-error {{text}}` expects an error whose message contains the text, on the line of the
    comment; `expected-warning`, `expected-note` and `expected-help` do the same for the other
    kinds, where a help belongs to the line of its error. `@+1` and `@-1` behind the kind count
    lines from the comment; `@above` and `@below` mean the nearest line without such a comment;
    `@unknown` means a diagnostic without a place in the text.

    Args:
        text: the text, whose comments are read.
        file: its name in locations.
        comment: what begins a comment, `#` or `//`.
        first_line: the number of lines of the file in front of it.

    Raises:
        CompileError: at a comment that does not have this form.
    """

    def __init__(self, text: str, file: str, comment: str, first_line: int = 0) -> None:
        self.file = file
        self.expected: list[tuple[_Diagnostic, int]] = []
        self.found: list[_Diagnostic] = []
        lines = text.split("\n")
        for index, line in enumerate(lines):
            begin = line.find(comment)
            for start in _START.finditer(line, begin) if begin >= 0 else ():
                match = _EXPECTED.match(line, start.start())
                if match is None:
                    raise CompileError(
                        f"'{start[0]}' does not begin a valid expectation",
                        make_location(file, index + 1 + first_line, start.start() + 1),
                        f"write 'expected-KIND@PLACE {{{{text}}}}', where the kind is {_KINDS}",
                    )
                at = _line(lines, index, match["place"])
                about = None if at is None else at + 1 + first_line
                wanted = _Diagnostic(match["kind"], about, match["text"])
                self.expected.append((wanted, index + 1 + first_line))

    def record(self, error: CompileError) -> None:
        """Records an error with its help and its notes."""
        line = self._line(error)
        self.found.append(_Diagnostic("error", line, error.message))
        if error.hint:
            self.found.append(_Diagnostic("help", line, error.hint))
        for note in error.notes:
            self.found.append(_Diagnostic("note", self._line(note), note.message))

    def record_warning(self, warning: Note) -> None:
        """Records a warning."""
        self.found.append(_Diagnostic("warning", self._line(warning), warning.message))

    def _line(self, at: CompileError | Note) -> int | None:
        place = file_line_col(at.location)
        return place[1] if place is not None and place[0] == self.file else None

    def problems(self) -> list[Note]:
        """Returns what was expected and not produced, and what was produced and not expected."""
        left = list(self.found)
        wrong: list[Note] = []
        for wanted, comment in self.expected:
            match = next((d for d in left if _matches(wanted, d)), None)
            if match is None:
                message = f"the expected {wanted.kind} '{wanted.text}' was not produced"
                wrong.append(Note(message, make_location(self.file, comment, 1)))
            else:
                left.remove(match)
        for extra in left:
            place = None if extra.line is None else make_location(self.file, extra.line, 1)
            wrong.append(Note(f"unexpected {extra.kind}: {extra.text}", place))
        return wrong


def _matches(wanted: _Diagnostic, found: _Diagnostic) -> bool:
    return (
        wanted.kind == found.kind and wanted.line == found.line and wanted.text in found.text
    )


def _line(lines: list[str], index: int, place: str | None) -> int | None:
    """Returns the index of the line that a comment is about; None for no line."""
    match place:
        case None:
            return index
        case "unknown":
            return None
        case "above" | "below":
            step = -1 if place == "above" else 1
            index += step
            while 0 <= index < len(lines) and _EXPECTED.search(lines[index]):
                index += step
            return index
        case _:
            return index + int(place)
