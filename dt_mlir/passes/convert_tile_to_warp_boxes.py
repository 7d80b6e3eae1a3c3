"""The boxes of tensors that the copy engine copies in place of loads and stores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    IndexType,
    IntAttr,
    IntegerType,
    MemRefType,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.analysis.label_sizes import fixed_sizes, label_classes
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import tile, warp
from dt_mlir.dialects.tile.types import axes_of, axis_names
from dt_mlir.dialects.warp.types import SWIZZLES

ALIGNMENT = 16
"""The bytes that a box has at least along its last axis."""

Refuse = Callable[[str, str, Operation], CompileError]
"""Makes a refusal of a message, a hint and an operation."""


@dataclass(frozen=True)
class Box:
    """A box of a tensor."""

    op: tile.LoadOp | tile.StoreOp
    """The load or store of it."""
    type: warp.DescriptorType
    """Its extents along the axes of the tensor."""
    axes: tuple[str | None, ...]
    """The axis of the tile that runs along each axis of the tensor; None where a number is."""
    origins: tuple[SSAValue, ...]
    """The first index along each."""
    is_transposed: bool
    """True if the tile has the axes of the tensor in the other order."""

    def type_of(self, extents: Sequence[int]) -> warp.DescriptorType:
        """Returns the type of a box of the same tensor with other extents."""
        return _type(extents, self.type.element_type, self.type.width)


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
        self.same, self.fixed = label_classes(module), fixed_sizes(module)

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

    def of(self, factor: SSAValue, user: Operation) -> Box:
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
        return self._box(op, axis_names(op.result.type), turned)

    def of_store(self, op: tile.StoreOp) -> Box:
        """Returns the box that a store writes.

        Raises:
            CompileError: if it is not a box of a tensor.
        """
        box = self._box(op, axis_names(op.value.type), False)
        if box.is_transposed:
            raise self.refuse(
                "the result is stored with its axes in another order",
                "let the function have its labels in the order of its rows and columns", op,
            )
        return box

    def _box(
        self, op: tile.LoadOp | tile.StoreOp, names: tuple[str, ...], turned: bool
    ) -> Box:
        type = op.base.type
        assert isinstance(type, MemRefType)
        ranges = [index.owner for index in op.indices]
        found = [r for r in ranges if isinstance(r, tile.RangeOp) and r.stride == 1]
        axes = tuple(r.axis.name for r in found)
        others = [index for index in op.indices if index.owner not in found]
        numbered = all(map(is_computed, others))
        if not numbered or len(set(axes)) < len(axes) or len(axes) != 2:
            raise self.refuse(
                "an access is not a box of a matrix",
                "index each axis of the tensor by a label of its own", op,
            )
        extents = [r.axis.extent if isinstance(r, tile.RangeOp) else 1 for r in ranges]
        if any(not isinstance(extent, int) for extent in extents):
            raise self.refuse(
                "an access holds a label whole", "tensorize each label with a number", op
            )
        numbers = [extent for extent in extents if isinstance(extent, int)]
        if isinstance(op, tile.LoadOp) and (op.inside or not self._pads_with_zero(op)):
            raise self.refuse(
                "a load has another value than 0 outside of its tensor",
                "leave the boundary condition out", op,
            )
        for mask in op.masks:
            self._check_mask(op, mask)
        box = Box(
            op, _type(numbers, type.element_type, _width(type)),
            tuple(r.axis.name if isinstance(r, tile.RangeOp) else None for r in ranges),
            tuple(
                r.origin if isinstance(r, tile.RangeOp) else index
                for r, index in zip(ranges, op.indices)
            ),
            turned != (axes != names),
        )  # fmt: skip
        if box.type.extents[-1] * box.type.width // 8 < ALIGNMENT or max(numbers) > 256:
            raise self.refuse(
                f"the copy engine copies boxes of {ALIGNMENT} bytes to 256 elements along an axis, "
                f"and not of {' x '.join(map(str, numbers))}", "tensorize otherwise", op,
            )
        return box

    def _pads_with_zero(self, op: tile.LoadOp) -> bool:
        return not op.masks or (op.pad is not None and not op.pad.value.data)

    def _size(self, label: str) -> str | int:
        first = self.same.get(label, label)
        return self.fixed.get(label, first)

    def _check_mask(self, op: tile.LoadOp | tile.StoreOp, mask: SSAValue) -> None:
        """Checks that a mask ends where the tensor does."""
        owner = mask.owner
        if isinstance(owner, tile.MaskOp) and owner.index in op.indices:
            number = list(op.indices).index(owner.index)
            label = self.kernel.axes_of(_argument(op.base))[number]
            bound = owner.bound.owner
            if isinstance(bound, tile.SizeOp) and self._size(bound.label.data) == self._size(label):
                return
            known = constant_index(owner.bound)
            if known is not None and known == self._size(label):
                return
        raise self.refuse(
            "an access ends before its tensor does", "let loops run to the ends of tensors", op
        )


def is_computed(index: SSAValue) -> bool:
    """Returns whether an index is a number that is computed from indices of blocks and of loops."""
    op = index.owner
    if axes_of(index.type):
        return False
    if not isinstance(op, Operation):
        return isinstance(index.type, IndexType)
    return is_side_effect_free(op) and all(map(is_computed, op.operands))


def _argument(base: SSAValue) -> BlockArgument:
    assert isinstance(base, BlockArgument)
    return base


def _width(type: MemRefType) -> int:
    element = type.element_type
    assert isinstance(element, AnyFloat | IntegerType)
    return element.bitwidth
