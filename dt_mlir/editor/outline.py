"""The outline of a program: its declarations, and the directives below the functions."""

from __future__ import annotations

from lsprotocol.types import DocumentSymbol, SymbolKind

from dt_mlir.editor.names import Occurrence, Role
from dt_mlir.editor.program import Program

_KINDS = {
    "Func": SymbolKind.Function, "In": SymbolKind.Field, "SIn": SymbolKind.Constant,
    "Var": SymbolKind.Variable, "RVar": SymbolKind.Variable,
}  # fmt: skip


def outline(program: Program) -> list[DocumentSymbol]:
    """Returns the names that a program declares, in the order of the text."""
    return [_symbol(program, item) for item in program.names.declared.values()]


def _symbol(program: Program, item: Occurrence) -> DocumentSymbol:
    declared = program.declaration(item.name)
    kind = SymbolKind.Enum if declared is None else _KINDS[declared.kind]
    children = [
        _child(program, other) for other in program.names.occurrences
        if (other.role is Role.DIRECTIVE and other.function == item.name)
        or (other.role is Role.DEFINITION and other.name == item.name)
    ]  # fmt: skip
    shape = program.known_facts.shape(item.name) if declared is not None else None
    own = program.text.range(item.token.start, item.token.end)
    return DocumentSymbol(item.name, kind, own, own, shape, children=children or None)


def _child(program: Program, item: Occurrence) -> DocumentSymbol:
    """Returns the definition or a directive of a function."""
    statement = program.statements.at(item.token.start)
    own = program.text.range(item.token.start, item.token.end)
    start, end = item.token.start, item.token.end
    if statement is not None:
        start, end = statement.start, statement.end
    kind = SymbolKind.Event if item.role is Role.DIRECTIVE else SymbolKind.Method
    name = item.name if item.role is Role.DIRECTIVE else f"{item.name}[…] = …"
    return DocumentSymbol(name, kind, program.text.range(start, end), own)
