"""HTML by which programs, schedules and results show themselves in notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any


def section(title: str, body: str, folded: bool = False) -> str:
    """Returns HTML under a title, which folds it away.

    Args:
        title: the title, as text.
        body: the HTML.
        folded: whether it is folded at first.
    """
    opened = "" if folded else " open"
    return f"<details{opened}><summary>{escape(title)}</summary>{body}</details>"


def text(shown: str) -> str:
    """Returns a text as HTML, its lines as they are."""
    return f"<pre>{escape(shown.rstrip())}</pre>"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Returns a table as HTML; each row starts with its name."""
    columns = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    lines: list[str] = []
    for row in rows:
        name, *cells = (escape(str(cell)) for cell in row)
        others = "".join(f'<td style="text-align:left">{cell}</td>' for cell in cells)
        lines.append(f'<tr><th scope="row" style="text-align:left">{name}</th>{others}</tr>')
    return f"<table><thead><tr>{columns}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def html_of(item: Any) -> str:
    """Returns the HTML of something that a notebook shows."""
    return item._repr_html_()


class Text(str):
    """A text, as of IR, that a notebook shows with its lines; elsewhere it is like any other."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return text(self)
