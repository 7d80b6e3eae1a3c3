"""Certificates as a page shows them: the obligations, and their states."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.certificates.obligation import Certificate
from dt_mlir.diagnostics import places_of
from dt_mlir.dialects import sched
from dt_mlir.frontend.raising import raise_module
from dt_mlir.language.schedule import Schedule


@dataclass(frozen=True)
class Obligation:
    """A condition under which directives preserve meaning."""

    statement: str
    """The condition that has to hold."""
    state: str
    """A word that says whether it does: `proved`, `tested`, `assumed` or `refuted`."""
    reason: str = ""
    """The reason for which it is not proved."""
    directives: tuple[tuple[str, int], ...] = ()
    """The directives that it comes from, as the program writes them, each with its line in the
    program, from 1; 0 where it has none."""
    count: int = 1
    """The number of places where it has to hold."""


def obligations_of(certificate: Certificate, program: ModuleOp) -> list[Obligation]:
    """Returns the obligations of a certificate, each once.

    Args:
        certificate: the certificate.
        program: the program at the `dt` level, its schedule beside it, for the lines.
    """
    lines = _lines(program)
    directives: dict[int, list[tuple[str, int]]] = {}
    for directive in certificate.directives:
        for number in directive.obligations:
            place = directive.text, lines.get(directive.text, 0)
            directives.setdefault(number, []).append(place)
    counts = Counter(
        Obligation(f"{item.kind.value}: {item.statement}", item.verdict.value,
                   item.reason, tuple(directives.get(number, ())))
        for number, item in enumerate(certificate.obligations)
    )  # fmt: skip
    return [replace(item, count=count) for item, count in counts.items()]


def _lines(program: ModuleOp) -> dict[str, int]:
    """Returns the line of each directive of a program by its text."""
    texts = Schedule.of(raise_module(program)).to_dt().splitlines()
    ops = [op for op in program.walk() if isinstance(op, sched.DirectiveOp)]
    found: dict[str, int] = {}
    for text, op in zip(texts, ops):
        for _, line, *_ in places_of(op.location)[:1]:
            found[text] = line
    return found
