"""Types and layouts in Gluon's terms."""

from __future__ import annotations

import ast

from xdsl.ir import Attribute

from dt_mlir.backend.triton import code
from dt_mlir.dialects.tile.types import axis_names
from dt_mlir.dialects.warp import ArrayType, MmaLayoutAttr, OperandLayoutAttr, RowsLayoutAttr


def shared_layout(type: ArrayType) -> ast.expr:
    """The layout of a buffer in shared memory."""
    numbers = {
        "swizzle_byte_width": type.swizzle.data, "element_bitwidth": type.width,
        "rank": len(type.extents),
    }  # fmt: skip
    return code.call(
        "gl.NVMMASharedLayout", **{name: code.constant(value) for name, value in numbers.items()}
    )


def register_layout(layout: Attribute) -> ast.expr:
    """The layout of a tile that has all axes of its layout."""
    match layout:
        case MmaLayoutAttr():
            return code.call(
                "gl.NVMMADistributedLayout",
                version=code.numbers([3, 0]),
                warps_per_cta=code.numbers([item.data for item in layout.warps]),
                instr_shape=code.numbers([item.data for item in layout.instruction]),
            )
        case OperandLayoutAttr(parent):
            return code.call(
                "gl.DotOperandLayout", code.constant(0), register_layout(parent), code.constant(2)
            )
        case RowsLayoutAttr():
            # A thread holds one element at a time: rows may start anywhere.
            numbers = [1, 1], [1, 32], [layout.warps.data, 1], [1, 0]
            return code.call("gl.BlockedLayout", *map(code.numbers, numbers))
        case _:
            raise AssertionError(f"no text for the layout {layout}")


def layout_axes(layout: Attribute) -> tuple[str, ...]:
    """The axes of the tiles that have a layout whole; none where that is of no account."""
    return layout.axis_names if isinstance(layout, MmaLayoutAttr | RowsLayoutAttr) else ()


def sliced(layout: ast.expr, whole: tuple[str, ...], type: Attribute) -> ast.expr:
    """The layout of a tile that may lack axes of its layout.

    Args:
        layout: the layout as an expression.
        whole: its axes.
        type: the tile's type.
    """
    for number in range(len(whole) - 1, -1, -1):
        if whole[number] not in axis_names(type):
            layout = code.call("gl.SliceLayout", code.constant(number), layout)
    return layout
