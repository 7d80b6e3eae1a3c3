"""`tile-fill-padding`: zeros in the padding of aligned storage, and loads that may read them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from dt_mlir.analysis.divisibility import constant_index, multiple_of
from dt_mlir.analysis.masked_values import beyond
from dt_mlir.builders.index import IndexBuilder
from dt_mlir.builders.rewriting import replace_op
from dt_mlir.builders.values import ValueBuilder
from dt_mlir.dialects import host, tile
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.tile.types import axes_of, axis_names, element_of


class _Storage:
    """The padded storage of a tensor that a kernel leaves to others."""

    def __init__(self, function: host.FuncOp, alloc: host.AllocOp) -> None:
        self.function = function
        self.alignment = alloc.alignment
        self.labels = alloc.axis_names
        arguments: list[SSAValue] = []
        for use in alloc.result.uses:
            kernel = use.operation.kernel_op() if isinstance(use.operation, host.LaunchOp) else None
            if isinstance(kernel, tile.KernelOp):
                arguments.append(kernel.args[use.index])
        users = [use.operation for argument in arguments for use in argument.uses]
        self.stores = [op for op in users if isinstance(op, tile.StoreOp)]
        self.loads = [op for op in users if isinstance(op, tile.LoadOp)]

    def ends(self, bound: SSAValue, axis: int) -> bool:
        """Returns whether an index is the size of an axis, without the padding."""
        fixed = self.fixed(axis)
        if fixed is not None and constant_index(bound) == fixed:
            return True
        if not isinstance(bound.owner, tile.SizeOp):
            return False
        same = self.function.first_of_same()
        label, other = self.labels[axis], bound.owner.label.data
        return same.get(other, other) == same.get(label, label)

    def fixed(self, axis: int) -> int | None:
        """The size of an axis that the program is compiled for; None if any will do."""
        return self.function.fixed_sizes().get(self.labels[axis])


def _tile_along(index: SSAValue) -> int | None:
    """The number of indices of a tile that starts at multiples of it; None if it does not."""
    op = index.owner
    if not isinstance(op, tile.RangeOp) or not isinstance(op.axis.extent, int) or op.stride > 1:
        return None
    extent = op.axis.extent
    return extent if multiple_of(op.origin) % extent == 0 else None


def _mask_of(op: tile.LoadOp | tile.StoreOp, index: SSAValue) -> tile.MaskOp | None:
    """The mask of an access along the axis of an index."""
    found = [mask.owner for mask in op.masks]
    return next((m for m in found if isinstance(m, tile.MaskOp) and m.index is index), None)


def _is_zero(number: float | int | None) -> bool:
    """Returns whether a number is known and positive zero, which the padding holds."""
    return number == 0 and math.copysign(1.0, number) > 0


def fill(storage: _Storage) -> set[int]:
    """Makes the kernel that stores a tensor store zeros in its padding.

    Returns:
        The axes whose padding it fills: those along which its tiles are multiples of the
        alignment, so that the last of them ends where the padding does or beyond.
    """
    if len(storage.stores) != 1:
        return set()
    (store,) = storage.stores
    filled: set[int] = set()
    masks: list[SSAValue] = []
    kept = list(store.masks)
    for axis, multiple in enumerate(storage.alignment):
        index = store.indices[axis]
        extent = _tile_along(index)
        if multiple == 1 or extent is None or extent % multiple:
            continue
        mask = _mask_of(store, index)
        if mask is None:
            size = storage.fixed(axis)
            if size is not None and size % extent == 0:
                # There is no padding.
                filled.add(axis)
            continue
        if not storage.ends(mask.bound, axis) or list(store.indices).count(index) != 1:
            continue
        filled.add(axis)
        masks.append(mask.result)
        kept.remove(mask.result)
        if extent > multiple:
            builder = Builder(InsertPoint.after(mask))
            at = IndexBuilder(builder)
            end = at.mul(at.ceil_div(mask.bound, at.constant(multiple)), at.constant(multiple))
            end.name_hint = f"{mask.index.name_hint}_extent"
            within = builder.insert(tile.MaskOp(index, end, extent)).result
            within.name_hint = f"{mask.index.name_hint}_stored"
            kept.append(within)
    if not masks:
        return filled
    value = store.value
    clear = [mask for mask in masks if not _is_zero(beyond(value, mask, {}))]
    if clear:
        value = _cleared(store, clear)
    replace_op(store, tile.StoreOp(value, store.base, list(store.indices), kept))
    return filled


def _cleared(store: tile.StoreOp, masks: list[SSAValue]) -> SSAValue:
    """Inserts the stored value, with zeros where one of some masks is false."""
    zero = identity(ReductionKind.ADD, element_of(store.value.type))

    def select(builder: Builder, found: list[SSAValue]) -> SSAValue:
        *conditions, value = found
        condition = conditions[0]
        for other in conditions[1:]:
            condition = builder.insert(arith.AndIOp(condition, other)).result
        constant = builder.insert(arith.ConstantOp(zero)).result
        return builder.insert(arith.SelectOp(condition, value, constant)).result

    values = ValueBuilder(Builder(InsertPoint.before(store)), axes_of(store.value.type))
    cleared = values.elementwise([*masks, store.value], select, store.location)
    cleared.name_hint = store.value.name_hint
    return cleared


def unmask(storage: _Storage, filled: set[int]) -> None:
    """Drops masks of loads beyond which there is only padding, and the same zeros in it."""
    for load in storage.loads:
        # Without its masks a load with bounds has its fill value in lanes, not zero.
        if load.pad is None or load.inside or not _is_zero(load.pad.value.data):
            continue
        kept: list[SSAValue] = []
        for mask in load.masks:
            axis = axis_names(mask.type)[0]
            along = [i for i, index in enumerate(load.indices) if axis in axis_names(index.type)]
            if not all(
                number in filled and _stays_inside(storage, mask, load.indices[number], number)
                for number in along
            ):
                kept.append(mask)
        if len(kept) < len(load.masks):
            pad = load.pad if kept else None
            axes = axes_of(load.result.type)
            replace_op(load, tile.LoadOp(load.base, list(load.indices), axes, kept, pad))


def _stays_inside(storage: _Storage, mask: SSAValue, index: SSAValue, axis: int) -> bool:
    """Returns whether a tile of indices, masked at the size of an axis, ends in its padding."""
    extent = _tile_along(index)
    op = mask.owner
    return (
        isinstance(op, tile.MaskOp)
        and op.index is index
        and extent is not None
        and storage.alignment[axis] % extent == 0
        and storage.ends(op.bound, axis)
    )


@dataclass(frozen=True)
class TileFillPaddingPass(ModulePass):
    """Fills the padding of aligned storage with zeros, and lets loads read it.

    A kernel whose tiles are multiples of the alignment stores up to the end of the padding, zeros
    beyond the end of the tensor. Loads whose masked elements are zero, and whose tiles divide the
    alignment, then need no mask. What stands in for masked elements is for `tile-elide-masks` to
    decide before.

    ```
    %a = tile.load %f[%x] masked [%x_mask] pad 0.0   ->   %a = tile.load %f[%x]
    ```
    """

    name = "tile-fill-padding"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in [inner for inner in op.ops if isinstance(inner, host.FuncOp)]:
            padded = [_Storage(function, a) for a in function.allocations() if a.is_padded]
            # What is stored beyond an end is seen by the masks of what it is computed from.
            filled = [fill(storage) for storage in padded]
            for storage, axes in zip(padded, filled):
                unmask(storage, axes)
