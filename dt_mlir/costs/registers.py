"""The registers of a thread, as Triton and the assembler behind it allot them.

The figures were fitted to 1,900 kernels that Triton 3.6 compiled for the H200: the schedules of
`benchmarks/rankings`. They are 25 % off in the mean, 12 % for kernels with dots.
"""

from __future__ import annotations

from dt_mlir.costs.combining import Combined
from dt_mlir.costs.instance import Held

BASE, BASE_OF_DOTS = 16.0, 27.0
"""The registers for addresses, indices and counters, and those of a kernel with dots."""
EDGES = 2.0
"""The registers of an element that is accumulated apart at the edge of a domain."""
RUNNING = 0.5
"""The registers beside its own of an element of a product that running reductions follow."""
MASKED = 0.75
"""Those that it takes further where a condition says which elements there are."""


def registers_of(
    held: Held, threads: int, combined: Combined, makes_dots: bool, specialized: bool
) -> float:
    """Returns the registers of a thread, of which there may be too few.

    Args:
        held: what its instance holds.
        threads: those that share it. A thread takes one element of what there is less of.
        combined: how threads share what is reduced.
        makes_dots: whether tensor cores multiply.
        specialized: whether groups of warps have tasks of their own. These sum the steps at the
            edges of domains by themselves only if what they sum is not finite.
    """
    found = held.products / threads
    for elements, registers, of_rows in held.loaded:
        least = min(elements, combined.rows) if of_rows else 1.0
        found += max(elements / threads, least) * registers
    if not makes_dots:
        # Elements take registers of those that they are computed of.
        return BASE + found + max(held.widest / threads, 1.0)
    found += (RUNNING * held.running + MASKED * held.masked) / threads
    if not specialized:
        found += EDGES * held.edges / threads
    return BASE_OF_DOTS + found
