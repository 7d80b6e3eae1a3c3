"""Confirms rows of the evaluation that another compiler measured and this one emits the same of.

    python benchmarks/confirm.py [--results benchmarks/results]

What a kernel takes follows from its code. Where today's compiler writes the same module for a row's
schedules as the one that measured them, the row is today's, too, and is marked so. Others are left
as they are, for `evaluate.py` to measure. No GPU is needed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dt_mlir.compiler import compile_program
from dt_mlir.diagnostics import CompileError, showing_warnings
from dt_mlir.files import write_output
from dt_mlir.tuning.measuring import versions

HERE = Path(__file__).resolve().parent
COMPILER = versions().partition(", ")[0]
"""The name of this compiler, and the digest of its text."""


def codes_of(row: Mapping[str, Any]) -> dict[str, str]:
    """Returns a digest of the module of each schedule of a row, by its name in the row.

    Raises:
        CompileError: where one cannot be compiled.
    """
    with showing_warnings(lambda _: None):
        return {name: _digest(compile_program(row[name]).source) for name in ("auto", "program")}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def confirmed(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Returns a row as one of this compiler; None if the code of its schedules is not the same."""
    compiler, _, others = str(row["versions"]).partition(", ")
    if compiler == COMPILER:
        return row
    try:
        if row.get("codes") != codes_of(row):
            return None
    except CompileError:
        return None
    first = row.get("measured_by", compiler)
    return {**row, "versions": f"{COMPILER}, {others}", "measured_by": first}


def main() -> int:
    """Confirms what can be confirmed; 1 if rows are left."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--results", type=Path, default=HERE / "results")
    args = parser.parse_args()
    left = 0
    for path in sorted(args.results.glob("*.json")):
        row = json.loads(path.read_text())
        found = confirmed(row)
        if found is None:
            print(f"{row['workload']}: its code is not the same, or was not kept")
            left += 1
        elif found is not row:
            write_output(str(path), json.dumps(found, indent=1, sort_keys=True) + "\n")
    return int(left > 0)


if __name__ == "__main__":
    raise SystemExit(main())
