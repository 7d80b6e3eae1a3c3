"""Semantic tokens: the colours of a program's words, for editors that have no grammar of it."""

from __future__ import annotations

from lsprotocol.types import SemanticTokens, SemanticTokensLegend

from dt_mlir.editor.names import Occurrence, Role
from dt_mlir.editor.program import Program
from dt_mlir.editor.tokens import COMMENT, WORDS, Token

TYPES = (
    "comment", "keyword", "number", "operator", "function", "method", "variable", "parameter",
    "type", "enumMember",
)  # fmt: skip
MODIFIERS = ("declaration", "definition", "readonly", "defaultLibrary")
LEGEND = SemanticTokensLegend(list(TYPES), list(MODIFIERS))
"""The names of the numbers in which tokens are told."""

_OWN = {"Func": "function", "In": "variable", "SIn": "variable", "Var": "parameter",
        "RVar": "parameter"}  # fmt: skip
_OPERATORS = frozenset(
    "SHIFT FLOORDIV POWER COMPARE PLUS MINUS STAR SLASH PERCENT TILDE BAR HAT AMPERSAND".split()
)


def semantic_tokens(program: Program) -> SemanticTokens:
    """Returns the tokens of a program that have a colour, each relative to the one before."""
    names = {item.token.start: item for item in program.names.occurrences}
    data: list[int] = []
    last = (0, 0)
    for token in program.statements.tokens:
        found = _kind(program, token, names.get(token.start))
        if found is None:
            continue
        start, length = program.text.position(token.start), program.text.units(token)
        line, column = start.line - last[0], start.character
        data += [line, column - last[1] if not line else column, length]
        data += [TYPES.index(found[0]), sum(1 << MODIFIERS.index(name) for name in found[1])]
        last = (start.line, start.character)
    return SemanticTokens(data)


def _kind(
    program: Program, token: Token, item: Occurrence | None
) -> tuple[str, tuple[str, ...]] | None:
    """Returns the type of a token and its modifiers; None for one without a colour."""
    if item is not None:
        return _kind_of_name(program, item)
    if token.type == COMMENT:
        return "comment", ()
    if token.type in WORDS:
        return "keyword", ()
    if token.type in ("INT", "FLOAT"):
        return "number", ()
    return ("operator", ()) if token.type in _OPERATORS else None


def _kind_of_name(program: Program, item: Occurrence) -> tuple[str, tuple[str, ...]]:
    match item.role:
        case Role.DIRECTIVE:
            return "method", ("defaultLibrary",)
        case Role.CALL:
            return "function", ("defaultLibrary",)
        case Role.TYPE:
            return "type", ("defaultLibrary",)
        case Role.SETTING:
            return "enumMember", ("defaultLibrary",)
        case _:
            pass
    declared = program.names.kinds.get(item.name)
    kind = "parameter" if declared is None else _OWN[declared]
    modifiers = {
        Role.DECLARATION: ("declaration",), Role.DEFINITION: ("definition",),
        Role.PART: ("declaration",),
    }.get(item.role, ())  # fmt: skip
    return kind, (*modifiers, "readonly") if declared == "SIn" else modifiers
