"""Reading programs and IR, with a place for every operation."""

from __future__ import annotations

import bisect
import re
import sys
from collections.abc import Sequence
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import DiagnosticException, ParseError, PyRDLError

from dt_mlir.compiling import compiling
from dt_mlir.diagnostics import (
    CompileError,
    SourceTexts,
    did_you_mean,
    give_locations,
    has_location,
    make_location,
    show_warning,
)
from dt_mlir.frontend.emit import compile_text
from dt_mlir.registry import DIALECTS, directive_names

MOST_CHARACTERS = 2**21
"""The longest text that is taken for a module; xDSL reads some 100,000 characters a second."""


class LocatedParser(Parser):
    """Parses IR; an operation without a location gets its place in the text."""

    def __init__(self, context: Context, text: str, name: str, first_line: int = 0) -> None:
        super().__init__(context, text, name)
        self._file = name
        self._first_line = first_line
        self._line_starts = [0]
        for position, character in enumerate(text):
            if character == "\n":
                self._line_starts.append(position + 1)
        self.operation_start = make_location(name, 1, 1)

    def parse_operation(self) -> Operation:
        location = self.operation_start = self.location()
        op = super().parse_operation()
        if not has_location(op):
            op.location = location
        return op

    def location(self) -> FileLineColLoc:
        """The place that parsing has come to."""
        start = self._current_token.span.start
        line = bisect.bisect_right(self._line_starts, start)
        column = start - self._line_starts[line - 1] + 1
        return make_location(self._file, line + self._first_line, column)


@compiling()
def parse_mlir(
    context: Context, text: str, name: str, implicit_module: bool = True, first_line: int = 0
) -> ModuleOp:
    """Parses a module of any level.

    Raises:
        CompileError: at the first place where the text is no IR.
    """
    if len(text) > MOST_CHARACTERS:
        raise CompileError(
            f"the text has {len(text)} characters, and a module has {MOST_CHARACTERS} at most",
            make_location(name, 1, 1), "split the module into several",
        )  # fmt: skip
    _check_strings(text, name, first_line)
    if implicit_module and not re.sub(r"//[^\n]*", "", text).strip():
        # xDSL's parser wants an operation behind a comment.
        return ModuleOp([])
    parser: LocatedParser | None = None
    try:
        parser = LocatedParser(context, text, name, first_line)
        module = parser.parse_module(implicit_module)
        # Terminators that are not written have no place of their own.
        give_locations(module)
        return module
    except ParseError as error:
        place = error.span.get_location()
        location = make_location(name, place.line + first_line, place.col)
        message = error.msg.strip().splitlines()[0].rstrip(".!")
        if message.startswith("in "):
            # xDSL says where it is, and not what is wrong.
            found = error.span.text
            message = re.sub(r"^in (\w+) definition$", r"in the definition of a \1", message)
            message = f"unexpected '{found}' {message}" if found else f"the text ends {message}"
        if "{first_char}" in message:
            message = "this character cannot stand here"
        unknown = re.fullmatch(r"Operation (\S+) is not registered", message)
        if unknown is not None and parser is not None:
            # The parser has gone on to what stands behind the name.
            raise _unknown_operation(unknown[1], parser.operation_start) from None
        raise CompileError(message, location) from None
    except (DiagnosticException, PyRDLError, ValueError) as error:
        # An attribute or an operation that is refused where it is made.
        message = str(error).strip().splitlines()[0]
        place = make_location(name, 1, 1) if parser is None else parser.operation_start
        raise CompileError(message, place) from None
    except OverflowError:
        place = make_location(name, 1, 1) if parser is None else parser.operation_start
        raise CompileError("a number is too large for its type", place, "write inf") from None
    except NotImplementedError as error:
        # xDSL's affine expressions are not semi-affine.
        place = make_location(name, 1, 1) if parser is None else parser.operation_start
        raise CompileError(f"this is not supported: {error}", place) from None
    except RecursionError:
        raise CompileError("the text is nested too deeply", make_location(name, 1, 1)) from None


def _unknown_operation(name: str, location: FileLineColLoc) -> CompileError:
    dialect, _, directive = name.partition(".")
    if dialect == "sched":
        hint = did_you_mean(directive, directive_names())
        return CompileError(
            f"there is no directive '{directive}'", location,
            hint or "--load FILE.py loads a directive of your own",
        )  # fmt: skip
    known = [op.name for load in DIALECTS.values() for op in load().operations]
    return CompileError(f"there is no operation '{name}'", location, did_you_mean(name, known))


_STRING = re.compile(r'//[^\n]*|"(?>(?:[^"\\\n]|\\.)*)("?)')


def _check_strings(text: str, name: str, first_line: int) -> None:
    """Checks that each quote is closed on its line.

    xDSL's lexer needs exponential time to find that one is not.

    Raises:
        CompileError: at a quote that is not closed.
    """
    for match in _STRING.finditer(text):
        if match[1] == "":
            start = match.start()
            line = text.count("\n", 0, start)
            column = start - (text.rfind("\n", 0, start) + 1) + 1
            location = make_location(name, line + 1 + first_line, column)
            raise CompileError("the string is not closed", location, "end it with '\"'")


def read_module(
    path: str, sources: SourceTexts, load: Sequence[str] = (),
    types: Sequence[tuple[str, str]] = (),
) -> ModuleOp:  # fmt: skip
    """Reads a program (`.dt`) or a module of any level, and verifies it.

    Args:
        path: the file; `-` is IR on standard input.
        sources: where its text is kept for messages.
        load: Python files with further dialects.
        types: element types that a program declares anew, by name.

    Raises:
        CompileError: at the first mistake.
    """
    from xdsl.dialects import get_all_dialects

    from dt_mlir.loading import load_file
    from dt_mlir.verifier import verify_module

    context = Context()
    for name, factory in {**get_all_dialects(), **DIALECTS}.items():
        context.register_dialect(name, factory)
    for file in load:
        for dialect in load_file(file)[1]:
            if dialect.name in context.registered_dialect_names:
                continue
            context.register_dialect(dialect.name, lambda d=dialect: d)
    if path == "-":
        path, text = "<stdin>", decode(sys.stdin.buffer, "<stdin>")
    else:
        with open(path, "rb") as stream:
            text = decode(stream, path)
    sources.texts[path] = text
    is_program = path.endswith(".dt")
    if is_program:
        module = parse_dt(text, path, sources, types)
    else:
        module = parse_mlir(context, text, path)
    verify_module(module)
    return module


def parse_dt(
    text: str, name: str, sources: SourceTexts, types: Sequence[tuple[str, str]] = ()
) -> ModuleOp:
    """Parses a DT program; warnings go to standard error.

    Args:
        text: the program.
        name: what to call it in messages.
        sources: where its text is kept for messages.
        types: element types that are declared anew, by name.

    Raises:
        CompileError: at the first mistake.
    """
    sources.texts[name] = text
    try:
        module, warnings = compile_text(text, name, types)
    except RecursionError:
        raise CompileError("the program is nested too deeply", make_location(name, 1, 1)) from None
    for warning in warnings:
        show_warning(warning)
    return module


def decode(stream: IO[bytes], name: str) -> str:
    """The text of a file.

    Raises:
        CompileError: if it is not UTF-8.
    """
    try:
        # A byte-order mark says nothing more; lines may end in any of three ways.
        text = stream.read().decode("utf-8-sig")
        return text.replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise CompileError(f"{name} is not a text in UTF-8") from None
