"""Splits any text into the tokens of the grammar, whatever a parser would say to it."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from lark import Lark

COMMENT = "COMMENT"
"""The type of a comment's token."""
UNKNOWN = "UNKNOWN"
"""The type of a character that begins no token."""
WORDS = ("KIND", "OR", "AND", "NOT", "NONE")
"""The types of the words that the grammar reserves."""


class Token(NamedTuple):
    """A piece of a text."""

    type: str
    """The terminal of the grammar, or `UNKNOWN`."""
    text: str
    start: int
    """The index of its first character in the text."""

    @property
    def end(self) -> int:
        """The index behind its last character."""
        return self.start + len(self.text)

    @property
    def is_name(self) -> bool:
        """True for a name; `none` is one wherever it is not the empty branch of a choice."""
        return self.type in ("NAME", "NONE")


@cache
def terminals() -> dict[str, str]:
    """Returns the regular expressions of the grammar's terminals, in the order of preference.

    White space is the one whose name starts with `_`.
    """
    text = (files("dt_mlir.frontend") / "grammar.lark").read_text(encoding="utf-8")
    # The order is the one in which Lark's lexer tries them.
    found = sorted(
        Lark(text, parser=None, lexer="basic").terminals,
        key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name),
    )
    return {terminal.name: terminal.pattern.to_regexp() for terminal in found}


@cache
def reserved_words() -> dict[str, tuple[str, ...]]:
    """Returns the reserved words of each type in `WORDS`, read from the grammar's terminals."""
    shown = {name: re.sub(r"(?s)\\b.*|[()]", "", terminals()[name]) for name in WORDS}
    return {name: tuple(text.split("|")) for name, text in shown.items()}


@cache
def _scanner() -> re.Pattern[str]:
    parts = (f"(?P<{name}>{pattern})" for name, pattern in terminals().items())
    return re.compile("|".join(parts))


def scan(text: str) -> list[Token]:
    """Returns the tokens of a text and its comments, without white space.

    A character that begins no token is one of type `UNKNOWN`.
    """
    found: list[Token] = []
    match_at, position = _scanner().match, 0
    while position < len(text):
        match = match_at(text, position)
        if match is None:
            found.append(Token(UNKNOWN, text[position], position))
            position += 1
            continue
        kind = match.lastgroup or UNKNOWN
        if not kind.startswith("_"):
            found.append(Token(kind, match[0], position))
        position = match.end()
    return found
