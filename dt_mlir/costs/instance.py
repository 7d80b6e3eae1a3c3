"""A program instance of a kernel at some tiles: its trips, and what it moves, computes and holds.

These figures are the same for any number of warps and of stages, and for any walk over the blocks,
so that they are taken once for all tilings of the same tiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import NamedTuple

from dt_mlir.analysis.shared_memory import PART, PARTS
from dt_mlir.costs.dots import Sides
from dt_mlir.costs.moving import Moved, Moving, is_masked, under_way, unrolled
from dt_mlir.costs.steps import Steps
from dt_mlir.costs.work import Access, Loops, Work


class Table(dict[Loops, float]):
    """The product of a number of each loop, for any loops."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self.numbers = numbers

    def __missing__(self, loops: Loops) -> float:
        found = 1
        for place in loops:
            found *= self.numbers[place]
        self[loops] = found
        return found


class Loaded(NamedTuple):
    """The elements that an instance has loaded at once by an access."""

    elements: float
    registers: float
    """The registers of each element."""
    of_rows: bool
    """True if no reduction reduces it, so that threads have it as they have results."""

    def together(self) -> float:
        """Returns the registers of all elements."""
        return self.elements * self.registers


class Held(NamedTuple):
    """The elements that an instance holds."""

    products: float
    """The elements that products accumulate."""
    edges: float
    """The elements that products accumulate at the edges of domains."""
    running: float
    """The elements of products where running reductions go over them."""
    masked: float
    """Those of them whose tiles have a condition, as there are fewer at the end."""
    loaded: tuple[Loaded, ...]
    widest: float
    """The most that one operation computes, or that one buffer holds in units of 32 bits."""


class Outline:
    """The figures that the instances of a kernel have in common, whatever their tiles are.

    Args:
        work: what the kernel does.
    """

    def __init__(self, work: Work) -> None:
        self.work = work
        self.sides = [Sides.of(work, item) for item in work.products]
        known: dict[object, int] = {}
        self.numbers = [
            known.setdefault((item.tensor, item.key), len(known)) for item in work.accesses
        ]
        """A number for each access, which those of the same elements share."""
        firsts: dict[int, Access] = {}
        self.moving = [
            Moving(work, item, firsts.setdefault(number, item))
            for number, item in zip(self.numbers, work.accesses)
        ]
        self.reads_again = any(moving.again for moving in self.moving)
        self._steps: dict[tuple[int, int, bool], Steps] = {}

    def steps(self, place: int, tile: int, in_grid: bool) -> Steps:
        """Returns the steps of a loop, by its place; other arguments as for `Steps.of`."""
        key = place, tile, in_grid
        found = self._steps.get(key)
        if found is None:
            found = self._steps[key] = Steps.of(self.work.loops[place], tile, in_grid)
        return found


class Instance:
    """A program instance of a kernel.

    Args:
        outline: what it has in common with others.
        tiles: the elements of a step along each label, as in `Tiling`.
        blocked: the labels that the grid partitions, as in `Tiling`.
    """

    def __init__(
        self, outline: Outline, tiles: Mapping[str, int], blocked: frozenset[str]
    ) -> None:
        work = self.work = outline.work
        self.outline = outline
        self.programs = 1
        grid = {work.grid[label] for label in blocked if label in work.grid}
        self.blocks: dict[str, int] = {}
        """The number of blocks along each label of the grid."""
        found = self._steps = [
            outline.steps(place, tiles.get(walk.label, 1), place in grid)
            for place, walk in enumerate(work.loops)
        ]
        for walk, steps in zip(work.loops, found):
            if steps.blocks is not None and walk.label not in self.blocks:
                self.blocks[walk.label] = steps.blocks
                self.programs *= steps.blocks
        lanes = self.lanes = [steps.lanes for steps in found]
        trips = self.trips = [steps.trips for steps in found]
        self.count = Table(trips)
        """The number of times that an instance carries an item out."""
        self.tile = Table(lanes)
        """The number of elements of an item."""
        self.dots = [sides.dot(work, found, tiles) for sides in outline.sides]
        """The dot of each product; None of one that is none."""
        self.makes_dots = any(self.dots)
        self.moved: list[Moved] = [
            moving.of(found) for moving in outline.moving
            if not moving.is_loaded(found, self.blocks)
        ]  # fmt: skip
        """The data of each access that addresses other elements than those before it."""
        self.reads_again = outline.reads_again and any(moved.again for moved in self.moved)
        """True if an access addresses the same elements as another one, in other loops."""

    @cached_property
    def scalars(self) -> list[tuple[float, float, float]]:
        """The scalar operations, arithmetic and special ones, by the elements that they are carried
        out on at once."""
        found: dict[float, tuple[float, float]] = {}
        for item in self.work.scalars:
            if not item.again or any(self.trips[p] > 1 for p in item.again):
                elements, times = self.tile[item.depends], self.count[item.around]
                arithmetic, special = found.get(elements, (0.0, 0.0))
                found[elements] = (
                    arithmetic + times * item.arithmetic, special + times * item.special
                )  # fmt: skip
        return [(elements, *counts) for elements, counts in found.items()]

    @cached_property
    def _copied(self) -> list[tuple[Access, float]]:
        """The loads of factors of products, with the bytes of a tile of each."""
        return [
            (item, self.tile[item.depends] * item.bits / 8) for _, item in self._factors
        ]  # fmt: skip

    @cached_property
    def ahead(self) -> float:
        """The trips of a loop that copies factors of products."""
        return max((self.count[item.around] for item, _ in self._copied), default=1.0)

    @cached_property
    def steps(self) -> float:
        """The trips of all loops that products are in, one after the other."""
        return sum(self.count[around] for around in {item.around for item in self.work.products})

    @cached_property
    def factors(self) -> float:
        """The bytes of a tile of each factor of products, together."""
        return sum(size for _, size in self._copied)

    @cached_property
    def streamed(self) -> float:
        """The bytes of a tile of each factor of which a loop copies several, together."""
        return sum(size for item, size in self._copied if self._is_streamed(item))

    @cached_property
    def kept(self) -> float:
        """The bytes of the factors that are copied once, together."""
        return sum(size for item, size in self._copied if not self._is_streamed(item))

    @cached_property
    def kept_at_once(self) -> float:
        """The bytes of those of them that are there at once where threads wait for products.

        In a chain of products, one leaves its place to the next; what several take is there once.
        """
        sizes = {
            number: self.tile[item.depends] * item.bits / 8
            for number, item in self._factors if not self._streaming(item)
        }  # fmt: skip
        if any(item.computed and not self.work.is_fed(item) for item in self.work.products):
            return max(sizes.values(), default=0.0)
        return sum(sizes.values())

    @cached_property
    def streamed_at_once(self) -> float:
        """The bytes of a tile of each factor that a loop copies, those of the loop that copies most
        where one loop follows another."""
        groups: list[tuple[set[int], dict[int, float]]] = []
        for number, item in self._factors:
            loops = self._streaming(item)
            if not loops:
                continue
            sizes = {number: self.tile[item.depends] * item.bits / 8}
            for group in [group for group in groups if not loops.isdisjoint(group[0])]:
                groups.remove(group)
                loops, sizes = loops | group[0], sizes | group[1]
            groups.append((loops, sizes))
        return max((sum(sizes.values()) for _, sizes in groups), default=0.0)

    @property
    def _factors(self) -> Iterator[tuple[int, Access]]:
        """The loads of factors of products, each with the number of its elements."""
        for number, item in zip(self.outline.numbers, self.work.accesses):
            if item.feeds_product and not item.stores:
                yield number, item

    @cached_property
    def loaded_ahead(self) -> float:
        """The bytes of the tiles that a loop loads to compute factors of, together.

        Those between two products, of which one follows from the other, are not copied ahead.
        """
        work = self.work
        depths = {place for item in work.products if self.work.is_fed(item) for place in item.depth}
        found: dict[int, float] = {}
        for number, item in zip(self.outline.numbers, work.accesses):
            # Narrower ones are not copied ahead.
            if item.stores or item.feeds_product or work.tensors[item.tensor].width < 4:
                continue
            if not depths.isdisjoint(item.depends) and self._is_streamed(item):
                size = self.tile[item.depends] * item.bits / 8
                found[number] = max(found.get(number, 0.0), size)
        return sum(found.values())

    @cached_property
    def held_rows(self) -> float:
        """The bytes of first factors that a kernel holds whole: they are computed in other threads
        than those that multiply them, unless another product gives them."""
        work = self.work
        results = [*map(work.results, work.products)]
        held = [work.labels_of(loops) for loops, _ in work.buffers]
        found: dict[tuple[str, ...], float] = {}
        for item, dot in zip(work.products, self.dots):
            labels = work.labels_of(item.left)
            if item.computed and dot is not None and labels in held and labels not in results:
                found[labels] = self.tile[item.left] * item.bits / 8
        return sum(found.values())

    @cached_property
    def computed_columns(self) -> float:
        """The bytes of second factors that are computed: instructions read these from shared
        memory."""
        loaded = {frozenset(item.depends) for item, _ in self._copied}
        return max((
            self.tile[item.right] * item.bits / 8
            for item, dot in zip(self.work.products, self.dots)
            if self.work.is_fed(item) and dot is not None and frozenset(item.right) not in loaded
        ), default=0.0)  # fmt: skip

    def _is_streamed(self, item: Access) -> bool:
        return bool(self._streaming(item))

    def _streaming(self, item: Access) -> set[int]:
        """Returns the loops that copy tiles of a factor, one after the other."""
        # A loop over a part may have more trips for all that is known when it is compiled.
        return {
            p for p in item.depends
            if p in item.around and p not in self.work.grid.values()
            and (self.trips[p] > 1 or self.work.loops[p].in_part)
        }  # fmt: skip

    @cached_property
    def stored(self) -> float:
        """The bytes of shared memory from which results are copied to tensors."""
        found = 0.0
        for item in self.work.accesses:
            if item.stores and self.work.tensors[item.tensor].is_described:
                row = prod(self.lanes[place] for place in self._columns(item)) * item.bits / 8
                held = min(row, PARTS * PART) / row
                found += held * self.tile[item.depends] * item.bits / 8
        return found

    def _columns(self, item: Access) -> set[int]:
        """Returns the loops whose points are columns of a result: those of the side of a product
        that has its fastest one, or this alone."""
        found = {*item.fastest[:1]}
        for product in self.work.products:
            left, right = {*product.left}, {*product.right}
            for side in (left - right, right - left):
                if not found.isdisjoint(side):
                    found |= side.intersection(item.depends)
        return found

    @cached_property
    def stored_by_threads(self) -> float:
        """The bytes of the largest tile of a result that the copy engine does not take."""
        return max((
            self.tile[item.depends] * item.bits / 8 for item in self.work.accesses
            if item.stores and not self.work.tensors[item.tensor].is_described
        ), default=0.0)  # fmt: skip

    @cached_property
    def pieces(self) -> list[tuple[float, float, bool]]:
        """The loads and stores that threads carry out.

        Each has the number of times that it is carried out, its pieces, of which an instruction
        moves one, and whether it is of a factor of a product.

        Factors whose pieces have 4 bytes or more are copied to shared memory ahead, by themselves.
        """
        return [
            (moved.times, moved.pieces, moved.item.feeds_product) for moved in self.moved
            if not moved.item.feeds_product or moved.width < 4
        ]  # fmt: skip

    @cached_property
    def storing(self) -> frozenset[int]:
        """The loops of several trips that store."""
        return frozenset(place for m in self.moved if m.item.stores for place in m.around)

    @cached_property
    def held(self) -> Held:
        """The elements that all threads hold together."""
        work = self.work
        products = edges = scores = masked = 0.0
        for item, dot in zip(work.products, self.dots):
            outside = ({*item.left} | {*item.right}) - {*item.depth}
            size = self.tile[tuple(outside)]
            if any(self.trips[p] > 1 for p in item.depth) or dot:
                products += size
                # Steps at the edge of a domain are summed apart, and added to the others.
                edges += size * any(work.loops[p].share < 1 for p in item.depth)
            if not item.computed:
                scores += size
                masked += size * is_masked(work, outside, self._steps)
        loaded: dict[int, Loaded] = {}
        reduced = {item.over for item in work.reductions}
        for number, item in zip(self.outline.numbers, work.accesses):
            narrow = work.tensors[item.tensor].width < 4
            if not item.stores and (narrow or not item.feeds_product):
                # Each element that is loaded by itself takes a register, and one that is copied by
                # itself has an address.
                each = 1.0 if narrow and not item.feeds_product else item.bits / 32
                each += item.feeds_product
                each *= under_way(work, unrolled(work, item.around), self._steps)
                of_rows = reduced.isdisjoint(item.depends)
                found = Loaded(self.tile[item.depends], each, of_rows)
                loaded[number] = max(loaded.get(number, found), found, key=Loaded.together)
        widths = [self.tile[loops] * bits / 32 for loops, bits in work.buffers]
        widths += [self.tile[item.depends] for item in work.scalars]
        widths += [
            # What no dot multiplies is there before it is summed.
            self.tile[tuple({*item.left, *item.right})]
            for item, dot in zip(work.products, self.dots) if dot is None
        ]  # fmt: skip
        follow = len(work.products) > 1 and any(item.running for item in work.reductions)
        return Held(
            products, edges, scores * follow, masked * follow, tuple(loaded.values()),
            max(widths, default=0.0),
        )
