"""The model of a page about one program under one schedule, as JSON has it."""

from __future__ import annotations

import base64
import gzip
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from dt_mlir.diagnostics import Place, places_of
from dt_mlir.explorer.assembly import Assembly
from dt_mlir.explorer.certificate import Obligation
from dt_mlir.explorer.differences import Change, Difference
from dt_mlir.explorer.emitted import Emitted
from dt_mlir.explorer.steps import Step, ids_of, operation_ids
from dt_mlir.explorer.timeline import Timeline
from dt_mlir.explorer.tracing import Trace

Json = dict[str, Any]


class Tables:
    """Tables of what is written once and referred to by number: places, lines of IR.

    Args:
        file: the program's file; other files have no places on a page.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.places: dict[tuple[int, int], int] = {}
        self.lines: dict[tuple[Any, ...], int] = {}
        self.names: dict[int, str] = {}

    def place(self, place: Place | None) -> int:
        """Returns the number of a place; -1 for one that is not in the program."""
        if place is None or place[0] != self.file:
            return -1
        return self.places.setdefault(place[1:], len(self.places))

    def split(self, places: Iterable[Sequence[Place]]) -> tuple[list[int], list[int]]:
        """Returns the numbers of operations' own places, and those of directives."""
        own: dict[int, None] = {}
        others: dict[int, None] = {}
        for found in places:
            numbers = [self.place(place) for place in found]
            own.update(dict.fromkeys(number for number in numbers[:1] if number >= 0))
            others.update(dict.fromkeys(number for number in numbers[1:] if number >= 0))
        return list(own), list(others)

    def line(self, text: str, ids: Sequence[int], own: list[int], others: list[int]) -> int:
        """Returns the number of a line."""
        key = text, tuple(ids), tuple(own), tuple(others)
        return self.lines.setdefault(key, len(self.lines))

    def json(self) -> Json:
        return {"places": list(self.places), "table": list(self.lines)}


def packed(text: str) -> str:
    """Returns a long text as gzip and base64 have it, which browsers unpack when it is shown."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def steps_json(steps: list[Step], tables: Tables) -> list[Json]:
    """Returns the steps, each with the lines of its text if it changed anything."""
    ids = operation_ids(steps)
    found: list[Json] = []
    for number, step in enumerate(steps):
        item: Json = {
            "title": step.title, "kind": step.kind, "level": step.level, "summary": step.summary,
            "place": tables.place(step.place), "resources": [asdict(r) for r in step.resources],
        }  # fmt: skip
        change = step.difference
        if change is None or not change.is_empty:
            item["lines"] = _lines(step, ids[number], change, steps[number - 1 : number], tables)
            if change is None:
                item["counts"] = Counter(node.name for node in step.snapshot.nodes)
            else:
                earlier = steps[number - 1]
                item["counts"] = change.counts
                item["removed"] = _removed(earlier, step, ids[number - 1], ids[number], tables)
                item["totals"] = [
                    sum(c is kind for c in change.changes)
                    for kind in (Change.ADDED, Change.CHANGED, Change.MOVED)
                ] + [len(change.removed)]  # fmt: skip
        found.append(item)
    return found


def _lines(
    step: Step, ids: list[int], change: Difference | None, earlier: list[Step], tables: Tables
) -> list[list[Any]]:
    """Returns a line's number in the table, with what became of it and why if that is anything."""
    snapshot = step.snapshot
    known: dict[int, set[str]] = {}
    for before in earlier:
        for line in before.snapshot.lines:
            known.setdefault(line.nodes[0], set()).add(line.text)
    rows: list[list[Any]] = []
    for line in snapshot.lines:
        first = line.nodes[0]
        own, others = tables.split(snapshot.nodes[node].places for node in line.nodes)
        row: list[Any] = [tables.line(line.text, [ids[n] for n in line.nodes], own, others)]
        if change is not None:
            state, reason = _state(change, line.nodes)
            ends = line.text.strip().startswith("}") and state is not Change.ADDED
            # Of an operation of several lines those differ that were not there.
            old = known.get(change.before.get(first, -1), set())
            kept = len(snapshot.nodes[first].children) > 0 and line.text in old
            if state is not Change.SAME and not ends and not (state is Change.CHANGED and kept):
                row += [state.value, reason]
        rows.append(row)
    return rows


def _state(change: Difference, nodes: Sequence[int]) -> tuple[Change, str]:
    """Returns what became of a line's operations: the first counts, then those inside it."""
    for node in nodes:
        state = change.changes[node]
        if state is not Change.SAME:
            reason = change.reasons.get(node, "")
            return (state, reason) if node == nodes[0] else (Change.CHANGED, "body")
    return Change.SAME, ""


def _removed(
    earlier: Step, step: Step, old: list[int], new: list[int], tables: Tables
) -> list[list[int]]:
    """Returns the lines that are no more, each with the number of lines that stand before it."""
    assert step.difference is not None
    gone = set(step.difference.removed)
    first_line: dict[int, int] = {}
    for number, line in enumerate(step.snapshot.lines):
        first_line.setdefault(new[line.nodes[0]], number)
    rows: list[list[int]] = []
    after = 0
    for line in earlier.snapshot.lines:
        node = line.nodes[0]
        if node in gone and line.text.strip().startswith("}"):
            # The line that an operation starts with says that it is gone.
            continue
        if node in gone:
            own, others = tables.split(earlier.snapshot.nodes[n].places for n in line.nodes)
            ids = [old[n] for n in line.nodes]
            rows.append([after, tables.line(line.text, ids, own, others)])
        else:
            after = first_line.get(old[node], after - 1) + 1
    return rows


def emitted_json(emitted: Emitted, last: Step, ids: list[int], tables: Tables) -> Json:
    """Returns the emitted module, with the operations and places of its lines."""
    numbers = ids_of(last, ids)
    links: dict[int, Json] = {}
    for line, ops in emitted.operations.items():
        own, others = tables.split(places_of(op.location) for op in ops)
        known = [numbers[op] for op in ops if op in numbers]
        links[line] = {"ids": known, "own": own, "others": others}
    return {"source": emitted.source, "links": links}


def assembly_json(assembly: Assembly) -> Json:
    """Returns compiled kernels; their long texts are packed."""
    kernels: list[Json] = []
    for kernel in assembly.kernels:
        texts = {
            stage: {"text": packed("\n".join(text.lines)), "lines": len(text.lines),
                    "sources": _runs(text.sources)}
            for stage, text in kernel.texts.items()
        }  # fmt: skip
        kernels.append({
            "name": kernel.name, "target": kernel.target, "registers": kernel.registers,
            "spills": kernel.spills, "shared": kernel.shared, "problems": kernel.problems,
            "texts": texts,
        })  # fmt: skip
    return {"sizes": assembly.sizes, "kernels": kernels, "notes": assembly.notes}


def _runs(numbers: Sequence[int]) -> list[int]:
    """Returns numbers as pairs of a number and how often it stands in a row, in one list."""
    found: list[int] = []
    for number in numbers:
        if found and found[-2] == number:
            found[-1] += 1
        else:
            found += [number, 1]
    return found


def trace_json(trace: Trace, tables: Tables) -> Json:
    """Returns what program instances touch."""
    names = list(trace.tensors)
    kernels: list[Json] = []
    for kernel in trace.kernels:
        instances = [
            [
                [names.index(f.tensor), int(f.stores), f.axes, f.lanes, f.active, f.box,
                 int(f.exact), f.trips, tables.place(f.place)]
                for f in instance
            ]
            for instance in kernel.instances
        ]  # fmt: skip
        kernels.append({
            "name": kernel.name, "root": kernel.root, "grid": kernel.grid,
            "persistent": kernel.persistent, "instances": instances,
        })  # fmt: skip
    return {
        "sizes": trace.sizes, "names": names, "tensors": trace.tensors, "labels": trace.labels,
        "kernels": kernels, "truncated": trace.truncated,
    }  # fmt: skip


def timeline_json(timeline: Timeline, tables: Tables) -> Json:
    """Returns what groups of warps do."""
    spans = [[*span[:5], tables.place(span.place)] for span in timeline.spans]
    return {
        "kernel": timeline.kernel, "sizes": timeline.sizes, "groups": timeline.groups,
        "buffers": timeline.buffers, "barriers": timeline.barriers, "spans": spans,
        "truncated": timeline.truncated,
    }  # fmt: skip


def certificate_json(certificate: Sequence[Obligation] | None) -> list[Json] | None:
    """Returns the obligations of a certificate, if there is one."""
    if certificate is None:
        return None
    return [{**asdict(item), "number": number} for number, item in enumerate(certificate)]
