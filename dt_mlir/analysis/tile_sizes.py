"""Numbers of elements of tiles, and their limit."""

from __future__ import annotations

from collections.abc import Sequence

from dt_mlir.diagnostics import CompileError, directive_location
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import Axis, axes_of
from dt_mlir.traversal import operations_of, values_of

TILE_LIMIT = 2**20
"""The most elements that Triton allows a tile."""


def padded(extent: int) -> int:
    """The least power of two that is not below an extent."""
    return 1 << (extent - 1).bit_length()


def static_elements(axes: Sequence[Axis]) -> int:
    """The number of elements of a tile, its unknown extents counted as one."""
    count = 1
    for axis in axes:
        if isinstance(axis.extent, int):
            count *= padded(axis.extent)
    return count


def check_sizes(kernel: tile.KernelOp) -> None:
    """Checks that each tile is within Triton's limit, as far as extents are known.

    Raises:
        CompileError: at the loop that makes it too large, naming the tile's extents.
    """
    places = {op.axis.name: op for op in operations_of(kernel, tile.RangeOp)}
    for value in values_of(kernel):
        axes = axes_of(value.type)
        count = 1
        for axis in axes:
            if isinstance(axis.extent, int):
                count *= axis.extent
            else:
                count *= kernel.least_extents.get(axis.extent, 1)
        if count > TILE_LIMIT:
            shown = " x ".join(f"{axis.name}: {axis.extent}" for axis in axes)
            largest = max(axes, key=lambda a: a.extent if isinstance(a.extent, int) else 0)
            at = places.get(largest.name)
            raise CompileError(
                f"a tile of {shown} has {count} elements in the kernel of "
                f"'{kernel.root.data}', more than Triton's {TILE_LIMIT}",
                directive_location((kernel if at is None else at).location),
                f"tensorize '{largest.name}' by less",
            )
