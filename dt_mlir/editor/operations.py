"""Hovers in modules of this package's dialects: what an operation, a type or an attribute is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import entry_points

from lsprotocol.types import Hover, MarkupContent, MarkupKind, Position
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute
from xdsl.universe import Universe

from dt_mlir.dialects.sched import DirectiveOp
from dt_mlir.editor.operation_reference import operation_lines
from dt_mlir.editor.reference import directive_entry
from dt_mlir.editor.texts import Text
from dt_mlir.registry import DIALECTS

_WORD = re.compile(r"[!#]?[A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*)+")
_SKIPPED = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')
"""A comment or a string; one in front of a parenthesis names an operation in its generic form."""


def hover_in_module(text: Text, position: Position) -> Hover | None:
    """Returns the documentation of the operation, type or attribute at a place, if it is known.

    The text need not be a module that can be parsed.
    """
    index = text.index(position)
    line = text.line(position.line)
    start = index - text.index(Position(position.line, 0))
    hidden = [
        found.span() for found in _SKIPPED.finditer(line)
        if found[0].startswith("//") or not line[found.end() :].lstrip().startswith("(")
    ]  # fmt: skip
    for word in _WORD.finditer(line):
        if not word.start() <= start <= word.end():
            continue
        if any(first <= word.start() < last for first, last in hidden):
            continue
        documentation = _documentation(word[0])
        if documentation is None:
            continue
        begin = index - start + word.start()
        shown = MarkupContent(MarkupKind.Markdown, documentation)
        return Hover(shown, text.range(begin, begin + len(word[0])))
    return None


_LOADED: list[Dialect] = []


def learn(dialects: Iterable[Dialect]) -> None:
    """Makes the dialects of a loaded file known."""
    _LOADED.extend(dialects)
    known_names.cache_clear()
    _documentation.cache_clear()


def _dialects() -> Iterator[Dialect]:
    """Yields the dialects of this package, of loaded files and of others, xDSL's own left out."""
    for load in DIALECTS.values():
        yield load()
    yield from _LOADED
    for point in entry_points(group="xdsl.universe"):
        if point.value.startswith(("xdsl.", "dt_mlir.")):
            continue
        try:
            universe = point.load()
            others = [load() for load in universe.all_dialects.values()]
        except Exception:
            # What cannot be loaded documents nothing; the compiler says so where it is used.
            continue
        if isinstance(universe, Universe):
            yield from others


@cache
def known_names() -> dict[str, type[Operation] | type[Attribute]]:
    """Returns the operations, types and attributes by their names in text."""
    found: dict[str, type[Operation] | type[Attribute]] = {}
    for dialect in _dialects():
        found.update({op.name: op for op in dialect.operations})
        for attribute in dialect.attributes:
            mark = "!" if issubclass(attribute, TypeAttribute) else "#"
            found[f"{mark}{attribute.name}"] = attribute
    return found


@cache
def _documentation(name: str) -> str | None:
    """Returns the documentation of what has a name in text; None for an unknown name."""
    known = known_names().get(name)
    if known is None:
        return None
    lines = [f"**`{name}`**", ""]
    if not issubclass(known, Operation):
        return "\n".join([*lines, inspect.getdoc(known) or ""]).rstrip()
    lines += operation_lines(known)
    if issubclass(known, DirectiveOp):
        entry = directive_entry(name.partition(".")[2])
        lines += [] if entry is None else ["---", "", entry.markdown]
    return "\n".join(lines).rstrip()
