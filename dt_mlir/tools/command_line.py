"""The common part of the command-line tools: arguments, errors, files."""

from __future__ import annotations

import argparse
import errno
import io
import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from xdsl.utils.exceptions import DiagnosticException

from dt_mlir.compiling import DEEPEST
from dt_mlir.diagnostics import CompileError, Note, SourceTexts, nearest, showing_warnings


class ArgumentParser(argparse.ArgumentParser):
    """An argument parser that suggests the option that was meant."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_abbrev=False, **kwargs)

    def parse(self, args: Sequence[str] | None) -> argparse.Namespace:
        """Parses a command line; a mistake ends the program with a message and status 2."""
        found, rest = self.parse_known_args(args)
        wrong = [item for item in rest if item.startswith("-")]
        if wrong:
            option = wrong[0].split("=")[0]
            known = [name for action in self._actions for name in action.option_strings]
            match = nearest(option, known)
            hint = f"; did you mean {match}?" if match else ""
            self.error(f"{option} is not an option{hint}")
        if rest:
            hint = "; an option takes several values with commas between them"
            self.error(
                f"there is nothing to do with '{rest[0]}'" + (hint if "=" in rest[0] else "")
            )
        return found

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: error: {message}", file=sys.stderr)
        raise SystemExit(2)


def seed(text: str) -> int:
    """The type of an option that is the seed of random numbers."""
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 0 to 999999999999999999")
    return int(text)


def seconds(text: str) -> float:
    """The type of an option that is a time."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds, 0 or more")
    return found


def parse_pairs(text: str | None, option: str) -> list[tuple[str, str]]:
    """The pairs of `a=b,c=d`.

    Raises:
        CompileError: where the text is not of that form.
    """
    found: list[tuple[str, str]] = []
    for item in filter(None, (text or "").split(",")):
        name, equals, value = item.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise CompileError(f"{option}: '{item}' is not of the form name=value")
        found.append((name.strip(), value.strip()))
    return found


def parse_sizes(text: str | None, option: str) -> dict[str, int]:
    """The sizes of `x=100,y=200`.

    Raises:
        CompileError: where the text is not of that form.
    """
    sizes: dict[str, int] = {}
    for name, value in parse_pairs(text, option):
        if not (value.isascii() and value.isdigit()):
            raise CompileError(
                f"{option}: the size of '{name}' must be a number of 0 or more, not '{value}'"
            )
        if len(value) > 12:
            raise CompileError(f"{option}: the size of '{name}' is too large")
        if sizes.setdefault(name, int(value)) != int(value):
            raise CompileError(f"{option}: '{name}' is given two sizes")
    return sizes


def parse_types(text: str | None) -> list[tuple[str, str]]:
    """The element types of `--dtype A=f16,B=f32`.

    Raises:
        CompileError: where the text is not of that form.
    """
    found: dict[str, str] = {}
    for name, element in parse_pairs(text, "--dtype"):
        if found.setdefault(name, element) != element:
            raise CompileError(f"--dtype: '{name}' is given two types")
    return list(found.items())


def parse_choices(text: str | None, option: str) -> dict[str, int | str]:
    """Returns the point of a space of schedules that `BM=64,f.precision=tf32` chooses.

    Raises:
        CompileError: where the text is not of that form.
    """
    found: dict[str, int | str] = {}
    for name, value in parse_pairs(text, option):
        chosen = int(value) if re.fullmatch(r"-?[0-9]+", value) else value
        if found.setdefault(name, chosen) != chosen:
            raise CompileError(f"{option}: '{name}' is chosen twice")
    return found


def _show_warning(note: Note, sources: SourceTexts) -> None:
    print(sources.show(note.location, "warning", note.message), file=sys.stderr)


class _ClosedOutput(io.TextIOBase):
    """A standard output that the caller has closed: Python has none then."""

    @property
    def buffer(self) -> _ClosedOutput:
        """The same stream, for bytes."""
        return self

    def write(self, text: object) -> NoReturn:
        """Refuses to write.

        Raises:
            OSError: always.
        """
        raise OSError(errno.EBADF, "standard output is closed; -o names a file instead")


def run_tool(body: Callable[[SourceTexts], None]) -> int:
    """Runs a tool's body; a mistake of the user's becomes a message on standard error.

    Returns:
        The exit status.
    """
    from xdsl.utils.exceptions import ArgSpecParseError

    sources = SourceTexts()
    sys.setrecursionlimit(DEEPEST)
    if not sys.stdout:
        sys.stdout = _ClosedOutput()
    try:
        with showing_warnings(lambda note: _show_warning(note, sources)):
            body(sources)
    except CompileError as error:
        print(sources.show_error(error), file=sys.stderr)
        return 1
    except (DiagnosticException, ArgSpecParseError) as error:
        print(f"error: {str(error).strip()}", file=sys.stderr)
        return 1
    except RecursionError:
        print("error: the program is nested too deeply", file=sys.stderr)
        return 1
    except MemoryError as error:
        print(f"error: there is not enough memory: {str(error).lower()}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader has gone; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        print(f"error: {name}{(error.strerror or str(error)).lower()}", file=sys.stderr)
        return 1
    except Exception as error:
        if os.environ.get("DT_MLIR_TRACEBACK"):
            raise
        from dt_mlir.loading import extension_place

        kind = type(error).__name__
        place = extension_place(error)
        what = "internal fault of the compiler" if place is None else f"{place}: fault"
        print(f"error: {what}: {kind}: {error}", file=sys.stderr)
        for note in getattr(error, "__notes__", ()):
            print(f"note: {note}", file=sys.stderr)
        remedy = "please report it; " if place is None else ""
        print(f"  help: {remedy}DT_MLIR_TRACEBACK=1 shows where", file=sys.stderr)
        return 3
    return 0






