"""Searches for schedules of a program, which share processes and a database."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.least import least_time
from dt_mlir.costs.device import present_device
from dt_mlir.diagnostics import CompileError
from dt_mlir.frontend.emit import emit_program, set_types
from dt_mlir.kernels.given import sizes_given
from dt_mlir.kernels.shapes import check_types, sizes_of
from dt_mlir.language.names import type_of_torch
from dt_mlir.language.program import Program
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.tuning import measuring
from dt_mlir.tuning.database import Database, Setting, default_path
from dt_mlir.tuning.outcome import Outcome
from dt_mlir.tuning.progress import Bar, Silent
from dt_mlir.tuning.strategies.choosing import strategy_for
from dt_mlir.tuning.strategies.listed import Listed
from dt_mlir.tuning.strategies.strategy import Strategy
from dt_mlir.tuning.task import Candidate, Task
from dt_mlir.tuning.tuner import Options, Tuner
from dt_mlir.tuning.workers.choosing import workers_for


class Searches:
    """Searches for schedules of one program at several sizes.

    Args:
        program: the program.
        inputs: tensors of the types in question, by the names of inputs.
        options: how to search.
        derived: whether the space is derived from the algorithm.
        database: the file with results; None for that of `dt-tune`.
        gpus: the GPUs that measure; None for the present one.
        progress: whether to show a bar.

    Raises:
        CompileError: if the program is wrong for the types of the tensors.
    """

    def __init__(
        self, program: Program, inputs: Mapping[str, Any], options: Options, derived: bool,
        database: str | os.PathLike[str] | None = None, gpus: str | None = None,
        progress: bool = True,
    ) -> None:
        types = {name: str(type_of_torch(inputs[name].dtype)) for name in program.open_inputs}
        self.module = emit_program(set_types(program.tree, types.items()))
        run_pipeline(self.module, default_pipeline("dt"))
        self.interface = Interface.of(self.module)
        self._tensors = list(inputs.values())
        check_types("tune", self.interface, self._tensors, program.open_inputs)
        self._options, self._derived, self._gpus = options, derived, gpus
        self._on_gpu = torch.cuda.is_available() and os.environ.get("TRITON_INTERPRET") != "1"
        self._path = default_path() if database is None else Path(database)
        self._bar = Bar() if progress else Silent()
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._database = stack.enter_context(Database(self._path))
            self._workers = stack.enter_context(
                workers_for(self._options, not self._on_gpu, self._gpus)
            )
            self._workers.begin(self._on_gpu)
            self._open = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if isinstance(self._bar, Bar):
            self._bar.bar.close()
        self._open.close()

    def sizes_at(self, given: Mapping[str, int]) -> dict[str, int]:
        """Returns the sizes of labels: those of the tensors, and given ones that no tensor has.

        Raises:
            ValueError: where two disagree.
        """
        return sizes_of("tune", self.interface, self._tensors, sizes_given(given))

    def sizes_instead(self, given: Mapping[str, int]) -> dict[str, int]:
        """Returns the sizes of labels: given ones, and those of the tensors for others.

        Raises:
            CompileError: if there is no label of a name, or labels of one size get two.
        """
        given = sizes_given(given)
        known = sizes_of("tune", self.interface, self._tensors, {})
        named = {label for group in self.interface.groups for label in group if {*group} & {*given}}
        for label in {*named, *self.interface.derived()}:
            known.pop(label, None)
        # What is wrong with them is said, and what follows from them is known.
        every = self.interface.sizes({**known, **given})
        found = {*known, *given, *self.interface.derived()}
        named = {label for group in self.interface.groups if found & {*group} for label in group}
        return {label: size for label, size in every.items() if label in named}

    def run(self, sizes: Mapping[str, int]) -> Outcome:
        """Searches the space at some sizes.

        Raises:
            CompileError: if no schedule of the space has a time.
        """
        task, setting = self._task(sizes)
        options = self._options
        limited = options.trials is not None or options.budget is not None
        model = present_device() if self._derived else None
        strategy = strategy_for(task, setting, self._database, model, limited, options.seed)
        found = self._searched(task, setting, strategy, options)
        if found.best is None:
            reasons = [text for status in found.statuses() for text in found.reasons(status)]
            raise CompileError("no schedule of the space has a time", None, "; ".join(reasons[:3]))
        return found

    def times(self, sizes: Mapping[str, int], texts: Sequence[str]) -> list[float | None]:
        """Returns the milliseconds that candidates take at some sizes; None for one without a time.

        Args:
            sizes: the sizes of labels.
            texts: the programs with their schedules.
        """
        task, setting = self._task(sizes)
        listed = Listed([Candidate({}, text) for text in texts])
        # All are timed, whatever limits a search.
        options = replace(self._options, trials=None, budget=None)
        found = self._searched(task, setting, listed, options).records
        return [
            found[text].milliseconds if text in found and found[text].status == "ok" else None
            for text in texts
        ]

    def _task(self, sizes: Mapping[str, int]) -> tuple[Task, Setting]:
        task = Task(self.module, sizes)
        device = measuring.device_name() if self._on_gpu else "cpu"
        versions = measuring.versions(self._options.load)
        return task, Setting(task.algorithm, task.sizes, device, versions)

    def _searched(
        self, task: Task, setting: Setting, strategy: Strategy, options: Options
    ) -> Outcome:
        model = present_device()
        least = least_time(task.module, task.sizes, model) if self._on_gpu else None
        return Tuner(
            task, setting, self._database, options, self._bar, (), self._workers, strategy, least
        ).run()
