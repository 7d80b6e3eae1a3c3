"""The accesses of a kernel that go through descriptors, and the boxes that they copy."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from dt_mlir.analysis.boxes import Box, Boxes
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import tile
from dt_mlir.dialects.kernel import GridKernelOp
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
