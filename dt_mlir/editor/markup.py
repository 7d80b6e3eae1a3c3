"""The formats of texts that clients show: Markdown, and plain text for those that take no other."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lsprotocol.types import MarkupContent, MarkupKind

_FENCED = re.compile(r"^```[^\n]*\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
_MARKED = re.compile(r"`([^`]*)`|\*\*(?:`([^`]*)`|(?=\S)([^*`]+)(?<=\S))\*\*")
_RULED = re.compile(r"^\|[-| ]+\|\n", re.MULTILINE)
_ROW = re.compile(r"^\| (.*) \|$", re.MULTILINE)


def in_format(text: MarkupContent, formats: Sequence[MarkupKind] | None) -> MarkupContent:
    """Returns Markdown in the first of a client's formats; a client may name none."""
    if not formats or formats[0] != MarkupKind.PlainText:
        return text
    return MarkupContent(MarkupKind.PlainText, plain(text.value))


def plain(markdown: str) -> str:
    """Returns Markdown, as this package writes it, without its marks; blocks of code stay."""
    parts = _FENCED.split(markdown)
    for number in range(0, len(parts), 2):
        text = _ROW.sub(r"\1", _RULED.sub("", parts[number]))
        parts[number] = _MARKED.sub(lambda found: found[found.lastindex or 0], text)
    return "".join(parts).strip("\n")
