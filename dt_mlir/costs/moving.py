"""The data that a program instance moves by an access.

It depends on the steps of few loops, so that instances with the same ones have it in common.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from math import prod
from typing import NamedTuple

from dt_mlir.costs.steps import Steps
from dt_mlir.costs.work import Access, Loops, Work

PAGE = 25.0
"""The bytes that a run of neighbours in memory costs beside its own."""
WARP = 32
"""The threads whose loads are one request."""
SECTOR = 32.0
"""The bytes that memory and caches move at once."""
UNROLLED = 4
"""The largest extent of a reduction whose loop is unrolled."""
UNDER_WAY = 0.52
"""The part of the loads of an unrolled loop that a thread holds at once."""


class Moved(NamedTuple):
    """The data that an instance moves by an access, if no other access has loaded it."""

    item: Access
    times: float
    """The number of times that it is carried out."""
    bytes: float
    """The bytes that are moved, those included that nothing wants."""
    wasted: float
    """The bytes that are moved for each that is wanted."""
    width: int
    """The bytes that one instruction copies at most."""
    anew: float
    """The part of its loads that an instance addresses for the first time."""
    left: float
    """The part of its sectors that it does not find where the trip before has left them."""
    around: Loops
    """The loops of several trips in which it is waited for."""
    under_way: float
    """The number of its loads that a thread holds at once."""
    again: bool
    """True if another access addresses the same elements, in other loops."""
    addressed: float
    """The bytes that it addresses."""
    lines: float
    """The lines of a cache that the warps of an instance ask for, where threads do not take
    neighbours; 0 elsewhere."""
    elements: float
    """The elements that it loads or stores at once, those included that there are not."""
    masked: bool
    """True if some of these are none, but for loops that the grid may partition."""

    @property
    def pieces(self) -> float:
        """The pieces that it loads or stores at once, of which an instruction moves one."""
        return self.elements * self.item.bits / 8 / self.width


class Moving:
    """The data that the instances of a kernel move by one of its accesses.

    Args:
        work: what the kernel does.
        item: the access.
        first: the first access that addresses the same elements, which may be this one.
    """

    def __init__(self, work: Work, item: Access, first: Access) -> None:
        self.work, self.item = work, item
        self.again = first is not item
        apart = {*first.depends} ^ {*item.depends}
        self._apart = tuple(apart)
        """The loops that only one of the two accesses is in."""
        self._labels = {work.loops[p].label for p in apart}
        windows = (each.place for window in item.windows for each in window)
        self._places = tuple(dict.fromkeys((
            *item.depends, *item.fastest, *item.further, *windows,
        )))  # fmt: skip
        """The loops whose steps matter."""
        self.loops = tuple(dict.fromkeys((*self._places, *item.around)))
        """All loops whose steps matter, or trips."""
        self._outer = tuple(p for p in item.around if p not in self._places)
        """Those around it of which only trips matter."""
        grid = {*work.grid.values()}
        self._inner = tuple(p for p in item.depends if p not in grid)
        """The loops that the grid does not partition, of those that it depends on."""
        self._next = {
            p for p in (*item.fastest, *item.further) if p not in grid and not item.stores
        }
        """The loops that may go on at the next byte in memory."""
        self._unrolled = unrolled(work, item.around)
        self._width = work.tensors[item.tensor].width
        self._size = item.bits / 8
        self._known: dict[Hashable, Moved] = {}

    def is_loaded(self, steps: Sequence[Steps], blocks: Mapping[str, int]) -> bool:
        """Returns whether an instance has loaded the elements with the first access.

        Args:
            steps: the instance's steps of each loop.
            blocks: the number of blocks along each label that the grid partitions.
        """
        if not self.again:
            return False
        # Two labels walk the same elements where neither is partitioned.
        whole = len(self._labels) < 2 or self._labels.isdisjoint(blocks)
        return whole and all(steps[p].trips <= 1 for p in self._apart)

    def of(self, steps: Sequence[Steps]) -> Moved:
        """Returns what an instance moves.

        Args:
            steps: its steps of each loop.
        """
        # Equal steps are one object: `Outline.steps`.
        outer = tuple([steps[p].outer for p in self._outer])
        key = tuple([id(steps[p]) for p in self._places]), outer
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._moved(steps)
        return found

    def _moved(self, steps: Sequence[Steps]) -> Moved:
        item = self.item
        count, elements, lanes = 1.0, 1.0, 1
        for p in item.around:
            count *= steps[p].trips
        for p in item.depends:
            elements *= steps[p].points
            lanes *= steps[p].lanes
        run, next = self._run(steps)
        wasted = _wasted(item, run)
        addressed = elements * self._size * count
        left = 1.0
        if next in self._next:
            # Where the next trip of a loop goes on at the next byte, it reads the rest of a sector.
            left = max(min(run / SECTOR, 1.0), 1 / max(steps[next].trips, 1.0))
        return Moved(
            item, count, addressed * wasted if item.fastest or elements != 1 else addressed,
            wasted, self._width, self._anew(steps) if item.windows else 1.0, left,
            tuple([p for p in item.around if steps[p].trips > 1]),
            under_way(self.work, self._unrolled, steps), self.again, addressed,
            self._lines(steps, elements) * count if item.scattered else 0.0, lanes,
            any(steps[p].points < steps[p].lanes for p in self._inner),
        )  # fmt: skip

    def _lines(self, steps: Sequence[Steps], elements: float) -> float:
        """Returns the lines that warps ask for in a load whose elements no axis counts by ones.

        Threads take the axis along which addresses rise by ones, and where none does, as in a read
        of `x // 2`, the first ones (Triton 3.6): each of them addresses a line of its own.
        """
        item = self.item
        if item.stores:
            return 0.0
        rows = prod(steps[p].lanes for p in item.depends if p != item.fastest[0])
        return min(rows * item.scattered, WARP) * elements / WARP

    def _anew(self, steps: Sequence[Steps]) -> float:
        """Returns which part of its loads an instance addresses for the first time.

        Windows at neighbouring places overlap.
        """
        part = 1.0
        for window in self.item.windows:
            points = [steps[each.place].points * steps[each.place].trips for each in window]
            values = [each.values(count) for each, count in zip(window, points)]
            reached = 1.0 + sum((n - 1.0) * each.distance for n, each in zip(values, window))
            part *= min(reached / max(prod(values), 1.0), 1.0)
        return part

    def _run(self, steps: Sequence[Steps]) -> tuple[float, int | None]:
        """Returns the bytes that lie one behind the other, and the loop that goes on there."""
        item = self.item
        run, next = 1.0, None
        loops = (*item.fastest, *item.further)
        for place, repeats in zip(loops, (*item.repeats, *item.further_repeats)):
            run *= max(steps[place].points / repeats, 1.0)
            walk = self.work.loops[place]
            if steps[place].lanes < walk.extent or walk.in_part:
                next = place
                break
        # A tensor without elements has no runs.
        return max(run * self._size, 1.0), next


def unrolled(work: Work, around: Loops) -> Loops:
    """Returns which of some loops are unrolled where they step by single points."""
    return tuple(
        p for p in around
        if 1 < work.loops[p].extent <= UNROLLED and p not in work.grid.values()
    )  # fmt: skip


def under_way(work: Work, around: Loops, steps: Sequence[Steps]) -> float:
    """Returns how many loads in some loops a thread holds at once: those of unrolled ones.

    Of others, the elements of one take the registers of what is computed of them meanwhile.

    Args:
        work: what the kernel does.
        around: those of the loops that may be `unrolled`.
        steps: an instance's steps of each loop.
    """
    if work.products:
        return 0.5
    return max(UNDER_WAY * prod([steps[p].trips for p in around if steps[p].lanes == 1]), 0.5)


def is_masked(work: Work, places: Collection[int], steps: Sequence[Steps]) -> bool:
    """Returns whether a step along some loops has lanes without elements.

    Loops that the grid may partition do not count.

    Args:
        work: what the kernel does.
        places: the loops.
        steps: an instance's steps of each loop.
    """
    grid = work.grid.values()
    return any(steps[p].points < steps[p].lanes for p in places if p not in grid)


def _wasted(item: Access, bytes: float) -> float:
    """Returns how many bytes are moved for each that is wanted.

    Args:
        item: the access.
        bytes: those that lie one behind the other.
    """
    # Memory is read by sectors, and pages of it that are left early cost time.
    most = SECTOR * 8 / item.bits
    return min(max(SECTOR / bytes, 1.0), most) * (1 + PAGE / max(bytes, SECTOR))
