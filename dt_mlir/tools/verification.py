"""`--verify-semantics`, for the tools that run passes."""

from __future__ import annotations

import argparse
import sys
from contextvars import Token
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from dt_mlir.diagnostics import CompileError, Note
from dt_mlir.scheduling.directive import OBSERVER, Observer
from dt_mlir.tools.command_line import parse_sizes

if TYPE_CHECKING:
    from dt_mlir.verification.semantics import Given, Recorder


def add_verification(parser: argparse.ArgumentParser) -> None:
    """Adds the options to a tool's parser."""
    group = parser.add_argument_group("checking what passes do")
    add = group.add_argument
    add(
        "--verify-semantics",
        action="store_true",
        help="run the IR before and after each pass on small inputs and compare the results",
    )
    add(
        "--arithmetic",
        choices=["exact", "exponential", "bounded"],
        default="exact",
        help="compare exactly where that decides (default), so with exp(a + b) = exp(a) exp(b), or "
        "within error bounds",
    )
    add(
        "--verify-masks",
        action="store_true",
        help="with --verify-semantics: change every element of every mask of the last module, "
        "and list those on which no output depends (without it, the two at each bound)",
    )
    add("--verify-sizes", metavar="x=100,…", help="the sizes to verify with")
    add("--inputs", metavar="FILE.npz", help="the inputs of a reproducer")
    add(
        "--reproducer",
        metavar="FILE.mlir",
        default="reproducer.mlir",
        help="where the IR before a wrong pass goes (reproducer.mlir); its inputs go beside it",
    )


class Verification:
    """Records a pipeline, and verifies it at the end of a `with` block if that is asked for.

    What a pass refuses is raised after what the passes before it have done is verified.
    """

    def __init__(self, args: argparse.Namespace, module: ModuleOp) -> None:
        self.args = args
        self.recorder: Recorder | None = None
        self.given: Given | None = None
        self._token: Token[Observer | None] | None = None
        if args.verify_semantics:
            try:
                from dt_mlir.verification.semantics import Recorder
            except ImportError:
                raise CompileError(
                    "verifying semantics needs numpy", None, "pip install 'dt-mlir[run]'"
                ) from None
            self.recorder = Recorder(module)
            if args.inputs is not None:
                from dt_mlir.verification.reproducer import load_inputs

                if args.verify_sizes:
                    raise CompileError("give --inputs, which have their sizes, or --verify-sizes")
                self.given = load_inputs(args.inputs, module)
            path = Path(args.reproducer)
            if path.suffix != ".mlir" or not path.parent.is_dir() or path.is_dir():
                raise CompileError(
                    f"--reproducer: '{args.reproducer}' is not a file in a folder that exists",
                    None, "name a file that ends in .mlir",
                )  # fmt: skip
        elif args.inputs or args.verify_sizes or args.verify_masks:
            raise CompileError(
                "--inputs, --verify-sizes and --verify-masks go with --verify-semantics"
            )

    def after(self, item: ModulePass, module: ModuleOp) -> None:
        """Keeps the module after a pass."""
        if self.recorder is not None:
            self.recorder.after(item, module)

    def __enter__(self) -> Verification:
        if self.recorder is not None:
            self._token = OBSERVER.set(self.recorder.applied)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._token is not None:
            OBSERVER.reset(self._token)
        if self.recorder is None or not (error is None or isinstance(error, Exception)):
            return
        from dt_mlir.verification.reproducer import write_reproducer
        from dt_mlir.verification.semantics import Mode, SemanticsError, verify_semantics

        args = self.args
        sizes = parse_sizes(args.verify_sizes, "--verify-sizes")
        try:
            report = verify_semantics(
                self.recorder.stages, Mode(args.arithmetic), self.given, sizes,
                kernel=error is None, masks=args.verify_masks,
            )  # fmt: skip
        except SemanticsError as found:
            try:
                write_reproducer(found, self.recorder.stages, Path(args.reproducer), args.load)
            except OSError as problem:
                found.notes.append(Note(f"there is no reproducer: {problem}"))
            raise
        print(report, file=sys.stderr)
