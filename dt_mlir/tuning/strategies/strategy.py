"""Strategies decide which candidates of a space are tried, and in which order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from dt_mlir.tuning.task import Candidate


class Strategy(Protocol):
    """Suggests candidates, and hears what came of them."""

    @property
    def size(self) -> int:
        """The number of schedules among which it chooses."""
        ...

    @property
    def pruned(self) -> Mapping[str, int]:
        """The number of choices that are left out without a trial, by the reason."""
        ...

    @property
    def keep(self) -> float:
        """The factor by which candidates may be slower than the best to be timed again."""
        ...

    @property
    def excludes(self) -> bool:
        """True if what cannot be the fastest need not be timed."""
        ...

    def ahead(self, jobs: int, places: int) -> int:
        """Returns how many candidates may be under way at once.

        Args:
            jobs: how many can be compiled at once.
            places: how many can be measured at once.
        """
        ...

    def ask(self, count: int) -> list[Candidate]:
        """Returns candidates that it has not suggested before; none when there are no more.

        Args:
            count: the most candidates to return.
        """
        ...

    def begin_imports(self) -> None:
        """Begins to import what it needs once a time is known, while the caller waits for one."""
        ...

    def tell(self, candidate: Candidate, milliseconds: float | None) -> None:
        """Hears how long a candidate takes; None if it has no time."""
        ...
