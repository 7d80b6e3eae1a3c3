"""`dtc`: the whole compiler, from a DT program to a Python module with Triton kernels."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, StringAttr

from dt_mlir.certificates.making import certificate_of
from dt_mlir.diagnostics import CompileError, SourceTexts, did_you_mean
from dt_mlir.dialects.host.func import function_of
from dt_mlir.files import check_spared, write_output
from dt_mlir.loading import load_file
from dt_mlir.pipeline import default_pipeline, pipeline_text, run_pipeline
from dt_mlir.registry import PASSES
from dt_mlir.tools.certification import (
    add_certification,
    check_options,
    guilty,
    refusal,
    show,
)
from dt_mlir.tools.command_line import (
    ArgumentParser,
    parse_choices,
    parse_sizes,
    parse_types,
    run_tool,
    seed,
)
from dt_mlir.tools.exploring import add_exploring_programs, check_exploring, explore_file
from dt_mlir.tools.verification import Verification, add_verification
from dt_mlir.verifier import verify_module

IR = ("dt", "loop", "tile", "warp")
"""The levels of IR."""
LEVELS = (*IR, "schedule", "cost", "triton", "gluon", "ttir", "ptx", "amdgcn", "stats")
"""The forms that `--emit` prints; those after `gluon` need Triton, but no GPU."""


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="dtc", description="Compile a DT program to a Python module with Triton kernels."
    )
    add = parser.add_argument
    add("file", help="the program, FILE.dt")
    add("-o", "--output", metavar="FILE", help="where the result goes; standard output without it")
    add("--dtype", metavar="A=f16,…", help="declare element types of inputs and functions anew")
    add("--emit", default="triton", metavar="LEVEL", help=f"what to print: {', '.join(LEVELS)}")
    add(
        "--run",
        nargs="?",
        const="",
        metavar="x=100,…",
        help="run the program on random inputs of these sizes and check the result",
    )
    add("--seed", type=seed, default=0, help="the seed of the random inputs")
    add("--choose", metavar="BM=64,…", help="choose from a space of schedules")
    add(
        "--best",
        nargs="?",
        const="",
        metavar="x=4096,…",
        help="take the fastest schedule that dt-tune has found, for these sizes",
    )
    add(
        "--auto",
        nargs="?",
        const="",
        metavar="x=4096,…",
        help="take a schedule that is predicted to be fast at these sizes",
    )
    add(
        "--device",
        metavar="NAME",
        help="the device that --best, --auto and the costs are for: h200, or as its driver says",
    )
    add("--database", metavar="FILE", help="where dt-tune keeps its results")
    add("--fix", metavar="x=4096,…", help="compile for these sizes; the wrapper refuses others")
    add(
        "--explain",
        action="store_true",
        help="print the laws by which reductions in one pass are repaired",
    )
    add("--draw", metavar="FILE.svg", help="draw what program instances compute, and in what order")
    add(
        "--sizes",
        metavar="x=100,…",
        help="the sizes that cost, ttir, ptx, stats, --draw and --explore are for",
    )
    add(
        "--arch",
        default="sm_90",
        help="the target of ttir, ptx, amdgcn and stats: sm_80, sm_90, sm_100, gfx942, …",
    )
    add_exploring_programs(parser)
    add_verification(parser)
    add_certification(parser)
    add("--load", action="append", default=[], metavar="FILE.py", help="load directives and passes")
    add("--override", action="store_true", help="loaded passes may take the names of built-in ones")
    add("--print-pipeline", action="store_true", help="print the passes that are run")
    add("--print-kernels-only", action="store_true", help="print the kernels of IR alone")
    add("--print-debuginfo", action="store_true", help="print locations in IR")
    return parser


def _parse(path: str, sources: SourceTexts, types: list[tuple[str, str]]) -> ModuleOp:
    from dt_mlir.tools.parsing import decode, parse_dt

    if path.endswith(".mlir"):
        raise CompileError(f"{path}: dtc compiles programs", None, "dt-opt takes .mlir")
    with open(path, "rb") as stream:
        text = decode(stream, path)
    return parse_dt(text, path, sources, types)


def _show(module: ModuleOp, args: Namespace) -> str:
    from dt_mlir.printing import module_text

    return module_text(module, args.print_debuginfo, kernels_only=args.print_kernels_only) + "\n"


def _load(path: str, override: bool) -> None:
    """Loads a file; warns of its passes that nothing runs."""
    from dt_mlir.scheduling.directive import Directive

    passes, _ = load_file(path, override)
    for name, cls in passes.items():
        placed = issubclass(cls, Directive) or getattr(cls, "after", None) is not None
        if not placed and name not in PASSES:
            print(
                f"warning: {path}: dtc does not run the pass '{name}', which has no 'after'\n"
                "  help: after = \"tile-cse\" gives it a place; dt-opt -p runs it anywhere",
                file=sys.stderr,
            )


def _best(
    module: ModuleOp, types: list[tuple[str, str]], args: Namespace
) -> tuple[ModuleOp, dict[str, int | str]]:
    """Returns the program and the choices of the fastest recorded schedule.

    It is the program under that schedule, without choices, where it leaves nothing open. What was
    measured goes to standard error.
    """
    from pathlib import Path

    from dt_mlir.frontend.emit import compile_text
    from dt_mlir.scheduling.space import Space
    from dt_mlir.tuning.best import recorded_best
    from dt_mlir.tuning.database import default_path

    typed = module.clone()
    run_pipeline(typed, default_pipeline("dt", types))
    path = Path(args.database) if args.database else default_path()
    sizes = parse_sizes(args.best, "--best")
    candidate, setting = recorded_best(typed, path, sizes, args.device)
    shown = ", ".join(f"{name}={option}" for name, option in candidate.point.items())
    sizes_shown = ",".join(f"{label}={size}" for label, size in setting.sizes.items())
    print(
        f"remark: {shown or 'the schedule as written'}, measured at {sizes_shown} on "
        f"{setting.device} with {setting.versions}", file=sys.stderr,
    )  # fmt: skip
    if len(Space(module)) > 1:
        return module, candidate.point
    return compile_text(candidate.text, args.file)[0], {}


def _automatic(
    module: ModuleOp, types: list[tuple[str, str]], args: Namespace
) -> ModuleOp:
    """Returns the program under a schedule that is predicted to be fast.

    Sizes that are assumed go to standard error.
    """
    from dt_mlir.autoscheduling.auto import assumed_sizes, auto_schedule, with_schedule
    from dt_mlir.costs.device import find_device

    typed = module.clone()
    run_pipeline(typed, default_pipeline("dt", types))
    given = {**parse_sizes(args.fix, "--fix"), **parse_sizes(args.auto, "--auto")}
    sizes = assumed_sizes(typed, given)
    _tell_assumed(typed, sizes, given, "--auto")
    return with_schedule(module, auto_schedule(typed, sizes, find_device(args.device)))


def _tell_assumed(
    module: ModuleOp, sizes: dict[str, int], given: dict[str, int], option: str
) -> None:
    """Tells on standard error which sizes of labels are assumed."""
    from dt_mlir.autoscheduling.auto import open_labels

    shown = ",".join(f"{label}={sizes[label]}" for label in open_labels(module, given))
    if shown:
        print(f"remark: {option} assumes {shown}", file=sys.stderr)


def _lines(module: ModuleOp) -> str:
    """Returns the schedule of a program, a directive in each line."""
    from dt_mlir.frontend.raising import raise_module
    from dt_mlir.language.schedule import Schedule

    return Schedule.of(raise_module(module)).to_dt()


def _costs(module: ModuleOp, args: Namespace) -> str:
    """Returns what the kernels of a program are predicted to cost."""
    from dt_mlir.autoscheduling.auto import assumed_sizes
    from dt_mlir.costs.device import find_device
    from dt_mlir.costs.report import cost_report

    given = {
        **parse_sizes(args.fix, "--fix"), **parse_sizes(args.auto, "--auto"),
        **parse_sizes(args.sizes, "--sizes"),
    }  # fmt: skip
    sizes = assumed_sizes(module, given)
    if args.auto is None:
        _tell_assumed(module, sizes, given, "--emit cost")
    return cost_report(module, sizes, find_device(args.device))


def _certify(
    algorithm: ModuleOp, module: ModuleOp, types: list[tuple[str, str]], args: Namespace
) -> None:
    """Prints the certificate of a program.

    Raises:
        CompileError: if an obligation does not hold, at the directive that breaks it.
    """
    certificate = certificate_of(module)
    print(show(certificate, args.certificate), end="")
    if certificate.refuted:
        raise refusal(certificate, guilty(algorithm, types))
    function = function_of(module)
    assert function is not None, "what has a certificate has a wrapper"
    function.certificate = StringAttr(certificate.digest)


def compile_file(args: Namespace, sources: SourceTexts) -> None:
    """Do what the command line asks for.

    Raises:
        CompileError: where the program or an option is wrong.
    """
    if args.emit not in LEVELS:
        raise CompileError(
            f"--emit: there is no level '{args.emit}'", None, did_you_mean(args.emit, LEVELS)
        )
    if args.print_kernels_only and args.emit not in IR[1:]:
        raise CompileError("--print-kernels-only goes with --emit loop, tile and warp")
    types = parse_types(args.dtype)
    level = args.emit if args.emit in IR else "warp"
    choices = parse_choices(args.choose, "--choose")
    if args.best is not None and choices:
        raise CompileError("--best chooses; it does not go with --choose")
    if args.best is not None and args.auto is not None:
        raise CompileError("--best and --auto both choose a schedule; give one of them")
    if args.auto is not None and choices:
        raise CompileError("--auto leaves the program's space aside; it does not go with --choose")
    if args.best is None and args.database is not None:
        raise CompileError("--database is about what --best takes")
    check_exploring(args)
    costly = args.emit == "cost" or args.explore is not None
    if args.best is None and args.auto is None and not costly and args.device is not None:
        raise CompileError("--device is about what --best, --auto and --emit cost are for")
    if args.run is not None and (args.emit != "triton" or args.print_pipeline):
        raise CompileError("--run runs the program; it does not go with --emit or --print-pipeline")
    if args.draw is not None and (args.emit != "triton" or args.print_pipeline):
        raise CompileError("--draw does not go with --emit or --print-pipeline")
    if args.draw is not None and not args.draw.endswith(".svg"):
        raise CompileError(f"--draw: {args.draw} does not end in .svg")
    if args.explain and (args.emit != "triton" or args.print_pipeline or args.run is not None):
        raise CompileError("--explain does not go with --emit, --print-pipeline or --run")
    check_options(args.certify, args.certificate)
    check_spared("-o", args.output, [args.file, *args.load, *args.beside])
    if args.certify and (args.emit != "triton" or args.print_pipeline):
        raise CompileError("--certify does not go with --emit or --print-pipeline")
    fixed = parse_sizes(args.fix, "--fix")
    for option in ("sizes", "auto", "best", "run"):
        for label, size in parse_sizes(getattr(args, option), f"--{option}").items():
            if fixed.get(label, size) != size:
                raise CompileError(
                    f"--fix gives '{label}' the size {fixed[label]}, and --{option} {size}", None,
                    "give it one size",
                )
    given = parse_sizes(args.run, "--run")
    for path in args.load:
        _load(path, args.override)
    module = _parse(args.file, sources, types)
    verify_module(module)
    if args.auto is not None:
        module = _automatic(module, types, args)
    algorithm = module.clone()
    if args.best is not None:
        module, choices = _best(module, types, args)
        algorithm = module.clone()
    if args.explore is not None:
        explore_file(module, args, sources, choices)
        if args.output is None and args.draw is None and not args.certify:
            return
    passes = default_pipeline(level, types, fixed, choices)
    if args.print_pipeline:
        run_pipeline(module, default_pipeline("dt", types))
        write_output(args.output, pipeline_text(passes) + "\n")
        return
    if args.emit in ("schedule", "cost"):
        run_pipeline(module, default_pipeline("dt", types, choices=choices))
        write_output(args.output, _costs(module, args) if args.emit == "cost" else _lines(module))
        return
    if args.explain:
        from dt_mlir.laws.explanation import explain

        loops = module.clone()
        run_pipeline(loops, default_pipeline("loop", types, fixed, choices))
        print(explain(loops), end="")
        if args.output is None:
            return
    with Verification(args, module) as verification:
        run_pipeline(module, passes, verification.after)
    if args.emit in IR:
        write_output(args.output, _show(module, args))
        return
    if args.certify:
        _certify(algorithm, module, types, args)
        if args.output is None and args.run is None and args.draw is None:
            return
    from dt_mlir.backend.python_module import emit_module

    if args.emit == "gluon":
        from dt_mlir.backend.targets import specialized

        write_output(args.output, emit_module(specialized(module)))
        return
    source = emit_module(module)
    if args.emit != "triton":
        from dt_mlir.runtime.assembly import report

        sizes = parse_sizes(args.sizes, "--sizes")
        write_output(args.output, report(algorithm, module, source, args.emit, args.arch, sizes))
        return
    if args.draw is not None:
        try:
            from dt_mlir.drawing.placement import placements
            from dt_mlir.drawing.svg import svg
        except ImportError as error:
            raise CompileError(
                f"--draw needs {error.name}", None, "pip install 'dt-mlir[run]'"
            ) from None

        picture = svg(placements(module, parse_sizes(args.sizes, "--sizes")))
        write_output(args.draw, picture)
        if args.output is None and args.run is None:
            return
    if args.run is None:
        write_output(args.output, source)
        return
    from dt_mlir.runtime.execute import run_and_check
    from dt_mlir.runtime.interpreted_types import miscomputed

    if types:
        run_pipeline(algorithm, default_pipeline("dt", types))
    # To be run, even a program of kernels alone needs what launches them.
    source_to_run = emit_module(module, wrapped=True)
    checked = run_and_check(algorithm, source_to_run, given, args.seed, tiles=module)
    if args.output is not None:
        write_output(args.output, source)
    where = {
        "cuda": "GPU",
        "cpu": "CPU (Triton's interpreter)",
        "tiles": f"CPU, at the tile level (Triton's interpreter computes {miscomputed(module)} "
        "wrongly)",
    }[checked.device]
    print(f"{args.file}: right on the {where}")
    for line in checked.lines:
        print(f"  {line}")


def main(argv: Sequence[str] | None = None) -> None:
    """The entry point of `dtc`."""
    args = _parser().parse(argv)
    sys.exit(run_tool(lambda sources: compile_file(args, sources)))


if __name__ == "__main__":
    main()
