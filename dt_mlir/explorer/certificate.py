"""Certificates as a page shows them: the obligations of each directive, and their states."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.certificates.obligation import Certificate
from dt_mlir.diagnostics import places_of
from dt_mlir.dialects import sched
from dt_mlir.frontend.raising import raise_module
from dt_mlir.language.schedule import Schedule


@dataclass(frozen=True)
class Obligation:
    """A condition under which a directive preserves meaning."""

    directive: str
    """The directive, as the program writes it."""
    line: int
    """Its line in the program, from 1; 0 where it has none."""
    statement: str
    """The condition that has to hold."""
    state: str
    """A word that says whether it does: `proved`, `tested`, `assumed` or `refuted`."""


def obligations_of(certificate: Certificate, program: ModuleOp) -> list[Obligation]:
    """Returns the obligations of a certificate, each directive's by itself, without repetitions.

    Args:
        certificate: the certificate.
        program: the program at the `dt` level, its schedule beside it, for the lines.
    """
    lines = _lines(program)
    found: list[Obligation] = []
    named: set[int] = set()
    for directive in certificate.directives:
        named.update(directive.obligations)
        items = [certificate.obligations[number] for number in directive.obligations]
        counts = Counter((f"{o.kind.value}: {o.statement}", o.verdict.value) for o in items)
        for (text, state), count in counts.items():
            times = f" ({count} times)" if count > 1 else ""
            line = lines.get(directive.text, 0)
            found.append(Obligation(directive.text, line, text + times, state))
    for number, item in enumerate(certificate.obligations):
        if number not in named:
            text = f"{item.kind.value}: {item.statement}"
            found.append(Obligation("", 0, text, item.verdict.value))
    return found


def _lines(program: ModuleOp) -> dict[str, int]:
    """Returns the line of each directive of a program by its text."""
    texts = Schedule.of(raise_module(program)).to_dt().splitlines()
    ops = [op for op in program.walk() if isinstance(op, sched.DirectiveOp)]
    found: dict[str, int] = {}
    for text, op in zip(texts, ops):
        for _, line, *_ in places_of(op.location)[:1]:
            found[text] = line
    return found
