"""The entry points of the command-line tools.

Importing a tool takes longer than many of its runs, and may be interrupted too.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module


def _run(tool: str) -> None:
    try:
        # What is imported stays: collecting it is a tenth of the time that a short run takes.
        gc.disable()
        module = import_module(f"dt_mlir.tools.{tool}")
        gc.freeze()
        gc.enable()
        module.main()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


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
    _run("dt_tune")


def dt_check() -> None:
    """Runs `dt-check`."""
    _run("dt_check")


def dt_lsp() -> None:
    """Runs `dt-lsp`."""
    _run("dt_lsp")
