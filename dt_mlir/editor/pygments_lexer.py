"""A lexer of Pygments for programs, made of the tokens of the compiler's own grammar.

Documentation and notebooks that Pygments colours know it as `dt`, by the entry point of the
package.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from pygments.lexer import Lexer
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    Whitespace,
)

from dt_mlir.editor.tokens import COMMENT, UNKNOWN, Token, scan
from dt_mlir.editor.words import constants, element_types, functions

_TYPES = {
    COMMENT: Comment.Single, UNKNOWN: Error, "KIND": Keyword.Declaration, "INT": Number.Integer,
    "FLOAT": Number.Float, "AND": Operator.Word, "OR": Operator.Word, "NOT": Operator.Word,
    "NONE": Keyword.Constant,
}  # fmt: skip
_PUNCTUATION = frozenset("LPAR RPAR LSQB RSQB LBRACE RBRACE COMMA COLON SEMICOLON DOT".split())


class DtLexer(Lexer):
    """Colours programs of Decoupled Triton."""

    name = "Decoupled Triton"
    aliases: ClassVar[Sequence[str]] = ["dt", "decoupled-triton"]
    filenames: ClassVar[Sequence[str]] = ["*.dt"]
    mimetypes: ClassVar[Sequence[str]] = ["text/x-decoupled-triton"]

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, Any, str]]:
        """Yields the places, types and texts of the tokens of a text, white space among them."""
        tokens = scan(text)
        known = [token for token in tokens if token.type != COMMENT]
        kinds = {
            token.start: self._kind(known, number) for number, token in enumerate(known)
        }
        end = 0
        for token in tokens:
            if token.start > end:
                yield end, Whitespace, text[end : token.start]
            yield token.start, kinds.get(token.start, Comment.Single), token.text
            end = token.end
        if end < len(text):
            yield end, Whitespace, text[end:]

    def _kind(self, tokens: list[Token], number: int) -> Any:
        """Returns the type that Pygments has for a token."""
        token = tokens[number]
        if token.type in _TYPES:
            return _TYPES[token.type]
        if token.type != "NAME":
            return Punctuation if token.type in _PUNCTUATION else Operator
        before = tokens[number - 1].type if number else ""
        following = tokens[number + 1].type if number + 1 < len(tokens) else ""
        if before == "DOT":
            return Name.Decorator
        if following == "LPAR":
            return Name.Builtin if token.text in functions() else Name.Function
        if token.text in element_types() and before in ("COLON", "COMMA"):
            return Keyword.Type
        if following in ("LSQB", "DOT"):
            return Name.Function if _is_scheduled_or_defined(tokens, number) else Name.Variable
        return Keyword.Constant if token.text in constants() else Name


def _is_scheduled_or_defined(tokens: list[Token], number: int) -> bool:
    """Returns whether a name is that of a function: in front of a directive, or of a definition."""
    if tokens[number + 1].type == "DOT":
        return True
    at = number + 2
    while at < len(tokens) and tokens[at].type in ("NAME", "COMMA"):
        at += 1
    return [token.type for token in tokens[at : at + 2]] == ["RSQB", "EQUAL"]
