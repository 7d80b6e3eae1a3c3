"""`loop-split-products`: steps products that no dot carries out, where their tile is too large."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from dt_mlir.analysis.dot_plans import DotPlan, plan_dot, planned_axes
from dt_mlir.analysis.label_sizes import fixed_sizes, label_classes, same_in
from dt_mlir.analysis.nests import loops_in
from dt_mlir.analysis.tile_sizes import TILE_LIMIT, padded, static_elements
from dt_mlir.dialects import loop

PRODUCT_LIMIT = 2**15
"""The most elements of a product's tile that a step is made for: what registers can hold."""


WHOLE_LIMIT = 1024
"""The largest step that is taken where the whole of a label is asked for."""


def split_products(kernel: loop.KernelOp, same: dict[str, str], fixed: dict[str, int]) -> None:
    """Steps the products of a kernel that become a multiplication and a sum on tiles.

    Such a product is a tile over all of its labels at once; a smaller step of the reduction
    makes it smaller. Where the reduction's axis comes from a local buffer, it must stay whole.
    """
    axes = planned_axes(kernel, same_in(kernel, same), fixed)
    for op in list(loops_in(kernel)):
        if not isinstance(op, loop.ReduceOp) or not op.is_dot:
            continue
        if not op.is_tile or _reads_buffer(op):
            continue
        if isinstance(plan_dot(op, axes), DotPlan):
            continue
        found = axes.axes(axes.of(op.yielded[0]) | axes.of(op.yielded[1]))
        own = axes.loops[op]
        others = static_elements([axis for axis in found if axis != own])
        step = max(1, PRODUCT_LIMIT // others)
        extent = own.extent if isinstance(own.extent, int) else TILE_LIMIT
        if any(axis.is_symbolic for axis in found if axis != own):
            step = 1
        if not isinstance(own.extent, int) and step > WHOLE_LIMIT:
            # Whatever its size is, the whole is likely to be less than so large a step.
            continue
        if padded(extent) > step:
            op.step = IntegerAttr(step, i64)
            op.tile = op.tile if step > 1 else None


def _reads_buffer(op: loop.ReduceOp) -> bool:
    """Returns whether a local buffer is read along a reduction's axis."""
    return any(
        isinstance(use.operation, loop.ReadOp)
        and isinstance(use.operation.base.owner, loop.LocalOp)
        for use in op.iv.uses
    )


@dataclass(frozen=True)
class LoopSplitProductsPass(ModulePass):
    """Steps products that no dot carries out, where their tile is too large.

    A product whose extents or types Triton's dot does not take is multiplied and summed on a tile
    over all of its labels. The reduction's step is made smaller until that tile fits in
    registers, at the least until it is within Triton's limit of 2^20 elements.

    ```
    loop.reduce dot %k = k step 128 tile of mm : f64   ->   … step 2 tile of mm : f64
    ```
    """

    name = "loop-split-products"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        same, fixed = label_classes(op), fixed_sizes(op)
        for kernel in op.ops:
            if isinstance(kernel, loop.KernelOp):
                split_products(kernel, same, fixed)
