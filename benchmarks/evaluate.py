"""Measures the workloads of the evaluation: each schedule of its space, and what it meets.

    python benchmarks/evaluate.py                      # everything that is not yet measured
    python benchmarks/evaluate.py --group softmax --again
    python benchmarks/evaluate.py --list

A workload's ratios are taken within one process. Its result is a file in `results/`; what is there
with the same versions is left out, so that the suite can be run in parts. `tables.py` shows them.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import sys
import time
from pathlib import Path

from suite import WORKLOADS, Workload

from dt_mlir.diagnostics import CompileError
from dt_mlir.files import write_output
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.tuning import measuring
from dt_mlir.tuning.baselines import Baseline
from dt_mlir.tuning.database import Database, Setting
from dt_mlir.tuning.outcome import Outcome
from dt_mlir.tuning.progress import Silent
from dt_mlir.tuning.report import table
from dt_mlir.tuning.task import Task
from dt_mlir.tuning.tuner import Options, Tuner
from dt_mlir.tuning.workers.local import LocalWorkers

HERE = Path(__file__).resolve().parent
UNCHECKED = ("copy", "triangular_product", "cross_entropy_liger")
"""The beginnings of the names of baselines that compute something else on random inputs, or to the
precision of another type."""


def contenders(workload: Workload) -> list[Baseline]:
    """The baselines that can be run here."""
    found: list[Baseline] = []
    for name in workload.baselines:
        if name.endswith("_liger") and importlib.util.find_spec("liger_kernel") is None:
            print(f"  {name} is left out: liger_kernel is not installed")
            continue
        checked = not name.startswith(UNCHECKED)
        found.append(Baseline(name, str(HERE / "baselines.py"), name, checked=checked))
    return found


def evaluate(
    workload: Workload, database: Database, options: Options, workers: LocalWorkers
) -> Outcome:
    """Searches a workload's space, and compare the best schedule with the baselines."""
    path = HERE / "programs" / f"{workload.program}.dt"
    module, _ = compile_text(path.read_text(), path.name)
    run_pipeline(module, default_pipeline("dt", list(workload.types.items())))
    task = Task(module, workload.sizes)
    setting = Setting(
        task.algorithm, task.sizes, measuring.device_name(), measuring.versions()
    )
    found = contenders(workload)
    return Tuner(task, setting, database, options, Silent(), found, workers).run()


def result(workload: Workload, outcome: Outcome) -> dict[str, object]:
    """Returns the parts of an outcome that are kept."""
    best = outcome.best
    return {
        "workload": workload.name,
        "sizes": dict(workload.sizes),
        "device": measuring.device_name(),
        "versions": measuring.versions(),
        "date": datetime.date.today().isoformat(),
        "method": outcome.method,
        "size": outcome.size,
        "statuses": dict(outcome.statuses()),
        "milliseconds": [record.milliseconds for record in outcome.ranked()],
        "program": None if best is None else best.program,
        "resources": None if best is None else best.resources,
        "comparison": outcome.comparison,
        "missing": outcome.missing,
    }


def main() -> int:
    """Runs the suite, or a part of it; 1 if a workload failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--group", action="append", help="only these groups")
    parser.add_argument("--only", action="append", help="only workloads whose names contain this")
    parser.add_argument("--again", action="store_true", help="measure what is known, too")
    parser.add_argument("--list", action="store_true", help="list the workloads")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", type=float, default=1.03)
    parser.add_argument("--seconds", type=float, help="begin no workload after this time")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    args = parser.parse_args()
    chosen = [
        w
        for w in WORKLOADS
        if (not args.group or w.group in args.group)
        and (not args.only or any(part in w.name for part in args.only))
    ]
    if args.list:
        print("\n".join(f"{w.group}: {w.name}" for w in chosen))
        return 0
    if measuring.device_name() == "cpu":
        print("there is no GPU: no kernel is measured")
        return 0
    args.results.mkdir(exist_ok=True)
    sys.path.insert(0, str(HERE))
    os.environ["PYTHONPATH"] = f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    started, failed = time.monotonic(), 0
    path = args.results / "tuning.sqlite"
    with Database(path) as database, LocalWorkers(args.jobs) as workers:
        for workload in chosen:
            path = args.results / f"{workload.name}.json"
            if path.exists() and not args.again:
                known = json.loads(path.read_text())
                if known["versions"] == measuring.versions():
                    continue
            if args.seconds is not None and time.monotonic() - started > args.seconds:
                print(f"{workload.name}: not begun")
                continue
            begun = time.monotonic()
            print(workload.name, flush=True)
            options = Options(jobs=args.jobs, rounds=args.rounds, keep=args.keep)
            try:
                outcome = evaluate(workload, database, options, workers)
            except CompileError as error:
                print(f"  failed: {error.message}")
                failed += 1
                continue
            print(table(outcome, 3), end="")
            for name, message in outcome.missing.items():
                print(f"  {name} has no time: {message}")
            print(f"  {time.monotonic() - begun:.0f} s", flush=True)
            text = json.dumps(result(workload, outcome), indent=1, sort_keys=True)
            write_output(str(path), text + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
