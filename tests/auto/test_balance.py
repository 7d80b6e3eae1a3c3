"""The evenness of multiprocessors that are busy with blocks that differ in work."""

from __future__ import annotations

import heapq

import pytest

from dt_mlir.costs.balance import lateness
from dt_mlir.costs.tiling import Tiling
from dt_mlir.costs.work import Walk, Work
from dt_mlir.interpreters.tile_level import alternated

RUNNING = 132
WORK = Work("o", loops=[Walk("j", 4096, 128, 0, share=0.5, most=1.0)])
SORTED = (("i", "descending", 0), ("h", "whole", 0))
BY_HEAD = SORTED[::-1]
BY_HEADS = (("h", "outer", 8), SORTED[0], ("h", "inner", 8))


def tiling(order: tuple[tuple[str, str, int], ...]) -> Tiling:
    return Tiling({"h": 1, "i": 128, "j": 128}, frozenset(("h", "i")), 8, 2, order, 2)


def walking(order: tuple[tuple[str, str, int], ...]) -> Tiling:
    return tiling(order)._replace(persistent=1)


def alternating(order: tuple[tuple[str, str, int], ...]) -> Tiling:
    return walking(order)._replace(alternating=True)


def simulated(tiles: Tiling, heads: int, count: int) -> float:
    """Returns the end of the last multiprocessor, in mean blocks, beyond that of equal blocks."""
    place = [item[0] for item in tiles.order].index("i")
    inner = heads if place == 0 else 8 if tiles.order[0][1] == "outer" else 1
    total = heads * count
    lengths = [2 - 2 * (b // inner % count) / (count - 1) for b in range(total)]
    ends = [0.0] * RUNNING
    if tiles.persistent:
        for number in range(total):
            block = alternated(number, total, RUNNING) if tiles.alternating else number
            ends[number % RUNNING] += lengths[block]
    else:
        for length in lengths:
            heapq.heapreplace(ends, ends[0] + length)
    return max(ends) - -(-total // RUNNING)


@pytest.mark.parametrize("heads", [64, 16])
@pytest.mark.parametrize("make", [tiling, walking, alternating])
@pytest.mark.parametrize("order", [SORTED, BY_HEAD, BY_HEADS])
def test_it_is_that_of_blocks_one_by_one(make, order, heads) -> None:  # type: ignore
    tiles = make(order)
    found = lateness(WORK, tiles, {"h": heads, "i": 32}, RUNNING)
    assert found == pytest.approx(max(simulated(tiles, heads, 32), 0.0), abs=0.3)


def test_alternating_rounds_even_out_blocks_that_are_in_order() -> None:
    blocks = {"h": 64, "i": 32}
    assert lateness(WORK, alternating(SORTED), blocks, RUNNING) < 0.1
    assert lateness(WORK, walking(SORTED), blocks, RUNNING) > 0.5


def test_blocks_that_are_alike_are_even() -> None:
    even = Work("o", loops=[Walk("j", 4096, 128, 0)])
    assert lateness(even, walking(SORTED), {"h": 64, "i": 32}, RUNNING) == 0


@pytest.mark.parametrize("blocks", range(1, 40))
def test_every_block_is_that_of_one_number(blocks: int) -> None:
    for programs in range(1, 12):
        found = [alternated(number, blocks, programs) for number in range(blocks)]
        assert sorted(found) == list(range(blocks))
        last = blocks // programs * programs
        assert found[last:] == list(range(last, blocks))
