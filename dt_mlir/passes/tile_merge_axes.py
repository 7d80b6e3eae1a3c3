"""`tile-merge-axes`: makes axes one that run over the same indices and never meet."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.builders.rewriting import retype
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import Axis, axes_of, element_of, tile_type
from dt_mlir.traversal import operations, operations_of, values_of


def merge_axes(kernel: tile.KernelOp) -> None:
    """Merge axes of a kernel that run over the same indices, where no tile has both."""
    ranges = operations_of(kernel, tile.RangeOp)
    merged: dict[str, str] = {}
    for i, later in enumerate(ranges):
        for earlier in ranges[:i]:
            if later.axis.name == earlier.axis.name or not _same_indices(earlier, later):
                continue
            if not _meet(kernel, earlier.axis.name, later.axis.name):
                merged[later.axis.name] = earlier.axis.name
                _rename(kernel, later.axis.name, earlier.axis.name)
                # The labels have one size: the axes end at the same index.
                for other in ranges:
                    if other.axis == earlier.axis and _same_indices(earlier, other):
                        other.label = earlier.label
                break
    if not merged:
        return
    for op in operations(kernel):
        if isinstance(op, tile.RenameOp) and op.value.type == op.result.type:
            op.result.replace_all_uses_with(op.value)
            Rewriter.erase_op(op)


def _same_indices(a: tile.RangeOp, b: tile.RangeOp) -> bool:
    return (
        a.axis.extent == b.axis.extent
        and a.stride == b.stride
        and _same_value(a.origin, b.origin)
        and (a.bound is None) == (b.bound is None)
        and (a.bound is None or b.bound is None or _same_value(a.bound, b.bound))
    )


def _same_value(a: SSAValue, b: SSAValue) -> bool:
    known = constant_index(a)
    return a is b or (known is not None and known == constant_index(b))


def _meet(kernel: tile.KernelOp, a: str, b: str) -> bool:
    """Returns whether some tile has both axes, or an operation has operands with either."""
    for value in values_of(kernel):
        found = {axis.name for axis in axes_of(value.type)}
        if {a, b} <= found:
            return True
    for op in operations(kernel):
        if isinstance(op, tile.RenameOp | tile.RangeOp):
            continue
        found = {axis.name for v in op.operands for axis in axes_of(v.type)}
        if {a, b} <= found and not op.regions:
            return True
    return False


def _rename(kernel: tile.KernelOp, old: str, new: str) -> None:
    def renamed(type: Attribute) -> Attribute:
        axes = [Axis(new if a.name == old else a.name, a.extent) for a in axes_of(type)]
        return tile_type(element_of(type), axes)

    retype(kernel, renamed)
    for op in operations(kernel):
        if not isinstance(op, tile.ReduceOp | tile.ScanOp | tile.ArgReduceOp):
            continue
        if op.axis.data == old:
            op.axis = StringAttr(new)


@dataclass(frozen=True)
class TileMergeAxesPass(ModulePass):
    """Makes axes one that run over the same indices and never meet in a tile.

    What one fused function produces and another consumes are then the same axis, and nothing
    needs renaming. The ranges are equal, and `tile-cse` makes one of them.

    ```
    %l = tile.range l from %c0 to %n
    %l_1 = tile.range l_1 = l from %c0 to %n   ->   %l_1 = tile.range l from %c0 to %n
    ```
    """

    name = "tile-merge-axes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            merge_axes(kernel)
