"""Writes the evaluation's page and plots from what `evaluate.py` has measured.

    python benchmarks/tables.py [--results benchmarks/results] [--page docs/evaluation.md]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from suite import WORKLOADS, Workload

from dt_mlir.analysis.interface import Interface
from dt_mlir.files import write_output
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.tuning.bounds import Traffic
from dt_mlir.tuning.tuner import BEST

HERE = Path(__file__).resolve().parent
COPY = "copy"
FINDINGS = HERE / "findings.md"
"""The reasons why workloads miss their goals, written by hand."""


@dataclass(frozen=True)
class Row:
    """The measurements of a workload."""

    workload: Workload
    data: dict[str, Any]

    @property
    def best(self) -> float:
        """The best schedule's time in milliseconds, in the rounds of the comparison."""
        return self.time(BEST)

    def time(self, name: str) -> float:
        """A contender's time in milliseconds, the median of the rounds."""
        return median(self.data["comparison"][name])

    @property
    def baselines(self) -> dict[str, float]:
        """The times of what competes, by name without the operation's."""
        return {
            name: self.time(name) for name in self.data["comparison"] if name not in (BEST, COPY)
        }

    def ratio(self, *endings: str) -> float | None:
        """Returns the speedup of the best schedule over the fastest baseline with such an ending.

        Args:
            endings: of names; without any, all baselines count.
        """
        times = [
            time
            for name, time in self.baselines.items()
            if not endings or name.endswith(tuple(f"_{ending}" for ending in endings))
        ]
        return min(times) / self.best if times else None

    @property
    def bytes(self) -> int:
        """The bytes of inputs and outputs."""
        module, _ = compile_text(self.data["program"], self.workload.program)
        sizes = Interface.of(module).sizes(self.workload.sizes)
        run_pipeline(module, default_pipeline("tile"))
        traffic = Traffic.of(module, sizes)
        return traffic.inputs + traffic.results

    def of_copy(self) -> float | None:
        """The bandwidth as a part of that of a copy in the same rounds."""
        if COPY not in self.data["comparison"]:
            return None
        first = self.workload.sizes.values()
        count = 1
        for size in first:
            count *= size
        width = 2 if "bf16" in self.workload.types.values() else 4
        return (self.bytes / self.best) / (2 * count * width / self.time(COPY))

    def rate(self) -> str:
        """Operations or bytes a second."""
        operations = self.workload.operations
        if operations:
            return f"{operations / self.best / 1e9:.0f} TFLOP/s"
        return f"{self.bytes / self.best / 1e6:.0f} GB/s"


@dataclass(frozen=True)
class Goal:
    """A ratio that is wanted of some workloads."""

    text: str
    least: float
    chosen: Callable[[Workload], bool]
    ratio: Callable[[Row], float | None]


def _square(*sizes: int) -> Callable[[Workload], bool]:
    return lambda w: w.program == "matmul" and set(w.sizes.values()) == set(sizes) and not w.types


GOALS = (
    Goal("matrix product bf16 4096³ / cuBLAS", 1.03, _square(4096), lambda r: r.ratio("eager")),
    Goal("matrix product bf16 8192³ / cuBLAS", 0.90, _square(8192), lambda r: r.ratio("eager")),
    Goal("matrix product bf16 1024³ / cuBLAS", 0.95, _square(1024), lambda r: r.ratio("eager")),
    Goal(
        "ragged matrix product f16 / the best of torch and torch.compile", 1.0,
        lambda w: w.program == "matmul_ragged" and bool(w.types), lambda r: r.ratio(),
    ),
    Goal(
        "matrix product + sigmoid 4096³ / max-autotune", 1.05,
        lambda w: w.program == "matmul_sigmoid", lambda r: r.ratio("max_autotune"),
    ),
    Goal(
        "DyT / torch.compile", 1.2, lambda w: w.program == "dyt", lambda r: r.ratio("compile")
    ),
    Goal(
        "softmax f32 / the best of torch, torch.compile, Liger", 1.0,
        lambda w: w.program == "softmax_stable",
        lambda r: r.ratio("eager", "compile", "max_autotune", "liger"),
    ),
    Goal(
        "softmax f32 4096×16384 / copy bandwidth", 0.95,
        lambda w: w.program == "softmax_stable" and w.sizes["y"] == 16384, Row.of_copy,
    ),
    Goal(
        "layer norm, RMS norm bf16 / the best of them", 1.0,
        lambda w: w.program in ("layer_norm", "rms_norm"), lambda r: r.ratio(),
    ),
    Goal(
        "elementwise 16384² / copy bandwidth", 0.97,
        lambda w: w.group == "elementwise" and 16384 in w.sizes.values(), Row.of_copy,
    ),
    Goal(
        "2mm, one kernel / max-autotune", 1.5,
        lambda w: w.program.startswith("two_matmul") and w.sizes["m"] < 8192,
        lambda r: r.ratio("max_autotune"),
    ),
    Goal(
        "whole-row attention, 4096×64, l = 256 / the best of SDPA and torch.compile", 1.3,
        lambda w: w.program == "attention" and w.sizes["l"] == 256,
        lambda r: r.ratio("sdpa", "compile", "max_autotune"),
    ),
    Goal(
        "matrix product / the same kernel written by hand, sizes dividing", 0.98,
        lambda w: _square(4096)(w) or _square(8192)(w), lambda r: r.ratio("expert"),
    ),
)  # fmt: skip
"""The project's goals; ratios above 1 mean that the best schedule is faster."""


def load(results: Path) -> list[Row]:
    """The workloads that have been measured."""
    found: list[Row] = []
    for workload in WORKLOADS:
        path = results / f"{workload.name}.json"
        if path.exists():
            data = json.loads(path.read_text())
            if data["comparison"]:
                found.append(Row(workload, data))
    return found


def goals(rows: list[Row]) -> list[str]:
    """The table of goals."""
    lines = ["| work | goal | measured | |", "| --- | --- | --- | --- |"]
    for goal in GOALS:
        found = [
            (row, value)
            for row in rows
            if goal.chosen(row.workload) and (value := goal.ratio(row)) is not None
        ]
        if not found:
            lines.append(f"| {goal.text} | ≥ {goal.least} | | not measured |")
            continue
        least = min(value for _, value in found)
        shown = ", ".join(f"{value:.2f}" for _, value in found)
        verdict = "reached" if round(least, 2) >= goal.least else "missed"
        lines.append(f"| {goal.text} | ≥ {goal.least} | {shown} | {verdict} |")
    ragged = _ragged(rows)
    shown = "" if ragged is None else f"{ragged:.2f}"
    verdict = "not measured" if ragged is None else "reached" if ragged >= 0.85 else "missed"
    text = "matrix product 4100³ / 4096³, operations a second"
    lines.append(f"| {text} | ≥ 0.85 | {shown} | {verdict} |")
    return lines


def _ragged(rows: list[Row]) -> float | None:
    """The rate of a product whose sizes divide by nothing over that of one whose sizes do."""
    rates: dict[int, float] = {}
    for row in rows:
        for program, size in (("matmul", 4096), ("matmul_ragged", 4100)):
            if row.workload.program == program and set(row.workload.sizes.values()) == {size}:
                rates[size] = row.workload.operations / row.best
    return rates[4100] / rates[4096] if len(rates) == 2 else None


def group(rows: list[Row]) -> list[str]:
    """The table of a group's workloads."""
    names = list(dict.fromkeys(name for row in rows for name in _ways(row)))
    lines = [
        f"| workload | ms | rate | {' | '.join(names)} | space | as fast as the best baseline |",
        f"| {'--- | ' * (len(names) + 5)}".rstrip(),
    ]
    for row in rows:
        ways = _ways(row)
        cells = [f"{ways[name] / row.best:.2f}" if name in ways else "" for name in names]
        least = min(row.baselines.values(), default=0.0)
        times = row.data["milliseconds"]
        competitive = sum(time <= least for time in times)
        lines.append(
            f"| {row.workload.name} | {row.best:.4f} | {row.rate()} | {' | '.join(cells)} | "
            f"{row.data['size']} | {competitive} of {len(times)} |"
        )
    return lines


def _ways(row: Row) -> dict[str, float]:
    """The baselines' times by what they are, as in `compile`, without the operation's name."""
    found: dict[str, float] = {}
    for name, time in row.baselines.items():
        for way in (
            "eager", "compile", "max_autotune", "liger", "expert", "sdpa", "flash", "cudnn", "flex",
        ):
            if name.endswith(f"_{way}"):
                found[way] = time
    return found


def page(rows: list[Row]) -> str:
    """The evaluation's page."""
    places = sorted({(r.data["device"], r.data["versions"], r.data["date"]) for r in rows})
    lines = [
        "<!-- Written by benchmarks/tables.py from benchmarks/results. Do not edit. -->", "",
        "# Evaluation", "",
        "Each program is measured with every schedule of its space (`benchmarks/programs`), and",
        "the best against the baselines in rounds of one process. A number in a baseline's column",
        "is its time over the best schedule's: above 1 the schedule is faster. [How time is",
        "taken](tuning.md#a-search). Ratios are rounded to hundredths; between runs they differ by",
        "one or two.", "",
        *(f"- {device}, {versions}, {date}" for device, versions, date in places), "",
        "## Goals", "", *goals(rows), "", FINDINGS.read_text(encoding="utf-8"),
    ]  # fmt: skip
    for name in groups(rows):
        lines += [f"## {name.capitalize()}", ""]
        lines += [*group([row for row in rows if row.workload.group == name]), ""]
        lines += [f"![Each schedule of {name}, and the baselines](evaluation/{name}.svg)", ""]
    return "\n".join(lines)


def groups(rows: list[Row]) -> list[str]:
    """The groups of which something has been measured."""
    return list(dict.fromkeys(row.workload.group for row in rows))


def plots(rows: list[Row], folder: Path) -> None:
    """Draws each group."""
    from plots import Panel, draw

    folder.mkdir(exist_ok=True)
    for name in groups(rows):
        panels = [
            Panel(row.workload.name, row.data["milliseconds"], _ways(row))
            for row in rows
            if row.workload.group == name
        ]
        draw(panels, folder / name)


def main() -> int:
    """Writes the page; 1 if nothing has been measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--results", type=Path, default=HERE / "results")
    parser.add_argument("--page", type=Path, default=HERE.parent / "docs" / "evaluation.md")
    args = parser.parse_args()
    rows = load(args.results)
    if not rows:
        print(f"nothing has been measured in {args.results}", file=sys.stderr)
        return 1
    plots(rows, args.page.with_suffix(""))
    write_output(str(args.page), page(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
