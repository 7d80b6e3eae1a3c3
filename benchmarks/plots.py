"""Draws what `evaluate.py` has measured: for each workload every schedule, and the baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

COLUMNS = 3


@dataclass(frozen=True)
class Panel:
    """A workload's picture."""

    title: str
    schedules: Sequence[float]
    """Milliseconds, the fastest first."""
    lines: Mapping[str, float]
    """The baselines' milliseconds, by name."""


def draw(panels: Sequence[Panel], path: Path) -> None:
    """Draws a group's workloads beside each other.

    Args:
        panels: the workloads.
        path: a file without its ending; `.png` and `.svg` are written.
    """
    names = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    colors = {name: f"C{number + 1}" for number, name in enumerate(names)}
    rows = -(-len(panels) // COLUMNS)
    figure: Any = Figure(figsize=(4 * COLUMNS, 2.8 * rows + 0.6), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(rows, COLUMNS, squeeze=False)
    handles: dict[str, Any] = {}
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, panel in zip(grid.flat, panels):
        ranks = range(1, len(panel.schedules) + 1)
        (handles["schedules of the space"],) = axes.plot(
            ranks, panel.schedules, "o", color="C0", markersize=3
        )
        for name, time in panel.lines.items():
            handles[name] = axes.axhline(time, color=colors[name], linewidth=1)
        axes.set_yscale("log")
        axes.set_title(panel.title, fontsize=9)
        axes.set_xlabel("schedule, fastest first", fontsize=8)
        axes.set_ylabel("ms", fontsize=8)
        axes.tick_params(labelsize=7, which="both")
    figure.legend(
        handles.values(), handles, loc="outside lower center", ncols=min(8, len(handles)),
        fontsize=8,
    )  # fmt: skip
    for suffix in (".png", ".svg"):
        # No date, so that the same results give the same file.
        data = {"Date": None} if suffix == ".svg" else {"Software": None}
        figure.savefig(path.with_suffix(suffix), dpi=110, metadata=data)
