"""Chooses which points of a large space are tried, by Optuna's tree-structured Parzen estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dt_mlir.diagnostics import CompileError
from dt_mlir.scheduling.space import Point
from dt_mlir.tuning.task import Candidate, Task

_NO_TIME = 1e9
"""The cost of a candidate that has no time."""
_MISSES = 50
"""After so many points in a row that have been tried, the space counts as searched."""


class Sampled:
    """Candidates that resemble those which were fast.

    Args:
        task: what is tuned.
        seed: the seed of the suggestions.

    Raises:
        CompileError: if Optuna is not installed.
    """

    pruned: Mapping[str, int] = {}
    keep = 1.5
    excludes = True

    def __init__(self, task: Task, seed: int) -> None:
        try:
            import optuna
        except ImportError:
            raise CompileError(
                "a search by trials needs optuna", None, "pip install 'dt-mlir[tune]'"
            ) from None
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.task, self.size = task, len(task.space)
        sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True)
        self.study: Any = optuna.create_study(sampler=sampler)
        self.trials: dict[str, Any] = {}

    def ahead(self, jobs: int, places: int) -> int:
        """See `Strategy`."""
        return 2 * jobs

    def ask(self, count: int) -> list[Candidate]:
        """See `Strategy`: there are none where the space seems to be searched."""
        found: list[Candidate] = []
        misses = 0
        while len(found) < count and misses < _MISSES:
            trial = self.study.ask()
            candidate = self.task.candidate(self._point(trial))
            if candidate.text in self.trials:
                self._fail(trial)
                misses += 1
                continue
            self.trials[candidate.text] = trial
            found.append(candidate)
        return found

    def begin_imports(self) -> None:
        """See `Strategy`: it needs nothing more."""

    def tell(self, candidate: Candidate, milliseconds: float | None) -> None:
        """See `Strategy`."""
        trial = self.trials[candidate.text]
        # What has no time is to be avoided, too; the estimator only ranks.
        self.study.tell(trial, _NO_TIME if milliseconds is None else milliseconds)

    def _fail(self, trial: Any) -> None:
        from optuna.trial import TrialState

        self.study.tell(trial, state=TrialState.FAIL)

    def _point(self, trial: Any) -> Point:
        dimensions = self.task.space.dimensions.values()
        point: Point = {}
        for dimension in sorted(dimensions, key=lambda d: not d.is_choice):
            if dimension.is_choice or dimension.is_active(point):
                options = list(dimension.options)
                point[dimension.name] = trial.suggest_categorical(dimension.name, options)
        return point
