"""The search of `dt-tune`: what its command line asks for, and the report."""

from __future__ import annotations

import importlib.util
import sys
from argparse import Namespace
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from dt_mlir.autoscheduling.least import least_time
from dt_mlir.costs.device import Device, find_device
from dt_mlir.diagnostics import CompileError, SourceTexts
from dt_mlir.files import write_output
from dt_mlir.loading import load_file
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.tools.certifying import Certifier
from dt_mlir.tools.command_line import parse_sizes, parse_types
from dt_mlir.tools.parsing import read_module

if TYPE_CHECKING:
    from dt_mlir.tuning.outcome import Outcome

TRIALS = 500
"""The default number of candidates that are tried of a large space."""


def tune_file(args: Namespace, sources: SourceTexts) -> None:
    """Searches, and reports what was found.

    Args:
        args: the options of `dt-tune`, which go together.
        sources: the texts of files, for messages.

    Raises:
        CompileError: where the program or an option is wrong, or no schedule has a time.
    """
    for path in args.load:
        load_file(path)
    types = parse_types(args.dtype)
    module = read_module(args.file, sources, args.load, types)
    run_pipeline(module, default_pipeline("dt", types))
    sizes = parse_sizes(",".join(args.sizes), "sizes")
    try:
        for name in ("torch", "triton"):
            # Other processes import them, which takes seconds.
            if importlib.util.find_spec(name) is None:
                raise ModuleNotFoundError(name=name)
        for name in ("tqdm", *(["matplotlib"] if args.plot is not None else [])):
            importlib.import_module(name)
        from dt_mlir.tuning.baselines import Baseline
        from dt_mlir.tuning.database import Database, Setting, default_path
        from dt_mlir.tuning.outcome import BEST
        from dt_mlir.tuning.progress import Bar
        from dt_mlir.tuning.strategies.choosing import strategy_for
        from dt_mlir.tuning.task import LARGE, Task
        from dt_mlir.tuning.tuner import Options, Tuner
        from dt_mlir.tuning.workers.choosing import workers_for
        from dt_mlir.tuning.workers.local import visible
        from dt_mlir.verification.sampling import sample
    except ImportError as error:
        raise CompileError(
            f"tuning needs {error.name}", None, "pip install 'dt-mlir[run,tune]'"
        ) from None
    if not args.cpu and args.ray is None and not visible():
        raise CompileError(
            "there is no GPU to tune for", None, "--cpu times Triton's interpreter instead"
        )
    task = Task(module, sizes)
    limited = args.trials is not None or args.budget is not None
    if not limited and len(task.space) > LARGE and not args.auto:
        args.trials, limited = TRIALS, True
        print(
            f"remark: the space has {len(task.space)} schedules: {TRIALS} of them are tried, as "
            "with --trials", file=sys.stderr,
        )  # fmt: skip
    baselines = [Baseline.parse(text) for text in args.baseline]
    names = [BEST, *(baseline.name for baseline in baselines)]
    if len(set(names)) < len(names):
        raise CompileError("--baseline: each needs a name of its own")
    # What cannot be checked is not searched.
    sample(module, task.sizes)
    options = Options(
        jobs=args.jobs, rounds=args.rounds, keep=args.keep, timeout=args.timeout,
        trials=args.trials, budget=args.budget, seed=args.seed,
        method=None if args.cpu else args.method, load=tuple(args.load),
    )  # fmt: skip
    path = Path(args.database) if args.database else default_path()
    bar = Bar()
    named = args.output or "the best schedule"
    with closing(Certifier(args.load, args.jobs)) as certifier:
        processes = workers_for(options, args.cpu, args.gpus, args.ray)
        with Database(path) as database, processes as workers:
            workers.begin(not args.cpu)
            device = "cpu" if args.cpu else workers.device_name()
            setting = Setting(task.algorithm, task.sizes, device, workers.versions())
            predicted = _predicted(args.device, device, args.auto)
            strategy = strategy_for(
                task, setting, database, predicted if args.auto else None, limited, args.seed
            )
            least = None if predicted is None else least_time(module, task.sizes, predicted)
            tuner = Tuner(
                task, setting, database, options, bar, baselines, workers, strategy, least,
                # Where a processor is timed, nothing else takes it.
                None if args.cpu else lambda programs: certifier.begin(programs, named),
            )
            interruption: BaseException | None = None
            try:
                outcome = tuner.run()
            except (KeyboardInterrupt, SystemExit) as error:
                interruption, outcome = error, tuner.outcome()
            finally:
                bar.bar.close()
        # No process waits for what is shown and proved.
        _report(args, task.sizes, outcome, device, certifier)
        if interruption is not None:
            raise interruption
    if outcome.best is None:
        timed = bool(outcome.ranked())
        raise CompileError(
            "no schedule was measured in all rounds" if timed
            else "no schedule of the space has a time"
        )
    for name, message in outcome.missing.items():
        raise CompileError(f"the baseline '{name}' has no time: {message}")


def _predicted(named: str | None, device: str, needed: bool) -> Device | None:
    """Returns the device that times are predicted for; None if there are no figures of it.

    Args:
        named: the one that is asked for.
        device: the one that measures.
        needed: whether a search needs predictions.

    Raises:
        CompileError: if there are no figures of the one that is asked for, or that is needed.
    """
    if named is not None or device == "cpu":
        return find_device(named)
    try:
        return find_device(device)
    except CompileError as error:
        if not needed:
            return None
        raise CompileError(
            error.message, None, "name one that is like it, as in --device h100"
        ) from None


def _report(
    args: Namespace, sizes: Mapping[str, int], outcome: Outcome, device: str, certifier: Certifier
) -> None:
    """Shows what was found, and writes the best schedule if there is one."""
    from dt_mlir.tuning.report import plot, table

    print(f"{args.file} on {device}")
    print(table(outcome), end="")
    best = outcome.best
    if best is None:
        return
    certifier.report(best.program, args.output or "the best schedule")
    if args.output is not None:
        write_output(args.output, best.program)
    else:
        print(f"\n{best.program}", end="")
    if args.plot is not None:
        shown = ", ".join(f"{label} = {size}" for label, size in sizes.items())
        plot(outcome, args.plot, f"{Path(args.file).stem}, {shown}, {device}")
    if args.explore is not None:
        from dt_mlir.explorer.search import explore_outcome

        explore_outcome(outcome, Path(args.file).name, sizes, device).save(args.explore)
