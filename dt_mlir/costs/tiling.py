"""The tiles of a kernel, and what a kernel costs with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dt_mlir.costs.work import Order, Work


class Tiling(NamedTuple):
    """The decisions of a schedule about one kernel's tiles."""

    tiles: Mapping[str, int]
    """The elements of a step along each label; 0 for the whole extent; 1 where it has none."""
    blocked: frozenset[str]
    """The labels that the grid partitions into blocks of one tile, but for those of which the
    kernel has blocks already."""
    warps: int
    stages: int
    order: Order = ()
    """The walk over the grid."""
    consumers: int = 0
    """The groups of four warps that multiply in a specialized kernel; 0 where none is."""
    persistent: int = 0
    """The number of instances on each multiprocessor that walk the blocks; 0 where none does."""
    alternating: bool = False
    """True if they walk every other round of blocks backwards."""
    dependent: bool = False
    """True if the kernel is launched while the one before it ends."""

    def renamed(self, labels: Mapping[str, str]) -> Tiling:
        """Returns the same decisions about labels of other names.

        Args:
            labels: the other name of each label.
        """
        return self._replace(
            tiles={labels[label]: size for label, size in self.tiles.items()},
            blocked=frozenset(labels[label] for label in self.blocked),
            order=tuple((labels[label], part, factor) for label, part, factor in self.order),
        )


class Cost(NamedTuple):
    """The predicted time of a kernel, and what it follows from."""

    seconds: float
    bounds: dict[str, float]
    """The seconds for which each resource is busy."""
    programs: int
    """The number of program instances."""
    resident: int
    """The number of them that a multiprocessor holds."""
    registers: float
    """The registers of a thread."""
    shared: int
    """The bytes of shared memory of a program instance."""
    memory: float
    """The bytes that memory moves."""
    spilled: bool
    """True if a thread needs more registers than it can have."""

    @property
    def limit(self) -> str:
        """The name of the resource that is busy longest."""
        return max(self.bounds, key=lambda name: self.bounds[name])


def scheduled(work: Work) -> Tiling:
    """Returns the tiling that a kernel has as it is scheduled."""
    tiles = {walk.label: walk.step for walk in work.loops}
    return Tiling(
        tiles, frozenset(), work.warps, work.stages, work.order, work.consumers, work.persistent,
        work.alternating, work.dependent,
    )  # fmt: skip


def streams(work: Work, tiles: Mapping[str, int]) -> bool:
    """Returns whether all factors are copied anew in each step of a loop, or once for a block.

    One that is held for a block while others are copied in steps has one buffer, which the next
    block waits for.

    Args:
        work: what the kernel does.
        tiles: the elements of a step along each label, as in `Tiling`.
    """
    walked = {
        place for place, walk in enumerate(work.loops)
        if walk.label not in work.grid and 0 < tiles.get(walk.label, 1) < walk.extent
    }
    return not walked or all(
        walked.intersection(item.around, item.depends)
        for item in work.accesses if item.feeds_product and not item.stores
    )
