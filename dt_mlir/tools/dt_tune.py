"""`dt-tune`: searches a program's space of schedules for the fastest."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dt_mlir.autoscheduling.least import least_time
from dt_mlir.costs.device import Device, find_device
from dt_mlir.diagnostics import CompileError, SourceTexts
from dt_mlir.files import write_output
from dt_mlir.loading import load_file
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.tools.command_line import ArgumentParser, parse_pairs, parse_sizes, run_tool, seed
from dt_mlir.tools.exploring import check_page
from dt_mlir.tools.parsing import read_module

if TYPE_CHECKING:
    from dt_mlir.tuning.outcome import Outcome

TRIALS = 500
"""The default number of candidates that are tried of a large space."""


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise ArgumentTypeError(f"'{text}' is not a number of 1 or more")
    return int(text)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="dt-tune",
        description="Search a program's space of schedules for the fastest: compile the "
        "candidates in parallel, check and time each on the GPU, remember everything.",
    )
    add = parser.add_argument
    add("file", help="the program, FILE.dt, whose schedule leaves something open")
    add("sizes", nargs="+", metavar="x=4096", help="the sizes of labels, also as x=4096,y=4096")
    add("--dtype", metavar="A=f16,…", help="declare element types of inputs and functions anew")
    add("-o", "--output", metavar="FILE.dt", help="where the program with the best schedule goes")
    add("--plot", metavar="FILE.png", help="draw all schedules, as PNG and as SVG")
    add("--explore", metavar="OUT.html", help="write a page of all schedules and their times")
    add("--database", metavar="FILE", help="where results are kept, and not measured again")
    add(
        "--baseline", action="append", default=[], metavar="NAME=FILE.py:FUNCTION",
        help="compare with a function of the same tensors",
    )  # fmt: skip
    add("--jobs", type=_positive, default=os.cpu_count() or 1, help="processes that compile")
    add("--rounds", type=_positive, default=5, help="how often what is fast is timed")
    add(
        "--keep", type=float, metavar="FACTOR",
        help="what is slower than the best by this factor is timed once only (1.5; --auto 1.1)",
    )  # fmt: skip
    add(
        "--auto", action="store_true",
        help="derive the space from the algorithm, and search it in the order of predicted time",
    )  # fmt: skip
    add("--device", help="the device that --auto predicts times of, where the GPU is not known")
    add("--trials", type=_positive, help="try so many candidates, chosen by optuna or --auto")
    add("--gpus", metavar="all|0,1", help="the GPUs that measure; one of them where none is named")
    add(
        "--ray", nargs="?", const="local", metavar="ADDRESS",
        help="compile and measure on a Ray cluster; without an address, on one that starts here",
    )  # fmt: skip
    add("--budget", type=float, metavar="SECONDS", help="try no further candidate after this time")
    add("--timeout", type=float, default=120.0, metavar="SECONDS", help="the most for a candidate")
    add("--method", choices=("cold", "hot", "events"), help="how time is taken on a GPU")
    add("--seed", type=seed, default=0, help="the seed of orders and of the search")
    add("--cpu", action="store_true", help="time Triton's interpreter, where there is no GPU")
    add("--load", action="append", default=[], metavar="FILE.py", help="load directives")
    return parser


def tune_file(args: Namespace, sources: SourceTexts) -> None:
    """Do what the command line asks for.

    Raises:
        CompileError: where the program or an option is wrong, or no schedule has a time.
    """
    for path in args.load:
        load_file(path)
    _check(args)
    module = read_module(args.file, sources, args.load)
    types = parse_pairs(args.dtype, "--dtype")
    run_pipeline(module, default_pipeline("dt", types))
    sizes = parse_sizes(",".join(args.sizes), "sizes")
    try:
        import torch

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
        from dt_mlir.verification.sampling import sample
    except ImportError as error:
        raise CompileError(
            f"tuning needs {error.name}", None, "pip install 'dt-mlir[run,tune]'"
        ) from None
    if not torch.cuda.is_available() and not args.cpu and args.ray is None:
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
    with Database(path) as database, workers_for(options, args.cpu, args.gpus, args.ray) as workers:
        workers.begin(not args.cpu)
        device = "cpu" if args.cpu else workers.device_name()
        setting = Setting(task.algorithm, task.sizes, device, workers.versions())
        predicted = _predicted(args.device, device, args.auto)
        strategy = strategy_for(
            task, setting, database, predicted if args.auto else None, limited, args.seed
        )
        least = None if predicted is None else least_time(module, task.sizes, predicted)
        tuner = Tuner(
            task, setting, database, options, bar, baselines, workers, strategy, least
        )
        try:
            outcome = tuner.run()
        except (KeyboardInterrupt, SystemExit):
            bar.bar.close()
            _report(args, task.sizes, tuner.outcome(), device)
            raise
        finally:
            # Closing it again does nothing.
            bar.bar.close()
    _report(args, task.sizes, outcome, device)
    if outcome.best is None:
        timed = bool(outcome.ranked())
        raise CompileError(
            "no schedule was measured in all rounds" if timed
            else "no schedule of the space has a time"
        )
    for name, message in outcome.missing.items():
        raise CompileError(f"the baseline '{name}' has no time: {message}")


def _check(args: Namespace) -> None:
    """Refuses options that make no sense.

    Raises:
        CompileError: at the first one.
    """
    keep, budget = 1 if args.keep is None else args.keep, args.budget
    if not (keep >= 1 and args.timeout > 0 and (budget is None or budget > 0)):
        raise CompileError("--keep is at least 1, --timeout and --budget are more than 0")
    if not args.file.endswith(".dt"):
        raise CompileError(f"{args.file}: dt-tune takes programs, FILE.dt")
    if args.ray is not None and "=" in args.ray:
        raise CompileError(
            f"--ray: '{args.ray}' is not an address", None, "write sizes in front of --ray"
        )
    if args.device is not None and not args.auto:
        raise CompileError("--device is about what --auto is for")
    if args.gpus is not None and (args.cpu or args.ray is not None):
        raise CompileError("--gpus goes neither with --cpu nor with --ray, which finds GPUs itself")
    if args.explore is not None:
        check_page(args.explore)
    for option in (args.plot, args.output, args.explore):
        if option and not Path(option).absolute().parent.is_dir():
            raise CompileError(f"there is no folder for {option}")
    if args.plot is not None and Path(args.plot).suffix not in (".png", ".svg"):
        raise CompileError(f"--plot: {args.plot} ends in neither .png nor .svg")


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


def _report(args: Namespace, sizes: Mapping[str, int], outcome: Outcome, device: str) -> None:
    """Shows what was found, and writes the best schedule if there is one."""
    from dt_mlir.tuning.report import plot, table

    print(f"{args.file} on {device}")
    print(table(outcome), end="")
    best = outcome.best
    if best is None:
        return
    _certify(best.program, args.output or "the best schedule")
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


def _certify(program: str, file: str) -> None:
    """Says what is proved of the program that was found, on standard error.

    Raises:
        CompileError: if an obligation of it does not hold.
    """
    from dt_mlir.certificates.making import certificate_of
    from dt_mlir.frontend.emit import compile_text
    from dt_mlir.pipeline import default_pipeline, run_pipeline
    from dt_mlir.tools.certification import guilty, refusal

    algorithm, _ = compile_text(program, file)
    module = algorithm.clone()
    run_pipeline(module, default_pipeline("warp"), verify=False)
    try:
        certificate = certificate_of(module)
    except CompileError as error:
        print(f"remark: {error}", file=sys.stderr)
        return
    counts = ", ".join(f"{n} {verdict.value}" for verdict, n in certificate.count().items())
    print(f"certificate {certificate.digest}: {counts}", file=sys.stderr)
    if certificate.refuted:
        raise refusal(certificate, guilty(algorithm, []))


def _terminated(*_: object) -> None:
    sys.exit(143)


def main(argv: Sequence[str] | None = None) -> None:
    """The entry point of `dt-tune`."""
    args = _parser().parse_intermixed_args(argv)
    # Ended like this, a search takes its processes with it too.
    signal.signal(signal.SIGTERM, _terminated)
    sys.exit(run_tool(lambda sources: tune_file(args, sources)))


if __name__ == "__main__":
    main()
