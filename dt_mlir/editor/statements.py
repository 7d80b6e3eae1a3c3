"""Parses any text into the statements that it has, whatever is wrong with some of them.

A text that the compiler's parser takes gives the tree that it gives. Of any other text each
statement is parsed by itself. One that cannot be parsed has the message that the parser gives at
its place, and the tree of as much of its beginning as can be completed.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from dt_mlir.diagnostics import CompileError
from dt_mlir.editor.tokens import COMMENT, Token, scan
from dt_mlir.frontend.parser import MOST_CHARACTERS, parse_program
from dt_mlir.frontend.syntax import SyntaxTree

_OPEN = {"LPAR": ")", "LSQB": "]", "LBRACE": "}"}
_CLOSE = {")": "LPAR", "]": "LSQB", "}": "LBRACE"}
_LAST = frozenset("NAME NONE INT FLOAT RPAR RSQB RBRACE UNKNOWN".split())
"""The types of tokens that may be the last of a statement."""
_BEFORE_DIRECTIVES = frozenset("EQUAL BAR LPAR".split())
"""The types of tokens behind which a directive may stand, besides the last of statements."""
_LONGEST = 1000
"""The most tokens of a statement whose beginning is completed."""
_MOST_TOKENS = 24
"""The most tokens that are dropped from the end of a statement to complete what is left."""


@dataclass(frozen=True)
class Statement:
    """A statement of a text, or several that stand together."""

    tokens: tuple[Token, ...]
    """Its tokens, comments between them left out."""
    tree: SyntaxTree
    """Its tree; of a broken one that of its beginning, which may be empty."""
    error: CompileError | None = None
    """The reason why it cannot be parsed."""

    @property
    def start(self) -> int:
        """The index of its first character in the text."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """The index behind its last character."""
        return self.tokens[-1].end


@dataclass(frozen=True)
class Statements:
    """A text as tokens and statements."""

    text: str
    tokens: list[Token]
    """The tokens, comments among them."""
    statements: list[Statement]
    tree: SyntaxTree
    """The tree of all statements."""
    refusal: CompileError | None = None
    """The reason why the text is not looked at: it is too long."""

    @property
    def errors(self) -> list[CompileError]:
        """The messages of the statements that cannot be parsed."""
        if self.refusal is not None:
            return [self.refusal]
        return [item.error for item in self.statements if item.error is not None]

    def at(self, place: int) -> Statement | None:
        """Returns the statement at a place, or the last one in front of it."""
        number = bisect.bisect_right(self.statements, place, key=lambda item: item.start)
        return self.statements[number - 1] if number else None


def parse_statements(text: str, file: str) -> Statements:
    """Parses a text, which may hold anything.

    Args:
        text: the text; its lines end in a line feed.
        file: what to call it in messages.
    """
    if len(text) > MOST_CHARACTERS:
        try:
            parse_program(text, file)
        except CompileError as error:
            return Statements(text, [], [], SyntaxTree(file), error)
    tokens = scan(text)
    groups = list(_groups(text, [t for t in tokens if t.type != COMMENT]))
    found: list[Statement] = []
    for number, group in enumerate(groups):
        padding = _padding(text, group[0].start)
        tree = _parsed(padding, text[group[0].start : group[-1].end], file)
        if tree is not None:
            found.append(Statement(group, tree))
            continue
        start = _start_of_message(found, group[0].start)
        try:
            # What follows says what was expected, and whether the statement ends there at all.
            parse_program(_padding(text, start) + text[start:], file)
            rest = parse_program(padding + text[group[0].start :], file)
        except CompileError as error:
            found.append(Statement(group, _beginning(text, group, error, file), error))
        except RecursionError:
            error = CompileError("the program is nested too deeply", None)
            found.append(Statement(group, SyntaxTree(file), error))
        else:
            following = tuple(token for other in groups[number:] for token in other)
            found.append(Statement(following, rest))
            break
    return Statements(text, tokens, found, _merged(found, file))


def _start_of_message(before: Sequence[Statement], start: int) -> int:
    """Returns where the text starts that the message of a broken statement is about.

    A message looks back to the last semicolon, if all from there on can be parsed.
    """
    for item in reversed(before):
        if item.error is not None or item.tokens[-1].type == "SEMICOLON":
            break
        start = item.start
    return start


def _merged(statements: Sequence[Statement], file: str) -> SyntaxTree:
    tree = SyntaxTree(file)
    for item in statements:
        tree.declarations += item.tree.declarations
        tree.definitions += item.tree.definitions
        tree.directives += item.tree.directives
        tree.knobs += item.tree.knobs
        tree.alternatives += item.tree.alternatives
    return tree


def copied(tree: SyntaxTree) -> SyntaxTree:
    """Returns a tree with lists of its own."""
    return replace(
        tree, declarations=[*tree.declarations], definitions=[*tree.definitions],
        directives=[*tree.directives], knobs=[*tree.knobs], alternatives=[*tree.alternatives],
    )  # fmt: skip


def _padding(text: str, start: int) -> str:
    """Returns white space in front of which a part of a text has its lines and columns."""
    lines = text.count("\n", 0, start)
    return "\n" * lines + " " * (start - text.rfind("\n", 0, start) - 1)


@lru_cache(maxsize=8192)
def _parsed(padding: str, text: str, file: str) -> SyntaxTree | None:
    try:
        return parse_program(padding + text, file)
    except (CompileError, RecursionError):
        return None


def _groups(text: str, tokens: Sequence[Token]) -> Iterator[tuple[Token, ...]]:
    """Yields the tokens of each statement.

    A statement ends at a `;` outside of parentheses, and in front of a token at which another one
    must begin. What stands in parentheses that are not closed ends at the next statement that
    begins a line.
    """
    group: list[Token] = []
    open_at: list[int] = []
    for number, token in enumerate(tokens):
        begins = group and _begins(text, tokens, number)
        if begins and open_at and _starts_line(text, token):
            # In a choice of directives, parentheses hold statements.
            in_choice = token.type != "KIND" and tokens[number + 1].type == "DOT"
            begins = not (in_choice and _groups_directives(tokens, open_at[-1]))
        elif open_at:
            begins = False
        if begins:
            yield tuple(group)
            group, open_at = [], []
        group.append(token)
        if token.type in _OPEN:
            open_at.append(number)
        elif token.text in _CLOSE and open_at:
            if tokens[open_at[-1]].type == _CLOSE[token.text]:
                open_at.pop()
        elif token.type == "SEMICOLON" and not open_at:
            yield tuple(group)
            group = []
    if group:
        yield tuple(group)


def _begins(text: str, tokens: Sequence[Token], number: int) -> bool:
    """Returns whether a token begins a statement.

    Behind a token that may not be the last of one, the token begins its line, and no program has
    it there.
    """
    token, before = tokens[number], tokens[number - 1]
    if token.type == "KIND":
        return True
    if token.type != "NAME" or number + 1 == len(tokens):
        return False
    ends = before.type in _LAST or before.type == "SEMICOLON"
    match tokens[number + 1].type:
        case "DOT":
            return ends or (before.type not in _BEFORE_DIRECTIVES and _starts_line(text, token))
        case "EQUAL":
            return ends
        case "LSQB":
            return (ends or _starts_line(text, token)) and _defines(tokens, number + 1)
        case _:
            return False


def _defines(tokens: Sequence[Token], number: int) -> bool:
    """Returns whether names in brackets and a `=` follow, as in a definition."""
    for position in range(number + 1, len(tokens)):
        match tokens[position].type:
            case "NAME" | "COMMA":
                continue
            case "RSQB":
                following = tokens[position + 1 : position + 2]
                return bool(following) and following[0].type == "EQUAL"
            case _:
                return False
    return False


def _groups_directives(tokens: Sequence[Token], number: int) -> bool:
    """Returns whether a bracket is one around directives: a branch of a choice."""
    before = [token.type for token in tokens[max(0, number - 2) : number]]
    starts = not before or before[-1] in ("SEMICOLON", "BAR") or before == ["NAME", "EQUAL"]
    return tokens[number].type == "LPAR" and starts


def _starts_line(text: str, token: Token) -> bool:
    return not text[text.rfind("\n", 0, token.start) + 1 : token.start].strip()


def _beginning(
    text: str, group: Sequence[Token], error: CompileError, file: str
) -> SyntaxTree:
    """Returns the tree of a statement's beginning, with its brackets closed."""
    start = group[0].start
    padding = _padding(text, start)
    if len(group) > _LONGEST:
        return SyntaxTree(file)
    for count in range(len(group), max(0, len(group) - _MOST_TOKENS), -1):
        kept = group[:count]
        if kept[-1].type not in _LAST:
            continue
        shown = text[start : kept[-1].end] + _closing(kept)
        tree = _parsed(padding, shown, file)
        if tree is not None:
            return tree
    return SyntaxTree(file)


def _closing(tokens: Sequence[Token]) -> str:
    """Returns the brackets that close those that are open."""
    pending: list[str] = []
    for token in tokens:
        if token.type in _OPEN:
            pending.append(_OPEN[token.type])
        elif pending and token.text == pending[-1]:
            pending.pop()
    return "".join(reversed(pending))
