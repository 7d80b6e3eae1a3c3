"""Explorations: programs as pages, in files and in notebooks."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from html import escape

from dt_mlir.explorer.comparison import compare
from dt_mlir.explorer.model import Json
from dt_mlir.explorer.page import page_html
from dt_mlir.explorer.program import Explored
from dt_mlir.files import write_output

HEIGHT = 820
"""The height of a page in a notebook, in pixels."""


@dataclass
class Exploration:
    """A page about a program under one schedule, under several, or under those of a search."""

    title: str
    programs: list[Explored]
    """The program under each schedule; the first is shown first."""
    search: Json | None = None
    """The candidates of a search."""
    _html: str = field(default="", repr=False)

    def html(self) -> str:
        """Returns the page: one document that needs nothing else."""
        if not self._html:
            model: Json = {
                "title": self.title,
                "variants": [{"name": item.name, **item.page} for item in self.programs],
                "search": self.search,
            }
            if len(self.programs) > 1:
                first, *others = self.programs
                model["comparisons"] = [compare(first.steps, other.steps) for other in others]
            self._html = page_html(self.title, model)
        return self._html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page to a file; the file is whole or not there.

        Raises:
            OSError: if it cannot be written.
        """
        write_output(os.fspath(path), self.html())

    def _repr_html_(self) -> str:
        """Returns the page in a frame of a notebook, which can reach nothing of it."""
        return (
            f'<iframe srcdoc="{escape(self.html())}" sandbox="allow-scripts" title="'
            f'{escape(self.title)}" style="width:100%;height:{HEIGHT}px;border:1px solid #888">'
            "</iframe>"
        )

    def __repr__(self) -> str:
        lines = [f"exploration of {self.title}"]
        for item in self.programs:
            lines.append(f"{item.name}: {len(item.steps)} steps")
            for step in item.steps:
                change = step.difference
                if change is not None and not change.is_empty:
                    shown = ", ".join(f"{n:+d} {name}" for name, n in change.counts.items())
                    lines.append(f"  {step.title}: {shown or 'changed'}")
        return "\n".join(lines)
