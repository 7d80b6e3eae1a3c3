"""A program that is open in an editor, and what is known of it.

Each thing is computed when it is first asked for, from the text as it is now. What the text does
not say while it is changed (sizes and types, where it has mistakes) is what it said before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, lru_cache

from dt_mlir.compiling import compiling
from dt_mlir.diagnostics import CompileError, make_location
from dt_mlir.dialects import sched
from dt_mlir.dialects.sched import Argument
from dt_mlir.editor.deep_check import Costs
from dt_mlir.editor.facts import Facts, facts_of
from dt_mlir.editor.names import Names, Occurrence
from dt_mlir.editor.problems import Place, Problem, unique
from dt_mlir.editor.repair import Checked, check, place_of
from dt_mlir.editor.statements import Statement, Statements, parse_statements
from dt_mlir.editor.texts import Text
from dt_mlir.editor.tokens import Token
from dt_mlir.frontend.analysis import OUTPUT_DIRECTIVES
from dt_mlir.frontend.syntax import Declaration, Definition, DirectiveCall, Position
from dt_mlir.passes.apply_schedule import decoded


@lru_cache(maxsize=4096)
def _refusal(name: str, function: str, arguments: tuple[Argument, ...]) -> CompileError | None:
    """Returns the reason why there is no such directive, or why it takes no such arguments."""
    try:
        decoded(sched.DirectiveOp.make(name, function, arguments), arguments)
    except CompileError as error:
        return error
    except Exception as error:
        # A directive of another package, or the loading of one.
        what = f"{function}.{name}: fault of the directive: {type(error).__name__}: {error}"
        return CompileError(what, None, "mend or uninstall the package that defines it")
    return None


def forget_refusals() -> None:
    """Forgets which directives there are not, as files that are loaded may define them."""
    _refusal.cache_clear()


class Program:
    """A version of a program's text.

    Args:
        uri: its name in the protocol, and in messages.
        text: the text.
        version: the number that the client gives the version.
        older: the version before.
    """

    def __init__(
        self, uri: str, text: Text, version: int | None, older: Program | None = None
    ) -> None:
        self.uri = uri
        self.text = text
        self.version = version
        self._older_facts = Facts() if older is None else older.known_facts
        self.costs: Costs | None = None if older is None else older.costs
        """The costs of this version, or of the last one that could be compiled."""
        self.deep: dict[str, list[tuple[Problem, int]]] = {}
        """Problems that compiling to the end has found, by the text of the statement that each is
        in, with the place in that; those about no statement are at the empty text."""
        if older is not None and older.text.text != text.text:
            self.deep = {key: found for key, found in older.deep.items() if key}
        elif older is not None:
            self.deep = older.deep

    @cached_property
    def statements(self) -> Statements:
        """The statements."""
        with compiling():
            return parse_statements(self.text.text, self.uri)

    @cached_property
    def names(self) -> Names:
        """The names."""
        return Names(self.statements)

    @cached_property
    def checked(self) -> Checked:
        """The program with its names checked."""
        broken = [item for item in self.statements.statements if item.error is not None]
        unsure = {token.text for item in broken for token in item.tokens if token.is_name}
        if self.statements.errors:
            # What is compiled, and what is read, may be said there.
            unsure.update(OUTPUT_DIRECTIVES)
        try:
            with compiling():
                found = check(self.statements.tree, unsure)
        except Exception:
            # Compiling it says what is wrong; the rest goes on.
            return Checked(None, [], False)
        errors = [error for error in found.errors if not self._is_in(error, broken)]
        return replace(found, errors=errors)

    def _is_in(self, error: CompileError, statements: Iterable[Statement]) -> bool:
        """Returns whether an error is about one of some statements."""
        place = place_of(error)
        index = -1 if place is None else self.index_of(place)
        return any(item.start <= index < item.end for item in statements)

    @cached_property
    def _found(self) -> tuple[Facts, CompileError | None]:
        symbols = self.checked.symbols
        try:
            with compiling():
                found = (Facts(), None) if symbols is None else facts_of(symbols)
        except Exception:
            return self._older_facts, None
        return found[0].behind(self._older_facts), found[1]

    @property
    def facts(self) -> Facts:
        """The facts about its names."""
        return self._found[0]

    @property
    def known_facts(self) -> Facts:
        """The facts about its names without waiting: of this version, or of the one before."""
        if "_found" in self.__dict__ or not self._older_facts.sized:
            return self.facts
        return self._older_facts

    @cached_property
    def problems(self) -> list[Problem]:
        """The mistakes that need no compiling to the end, in the order of the text."""
        errors = [*self.statements.errors, *self.checked.errors]
        if self.checked.is_whole and self._found[1] is not None:
            errors.append(self._found[1])
        errors += self._directive_errors()
        found = unique([Problem.of(error, self.uri) for error in errors])
        symbols = self.checked.symbols
        if not found and symbols is not None:
            found += [Problem.of_warning(note, self.uri) for note in symbols.warnings]
        return sorted(found, key=lambda item: item.place or (0, 0))

    @property
    def known_problems(self) -> list[Problem]:
        """All mistakes and warnings; before types are known, those that need none."""
        if "_found" in self.__dict__:
            return self.all_problems
        errors = [*self.statements.errors, *self.checked.errors, *self._directive_errors()]
        found = unique([Problem.of(error, self.uri) for error in errors])
        return sorted(found, key=lambda item: item.place or (0, 0))

    def _directive_errors(self) -> Iterable[CompileError]:
        """Yields the mistakes in the names and arguments of directives."""
        whole = [item for item in self.statements.statements if item.error is None]
        knobs = {knob.name for knob in self.statements.tree.knobs}
        for call in (call for item in whole for call in item.tree.all_directives()):
            is_open = any(a.is_open or a.value in knobs for a in call.arguments)
            if call.name in OUTPUT_DIRECTIVES or is_open:
                continue
            refusal = _refusal(call.name, call.function, call.arguments)
            if refusal is not None:
                place = make_location(self.uri, call.name_at.line, call.name_at.column)
                yield CompileError(refusal.message, place, refusal.hint)

    @property
    def all_problems(self) -> list[Problem]:
        """The mistakes and warnings, with those that compiling to the end has found."""
        if any(not item.is_warning for item in self.problems):
            return self.problems
        deep: list[Problem] = [problem for problem, _ in self.deep.get("", [])]
        for item in self.statements.statements:
            for problem, at in self.deep.get(self.shown(item), []):
                deep.append(self._moved(problem, item.start + at))
        found = unique([*self.problems, *deep])
        return sorted(found, key=lambda item: item.place or (0, 0))

    def _moved(self, problem: Problem, index: int) -> Problem:
        line = self.text.line_at(index)
        start = self.text.index_of(line + 1, 1)
        return replace(problem, place=(line + 1, index - start + 1))

    def keep(self, problems: list[Problem]) -> None:
        """Keeps what compiling this version to the end has found."""
        self.deep = {}
        for problem in problems:
            item = None
            index = 0 if problem.place is None else self.text.index_of(*problem.place)
            if problem.place is not None:
                item = self.statements.at(index)
            key = "" if item is None else self.shown(item)
            at = index - (0 if item is None else item.start)
            self.deep.setdefault(key, []).append((problem, at))

    def shown(self, item: Statement) -> str:
        """Returns the text of a statement."""
        return self.text.text[item.start : item.end]

    # Places

    def index_of(self, at: Place | Position) -> int:
        """Returns the index of a place of the compiler's."""
        return self.text.index_of(at[0], at[1])

    def token_at(self, index: int) -> Token | None:
        """Returns the token that an index lies in."""
        tokens = self.statements.tokens
        return next((t for t in tokens if t.start <= index < t.end), None)

    def extent(self, place: Place) -> tuple[int, int]:
        """Returns the start and the end of what a problem at a place is about.

        That is the token there; at the end of the text the last one.
        """
        index = self.index_of(place)
        token = self.token_at(index)
        if token is not None:
            return token.start, token.end
        before = [t for t in self.statements.tokens if t.end <= index]
        return (before[-1].start, before[-1].end) if before else (index, index)

    # What names stand for

    def name_at(self, index: int) -> Occurrence | None:
        """Returns the name at an index."""
        return self.names.at(index)

    def declaration(self, name: str) -> Declaration | None:
        """Returns the declaration of a name."""
        return next((d for d in self.statements.tree.declarations if d.name == name), None)

    def definition(self, name: str) -> Definition | None:
        """Returns the definition of a function."""
        return next((d for d in self.statements.tree.definitions if d.name == name), None)

    def directives_of(self, name: str) -> list[DirectiveCall]:
        """Returns the directives of a function."""
        return [d for d in self.statements.tree.all_directives() if d.function == name]

