"""Measures how well the model of costs ranks the schedules of derived spaces.

    python benchmarks/ranking.py --draws 20 --gpus all    # on a GPU: measures what is not known
    python benchmarks/ranking.py --draws 20 --again       # draws others, and adds their times
    python benchmarks/ranking.py                          # anywhere: compares with predictions

Schedules are drawn at random from the derived space of each workload, all of which is predicted to
take up to three times as long as the fastest, and timed; `rankings/` keeps the times. Shown is
Spearman's coefficient of correlation between these times and those that the model predicts now.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path
from statistics import median
from typing import Any

from evaluate import TIMEOUT, autoscheduler, chosen, end_in_order, shared_out, task_of
from ranks import KEPT, rankings
from workloads import WORKLOADS, Workload

from dt_mlir.autoscheduling.alternatives import SLOWER, Way
from dt_mlir.autoscheduling.evaluation import Kernel
from dt_mlir.autoscheduling.proposals import Proposals, tiled
from dt_mlir.costs.device import Device, present_device
from dt_mlir.diagnostics import CompileError
from dt_mlir.files import write_output
from dt_mlir.tuning import measuring
from dt_mlir.tuning.database import Database, Setting
from dt_mlir.tuning.progress import Silent
from dt_mlir.tuning.strategies.listed import Listed
from dt_mlir.tuning.strategies.predicted import candidate_of
from dt_mlir.tuning.task import Candidate, Task
from dt_mlir.tuning.tuner import Options, Tuner
from dt_mlir.tuning.workers.local import LocalWorkers, visible_gpus

HERE = Path(__file__).resolve().parent
BINS = 16
"""The parts of the predicted times, of which each is as likely to be drawn from as the others."""
ATTEMPTS = 4
"""The draws for each schedule that is wanted, as some are not legal or the same."""


def drawn(task: Task, device: Device, count: int, seed: str) -> list[Candidate]:
    """Returns schedules of a derived space, spread evenly over the predicted times.

    Args:
        task: the program, and its sizes.
        device: the device that schedules are for.
        count: the most schedules.
        seed: what is drawn follows from it.
    """
    proposals = Proposals(task.module, task.sizes, device)
    chance = random.Random(seed)
    found: dict[str, Candidate] = {}
    for _ in range(ATTEMPTS * count):
        ways = [_way(proposals, place, chance) for place in range(len(proposals.slots))]
        decisions = proposals.schedule_of(ways)
        if decisions is not None:
            candidate = candidate_of(task.module, decisions)
            found[candidate.text] = candidate
        if len(found) == count:
            break
    return list(found.values())


def _way(proposals: Proposals, place: int, chance: random.Random) -> Way:
    """Returns a way to compute the functions of a part of a program, with tiles, drawn at random.

    A search looks at those that are predicted to be fastest; here each of the whole space counts.
    """
    ways = proposals.ways[place]
    if proposals.decided[place]:
        return ways[0]
    longest = SLOWER * proposals.slots[place][0].seconds
    while True:
        way = chance.choice(ways)
        kernels: list[Kernel] = []
        for tilings in proposals.tilings(way):
            bins = _in_bins([kernel.cost.seconds for kernel in tilings])
            kernels.append(tilings[chance.choice(chance.choice(bins))])
        if sum(kernel.cost.seconds for kernel in kernels) <= longest:
            return tiled(way, kernels)


def _in_bins(seconds: Sequence[float]) -> list[list[int]]:
    """Returns the places of times in bins of equal width by their logarithms, none empty."""
    least, most = min(seconds), max(seconds)
    width = log(most / least) / BINS or 1.0
    found: dict[int, list[int]] = {}
    for place, each in enumerate(seconds):
        found.setdefault(min(int(log(each / least) / width), BINS - 1), []).append(place)
    return list(found.values())


def measured(
    workload: Workload, count: int, database: Database, workers: LocalWorkers,
    known: Mapping[str, float | None],
) -> dict[str, Any]:
    """Times schedules that are drawn from a workload's space.

    Args:
        workload: the program, and its sizes.
        count: the number of schedules.
        database: where results go meanwhile.
        workers: the processes that compile and measure.
        known: the microseconds of schedules that were drawn before.
    """
    task = task_of(workload)
    seed = f"{workload.name} {len(known)}" if known else workload.name
    candidates = drawn(task, present_device(), count, seed)
    setting = Setting(task.algorithm, task.sizes, measuring.device_name(), measuring.versions())
    options = Options(jobs=workers.jobs, rounds=1, keep=1.0)
    outcome = Tuner(
        task, setting, database, options, Silent(), (), workers, Listed(candidates)
    ).run()
    return {
        "workload": workload.name,
        "sizes": dict(workload.sizes),
        "device": setting.device,
        "versions": measuring.versions(),
        "autoscheduler": autoscheduler(),
        "date": datetime.date.today().isoformat(),
        "method": outcome.method,
        "microseconds": dict(known) | {
            text: None if record.milliseconds is None else round(1000 * record.milliseconds, 3)
            for text, record in outcome.records.items()
        },
    }  # fmt: skip


def kept_times(path: Path) -> dict[str, float | None]:
    """Returns the microseconds of the schedules that this compiler has timed on this device."""
    kept = json.loads(path.read_text()) if path.exists() else {}
    wanted = measuring.device_name(), measuring.versions()
    return kept["microseconds"] if (kept.get("device"), kept.get("versions")) == wanted else {}


def in_turn(workloads: Sequence[Workload]) -> list[Workload]:
    """Returns workloads, the first one of each program in front, then the second ones."""
    met: Counter[str] = Counter()
    numbers: list[int] = []
    for workload in workloads:
        numbers.append(met[workload.program])
        met[workload.program] += 1
    order = sorted(range(len(workloads)), key=lambda place: numbers[place])
    return [workloads[place] for place in order]


def measure_all(args: argparse.Namespace) -> int:
    """Measures workloads that are not known; 1 if one failed."""
    if measuring.device_name() == "cpu":
        print("there is no GPU: no kernel is measured")
        return 0
    end_in_order()
    if args.gpus is not None:
        return shared_out(visible_gpus(args.gpus), args.jobs, __file__)
    share, shares = map(int, args.share.split("/"))
    os.environ["PYTHONPATH"] = f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    args.kept.mkdir(exist_ok=True)
    begun, failed = time.monotonic(), 0
    with Database(":memory:") as database, LocalWorkers(args.jobs, timeout=TIMEOUT) as workers:
        for workload in in_turn(chosen(None, args.only))[share::shares]:
            path = args.kept / f"{workload.name}.json"
            if path.exists() and not args.again:
                continue
            if args.seconds is not None and time.monotonic() - begun > args.seconds:
                break
            try:
                known = kept_times(path)
                found = measured(workload, args.draws, database, workers, known)
            except CompileError as error:
                print(f"{workload.name}: failed: {error.message}", flush=True)
                failed += 1
                continue
            write_output(str(path), json.dumps(found, indent=1, sort_keys=True) + "\n")
            timed = [each for each in found["microseconds"].values() if each is not None]
            print(f"{workload.name}: {len(timed)} of {len(found['microseconds'])}", flush=True)
    return 1 if failed else 0


def main() -> int:
    """Measures, or shows a table."""
    description = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=description, allow_abbrev=False)
    parser.add_argument("--draws", type=int, help="measure so many schedules of each workload")
    parser.add_argument("--only", action="append", help="only workloads whose names contain this")
    parser.add_argument("--again", action="store_true", help="add to what is known")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, help="begin no workload after this time")
    parser.add_argument("--gpus", help="share the workloads among GPUs: 'all', or as in 0,1")
    parser.add_argument("--share", default="0/1", help=argparse.SUPPRESS)
    parser.add_argument("--kept", type=Path, default=KEPT, help="the folder of times")
    args = parser.parse_args()
    if args.draws is not None:
        return measure_all(args)
    found = rankings(args.kept)
    known = {workload.name for workload in WORKLOADS}
    for name, value in found.items():
        if name in known:
            print(f"{name}: {value:.2f}")
    if found:
        print(f"median {median(found.values()):.2f}, least {min(found.values()):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
