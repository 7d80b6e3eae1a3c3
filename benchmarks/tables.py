"""Writes the evaluation's page and plots from what `evaluate.py` has measured.

    python benchmarks/tables.py [--results benchmarks/results] [--page docs/evaluation.md]

All rows of the page are of one compiler on one device; what others measured is left out.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from evaluate import autoscheduler, schedule_of_auto
from goals import of_all, of_workloads
from plots import draw
from ranks import KEPT, rankings
from row import CONTIGUOUS, TUNED, WAYS, Row, load
from workloads import Workload

from dt_mlir.costs.device import find_device
from dt_mlir.files import write_output

HERE = Path(__file__).resolve().parent
FINDINGS = HERE / "findings.md"
"""Experiments and what they have shown, written by hand."""
MISSES = HERE / "misses.toml"
"""Reasons why workloads are slower than a baseline, written by hand, by the name of each."""

NEAR_BOUND = 0.95
"""The part of the bound from which on a workload is taken to be at it."""

METHOD = """\
The derived space of each program (`benchmarks/programs`) is searched, from the schedule of `auto`
and the winner of an earlier evaluation on; *tuned* is what wins. A number in another column is a
time over the tuned schedule's, so that above 1 the tuned one is faster; under `auto` it is the
inverse: the part of the tuned schedule's speed that `auto` has. Two numbers are cold and hot. All
contenders are replayed as CUDA graphs, whose memory is there before: *hot* on the same tensors,
*cold* on sets of them that are together more than twice as large as the L2 cache; products also
*singly*, after a pause and a flush of the cache, and *sustained* for 400 ms. The spread is that of
the rounds, cold. The bound is the least time by the [model of costs](auto.md). A search tries some
schedules of the space; what the model leaves out before is counted behind it. Ranks are those of
some tens of schedules of a workload, drawn at random from all that are predicted to take up to
three times as long as the fastest, and spread evenly over these times (`benchmarks/ranking.py`).
Where `torch.compile` pads the rows of its result, all schedules get such a result to write. What
was measured stays while the compiler writes the same code (`benchmarks/confirm.py`) and `auto` the
same schedule.
"""


def groups(rows: Sequence[Row]) -> list[str]:
    """Returns the groups of which something has been measured."""
    return list(dict.fromkeys(row.workload.group for row in rows))


def table(rows: Sequence[Row]) -> list[str]:
    """Returns the table of a group's workloads."""
    ways = [way for way in WAYS if any(row.ratio(way) is not None for row in rows)]
    heads = [
        "workload", "µs cold", "hot", "spread", "rate", "of bound", "auto",
        *(way.replace("_", "-") for way in ways), "tried", "left out",
    ]  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", f"| {' | '.join('---' for _ in heads)} |"]
    for row in rows:
        hot = row.time(TUNED, "hot") or 0.0
        model = f"{row.workload.model}: " if row.workload.model else ""
        auto = _pair([row.of_tuned(kind) for kind in ("cold", "hot")])
        search = row.data["search"]
        tried = sum(search["statuses"].values())
        cells = [
            f"{model}{row.name}", f"{1000 * row.best:.2f}", f"{1000 * hot:.2f}",
            f"{100 * row.spread:.1f} %", _rate(row), f"{row.of_bound:.2f}", auto,
            *(_pair([row.ratio(way, kind=kind) for kind in ("cold", "hot")]) for way in ways),
            f"{tried} of {search['size']}", str(sum(search["pruned"].values())),
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _pair(values: Sequence[float | None]) -> str:
    """Returns a ratio cold and hot."""
    return "" if values[0] is None else " / ".join("" if v is None else f"{v:.2f}" for v in values)


def _rate(row: Row) -> str:
    """Returns the rate cold; where replays on the same tensors beat the memory, that is said."""
    value, unit = row.rate()
    device = find_device(row.data["device"])
    hot, _ = row.rate("hot")
    cached = unit == "GB/s" and hot * 1e9 > device.memory_rate
    return f"{value:.0f} {unit}" + (f" (hot {hot:.0f}: L2)" if cached else "")


def pressure(rows: Sequence[Row]) -> list[str]:
    """Returns the table of single and sustained calls of products."""
    found = [row for row in rows if row.times(TUNED, "sustained")]
    heads = ["workload", "µs single", "sustained", "best baseline single", "sustained", "auto"]
    lines = [f"| {' | '.join(heads)} |", f"| {' | '.join('---' for _ in heads)} |"]
    for row in found:
        single, sustained = (row.time(TUNED, kind) or 0.0 for kind in ("single", "sustained"))
        ratios = [row.ratio(kind=kind) for kind in ("single", "sustained")]
        cells = [
            row.name, f"{1000 * single:.2f}", f"{1000 * sustained:.2f}",
            *("" if ratio is None else f"{ratio:.2f}" for ratio in ratios),
            _pair([row.of_tuned(kind) for kind in ("single", "sustained")]),
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def padded(rows: Sequence[Row]) -> list[str]:
    """Returns the table of tuned schedules whose results have padded rows, beside those that have
    none; empty where there are no such results."""
    found = [row for row in rows if row.times(CONTIGUOUS, "cold")]
    if not found:
        return []
    kinds = ("cold", "hot", "single", "sustained")
    heads = ["workload", *kinds, *(f"no padding, {kind}" for kind in kinds)]
    lines = [f"| {' | '.join(heads)} |", f"| {' | '.join('---' for _ in heads)} |"]
    for row in found:
        ratios = [
            row.ratio(kind=kind, schedule=name) for name in (TUNED, CONTIGUOUS) for kind in kinds
        ]
        cells = [row.name, *("" if ratio is None else f"{ratio:.2f}" for ratio in ratios)]
        lines.append(f"| {' | '.join(cells)} |")
    return [
        "## Results with padded rows", "",
        "Of the best baseline's speed, with results as `torch.compile` pads them, and with others.",
        "", *lines, "",
    ]  # fmt: skip


def misses(rows: Sequence[Row]) -> list[str]:
    """Returns the table of workloads that are slower than a baseline, each with its reason."""
    reasons = tomllib.loads(MISSES.read_text(encoding="utf-8"))
    heads = ["workload", "of the best baseline", "of the bound", "why"]
    lines = [f"| {' | '.join(heads)} |", f"| {' | '.join('---' for _ in heads)} |"]
    for row in rows:
        ratio = row.ratio()
        if ratio is None or round(ratio, 2) >= 1:
            continue
        times = {name: row.time(name) or 0.0 for name in row.baselines}
        best = min(times, key=lambda name: times[name])
        way = next((way for way in WAYS if best.endswith(f"_{way}")), best)
        reason = reasons.get(row.name, reasons.get(row.workload.program)) or _seen(row)
        cells = [row.name, f"{ratio:.2f} ({way})", f"{row.of_bound:.2f}", reason]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _seen(row: Row) -> str:
    """Returns what the figures of a workload say about why it is slower, if they do."""
    least, most = row.range_of_ratio()
    if most >= 1:
        return f"within the spread of rounds ({least:.2f} to {most:.2f})"
    if row.of_bound >= NEAR_BOUND:
        return "both move the bytes about as fast as memory can"
    hot = row.ratio(kind="hot")
    if hot is not None and hot >= 1:
        return f"on tensors from memory alone: where they are in the cache it is faster ({hot:.2f})"
    return "not explained yet"


def absent(rows: Sequence[Row]) -> list[str]:
    """Returns the contenders without times, each with the reason."""
    found = [
        _wrapped(f"- {row.name}: {name}: {reason}", "  ")
        for row in rows for name, reason in row.data["missing"].items()
    ]
    return found or ["Every contender has times."]


def is_of_today(row: Row) -> bool:
    """Returns whether `auto` writes the schedule today that it was measured with."""
    device = find_device(row.data["device"])
    return row.autoscheduler == autoscheduler() or row.data["auto"] == schedule_of_auto(
        row.workload, device
    )


def page(rows: Sequence[Row], left: Sequence[Workload], ranks: Mapping[str, float]) -> str:
    """Returns the evaluation's page.

    Args:
        rows: what was measured.
        left: the workloads that were not.
        ranks: of workloads whose schedules were ranked, the coefficient of correlation with times.
    """
    first = rows[0].data
    dates = sorted({row.data["date"] for row in rows})
    when = " to ".join(dict.fromkeys([dates[0], dates[-1]]))
    rounds = sorted({row.data["rounds"] for row in rows})
    names = ", ".join(w.name for w in left)
    text = f"{len(left)} workloads are not measured by this compiler: {names}."
    other = ", ".join(row.name for row in rows if not is_of_today(row))
    stale = f"`auto` writes another schedule today than it was measured with: {other}."
    earlier = Counter(str(row.data["measured_by"]) for row in rows if "measured_by" in row.data)
    same = ", ".join(f"{digest} ({count} of them)" for digest, count in earlier.most_common())
    measured = f"Other compilers searched and measured rows whose code is this one's, too: {same}."
    place = f"{first['device']}, {first['versions']}, {when}; {len(rows)} workloads"
    counts = Counter(row.autoscheduler for row in rows).most_common()
    by = ", ".join(f"{digest} ({count} of them)" for digest, count in counts)
    method = f"{' or '.join(map(str, rounds))} rounds of one process each"
    lines = [
        "<!-- Written by benchmarks/tables.py from benchmarks/results. Do not edit. -->", "",
        "# Evaluation", "",
        _wrapped(f"{place}, {method}; searched by autoscheduler {by}."), "",
        METHOD,
        *([_wrapped(measured), ""] if earlier else []),
        *([_wrapped(text), ""] if left else []), *([_wrapped(stale), ""] if other else []),
        "## Goals", "", *of_all(rows, ranks), "", *of_workloads(rows), "",
        "## What is slower than a baseline", "", *misses(rows), "",
    ]  # fmt: skip
    for name in groups(rows):
        lines += [f"## {name.capitalize()}", ""]
        lines += [*table([row for row in rows if row.workload.group == name]), ""]
        lines += [f"![Speed of the tuned schedules of {name}](evaluation/{name}.svg)", ""]
    lines += ["## Products, single and sustained", "", *pressure(rows), "", *padded(rows)]
    lines += ["## Without times", "", *absent(rows), ""]
    lines += ["## Experiments", "", FINDINGS.read_text(encoding="utf-8")]
    return "\n".join(lines)


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def main() -> int:
    """Writes the page; 1 if nothing has been measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--page", type=Path, default=HERE.parent / "docs" / "evaluation.md")
    args = parser.parse_args()
    rows, left = load(args.results)
    if not rows:
        print(f"nothing has been measured in {args.results}", file=sys.stderr)
        return 1
    folder = args.page.with_suffix("")
    folder.mkdir(exist_ok=True)
    for name in groups(rows):
        draw([row for row in rows if row.workload.group == name], folder / name)
    write_output(str(args.page), page(rows, left, rankings(KEPT)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
