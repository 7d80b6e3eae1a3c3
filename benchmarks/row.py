"""The measurements of a workload, and those of all that one compiler measured on one device."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from workloads import WORKLOADS, Workload

AUTO, TUNED, COPY = "auto", "tuned", "copy"
"""The names of the schedules in results, and of the copy that bounds them."""
CONTIGUOUS = "tuned_contiguous"
"""The name of the tuned schedule where it is timed once more, with results whose rows are not
padded."""
OWN = (AUTO, TUNED, CONTIGUOUS, COPY)
"""The contenders that are no baselines."""
WAYS = (
    "eager", "compile", "max_autotune", "cudnn", "flash", "sdpa", "flex", "liger", "expert",
)  # fmt: skip
"""The ways in which baselines compute, by the ends of their names."""


@dataclass(frozen=True)
class Row:
    """The measurements of a workload."""

    workload: Workload
    data: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The workload's name."""
        return self.workload.name

    @property
    def autoscheduler(self) -> str:
        """The digest of what has searched."""
        return self.data["search"].get("autoscheduler", "unknown")

    def times(self, name: str, kind: str) -> list[float]:
        """Returns a contender's milliseconds in each round; none where it has no times."""
        return self.data["times"].get(name, {}).get(kind, [])

    def time(self, name: str, kind: str = "cold") -> float | None:
        """Returns a contender's milliseconds, the median of the rounds; None where it has none."""
        times = self.times(name, kind)
        return median(times) if times else None

    @cached_property
    def best(self) -> float:
        """The milliseconds of the tuned schedule, cold."""
        found = self.time(TUNED)
        assert found is not None, "rows without it are not loaded"
        return found

    @property
    def baselines(self) -> list[str]:
        """The names of what competes and has times."""
        return [name for name in self.data["times"] if name not in OWN]

    def ratio(self, *ways: str, kind: str = "cold", schedule: str = TUNED) -> float | None:
        """Returns the speedup of a schedule over the fastest baseline of some ways.

        Args:
            ways: of `WAYS`; without any, all baselines count.
            kind: `hot`, `cold`, `single` or `sustained`.
            schedule: the schedule's name.
        """
        ends = tuple(f"_{way}" for way in ways)
        found = [
            ratio for name in self.baselines
            if (not ends or name.endswith(ends)) and (ratio := self._over(name, schedule, kind))
        ]  # fmt: skip
        return min(found, default=None)

    def _over(self, name: str, other: str, kind: str) -> float | None:
        """Returns a contender's time over another's, the median of the rounds."""
        pairs = zip(self.times(name, kind), self.times(other, kind))
        ratios = [time / of for time, of in pairs]
        return median(ratios) if ratios else None

    def range_of_ratio(self, kind: str = "cold") -> tuple[float, float]:
        """Returns the least and the largest speedup over the fastest baseline in a round."""
        best = min(self.baselines, key=lambda name: self._over(name, TUNED, kind) or float("inf"))
        pairs = zip(self.times(best, kind), self.times(TUNED, kind))
        ratios = [time / of for time, of in pairs]
        return min(ratios), max(ratios)

    def of_tuned(self, kind: str = "cold") -> float | None:
        """Returns the tuned schedule's time over that of `auto`."""
        return self._over(TUNED, AUTO, kind)

    @property
    def spread(self) -> float:
        """The largest of the tuned schedule's times less the smallest, over their median."""
        times = self.times(TUNED, "cold")
        return (max(times) - min(times)) / self.best

    @property
    def of_bound(self) -> float:
        """The least time that the model of costs knows, over the tuned schedule's."""
        return self.data["least"]["milliseconds"] / self.best

    def rate(self, kind: str = "cold") -> tuple[float, str]:
        """Returns the operations or bytes of a second, and their unit."""
        time = self.time(TUNED, kind) or self.best
        operations = self.data["least"]["operations"]
        if operations:
            return operations / time / 1e9, "TFLOP/s"
        return self.data["least"]["bytes"] / time / 1e6, "GB/s"

    def of_copy(self) -> float | None:
        """Returns the bandwidth over that of a copy of the first tensor in the same rounds."""
        time = self.time(COPY)
        if time is None:
            return None
        count = 1
        for size in self.workload.sizes.values():
            count *= size
        width = 2 if "bf16" in self.workload.types.values() else 4
        return (self.data["least"]["bytes"] / self.best) / (2 * count * width / time)


def load(results: Path) -> tuple[list[Row], list[Workload]]:
    """Returns what one compiler has measured on one device, and the workloads that it has not.

    Of several, it is the one that has measured most; of two, the later one.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for workload in WORKLOADS:
        path = results / f"{workload.name}.json"
        data = json.loads(path.read_text()) if path.exists() else {}
        if TUNED in data.get("times", {}):
            found[workload.name] = data
    counts = Counter((data["device"], data["versions"]) for data in found.values())
    latest = {
        place: max(d["date"] for d in found.values() if (d["device"], d["versions"]) == place)
        for place in counts
    }
    place = max(counts, key=lambda p: (counts[p], latest[p]), default=None)
    rows = [
        Row(w, found[w.name]) for w in WORKLOADS
        if w.name in found and (found[w.name]["device"], found[w.name]["versions"]) == place
    ]  # fmt: skip
    known = {row.name for row in rows}
    return rows, [w for w in WORKLOADS if w.name not in known]
