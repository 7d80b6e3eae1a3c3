"""Bounds of the times of a kernel with some tiles, whatever the other decisions of a tiling are.

A bound takes a fraction of what a prediction does, and most tiles need no more than that: the best
ones found so far are faster than they can be. It is put together from figures of single accesses,
products and operations, each of which depends on the steps of few loops, so that tiles that differ
in one label alone have most of them in common.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import inf, prod
from operator import itemgetter
from typing import NamedTuple

from dt_mlir.costs.device import Device
from dt_mlir.costs.dots import Sides
from dt_mlir.costs.execution import ACCESS, CACHED, INSTANCE, MOST_WARPS, NORM, STEP
from dt_mlir.costs.instance import Outline, Table
from dt_mlir.costs.moving import Moved, Moving
from dt_mlir.costs.steps import Steps
from dt_mlir.costs.tiling import Tiling
from dt_mlir.costs.traffic import (
    BOXES,
    CACHE_SHARE,
    LINE,
    NARROW,
    NEAR,
    RUNS_AHEAD,
    TOGETHER,
    WHOLE,
    read_again,
    room_of,
    spread,
    unrolled_loads,
)
from dt_mlir.costs.work import Loops

_Key = Callable[[Sequence[int]], Hashable]


def _key_of(loops: Sequence[int]) -> _Key:
    """Returns what takes the figures of some loops from those of all."""
    return itemgetter(*loops) if loops else lambda figures: None


class _Asked(NamedTuple):
    """The demands of an instance at least by an access."""

    addressed: float
    """The bytes that it addresses."""
    most: float
    """The most bytes that memory moves for all instances."""
    wasted: float
    """The bytes that memory moves for each of them."""
    loads: float
    """The bytes from the cache."""
    pieces: float
    """The pieces that threads load or store at once."""
    times: float
    """The number of times that they do."""
    waits: float
    """The loads that it waits for one after the other."""
    around: Loops
    """The loops of several trips in which it waits."""


class _Grid:
    """The kernel as its grid partitions some labels.

    Args:
        outline: what instances have in common.
        blocked: the labels, as in `Tiling`.
    """

    def __init__(self, outline: Outline, blocked: frozenset[str]) -> None:
        work = outline.work
        places = {work.grid[label] for label in blocked if label in work.grid}
        self.loops: list[tuple[int, str, bool, dict[int, Steps]]] = [
            (place, walk.label, place in places, {}) for place, walk in enumerate(work.loops)
        ]
        """The place and the label of each loop, whether the grid partitions it, and its steps with
        each tile."""
        self.blocks = [
            (place, walk.label) for place, walk in enumerate(work.loops)
            if walk.block or place in places
        ]  # fmt: skip
        """The loops of which there are blocks, and their labels."""
        labels = {label for _, label in self.blocks}
        self.accesses: list[tuple[Moving, _Key, bool, dict[Hashable, _Asked]]] = [
            (
                moving, _key_of(moving.loops),
                labels.isdisjoint(work.loops[place].label for place in moving.item.depends), {},
            ) for moving in outline.moving if not moving.again
        ]  # fmt: skip
        """The accesses that are the first ones of their elements, each with the loops that it
        follows from, whether all instances have it in common, and what is known of it."""


class LeastTimes:
    """Bounds of the times of a kernel.

    Args:
        outline: the figures that its instances have in common.
        device: the device.
        stages: the most stages of a pipeline.
        specializes: whether groups of warps may have tasks of their own.
    """

    def __init__(self, outline: Outline, device: Device, stages: int, specializes: bool) -> None:
        self.outline, self.device, self.specializes = outline, device, specializes
        work = self.work = outline.work
        self._stages = stages
        self._room = room_of(device)
        self._cache = CACHE_SHARE * device.cache
        """The bytes that the shared cache holds."""
        self._grids: dict[Hashable, _Grid] = {}
        self._storing = {
            place for moving in outline.moving if moving.item.stores and not moving.again
            for place in moving.item.around
        }  # fmt: skip
        """The loops in which threads store."""
        self._products = [
            (sides, _key_of(_all((item.around, item.left, item.right, item.depth))))
            for item, sides in zip(work.products, outline.sides)
        ]
        self._multiplied: dict[Hashable, tuple[float, float, float, bool]] = {}
        """The figures of products, as `_product` returns them."""
        self._operations = [
            *((i.around, i.depends, i.again, i.arithmetic, i.special) for i in work.scalars),
            *((i.around, i.depends, (), 1.0, 0.0) for i in work.reductions),
        ]
        """The loops of operations for elements, as in `Scalars`, and how many there are."""

    def of(self, tiling: Tiling) -> float:
        """Returns a bound of the times with the tiles of a tiling, and its warps or more."""
        device, outline = self.device, self.outline
        grid = self._grids.get(tiling.blocked)
        if grid is None:
            grid = self._grids[tiling.blocked] = _Grid(outline, tiling.blocked)
        tiles = tiling.tiles
        steps = [
            known.get(size := tiles.get(label, 1))
            or known.setdefault(size, outline.steps(place, size, in_grid))
            for place, label, in_grid, known in grid.loops
        ]
        # Equal steps of a loop are one object.
        numbers = [*map(id, steps)]
        blocks: dict[str, int] = {}
        for place, label in grid.blocks:
            count = steps[place].blocks
            if count is not None:
                blocks.setdefault(label, count)
        programs = prod(blocks.values())
        launch = device.launch - (device.overlap if tiling.dependent else 0.0)
        if not programs:
            return launch
        threads = tiling.warps * device.warp
        count, tile = Table([s.trips for s in steps]), Table([s.lanes for s in steps])
        products = multiplied = trips = 0.0
        makes_dots = False
        for place, (sides, key_of) in enumerate(self._products):
            key = place, key_of(numbers), threads, tiling.consumers
            of_product = self._multiplied.get(key)
            if of_product is None:
                of_product = self._product(sides, steps, count, tile, tiling)
                self._multiplied[key] = of_product
            products += of_product[0]
            multiplied += of_product[1]
            trips = max(trips, of_product[2])
            makes_dots = makes_dots or of_product[3]
        if self.specializes:
            ahead = (self._stages - 1.0) * RUNS_AHEAD
        else:
            # Without dots, all warps of groups are taken to wait for asynchronous products.
            asynchronous = not makes_dots and device.asynchronous and tiling.warps >= 4
            ahead = self._stages - (TOGETHER if asynchronous else 1.0)
        memory = loads = copies = 0.0
        waits: dict[Loops, float] = {}
        spreads: dict[str, float] = {}
        loops = outline.work.loops
        for moving, key_of, is_common, known in grid.accesses:
            key = key_of(numbers), ahead
            asked = known.get(key)
            if asked is None:
                asked = known[key] = self._asked(moving.of(steps), is_common, ahead)
            addressed, limit, wasted, bytes, pieces, times, waited, around = asked
            if addressed * programs > limit > self._cache and not self.specializes:
                # Specialized kernels choose among several walks over their blocks.
                labels = {loops[place].label for place in moving.item.depends}
                spreads = spreads or spread(tiling.order, blocks, programs, device)
                cache = self._cache
                limit = read_again(limit, addressed, labels, blocks, spreads, cache)
            memory += min(addressed * programs, limit) * wasted
            loads += bytes
            copies += times * max(pieces, threads)
            if waited > waits.get(around, 0.0):
                waits[around] = waited
        arithmetic, special = ACCESS * copies + multiplied, 0.0
        for around, depends, again, arithmetic_each, special_each in self._operations:
            if not again or any(steps[p].trips > 1 for p in again):
                elements = count[around] * max(tile[depends], threads)
                arithmetic += elements * arithmetic_each
                special += elements * special_each
        each = device.multiprocessors
        busiest = -(-programs // each)
        most = max(min(device.programs, device.threads // threads), 1)
        waves = -(-programs // (each * most))
        # Instances that all run at once walk in step: none finds what another has read before.
        cached = 1.0 if busiest == 1 and not self.work.is_chained else CACHED
        waiting = device.start + cached * sum(waits.values()) * device.latency
        if not self.specializes:
            waiting += STEP * trips
        local = (
            busiest * loads * each / device.cache_rate,
            busiest * each * max(
                arithmetic / device.arithmetic_rate, special / device.special_rate, products
            ),
            max(waves * waiting, (1 if self.specializes else busiest) * INSTANCE),
        )  # fmt: skip
        busy = max(local)
        if not (makes_dots or self.specializes):
            # Nothing is copied ahead: what instances do overlaps with what others do alone.
            together = most if self.work.is_chained else min(most, busiest)
            busy += (sum(local) - busy) / together
        return ((memory / device.memory_rate) ** NORM + busy**NORM) ** (1 / NORM) + launch

    def _asked(self, moved: Moved, is_common: bool, ahead: float) -> _Asked:
        """Returns what an instance asks for by an access.

        Args:
            moved: what it moves.
            is_common: whether all instances address the same elements.
            ahead: the copies of factors of products that are under way at once.
        """
        (
            item, times, bytes, wasted, width, anew, left, around, under_way, _, addressed, lines,
            *_,
        ) = moved  # fmt: skip
        tensor = self.work.tensors[item.tensor]
        most = float(tensor.bytes) if tensor.bytes or not item.stores else inf
        further = max(times - 1.0, 0.0)
        if item.feeds_product:
            left = left * (1 - NEAR) + NEAR
            part = (16 / width) ** NARROW * left
            if self.specializes:
                # What the copy engine moves are boxes.
                part *= min(BOXES / wasted, 1.0)
            waits = 1.0 + further / (ahead if width >= 4 else 0.5 / left)
            return _Asked(addressed, most, wasted, bytes * part, 0.0, 0.0, waits, around)
        near = not item.stores and (
            tensor.bytes <= WHOLE * self._room or is_common and addressed <= self._room / 2
        )
        loads = max(bytes * (NEAR if near else anew * (1 - NEAR) + NEAR), lines * LINE)
        waits = 0.0
        if not item.stores:
            if not (self.work.products or around and not self._storing.isdisjoint(around)):
                unrolled = unrolled_loads(moved, MOST_WARPS * self.device.warp)
                under_way = max(under_way, unrolled)
            waits = 1.0 + further / max(under_way, 1.0)
        return _Asked(addressed, most, wasted, loads, moved.pieces, times, waits, around)

    def _product(
        self, sides: Sides, steps: Sequence[Steps], count: Table, tile: Table, tiling: Tiling
    ) -> tuple[float, float, float, bool]:
        """Returns the seconds of a product and the multiplications that are done one by one, as
        `Execution.products`, the trips of the loop that it is in, and whether it is a dot.

        Args:
            sides: the product.
            steps: an instance's steps of each loop.
            count: their trips.
            tile: their elements.
            tiling: the tiling.
        """
        device, item = self.device, sides.item
        times = count[item.around]
        dot = sides.dot(self.work, steps, tiling.tiles)
        if dot is None:
            lanes = tile[tuple({*item.left, *item.right})]
            return 0.0, times * max(lanes, tiling.warps * device.warp), 0.0, False
        each = dot.seconds(item.kind, device, tiling.warps, tiling.consumers)
        return times * each, 0.0, times, True


def _all(groups: Iterable[Loops]) -> Loops:
    """Returns the loops of several groups, each once."""
    return tuple(dict.fromkeys(place for group in groups for place in group))
