"""A search that begins with schedules which are known to be good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dt_mlir.tuning.strategies.predicted import Predicted
from dt_mlir.tuning.task import Candidate


class Seeded:
    """The candidates of a derived space, but for the first few; see `Strategy`.

    The very first is what `auto` gives, then come those that are known.

    Args:
        known: candidates, the best first.
        others: the derived space.
    """

    keep = Predicted.keep
    excludes = Predicted.excludes

    def __init__(self, known: Sequence[Candidate], others: Predicted) -> None:
        self.others = others
        (self.first,) = others.ask(1)  # There always is one: that of `auto`.
        """The schedule of `auto`."""
        self._ready = [self.first, *(c for c in known if c.text != self.first.text)]

    @property
    def size(self) -> int:
        """See `Strategy`."""
        return self.others.size

    @property
    def pruned(self) -> Mapping[str, int]:
        """See `Strategy`."""
        return self.others.pruned

    def ahead(self, jobs: int, places: int) -> int:
        """See `Strategy`."""
        return self.others.ahead(jobs, places)

    def ask(self, count: int) -> list[Candidate]:
        """See `Strategy`."""
        found, self._ready = self._ready[:count], self._ready[count:]
        return found + (self.others.ask(count - len(found)) if count > len(found) else [])

    def begin_imports(self) -> None:
        """See `Strategy`."""
        self.others.begin_imports()

    def tell(self, candidate: Candidate, milliseconds: float | None) -> None:
        """See `Strategy`."""
        self.others.tell(candidate, milliseconds)
