"""Measures what a dispatch by sizes loses at sizes that it has not seen.

    python benchmarks/unseen.py [--only matmul] [--trials 10]

Each program is tuned at several sizes; a decision tree chooses among the winners. At sizes in
between, the chosen schedule is timed beside the one that a search at these very sizes finds.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch
from evaluate import end_in_order

from dt_mlir.files import write_output
from dt_mlir.kernels.dispatched import tuned_for_sizes
from dt_mlir.kernels.searches import Searches
from dt_mlir.language.program import Program
from dt_mlir.tuning import measuring
from dt_mlir.tuning.tuner import Options

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Family:
    """A program at many sizes."""

    program: str
    """The name of the program."""
    fixed: Mapping[str, int]
    """The sizes of labels that have one size."""
    label: str
    """The label that has several."""
    seen: Sequence[int]
    unseen: Sequence[int]
    inputs: Mapping[str, Any]
    """A tensor of the type of each input."""

    def sizes(self, size: int) -> dict[str, int]:
        """Returns the sizes of all labels."""
        return {**self.fixed, self.label: size}


def _powers(first: int, last: int) -> list[int]:
    return [2**n for n in range(first, last + 1)]


def _between(first: int, last: int) -> list[int]:
    return [3 * 2 ** (n - 1) for n in range(first, last)]


_MATRIX = torch.empty(16, 16, dtype=torch.bfloat16)
FAMILIES = [
    Family(
        "matmul", {"y": 4096, "k": 4096}, "x", _powers(4, 13), _between(4, 13),
        {"A": _MATRIX, "B": _MATRIX},
    ),
    Family(
        "softmax_stable", {"x": 4096}, "y", _powers(8, 15), _between(8, 15),
        {"A": _MATRIX.float()},
    ),
]  # fmt: skip


def measured(family: Family, searches: Searches) -> dict[str, Any]:
    """Tunes at the sizes that are seen, and compares at the others."""
    begun = time.monotonic()
    tuned = tuned_for_sizes(searches, [family.sizes(size) for size in family.seen])
    taken = time.monotonic() - begun
    rows: list[dict[str, float | int | None]] = []
    for size in family.unseen:
        sizes = searches.sizes_instead(family.sizes(size))
        best = searches.run(sizes).best
        assert best is not None, "a search without a winner is an error"
        number = tuned.choose(sizes)
        own, chosen = searches.times(sizes, [best.program, str(tuned.programs[number])])
        rows.append({
            family.label: size, "schedule": number, "chosen": chosen, "own": own,
            "loss": None if chosen is None or own is None else max(chosen / own, 1.0) - 1,
        })  # fmt: skip
        print(f"{family.program} {rows[-1]}", flush=True)
    losses = [row["loss"] for row in rows if row["loss"] is not None]
    return {
        "program": family.program, "device": measuring.device_name(), "seconds": taken,
        "tree": tuned.text, "leaves": len(tuned.programs), "rows": rows,
        "median loss": median(losses) if losses else None,
    }  # fmt: skip


def main() -> int:
    """Measures each family."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", help="only programs whose names contain this")
    parser.add_argument("--trials", type=int, default=10, help="the candidates of a search")
    parser.add_argument("--jobs", type=int, default=8, help="the processes that compile")
    parser.add_argument("-o", "--output", type=Path, help="where results go, as JSON")
    args = parser.parse_args()
    if measuring.device_name() == "cpu":
        print("there is no GPU: no kernel is measured")
        return 0
    end_in_order()
    found: list[dict[str, Any]] = []
    for family in FAMILIES:
        if args.only is not None and args.only not in family.program:
            continue
        program = Program.parse((HERE / "programs" / f"{family.program}.dt").read_text())
        options = Options(jobs=args.jobs, rounds=3, trials=args.trials)
        with Searches(
            program, family.inputs, options, True, ":memory:", progress=False
        ) as searches:
            found.append(measured(family, searches))
        loss = found[-1]["median loss"]
        print(f"{family.program}: a loss of {loss:.3f} in the median, {found[-1]['seconds']:.0f} s")
        print(found[-1]["tree"])
    if args.output is not None:
        write_output(str(args.output), json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
