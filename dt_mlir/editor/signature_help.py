"""Signatures of directives and functions while their arguments are typed."""

from __future__ import annotations

from lsprotocol.types import (
    MarkupContent,
    MarkupKind,
    ParameterInformation,
    Position,
    SignatureHelp,
    SignatureInformation,
)

from dt_mlir.editor.context import context_at
from dt_mlir.editor.program import Program
from dt_mlir.editor.reference import directive_entry, function_entry

TRIGGERS = ("(", ",")
"""The characters behind which clients ask for signatures."""


def signature_help(program: Program, position: Position) -> SignatureHelp | None:
    """Returns the signature of what the arguments at a place are for."""
    context = context_at(program, program.text.index(position))
    bracket = None if context is None else context.bracket
    if bracket is None or bracket.type != "LPAR" or bracket.name is None:
        return None
    is_directive = bracket.directive is not None
    entry = directive_entry(bracket.name) if is_directive else function_entry(bracket.name)
    if entry is None:
        return None
    inside = entry.signature.partition("(")[2].rstrip(";")[:-1]
    parameters = [ParameterInformation(text) for text in inside.split(", ") if text]
    last = max(len(parameters) - 1, 0)
    documentation = MarkupContent(MarkupKind.Markdown, entry.summary)
    shown = SignatureInformation(entry.signature, documentation, parameters or None)
    return SignatureHelp([shown], 0, min(bracket.position, last))
