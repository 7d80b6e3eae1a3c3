"""Programs that are compiled, searched for their fastest schedule, and tuned as they are called."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from xdsl.dialects.builtin import ModuleOp

import dt_mlir.language.declarations as declarations
import dt_mlir.language.program as language_program
from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.auto import KEPT
from dt_mlir.diagnostics import CompileError, did_you_mean, make_location, warn
from dt_mlir.frontend.analysis import OUTPUT_DIRECTIVES
from dt_mlir.frontend.emit import emit_program, set_types
from dt_mlir.kernels.chosen import ChosenKernel
from dt_mlir.kernels.dispatched import TunedForSizes, tuned_for_sizes
from dt_mlir.kernels.given import sizes_given, types_given
from dt_mlir.kernels.kernel import Kernel, copied
from dt_mlir.kernels.shapes import check_types, sizes_of
from dt_mlir.language import notebook
from dt_mlir.language.names import type_of_torch
from dt_mlir.language.places import here, is_a, refusal
from dt_mlir.language.schedule import Schedule
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.registry import find_directive, plugin_passes

if TYPE_CHECKING:
    from dt_mlir.explorer.exploration import Exploration
    from dt_mlir.tuning.outcome import Outcome

SHOWN = 10
"""The number of schedules that a search's outcome shows in a notebook."""


class Program(language_program.Program):
    __doc__ = language_program.Program.__doc__

    def compile(self, *, static: bool = False, schedule: str | None = None) -> Kernel:
        """A kernel, or several, that computes the outputs; see `Kernel`.

        Args:
            static: whether it is compiled for each size anew.
            schedule: "auto" for a schedule that is predicted to be fast, in place of the
                program's own, for each type and size; see `auto`.

        Raises:
            CompileError: at a mistake that does not depend on the types of the tensors.
        """
        if schedule == "auto":
            return Automatic(self, static=static)
        if schedule is not None:
            raise refusal(
                f"{schedule!r} is not a way to schedule a program",
                "write 'auto', or give a Schedule to with_schedule",
            )
        kernel = Kernel(self, static=static)
        kernel.check()
        if not _is_scheduled(self):
            place = here()
            warn(
                f"'{kernel.name}' has no schedule: a program instance computes a single element",
                make_location(place.file or "-", place.line, place.column),
                "schedule it, or let compile(schedule='auto') do it",
            )
        return kernel

    def autotuned(self, space: Schedule | str | None = None, **options: Any) -> Autotuned:
        """A kernel that finds the fastest schedule of its space for each type and size.

        Args:
            space: a schedule that leaves something open; "auto" for a space that is derived from
                the algorithm; None for the program's own.
            options: how to search, as for `tune`.
        """
        if isinstance(space, str):
            return Autotuned(self, options, space)
        return Autotuned(self if space is None else self.with_schedule(space), options)


class Func(declarations.Func):
    __doc__ = declarations.Func.__doc__

    def _repr_html_(self) -> str:
        """Returns HTML for a notebook: the algorithm as far as it is defined, and the schedule."""
        try:
            return notebook.html_of(Program.of([self]))
        except CompileError as error:
            # It is shown while it is written.
            return notebook.text(f"{self.name}: {error}") + notebook.html_of(self.directives)

    def compile(
        self, *, dynamic: bool = False, static: bool = False, schedule: str | None = None
    ) -> Kernel:
        """A kernel, or several, that computes the function.

        Args:
            dynamic: as for `compile`.
            static: as for `compile`.
            schedule: as for `compile`.

        Raises:
            CompileError: as `compile` does.
        """
        return compile(self, dynamic=dynamic, static=static, schedule=schedule)

    def autotuned(self, space: Schedule | str | None = None, **options: Any) -> Autotuned:
        """A kernel that finds the fastest schedule of its space for each type and size.

        Args:
            space: as for `Program.autotuned`.
            options: as for `tune`.
        """
        return Program.of([self]).autotuned(space, **options)


def _is_scheduled(program: language_program.Program) -> bool:
    """Returns whether a program has directives that say more than how to round."""
    silent = {*OUTPUT_DIRECTIVES, *KEPT}
    return any(item.name not in silent for item in program.tree.all_directives())


def parse(text: str, file: str = "<dt>") -> Program:
    """The program of a `.dt` text.

    Args:
        text: the program.
        file: what to call the text in messages.

    Raises:
        CompileError: at the first place where the text is not a program.
    """
    return Program.parse(text, file)


def compile(
    *functions: Func, dynamic: bool = False, static: bool = False, schedule: str | None = None
) -> Kernel:
    """A kernel that computes functions; of several it gives a tuple.

    Args:
        functions: the functions whose results are wanted.
        dynamic: whether sizes and strides are arguments of the kernels, not constants.
        static: whether it is compiled for each size anew.
        schedule: "auto" for a schedule that is predicted to be fast; see `auto`.

    Raises:
        CompileError: at a mistake that does not depend on the types of the tensors; others show
            when the kernel is first called.
    """
    return Program.of(functions, dynamic=dynamic).compile(static=static, schedule=schedule)


def auto(
    what: Func | Program | Kernel,
    *tensors: Any,
    types: Mapping[str, Any] | None = None,
    sizes: Mapping[str, int] | None = None,
    device: str | None = None,
) -> Schedule:
    """Returns a schedule that is predicted to be fast, with the reasons for its directives.

    Nothing is measured, and no GPU is needed. The program's own schedule is left aside, but for
    `precision`, `math` and `deterministic`: they say which rounding is wanted.

    Args:
        what: a function, a program or a kernel.
        tensors: tensors of the types and sizes in question; their elements do not matter.
        types: element types of the inputs that the program leaves open, without tensors.
        sizes: sizes of labels; others are assumed to be 4096, of which a warning tells.
        device: the device, as `h200` or as its driver calls it; None for the present GPU, or
            an H200.

    Raises:
        CompileError: if the program is wrong, or there are no figures of the device.
    """
    from dt_mlir.autoscheduling.auto import assumed_sizes, auto_schedule, open_labels
    from dt_mlir.autoscheduling.decisions import calls
    from dt_mlir.costs.device import find_device, present_device

    program = _program(what, None)
    module, known = _settled("auto", program, tensors, types, sizes)
    if device is not None and not is_a(device, str):
        raise refusal(f"a device has a name, as 'h200', and {device!r} is none")
    model = present_device() if device is None else find_device(device)
    every, place = assumed_sizes(module, known), here()
    assumed = ", ".join(f"{label}={every[label]}" for label in open_labels(module, known))
    if assumed:
        location = make_location(place.file or "-", place.line, place.column)
        warn(f"auto assumes {assumed}", location, "give the sizes, or tensors that have them")
    decisions = auto_schedule(module, every, model)
    schedule = Schedule()
    for call in calls(decisions):
        schedule.add(replace(call, at=place, name_at=place), [])
    return schedule


@dataclass(frozen=True)
class Tuned:
    """The outcome of a search."""

    program: Program
    """The algorithm under the fastest schedule of the space."""
    milliseconds: float
    """The time of a call, in milliseconds."""
    outcome: Outcome
    """All that was measured."""

    @property
    def schedule(self) -> Schedule:
        """The fastest schedule."""
        return self.program.schedule

    def compile(self) -> Kernel:
        """The program as a kernel."""
        return self.program.compile()

    def table(self, count: int = 10) -> str:
        """The fastest schedules as a table, and what became of the others."""
        from dt_mlir.tuning.report import table

        return table(self.outcome, count)

    def explore(self) -> Exploration:
        """A page of all schedules that have a time, as points that open their schedule."""
        from dt_mlir.explorer.search import explore_outcome

        outputs = [d.function for d in self.program.tree.directives if d.name in OUTPUT_DIRECTIVES]
        return explore_outcome(self.outcome, f"schedules of {', '.join(outputs)}", {})

    def __repr__(self) -> str:
        return f"{self.milliseconds:.4f} ms\n{self.table()}"

    def _repr_html_(self) -> str:
        """Returns HTML for a notebook: the fastest schedule, and a table of the others."""
        fastest = notebook.section(
            f"fastest schedule: {self.milliseconds:.4f} ms", notebook.html_of(self.schedule)
        )
        records = self.outcome.ranked()[:SHOWN]
        names = list(dict.fromkeys(name for record in records for name in record.point))
        rows = [
            (f"{record.milliseconds or 0.0:.4f}", len(record.times),
             *(record.point.get(name, "") for name in names))
            for record in records
        ]  # fmt: skip
        return fastest + notebook.table(["ms", "rounds", *names], rows)


def tune(
    what: Func | Program | Kernel,
    *tensors: Any,
    space: Schedule | str | None = None,
    sizes: Mapping[str, int] | Sequence[Mapping[str, int]] | None = None,
    database: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    gpus: str | None = None,
    rounds: int = 5,
    keep: float | None = None,
    timeout: float = 120.0,
    trials: int | None = None,
    budget: float | None = None,
    seed: int = 0,
    progress: bool = True,
) -> Tuned | TunedForSizes:
    """Finds the fastest schedule of a space for tensors of some types and sizes, or for several.

    What was measured before, here or by `dt-tune`, is not measured again. Without a GPU, Triton's
    interpreter is timed, which says nothing about a GPU.

    Args:
        what: a function, a program or a kernel, whose schedule is a space.
        tensors: tensors of the types and sizes in question, as the kernel takes them; their
            elements do not matter, and scalars may be left out.
        space: a space in place of the program's own schedule; "auto" for one that is derived from
            the algorithm, which is searched in the order of predicted time.
        sizes: sizes of labels that no tensor has; or several sizes, each in place of those of the
            tensors, for a kernel that chooses among a few schedules by its sizes.
        database: the file with results; None for that of `dt-tune`.
        jobs: how many processes compile; None for as many as there are cores.
        gpus: the GPUs that measure, "all" or as "0,1"; None for the present one.
        rounds: how often what is kept is timed.
        keep: after the first look, what is this much slower than the best is not timed again; None
            for a factor of 1.5, of 1.1 where the space is derived.
        timeout: the seconds after which compiling or running one candidate is ended.
        trials: the most candidates to try; None for all, of a derived space for some dozens.
        budget: the seconds after which no further candidate is tried; None for no limit.
        seed: the seed of orders and of the search.
        progress: whether to show a bar.

    Raises:
        CompileError: if the program is wrong, or no schedule of the space has a time.
    """
    _check_limits(
        {"jobs": jobs, "rounds": rounds, "trials": trials},
        {"keep": (keep, 1.0), "timeout": (timeout, 0.0), "budget": (budget, 0.0)},
    )
    several = None if sizes is None or isinstance(sizes, Mapping) else sizes
    if several is not None and not (
        is_a(several, list, tuple) and all(is_a(item, Mapping) for item in several)
    ):
        raise refusal("sizes is a mapping of labels to sizes, or a list of such")
    program = _program(what, None if isinstance(space, str) else space)
    if isinstance(space, str) and space != "auto":
        raise refusal(f"{space!r} is not a space", "write 'auto', or give a Schedule")
    try:
        from dt_mlir.kernels.searches import Searches
        from dt_mlir.tuning.tuner import Options

        options = Options(
            jobs=jobs or os.cpu_count() or 1, rounds=rounds, keep=keep, timeout=timeout,
            trials=trials, budget=budget, seed=seed, load=_plugin_files(program),
        )  # fmt: skip
        inputs = _inputs("tune", program, tensors)
        searches = Searches(program, inputs, options, space == "auto", database, gpus, progress)
    except ImportError as error:
        raise CompileError(
            f"tuning needs {error.name}", None, "pip install 'dt-mlir[run,tune]'"
        ) from None
    with searches:
        if several is not None:
            return tuned_for_sizes(searches, several)
        found = searches.run(searches.sizes_at(sizes if isinstance(sizes, Mapping) else {}))
    best = found.best
    assert best is not None
    assert best.milliseconds is not None
    return Tuned(parse(best.program), best.milliseconds, found)


def _check_limits(
    counts: Mapping[str, Any], numbers: Mapping[str, tuple[Any, float]]
) -> None:
    """Refuses options of a search that are none.

    Args:
        counts: options that count something, by name; None for one that is not given.
        numbers: other options, each with the number that it does not fall short of.

    Raises:
        CompileError: at the first one.
    """
    for name, value in counts.items():
        if value is not None and (not is_a(value, int) or is_a(value, bool) or value < 1):
            raise refusal(f"{name} is a number of 1 or more, not {value!r}")
    for name, (value, least) in numbers.items():
        if value is not None and not (is_a(value, int, float) and value >= least and value > 0):
            wanted = f"at least {least:g}" if least else "more than 0"
            raise refusal(f"{name} is {wanted}, not {value!r}")


def best(
    what: Func | Program | Kernel,
    *tensors: Any,
    space: Schedule | None = None,
    types: Mapping[str, Any] | None = None,
    sizes: Mapping[str, int] | None = None,
    device: str | None = None,
    database: str | os.PathLike[str] | None = None,
) -> Program:
    """The program under the fastest schedule that `tune` or `dt-tune` has recorded.

    Nothing is measured, and no GPU is needed.

    Args:
        what: a function, a program or a kernel, whose schedule is a space.
        tensors: tensors of the types and sizes in question; without any, `types` and `sizes`
            say what they are, as far as several records make it necessary.
        space: a space in place of the program's own schedule.
        types: element types of the inputs that the program leaves open.
        sizes: sizes of labels.
        device: the device's name or a part of it; None for the present GPU, or the only device
            that there is a record of.
        database: the file with results; None for that of `dt-tune`.

    Raises:
        CompileError: if the program is wrong, there is no record, or what is given does not
            choose one.
    """
    from dt_mlir.tuning import measuring
    from dt_mlir.tuning.best import recorded_best
    from dt_mlir.tuning.database import default_path

    program = _program(what, space)
    module, known = _settled("best", program, tensors, types, sizes)
    if device is None and torch.cuda.is_available():
        device = measuring.device_name()
    path = default_path() if database is None else Path(database)
    candidate, _ = recorded_best(module, path, known, device)
    return parse(candidate.text)


def _plugin_files(program: Program) -> tuple[str, ...]:
    """The Python files of directives that other processes would not find by themselves.

    Raises:
        CompileError: for one that the main module defines, which they do not run.
    """
    found: list[str] = []
    installed = plugin_passes()
    for call in program.tree.all_directives():
        cls = find_directive(call.name)
        if cls is None or cls.__module__.startswith("dt_mlir.") or cls.name in installed:
            continue
        file = None if cls.__module__ == "__main__" else inspect.getsourcefile(cls)
        if file is None:
            raise refusal(
                f"the processes of a search do not find the directive '{call.name}', which the "
                "main module defines", "put it into a module of its own",
            )
        found.append(file)
    return tuple(dict.fromkeys(found))


def _program(what: Func | Program | Kernel, space: Schedule | None) -> Program:
    if isinstance(what, Func):
        program = Program.of([what])
    elif isinstance(what, Kernel):
        program = Program(what.program.tree)
    elif is_a(what, Program):
        program = what
    else:
        kind = type(what).__name__
        raise refusal(f"a {kind} is neither a function, nor a program, nor a kernel")
    return program if space is None else program.with_schedule(space)


def _settled(
    name: str,
    program: Program,
    tensors: tuple[Any, ...],
    types: Mapping[str, Any] | None,
    sizes: Mapping[str, int] | None,
) -> tuple[ModuleOp, dict[str, int]]:
    """Returns a program at the `dt` level for some types, and the sizes that are known.

    Args:
        name: what to call the caller in messages.
        program: the program.
        tensors: tensors that say types and sizes; perhaps none.
        types: element types, where no tensors say them.
        sizes: sizes of labels.
    """
    wanted = program.open_types() if not tensors else {}
    wanted |= {} if types is None else types_given(types)
    known = {} if sizes is None else sizes_given(sizes)
    inputs = _inputs(name, program, tensors) if tensors else {}
    if tensors:
        wanted = {item: str(type_of_torch(inputs[item].dtype)) for item in program.open_inputs}
    module = emit_program(set_types(program.tree, wanted.items()))
    run_pipeline(module, default_pipeline("dt"))
    if tensors:
        interface = Interface.of(module)
        found = sizes_of(name, interface, list(inputs.values()), known)
        check_types(name, interface, list(inputs.values()), program.open_inputs)
        known = {label: found[label] for label in interface.labels if label in found}
    return module, known


def _inputs(name: str, program: Program, tensors: tuple[Any, ...]) -> dict[str, Any]:
    """The tensors by name.

    Raises:
        CompileError: if there is none for an input, or one is not a tensor.
    """
    names = [d.name for d in program.tree.declarations if d.kind in ("In", "SIn")]
    if len(tensors) > len(names):
        raise refusal(f"{name}: there are {len(names)} inputs, and {len(tensors)} are given")
    names = [d.name for d in program.tree.declarations if d.kind == "In"]
    found = dict(zip(names, tensors))
    for item in names:
        given = found.get(item)
        if item not in found:
            raise refusal(f"{name}: there is no tensor for '{item}'")
        if not isinstance(given, torch.Tensor):
            raise refusal(f"{name}: '{item}' must be a tensor, not {type(given).__name__}")
        if type_of_torch(given.dtype) is None:
            raise refusal(f"{name}: '{item}' has elements of {given.dtype}")
    return found


class Automatic(ChosenKernel):
    """A kernel whose schedule is the one that is predicted to be fast for the types and sizes.

    Args:
        program: the program; of its schedule only what it says about rounding counts.
        static: whether it is compiled for each size anew.
    """

    def __init__(self, program: Program, static: bool = False) -> None:
        super().__init__(program, static=static)
        # Its mistakes show now, and whether it can be scheduled.
        Kernel(program.with_schedule(Schedule())).check()

    @property
    def _variant(self) -> str:
        return "auto"

    def _choose(
        self, key: tuple[Any, ...], given: Sequence[Any], labels: dict[str, Any]
    ) -> Program:
        found = auto(self, *given, sizes=labels)
        return Program(self.program.tree).with_schedule(found)

    def __reduce__(self) -> tuple[Any, ...]:
        return copied, (Automatic, (self.program, self.static), self._backward)


class Autotuned(ChosenKernel):
    """A kernel whose schedule is searched when it meets new types or sizes.

    Args:
        program: the program, its schedule a space.
        options: how to search, as for `tune`.
        space: "auto" for a space that is derived from the algorithm; None for the program's own.
    """

    def __init__(
        self, program: Program, options: Mapping[str, Any], space: str | None = None
    ) -> None:
        self.options, self.space = dict(options), space
        if space not in (None, "auto"):
            raise refusal(f"{space!r} is not a space", "write 'auto', or give a Schedule")
        self.found: dict[tuple[Any, ...], Tuned] = {}
        """The kernels found, by the tensors' types and shapes, and by sizes that no tensor has."""
        known = inspect.signature(tune).parameters.values()
        names = [p.name for p in known if p.kind is p.KEYWORD_ONLY and p.name != "space"]
        for name in options:
            if name not in names:
                hint = did_you_mean(name, names)
                raise refusal(f"'{name}' is not an option of a search", hint)
        if not isinstance(options.get("sizes", {}), Mapping):
            raise refusal(
                "a kernel that is tuned as it is called searches at the sizes that it meets",
                "dt_mlir.tune(…, sizes=[…]) searches at several sizes",
            )
        super().__init__(program)

    @property
    def _variant(self) -> str:
        return f"autotuned {self.space} {sorted(self.options.items())}"

    def _choose(
        self, key: tuple[Any, ...], given: Sequence[Any], labels: dict[str, Any]
    ) -> Program:
        labels = {**self.options.get("sizes", {}), **labels}
        options: dict[str, Any] = {**self.options, "sizes": labels}
        found = tune(self, *given, space=self.space, **options)
        assert isinstance(found, Tuned), "its sizes are those of a call"
        self.found[key] = found
        return found.program

    def __reduce__(self) -> tuple[Any, ...]:
        return copied, (Autotuned, (self.program, self.options, self.space), self._backward)
