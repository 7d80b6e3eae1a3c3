"""The steps of a loop in a program instance."""

from __future__ import annotations

from typing import NamedTuple

from dt_mlir.analysis.tile_sizes import padded
from dt_mlir.costs.work import Walk


class Steps(NamedTuple):
    """The steps of a loop in an instance."""

    lanes: int
    """The elements of a step, those included that there are not."""
    trips: float
    """The number of steps."""
    points: float
    """The elements of a step."""
    blocks: int | None
    """The blocks into which the grid partitions it; None if it does not."""
    outer: tuple[float, bool]
    """The trips, and whether each is of one element: all that matters where nothing depends on the
    index."""

    @staticmethod
    def of(walk: Walk, tile: int, in_grid: bool) -> Steps:
        """Returns the steps of a loop.

        Args:
            walk: the loop.
            tile: the elements of a step, 0 for all that there are.
            in_grid: whether the grid partitions it, into tiles or blocks.
        """
        extent = walk.extent
        step = tile or extent
        block = walk.block or (step if in_grid else 0)
        blocks: int | None = None
        if block:
            blocks = -(-extent // block)
            extent = min(block, extent)
            step = min(step, block)
        step = max(step, 1)
        count = -(-extent // step)
        trips = max(count * walk.share, 1.0 if extent else 0.0)
        each = walk.extent / blocks if blocks else extent
        lanes = padded(step)
        return Steps(lanes, trips, each / max(count, 1), blocks, (trips, lanes == 1))
