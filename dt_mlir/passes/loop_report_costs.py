"""`loop-report-costs`: says what a schedule makes expensive."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from dt_mlir.analysis.dot_plans import NoDot, plan_dot, planned_axes
from dt_mlir.analysis.label_sizes import fixed_sizes, label_classes, same_in
from dt_mlir.analysis.nests import locals_of, loops_in
from dt_mlir.analysis.recomputation import recomputations
from dt_mlir.analysis.tile_axes import TileAxes
from dt_mlir.diagnostics import warn
from dt_mlir.dialects import loop


def report_recomputations(kernel: loop.KernelOp) -> None:
    """Warns of fused functions that loops compute again."""
    for found in recomputations(kernel):
        name = found.buffer.function.data
        labels = dict.fromkeys(f"'{op.label_name}' of '{op.function_name}'" for op in found.loops)
        # A directive moves all buffers of a function.
        alone = len(locals_of(kernel, name)) == 1
        if found.place is not None and alone:
            consumer, label = found.place.function_name, found.place.label_name
            hint = f"{name}.fuse_at({consumer}, {label}) computes it once for each '{label}'"
        else:
            hint = f"unfused, '{name}' is computed once"
        warn(
            f"'{name}' does not depend on the loop over {' and over '.join(labels)}, and is "
            f"computed in each of its {' * '.join(map(_trips, found.loops))} steps",
            found.buffer, hint,
        )  # fmt: skip


def _trips(op: loop.LoopLike) -> str:
    """Returns the number of steps of a loop as text."""
    step = op.step_size
    if op.extent_size is not None:
        return str(-(-op.extent_size // step))
    size = f"len({op.label_name})"
    return size if step == 1 else f"cdiv({size}, {step})"


def report_products(kernel: loop.KernelOp, axes: TileAxes) -> None:
    """Warns of products of tiled matrices that no dot carries out."""
    for op in loops_in(kernel):
        if not isinstance(op, loop.ReduceOp) or not op.is_dot:
            continue
        left, right = (axes.of(value) for value in op.yielded)
        found = plan_dot(op, axes)
        if isinstance(found, NoDot) and left - right and right - left:
            warn(
                f"the product over '{op.label_name}' multiplies and adds elements: {found.reason}",
                op, found.hint,
            )  # fmt: skip


@dataclass(frozen=True)
class LoopReportCostsPass(ModulePass):
    """Says what a schedule makes expensive; the IR stays as it is.

    - A fused function with a loop of its own that is computed in each step of a loop which does not
      change it: a warning with the number of times, and the place where it is computed once.
    - A product of tiled matrices that Triton's dot cannot carry out: a warning with the reason.
    """

    name = "loop-report-costs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        same, fixed = label_classes(op), fixed_sizes(op)
        for kernel in op.ops:
            if isinstance(kernel, loop.KernelOp):
                report_recomputations(kernel)
                report_products(kernel, planned_axes(kernel, same_in(kernel, same), fixed))
