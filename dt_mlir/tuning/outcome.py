"""The outcome of a search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from dt_mlir.autoscheduling.least import Least
from dt_mlir.tuning.database import Record, ranked
from dt_mlir.tuning.task import Candidate

BEST = "the best schedule"
"""The name in a comparison."""
TIMELESS = ("refused", "failed", "late", "unfit", "wrong")
"""The statuses of candidates that have no time."""


@dataclass
class Outcome:
    """The outcome of a search."""

    records: dict[str, Record]
    """The records of the space's candidates that were tried, by the text of each."""
    candidates: dict[str, Candidate]
    """Those candidates."""
    size: int
    """The number of schedules of the space."""
    method: str
    """The method of timing."""
    comparison: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    """The times of the best schedule (`BEST`) and of the baselines, by name, in rounds that they
    took part in together."""
    missing: dict[str, str] = field(default_factory=dict[str, str])
    """The baselines that have no time, each with the reason."""
    excluded: set[str] = field(default_factory=set[str])
    """Those that a bound on their time excluded, by text."""
    rounds: int = 1
    """The number of rounds after which a candidate is fully measured."""
    pruned: Mapping[str, int] = field(default_factory=dict[str, int])
    """The number of choices that were left out without a trial, by the reason."""
    least: Least | None = None
    """The least time that the device needs for the algorithm; None if it is not known."""
    interrupted: bool = False
    """True if the search was ended before it was done."""

    def ranked(self) -> list[Record]:
        """The records with times, the fastest of those that were fully measured first."""
        return ranked(self.records.values())

    @property
    def best(self) -> Record | None:
        """The fastest of those that were fully measured; None if there is none."""
        return next((r for r in self.ranked() if len(r.times) >= self.rounds), None)

    def statuses(self) -> Counter[str]:
        """Returns the number of records of each status."""
        return Counter(record.status for record in self.records.values())

    def reasons(self, status: str) -> Counter[str]:
        """Why records have a status, and how often."""
        return Counter(r.message for r in self.records.values() if r.status == status)

    def example(self, status: str, message: str) -> Record:
        """A record that has a status for a reason."""
        records = self.records.values()
        return next(r for r in records if r.status == status and r.message == message)
