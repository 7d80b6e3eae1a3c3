"""Programs: what functions need, collected; to and from the text of `.dt` files."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Self

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.compiling import compiling
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects.sched import Argument
from dt_mlir.frontend import syntax
from dt_mlir.frontend.analysis import OUTPUT_DIRECTIVES
from dt_mlir.frontend.emit import emit_program, set_types
from dt_mlir.frontend.parser import parse_program
from dt_mlir.frontend.printer import print_program
from dt_mlir.frontend.syntax import DirectiveCall
from dt_mlir.language import notebook
from dt_mlir.language.declarations import Func, In, Label
from dt_mlir.language.names import Declared
from dt_mlir.language.places import here, is_a, refusal
from dt_mlir.language.schedule import Schedule


@dataclass(frozen=True)
class Program:
    """An algorithm, its schedule, and what is compiled of it."""

    tree: syntax.SyntaxTree
    """The syntax tree."""

    @classmethod
    def of(
        cls, outputs: Sequence[Func], *, dynamic: bool = False, kernel_only: bool = False
    ) -> Self:
        """The program that computes functions, with all that they read.

        Args:
            outputs: the functions whose results are wanted.
            dynamic: whether sizes and strides are arguments of the kernels, not constants.
            kernel_only: whether the generated module is to have no wrapper, as after
                `compile_to_kernel`.

        Raises:
            CompileError: if a function is not defined, or two things have one name.
        """
        for item in outputs:
            if is_a(item, Program):
                raise refusal("a program says itself what is compiled", "call its compile()")
            if not is_a(item, Func):
                hint = "give each of them, as in compile(f, g)" if is_a(item, list, tuple) else None
                raise refusal(f"a {type(item).__name__} is not a function to compile", hint)
        if not outputs:
            raise refusal("there is nothing to compile", "name at least one function")
        found: dict[Declared, None] = {}
        pending: list[Declared] = list(reversed(outputs))
        while pending:
            item = pending.pop()
            if item in found:
                continue
            found[item] = None
            if isinstance(item, Func):
                if item.definition is None:
                    raise refusal(
                        f"'{item.name}' is not defined", f"write '{item.name}[…] = …'", item.at
                    )
                pending += item.definition[2]
            if isinstance(item, Label) and item.size is not None:
                pending += item.size.uses
        items = sorted(found, key=lambda item: item.serial)
        by_name: dict[str, Declared] = {}
        for item in items:
            if by_name.setdefault(item.name, item) is not item:
                raise refusal(
                    f"two different things are called '{item.name}'",
                    "use one object for one thing, and a name of its own for each", item.at,
                )
        functions = [item for item in items if isinstance(item, Func)]
        definitions = sorted(
            (f.definition for f in functions if f.definition is not None), key=lambda d: d[0]
        )
        place = here()
        tree = syntax.SyntaxTree(place.file or "-")
        tree.declarations += [item.declaration for item in items]
        tree.definitions += [definition for _, definition, _ in definitions]
        schedule = Schedule()
        for function in functions:
            # Not extend(), which would number them anew.
            schedule.calls += function.directives.calls
            schedule.alternatives += function.directives.alternatives
            for number, knob in function.directives.knobs.values():
                schedule.knobs.setdefault(knob.name, (number, knob))
        schedule.fill(tree)
        arguments = (Argument("dynamic", 1),) if dynamic else ()
        tree.directives += [
            DirectiveCall(output.name, OUTPUT_DIRECTIVES[kernel_only], arguments, place, place)
            for output in outputs
        ]
        return cls(tree)

    @classmethod
    def parse(cls, text: str, file: str = "<dt>") -> Self:
        """The program of a `.dt` text.

        Args:
            text: the program.
            file: what to call the text in messages.

        Raises:
            CompileError: at the first place where the text is not a program.
        """
        if not is_a(text, str):
            raise TypeError(f"a program is text, not {type(text).__name__}")
        return cls(parse_program(text, file))

    @compiling()
    def to_dt(self) -> str:
        """The program in canonical DT."""
        return print_program(self.tree)

    __str__ = to_dt

    def _repr_html_(self) -> str:
        """Returns HTML for a notebook: the algorithm and the schedule."""
        bare = replace(self.tree, knobs=[], directives=[], alternatives=[])
        algorithm = notebook.section("algorithm", notebook.text(print_program(bare)))
        return algorithm + notebook.section("schedule", notebook.html_of(self.schedule))

    @property
    def schedule(self) -> Schedule:
        """The schedule, without the algorithm."""
        return Schedule.of(self.tree)

    def with_schedule(self, schedule: Schedule) -> Self:
        """The same algorithm under another schedule.

        Raises:
            CompileError: if that is not a schedule.
        """
        if not is_a(schedule, Schedule):
            raise refusal(
                f"a {type(schedule).__name__} is not a schedule",
                "Schedule.parse reads one from text",
            )
        outputs = [item for item in self.tree.directives if item.name in OUTPUT_DIRECTIVES]
        tree = replace(self.tree, knobs=[], directives=[], alternatives=[])
        schedule.fill(tree)
        tree.directives += outputs
        return type(self)(tree)

    def module(self) -> ModuleOp:
        """The program as IR of the `dt` level.

        Inputs of no declared type have that of `open_types`.

        Raises:
            CompileError: at the first mistake.
        """
        return emit_program(set_types(self.tree, self.open_types().items()))

    def open_types(self) -> dict[str, str]:
        """Returns a type for each input that the program declares none of, but for `f32`.

        It is `i32`, or else `bool`, where the program is defined on that and not on `f32`.
        """
        for type in ("f32", "i32", "bool") if self.open_inputs else ():
            found = dict.fromkeys(self.open_inputs, type) if type != "f32" else {}
            with suppress(CompileError):
                emit_program(set_types(self.tree, found.items()))
                return found
        return {}

    @property
    def open_inputs(self) -> list[str]:
        """The tensors whose element type the program leaves to its callers."""
        return [d.name for d in self.tree.declarations if d.kind == In.kind and d.type is None]
