"""Formatting: statements as the canonical printer has them, comments and empty lines kept.

Statements stay where they are. A comment on a line of its own stays above the statement that
follows, and one at the end of a line behind the statement that ends there. A comment inside a
statement, which is printed on one line, moves above it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsprotocol.types import TextEdit

from dt_mlir.editor.program import Program
from dt_mlir.editor.statements import Statement, Statements, parse_statements
from dt_mlir.editor.tokens import COMMENT, Token
from dt_mlir.frontend.printer import (
    print_alternatives,
    print_declarations,
    print_definition,
    print_directive,
    print_knob,
)


@dataclass
class _Line:
    """A line of the formatted text."""

    text: str
    comment: str = ""
    """The comment at its end."""
    is_first: bool = False
    """True if an empty line stands in front of it."""


def formatting(program: Program) -> list[TextEdit] | None:
    """Returns the change that formats a program; None for one that cannot be parsed."""
    if program.statements.errors:
        return None
    text = program.text.text
    wanted = print_statements(program.statements)
    if wanted == text:
        return []
    whole = program.text.range(0, len(text))
    return [TextEdit(whole, program.text.in_document(wanted))]


def format_program(text: str, file: str = "-") -> str:
    """Returns a program as the formatter has it.

    Raises:
        CompileError: if it cannot be parsed.
    """
    found = parse_statements(text, file)
    if found.errors:
        raise found.errors[0]
    return print_statements(found)


def print_statements(found: Statements) -> str:
    """Returns the formatted text of statements, all of which could be parsed."""
    lines = list(_lines(found))
    _align(lines)
    shown: list[str] = []
    for number, line in enumerate(lines):
        if line.is_first and number:
            shown.append("")
        shown.append(f"{line.text}  {line.comment}" if line.comment else line.text.rstrip())
    return "".join(f"{line}\n" for line in shown)


def _lines(found: Statements) -> Iterator[_Line]:
    """Yields the lines, without the columns of comments."""
    comments = [token for token in found.tokens if token.type == COMMENT]
    end = 0
    last: _Line | None = None
    for item in (*found.statements, None):
        start = len(found.text) if item is None else item.start
        while comments and comments[0].start < start:
            token = comments.pop(0)
            gap = found.text[end : token.start]
            end = token.end
            if last is not None and not last.comment and "\n" not in gap:
                last.comment = token.text.rstrip()
            else:
                yield _Line(token.text.rstrip(), is_first=gap.count("\n") > 1)
                last = None
        if item is None:
            return
        is_first = found.text.count("\n", end, start) > 1
        inside = [token for token in comments if token.start < item.end]
        del comments[: len(inside)]
        lines = [_Line(text) for text in (*_texts_of(inside), *_printed(found.text, item))]
        if lines:
            lines[0].is_first = is_first
            yield from lines
            last = lines[-1]
        end = item.end


def _texts_of(comments: Sequence[Token]) -> list[str]:
    return [token.text.rstrip() for token in comments]


def _printed(text: str, item: Statement) -> list[str]:
    """Returns the lines of a statement."""
    tree = item.tree
    others = [
        *map(print_definition, tree.definitions), *map(print_knob, tree.knobs),
        *map(print_directive, tree.directives), *map(print_alternatives, tree.alternatives),
    ]  # fmt: skip
    kinds = sum(token.type == "KIND" for token in item.tokens)
    if kinds == 1 and not others:
        return print_declarations(tree.declarations)
    if not kinds and len(others) < 2:
        return others
    # Several on one line that nothing separates stay as they are.
    return [" ".join(text[item.start : item.end].split())]


def _align(lines: list[_Line]) -> None:
    """Pads the lines of each run that end in comments, so that these begin in one column."""
    run: list[_Line] = []
    for line in (*lines, _Line("")):
        if not line.comment or line.is_first:
            width = max((len(other.text) for other in run), default=0)
            for other in run:
                other.text = other.text.ljust(width)
            run = []
        if line.comment:
            run.append(line)
