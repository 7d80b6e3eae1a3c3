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
from dt_mlir.costs.instance import Outline
from dt_mlir.costs.moving import Moved, Moving
from dt_mlir.costs.steps import Steps
from dt_mlir.costs.tiling import Tiling
from dt_mlir.costs.traffic import (
    BOXES,
    CACHE_SHARE,
    ELEMENTS_UNDER_WAY,
    ELEMENTS_UNDER_WAY_WHOLE,
    LINE,
    LOADS_UNROLLED,
    LOADS_UNROLLED_WHOLE,
    NARROW,
    NEAR,
    RUNS_AHEAD,
    SHORT,
    TOGETHER,
    WHOLE,
    read_again,
    room_of,
    spread,
)
from dt_mlir.costs.work import Loops, Reduction, Scalars

_Key = Callable[[Sequence[int]], Hashable]


def _key_of(loops: Sequence[int]) -> _Key:
    """Returns what takes the figures of some loops from those of all."""
    return itemgetter(*loops) if loops else lambda figures: None


class _Asked(NamedTuple):
    """What an instance asks for at least by an access."""

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
        self.loops = [
            (place, walk.label, place in places) for place, walk in enumerate(work.loops)
        ]
        """The place and the label of each loop, and whether the grid partitions it."""
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
        elements = _all(
            loops for item in (*work.scalars, *work.reductions)
            for loops in (item.around, item.depends)
        )
        again = _all(item.again for item in work.scalars)
        self._computed = _key_of(_all((elements, again)))
        self._counted: dict[Hashable, tuple[float, float]] = {}
        """The operations for elements, as `_operations` returns them."""

    def of(self, tiling: Tiling) -> float:
        """Returns a bound of the times with the tiles of a tiling, and its warps or more."""
        device, outline = self.device, self.outline
        grid = self._grids.get(tiling.blocked)
        if grid is None:
            grid = self._grids[tiling.blocked] = _Grid(outline, tiling.blocked)
        tiles = tiling.tiles
        steps = [
            outline.steps(place, tiles.get(label, 1), in_grid)
            for place, label, in_grid in grid.loops
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
        products = multiplied = trips = 0.0
        makes_dots = False
        for place, (sides, key_of) in enumerate(self._products):
            key = place, key_of(numbers), threads, tiling.consumers
            of_product = self._multiplied.get(key)
            if of_product is None:
                of_product = self._multiplied[key] = self._product(sides, steps, tiling)
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
        arithmetic, special = self._operations(steps, numbers, threads)
        arithmetic += ACCESS * copies + multiplied
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
        item, tensor = moved.item, self.work.tensors[moved.item.tensor]
        most = float(tensor.bytes) if tensor.bytes or not item.stores else inf
        pieces, times = (0.0, 0.0) if item.feeds_product else (moved.pieces, moved.times)
        if item.feeds_product:
            part = (16 / moved.width) ** NARROW * (moved.left * (1 - NEAR) + NEAR)
            if self.specializes:
                # What the copy engine moves are boxes.
                part *= min(BOXES / moved.wasted, 1.0)
        else:
            near = not item.stores and (
                tensor.bytes <= WHOLE * self._room
                or is_common and moved.addressed <= self._room / 2
            )
            part = (0.0 if near else moved.anew) * (1 - NEAR) + NEAR
        loads = max(moved.bytes * part, moved.lines * LINE)
        waits = 0.0
        if not item.stores:
            waits = 1.0 + max(moved.times - 1.0, 0.0) / self._at_once(moved, ahead)
        return _Asked(
            moved.addressed, most, moved.wasted, loads, pieces, times, waits, moved.around
        )

    def _at_once(self, moved: Moved, ahead: float) -> float:
        """Returns how many loads of an access are under way at once, at most; arguments as
        for `_asked`."""
        if moved.item.feeds_product:
            return ahead if moved.width >= 4 else 0.5 / (moved.left * (1 - NEAR) + NEAR)
        if self.work.products or not self._storing.isdisjoint(moved.around):
            return max(moved.under_way, 1.0)
        each = max(moved.elements / (MOST_WARPS * self.device.warp), 1.0)
        if moved.times <= SHORT:
            unrolled = min(LOADS_UNROLLED_WHOLE, ELEMENTS_UNDER_WAY_WHOLE / each)
        else:
            unrolled = 1.0 if moved.masked else min(LOADS_UNROLLED, ELEMENTS_UNDER_WAY / each)
        return max(moved.under_way, unrolled, 1.0)

    def _operations(
        self, steps: Sequence[Steps], numbers: Sequence[int], threads: int
    ) -> tuple[float, float]:
        """Returns the arithmetic and the special operations of an instance for its elements.

        Args:
            steps: its steps of each loop.
            numbers: a number for each of them, which equal ones have in common.
            threads: those that carry them out at least.
        """
        key = self._computed(numbers), threads
        found = self._counted.get(key)
        if found is None:
            arithmetic = special = 0.0
            for item in self.work.scalars:
                if not item.again or any(steps[p].trips > 1 for p in item.again):
                    lanes = _lanes(item, steps, threads)
                    arithmetic += lanes * item.arithmetic
                    special += lanes * item.special
            for item in self.work.reductions:
                arithmetic += _lanes(item, steps, threads)
            found = self._counted[key] = arithmetic, special
        return found

    def _product(
        self, sides: Sides, steps: Sequence[Steps], tiling: Tiling
    ) -> tuple[float, float, float, bool]:
        """Returns the seconds of a product and the multiplications that are done one by one, as
        `Execution.products`, the trips of the loop that it is in, and whether it is a dot.

        Args:
            sides: the product.
            steps: an instance's steps of each loop.
            tiling: the tiling.
        """
        device, item = self.device, sides.item
        count = prod(steps[p].trips for p in item.around)
        dot = sides.dot(self.work, steps, tiling.tiles)
        if dot is None:
            lanes = prod(steps[p].lanes for p in {*item.left, *item.right})
            return 0.0, count * max(lanes, tiling.warps * device.warp), 0.0, False
        each = dot.seconds(item.kind, device, tiling.warps, tiling.consumers)
        return count * each, 0.0, count, True


def _lanes(item: Scalars | Reduction, steps: Sequence[Steps], threads: int) -> float:
    """Returns the elements on which an instance carries an operation out; arguments as for
    `LeastTimes`."""
    elements = prod(steps[p].lanes for p in item.depends)
    return prod(steps[p].trips for p in item.around) * max(elements, threads)


def _all(groups: Iterable[Loops]) -> Loops:
    """Returns the loops of several groups, each once."""
    return tuple(dict.fromkeys(place for group in groups for place in group))
