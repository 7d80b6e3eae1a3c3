"""Command-line tools that run in the process of the tests, in a folder of their own."""

from __future__ import annotations

import importlib
import io
import os
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).with_name("programs")
BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Done:
    """The outcome of a command."""

    status: int
    out: str
    """The text on standard output."""
    err: str
    """The text on standard error."""

    def prints(self, *parts: str) -> None:
        """Asserts that a command succeeds and that standard output has these parts in order."""
        assert self.status == 0, self.err
        _assert_in_order(self.out, parts)

    def remarks(self, *parts: str) -> None:
        """Asserts that a command succeeds and that standard error has these parts in order."""
        assert self.status == 0, self.err
        _assert_in_order(self.err, parts)

    def refuses(self, *parts: str) -> None:
        """Asserts that a command fails with these parts on standard error, in order, and without
        a fault of the compiler."""
        assert self.status in (1, 2), f"status {self.status}: {self.out}{self.err}"
        _assert_in_order(self.err, parts)
        assert "internal fault" not in self.err


def _assert_in_order(text: str, parts: tuple[str, ...]) -> None:
    place = 0
    for part in parts:
        found = text.find(part, place)
        assert found >= 0, f"'{part}' is not in the text after character {place}:\n{text}"
        place = found + len(part)


class Tools:
    """Runs commands in a folder that holds the programs of `tests/tools/programs`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, command: str, stdin: str = "") -> Done:
        """Runs a command in this process.

        Args:
            command: the tool and its arguments, quoted as for a shell.
            stdin: the text on standard input.
        """
        name, *arguments = shlex.split(command)
        module = importlib.import_module(f"dt_mlir.tools.{name.replace('-', '_')}")
        written = io.BytesIO(), io.BytesIO()
        out, err = (io.TextIOWrapper(stream, "utf-8", write_through=True) for stream in written)
        before = sys.argv, sys.stdin, sys.getrecursionlimit()
        sys.argv = [name, *arguments]
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")
        status = 0
        try:
            with redirect_stdout(out), redirect_stderr(err):
                module.main()
        except SystemExit as done:
            status = int(done.code or 0)
        finally:
            sys.argv, sys.stdin = before[:2]
            sys.setrecursionlimit(before[2])
        return Done(status, *(stream.getvalue().decode() for stream in written))

    def in_a_process(self, command: str, stdin: str = "", **environment: str) -> Done:
        """Runs a command in a process of its own: `--load` changes the one that it runs in.

        Args:
            command: the tool and its arguments, quoted as for a shell.
            stdin: the text on standard input.
            environment: further variables.
        """
        name, *arguments = shlex.split(command)
        # A test that interprets kernels sets it for its process.
        own = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
        done = subprocess.run(
            [BIN / name, *arguments], cwd=self.folder, input=stdin, text=True,
            capture_output=True, env=own | environment,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)
