"""The ranks of schedules by the time that the model of costs predicts, and by measured time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scipy.stats import spearmanr

from dt_mlir.analysis.interface import Interface
from dt_mlir.costs.device import Device, find_device
from dt_mlir.costs.report import costs_of
from dt_mlir.diagnostics import CompileError
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline

KEPT = Path(__file__).resolve().parent / "rankings"
"""The folder of times; `ranking.py` measures them."""
LEAST = 6
"""The fewest times among which schedules are ranked."""


def predicted(text: str, sizes: Mapping[str, int], device: Device) -> float:
    """Returns the time that the model predicts for a program with its schedule, in seconds.

    Raises:
        CompileError: if the program cannot be compiled any more.
    """
    module, _ = compile_text(text, "-")
    # A label that others have the size of is given one.
    sizes = Interface.of(module).sizes(sizes)
    run_pipeline(module, default_pipeline("loop"), verify=False)
    return sum(cost.seconds for cost in costs_of(module, sizes, device).values())


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
    """Returns Spearman's coefficient of correlation of two rows; 0 where one does not vary."""
    if min(len({*first}), len({*second})) < 2:
        return 0.0
    return float(spearmanr(first, second).statistic)


def pairs_of(kept: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Returns the predicted and the measured time of each schedule that has both, in seconds."""
    device = find_device(kept["device"])
    found: list[tuple[float, float]] = []
    for text, microseconds in kept["microseconds"].items():
        if microseconds is not None:
            try:
                found.append((predicted(text, kept["sizes"], device), microseconds / 1e6))
            except CompileError:
                # Today's compiler refuses it, and so does not rank it.
                continue
    return found


def rankings(folder: Path) -> dict[str, float]:
    """Returns the coefficient of each workload whose schedules were timed."""
    found: dict[str, float] = {}
    for path in sorted(folder.glob("*.json")):
        kept = json.loads(path.read_text())
        pairs = pairs_of(kept)
        if len(pairs) >= LEAST:
            found[kept["workload"]] = spearman(*zip(*pairs))
    return found
