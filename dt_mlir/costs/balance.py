"""The time for which some multiprocessors are busy beyond others, as blocks differ in work.

The blocks of a domain, as those of causal attention, differ in the steps that its conditions keep.
Multiprocessors that take the next block when they are free end together, unless a long block is
among the last. Those that walk blocks of numbers which are given get what lies there.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import prod

from dt_mlir.costs.tiling import Tiling
from dt_mlir.costs.work import Work

ROUNDS = 64
"""The rounds of blocks beyond which multiprocessors are even enough."""
EVERY = 3
"""The instances of which one is looked at: no factor of what numbers of blocks usually are."""


def rise(work: Work) -> float:
    """Returns the work of the longest block over that of the mean one."""
    return max((walk.most / walk.share for walk in work.loops if walk.share < 1), default=1.0)


def lateness(work: Work, tiling: Tiling, blocks: Mapping[str, int], running: int) -> float:
    """Returns how much later the last multiprocessor ends than if all blocks were alike.

    It is a number of mean blocks. Blocks are taken to be shorter from one to the next, by as much
    each time.

    Args:
        work: what the kernel does.
        tiling: its tiles.
        blocks: the number of blocks along each label of the grid.
        running: the number of instances that run at once.
    """
    longest, total = rise(work), prod(blocks.values())
    if longest == 1 or running >= total:
        return longest - 1
    # Were all alike, some would take one more than others.
    spare = -(-total // running) - total / running
    order = [item for item in tiling.order if item[0] in blocks]
    place = next((i for i, item in enumerate(order) if item[1] == "descending"), None)
    if place is None:
        # The last blocks are the longest ones.
        return max(longest - 1 - spare, 0.0)
    inner = prod(
        min(factor, blocks[label]) if part == "inner" else blocks[label]
        for label, part, factor in order[place + 1:]
    )
    count = blocks[order[place][0]]
    if tiling.persistent:
        late = _walked(count, inner, total, running, longest, tiling.alternating)
        return max(late - spare, 0.0)
    # The last one of the longest starts beside others, of which each has this much left in the
    # mean. The blocks behind it are spread over all multiprocessors meanwhile.
    left = (1 + (longest - 1) ** 2 / 3) / 2
    behind = total if place == 0 else inner * count
    return max(longest - left - behind / running - spare, 0.0)


@cache
def _walked(
    count: int, inner: int, total: int, running: int, longest: float, alternating: bool
) -> float:
    """Returns how many mean blocks an instance that walks them has at most beyond the mean."""
    rounds = total // running
    fall = 2 * (longest - 1) / max(count - 1, 1)
    first = max(rounds - ROUNDS, 0)
    most = 0.0
    for program in range(0, running, EVERY):
        work = 0.0
        for round in range(first, rounds + 1):
            turns = alternating and (rounds - round) % 2
            number = round * running + (running - 1 - program if turns else program)
            if number < total:
                work += longest - fall * (number // inner % count)
        most = max(most, work)
    return most - (total / running - first)
