"""The accesses of a kernel that go through descriptors, and the boxes that they copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from dt_mlir.analysis.boxes import Box, Boxes
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import tile
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.dialects.tile.types import Axis, axes_of
from dt_mlir.traversal import operations

Shape = tuple[SSAValue, tuple[int, ...], tuple[str, ...]]
"""A tensor, the extents of boxes of it, and the labels at whose sizes it ends for them."""


class Described(NamedTuple):
    """The accesses of a kernel that go through descriptors."""

    boxes: dict[Operation, Box]
    """The box of each access."""
    equal: list[tuple[str, str]]
    """The pairs of labels that have one size where boxes end as accesses do."""

    @property
    def shapes(self) -> list[Shape]:
        """The tensors with the extents of their boxes, each once, in the order of accesses."""
        return list(dict.fromkeys(map(shape_of, self.boxes.values())))


def shape_of(box: Box) -> Shape:
    """Returns what a descriptor is made of."""
    return box.op.base, box.type.extents, box.ends


def is_reshaped(box: Box, op: tile.LoadOp) -> bool:
    """Returns whether a tile has other axes than the box that it is copied as.

    Args:
        box: the box.
        op: the load of the tile.
    """
    return tile_extents(box, axes_of(op.result.type)) != box.type.extents


def tile_extents(box: Box, axes: Sequence[Axis]) -> tuple[int, ...]:
    """Returns the extents of a tile along its axes, in the order in which a box has them.

    Args:
        box: a box.
        axes: the axes of the tile.
    """
    extents = {axis.name: axis.extent for axis in axes}
    return tuple(int(extents[name]) for name in box.order)


def described(kernel: GridKernelOp) -> Described:
    """Returns the accesses of a kernel that are marked to go through descriptors.

    Args:
        kernel: the kernel.

    Raises:
        CompileError: if one is no box of its tensor.
    """
    marked = [
        op for op in operations(kernel)
        if isinstance(op, tile.LoadOp | tile.StoreOp) and tile.DESCRIPTOR in op.attributes
    ]  # fmt: skip
    if not marked or not isinstance(kernel, tile.KernelOp):
        return Described({}, [])
    boxes = Boxes(kernel, lambda message, hint, op: CompileError(message, op, hint))
    found: dict[Operation, Box] = {op: boxes.of_access(op) for op in marked}
    return Described(found, list(boxes.equal))
