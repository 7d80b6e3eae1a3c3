"""Checks the names of a program in spite of its mistakes.

The compiler stops at the first mistake. Here each one is noted, mended in the tree in a way that
says the least, and the program is checked again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from traceback import walk_tb

from dt_mlir.diagnostics import CompileError, file_line_col
from dt_mlir.editor.statements import copied
from dt_mlir.frontend.analysis import OUTPUT_DIRECTIVES, analyse
from dt_mlir.frontend.sizes import infer_sizes
from dt_mlir.frontend.symbols import Symbols
from dt_mlir.frontend.syntax import (
    NOWHERE,
    Call,
    Declaration,
    Definition,
    DirectiveCall,
    Expr,
    Name,
    Number,
    Position,
    Read,
    SyntaxTree,
    parts_of,
    with_parts,
)

MOST_ERRORS = 20
"""The most mistakes that are looked for."""

Place = tuple[int, int]
"""A line and a column, from 1."""


@dataclass(frozen=True)
class Checked:
    """A program whose names are checked."""

    symbols: Symbols | None
    """The program, mended where that was necessary; None if that was not possible."""
    errors: list[CompileError]
    """The mistakes, those that only follow from others left out."""
    is_whole: bool
    """True if nothing was mended: it is the program that the text says."""


def check(tree: SyntaxTree, unsure: Iterable[str]) -> Checked:
    """Checks the names and sizes of a program.

    Args:
        tree: the program; it is not changed.
        unsure: names that statements have which could not be parsed; what is said of these may
            follow from that.
    """
    doubtful = set(unsure)
    tree, mended = copied(tree), bool(doubtful)
    errors: list[CompileError] = []
    seen: set[tuple[str, Place | None]] = set()
    unknown: set[str] = set()
    while True:
        try:
            return Checked(analyse(copied(tree)), errors, not mended)
        except CompileError as error:
            place = place_of(error)
            follows = place is not None and _is_label_in(tree, place, unknown)
            # Sizes follow from all reads, so that they are wrong where one was mended.
            follows = follows or (mended and _is_about_sizes(error))
            if not follows and not doubtful & set(_quoted(error)):
                errors.append(error)
            if (error.message, place) in seen or len(seen) == MOST_ERRORS or place is None:
                return Checked(None, errors, False)
            seen.add((error.message, place))
            if not _Mender(tree, place, error, doubtful, unknown).mend():
                return Checked(None, errors, False)
            mended = True


def _is_about_sizes(error: CompileError) -> bool:
    """Returns whether the inference of sizes has raised an error."""
    frames = (frame for frame, _ in walk_tb(error.__traceback__))
    return any(frame.f_code is infer_sizes.__code__ for frame in frames)


def place_of(error: CompileError) -> Place | None:
    """Returns the line and the column of an error."""
    found = file_line_col(error.location)
    return None if found is None else found[1:]


def _quoted(error: CompileError) -> list[str]:
    """Returns the names that a message quotes; one about no name is about all of the program."""
    if error.message == "nothing is compiled":
        return [*OUTPUT_DIRECTIVES]
    return re.findall(r"'(\w+)'", error.message)


def _is_label_in(tree: SyntaxTree, place: Place, functions: set[str]) -> bool:
    """Returns whether a declared label stands at a place of the definition of some functions.

    In one with an unknown label, that may be the one that a reduction was to bind.
    """
    labels = {d.name for d in tree.declarations if d.kind in ("Var", "RVar")}
    pending = [d.expression for d in tree.definitions if d.name in functions]
    while pending:
        expr = pending.pop()
        is_label = isinstance(expr, Name) and expr.name in labels
        if is_label and (expr.at.line, expr.at.column) == place:
            return True
        pending += parts_of(expr)
    return False


class _Mender:
    """Mends the mistake at a place of a program, as its message proposes where it does."""

    def __init__(
        self, tree: SyntaxTree, place: Place, error: CompileError, doubtful: set[str],
        unknown: set[str],
    ) -> None:
        self.tree = tree
        self.place = place
        self.doubtful = doubtful
        self.unknown = unknown
        """The functions in whose definitions a label is unknown."""
        meant = re.match(r"did you mean '(\w+)'", error.hint or "")
        self.meant = None if meant is None else meant[1]
        added = re.match(r"add '(Func|In|SIn|Var) (\w+);'", error.hint or "")
        self.added = None if added is None else added.groups()

    def mend(self) -> bool:
        """Mends it; false if nothing at the place can be."""
        return (
            self._declaration() or self._definition() or self._expression() or self._directive()
            or self._knob()
        )  # fmt: skip

    def _is(self, at: Position) -> bool:
        return (at.line, at.column) == self.place

    def _declaration(self) -> bool:
        items = self.tree.declarations
        for number, item in enumerate(items):
            if self._is(item.type_at) and item.type is not None:
                items[number] = replace(item, type=None)
                return True
            if self._is(item.at):
                return self._mend_declaration(number, item)
        return False

    def _mend_declaration(self, number: int, item: Declaration) -> bool:
        items = self.tree.declarations
        if item.name in (other.name for other in items[:number]):
            del items[number]
        elif item.size is not None:
            items[number] = replace(item, size=None)
        elif item.kind == "Func":
            # It is not defined; whatever reads it may.
            self._forget(item.name)
            items[number] = replace(item, kind="In")
        else:
            return False
        return True

    def _forget(self, name: str) -> None:
        """Drops the directives of a function; what is said of it from now on does not count."""
        self.doubtful.add(name)
        tree = self.tree
        tree.directives[:] = [item for item in tree.directives if item.function != name]
        if not any(item.name in OUTPUT_DIRECTIVES for item in tree.directives):
            self.doubtful.update(OUTPUT_DIRECTIVES)

    def _definition(self) -> bool:
        tree = self.tree
        for number, item in enumerate(tree.definitions):
            if self._is(item.at):
                return self._mend_definition(number, item)
            for label, at in zip(item.labels, item.label_positions):
                if self._is(at):
                    if all(d.name != label for d in tree.declarations):
                        tree.declarations.append(Declaration("Var", label, None, at))
                    else:
                        self._forget(item.name)
                        del tree.definitions[number]
                        tree.declarations[:] = [
                            replace(d, kind="In") if d.name == item.name else d
                            for d in tree.declarations
                        ]
                    return True
        return False

    def _mend_definition(self, number: int, item: Definition) -> bool:
        tree = self.tree
        declared = [d for d in tree.declarations if d.name == item.name]
        if not declared:
            tree.declarations.append(Declaration("Func", item.name, None, item.at))
        elif declared[0].kind != "Func" or any(
            other.name == item.name for other in tree.definitions[:number]
        ):
            del tree.definitions[number]
        elif not any(call.name in OUTPUT_DIRECTIVES for call in tree.directives):
            tree.directives.append(DirectiveCall(item.name, "compile", (), NOWHERE))
        elif isinstance(item.expression, Number):
            return False
        else:
            tree.definitions[number] = replace(item, expression=Number(0.0, item.at))
        return True

    def _expression(self) -> bool:
        tree = self.tree
        for number, item in enumerate(tree.definitions):
            changed = _with(item.expression, self._mended)
            if changed is not item.expression:
                tree.definitions[number] = replace(item, expression=changed)
                if self.added is not None and self.added[0] == "Var":
                    self.unknown.add(item.name)
                return True
        for number, item in enumerate(tree.declarations):
            if item.size is not None and _with(item.size, self._mended) is not item.size:
                tree.declarations[number] = replace(item, size=None)
                return True
        return False

    def _mended(self, expr: Expr) -> Expr | None:
        """Returns what takes the place of an expression, if it is the one at the place."""
        if not self._is(expr.at):
            return None
        match expr:
            case Read() | Name() | Call() if self.meant is not None:
                return replace(expr, name=self.meant)
            case Read(name) | Name(name) if self.added is not None and name == self.added[1]:
                self.tree.declarations.append(Declaration(self.added[0], name, None, expr.at))
                return replace(expr)
            case _:
                return Number(0, expr.at)

    def _directive(self) -> bool:
        tree = self.tree
        calls = [item for item in tree.directives if not self._names_place(item)]
        if len(calls) < len(tree.directives):
            tree.directives[:] = calls
            return True
        for number, choice in enumerate(tree.alternatives):
            branches = tuple(
                tuple(item for item in branch if not self._names_place(item))
                for branch in choice.branches
            )
            if branches != choice.branches:
                tree.alternatives[number] = replace(choice, branches=branches)
                return True
        return False

    def _names_place(self, item: DirectiveCall) -> bool:
        return self._is(item.at) or self._is(item.name_at)

    def _knob(self) -> bool:
        for items in (self.tree.knobs, self.tree.alternatives):
            for number, item in enumerate(items):
                if self._is(item.at):
                    if item.name is not None:
                        self.doubtful.add(item.name)
                    del items[number]
                    return True
        return False


def _with(expr: Expr, mend: Callable[[Expr], Expr | None]) -> Expr:
    """Returns an expression with the first part replaced that `mend` gives another one for."""
    found = mend(expr)
    if found is not None:
        return found
    parts = parts_of(expr)
    for number, part in enumerate(parts):
        changed = _with(part, mend)
        if changed is not part:
            return with_parts(expr, (*parts[:number], changed, *parts[number + 1 :]))
    return expr
