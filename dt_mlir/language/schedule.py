"""Schedules: values that are kept apart from algorithms, applied to them, printed and read."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from dt_mlir.diagnostics import CompileError, did_you_mean, make_location
from dt_mlir.frontend.analysis import OUTPUT_DIRECTIVES
from dt_mlir.frontend.parser import parse_program
from dt_mlir.frontend.printer import print_program
from dt_mlir.frontend.syntax import Alternatives, DirectiveCall, KnobDefinition, SyntaxTree
from dt_mlir.language import notebook
from dt_mlir.language.arguments import Knob, arguments_of
from dt_mlir.language.directives import Directives
from dt_mlir.language.names import Named
from dt_mlir.language.places import here, is_a, refusal, serial
from dt_mlir.registry import directive_names, find_directive
from dt_mlir.scheduling.directive import Directive


class ScheduledFunction(Directives):
    """A function as a schedule sees it. Directives of plug-ins are methods, too."""

    def __init__(self, name: str, schedule: Schedule) -> None:
        self.function_name = name
        self.directives = schedule

    def direct(self, name: str, /, *arguments: object, **sizes: object) -> Self:
        """Adds a directive by its name, as a plug-in's is added.

        Raises:
            CompileError: if there is no such directive, or a value is not an argument.
        """
        if name in OUTPUT_DIRECTIVES or find_directive(name) is None:
            raise refusal(
                f"there is no directive '{name}'", did_you_mean(name, directive_names())
                or "dt_mlir.load(path) loads a directive of your own",
            )
        found, knobs = arguments_of(arguments, dict(sizes))
        place = here()
        self.directives.add(DirectiveCall(self.function_name, name, found, place, place), knobs)
        return self

    def apply(self, change: Directive | Schedule) -> Self:
        """Adds a directive of a plug-in with its types checked, or a whole schedule.

        Args:
            change: an instance of the directive's class, whatever function it names, or a
                schedule, which may name other functions.
        """
        if isinstance(change, Schedule):
            self.directives.extend(change)
            return self
        if not is_a(change, Directive):
            raise refusal(f"a {type(change).__name__} is neither a directive nor a schedule")
        place = here()
        arguments = tuple(change.arguments())
        name = change.directive_name()
        self.directives.add(DirectiveCall(self.function_name, name, arguments, place, place), [])
        return self

    def __getattr__(self, name: str) -> Callable[..., Self]:
        if name.startswith("_"):
            raise AttributeError(name)
        cls = find_directive(name)
        if cls is None:
            hint = did_you_mean(name, directive_names())
            raise AttributeError(
                f"there is no directive '{name}'" + (f"; {hint}" if hint else "")
            )

        def method(*arguments: object, **sizes: object) -> Self:
            return self.direct(name, *arguments, **sizes)

        method.__name__ = name
        method.__doc__ = inspect.getdoc(cls)
        return method

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *directive_names()]


class Schedule:
    """The directives of a program, in the order in which they were given."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, DirectiveCall]] = []
        self.knobs: dict[str, tuple[int, KnobDefinition]] = {}
        self.alternatives: list[tuple[int, Alternatives]] = []

    def __getitem__(self, function: str | Named) -> ScheduledFunction:
        """Returns the object that takes a function's directives: `schedule["mm"].block(x=128)`.

        Raises:
            CompileError: if it is neither a function nor a name.
        """
        name = function.name if isinstance(function, Named) else function
        if not is_a(name, str) or not name.isidentifier():
            raise refusal(f"{name!r} is not a name of a function")
        return ScheduledFunction(name, self)

    def add(self, call: DirectiveCall, knobs: list[Knob]) -> None:
        """Adds a directive and the knobs that it names.

        Raises:
            CompileError: if there is another knob of one's name.
        """
        for knob in knobs:
            self._add_knob(knob.serial, knob.definition)
        self.calls.append((next(serial), call))

    def _add_knob(self, number: int, definition: KnobDefinition) -> None:
        known = self.knobs.setdefault(definition.name, (number, definition))[1]
        if known.options != definition.options:
            raise refusal(f"there are two knobs '{definition.name}'", None, definition.at)

    def extend(self, other: Schedule) -> None:
        """Adds all that another schedule says."""
        for number, definition in other.knobs.values():
            self._add_knob(number, definition)
        self.calls += [(next(serial), call) for _, call in other.calls]
        self.alternatives += [(next(serial), choice) for _, choice in other.alternatives]

    def fill(self, program: SyntaxTree) -> None:
        """Writes the schedule into a program's syntax tree."""
        program.knobs += [item for _, item in sorted(self.knobs.values(), key=lambda pair: pair[0])]
        program.directives += [item for _, item in sorted(self.calls, key=lambda pair: pair[0])]
        program.alternatives += [item for _, item in self.alternatives]

    @staticmethod
    def of(program: SyntaxTree) -> Schedule:
        """The schedule of a syntax tree."""
        found = Schedule()
        found.knobs = {item.name: (next(serial), item) for item in program.knobs}
        found.calls = [
            (next(serial), item)
            for item in program.directives
            if item.name not in OUTPUT_DIRECTIVES
        ]
        found.alternatives = [(next(serial), item) for item in program.alternatives]
        return found

    def to_dt(self) -> str:
        """The schedule in canonical DT, a directive in each line."""
        program = SyntaxTree("-")
        self.fill(program)
        some = program.directives or program.alternatives or program.knobs
        return print_program(program) if some else ""

    __str__ = to_dt

    def __repr__(self) -> str:
        return self.to_dt().rstrip() or "Schedule()"

    def _repr_html_(self) -> str:
        """Returns HTML for a notebook: the text, and what each directive does."""
        rows: list[tuple[str, str, str]] = []
        for _, call in self.calls:
            cls = find_directive(call.name)
            if cls is not None:
                summary = " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())
                rows.append((f"{call.function}.{call.name}", cls.phase.name.lower(), summary))
        head = ("directive", "phase", "what it does")
        meaning = notebook.section("what it says", notebook.table(head, rows), folded=True)
        return notebook.text(repr(self)) + (meaning if rows else "")

    def __eq__(self, other: object) -> bool:
        """Returns whether another schedule says the same, for whatever reasons."""
        return isinstance(other, Schedule) and self._said() == other._said()

    def _said(self) -> str:
        """Returns the schedule as text, without the reasons for its directives."""
        bare = Schedule()
        bare.knobs, bare.alternatives = self.knobs, self.alternatives
        bare.calls = [(number, replace(call, reason="")) for number, call in self.calls]
        return bare.to_dt()

    __hash__: Any = None

    @staticmethod
    def parse(text: str, file: str = "<schedule>") -> Schedule:
        """Reads directives, knobs and alternatives.

        Raises:
            CompileError: if the text is something else.
        """
        if not is_a(text, str):
            raise refusal(f"a {type(text).__name__} is not the text of a schedule")
        program = _with_places(parse_program(text, file), file)
        if program.declarations or program.definitions:
            raise CompileError(f"{file}: a schedule declares and defines no functions")
        for item in program.directives:
            if item.name in OUTPUT_DIRECTIVES:
                place = make_location(file, item.at.line, item.at.column)
                raise CompileError(
                    f"{file}: '{item.name}' says what is compiled, and is not a part of a schedule",
                    place,
                )
        return Schedule.of(program)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the schedule as DT; the file is whole or not there."""
        from dt_mlir.files import write_output

        write_output(os.fspath(path), self.to_dt())

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Schedule:
        """Reads what `save` has written.

        Raises:
            OSError: if the file cannot be read.
            CompileError: if it holds no schedule.
        """
        return Schedule.parse(Path(path).read_text(encoding="utf-8"), os.fspath(path))


def _with_places(program: SyntaxTree, file: str) -> SyntaxTree:
    """Returns a schedule whose directives know their file, whatever program takes them."""

    def placed(call: DirectiveCall) -> DirectiveCall:
        return replace(
            call, at=call.at._replace(file=file), name_at=call.name_at._replace(file=file)
        )

    return replace(
        program,
        knobs=[replace(item, at=item.at._replace(file=file)) for item in program.knobs],
        directives=[*map(placed, program.directives)],
        alternatives=[
            replace(
                item, at=item.at._replace(file=file),
                branches=tuple(tuple(map(placed, branch)) for branch in item.branches),
            )
            for item in program.alternatives
        ],
    )
