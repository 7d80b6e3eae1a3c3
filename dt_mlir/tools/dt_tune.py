"""`dt-tune`: searches a program's space of schedules for the fastest."""

from __future__ import annotations

import os
import signal
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path

from dt_mlir.diagnostics import CompileError, SourceTexts
from dt_mlir.files import check_output
from dt_mlir.tools.command_line import ArgumentParser, run_tool, seconds, seed
from dt_mlir.tools.entry import terminated


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
    add(
        "--budget", type=seconds, metavar="SECONDS", help="try no further candidate after this time"
    )
    add(
        "--timeout", type=seconds, default=120.0, metavar="SECONDS", help="the most for a candidate"
    )
    add("--method", choices=("cold", "hot", "events"), help="how time is taken on a GPU")
    add("--seed", type=seed, default=0, help="the seed of orders and of the search")
    add("--cpu", action="store_true", help="time Triton's interpreter, where there is no GPU")
    add("--load", action="append", default=[], metavar="FILE.py", help="load directives")
    return parser


def _check(args: Namespace) -> None:
    """Refuses options that make no sense.

    Raises:
        CompileError: at the first one.
    """
    if args.keep is not None and not args.keep >= 1:
        raise CompileError("--keep is at least 1")
    if args.timeout == 0 or args.budget == 0:
        raise CompileError("--timeout and --budget are more than 0")
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
        from dt_mlir.tools.exploring import check_page

        check_page(args.explore)
    for path in (args.plot, args.output, args.explore):
        check_output(path)
    if args.plot is not None and Path(args.plot).suffix not in (".png", ".svg"):
        raise CompileError(f"--plot: {args.plot} ends in neither .png nor .svg")


def _tune(args: Namespace, sources: SourceTexts) -> None:
    _check(args)
    from dt_mlir.tools.searching import tune_file

    tune_file(args, sources)


def main(argv: Sequence[str] | None = None) -> None:
    """The entry point of `dt-tune`."""
    args = _parser().parse_intermixed_args(argv)
    # Ended like this, a search takes its processes with it too.
    signal.signal(signal.SIGTERM, terminated)
    sys.exit(run_tool(lambda sources: _tune(args, sources)))


if __name__ == "__main__":
    main()
