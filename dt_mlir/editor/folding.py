"""Folding: runs of comments, of declarations, of definitions and of directives."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol.types import FoldingRange, FoldingRangeKind

from dt_mlir.editor.program import Program
from dt_mlir.editor.statements import Statement
from dt_mlir.editor.tokens import COMMENT


def folding_ranges(program: Program) -> list[FoldingRange]:
    """Returns what can be folded, in the order of the text.

    Statements of one kind that follow each other without an empty line fold together, directives
    those of one function; so do comments that fill lines of their own.
    """
    found = [*_comments(program), *_statements(program)]
    return sorted(found, key=lambda item: (item.start_line, -item.end_line))


def _comments(program: Program) -> Iterator[FoldingRange]:
    text = program.text
    lines = [
        text.line_at(token.start) for token in program.statements.tokens
        if token.type == COMMENT and text.line(text.line_at(token.start)).lstrip().startswith("#")
    ]  # fmt: skip
    for first, last in _runs([(line, line, "") for line in lines]):
        yield FoldingRange(first, last, kind=FoldingRangeKind.Comment)


def _statements(program: Program) -> Iterator[FoldingRange]:
    items: list[tuple[int, int, str]] = []
    for item in program.statements.statements:
        lines = (program.text.line_at(item.start), program.text.line_at(item.end - 1))
        items.append((*lines, _kind(item)))
        if lines[0] < lines[1]:
            yield FoldingRange(*lines, kind=FoldingRangeKind.Region)
    own = [(first, last) for first, last, _ in items]
    for run in _runs(items):
        if run not in own:
            yield FoldingRange(*run, kind=FoldingRangeKind.Region)


def _kind(item: Statement) -> str:
    """Returns what statements that fold together have in common."""
    first = item.tokens[0]
    following = item.tokens[1].type if len(item.tokens) > 1 else ""
    if first.type == "KIND":
        return "declarations"
    if following == "LSQB":
        return "definitions"
    return f"directives of {first.text}" if following == "DOT" else "space"


def _runs(items: list[tuple[int, int, str]]) -> Iterator[tuple[int, int]]:
    """Yields the first and the last line of items of one kind on lines that follow each other."""
    run: tuple[int, int, str] | None = None
    for first, last, kind in items:
        if run is not None and kind == run[2] and first <= run[1] + 1:
            run = (run[0], max(last, run[1]), kind)
            continue
        if run is not None and run[0] < run[1]:
            yield run[:2]
        run = (first, last, kind)
    if run is not None and run[0] < run[1]:
        yield run[:2]
