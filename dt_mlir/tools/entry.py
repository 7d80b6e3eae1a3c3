"""The entry points of the command-line tools.

Importing a tool takes longer than many of its runs, and may be interrupted too.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import NoReturn


def _run(tool: str, begin: Callable[[], None] | None = None) -> NoReturn:
    """Runs a tool, and ends the process.

    Args:
        tool: the module of this package that has its `main`.
        begin: what is done before it is imported.
    """
    status = 1
    if not sys.stderr:
        # Printing to none would print to standard output.
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    others = atexit._ncallbacks()  # pyright: ignore

    @atexit.register
    def end() -> None:
        """Ends the process where Python would begin to take apart what was imported.

        Threads have ended, and functions that were registered later have run. Where others were
        registered before, as those that measure coverage, Python goes on.
        """
        if others:
            return
        try:
            for stream in filter(None, (sys.stdout, sys.stderr)):
                stream.flush()
        except (OSError, ValueError):
            # Python says so, and ends with a status of its own.
            return
        os._exit(status)

    try:
        if begin is not None:
            begin()
        # What is imported stays: collecting it is a tenth of the time that a short run takes.
        gc.disable()
        module = import_module(f"dt_mlir.tools.{tool}")
        gc.freeze()
        gc.enable()
        module.main()
        status = 0
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        status = 130
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
        raise
    sys.exit(status)


def dt_opt() -> None:
    """Runs `dt-opt`."""
    _run("dt_opt")


def dtc() -> None:
    """Runs `dtc`."""
    _run("dtc")


def dt_run() -> None:
    """Runs `dt-run`."""
    _run("dt_run")


def dt_reduce() -> None:
    """Runs `dt-reduce`."""
    _run("dt_reduce")


def dt_tune() -> None:
    """Runs `dt-tune`."""
    _run("dt_tune", _begin_imports)


def terminated(*_: object) -> NoReturn:
    """Ends a search that is sent SIGTERM, in order."""
    sys.exit(143)


def _begin_imports() -> None:
    """Begins what takes longest of all, the imports of processes that compile and measure."""
    without = ("-h", "--help", "--cpu", "--ray")
    if not any(argument.split("=")[0] in without for argument in sys.argv):
        from dt_mlir.tuning.workers.processes import begin_imports

        # Ended like this, it takes these processes with it.
        signal.signal(signal.SIGTERM, terminated)
        # What fails here fails again where it is needed.
        with suppress(OSError):
            begin_imports()


def dt_check() -> None:
    """Runs `dt-check`."""
    _run("dt_check")


def dt_lsp() -> None:
    """Runs `dt-lsp`."""
    _run("dt_lsp")
