"""Measures the workloads of the evaluation; `tables.py` shows what was measured.

    python benchmarks/evaluate.py                        # everything that is not yet measured
    python benchmarks/evaluate.py --seconds 540          # a part of it
    python benchmarks/evaluate.py --gpus all             # shared among GPUs
    python benchmarks/evaluate.py --group softmax --again
    python benchmarks/evaluate.py --list

Of each workload the derived space is searched, from `auto`'s schedule and the winner of an earlier
evaluation on. Then `auto`, the winner and the baselines are timed in rounds of one process. The
outcome is a file in `results/`; one with the same compiler, versions and device is left as it is
while `auto` writes the same schedule, so that the suite can be run in parts. `confirm.py` keeps
those of another compiler that writes the same code.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from confirm import codes_of
from contest import Contest, Module, Padded, contest, padded
from row import AUTO, TUNED
from seeded import Seeded
from workloads import WORKLOADS, Workload

from dt_mlir.autoscheduling.auto import auto_schedule
from dt_mlir.autoscheduling.least import least_time
from dt_mlir.costs.device import Device, present_device
from dt_mlir.costs.version import model_digest
from dt_mlir.diagnostics import CompileError
from dt_mlir.files import write_output
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.runtime.cache import compiler_digest
from dt_mlir.tuning import measuring
from dt_mlir.tuning.database import Database, Setting
from dt_mlir.tuning.outcome import TIMELESS, Outcome
from dt_mlir.tuning.progress import Silent
from dt_mlir.tuning.strategies.predicted import Predicted, candidate_of
from dt_mlir.tuning.task import Candidate, Task
from dt_mlir.tuning.tuner import Options, Tuner
from dt_mlir.tuning.workers.local import LocalWorkers, visible_gpus

HERE = Path(__file__).resolve().parent
NOT_COMPILING = (
    "certificates", "drawing", "editor", "explorer", "interpreters", "kernels", "reducer", "tools",
    "verification",
)  # fmt: skip
"""The parts of the compiler that neither kernels nor schedules depend on."""
TIMEOUT = 300.0
"""The seconds after which a comparison is ended."""


@dataclass(frozen=True)
class Effort:
    """The effort of an evaluation."""

    jobs: int
    trials: int
    rounds: int


def autoscheduler() -> str:
    """Returns a digest of what writes and searches schedules."""
    text = compiler_digest(NOT_COMPILING) + model_digest()
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def schedule_of_auto(workload: Workload, device: Device) -> str:
    """Returns a workload's program with the schedule that `auto` writes.

    Args:
        workload: the program, and its sizes.
        device: the device that the schedule is for.

    Raises:
        CompileError: where the program cannot be compiled.
    """
    task = task_of(workload)
    return candidate_of(task.module, auto_schedule(task.module, task.sizes, device)).text


def contenders(workload: Workload) -> tuple[list[str], dict[str, str]]:
    """Returns the baselines that can be run here, and why others cannot."""
    found, missing = list(workload.baselines), dict[str, str]()
    if find_spec("liger_kernel") is None:
        missing = {name: "liger_kernel is not installed" for name in found if _is_liger(name)}
    return [name for name in found if name not in missing], missing


def _is_liger(name: str) -> bool:
    return name.endswith("_liger")


def task_of(workload: Workload) -> Task:
    """Returns a workload's program at its sizes."""
    path = HERE / "programs" / f"{workload.program}.dt"
    module, _ = compile_text(path.read_text(), path.name)
    run_pipeline(module, default_pipeline("dt", list(workload.types.items())))
    return Task(module, workload.sizes)


def known_winners(workload: Workload, task: Task, results: Path) -> list[Candidate]:
    """Returns the schedule that won an earlier evaluation of the same algorithm."""
    path = results / f"{workload.name}.json"
    text = json.loads(path.read_text())["program"] if path.exists() else None
    if text is None:
        return []
    try:
        module, _ = compile_text(text, path.name)
        run_pipeline(module, default_pipeline("dt"))
        earlier = Task(module, workload.sizes)
    except CompileError:
        # The language, or the program, is not what it was then.
        return []
    return [Candidate({}, text)] if earlier.algorithm == task.algorithm else []


def searched(
    task: Task, known: list[Candidate], database: Database, effort: Effort, workers: LocalWorkers,
    strides: tuple[tuple[int, ...], ...],
) -> tuple[str, Outcome]:
    """Searches the derived space of a program.

    Args:
        task: the program, and its sizes.
        known: schedules to try behind that of `auto`.
        database: where results go.
        effort: how many candidates are tried.
        workers: the processes that compile and measure.
        strides: the strides of the results, if these are not contiguous.

    Returns:
        The program with the schedule of `auto`, and what came of the search.

    Raises:
        CompileError: if there is no schedule with a time.
    """
    setting = Setting(
        task.algorithm, task.sizes, measuring.device_name(), measuring.versions(), strides
    )
    strategy = Seeded(known, Predicted(task.module, task.sizes, present_device(), patient=True))
    options = Options(jobs=effort.jobs, rounds=3, trials=effort.trials)
    outcome = Tuner(
        task, setting, database, options, Silent(), (), workers, strategy
    ).run()
    if outcome.best is None:
        reasons = [text for status in outcome.statuses() for text in outcome.reasons(status)]
        raise CompileError("no schedule has a time", None, "; ".join(reasons[:3]))
    return strategy.first.text, outcome


def layout(
    task: Task, baselines: list[str], workers: LocalWorkers
) -> tuple[tuple[int, ...], ...]:
    """Returns the strides of the results of torch.compile, if it pads them; else none.

    Args:
        task: the program, and its sizes.
        baselines: the names of the baselines.
        workers: the processes that measure.
    """
    place = workers.places()[0]
    wanted = task.algorithm, task.sizes, "cold"
    future = workers.start(place, wanted, padded, task.algorithm, task.sizes, baselines)
    found = workers.measured(place, future)
    return found.strides if isinstance(found, Padded) else ()


def compared(
    task: Task, programs: Mapping[str, str], baselines: list[str], effort: Effort, singly: bool,
    workers: LocalWorkers, under_way: Path, strides: tuple[tuple[int, ...], ...],
) -> tuple[Contest, dict[str, str]]:
    """Compares schedules with baselines.

    Args:
        task: the program, and its sizes.
        programs: the program with each schedule, by the schedule's name.
        baselines: the names of the baselines.
        effort: how many rounds there are.
        singly: whether single and sustained calls are timed too.
        workers: the processes that compile and measure.
        under_way: a file that names the contender under way meanwhile.
        strides: the strides of the results, as for `searched`.

    Returns:
        The times, and why other contenders have none.

    Raises:
        CompileError: if a schedule ends the process that measures.
    """
    missing: dict[str, str] = {}
    futures = {name: workers.build(text, task.sizes, True) for name, text in programs.items()}
    modules: list[Module] = []
    for name, future in futures.items():
        built = workers.built(future)
        if built.status == "ok":
            modules.append(Module(name, built.source, built.accuracy))
        else:
            missing[name] = built.message
    place, left = workers.places()[0], [*baselines]
    while True:
        future = workers.start(
            place, (task.algorithm, task.sizes, "cold"), contest, task.algorithm, task.sizes,
            modules, left, programs[TUNED], effort.rounds, singly, str(under_way),
            # Each workload has orders of its own, so that none favours a contender in all of them.
            zlib.crc32(repr((task.algorithm, task.sizes)).encode()), strides,
        )
        found = workers.measured(place, future)
        culprit = under_way.read_text() if under_way.exists() else ""
        under_way.unlink(missing_ok=True)
        if isinstance(found, Contest):
            return found, {**missing, **found.missing}
        # Its process is a new one now, and the others are compared without the one that broke it.
        if culprit not in left:
            raise CompileError(f"the comparison has no result: {culprit} {found.message}")
        left.remove(culprit)
        missing[culprit] = found.message


def evaluate(
    workload: Workload, database: Database, effort: Effort, workers: LocalWorkers, results: Path
) -> dict[str, Any]:
    """Searches a workload's space, and compares `auto` and the winner with the baselines.

    Raises:
        CompileError: if there is no schedule with a time.
    """
    task = task_of(workload)
    least = least_time(task.module, task.sizes, present_device())
    started = time.monotonic()
    known = known_winners(workload, task, results)
    baselines, absent = contenders(workload)
    strides = layout(task, baselines, workers)
    auto, outcome = searched(task, known, database, effort, workers, strides)
    taken = time.monotonic() - started
    best = outcome.best
    assert best is not None, "a search without a winner is an error"
    programs = {AUTO: auto, TUNED: best.program}
    found, missing = compared(
        task, programs, baselines, effort, least.operations > 0, workers,
        results / f"{workload.name}.under_way", strides,
    )
    return {
        "workload": workload.name,
        "sizes": dict(workload.sizes),
        "device": measuring.device_name(),
        "versions": measuring.versions(),
        "measure": measure_of(workload),
        "date": datetime.date.today().isoformat(),
        "search": {
            "autoscheduler": autoscheduler(),
            "seconds": taken,
            "size": outcome.size,
            "pruned": dict(outcome.pruned),
            "statuses": dict(outcome.statuses()),
            "milliseconds": [record.milliseconds for record in outcome.ranked()],
            "problems": problems(outcome),
        },
        "auto": programs[AUTO],
        "program": programs[TUNED],
        "codes": codes_of({"auto": programs[AUTO], "program": programs[TUNED]}),
        "resources": best.resources,
        "rounds": effort.rounds,
        "sets": found.sets,
        "ready": {name: round(seconds, 2) for name, seconds in found.seconds.items()},
        "times": found.times,
        "missing": {**absent, **missing},
        "least": {
            "milliseconds": 1000 * least.seconds, "limit": least.limit, "bytes": least.bytes,
            "operations": least.operations,
        },
    }  # fmt: skip


def problems(outcome: Outcome) -> list[dict[str, str]]:
    """Returns an example of each reason for which candidates have no time."""
    return [
        {"status": status, "reason": reason, "program": outcome.example(status, reason).program}
        for status in TIMELESS for reason in outcome.reasons(status)
    ]  # fmt: skip


def chosen(groups: list[str] | None, parts: list[str] | None) -> list[Workload]:
    """Returns the workloads of some groups whose names contain one of some texts."""
    return [
        w for w in WORKLOADS
        if (not groups or w.group in groups)
        and (not parts or any(part in w.name for part in parts))
    ]  # fmt: skip


def shared_out(gpus: list[str], jobs: int, script: str = __file__) -> int:
    """Runs a script once for each GPU, with its part of the workloads; 1 if one failed.

    Args:
        gpus: the GPUs, as the driver names them.
        jobs: the processes that compile, of all together.
        script: the path of the script, whose arguments are those of this process.
    """
    kept = [text for text in sys.argv[1:] if not text.startswith("--gpus=")]
    if "--gpus" in kept:
        place = kept.index("--gpus")
        del kept[place : place + 2]
    each = str(max(jobs // len(gpus), 1))
    running = [
        subprocess.Popen(
            [sys.executable, script, *kept, "--jobs", each, "--share", f"{n}/{len(gpus)}"],
            env={**os.environ, "CUDA_VISIBLE_DEVICES": gpu},
        ) for n, gpu in enumerate(gpus)
    ]  # fmt: skip
    try:
        statuses = [process.wait() for process in running]
    finally:
        for process in running:
            process.terminate()
    return int(any(statuses))


def end_in_order() -> None:
    """Lets a signal to terminate end this process as an error does: it ends its processes first."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def measure_of(workload: Workload) -> str:
    """Returns a digest of what is measured of a workload, and how."""
    digest = hashlib.sha256(task_of(workload).algorithm.encode())
    digest.update(repr((workload.sizes, workload.types, workload.baselines)).encode())
    for path in (HERE / "timing.py", HERE / "contest.py", *sorted(HERE.glob("baselines/*.py"))):
        digest.update(path.read_bytes())
    if any(map(_is_liger, workload.baselines)) and find_spec("liger_kernel") is not None:
        digest.update(version("liger_kernel").encode())
    return digest.hexdigest()[:12]


def is_known(results: Path, workload: Workload) -> bool:
    """Returns whether a workload has been measured so, by this compiler on this device, with the
    schedule that `auto` writes today.

    Raises:
        CompileError: where the program cannot be compiled.
    """
    path = results / f"{workload.name}.json"
    if not path.exists():
        return False
    known = json.loads(path.read_text())
    wanted = measuring.versions(), measuring.device_name(), measure_of(workload)
    if (known["versions"], known["device"], known.get("measure")) != wanted:
        return False
    same = known["search"]["autoscheduler"] == autoscheduler()
    return same or known["auto"] == schedule_of_auto(workload, present_device())


def main() -> int:
    """Runs the suite, or a part of it; 1 if a workload failed."""
    description = (__doc__ or "").partition("\n")[0]
    # What is left of '--gpus' in a child's arguments would start children of its own.
    parser = argparse.ArgumentParser(description=description, allow_abbrev=False)
    parser.add_argument("--group", action="append", help="only these groups")
    parser.add_argument("--only", action="append", help="only workloads whose names contain this")
    parser.add_argument("--again", action="store_true", help="measure what is known, too")
    parser.add_argument("--list", action="store_true", help="list the workloads")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--trials", type=int, default=16, help="the candidates of a search")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, help="begin no workload after this time")
    parser.add_argument(
        "--gpus", help="share the workloads among GPUs: 'all', or numbers, as in 0,1"
    )
    parser.add_argument("--share", default="0/1", help=argparse.SUPPRESS)
    parser.add_argument("--results", type=Path, default=HERE / "results")
    args = parser.parse_args()
    share, shares = map(int, args.share.split("/"))
    workloads = chosen(args.group, args.only)
    if args.list:
        print("\n".join(f"{w.group}: {w.name}" for w in workloads))
        return 0
    if measuring.device_name() == "cpu":
        print("there is no GPU: no kernel is measured")
        return 0
    args.results.mkdir(exist_ok=True)
    end_in_order()
    if args.gpus is not None:
        return shared_out(visible_gpus(args.gpus), args.jobs)
    # Processes that measure import what is beside this file.
    os.environ["PYTHONPATH"] = f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    started, failed, left = time.monotonic(), 0, 0
    effort = Effort(args.jobs, args.trials, args.rounds)
    with (
        Database(args.results / f"tuning.sqlite.{share}") as database,
        LocalWorkers(args.jobs, timeout=TIMEOUT) as workers,
    ):
        for workload in workloads[share::shares]:
            path = args.results / f"{workload.name}.json"
            begun = time.monotonic()
            try:
                if not args.again and is_known(args.results, workload):
                    continue
                if args.seconds is not None and begun - started > args.seconds:
                    left += 1
                    continue
                found = evaluate(workload, database, effort, workers, args.results)
            except Exception as error:
                # One workload's failure is not that of the others.
                print(f"{workload.name}: failed: {error}", flush=True)
                failed += 1
                continue
            write_output(str(path), json.dumps(found, indent=1, sort_keys=True) + "\n")
            print(shown(found, time.monotonic() - begun), flush=True)
    if left:
        print(f"{left} workloads are left: run it again")
    return 1 if failed else 0


def shown(found: dict[str, Any], seconds: float) -> str:
    """Returns a line about a workload's outcome."""
    cold = {name: median(times["cold"]) for name, times in found["times"].items()}
    best = cold.get(TUNED)
    ratios = [
        f"{name} {time / best:.2f}" for name, time in cold.items() if name != TUNED and best
    ]
    missing = [f"{name}: {reason}" for name, reason in found["missing"].items()]
    time_of_best = f"{1000 * best:.2f} us" if best else "no time"
    return f"{found['workload']}: {time_of_best}; {', '.join(ratios + missing)} ({seconds:.0f} s)"


if __name__ == "__main__":
    sys.exit(main())
