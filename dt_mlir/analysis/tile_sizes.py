"""Numbers of elements of tiles, and their limit."""

from __future__ import annotations

from collections.abc import Sequence

from dt_mlir.dialects.tile.types import Axis

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
