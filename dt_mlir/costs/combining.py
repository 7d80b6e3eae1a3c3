"""The time in which threads combine the parts of reductions that they have."""

from __future__ import annotations

from math import log2, prod
from typing import NamedTuple

from dt_mlir.costs.instance import Instance
from dt_mlir.costs.work import Reduction, Work
from dt_mlir.passes.tile_hoist_reductions import MOST_REGISTERS

SHUFFLE = 7.0
"""The operations in the time of which a thread reads another one's value and combines it with its
own."""
ROUND = 8e-8
"""The seconds until the threads of a warp have combined what they have."""
BARRIER = 6e-8
"""The seconds until warps have what others have written to shared memory."""
SPREAD = 1.5e-8
"""The seconds for each of these warps until the last one is there."""
SCANNED = 4.0
"""The values that warps exchange for each part of a scan: all that come before it."""
CARRIED = 2.0
"""The operations for each element of a scan beside its own."""


class Threads(NamedTuple):
    """The threads of an instance."""

    number: int
    warps: int
    warp: int
    """The threads of a warp."""
    consumers: int
    """The groups of warps that multiply in a specialized kernel; 0 elsewhere."""


class Combined(NamedTuple):
    """The work of an instance's reductions."""

    operations: float
    """The operations on the units for additions."""
    seconds: float
    """The seconds in which threads wait for each other."""
    exchanged: float
    """The values that warps exchange."""
    rows: float
    """The most elements that a thread has of one result."""


class Combining:
    """The layout of a kernel's reductions over threads.

    Args:
        work: what the kernel does.
    """

    def __init__(self, work: Work) -> None:
        self.work = work
        self.is_chained = work.is_chained
        self._laid = {item: _laid(work, item) for item in work.reductions}

    def of(self, instance: Instance, threads: Threads) -> Combined:
        """Returns what the reductions of an instance take."""
        operations = seconds = exchanged = 0.0
        rows = 1.0
        for item in self.work.reductions:
            count, elements = instance.count[item.around], instance.tile[item.depends]
            operations += count * max(elements, threads.number)
            if instance.lanes[item.over] == 1:
                continue
            left = elements // instance.lanes[item.over]
            if threads.consumers:
                # Four threads share a row, and the other group goes on meanwhile.
                operations += 5 * count * max(left, threads.number)
                seconds += count * 4e-8 / threads.consumers
            elif instance.makes_dots:
                # Warps that multiply have rows of their own.
                operations += 5 * count * max(left, threads.number)
                seconds += count * (4e-8 + 3e-8 * log2(threads.warps))
            else:
                if _is_hoisted(instance, item, elements, threads):
                    count /= max(instance.trips[item.over], 1.0)
                own, along, warps = self._along(instance, item, elements, threads)
                rows = max(rows, left * along * warps / threads.number)
                # Threads exchange what they have, and warps by way of shared memory.
                if item.scans:
                    # What comes before a thread's own elements is added to each of them.
                    operations += CARRIED * count * max(elements, threads.number)
                    kept = elements / own
                else:
                    kept = left * along * warps
                each = SHUFFLE * log2(along)
                operations += each * count * max(kept, threads.number)
                seconds += count * ROUND
                if warps > 1:
                    seconds += count * (BARRIER + SPREAD * warps)
                    exchanged += count * left * (warps - 1) * (SCANNED if item.scans else 1.0)
        return Combined(operations, seconds, exchanged, rows)

    def _along(
        self, instance: Instance, item: Reduction, elements: float, threads: Threads
    ) -> tuple[float, float, float]:
        """Returns the elements of a sum that a thread has, and the threads and warps that share it.

        Threads take neighbours in memory, as many as one copy moves; warps lie along the same axis
        as long as there are elements, and both along the other axes then.
        """
        lanes, (near, most) = instance.lanes, self._laid[item]
        fast = prod(lanes[place] for place in item.depends if place in near)
        width = min(most, max(elements / threads.number, 1.0))
        along = min(max(fast / width, 1.0), float(threads.warp))
        warps = min(max(fast / (width * along), 1.0), float(threads.warps))
        if item.over in near:
            return width, along, warps
        over = lanes[item.over]
        further = min(threads.warp / along, float(over))
        beside = min(max(over / further, 1.0), threads.warps / warps)
        return max(over / (further * beside), 1.0), further, beside


def _laid(work: Work, item: Reduction) -> tuple[set[int], float]:
    """Returns the loops that count neighbours in memory of what is reduced, and the most neighbours
    that a thread takes: those that one instruction loads.

    Tensors decide that are indexed by most of the loops of what is reduced.
    """
    found = [access for access in work.accesses if item.over in access.depends]
    most = max((len({*a.depends}.intersection(item.depends)) for a in found), default=0)
    found = [a for a in found if len({*a.depends}.intersection(item.depends)) == most]
    near = {place for access in found for place in access.fastest[:1]}
    widths = (work.tensors[access.tensor].width * 8 / access.bits for access in found)
    return near, max(widths, default=1.0)


def _is_hoisted(instance: Instance, item: Reduction, elements: float, threads: Threads) -> bool:
    """Returns whether threads combine what they have once, after a loop over parts."""
    several = instance.trips[item.over] > 1 and not (item.running or item.scans)
    return several and elements <= MOST_REGISTERS * threads.number
