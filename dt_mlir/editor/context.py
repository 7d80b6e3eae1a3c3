"""The circumstances of a place in a program: its statement up to there, the brackets around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dt_mlir.editor.program import Program
from dt_mlir.editor.tokens import COMMENT, WORDS, Token


@dataclass(frozen=True)
class Bracket:
    """The innermost bracket that is open at a place."""

    type: str
    """Its terminal of the grammar."""
    name: str | None
    """The name in front of it: of what is called, or read."""
    function: str | None
    """The function that a directive with this bracket is applied to."""
    directive: str | None
    """The directive whose arguments stand in it."""
    tokens: tuple[Token, ...]
    """The tokens in it in front of the place."""

    @property
    def position(self) -> int:
        """The number of commas in front of the place, brackets inside left out."""
        depth = count = 0
        for token in self.tokens:
            depth += (token.type in ("LPAR", "LSQB", "LBRACE")) - (token.text in (")", "]", "}"))
            count += token.type == "COMMA" and depth == 0
        return count

    @property
    def is_group(self) -> bool:
        """True if it may hold directives: it is in front of no arguments."""
        return self.type == "LPAR" and self.name is None


@dataclass(frozen=True)
class Context:
    """A place in a program."""

    before: tuple[Token, ...]
    """The tokens of its statement in front of it, without the word that it is in."""
    start: int
    """The start of that word, or the place."""
    bracket: Bracket | None

    @property
    def first(self) -> str:
        """The type of the statement's first token."""
        return self.before[0].type if self.before else ""

    @property
    def first_text(self) -> str:
        """The statement's first token."""
        return self.before[0].text if self.before else ""

    @property
    def defines(self) -> bool:
        """True in a definition."""
        return len(self.before) > 1 and self.before[1].type == "LSQB"

    @property
    def has_equal(self) -> bool:
        """True behind the `=` of a definition or a knob."""
        return any(token.type == "EQUAL" for token in self.before)

    @property
    def in_size(self) -> bool:
        """True in the size of a label that is declared."""
        depth = 0
        for token in reversed(self.before):
            depth += (token.text in (")", "]")) - (token.text in ("(", "["))
            if token.type == "EQUAL":
                return True
            if token.type == "COMMA" and depth >= 0:
                return False
        return False


def context_at(program: Program, index: int) -> Context | None:
    """Returns the circumstances of a place; None in a comment, and in a number."""
    for token in program.statements.tokens:
        inside = token.start < index <= token.end
        if inside and token.type in (COMMENT, "INT", "FLOAT"):
            return None
    item = program.statements.at(max(index - 1, 0))
    tokens = [] if item is None else [token for token in item.tokens if token.start < index]
    start = index
    if tokens and tokens[-1].end >= index and tokens[-1].type in ("NAME", *WORDS):
        start = tokens.pop().start
    if tokens and _innermost(tokens) is None and _is_over(program, tokens, start):
        tokens = []
    return Context(tuple(tokens), start, _innermost(tokens))


def _is_over(program: Program, tokens: Sequence[Token], start: int) -> bool:
    """Returns whether a statement ends behind tokens: at a semicolon, or at the end of a line."""
    between = program.text.text[tokens[-1].end : start]
    ends = tokens[-1].type in ("NAME", "NONE", "INT", "FLOAT", "RPAR", "RSQB", "RBRACE")
    return tokens[-1].type == "SEMICOLON" or (ends and "\n" in between)


def _innermost(tokens: Sequence[Token]) -> Bracket | None:
    """Returns the innermost bracket that is open behind tokens."""
    pending: list[int] = []
    pairs = {")": "LPAR", "]": "LSQB", "}": "LBRACE"}
    for at, token in enumerate(tokens):
        if token.type in pairs.values():
            pending.append(at)
        elif token.text in pairs and pending and tokens[pending[-1]].type == pairs[token.text]:
            pending.pop()
    if not pending:
        return None
    at = pending[-1]
    before = tokens[at - 1] if at else None
    name = before.text if before is not None and before.is_name else None
    is_directive = name is not None and at > 2 and tokens[at - 2].type == "DOT"
    return Bracket(
        tokens[at].type, name, tokens[at - 3].text if is_directive else None,
        name if is_directive else None, tuple(tokens[at + 1 :]),
    )  # fmt: skip
