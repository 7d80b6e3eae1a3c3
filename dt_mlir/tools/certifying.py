"""Certificates of what a search finds, which are made while it still measures."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from dt_mlir.diagnostics import CompileError, Note, show_warning, showing_warnings
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline

SHARE = 2
"""The number of processes that compile for each one that certifies."""
MOST = 8
"""The most processes that certify."""


@dataclass
class _Found:
    """Holds what is proved of a program."""

    warnings: list[Note] = field(default_factory=list[Note])
    """The compiler's warnings about the program."""
    shown: str = ""
    """The words about it."""
    error: CompileError | None = None
    """The obligation that does not hold."""


class Certifier:
    """Makes certificates of programs in processes of their own, while others measure.

    Args:
        load: Python files with directives that programs use.
        jobs: how many processes compile.
    """

    def __init__(self, load: Sequence[str] = (), jobs: int = 1) -> None:
        self._load, self._jobs = load, max(1, min(jobs // SHARE, MOST))
        self._pool: Any = None
        self._begun: dict[str, Future[_Found]] = {}

    def begin(self, programs: Sequence[str], file: str) -> None:
        """Begins to make certificates of programs, and gives up others that are not begun.

        Args:
            programs: the programs with their schedules, those first that are wanted first.
            file: what messages call them.
        """
        self._drop()
        if self._pool is None:
            from dt_mlir.tuning.workers.local import Pool
            from dt_mlir.tuning.workers.processes import CERTIFYING, PreparedContext

            self._pool = Pool(self._jobs, self._load, PreparedContext(CERTIFYING))
        for program in programs:
            if program not in self._begun:
                # A process that ends by itself may take the others along.
                with suppress(RuntimeError):
                    self._begun[program] = self._pool.schedule(_found, args=[program, file])

    def report(self, program: str, file: str) -> None:
        """Says what is proved of a program, on standard error.

        Args:
            program: the program with its schedule.
            file: what messages call it.

        Raises:
            CompileError: if an obligation of it does not hold.
        """
        self._drop()
        found = self._made(program) or _found(program, file)
        for note in found.warnings:
            show_warning(note)
        print(found.shown, file=sys.stderr)
        if found.error is not None:
            raise found.error

    def _drop(self) -> None:
        """Gives up certificates of which no process has begun."""
        for program, future in [*self._begun.items()]:
            if not future.running() and not future.done():
                future.cancel()
                del self._begun[program]

    def _made(self, program: str) -> _Found | None:
        """Returns what a process has proved of a program; None if none has, or it ended."""
        future = self._begun.get(program)
        if future is None:
            return None
        from pebble import ProcessExpired

        try:
            return future.result()
        except (ProcessExpired, BrokenExecutor, CancelledError):
            return None

    def close(self) -> None:
        """Ends the processes."""
        if self._pool is not None:
            self._pool.end()


def _found(program: str, file: str) -> _Found:
    # A tool that certifies nothing does without them.
    from dt_mlir.certificates.making import certificate_of
    from dt_mlir.tools.certification import guilty, refusal

    found = _Found()
    with showing_warnings(found.warnings.append):
        algorithm, _ = compile_text(program, file)
        module = algorithm.clone()
        run_pipeline(module, default_pipeline("warp"), verify=False)
        try:
            certificate = certificate_of(module)
        except CompileError as error:
            found.shown = f"remark: {error}"
            return found
        counts = ", ".join(f"{n} {verdict.value}" for verdict, n in certificate.count().items())
        found.shown = f"certificate {certificate.digest}: {counts}"
        if certificate.refuted:
            found.error = refusal(certificate, guilty(algorithm, []))
    return found
