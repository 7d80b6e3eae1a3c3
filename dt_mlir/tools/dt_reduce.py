"""`dt-reduce`: makes a program or a module on which passes fail small, its schedule with it."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from dt_mlir.diagnostics import CompileError, SourceTexts
from dt_mlir.files import check_output, write_output
from dt_mlir.tools.command_line import ArgumentParser, parse_sizes, run_tool, seconds


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="dt-reduce",
        description="Minimise a program (.dt) or IR (.mlir) on which a pipeline fails: a pass "
        "changes what is computed, refuses its input or crashes. The failure stays the same.",
    )
    add = parser.add_argument
    add("file", help="FILE.dt or FILE.mlir")
    add("sizes", nargs="*", metavar="x=100", help="sizes of labels at which it fails")
    add("--pass-pipeline", metavar="PIPELINE", help="the passes, as for dt-opt (default: dtc's)")
    add("-p", "--passes", metavar="PASSES", help="the passes, as for dt-opt")
    add("--load", action="append", default=[], metavar="FILE.py", help="load passes")
    add("-o", "--output", metavar="FILE", help="where the result goes (reduced.dt or .mlir)")
    add(
        "--arithmetic", choices=["exact", "exponential", "bounded"], default="exact",
        help="as for dt-opt",
    )  # fmt: skip
    add("--kernel", action="store_true", help="run the emitted kernel too")
    add(
        "--time-limit", type=seconds, default=120.0, metavar="SECONDS",
        help="when to take the smallest so far (120)",
    )  # fmt: skip
    return parser


def _driver_arguments(args: Namespace) -> list[str]:
    from dt_mlir.loading import load_file
    from dt_mlir.pipeline import default_pipeline, pipeline_text

    no_passes = args.passes is None and args.pass_pipeline is None
    if no_passes and not args.file.endswith(".dt") and Path(args.file).exists():
        raise CompileError(
            f"{args.file}: a module does not say which passes to run", None,
            "give them with -p; a reproducer has them in its line '// run:'",
        )  # fmt: skip
    # Their passes have places in dtc's pipeline.
    for file in args.load:
        load_file(file)
    words = [args.file]
    for file in args.load:
        words += ["--load", file]
    if args.passes is not None:
        words += ["-p", args.passes]
    if args.pass_pipeline is not None or no_passes:
        words += ["--pass-pipeline", args.pass_pipeline or pipeline_text(default_pipeline())]
    return words


def reduce_file(args: Namespace, sources: SourceTexts) -> None:
    """Do what the command line asks for.

    Raises:
        CompileError: where the file or an option is wrong, or nothing fails.
    """
    if importlib.util.find_spec("numpy") is None:
        raise CompileError("reducing needs numpy", None, "pip install 'dt-mlir[run]'")
    from dt_mlir.analysis.interface import Interface
    from dt_mlir.frontend.emit import emit_program
    from dt_mlir.frontend.raising import raise_module
    from dt_mlir.interpreters.arithmetic import Character
    from dt_mlir.reducer.failure import Experiment, Failure, failure_of
    from dt_mlir.reducer.modules import ModuleCase, smaller_modules
    from dt_mlir.reducer.programs import ProgramCase, smaller_programs
    from dt_mlir.reducer.search import Reducer
    from dt_mlir.tools.dt_opt import DtOptMain
    from dt_mlir.tools.parsing import read_module
    from dt_mlir.verification.semantics import Mode

    suffix, comment = (".dt", "#") if args.file.endswith(".dt") else (".mlir", "//")
    output = args.output or f"reduced{suffix}"
    check_output(output)
    passes = DtOptMain(sources, _driver_arguments(args)).passes()
    mode = Mode(args.arithmetic)
    module = read_module(args.file, sources, args.load)
    given = parse_sizes(",".join(args.sizes), "sizes")
    if given:
        Interface.of(module).sizes(given)
    first = failure_of(module.clone, Experiment(passes, mode, args.kernel), given)
    if first is None:
        raise CompileError(
            f"{args.file}: nothing fails, so there is nothing to reduce", None,
            "give the passes, and the sizes, with which it fails",
        )  # fmt: skip
    if first.item == "the input" and first.kind == "refuses":
        raise CompileError(
            f"{args.file}: the program itself does not run: {first.message}", None,
            "give it, and its sizes, as they are right",
        )  # fmt: skip
    numbers = tuple(range(len(passes)))
    characters = tuple(Character) if first.character is None else (first.character,)

    def same(found: Failure | None) -> bool:
        return found == first

    def experiment(kept: tuple[int, ...]) -> Experiment:
        at_a_pass = first.item in {item.name for item in passes}
        compares = first.kind in ("changes", "breaks") or not at_a_pass
        return Experiment([passes[i] for i in kept], mode, args.kernel, characters, compares)

    sizes = dict(first.sizes or given)
    if args.file.endswith(".dt"):
        programs = Reducer[ProgramCase](
            smaller_programs,
            lambda case: same(
                failure_of(lambda: emit_program(case.program), experiment(case.passes), case.sizes)
            ),
            lambda case: case.key(),
            args.time_limit,
        )
        start = ProgramCase(raise_module(module), sizes, numbers)
        result: ProgramCase | ModuleCase = programs.reduce(start)
        tries, finished = programs.tries, programs.finished
    else:
        modules = Reducer[ModuleCase](
            smaller_modules,
            lambda case: same(failure_of(case.module.clone, experiment(case.passes), case.sizes)),
            lambda case: case.key(),
            args.time_limit,
        )
        start = ModuleCase(module, sizes, numbers)
        result = modules.reduce(start)
        tries, finished = modules.tries, modules.finished
    words = ["dt-opt", output]
    for file in args.load:
        words += ["--load", file]
    pipeline = ",".join(str(passes[i].pipeline_pass_spec()) for i in result.passes)
    if pipeline:
        words += ["-p", pipeline]
    if first.kind in ("changes", "breaks"):
        words += ["--verify-semantics"]
        if mode is not Mode.EXACT:
            words += ["--arithmetic", mode.value]
        if result.sizes:
            shown = ",".join(f"{label}={size}" for label, size in result.sizes.items())
            words += ["--verify-sizes", shown]
    if first.item == "the emitter":
        words += ["-t", "triton"]
    command = shlex.join(words)
    head = f"{comment} {first.kind}: {first.item}\n{comment} run: {command}\n"
    write_output(output, head + result.text())
    before, after = (len(case.text().splitlines()) for case in (start, result))
    note = "" if finished else ", time was up"
    print(f"{output}: {after} of {before} lines, {len(result.passes)} of {len(passes)} passes "
          f"({tries} tries{note})")  # fmt: skip
    print(f"{first.item} {first.kind}; to see it: {command}")


def main(argv: Sequence[str] | None = None) -> None:
    """The entry point of `dt-reduce`."""
    args = _parser().parse_intermixed_args(argv)
    sys.exit(run_tool(lambda sources: reduce_file(args, sources)))


if __name__ == "__main__":
    main()
