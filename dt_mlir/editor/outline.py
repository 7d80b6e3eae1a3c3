"""The outline of a program: its declarations, and the definitions below the functions."""

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
    below: dict[str, list[DocumentSymbol]] = {}
    for item in program.names.occurrences:
        if item.role is Role.DEFINITION:
            below.setdefault(item.name, []).append(_definition(program, item))
    declared = program.names.declared.items()
    return [_symbol(program, item, below.get(name)) for name, item in declared]


def _symbol(
    program: Program, item: Occurrence, children: list[DocumentSymbol] | None
) -> DocumentSymbol:
    declared = program.names.kinds.get(item.name)
    kind = SymbolKind.Enum if declared is None else _KINDS[declared]
    shape = program.known_facts.shape(item.name) if declared is not None else None
    own = program.text.range(item.token.start, item.token.end)
    return DocumentSymbol(item.name, kind, own, own, shape, children=children)


def _definition(program: Program, item: Occurrence) -> DocumentSymbol:
    """Returns the definition of a function."""
    statement = program.statements.at(item.token.start)
    own = program.text.range(item.token.start, item.token.end)
    end = item.token.end if statement is None else statement.end
    whole = program.text.range(item.token.start, end)
    return DocumentSymbol(f"{item.name}[…] = …", SymbolKind.Method, whole, own)
