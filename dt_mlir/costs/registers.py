"""The registers of a thread, as Triton and the assembler behind it allot them.

The figures were fitted to 2,500 kernels that Triton 3.6 compiled for the H200, which are schedules
of `benchmarks/rankings`. They are off by a third in the mean, by 15 % for kernels with dots.
"""

from __future__ import annotations

from dt_mlir.costs.combining import Combined, Threads
from dt_mlir.costs.instance import Instance

ROWS_OF_WARP = 16
"""The rows of a product that a warp has."""
BASE, BASE_OF_DOTS = 16.0, 27.0
"""The registers for addresses, indices and counters, and those of a kernel with dots."""
WIDE = 32
"""The bits of an element from which on products take it rounded."""
EDGES = 2.0
"""The registers of an element that is accumulated apart at the edge of a domain."""
RUNNING = 0.5
"""The registers beside its own of an element of a product that running reductions follow."""
MASKED = 0.75
"""Those that it takes further where a condition says which elements there are."""


def registers_of(
    instance: Instance, threads: Threads, combined: Combined, asynchronous: bool
) -> float:
    """Returns the registers of a thread, which may be more than there are.

    Args:
        instance: the program instance.
        threads: its threads. Each has an element where there are fewer of them, and of rows as
            many as of results.
        combined: how they share what is reduced.
        asynchronous: whether products read shared memory by themselves.
    """
    held, number = instance.held, threads.number
    found = held.products / number
    for elements, registers, of_rows in held.loaded:
        least = min(elements, combined.rows) if of_rows else 1.0
        found += max(elements / number, least) * registers
    if not instance.makes_dots:
        # Elements take registers of those that they are computed of.
        return BASE + found + max(held.widest / number, 1.0)
    found += (RUNNING * held.running + MASKED * held.masked) / number
    if not threads.consumers:
        # Groups of warps with tasks of their own sum the steps at the edges of domains by
        # themselves only if what they sum is not finite.
        found += EDGES * held.edges / number
    found += _fragments(instance, threads, asynchronous)
    return BASE_OF_DOTS + found


def _fragments(instance: Instance, threads: Threads, asynchronous: bool) -> float:
    """Returns the registers of a factor that is computed, as a product takes it from registers.

    A warp has all that its rows are multiplied with, and several warps may have the same rows.
    Asynchronous products take narrower elements where they were computed.
    """
    found = 0.0
    for item, dot in zip(instance.work.products, instance.dots):
        if item.computed and dot is not None and not (asynchronous and item.bits < WIDE):
            rows, _, depth, batch = dot
            elements = batch * max(rows / warps_above(rows, threads.warps), ROWS_OF_WARP) * depth
            found = max(found, elements * item.bits / 32 / threads.warp)
    return found


def warps_above(rows: int, warps: int) -> int:
    """Returns how many of some warps have rows of their own in a product of so many."""
    return min(max(rows // ROWS_OF_WARP, 1), warps)
