"""Selection ranges: the word at a place, and what of the program is around it, step by step."""

from __future__ import annotations

from lsprotocol.types import Position, SelectionRange

from dt_mlir.editor.program import Program
from dt_mlir.editor.tokens import Token

_PAIRS = {")": "LPAR", "]": "LSQB", "}": "LBRACE"}


def selection_ranges(program: Program, positions: list[Position]) -> list[SelectionRange]:
    """Returns the ranges around each place, the innermost first."""
    return [_around(program, program.text.index(position)) for position in positions]


def _around(program: Program, index: int) -> SelectionRange:
    """Returns the token at a place, the brackets around it, their calls, the statement, the text.
    """
    extents = [(0, len(program.text.text))]
    statement = program.statements.at(index)
    if statement is not None and index <= statement.end:
        extents.append((statement.start, statement.end))
        extents += _brackets(statement.tokens, index)
        extents += [(t.start, t.end) for t in statement.tokens if t.start <= index <= t.end][-1:]
    found: SelectionRange | None = None
    for start, end in dict.fromkeys(extents):
        found = SelectionRange(program.text.range(start, end), found)
    assert found is not None
    return found


def _brackets(tokens: tuple[Token, ...], index: int) -> list[tuple[int, int]]:
    """Returns the extents of the brackets around a place, the outermost first.

    For each bracket there is what it is of, as in `A[x, k]`, the bracket, and what is inside.
    """
    found: list[tuple[int, int]] = []
    pending: list[int] = []
    for number, token in enumerate(tokens):
        if token.type in _PAIRS.values():
            pending.append(number)
        elif pending and _PAIRS.get(token.text) == tokens[pending[-1]].type:
            at = pending.pop()
            opened, before = tokens[at], tokens[at - 1] if at else None
            if not opened.start <= index <= token.end:
                continue
            inside = [(opened.start, token.end)]
            if before is not None and before.is_name:
                inside.insert(0, (before.start, token.end))
            if opened.end <= index <= token.start:
                inside.append((opened.end, token.start))
            found[:0] = inside
    return found
