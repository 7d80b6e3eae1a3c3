"""Two schedules of one program beside each other, level by level."""

from __future__ import annotations

from dt_mlir.explorer.differences import Change, difference
from dt_mlir.explorer.model import Json
from dt_mlir.explorer.snapshots import Snapshot
from dt_mlir.explorer.steps import Step

LEVELS = ("loop", "tile", "warp")


def compare(left: list[Step], right: list[Step]) -> list[Json]:
    """Returns the last module of each level under two schedules, and how they differ.

    Args:
        left: the steps under one schedule.
        right: those under the other one.
    """
    found: list[Json] = []
    for level in LEVELS:
        ends = [[step for step in steps if step.level == level] for steps in (left, right)]
        if not all(ends):
            continue
        before, after = (steps[-1].snapshot for steps in ends)
        change = difference(before, after)
        there = {old: new for new, old in change.before.items()}
        gone = set(change.removed)
        found.append({
            "level": level,
            "left": _rows(before, [
                Change.REMOVED if n in gone else _as_changed(change.changes[there[n]])
                for n in range(len(before.nodes))
            ]),
            "right": _rows(after, list(change.changes)),
            "counts": change.counts,
        })  # fmt: skip
    return found


def _as_changed(change: Change) -> Change:
    return change if change in (Change.CHANGED, Change.MOVED) else Change.SAME


def _rows(snapshot: Snapshot, changes: list[Change]) -> list[list[str]]:
    """Returns each line with what becomes of its first operation that differs."""
    rows: list[list[str]] = []
    for line in snapshot.lines:
        own = changes[line.nodes[0]]
        inner = any(changes[node] is not Change.SAME for node in line.nodes[1:])
        state = Change.CHANGED if own is Change.SAME and inner else own
        closing = line.text.strip().startswith("}") and own is Change.CHANGED
        rows.append([line.text, Change.SAME.value if closing else state.value])
    return rows
