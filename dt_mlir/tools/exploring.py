"""The option `--explore` of the tools: a page about what they do."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.diagnostics import CompileError, SourceTexts, places_of
from dt_mlir.files import write_output
from dt_mlir.tools.command_line import parse_choices, parse_sizes, parse_types
from dt_mlir.traversal import operations


def add_exploring(parser: ArgumentParser) -> None:
    """Adds the option to a tool's parser."""
    parser.add_argument(
        "--explore", metavar="OUT.html",
        help="write a page that follows the program through its levels",
    )  # fmt: skip


def add_exploring_programs(parser: ArgumentParser) -> None:
    """Adds the options of `dtc` to its parser."""
    add_exploring(parser)
    add = parser.add_argument
    add(
        "--beside", action="append", default=[], metavar="FILE.dt",
        help="the algorithm under another schedule, which --explore shows beside the first",
    )  # fmt: skip


def check_exploring(args: Namespace) -> None:
    """Refuses options of `dtc` that do not go together.

    Raises:
        CompileError: at the first one.
    """
    if args.explore is None:
        if args.beside:
            raise CompileError("--beside is about what --explore shows")
        return
    check_page(args.explore)
    if args.emit != "triton" or args.print_pipeline or args.run is not None or args.explain:
        raise CompileError(
            "--explore does not go with --emit, --print-pipeline, --run or --explain"
        )


def check_page(path: str) -> None:
    """Refuses a name that is not a page's.

    Raises:
        CompileError: if it does not end in `.html`, or what pages are made with is missing.
    """
    if not path.endswith((".html", ".htm")):
        raise CompileError(f"--explore: {path} does not end in .html")
    if find_spec("numpy") is None:
        raise CompileError("exploring needs numpy", None, "pip install 'dt-mlir[run]'")


def explore_file(
    module: ModuleOp, args: Namespace, sources: SourceTexts, choices: dict[str, int | str]
) -> None:
    """Writes the page of a program, and of what stands beside it.

    Args:
        module: the program at the `dt` level.
        args: the options of `dtc`.
        sources: the texts of programs.
        choices: what is chosen of a space of schedules.

    Raises:
        CompileError: where a program, its schedule or an option is wrong.
    """
    from dt_mlir.explorer.exploration import Exploration
    from dt_mlir.explorer.program import Settings, explore_program
    from dt_mlir.frontend.emit import compile_text
    from dt_mlir.frontend.printer import print_program
    from dt_mlir.frontend.raising import raise_module
    from dt_mlir.tools.parsing import decode, parse_dt
    from dt_mlir.verifier import verify_module

    settings = Settings(
        types=parse_types(args.dtype), fixed=parse_sizes(args.fix, "--fix"),
        choices=choices, sizes=parse_sizes(args.sizes, "--sizes"), architecture=args.arch,
        device=args.device, certify=args.certify,
    )  # fmt: skip
    text = sources.texts[args.file]
    if args.auto is not None or args.best is not None:
        # The schedule is not that of the file.
        text = print_program(raise_module(module))
        module, _ = compile_text(text, args.file)
    programs = [explore_program(module.clone(), text, args.file, settings, Path(args.file).name)]
    for path in args.beside:
        if path.endswith(".mlir"):
            raise CompileError(f"--beside: {path} is not a program")
        with open(path, "rb") as stream:
            beside = parse_dt(decode(stream, path), path, sources, settings.types)
        verify_module(beside)
        others = Settings(
            types=settings.types, fixed=settings.fixed, sizes=settings.sizes,
            choices=parse_choices(args.choose, "--choose") if not args.best else {},
            architecture=settings.architecture, device=settings.device, certify=settings.certify,
        )  # fmt: skip
        name = Path(path).name
        known = [item.name for item in programs]
        name = path if name in known else name
        programs.append(explore_program(beside, sources.texts[path], path, others, name))
    write_output(args.explore, Exploration(Path(args.file).name, programs).html())


def linked_text(module: ModuleOp, name: str, sources: SourceTexts) -> tuple[str, str]:
    """Returns the name and the text that most operations of a module come from.

    Args:
        module: a module that was read.
        name: the name of its text.
        sources: the texts that are known.
    """
    found = Counter(place[0] for op in operations(module) for place in places_of(op.location)[:1])
    for file, _ in found.most_common():
        if sources.line(file, 1) is not None:
            return file, sources.texts[file]
    return name, sources.texts[name]
