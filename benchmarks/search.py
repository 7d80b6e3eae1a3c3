"""Searches derived spaces again, with the times of exhaustive searches that are kept.

    python benchmarks/search.py

`searches/` holds the time of each of the (at most) 300 schedules of a workload that the model of
costs predicted to be fastest, measured on a GPU. The strategy of `dt-tune --auto` is asked which of
them it tries, and told their times: no GPU is needed. Shown is after how many candidates the best
so far is within 5 % of the best of all, and how far it is from it after 12 and after 24.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from workloads import WORKLOADS

from dt_mlir.costs.device import find_device
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.tuning.strategies.predicted import Predicted
from dt_mlir.tuning.task import Task

HERE = Path(__file__).resolve().parent
NEAR = 1.05
"""The factor within which a schedule counts as the best one."""
TRIALS = 24
"""The number of candidates that are tried."""


@dataclass(frozen=True)
class Replay:
    """A search that was replayed."""

    workload: str
    schedules: int
    """The number of schedules with a time."""
    factors: tuple[float, ...]
    """After each candidate, the time of the best so far over that of the best of all."""

    @property
    def needed(self) -> int:
        """The number of candidates after which the best so far is near the best of all.

        It is more than are tried where a search ends before.
        """
        return next((n for n, factor in enumerate(self.factors, 1) if factor <= NEAR), TRIALS + 1)


def replay(path: Path, ahead: int = 6) -> Replay:
    """Searches a workload's space again.

    Args:
        path: the file with its times.
        ahead: how many candidates are under way at once.
    """
    kept = json.loads(path.read_text())
    workload = next(item for item in WORKLOADS if item.name == kept["workload"])
    source = HERE / "programs" / f"{workload.program}.dt"
    module, _ = compile_text(source.read_text(), source.name)
    run_pipeline(module, default_pipeline("dt", list(workload.types.items())))
    device = find_device(kept["device"])
    if not any("warp_specialize" in key for key in kept["times"]):
        # It was measured before warps could be specialized in such kernels.
        device = replace(device, specializes=False)
    strategy = Predicted(module, Task(module, workload.sizes).sizes, device, patient=True)
    proposals = strategy.proposals
    times: dict[str, float | None] = kept["times"]

    def known(place: int, number: int) -> str | None:
        key = _key(proposals.directives(place, number))
        return key if key in times else None

    # What was not measured is left out.
    for place, slot in enumerate(proposals.slots):
        proposals.slots[place] = [
            option for number, option in enumerate(slot) if known(place, number) is not None
        ]
    timed = [time for time in times.values() if time is not None]
    best = min(timed)
    found: list[float] = []
    least = float("inf")
    while len(found) < TRIALS and (batch := strategy.ask(min(ahead, TRIALS - len(found)))):
        for candidate in batch:
            lines = candidate.text.splitlines()
            key = _key(line for line in lines if _is_directive(line))
            time = times.get(key)
            least = least if time is None else min(least, time)
            found.append(least / best)
            strategy.tell(candidate, None if time is None else time / 1000)
    return Replay(workload.name, len(timed), tuple(found))


def _key(directives: Iterable[str]) -> str:
    """Returns what a schedule's time is kept under.

    Times were measured before there was `dependent_launch`, which all candidates take or none.
    """
    return " ".join(sorted(text for text in directives if ".dependent_launch(" not in text))


def _is_directive(line: str) -> bool:
    return line.endswith(");") and "=" not in line and not line.endswith(".compile();")


def main() -> None:
    """Shows a table of all workloads."""
    found = [replay(path) for path in sorted((HERE / "searches").glob("*.json"))]
    print("| workload | schedules | within 5 % after | after 12 | after 24 |")
    print("|---|---:|---:|---:|---:|")
    for item in found:
        twelve, last = item.factors[min(11, len(item.factors) - 1)], item.factors[-1]
        print(
            f"| {item.workload} | {item.schedules} | {item.needed} | {twelve:.3f} | {last:.3f} |"
        )
    print(f"median {median(item.needed for item in found)}, most {max(i.needed for i in found)}")


if __name__ == "__main__":
    main()
