"""Two schedules of one program beside each other, level by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
        states = [
            Change.REMOVED if n in gone else _as_changed(change.changes[there[n]])
            for n in range(len(before.nodes))
        ]
        found.append({
            "level": level, "counts": change.counts,
            "left": _rows(before, states, after, there),
            "right": _rows(after, change.changes, before, change.before),
        })  # fmt: skip
    return found


def _as_changed(change: Change) -> Change:
    return change if change in (Change.CHANGED, Change.MOVED) else Change.SAME


def _rows(
    snapshot: Snapshot, changes: Sequence[Change], other: Snapshot, matched: Mapping[int, int]
) -> list[list[str]]:
    """Returns each line with what becomes of its first operation that differs.

    Args:
        snapshot: the module.
        changes: what becomes of each of its operations.
        other: the module that it is compared with.
        matched: the operations there that its operations are.
    """
    there: dict[int, set[str]] = {}
    for line in other.lines:
        there.setdefault(line.nodes[0], set()).add(line.text)
    rows: list[list[str]] = []
    for line in snapshot.lines:
        first = line.nodes[0]
        state = changes[first]
        if state is Change.SAME and any(changes[n] is not Change.SAME for n in line.nodes[1:]):
            state = Change.CHANGED
        # Of an operation of several lines those differ that are not there.
        equal = line.text in there.get(matched.get(first, -1), ())
        spread = bool(snapshot.nodes[first].children)
        kept = state is Change.CHANGED and spread and equal
        rows.append([line.text, Change.SAME.value if kept else state.value])
    return rows
