"""The boxes of tensors that the copy engine copies in place of loads and stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from math import prod
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    FloatAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.analysis.index_sums import Sum, TileSums, comparisons
from dt_mlir.analysis.label_sizes import fixed_sizes, label_classes
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import host, tile, warp
from dt_mlir.dialects.tile.types import axes_of, axis_names
from dt_mlir.dialects.warp.types import SWIZZLES
from dt_mlir.element_types import is_bool
from dt_mlir.traversal import operations

ALIGNMENT = 16
"""The bytes that a box has at least along its last axis."""
DIMENSIONS = 5
"""The most axes of a tensor that the copy engine takes."""

Refuse = Callable[[str, str, Operation], CompileError]
"""Makes a refusal of a message, a hint and an operation."""


class BoxAxis(NamedTuple):
    """The part of a box along one axis of its tensor."""

    name: str | None
    """The axis of the tile that runs along it; None where a number is."""
    side: int
    """The side, if the axis of the tile has the points of a box."""
    extent: int
    """The number of indices."""
    first: Sum
    """The first index, as a sum of values of the kernel."""
    end: str = ""
    """The label at whose size the tensor ends for the box, where its storage goes on; else empty.
    """


@dataclass(frozen=True)
class Box:
    """A box of a tensor."""

    op: tile.LoadOp | tile.StoreOp
    """The load or store of it."""
    type: warp.DescriptorType
    """Its extents along its axes."""
    axes: tuple[BoxAxis, ...]
    """Its part along each axis of the tensor, in the order in which it is copied."""
    order: tuple[str, ...]
    """The axes of the tile in the order in which they run along the tensor's."""
    is_transposed: bool
    """True if the tile has the axes of the tensor in the other order."""
    permutation: tuple[int, ...] = ()
    """The axis of the tensor that each axis of the box is; empty where they are in order."""

    def type_of(self, extents: Sequence[int]) -> warp.DescriptorType:
        """Returns the type of a box of the same tensor with other extents."""
        return _type(extents, self.type.element_type, self.type.width)

    def matrix(self, extents: Sequence[int]) -> list[int]:
        """Returns the extents of the matrix that a box of these extents is."""
        sides: dict[str, int] = dict.fromkeys(self.order, 1)
        for axis, extent in zip(self.axes, extents, strict=True):
            if axis.name is not None and axis.extent > 1:
                sides[axis.name] *= extent
        return list(sides.values())

    @property
    def ends(self) -> tuple[str, ...]:
        """The labels at whose sizes the tensor ends for the box, along each of its own axes; none
        if nowhere."""
        order = self.permutation or range(len(self.axes))
        found = tuple(axis.end for _, axis in sorted(zip(order, self.axes)))
        return found if any(found) else ()

    def divided(self, name: str) -> int | None:
        """Returns the axis of the box along which parts of an axis of the tile follow each other:
        the slowest of those that it runs along; None if it does not run along any.
        """
        places = (n for n, axis in enumerate(self.axes) if axis.name == name and axis.extent > 1)
        return next(places, None)


def _type(extents: Sequence[int], element: Attribute, width: int) -> warp.DescriptorType:
    row = extents[-1] * width // 8
    swizzle = max(s for s in SWIZZLES if s == 0 or row % s == 0)
    shape = ArrayAttr(map(IntAttr, extents))
    return warp.DescriptorType.new([shape, element, IntAttr(swizzle)])


class Boxes:
    """Finds the boxes of a kernel.

    Args:
        kernel: the kernel.
        refuse: makes refusals.
    """

    def __init__(self, kernel: tile.KernelOp, refuse: Refuse) -> None:
        self.kernel = kernel
        self.refuse = refuse
        module = kernel.parent_op()
        assert module is not None
        self.same = label_classes(module)
        self.fixed = {**fixed_sizes(module), **kernel.specialized_sizes}
        self.sums = TileSums()
        function = host.function_of(module)
        self.tensors: Sequence[SSAValue] = next(
            (op.arguments for op in (function.launches() if function is not None else ())
             if op.kernel_name == kernel.sym_name.data), ()
        )  # fmt: skip
        """The tensors and scalars that the kernel is launched on."""
        self.equal: dict[tuple[str, str], None] = {}
        """The pairs of labels that must have one size for boxes to end where accesses do."""

    def is_factor(self, value: SSAValue) -> bool:
        """Returns whether a tile is a factor of a product, and nothing else."""
        return all(
            isinstance(use.operation, tile.DotOp) and use.index < 2 for use in value.uses
        )

    def _are_factors(self, value: SSAValue) -> bool:
        """Returns whether a tile and its transposes are factors of products, and nothing else."""
        return all(
            self.is_factor(use.operation.result)
            if isinstance(use.operation, tile.TransposeOp)
            else isinstance(use.operation, tile.DotOp) and use.index < 2
            for use in value.uses
        )

    def of(self, factor: SSAValue, user: tile.DotOp) -> Box:
        """Returns the box that a factor of a product is loaded from.

        Args:
            factor: the factor.
            user: the product.

        Raises:
            CompileError: if it is not a box of a tensor.
        """
        op, turned = factor.owner, False
        if isinstance(op, tile.TransposeOp):
            op, turned = op.value.owner, True
        if not isinstance(op, tile.LoadOp) or not self._are_factors(op.result):
            raise self.refuse(
                "a factor of the product is not loaded from a tensor as it is",
                "compute it in a function of its own, whose result is stored", user,
            )
        return self._box(op, op.result.type, turned, axis_names(user.result.type)[0])

    def of_store(self, op: tile.StoreOp) -> Box:
        """Returns the box that a store writes.

        Raises:
            CompileError: if it is not a box of a tensor.
        """
        box = self._box(op, op.value.type, False)
        if box.is_transposed:
            raise self.refuse(
                "the result is stored with its axes in another order",
                "let the function have its labels in the order of its rows and columns", op,
            )
        return box

    def of_access(self, op: tile.LoadOp | tile.StoreOp) -> Box:
        """Returns the box of any access, whose tile may have any number of axes in any order.

        Raises:
            CompileError: if it is not a box of a tensor.
        """
        rows = self._rows_of(op) if isinstance(op, tile.LoadOp) else None
        return self._found(op, _tiled(op), rows)

    def is_reordered(self, op: tile.LoadOp | tile.StoreOp) -> bool:
        """Returns whether an access is a box only where its axes are copied in another order."""
        try:
            self.of_access(op)
        except CompileError:
            try:
                self._found(op, _tiled(op), None, True)
            except CompileError:
                return False
            return True
        return False

    def _rows_of(self, op: tile.LoadOp) -> str | None:
        """Returns the axis of a factor's rows, if they meet no others; None if there is none."""
        if not self._are_factors(op.result):
            return None
        dots = [
            dot for use in op.result.uses
            for dot in (
                [other.operation for other in use.operation.result.uses]
                if isinstance(use.operation, tile.TransposeOp) else [use.operation]
            )
        ]  # fmt: skip
        depths = {axis_names(dot.lhs.type)[-1] for dot in dots if isinstance(dot, tile.DotOp)}
        rows = [name for name in axis_names(op.result.type) if name not in depths]
        reduced = {
            inner.axis.data for inner in operations(self.kernel)
            if isinstance(inner, tile.ReduceOp | tile.ScanOp | tile.ArgReduceOp)
        }  # fmt: skip
        return rows[0] if len(rows) == 1 and rows[0] not in reduced else None

    def _box(
        self, op: tile.LoadOp | tile.StoreOp, tiled: Attribute, turned: bool,
        rows: str | None = None,
    ) -> Box:  # fmt: skip
        """Returns the box of an access of a matrix.

        Args:
            op: the access.
            tiled: the type of its tile.
            turned: whether the transpose of the tile is used.
            rows: the axis of the rows of a product that loads it.
        """
        if isinstance(op, tile.LoadOp) and op.masks and not _is_zero(op.pad):
            raise self._other_than_zero(op)
        box = self._found(op, tiled, rows, True)
        if len(box.order) != 2:
            raise self._refused(op)
        turned = turned != (box.order != axis_names(tiled))
        return replace(self._in_order(box), is_transposed=turned)

    def _in_order(self, box: Box) -> Box:
        """Returns the box of a matrix with its axes in the order in which they are copied.

        The points of its rows follow each other. If the points of several axes are its columns, it
        is copied in panels, which have some columns of all rows: those along the tensor's last
        axis. The other axes number panels.

        Raises:
            CompileError: if the rows of a panel are wider, or narrower, than a swizzle.
        """
        *places, last = [
            n for n, axis in enumerate(box.axes) if axis.name is not None and axis.extent > 1
        ]
        columns = box.axes[last].name
        wanted = sorted(places, key=lambda n: (box.axes[n].name != columns, box.axes[n].side))
        row = box.type.extents[-1] * box.type.width // 8
        if any(box.axes[n].name == columns for n in places) and row != box.type.swizzle.data:
            least, most = (bytes * 8 // box.type.width for bytes in (SWIZZLES[1], SWIZZLES[-1]))
            raise self.refuse(
                "the columns of a matrix are points of several labels, of which the last one has "
                f"{box.type.extents[-1]}, where {least} to {most} are copied together",
                f"tensorize the label of the tensor's last axis by {most}", box.op,
            )  # fmt: skip
        order = list(range(len(box.axes)))
        for place, axis in zip(places, wanted):
            order[place] = axis
        return replace(
            box, type=box.type_of([box.type.extents[n] for n in order]),
            axes=tuple(box.axes[n] for n in order),
            permutation=() if wanted == places else tuple(order),
        )  # fmt: skip

    def _found(
        self, op: tile.LoadOp | tile.StoreOp, tiled: Attribute, rows: str | None,
        reorders: bool = False,
    ) -> Box:  # fmt: skip
        """Returns the box of an access, its axes in the order of the tensor's.

        Args:
            op: as for `_box`.
            tiled: as for `_box`.
            rows: as for `_box`.
            reorders: whether its axes may be copied in another order, but for the last one.
        """
        type = op.base.type
        assert isinstance(type, MemRefType)
        if is_bool(type.element_type):
            others = ", ".join(
                name for arg, name in zip(self.kernel.args, self.kernel.argument_names)
                if isinstance(arg.type, MemRefType) and not is_bool(arg.type.element_type)
            )
            raise self.refuse(
                "the copy engine copies numbers, and no truth values",
                f"say which tensors it copies: {self.kernel.root.data}.descriptor({others})", op,
            )
        axes = [self._axis(op, index) for index in op.indices]
        along = [axis for axis in axes if axis.name is not None and axis.extent > 1]
        if reorders:
            columns = [axis.name for axis in along[-1:]]
            along[:-1] = sorted(along[:-1], key=lambda axis: axis.side)
            order = tuple(dict.fromkeys(
                [str(axis.name) for axis in along if axis.name not in columns]
                + list(map(str, columns))
            ))  # fmt: skip
        else:
            order = tuple(str(name) for name, _ in groupby(axis.name for axis in along))
        if len({*order}) < len(order) or {*order} != {*axis_names(tiled)}:
            raise self._refused(op)
        for axis in axes_of(tiled):
            own = [other for other in along if other.name == axis.name]
            if prod(o.extent for o in own) != axis.extent or not _ascend([o.side for o in own]):
                raise self._refused(op)
        numbers = [axis.extent for axis in axes]
        ends: set[int] = set()
        if isinstance(op, tile.LoadOp):
            for condition in op.inside:
                bounded = self._bounded_by(op, condition)
                if bounded is None or not _is_zero(op.fill):
                    raise self._other_than_zero(op)
                ends |= bounded
        padded = self._padded(op)
        for mask in op.masks:
            index = mask.owner.index if isinstance(mask.owner, tile.MaskOp) else None
            # A row that does not exist meets no other rows, and is stored nowhere. In storage that
            # goes on, though, perhaps nothing has written it.
            written = not any(op.indices[axis] is index for axis in padded)
            if rows is None or axis_names(mask.type) != (rows,) or not written:
                ends.add(self._ended_by(op, mask))
        labels = self.kernel.axes_of(_argument(op.base))
        axes = [
            axis._replace(end=labels[n]) if n in ends & padded else axis
            for n, axis in enumerate(axes)
        ]
        box = Box(
            op, _type(numbers, type.element_type, _width(type)), tuple(axes), order, False
        )
        if (
            box.type.extents[-1] * box.type.width // 8 < ALIGNMENT
            or max(numbers) > 256
            or len(numbers) > DIMENSIONS
        ):
            raise self.refuse(
                f"the copy engine copies boxes of {ALIGNMENT} bytes to 256 elements along each of "
                f"at most {DIMENSIONS} axes, and not of {' x '.join(map(str, numbers))}",
                "tensorize otherwise", op,
            )  # fmt: skip
        return box

    def _padded(self, op: tile.LoadOp | tile.StoreOp) -> set[int]:
        """Returns the axes of an access' tensor along which its storage goes on."""
        index = _argument(op.base).index
        aligned = host.alignment_of(self.tensors[index]) if self.tensors else ()
        return {n for n, multiple in enumerate(aligned) if multiple > 1}

    def _other_than_zero(self, op: tile.LoadOp) -> CompileError:
        return self.refuse(
            "a load has another value than 0 outside of its tensor",
            "leave the boundary condition out, or write constant_exterior(…, 0)", op,
        )

    def _refused(self, op: Operation) -> CompileError:
        return self.refuse(
            "an access is not a box of a matrix, or of several rows and columns of a tensor",
            "index each axis of the tensor by a label of its own, plus numbers", op,
        )

    def _axis(self, op: tile.LoadOp | tile.StoreOp, index: SSAValue) -> BoxAxis:
        """Returns where a box lies along an axis of its tensor."""
        total = self.sums.shallow(index)
        walked = [(value, factor) for value, factor in total.terms if axes_of(value.type)]
        others = [value for value, _ in total.terms if not axes_of(value.type)]
        if len(walked) > 1 or not all(map(is_computed, others)):
            raise self._refused(op)
        if not walked:
            return BoxAxis(None, 0, 1, total)
        value, factor = walked[0]
        owner = value.owner
        # The copy engine takes neighbours; where they are not, threads do.
        if factor != 1 or not isinstance(owner, tile.RangeOp | tile.JoinedRangeOp):
            raise self._refused(op)
        terms = tuple((owner.origin_of(v) if v is value else v, n) for v, n in total.terms)
        first = Sum(terms, total.number)
        if isinstance(owner, tile.JoinedRangeOp):
            side = owner.side_of(value)
            return BoxAxis(owner.axis.name, side, owner.extents[side], first)
        extent = owner.axis.extent
        if owner.stride != 1:
            raise self._refused(op)
        if not isinstance(extent, int):
            raise self.refuse(
                "an access holds a label whole", "tensorize each label with a number", op
            )
        return BoxAxis(owner.axis.name, 0, extent, first)

    def _size(self, label: str) -> str | int:
        first = self.same.get(label, label)
        return self.fixed.get(label, self.fixed.get(first, first))

    def _bounded_by(self, op: tile.LoadOp, condition: SSAValue) -> set[int] | None:
        """Returns the axes of a tensor at whose ends a condition ends; None if it is another one.
        """
        indices = [self.sums.deep(index) for index in op.indices]
        if isinstance(condition.owner, tile.MaskOp):
            mask = condition.owner
            index, bound = self.sums.deep(mask.index), self.sums.deep(mask.bound)
            end = self._below(op, indices, self.sums.added(bound, index, -1))
            return None if end is None else {end}
        found: set[int] = set()
        for comparison in comparisons(condition, self.sums):
            if comparison is None:
                return None
            kind, left, right = comparison
            if kind == "sge" and self.sums.added(left, right, -1) in indices:
                continue
            end = None
            if kind == "slt":
                end = self._below(op, indices, self.sums.added(right, left, -1))
            if end is None:
                return None
            found.add(end)
        return found

    def _below(self, op: tile.LoadOp, indices: Sequence[Sum], distance: Sum) -> int | None:
        """Returns the axis of a tensor to whose end a distance is that of an index; None if there
        is none."""
        labels = self.kernel.axes_of(_argument(op.base))
        for number, (label, index) in enumerate(zip(labels, indices)):
            end = self.sums.added(distance, index, 1)
            size: str | int | None = None if end.terms else end.number
            if len(end.terms) == 1 and end.number == 0:
                value, factor = end.terms[0]
                if factor == 1 and isinstance(value.owner, tile.SizeOp):
                    size = self._size(value.owner.label.data)
            if size is not None and size == self._size(label):
                return number
        return None

    def _ended_by(self, op: tile.LoadOp | tile.StoreOp, mask: SSAValue) -> int:
        """Returns the axis of a tensor at whose end a mask ends, or notes when it does.

        Raises:
            CompileError: if it ends elsewhere.
        """
        owner = mask.owner
        if isinstance(owner, tile.MaskOp) and owner.index in op.indices:
            number = list(op.indices).index(owner.index)
            label = self.kernel.axes_of(_argument(op.base))[number]
            bound, walked = owner.bound.owner, _label_of(owner.index)
            size: str | int | None = constant_index(owner.bound)
            if isinstance(bound, tile.SizeOp):
                walked = bound.label.data
                size = self._size(walked)
            if size is not None and size == self._size(label):
                return number
            # Tensors of which one ends before another does are left to the other kernel.
            numbers = isinstance(size, int) and isinstance(self._size(label), int)
            if size is not None and size == self._size(walked) and label and not numbers:
                self.equal[walked, label] = None
                return number
            steps = self._steps(owner)
            if steps is not None:
                extent = axes_of(owner.index.type)[0].extent
                raise self.refuse(
                    f"a tile of {steps} along '{walked}' is held in {extent} elements, and ends "
                    "before they do",
                    f"let blocks and tiles of '{walked}' be powers of two, as {extent}", op,
                )
        raise self.refuse(
            "an access ends before its tensor does, or along a label that is shifted",
            "let loops run to the ends of tensors, and shift labels of rows only", op,
        )  # fmt: skip

    def _steps(self, mask: tile.MaskOp) -> int | None:
        """Returns the number of indices of a range that a mask keeps where it ends no tensor."""
        walked, bound = mask.index.owner, mask.bound.owner
        if not isinstance(walked, tile.RangeOp) or not isinstance(bound, arith.MinSIOp):
            return None
        origin = self.sums.deep(walked.origin)
        for end in bound.operands:
            distance = self.sums.added(self.sums.deep(end), origin, -1)
            if not distance.terms and distance.number > 0:
                return distance.number
        return None


def is_computed(index: SSAValue) -> bool:
    """Returns whether an index is a number that is computed from indices of blocks and of loops."""
    op = index.owner
    if axes_of(index.type):
        return False
    if not isinstance(op, Operation):
        return isinstance(index.type, IndexType)
    return is_side_effect_free(op) and all(map(is_computed, op.operands))


def _tiled(op: tile.LoadOp | tile.StoreOp) -> Attribute:
    """Returns the type of the tile that an access loads or stores."""
    return op.result.type if isinstance(op, tile.LoadOp) else op.value.type


def _ascend(numbers: Sequence[int]) -> bool:
    return all(a < b for a, b in pairwise(numbers))


def _is_zero(attr: Attribute | None) -> bool:
    return isinstance(attr, FloatAttr | IntegerAttr) and not attr.value.data


def _label_of(index: SSAValue) -> str:
    """Returns the label that the indices of a mask walk."""
    op = index.owner
    if isinstance(op, tile.JoinedRangeOp):
        return op.labels.data[op.side_of(index)].data
    return op.label.data if isinstance(op, tile.RangeOp) else ""


def _argument(base: SSAValue) -> BlockArgument:
    assert isinstance(base, BlockArgument)
    return base


def _width(type: MemRefType) -> int:
    element = type.element_type
    assert isinstance(element, AnyFloat | IntegerType)
    return element.bitwidth
