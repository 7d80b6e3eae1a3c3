"""Certificates of what a search finds, which are made while it still measures."""

from __future__ import annotations

import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from dt_mlir.diagnostics import CompileError, Note, show_warning, showing_warnings
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline


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
    """Makes certificates of programs, one after the other, in a thread of its own.

    A search measures in other processes, and waits for them meanwhile.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._begun: dict[str, Future[_Found]] = {}

    def begin(self, program: str, file: str) -> None:
        """Begins to make the certificate of a program, in place of others that are not begun yet.

        Args:
            program: the program with its schedule.
            file: what messages call it.
        """
        if program in self._begun:
            return
        self._begun = {known: found for known, found in self._begun.items() if not found.cancel()}
        self._begun[program] = self._thread.submit(_found, program, file)

    def report(self, program: str, file: str) -> None:
        """Says what is proved of a program, on standard error.

        Args:
            program: the program with its schedule.
            file: what messages call it.

        Raises:
            CompileError: if an obligation of it does not hold.
        """
        self.begin(program, file)
        found = self._begun[program].result()
        for note in found.warnings:
            show_warning(note)
        print(found.shown, file=sys.stderr)
        if found.error is not None:
            raise found.error

    def close(self) -> None:
        """Begins no further certificate."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def _found(program: str, file: str) -> _Found:
    # Until a search begins to measure, importing these would only be in its way.
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
