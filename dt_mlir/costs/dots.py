"""The dots of a program instance: the products that it multiplies tile by tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from dt_mlir.analysis.dot_plans import least_depth
from dt_mlir.costs.device import Device
from dt_mlir.costs.steps import Steps
from dt_mlir.costs.work import Product, Work

WIDE = 128
"""The columns of products of groups of warps from which on they reach the device's rate."""
OF_NARROW = 0.95
"""The part of the rate of those of fewer columns, which read shared memory more often: two products
of 2048 rows take 1.02 to 1.06 times as long in tiles of 64 columns of each as of 128."""
OF_THREADS = 0.6
"""The part of the rate of products of 32 bits that threads reach which read shared memory."""


class Dot(NamedTuple):
    """The sizes of a dot."""

    rows: int
    columns: int
    depth: int
    batch: int

    def seconds(self, kind: str, device: Device, warps: int, consumers: int) -> float:
        """Returns the seconds of a multiprocessor's tensor cores, as a part of the device's.

        Args:
            kind: the type of the factors, as in `Product`.
            device: the device.
            warps: the warps that multiply.
            consumers: the groups of them in a specialized kernel; 0 elsewhere.
        """
        rows, columns, depth, batch = self
        rate = device.product_rates[kind]
        if kind == "f32":
            # Threads multiply elements of shared memory, each of which they use as often as
            # their part of the tile is wide.
            wide = (rows * columns / (warps * device.warp)) ** 0.5
            rate *= OF_THREADS * min(wide / 8, 1.0)
        elif device.asynchronous and (max(rows, columns) < 64 or warps < 4):
            # Products of few rows take the instruction that reads registers.
            rate *= 0.6
        elif consumers and columns < WIDE:
            rate *= OF_NARROW
        # Warps beyond the least products of a tile repeat those of others.
        again = max(warps / (max(rows, 16) / 16 * max(columns, 8) / 8), 1.0)
        work = again * 2.0 * batch * max(rows, 16) * max(columns, 8) * max(depth, 16)
        if device.asynchronous and max(rows, columns) >= 64 and rows < 64:
            work *= 64 / max(rows, 16) if rows < columns else 1.0
        return work / rate


@dataclass(frozen=True)
class Sides:
    """The loops of a product, by what they are of a dot."""

    item: Product
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    batch: tuple[int, ...]
    depth: tuple[int, ...]
    joins_rows: bool
    """True if several tiled loops may be the rows of one dot."""
    joins_columns: bool

    @staticmethod
    def of(work: Work, item: Product) -> Sides:
        """Returns the sides of a product of a kernel."""
        left, right, depth = {*item.left}, {*item.right}, {*item.depth}
        return Sides(
            item, tuple(left - right), tuple(right - left), tuple((left & right) - depth),
            tuple(depth), _joins(work, left - right), _joins(work, right - left),
        )  # fmt: skip

    def dot(self, work: Work, steps: Sequence[Steps], tiles: Mapping[str, int]) -> Dot | None:
        """Returns the dot that an instance carries the product out by; None if there is none.

        Args:
            work: what the kernel does.
            steps: the instance's steps of each loop.
            tiles: the elements of a step along each label, as in `Tiling`.
        """
        rows = [lanes for p in self.rows if (lanes := steps[p].lanes) > 1]
        columns = [lanes for p in self.columns if (lanes := steps[p].lanes) > 1]
        batch = [lanes for p in self.batch if (lanes := steps[p].lanes) > 1]
        depth = [lanes for p in self.depth if (lanes := steps[p].lanes) > 1]
        if len(depth) > 1 and any(_is_unknown(work, p, tiles) for p in self.depth):
            return None
        deep = prod(depth)
        if (
            not rows or len(rows) > 1 and not self.joins_rows
            or not columns or len(columns) > 1 and not self.joins_columns
            or len(batch) > 1 or deep < least_depth(self.item.bits)
        ):
            return None
        return Dot(prod(rows), prod(columns), deep, prod(batch))


def _joins(work: Work, places: set[int]) -> bool:
    """Returns whether tiled loops are the rows of one dot: those of a grid, with no buffer."""
    sides = [{*side} for item in work.products for side in (item.left, item.right)]
    whole = all(places <= side or not places & side for side in sides)
    return whole and not work.buffers and places <= {*work.grid.values()}


def _is_unknown(work: Work, place: int, tiles: Mapping[str, int]) -> bool:
    """Returns whether a loop is over a part that tiles take whole: no axis joins it with others."""
    walk = work.loops[place]
    return walk.in_part and not tiles.get(walk.label, 1)
