"""`dt-opt`: runs passes on DT programs and on IR of any level, as `mlir-opt` does."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError
from xdsl.xdsl_opt_main import xDSLOptMain

from dt_mlir.compiling import compiling
from dt_mlir.diagnostics import CompileError, Note, SourceTexts, did_you_mean, showing_warnings
from dt_mlir.files import write_output
from dt_mlir.loading import load_file
from dt_mlir.printing import module_text
from dt_mlir.tools.certification import (
    add_certification,
    certified,
    check_options,
    guilty,
    refusal,
    show,
    wrong_pass,
)
from dt_mlir.tools.command_line import ArgumentParser, run_tool
from dt_mlir.tools.exploring import add_exploring, check_page, linked_text
from dt_mlir.tools.verification import Verification, add_verification
from dt_mlir.verifier import verify_module

if TYPE_CHECKING:
    from dt_mlir.explorer.steps import StepRecorder

DESCRIPTION = "Run passes on DT programs (.dt) and on IR of any level (.mlir)."


@dataclass
class _Chunk:
    text: str
    first_line: int


class DtOptMain(xDSLOptMain):
    """xDSL's driver with DT's frontend, MLIR's pipelines and located errors."""

    def __init__(self, sources: SourceTexts, args: Sequence[str] | None = None) -> None:
        # The parent's constructor is not called: it parses arguments its own way.
        self.sources = sources
        self.available_frontends = {}
        self.available_passes = {}
        self.available_targets = {}
        self.loaded: list[str] = []
        parser = ArgumentParser(prog="dt-opt", description=DESCRIPTION)
        self.register_all_arguments(parser)
        self.args = parser.parse(args)
        self.ctx = Context()
        self.register_all_dialects()
        self.register_all_passes()
        self.register_all_targets()
        self.register_all_frontends()
        self._load_plugins()
        self.ctx.allow_unregistered = self.args.allow_unregistered_dialect
        for name in (*self.args.print_ir_before, *self.args.print_ir_after):
            if name not in self.available_passes:
                raise CompileError(
                    f"'{name}' is not a pass", None, did_you_mean(name, self.available_passes)
                )
        self.started = 0.0
        self.current: ModulePass | None = None
        self._before = ""
        self.recorder: StepRecorder | None = None

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        add = arg_parser.add_argument
        add("input_file", nargs="?", help="a .dt program or .mlir text; standard input without it")
        add("-o", "--output-file", metavar="FILE", help="where the result goes")
        add("-f", "--frontend", choices=["dt", "mlir"], help="what the input is")
        add(
            "--pass-pipeline",
            metavar="PIPELINE",
            help="the passes to run, as in MLIR: 'builtin.module(a,b{x=1})'",
        )
        add("-p", "--passes", metavar="PASSES", help="the passes to run, as in xDSL: 'a,b{x=1}'")
        add("-t", "--target", default="mlir", help="what to print: mlir (default), triton, …")
        add(
            "--load",
            action="append",
            default=[],
            metavar="FILE.py",
            help="load passes, directives and dialects from a Python file",
        )
        add("--list-passes", action="store_true", help="list the passes and their options")
        add("--print-ir-after-all", action="store_true", help="print the IR after each pass")
        add(
            "--print-ir-after-change",
            action="store_true",
            help="print the IR after each pass that changes it",
        )
        for when in ("before", "after"):
            add(
                f"--print-ir-{when}",
                action="append",
                default=[],
                metavar="PASS",
                help=f"print the IR {when} a pass",
            )
        add("--time-passes", action="store_true", help="say how long each pass takes")
        add("--print-debuginfo", action="store_true", help="print locations")
        add("--print-op-generic", action="store_true", help="print the generic form")
        add("--print-kernels-only", action="store_true", help="print the kernels alone")
        add("--print-no-properties", action="store_true", help="print properties as attributes")
        add("--syntax-highlight", action="store_true", help="print in colours")
        add("--split-input-file", action="store_true", help="treat parts between '// -----' alone")
        add(
            "--verify-diagnostics",
            action="store_true",
            help="check that diagnostics are those of comments 'expected-error {{text}}'",
        )
        add("--override", action="store_true", help="loaded passes may take built-in ones' names")
        add("--disable-verify", action="store_true", help="do not verify the IR")
        add_exploring(arg_parser)
        add_verification(arg_parser)
        add_certification(arg_parser)
        add("--allow-unregistered-dialect", action="store_true", help="take unknown operations")
        add("--no-implicit-module", action="store_true", help="add no module around the input")
        add("-v", "--version", action="store_true", help="print versions")

    def register_all_frontends(self) -> None:
        """Frontends take text here; see `_parse`."""

    def _load_plugins(self) -> None:
        for path in self.args.load:
            passes, dialects = load_file(path, self.args.override)
            for name, cls in passes.items():
                self.available_passes[name] = lambda cls=cls: cls
                self.loaded.append(name)
            for dialect in dialects:
                self.ctx.register_dialect(dialect.name, lambda d=dialect: d)

    def passes(self) -> tuple[ModulePass, ...]:
        """The passes that the command line asks for.

        Raises:
            CompileError: where a pass or an option is unknown.
        """
        text = self.args.passes or ""
        if self.args.pass_pipeline is not None:
            if self.args.passes:
                raise CompileError("give --pass-pipeline or -p, not both")
            text = _inside_module(self.args.pass_pipeline)
        if text.rstrip().endswith(","):
            raise CompileError("the pipeline ends in a comma", None, "name a pass behind it")
        found: list[ModulePass] = []
        for spec in _specs(text):
            if spec.name not in self.available_passes:
                raise CompileError(
                    f"'{spec.name}' is not a pass",
                    None,
                    did_you_mean(spec.name, self.available_passes)
                    or "--list-passes lists what there is",
                )
            cls = self.available_passes[spec.name]()
            try:
                found.append(cls.from_spec(spec))
            except ValueError as error:
                raise _option_error(cls, spec.normalize_parameter_names().parameters, error) from (
                    None
                )
        return tuple(found)

    def run(self) -> None:
        """Reads, runs the passes, prints.

        Raises:
            CompileError: where the input, a pass or an option is wrong.
        """
        if self.args.version:
            from importlib.metadata import version

            from dt_mlir import __version__

            print(f"dt-opt {__version__} on xDSL {version('xdsl')}")
            return
        if self.args.list_passes:
            self._list_passes()
            return
        from xdsl.utils.arg_spec import parse_spec

        target = parse_spec(self.args.target).name
        if target not in self.available_targets:
            raise CompileError(
                f"'{target}' is not a target", None,
                did_you_mean(target, self.available_targets),
            )
        try:
            targets: Any = self.available_targets
            targets[target]().from_spec(parse_spec(self.args.target))
        except ValueError:
            options = ", ".join(parse_spec(self.args.target).parameters)
            raise CompileError(
                f"the target '{target}' does not have the options {options}", None,
                f"write '-t {target}'",
            ) from None
        check_options(self.args.certify, self.args.certificate)
        passes = self.passes()
        name, kind, chunks = self._read()
        results: list[str] = []
        problems: list[Note] = []
        for chunk in chunks:
            if self.args.verify_diagnostics:
                problems += self._expecting(chunk, name, kind, passes, results)
            else:
                results.append(self._processed(chunk, name, kind, passes))
        if problems:
            raise CompileError(problems[0].message, problems[0].location, None, problems[1:])
        write_output(self.args.output_file, "// -----\n".join(results))

    def _processed(
        self, chunk: _Chunk, name: str, kind: str, passes: tuple[ModulePass, ...]
    ) -> str:
        module = self._parse(chunk, name, kind)
        if not self.args.disable_verify:
            verify_module(module)
        before = module.clone() if self.args.certify else module
        with Verification(self.args, module) as self.verification:
            if self.args.explore is None:
                self._run_passes(passes, module)
            else:
                self._explore(passes, module, name)
        if self.args.certify:
            self._certify(before, module, passes)
        return self._result(module)

    def _certify(
        self, before: ModuleOp, module: ModuleOp, passes: Sequence[ModulePass]
    ) -> None:
        """Prints the certificate of a module, which is lowered to block programs for it.

        Args:
            before: the module before the passes.
            module: what they made.
            passes: the passes.

        Raises:
            CompileError: if an obligation does not hold, at the directive or the pass that breaks
                it.
        """
        certificate = certified(module, passes[-1].name if passes else None)
        print(show(certificate, self.args.certificate), end="", file=sys.stderr)
        if certificate.refuted:
            at = guilty(before)
            wrong = wrong_pass(before, passes, self.ctx) if at is None else None
            raise refusal(certificate, at, None if wrong is None else wrong.name)

    def _explore(self, passes: tuple[ModulePass, ...], module: ModuleOp, name: str) -> None:
        """Runs the passes, and writes a page with what each of them has made."""
        check_page(self.args.explore)
        from dt_mlir.costs.device import find_device
        from dt_mlir.explorer.exploration import Exploration
        from dt_mlir.explorer.program import Settings, explore_steps
        from dt_mlir.explorer.steps import StepRecorder, recording

        if self.args.split_input_file:
            raise CompileError("--explore takes one module; it does not go with --split-input-file")
        self.recorder = StepRecorder(module, None, find_device(None))
        file, text = linked_text(module, name, self.sources)
        with recording(self.recorder):
            self._run_passes(passes, module)
        explored = explore_steps(module, text, file, self.recorder.steps, Settings())
        write_output(self.args.explore, Exploration(name, [explored]).html())

    def _expecting(
        self,
        chunk: _Chunk,
        name: str,
        kind: str,
        passes: tuple[ModulePass, ...],
        results: list[str],
    ) -> list[Note]:
        """Processes a part of the input, and adds its result unless there is an error.

        Returns:
            Where the diagnostics are not those that the part expects.
        """
        from dt_mlir.tools.expected_diagnostics import ExpectedDiagnostics

        comment = "#" if kind == "dt" else "//"
        expected = ExpectedDiagnostics(chunk.text, name, comment, chunk.first_line)
        with showing_warnings(expected.record_warning):
            try:
                results.append(self._processed(chunk, name, kind, passes))
            except CompileError as error:
                expected.record(error)
        return expected.problems()

    def _run_passes(self, passes: tuple[ModulePass, ...], module: ModuleOp) -> None:
        try:
            PassPipeline(passes, self._callback).apply(self.ctx, module)
        except Exception as error:
            if self.current is not None and not isinstance(error, CompileError):
                error.add_note(f"in the pass '{self.current.name}'")
            raise

    def _read(self) -> tuple[str, str, list[_Chunk]]:
        from dt_mlir.tools.parsing import decode

        path = self.args.input_file
        if path is None or path == "-":
            name, kind, text = "<stdin>", "mlir", decode(sys.stdin.buffer, "<stdin>")
        else:
            with open(path, "rb") as stream:
                name, text = path, decode(stream, path)
            kind = "dt" if path.endswith(".dt") else "mlir"
        kind = self.args.frontend or kind
        self.sources.texts[name] = text
        if not self.args.split_input_file:
            return name, kind, [_Chunk(text, 0)]
        chunks: list[_Chunk] = []
        line = 0
        for part in text.split("// -----"):
            chunks.append(_Chunk(part, line))
            line += part.count("\n")
        return name, kind, chunks

    def _parse(self, chunk: _Chunk, name: str, kind: str) -> ModuleOp:
        from dt_mlir.tools.parsing import parse_dt, parse_mlir

        if kind == "dt":
            # Empty lines in front keep a part's lines where they are in the file.
            return parse_dt("\n" * chunk.first_line + chunk.text, name, self.sources)
        implicit = not self.args.no_implicit_module
        return parse_mlir(self.ctx, chunk.text, name, implicit, chunk.first_line)

    def _callback(
        self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
    ) -> None:
        args = self.args
        if previous is not None:
            if args.time_passes:
                taken = (time.perf_counter() - self.started) * 1e3
                print(f"{previous.name}: {taken:.2f} ms", file=sys.stderr)
            if not args.disable_verify:
                verify_module(module, previous)
            self.verification.after(previous, module)
            if self.recorder is not None:
                self.recorder.after(previous, module)
            text = self._show(module) if args.print_ir_after_change else ""
            changed = args.print_ir_after_change and text != self._before
            if args.print_ir_after_all or previous.name in args.print_ir_after or changed:
                self._dump("after", previous, module)
        if following is not None:
            if following.name in args.print_ir_before:
                self._dump("before", following, module)
            self._before = self._show(module) if args.print_ir_after_change else ""
        self.started = time.perf_counter()
        self.current = following

    @compiling()
    def _show(self, module: ModuleOp) -> str:
        args = self.args
        return module_text(
            module, args.print_debuginfo, args.print_op_generic, args.print_kernels_only
        )

    def _result(self, module: ModuleOp) -> str:
        """Returns what is asked for: as IR, or as a target prints it."""
        args = self.args
        if args.target != "mlir" or args.print_no_properties or args.syntax_highlight:
            return self.output_resulting_program(module).rstrip("\n") + "\n"
        return self._show(module) + "\n"

    def _dump(self, when: str, item: ModulePass, module: ModuleOp) -> None:
        # On standard error, as MLIR has it: what is asked for goes to standard output.
        print(f"// -----// IR dump {when} {item.name} //----- //", file=sys.stderr)
        print(self._show(module), file=sys.stderr)

    def _list_passes(self) -> None:
        from dt_mlir.registry import PASSES, plugin_passes
        from dt_mlir.tools.reference import describe_pass

        ours = list(dict.fromkeys([*PASSES, *plugin_passes(), *self.loaded]))
        for name in ours:
            print(describe_pass(self.available_passes[name]()))
        others = [name for name in self.available_passes if name not in ours]
        print(f"From xDSL: {', '.join(others)}")


def _specs(text: str) -> list[ArgSpec]:
    try:
        return list(parse_pipeline(text))
    except ArgSpecParseError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip(" ^")]
        raise CompileError(
            f"the pipeline '{text}' cannot be read: {lines[-1].lower()}",
            None,
            "write 'pass,pass{option=1 other=a,b}', with quotes around what has a ':'",
        ) from None


def _inside_module(text: str) -> str:
    stripped = text.strip()
    head, tail = "builtin.module(", ")"
    if not stripped.startswith(head) or not stripped.endswith(tail):
        raise CompileError(
            f"'{text}' is not a pipeline on modules", None, "write 'builtin.module(pass,pass{…})'"
        )
    return stripped.removeprefix(head).removesuffix(tail)


def _option_error(
    cls: type[ModulePass], given: Mapping[str, object], error: ValueError
) -> CompileError:
    import dataclasses

    fields = [field for field in dataclasses.fields(cls) if field.init]
    known = [field.name for field in fields]
    required = cls.required_fields()
    shown = "; ".join(f"{field.name}: {_type_of(field.type)}" for field in fields) or "none"
    for name in given:
        if name not in known:
            return CompileError(
                f"pass '{cls.name}' has no option '{name}'",
                None,
                did_you_mean(name, known) or f"its options: {shown}",
            )
    for name in known:
        if name in required and name not in given:
            return CompileError(
                f"pass '{cls.name}' needs the option '{name}'", None, f"its options: {shown}"
            )
    return CompileError(f"pass '{cls.name}': {error}", None, f"its options: {shown}")


def _type_of(type: object) -> str:
    """The type of a pass's option in words."""
    text = type if isinstance(type, str) else getattr(type, "__name__", str(type))
    return {
        "tuple[str, ...]": 'texts in quotes, as in "x:64","y:8"', "tuple[int, ...]": "numbers",
        "str": "a name, or a text in quotes", "int": "a number", "bool": "true or false",
    }.get(str(text), str(text))  # fmt: skip


def main() -> None:
    """The entry point of `dt-opt`."""
    sys.exit(run_tool(lambda sources: DtOptMain(sources).run()))


if __name__ == "__main__":
    main()
