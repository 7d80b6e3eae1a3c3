"""Definitions, references, highlights and renaming of the names of a program."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lsprotocol.types import (
    DocumentHighlight,
    DocumentHighlightKind,
    Location,
    Position,
    PrepareRenamePlaceholder,
    TextEdit,
    WorkspaceEdit,
)

from dt_mlir.dialects.identifiers import NAMES_HINT, is_identifier
from dt_mlir.editor.names import PROGRAMS_OWN, Occurrence, Role
from dt_mlir.editor.program import Program
from dt_mlir.editor.tokens import reserved_words
from dt_mlir.frontend.symbols import CONSTANTS


class RenameError(Exception):
    """A name that cannot be renamed, or cannot be called so."""


def _location(program: Program, item: Occurrence) -> Location:
    return Location(program.uri, program.text.range(item.token.start, item.token.end))


def definition(program: Program, position: Position) -> Location | None:
    """Returns the place where the name at a place is defined: a function, or else declared."""
    item = program.name_at(program.text.index(position))
    found = None if item is None else program.names.definition(item)
    return None if found is None else _location(program, found)


def declaration(program: Program, position: Position) -> Location | None:
    """Returns the place where the name at a place is declared."""
    item = program.name_at(program.text.index(position))
    found = None if item is None else program.names.origin(item)
    return None if found is None else _location(program, found)


def references(
    program: Program, position: Position, with_declaration: bool
) -> list[Location]:
    """Returns all places of the name at a place, in the order of the text."""
    item = program.name_at(program.text.index(position))
    if item is None:
        return []
    return [
        _location(program, other) for other in program.names.same(item)
        if with_declaration or other.role is not Role.DECLARATION
    ]  # fmt: skip


def highlights(program: Program, position: Position) -> list[DocumentHighlight]:
    """Returns the places of the name at a place, with those that give it a meaning marked."""
    item = program.name_at(program.text.index(position))
    writes = (Role.DECLARATION, Role.DEFINITION, Role.PART)
    return [
        DocumentHighlight(
            program.text.range(other.token.start, other.token.end),
            DocumentHighlightKind.Write if other.role in writes else DocumentHighlightKind.Read,
        )
        for other in ([] if item is None else program.names.same(item))
    ]


def prepare_rename(program: Program, position: Position) -> PrepareRenamePlaceholder | None:
    """Returns the name at a place, if it can be renamed.

    Raises:
        RenameError: if the program does not give the name.
    """
    item = program.name_at(program.text.index(position))
    if item is None:
        return None
    _check_own(program, item)
    return PrepareRenamePlaceholder(
        program.text.range(item.token.start, item.token.end), item.name
    )


def _check_own(program: Program, item: Occurrence) -> None:
    if item.role not in PROGRAMS_OWN:
        raise RenameError(f"'{item.name}' is a name of the language")
    if program.names.origin(item) is None:
        source = program.names.source_of(item.name)
        follows = "" if source is None else f": it follows from '{source}'"
        raise RenameError(f"the program does not declare '{item.name}'{follows}")


def rename(program: Program, position: Position, name: str) -> WorkspaceEdit | None:
    """Returns the changes that give the name at a place another text, and all that it stands for.

    Names that are derived from it, as `x_outer` is from `x`, change with it.

    Raises:
        RenameError: if it cannot be renamed, or its new name means something already.
    """
    item = program.name_at(program.text.index(position))
    if item is None:
        return None
    _check_own(program, item)
    if name == item.name:
        return WorkspaceEdit({program.uri: []})
    _check_new(program, name)
    edits = [(other, name) for other in program.names.same(item)]
    if item.name in program.names.declared:
        edits += _derived(program, item.name, name)
    changes = [
        TextEdit(program.text.range(other.token.start, other.token.end), text)
        for other, text in edits
    ]
    return WorkspaceEdit({program.uri: changes})


def _derived(program: Program, old: str, new: str) -> Sequence[tuple[Occurrence, str]]:
    names = program.names
    return [
        (other, new + other.name.removeprefix(old))
        for other in names.occurrences
        if other.role is Role.USE and other.name not in names.declared
        and names.origin(other) is None and names.source_of(other.name) == old
    ]  # fmt: skip


def _check_new(program: Program, name: str) -> None:
    if not is_identifier(name):
        raise RenameError(f"'{name}' is not a name: {re.sub('^names are', 'it is', NAMES_HINT)}")
    if any(name in words for words in reserved_words().values()):
        raise RenameError(f"'{name}' is reserved")
    if name in CONSTANTS:
        raise RenameError(f"'{name}' is a number of the language")
    taken = [o for o in program.names.occurrences if o.role in PROGRAMS_OWN and o.name == name]
    if taken:
        line = program.text.line_at(taken[0].token.start) + 1
        raise RenameError(f"'{name}' is a name of the program already, on line {line}")
