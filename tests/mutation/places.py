"""The passes that a file of the compiler is a part of."""

from __future__ import annotations

from pathlib import PurePosixPath

from dt_mlir.registry import PASS_NAMES

_SHARED = {
    "analysis/bounds.py": ("apply-schedule",),
    "analysis/divisibility.py": ("tile-place-masks",),
    "analysis/dot_plans.py": ("convert-loop-to-tile", "loop-split-products"),
    "analysis/expressions.py": ("convert-loop-to-tile",),
    "analysis/loop_program.py": ("apply-schedule",),
    "analysis/known_numbers.py": ("tile-elide-masks",),
    "analysis/masked_values.py": ("tile-elide-masks",),
    "analysis/nests.py": ("apply-schedule",),
    "analysis/tile_axes.py": ("convert-loop-to-tile", "loop-split-products"),
    "builders/scope.py": ("convert-loop-to-tile",),
    "builders/loops.py": ("apply-schedule",),
    "builders/reductions.py": (
        "convert-loop-to-tile", "tile-place-masks", "tile-elide-masks", "tile-hoist-reductions",
    ),
    "builders/indices.py": ("convert-loop-to-tile", "apply-schedule", "tile-coalesce-loops"),
    "dialects/elem.py": (
        "convert-loop-to-tile", "tile-place-masks", "tile-elide-masks", "tile-hoist-reductions",
    ),
    "dialects/index_ranges.py": ("convert-loop-to-tile",),
    "builders/values.py": ("convert-loop-to-tile", "tile-place-masks"),
    "scheduling/directive.py": ("apply-schedule",),
    "scheduling/labels.py": ("apply-schedule",),
    "scheduling/parameters.py": ("apply-schedule",),
}


def passes_of(file: str) -> tuple[str, ...]:
    """The passes of the compiler's pipeline in which what a file does shows; none for the
    frontend, the emitter and the runtime.

    Args:
        file: its path from the root of the repository.
    """
    path = PurePosixPath(file)
    if path.parts[:2] == ("dt_mlir", "passes"):
        # What a single pass uses stands beside it, under a longer name.
        stem = path.stem.replace("_", "-")
        name = max((n for n in PASS_NAMES if stem.startswith(n)), key=len, default=stem)
        return ("apply-schedule",) if name.startswith("schedule-") else (name,)
    return _SHARED.get(str(path.relative_to("dt_mlir")), ())
