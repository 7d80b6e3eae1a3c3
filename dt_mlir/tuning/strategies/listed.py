"""Tries candidates that are listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dt_mlir.tuning.task import Candidate


class Listed:
    """Some candidates, in their order.

    Args:
        candidates: the candidates.
    """

    pruned: Mapping[str, int] = {}
    keep = 1.5
    excludes = False

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.size = len(candidates)
        self._left = iter(candidates)

    def ahead(self, jobs: int, places: int) -> int:
        """See `Strategy`."""
        return 2 * jobs

    def ask(self, count: int) -> list[Candidate]:
        """See `Strategy`."""
        return [candidate for _, candidate in zip(range(count), self._left)]

    def begin_imports(self) -> None:
        """See `Strategy`: it needs nothing more."""

    def tell(self, candidate: Candidate, milliseconds: float | None) -> None:
        """See `Strategy`; nothing follows from a time."""
