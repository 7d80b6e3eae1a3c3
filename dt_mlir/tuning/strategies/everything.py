"""Tries all schedules of a space that a program writes."""

from __future__ import annotations

from collections.abc import Mapping

from dt_mlir.tuning.task import Candidate, Task


class Everything:
    """All candidates, in the order of the space.

    Args:
        task: what is tuned.
    """

    pruned: Mapping[str, int] = {}
    seconds = None

    def __init__(self, task: Task) -> None:
        self.size = len(task.space)
        self._left = iter(task.candidates())

    def ahead(self, jobs: int) -> int:
        """See `Strategy`: what is measured next is compiled by then."""
        return 2 * jobs

    def ask(self, count: int) -> list[Candidate]:
        """See `Strategy`."""
        return [candidate for _, candidate in zip(range(count), self._left)]

    def tell(self, candidate: Candidate, milliseconds: float | None) -> None:
        """See `Strategy`; nothing follows from a time."""
