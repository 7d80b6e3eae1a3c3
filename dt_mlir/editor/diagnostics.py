"""Diagnostics: the compiler's messages, at the tokens that they are about."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol.types import (
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    Location,
)

from dt_mlir.editor.problems import Problem
from dt_mlir.editor.program import Program

SOURCE = "dt"
"""The name under which clients show the messages."""


def diagnostics(program: Program) -> list[Diagnostic]:
    """Returns the mistakes and warnings of a program, in the order of the text."""
    return [diagnostic_of(program, item) for item in program.all_problems]


def diagnostic_of(program: Program, item: Problem) -> Diagnostic:
    """Returns a problem as the protocol has it; one about all of a program is at its start."""
    help = "" if item.hint is None else f"\nhelp: {item.hint}"
    return Diagnostic(
        program.text.range(*program.extent(item.place or (1, 1))),
        item.message + help,
        DiagnosticSeverity.Warning if item.is_warning else DiagnosticSeverity.Error,
        source=SOURCE,
        related_information=_related(program, item) or None,
    )


def _related(program: Program, item: Problem) -> Sequence[DiagnosticRelatedInformation]:
    return [
        DiagnosticRelatedInformation(
            Location(program.uri, program.text.range(*program.extent(place))), message
        )
        for message, place in item.notes
    ]
