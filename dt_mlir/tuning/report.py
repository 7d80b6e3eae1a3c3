"""Shows what a search found: a table, and a plot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from dt_mlir.diagnostics import CompileError
from dt_mlir.scheduling.space import Point
from dt_mlir.tuning.database import Record
from dt_mlir.tuning.outcome import BEST, TIMELESS, Outcome

_WORDS = {
    "refused": "illegal",
    "failed": "failed",
    "late": "took too long",
    "unfit": "do not fit the device",
    "wrong": "wrong",
}


def table(outcome: Outcome, most: int = 10) -> str:
    """The fastest schedules, the baselines, and what became of the others.

    Args:
        outcome: what came of the search.
        most: how many schedules are shown.
    """
    ranked = outcome.ranked()
    lines = [_counts(outcome)]
    left_out = {reason: count for reason, count in outcome.pruned.items() if count}
    if left_out:
        shown = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
        lines.append(f"  tiles left out by prediction: {shown}")
    for status in TIMELESS:
        reasons = outcome.reasons(status)
        for message, count in reasons.most_common(5):
            first = outcome.example(status, message)
            lines.append(f"  {count} {_WORDS[status]}: {message} (such as {_shown(first.point)})")
        if len(reasons) > 5:
            lines.append(f"  … and {len(reasons) - 5} more reasons")
    if not ranked:
        return "\n".join([*lines, "no schedule has a time", ""])
    best = (outcome.best or ranked[0]).milliseconds or 0.0
    rows = [["ms", "of best", "rounds", "registers", "spilled", "shared", "schedule"]]
    rows += [_row(r, best, _shown(outcome.candidates[r.program].point)) for r in ranked[:most]]
    typical = {name: median(times) for name, times in outcome.comparison.items()}
    for name, time in typical.items():
        ratio = f"{time / typical[BEST]:.3f}" if BEST in typical else ""
        rows.append([f"{time:.4f}", ratio, str(len(outcome.comparison[name])), "", "", "", name])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines.append("")
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[:-1], widths)]
        lines.append("  ".join([*cells, row[-1]]))
    if len(ranked) > most:
        lines.append(f"… and {len(ranked) - most} slower ones")
    lines += _gap(outcome)
    return "\n".join([*lines, ""])


def _gap(outcome: Outcome) -> list[str]:
    """Returns how far the best schedule is from the least time, and what is not fully measured."""
    found: list[str] = []
    best, least = outcome.best, outcome.least
    if best is None:
        found.append(f"no schedule was measured in {outcome.rounds} rounds, so that none has won")
    elif least is not None and outcome.method not in ("interpreter", "hot"):
        # Replays on the same tensors may be faster than memory.
        ratio = (best.milliseconds or 0.0) / 1000 / least.seconds
        found.append(
            f"the best takes {ratio:.2f} times the least time that the device needs by the model: "
            f"{1000 * least.seconds:.4f} ms, limited by {least.limit}"
        )
    return found


def _counts(outcome: Outcome) -> str:
    statuses = outcome.statuses()
    parts = [f"{outcome.size} schedules", f"{len(outcome.candidates)} tried"]
    parts += [f"{statuses[s]} {_WORDS[s]}" for s in TIMELESS if statuses[s]]
    if outcome.excluded:
        parts.append(f"{len(outcome.excluded)} cannot be faster (bytes moved over bandwidth)")
    parts.append(f"{len(outcome.ranked())} timed ({outcome.method})")
    if outcome.interrupted:
        parts.append("then interrupted")
    return ", ".join(parts)


def _row(record: Record, best: float, schedule: str) -> list[str]:
    time = record.milliseconds or 0.0

    def most(what: str) -> str:
        values = [used[what] for used in record.resources.values()]
        known = [value for value in values if value is not None]
        return str(max(known)) if known else "?"

    numbers = [most(what) for what in ("registers", "spills", "shared")]
    return [f"{time:.4f}", f"{time / best:.3f}", str(len(record.times)), *numbers, schedule]


def _shown(point: Point) -> str:
    return ", ".join(f"{name}={option}" for name, option in point.items()) or "as written"


def plot(outcome: Outcome, path: str, title: str) -> None:
    """Draws every schedule as a point, sorted by time, and the baselines as lines.

    Args:
        outcome: what came of the search.
        path: a file that ends in `.png` or `.svg`; the other one is written beside it.
        title: what stands above.

    Raises:
        CompileError: if matplotlib is not installed, or the file is of another kind.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise CompileError("a plot needs matplotlib", None, "pip install 'dt-mlir[tune]'") from None
    target = Path(path)
    if target.suffix not in (".png", ".svg"):
        raise CompileError(f"--plot: {path} ends in neither .png nor .svg")
    figure: Any = Figure(figsize=(8, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    times = [record.milliseconds or 0.0 for record in outcome.ranked()]
    axes.plot(range(1, len(times) + 1), times, "o", markersize=4, label="schedules of the space")
    lines: Mapping[str, float] = {
        name: median(found)
        for name, found in outcome.comparison.items()
        if name != BEST
    }
    for number, (name, time) in enumerate(lines.items()):
        axes.axhline(time, color=f"C{number + 1}", label=name)
    axes.set_xlabel(f"schedule, fastest first ({len(times)} of {outcome.size} have a time)")
    axes.set_ylabel("ms")
    axes.set_ylim(bottom=0)
    axes.set_title(title)
    axes.legend()
    for suffix in (".png", ".svg"):
        figure.savefig(target.with_suffix(suffix), dpi=150)
