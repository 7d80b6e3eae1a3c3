"""Certificates as a page shows them: what each directive had to prove, and whether it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dt_mlir.diagnostics import CompileError, did_you_mean

FIELDS = ("directive", "line", "statement", "state")


@dataclass(frozen=True)
class Obligation:
    """Something that has to hold for a directive to preserve meaning."""

    directive: str
    """The directive, as the program writes it."""
    line: int
    """Its line in the program, from 1; 0 where it has none."""
    statement: str
    """The condition that has to hold."""
    state: str
    """A word that says whether it does, as `proved`, `assumed` or `failed`."""


def parse_certificate(text: str, name: str) -> list[Obligation]:
    """Reads a certificate: a list of obligations in JSON, by itself or as `obligations`.

    Args:
        text: the JSON text; what else objects hold is left aside.
        name: what to call it in messages.

    Raises:
        CompileError: if the text is something else.
    """
    try:
        found: Any = json.loads(text)
    except ValueError as error:
        raise CompileError(f"{name}: this is not JSON: {error}") from None
    if isinstance(found, dict):
        found = found.get("obligations")
    if not isinstance(found, list):
        raise CompileError(
            f"{name}: a certificate is a list of obligations", None,
            "write [{\"directive\": …, \"line\": …, \"statement\": …, \"state\": …}]",
        )  # fmt: skip
    return [_obligation(item, number, name) for number, item in enumerate(found)]


def _obligation(item: object, number: int, name: str) -> Obligation:
    if not isinstance(item, Mapping):
        raise CompileError(f"{name}: obligation {number} is not an object")
    for field in FIELDS:
        wanted = int if field == "line" else str
        if type(item.get(field)) is not wanted:
            kind = "a whole number" if field == "line" else "a text"
            hint = did_you_mean(field, [str(key) for key in item if key not in FIELDS])
            message = f"{name}: '{field}' of obligation {number} must be {kind}"
            raise CompileError(message, None, hint)
    return Obligation(item["directive"], item["line"], item["statement"], item["state"])
