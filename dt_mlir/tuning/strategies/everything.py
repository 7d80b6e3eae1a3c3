"""Tries all schedules of a space that a program writes."""

from __future__ import annotations

from dt_mlir.tuning.strategies.listed import Listed
from dt_mlir.tuning.task import Task


class Everything(Listed):
    """All candidates, in the order of the space.

    Args:
        task: what is tuned.
    """

    excludes = True

    def __init__(self, task: Task) -> None:
        super().__init__(task.candidates())
        self.size = len(task.space)
