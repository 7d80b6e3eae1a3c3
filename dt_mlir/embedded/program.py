"""Programs: what functions need, collected; to and from the text of `.dt` files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.compiling import compiling
from dt_mlir.dialects.sched import Argument
from dt_mlir.embedded.declarations import Declared, Func, In
from dt_mlir.embedded.expressions import refusal
from dt_mlir.embedded.places import here
from dt_mlir.embedded.schedule import Schedule
from dt_mlir.frontend import syntax
from dt_mlir.frontend.analysis import OUTPUT_DIRECTIVES
from dt_mlir.frontend.emit import emit_program
from dt_mlir.frontend.parser import parse_program
from dt_mlir.frontend.printer import print_program
from dt_mlir.frontend.syntax import DirectiveCall

if TYPE_CHECKING:
    from dt_mlir.embedded.kernel import Kernel
    from dt_mlir.embedded.tuning import Autotuned


@dataclass(frozen=True)
class Program:
    """An algorithm, its schedule, and what is compiled of it."""

    tree: syntax.Program
    """The syntax tree."""

    @staticmethod
    def of(
        outputs: Sequence[Func], *, dynamic: bool = False, kernel_only: bool = False
    ) -> Program:
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
            if not isinstance(item, Func):  # pyright: ignore
                raise refusal(f"{item!r} is no function to compile")
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
        tree = syntax.Program(place.file or "-")
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
        return Program(tree)

    @compiling()
    def to_dt(self) -> str:
        """The program in canonical DT."""
        return print_program(self.tree)

    __str__ = to_dt

    @property
    def schedule(self) -> Schedule:
        """The schedule, without the algorithm."""
        return Schedule.of(self.tree)

    def with_schedule(self, schedule: Schedule) -> Program:
        """The same algorithm under another schedule.

        Raises:
            CompileError: if that is no schedule.
        """
        if not isinstance(schedule, Schedule):  # pyright: ignore
            raise refusal(
                f"a {type(schedule).__name__} is no schedule", "Schedule.parse reads one from text"
            )
        outputs = [item for item in self.tree.directives if item.name in OUTPUT_DIRECTIVES]
        tree = replace(self.tree, knobs=[], directives=[], alternatives=[])
        schedule.fill(tree)
        tree.directives += outputs
        return Program(tree)

    def module(self) -> ModuleOp:
        """The program as IR of the `dt` level.

        Raises:
            CompileError: at the first mistake.
        """
        return emit_program(self.tree)

    @property
    def open_inputs(self) -> list[str]:
        """The tensors whose element type the program leaves to its callers."""
        return [d.name for d in self.tree.declarations if d.kind == In.kind and d.type is None]

    def compile(self, *, static: bool = False) -> Kernel:
        """A kernel, or several, that computes the outputs; see `Kernel`.

        Args:
            static: whether it is compiled for each size anew.

        Raises:
            CompileError: at a mistake that does not depend on the types of the tensors.
        """
        from dt_mlir.embedded.kernel import Kernel

        kernel = Kernel(self, static=static)
        kernel.check()
        return kernel

    def autotuned(self, space: Schedule | None = None, **options: Any) -> Autotuned:
        """A kernel that finds the fastest schedule of its space for each type and size.

        Args:
            space: a schedule that leaves something open; None for the program's own.
            options: how to search, as for `tune`.
        """
        from dt_mlir.embedded.tuning import Autotuned

        return Autotuned(self if space is None else self.with_schedule(space), options)


def parse(text: str, file: str = "<dt>") -> Program:
    """The program of a `.dt` text.

    Args:
        text: the program.
        file: what to call the text in messages.

    Raises:
        CompileError: at the first place where the text is no program.
    """
    if not isinstance(text, str):  # pyright: ignore
        raise TypeError(f"a program is text, not {type(text).__name__}")
    return Program(parse_program(text, file))


def compile(*functions: Func, dynamic: bool = False, static: bool = False) -> Kernel:
    """A kernel that computes functions; of several it gives a tuple.

    Args:
        functions: the functions whose results are wanted.
        dynamic: whether sizes and strides are arguments of the kernels, not constants.
        static: whether it is compiled for each size anew.

    Raises:
        CompileError: at a mistake that does not depend on the types of the tensors; others show
            when the kernel is first called.
    """
    return Program.of(functions, dynamic=dynamic).compile(static=static)
