"""Kernels of the `tile` level at known sizes of some labels."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute, Operation
from xdsl.rewriter import Rewriter

from dt_mlir.analysis.tile_sizes import padded
from dt_mlir.builders.rewriting import retype
from dt_mlir.copying import copy_of
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import Axis, axes_of, element_of, tile_type
from dt_mlir.traversal import operations_of


def with_sizes(kernel: tile.KernelOp, sizes: Mapping[str, int]) -> tile.KernelOp:
    """Returns a copy of a kernel for known sizes of labels, which are constants in it.

    Tiles of whole labels have numbers of elements, which their masks divide.

    Args:
        kernel: the kernel; it is not changed.
        sizes: the sizes.
    """
    copy = copy_of(kernel)
    extents = {
        label: max(padded(size), kernel.least_extents.get(label, 1))
        for label, size in sizes.items()
    }

    def known(type: Attribute) -> Attribute:
        axes = axes_of(type)
        if not any(axis.extent in extents for axis in axes):
            return type
        found = [Axis(axis.name, extents.get(str(axis.extent), axis.extent)) for axis in axes]
        return tile_type(element_of(type), found)

    whole = {
        op for op in operations_of(copy, tile.MaskOp)
        if op.whole is not None and axes_of(op.index.type)[0].extent in extents
    }  # fmt: skip
    retype(copy, known)
    for op in whole:
        _set_divisor(op)
    for op in operations_of(copy, tile.SizeOp):
        if op.label.data in sizes:
            _replace(op, sizes[op.label.data])
    return copy


def _set_divisor(op: tile.MaskOp) -> None:
    """Lets a mask of a whole label say when it is true throughout as one of a tile does."""
    (axis,) = axes_of(op.index.type)
    assert isinstance(axis.extent, int)
    op.whole, op.divisor = None, IntegerAttr(axis.extent, i64)


def _replace(op: Operation, size: int) -> None:
    number = arith.ConstantOp(IntegerAttr.from_index_int_value(size))
    number.location = op.location
    number.result.name_hint = op.results[0].name_hint
    Rewriter.replace_op(op, number)
