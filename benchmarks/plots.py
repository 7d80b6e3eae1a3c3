"""Draws how fast tuned schedules are beside `auto` and the baselines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from row import AUTO, WAYS, Row


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draws a group's workloads below each other, on an axis of times over the tuned schedule's.

    Args:
        rows: the workloads.
        path: a file without its ending; `.png` and `.svg` are written.
    """
    figure: Any = Figure(figsize=(9, 1.4 + 0.26 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.axvline(1, color="0.3", linewidth=1)
    handles: dict[str, Any] = {}
    for number, way in enumerate((AUTO, *WAYS)):
        for kind, filled in (("cold", True), ("hot", False)):
            found = [
                (value, place) for place, row in enumerate(rows)
                if (value := _value(row, way, kind)) is not None
            ]  # fmt: skip
            if not found:
                continue
            color = f"C{number}"
            (drawn,) = axes.plot(
                *zip(*found), linestyle="", marker="oDs^vPX*hd"[number], markersize=5,
                color=color, markerfacecolor=color if filled else "none",
            )  # fmt: skip
            if filled:
                handles[way.replace("_", "-")] = drawn
    axes.set_xscale("log")
    ticks = (0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 2, 3, 4, 6)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("time over the tuned schedule's: filled cold, hollow hot", fontsize=8)
    axes.set_yticks(range(len(rows)), [row.name for row in rows], fontsize=7)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="x", labelsize=7)
    axes.grid(axis="x", color="0.9")
    figure.legend(
        handles.values(), handles, loc="outside lower center", ncols=min(8, len(handles)),
        fontsize=8,
    )  # fmt: skip
    for suffix in (".png", ".svg"):
        # No date, so that the same results give the same file.
        data = {"Date": None} if suffix == ".svg" else {"Software": None}
        figure.savefig(path.with_suffix(suffix), dpi=110, metadata=data)


def _value(row: Row, way: str, kind: str) -> float | None:
    if way != AUTO:
        return row.ratio(way, kind=kind)
    found = row.of_tuned(kind)
    return None if found is None else 1 / found
