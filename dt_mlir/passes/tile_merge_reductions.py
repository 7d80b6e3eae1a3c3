"""`tile-merge-reductions`: reduces along several axes at once."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.builders.values import ValueBuilder
from dt_mlir.dialects import tile
from dt_mlir.dialects.elem import identity
from dt_mlir.dialects.tile.types import axes_of, axis_names, element_of
from dt_mlir.traversal import operations_of

_Reduce = tile.ReduceOp | tile.MultiReduceOp


def merge_reductions(kernel: tile.KernelOp) -> None:
    """Merges the reductions of a kernel's reductions with these."""
    for op in operations_of(kernel, tile.ReduceOp):
        if op.apart is None:
            _merge(op)


def _merge(op: tile.ReduceOp) -> None:
    """Merges a reduction with the one that its elements are results of, if there is one."""
    kind, select = op.kind.data, _selected(op)
    value = op.value if select is None else select[1]
    inner = value.owner
    if not isinstance(inner, _Reduce) or not _used_once(value) or inner.kind.data is not kind:
        return
    if isinstance(inner, tile.ReduceOp) and inner.apart is not None:
        return
    axes = [op.axis.data, *_axes(inner)]
    known = axis_names(inner.value.type)
    places = [known.index(axis) for axis in axes]
    if max(places) - min(places) >= len(places):
        return
    elements, location = inner.value, op.location
    if select is not None:
        builder = ValueBuilder(Builder(InsertPoint.before(op)), axes_of(elements.type))
        start = identity(kind, element_of(elements.type))

        def choose(inside: Builder, pair: list[SSAValue]) -> SSAValue:
            nothing = inside.insert(arith.ConstantOp(start)).result
            mask, element = pair
            return inside.insert(arith.SelectOp(mask, element, nothing)).result

        elements = builder.elementwise([select[0], elements], choose, location)
    merged = tile.MultiReduceOp(kind, elements, axes)
    merged.location = location
    Rewriter.insert_op(merged, InsertPoint.before(op))
    merged.result.name_hint = op.result.name_hint
    between = op.value.owner
    op.result.replace_all_uses_with(merged.result)
    Rewriter.erase_op(op)
    if select is not None:
        assert isinstance(between, Operation)
        Rewriter.erase_op(between)
    Rewriter.erase_op(inner)


def _axes(op: _Reduce) -> tuple[str, ...]:
    return (op.axis.data,) if isinstance(op, tile.ReduceOp) else op.axis_names


def _used_once(value: SSAValue) -> bool:
    return len(list(value.uses)) == 1


def _selected(op: tile.ReduceOp) -> tuple[SSAValue, SSAValue] | None:
    """Returns a mask and a tile, if a reduction is of the tile's elements where the mask holds.

    Elsewhere there is what it starts from.
    """
    owner = op.value.owner
    if not isinstance(owner, tile.MapOp) or not _used_once(op.value):
        return None
    *others, last = owner.body.block.ops
    assert isinstance(last, tile.YieldOp)
    select = others[-1] if others else None
    if not isinstance(select, arith.SelectOp) or last.operands[0] is not select.result:
        return None
    start = select.rhs.owner
    if len(others) > 2 or not isinstance(start, arith.ConstantOp):
        return None
    if start.value != identity(op.kind.data, select.result.type):
        return None
    if not isinstance(select.cond, BlockArgument) or not isinstance(select.lhs, BlockArgument):
        return None
    mask, value = (owner.inputs[arg.index] for arg in (select.cond, select.lhs))
    whole = axes_of(value.type) == axes_of(owner.result.type)
    return (mask, value) if whole else None


@dataclass(frozen=True)
class TileMergeReductionsPass(ModulePass):
    """Reduces along several axes at once, where a reduction's elements are results of another one.

    Threads hold elements of several indices of both axes. Along one axis at a time they exchange a
    partial result for each index of the other one; along both at once they combine what they hold
    first, and exchange one. Elements that a mask leaves out of the outer reduction are left out
    before the inner one. The axes are neighbours in the tile. Kernels whose groups of warps have
    tasks of their own stay as they are.

    ```
    %s = tile.reduce add %a along y
    %t = tile.map arith.select %m, %s, 0.0    ->    %t = tile.map arith.select %m, %a, 0.0
    %u = tile.reduce add %t along x                 %u = tile.multi_reduce add %t along x, y
    ```
    """

    name = "tile-merge-reductions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            if not kernel.specialization:
                merge_reductions(kernel)
