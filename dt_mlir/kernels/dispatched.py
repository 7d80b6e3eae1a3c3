"""Kernels that choose among a few schedules by the sizes of their tensors."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dt_mlir.analysis.interface import Interface
from dt_mlir.backend.python_module import emit_module
from dt_mlir.diagnostics import CompileError
from dt_mlir.files import write_output
from dt_mlir.frontend.emit import emit_program
from dt_mlir.kernels.chosen import ChosenKernel
from dt_mlir.kernels.kernel import Kernel, copied
from dt_mlir.kernels.shapes import in_order, sizes_of
from dt_mlir.language import notebook
from dt_mlir.language.places import refusal
from dt_mlir.language.program import Program
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.runtime.execute import wrapper_name

if TYPE_CHECKING:
    from dt_mlir.kernels.searches import Searches
    from dt_mlir.tuning.dispatch import Tree


@dataclass(frozen=True)
class TunedForSizes:
    """The outcome of searches at several sizes."""

    programs: tuple[Program, ...]
    """The algorithm under each of the schedules among which sizes choose."""
    tree: Tree
    """The tree that chooses among them."""
    sizes: tuple[Mapping[str, int], ...]
    """The sizes that were searched at."""
    milliseconds: tuple[tuple[float | None, ...], ...]
    """The time of each schedule at each of the sizes; None where it has none."""
    best: tuple[float, ...]
    """The time of the best schedule that was found at each of the sizes, in milliseconds."""

    @property
    def text(self) -> str:
        """The tree, as statements of Python that return the number of a schedule."""
        from dt_mlir.tuning.dispatch import text_of

        return text_of(self.tree)

    def choose(self, sizes: Mapping[str, int]) -> int:
        """Returns the number of the schedule for sizes of labels."""
        from dt_mlir.tuning.dispatch import choose

        return choose(self.tree, sizes)

    def __repr__(self) -> str:
        numbers = f"{len(self.programs)} schedules for {len(self.sizes)} sizes"
        return f"<{numbers}>\n{self.text}"

    def _repr_html_(self) -> str:
        """Returns HTML for a notebook: the times at each of the sizes, and the choice."""
        head = ["sizes", "best ms", *(f"schedule {n}" for n in range(len(self.programs)))]
        rows = [
            (", ".join(f"{label} = {size}" for label, size in sizes.items()), f"{best:.4f}",
             *("" if time is None else f"{time:.4f}" for time in times))
            for sizes, best, times in zip(self.sizes, self.best, self.milliseconds)
        ]  # fmt: skip
        schedules = [
            notebook.section(f"schedule {number}", notebook.html_of(program.schedule), folded=True)
            for number, program in enumerate(self.programs)
        ]
        return notebook.table(head, rows) + notebook.text(self.text) + "".join(schedules)

    def compile(self) -> Kernel:
        """A kernel that chooses when it meets new sizes."""
        return Dispatched(self)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes a Python package that needs Triton and PyTorch alone.

        It has a module for each schedule, with the program that it was compiled of beside it, and
        a function that chooses among them.

        Args:
            folder: the package's folder, which is made where there is none.

        Raises:
            CompileError: if the folder cannot be made, or holds a package that was not saved so.
        """
        target = Path(folder)
        if not target.name.isidentifier() or iskeyword(target.name):
            raise CompileError(f"'{target.name}' is not the name of a Python package")
        if not _may_be_replaced(target / "__init__.py"):
            raise CompileError(
                f"{target} is another package, of which '__init__.py' would be lost", None,
                "choose another folder, or remove it first",
            )  # fmt: skip
        # All of it is compiled before anything is written.
        sources: list[str] = []
        for program in self.programs:
            module = emit_program(program.tree)
            run_pipeline(module, default_pipeline("warp"))
            sources.append(emit_module(module, wrapped=True))
        try:
            target.mkdir(parents=True, exist_ok=True)
            for stale in target.glob("schedule_*.*"):
                if stale.suffix in (".py", ".dt"):
                    stale.unlink()
        except OSError as error:
            raise CompileError(f"{target} cannot be made: {error.strerror}") from None
        for number, (source, program) in enumerate(zip(sources, self.programs)):
            write_output(str(target / f"schedule_{number}.py"), source)
            write_output(str(target / f"schedule_{number}.dt"), str(program))
        function = wrapper_name(sources[0])
        write_output(str(target / "__init__.py"), self._package(function, sources[0]))

    def _package(self, function: str, source: str) -> str:
        """Returns the package's own module.

        Args:
            function: the name of the wrappers.
            source: one of the modules, from which the names of parameters are taken.
        """
        from dt_mlir.tuning.dispatch import named, tested, text_of

        interface = Interface.of(emit_program(self.programs[0].tree))
        inputs, free = in_order(interface), interface.free_labels()
        header = ast.parse(source)
        wrapper = next(
            item for item in header.body
            if isinstance(item, ast.FunctionDef) and item.name == function
        )  # fmt: skip
        # The wrapper has names that Python takes.
        names = [item.arg for item in wrapper.args.args]
        options = [item.arg for item in wrapper.args.kwonlyargs]
        known = {
            axis: f"{name}.shape[{place}]" for name, item in zip(names, inputs)
            for place, axis in enumerate(item.axes or ()) if isinstance(axis, str)
        }  # fmt: skip
        known.update(zip(free, options))
        labels = [label for label in self.sizes[0] if any(label in f for f in tested(self.tree))]
        sizes = {label: f"size_{place}" for place, label in enumerate(labels)}
        count = range(len(self.programs))
        private = "_"
        while any(name.startswith(private) for name in (*names, *options, function)):
            private += "_"
        used = {known[label] for label in labels if label in known}
        checks = [
            f"getattr({name}, 'ndim', None) == {len(item.axes or ())}"
            for name, item in zip(names, inputs)
            if used.intersection(f"{name}.shape[{place}]" for place in range(len(item.axes or ())))
        ] + [
            f"hasattr({name}, '__index__') and getattr({name}, 'ndim', 0) == 0"
            for name in options if name in used
        ]  # fmt: skip
        said = ", ".join(f"{made} is the size of '{label}'" for label, made in sizes.items())
        defaults = [f"{name}=None" if name == "out" else name for name in options]
        return _PACKAGE.format(
            function=function, about=_ABOUT,
            modules=", ".join(f"schedule_{n} as {private}schedule_{n}" for n in count),
            private=private,
            labels=", ".join(sizes.values()), said=f"; {said}" if said else "",
            tree=text_of(
                named(self.tree, sizes), "    ", lambda n: f"{private}schedule_{n}.{function}"
            ),
            parameters=", ".join([*names, "*", *defaults]),
            passed=", ".join([*names, *(f"{name}={name}" for name in options)]),
            sizes=", ".join(known.get(label, label) for label in labels),
            known=" and ".join(checks) or "True",
        )  # fmt: skip


_ABOUT = "one of several schedules, by the sizes of its tensors."
_PACKAGE = '''"""{function}: {about}"""

from . import {modules}


def {private}choose({labels}):
    """Returns the function that is fast at some sizes{said}."""
{tree}

def {function}({parameters}):
    """Computes what the functions of the modules do; see there."""
    # Any of them says what is wrong with arguments that have no such sizes.
    {private}chosen = {private}choose({sizes}) if {known} else {private}schedule_0.{function}
    return {private}chosen({passed})
'''


def _may_be_replaced(path: Path) -> bool:
    """Returns whether a module of a package is absent, or was saved before."""
    try:
        return _ABOUT in path.read_text(encoding="utf-8").partition("\n")[0]
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, UnicodeDecodeError):
        return False


class Dispatched(ChosenKernel):
    """A kernel that chooses among schedules by the sizes of its tensors.

    Args:
        tuned: the schedules, and the tree that chooses among them.
    """

    def __init__(self, tuned: TunedForSizes) -> None:
        self.tuned = tuned
        super().__init__(tuned.programs[0])

    @property
    def _variant(self) -> str:
        programs = "\n".join(map(str, self.tuned.programs))
        return f"dispatched {self.tuned.text}{programs}"

    def _choose(
        self, key: tuple[Any, ...], given: Sequence[Any], labels: dict[str, Any]
    ) -> Program:
        sizes = sizes_of(self.name, self._made_operator().interface, given, labels)
        return self.tuned.programs[self.tuned.choose(sizes)]

    def __reduce__(self) -> tuple[Any, ...]:
        return copied, (Dispatched, (self.tuned,), self._backward)


def tuned_for_sizes(
    searches: Searches, several: Sequence[Mapping[str, int]]
) -> TunedForSizes:
    """Searches at several sizes, and chooses a few of the schedules that win at one of them.

    Args:
        searches: what searches.
        several: the sizes, each in place of those of the tensors.

    Raises:
        CompileError: if there are no sizes, or no schedule has a time at one of them.
    """
    from dt_mlir.tuning.dispatch import grow, leaves, renumbered

    if not several:
        raise refusal("there are no sizes to tune for", "give some, as in sizes=[{'x': 4096}]")
    every = [searches.sizes_instead(given) for given in several]
    best: list[float] = []
    texts: dict[str, None] = {}
    for sizes in every:
        record = searches.run(sizes).best
        assert record is not None
        texts[record.program] = None
        best.append(record.milliseconds or 0.0)
    known = list(texts)
    times = [searches.times(sizes, known) for sizes in every]
    # Another size's winner may be faster than what the search at a size has tried.
    best = [
        min([first, *(time for time in row if time is not None)])
        for first, row in zip(best, times)
    ]
    # What calls know: the sizes of axes, and those that they are given.
    interface = searches.interface
    told = {axis for item in interface.inputs for axis in item.axes or ()} | {
        *interface.free_labels()
    }
    shown = [{label: size for label, size in sizes.items() if label in told} for sizes in every]
    tree = grow(shown, times)
    used = list(dict.fromkeys(leaves(tree)))
    return TunedForSizes(
        tuple(Program.parse(known[number]) for number in used),
        renumbered(tree, {number: place for place, number in enumerate(used)}),
        tuple(shown),
        tuple(tuple(row[number] for number in used) for row in times),
        tuple(best),
    )
