"""Which passes a file of the compiler is a part of."""

from __future__ import annotations

from pathlib import PurePosixPath

_SHARED = {
    "scheduling/bounds.py": ("apply-schedule",),
    "scheduling/directive.py": ("apply-schedule",),
    "scheduling/fusion.py": ("apply-schedule",),
    "scheduling/parameters.py": ("apply-schedule",),
    "scheduling/program.py": ("apply-schedule",),
    "lowering/axes.py": ("convert-loop-to-tile", "loop-split-products"),
    "lowering/divisibility.py": ("tile-place-masks",),
    "lowering/grid.py": ("convert-loop-to-tile",),
    "lowering/operands.py": ("convert-loop-to-tile", "loop-split-products"),
    "lowering/reductions.py": (
        "convert-loop-to-tile", "tile-place-masks", "tile-elide-masks", "tile-hoist-reductions",
    ),
    "lowering/scalar_eval.py": ("tile-elide-masks",),
    "lowering/values.py": ("convert-loop-to-tile", "tile-place-masks"),
}


def passes_of(file: str) -> tuple[str, ...]:
    """The passes of the compiler's pipeline in which what a file does shows; none for the
    frontend, the emitter and the runtime.

    Args:
        file: its path from the root of the repository.
    """
    path = PurePosixPath(file)
    if path.parts[:2] == ("dt_mlir", "passes"):
        name = path.stem.replace("_", "-")
        return ("apply-schedule",) if name.startswith("schedule-") else (name,)
    return _SHARED.get(str(path.relative_to("dt_mlir")), ())
