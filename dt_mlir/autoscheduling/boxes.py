"""Tiles of products whose rows, or columns, are points of several labels together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import prod

from dt_mlir.costs.work import Work
from dt_mlir.dialects.warp.types import SWIZZLES


class Boxes:
    """The boxes of labels that may be sides of a kernel's products.

    Args:
        work: what the kernel does.
        extents: the extent of each label.
        rows: the label of rows, the longest one; none if the kernel has no product.
        columns: the same of columns.
    """

    def __init__(
        self, work: Work, extents: Mapping[str, int], rows: Sequence[str], columns: Sequence[str]
    ) -> None:
        self.work, self.extents = work, extents
        self.labels: dict[str, list[str]] = {}
        """The labels whose points are rows, or columns, together, slowest first, by the label of
        that side; none for a side that one label numbers, or along which a buffer is held."""
        lefts = {frozenset({*item.left} - {*item.right}) for item in work.products}
        rights = {frozenset({*item.right} - {*item.left}) for item in work.products}
        for labels, sides in ((rows, lefts), (columns, rights)):
            if not (rows and columns) or len(sides) != 1 or work.buffers:
                continue
            (side,) = sides
            box = [label for label, place in work.grid.items() if place in side]
            alone = all(len(work.labels()[label]) == 1 for label in box)
            fixed = any(p in work.single or p in work.whole for p in side)
            if 1 < len(box) == len(side) and alone and not fixed:
                self.labels[labels[0]] = box
        self._split: dict[tuple[str, int, bool], dict[str, int]] = {}

    def side(self, labels: Sequence[str]) -> Sequence[str]:
        """Returns the labels of a side of products: those of its box, if it is one.

        Args:
            labels: the labels of sides that stand for others, the longest one first.
        """
        return self.labels.get(labels[0], labels) if labels else labels

    def tiles(self, single: Mapping[str, int], every: bool) -> list[Mapping[str, int]]:
        """Returns tiles with as many points along each side as those of one label.

        The first ones have fewest points that do not exist.

        Args:
            single: the tiles, in which one label stands for each side.
            every: whether the best tiles of which the copy engine takes boxes, and those of one
                label, are wanted, too, where these are others.
        """
        if not self.labels:
            return [single]
        found = [self._boxed(single, copied=False)]
        if every:
            for tiles in (self._boxed(single, copied=True), single):
                if tiles not in found:
                    found.append(tiles)
        return found

    def are_copied(self, tiles: Mapping[str, int]) -> bool:
        """Returns whether the copy engine takes boxes of these tiles as sides of products."""
        return all(
            self._is_copied(box, [tiles[label] for label in box]) for box in self.labels.values()
        )

    def _boxed(self, single: Mapping[str, int], copied: bool) -> Mapping[str, int]:
        boxed = dict(single)
        for label, box in self.labels.items():
            key = label, single[label], copied
            if key not in self._split:
                found = min(
                    (sizes for sizes in _splits(single[label], len(box))
                     if not copied or self._is_copied(box, sizes)),
                    key=lambda sizes: (self._walked(box, sizes), sizes),
                )  # fmt: skip
                self._split[key] = dict(zip(box, found))
            boxed.update(self._split[key])
        return boxed

    def _is_copied(self, box: Sequence[str], sizes: Sequence[int]) -> bool:
        """Returns whether the copy engine takes a box of these labels as a side of products.

        A side that has the last axis of a tensor is copied in panels, of which one has points along
        that axis alone, no more than a swizzle is wide. A box of one label is always taken.
        """
        if sum(size > 1 for size in sizes) < 2:
            return True
        least, most = SWIZZLES[1], SWIZZLES[-1]
        rows = (sizes[box.index(label)] * bits // 8 for label, bits in self._last if label in box)
        return all(least <= row <= most for row in rows)

    @cached_property
    def _last(self) -> list[tuple[str, int]]:
        """The label along the last axis of each tensor that the copy engine moves, and the width of
        its elements."""
        work = self.work
        return list(dict.fromkeys(
            (work.loops[item.fastest[0]].label, item.bits) for item in work.accesses
            if item.fastest and (item.feeds_product or item.stores)
            and work.tensors[item.tensor].is_described
        ))  # fmt: skip

    def _walked(self, box: Sequence[str], sizes: Sequence[int]) -> int:
        """Returns the points of all boxes of these labels."""
        pairs = zip(box, sizes)
        return prod(-(-self.extents[label] // size) * size for label, size in pairs)


def _splits(total: int, count: int) -> Iterator[tuple[int, ...]]:
    """Yields the ways to write a power of two as so many powers of two."""
    if count == 1:
        yield (total,)
        return
    for first in range(total.bit_length()):
        for others in _splits(total >> first, count - 1):
            yield 1 << first, *others
