"""`tile-place-masks`: makes axes physical, with masks where elements beyond their end matter."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from dt_mlir.analysis.divisibility import constant_index, multiple_of
from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.analysis.tile_sizes import check_sizes, padded
from dt_mlir.builders.index import IndexBuilder
from dt_mlir.builders.rewriting import replace_op, retype
from dt_mlir.builders.values import ValueBuilder
from dt_mlir.diagnostics import CompileError, give_locations
from dt_mlir.dialects import tile
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.formats import names
from dt_mlir.dialects.tile.types import Axis, axes_of, axis_names, element_of, tile_type
from dt_mlir.traversal import operations, operations_of


class _Walked(NamedTuple):
    """Indices along an axis, as they are before it is physical."""

    op: tile.RangeOp | tile.JoinedRangeOp
    place: int
    """The side of a box; 0 of what is no box."""
    name: str
    """The axis, or the label of a side of a box."""
    label: str
    extent: int | str
    """The number of different indices, or the label that they are all of."""
    origin: SSAValue
    """The first index."""
    bound: SSAValue | None
    """The index at which the axis ends, if there is one."""
    stride: int
    """The distance between two indices that follow each other."""

    @property
    def indices(self) -> SSAValue:
        """The tile of indices, of the type that it has by now."""
        return self.op.results[self.place]


class _Masks:
    """The masks of a kernel's axes, made where they are first needed."""

    def __init__(self, kernel: tile.KernelOp) -> None:
        self.kernel = kernel
        self.ranges = operations_of(kernel, tile.RangeOp)
        self.joined = operations_of(kernel, tile.JoinedRangeOp)
        self.walked: dict[str, list[_Walked]] = {}
        for op in operations(kernel):
            if isinstance(op, tile.RangeOp | tile.JoinedRangeOp):
                self.walked.setdefault(op.axis.name, []).extend(_walked(op))
        self.known: dict[_Walked, SSAValue | None] = {}

    def make_physical(self) -> None:
        """Pad the extents of all axes to powers of two, and drop their bounds."""

        def physical(type: Attribute) -> Attribute:
            axes = [
                Axis(a.name, boxes.get(a.name) or padded(a.extent))
                if isinstance(a.extent, int)
                else a
                for a in axes_of(type)
            ]
            return tile_type(element_of(type), axes)

        # Each side of a box is padded by itself, so that indices are quotients by powers of two.
        boxes = {op.axis.name: prod(map(padded, op.extents)) for op in self.joined}
        retype(self.kernel, physical)
        for op in self.ranges:
            op.operands = [op.origin]
        for op in self.joined:
            op.set_physical([padded(extent) for extent in op.extents])

    def of_axis(self, name: str, user: Operation) -> list[SSAValue]:
        """The masks of an axis for a user; none if all of its elements always exist."""
        for walked in self.walked.get(name, ()):
            if walked.op.parent is not None and _before(walked.op, user):
                sides = [other for other in self.walked[name] if other.op is walked.op]
                return [mask for side in sides if (mask := self._of_range(side)) is not None]
        raise CompileError(
            f"no range of the axis '{name}' is in scope where '{user.name}' needs its mask", user,
            "each axis of a tile comes from a 'tile.range' that dominates the tile",
        )  # fmt: skip

    def needed(self, op: tile.LoadOp | tile.StoreOp) -> list[SSAValue]:
        """The masks that an access needs along its axes, but for those that others imply."""
        found = [mask for name in op.access_axes() for mask in self.of_axis(name, op)]
        return [mask for mask in found if not any(_implies(m, mask) for m in op.masks)]

    def _of_range(self, walked: _Walked) -> SSAValue | None:
        if walked not in self.known:
            self.known[walked] = self._make(walked)
        return self.known[walked]

    def _make(self, walked: _Walked) -> SSAValue | None:
        op, bound, extent = walked.op, walked.bound, walked.extent
        assert op.parent is not None
        builder = Builder(InsertPoint.after(op))
        index = IndexBuilder(builder)
        divisor: int | None = None
        pads = isinstance(extent, int) and padded(extent) > extent
        if isinstance(extent, int) and not pads and _within(walked, extent):
            return None
        span = extent * walked.stride if isinstance(extent, int) else None
        if pads:
            # The elements that pad the tile belong to the next one.
            assert span is not None
            end = index.add(walked.origin, index.constant(span))
            bound = end if bound is None else index.minimum(end, bound)
            bound.name_hint = f"{walked.label}_end"
        elif bound is None:
            return None
        elif isinstance(extent, int) and isinstance(bound.owner, tile.SizeOp):
            divisor = span if span and multiple_of(walked.origin) % span == 0 else None
        whole = isinstance(extent, str) and isinstance(bound.owner, tile.SizeOp)
        mask = tile.MaskOp(walked.indices, bound, divisor, whole)
        builder.insert(mask)
        mask.result.name_hint = f"{walked.name}_mask"
        for new in (mask, *(v.owner for v in mask.operands)):
            if isinstance(new, Operation) and new.location != op.location:
                new.location = op.location
        return mask.result


def _walked(op: tile.RangeOp | tile.JoinedRangeOp) -> list[_Walked]:
    """Returns what the elements of an axis walk: a label, or those of the sides of a box."""
    if isinstance(op, tile.RangeOp):
        extent, name = op.axis.extent, op.axis.name
        return [_Walked(op, 0, name, op.label.data, extent, op.origin, op.bound, op.stride)]
    bounds = op.bounds or [None] * len(op.origins)
    sides = zip(names(op.labels), op.extents, op.origins, bounds)
    return [
        _Walked(op, place, label, label, extent, origin, bound, 1)
        for place, (label, extent, origin, bound) in enumerate(sides)
    ]


def _within(walked: _Walked, extent: int) -> bool:
    """Returns whether a tile ends at a known bound or before, wherever it starts below that."""
    end = None if walked.bound is None else constant_index(walked.bound)
    start, span = constant_index(walked.origin), extent * walked.stride
    if end is None:
        return False
    if start is not None:
        return start + span - walked.stride < end
    return end % span == 0 and multiple_of(walked.origin) % span == 0


def _implies(mask: SSAValue, other: SSAValue) -> bool:
    """Returns whether a mask is false wherever another one is: it masks a later index."""
    a, b = mask.owner, other.owner
    if not isinstance(a, tile.MaskOp) or not isinstance(b, tile.MaskOp) or a.bound is not b.bound:
        return False
    later = a.index.owner
    if not isinstance(later, tile.MapOp) or list(later.inputs) != [b.index]:
        return False
    total = later.yielded.owner
    return isinstance(total, arith.AddiOp) and (
        total.lhs is later.body.block.args[0] and (constant_index(total.rhs) or -1) > 0
    )


def _before(op: Operation, user: Operation) -> bool:
    """Returns whether an operation comes before a user, in its block or in one around."""
    inner: Operation | None = user
    while inner is not None and inner.parent is not op.parent:
        inner = inner.parent_op()
    return inner is not None and inner is not op and op.is_before_in_block(inner)


def place_masks(kernel: tile.KernelOp) -> None:
    """Makes the axes of a kernel physical and masks what depends on where they end."""
    masks = _Masks(kernel)
    masks.make_physical()
    for op in operations(kernel):
        match op:
            case tile.LoadOp():
                needed = masks.needed(op)
                if needed:
                    # Where masked elements are what is out of bounds, one number stands for both.
                    usual = _zero(element_of(op.result.type)) if op.fill is None else op.fill
                    pad = usual if op.pad is None else op.pad
                    axes, all_masks = axes_of(op.result.type), [*op.masks, *needed]
                    new = tile.LoadOp(
                        op.base, op.indices, axes, all_masks, pad, op.inside, op.fill
                    )
                    replace_op(op, new)
            case tile.StoreOp():
                needed = masks.needed(op)
                if needed:
                    all_masks = [*op.masks, *needed]
                    replace_op(op, tile.StoreOp(op.value, op.base, op.indices, all_masks))
            case tile.ReduceOp():
                _mask_operand(masks, op, 0, op.axis.data, op.kind.data)
            case tile.ScanOp() | tile.ArgReduceOp():
                _mask_operand(masks, op, 0, op.axis.data, op.kind.data)
                if isinstance(op, tile.ScanOp) and op.factor is not None:
                    _mask_operand(masks, op, 1, op.axis.data, ReductionKind.MUL)
            case tile.DotOp():
                depth = axis_names(op.lhs.type)[-1]
                for operand in (0, 1):
                    _mask_operand(masks, op, operand, depth, ReductionKind.ADD)
            case _:
                pass
    check_sizes(kernel)


def _zero(type: Attribute) -> FloatAttr | IntegerAttr:
    return identity(ReductionKind.ADD, type)


def _mask_operand(
    masks: _Masks, op: Operation, operand: int, axis: str, kind: ReductionKind
) -> None:
    """Gives the elements of an operand beyond the end of an axis the reduction's identity."""
    for mask in masks.of_axis(axis, op):
        _mask_by(mask, op, operand, kind)


def _mask_by(mask: SSAValue, op: Operation, operand: int, kind: ReductionKind) -> None:
    value = op.operands[operand]
    builder = Builder(InsertPoint.before(op))
    values = ValueBuilder(builder, axes_of(value.type))
    attr = identity(kind, element_of(value.type))
    chosen = values.elementwise(
        [mask, value],
        lambda b, v: b.insert(arith.SelectOp(v[0], v[1], b.insert(arith.ConstantOp(attr)).result))
        .result,
        op.location,
    )
    chosen.name_hint = value.name_hint
    op.operands[operand] = chosen


@dataclass(frozen=True)
class TilePlaceMasksPass(ModulePass):
    """Makes axes physical: powers of two, without bounds, and masks where they matter.

    Loads and stores do not touch elements beyond the end of an axis, and a reduction along it
    sees its own identity there (a dot zeros in both operands).

    ```
    %x = tile.range x: 24 from %o to %X
    %a = tile.load %A[%x]
      ->
    %x = tile.range x: 32 from %o
    %x_mask = tile.mask %x below %x_end
    %a = tile.load %A[%x] masked [%x_mask] pad 0.0
    ```
    """

    name = "tile-place-masks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            place_masks(kernel)
            give_locations(kernel)
