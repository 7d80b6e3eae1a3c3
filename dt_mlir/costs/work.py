"""The work of a kernel of the `loop` level, as figures of its loops.

A `Work` holds a kernel's accesses, products, reductions and scalar operations, each with the loops
around it and those that it depends on. It leaves tiles open: a model gives each loop a step, and
knows from that how often each item is carried out, and on how many elements at once. Loop-invariant
items count where loop-invariant code motion puts them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

WIDEST = 16
"""The bytes that one instruction copies at most; rows of what the copy engine takes start at
multiples of them."""

Loops = tuple[int, ...]
"""Loops of a kernel, by their places in `Work.loops`."""
Order = tuple[tuple[str, str, int], ...]
"""A walk over the grid, slowest first: a label, which part of its blocks, and a factor."""


@dataclass(frozen=True)
class Walk:
    """A loop of a kernel."""

    label: str
    """The label that it walks."""
    extent: int
    """The number of points that it walks, the grid's blocks together."""
    step: int
    """The points of a trip that are computed at once, as the schedule has it."""
    block: int
    """The points that a program instance walks, as the schedule has it; 0 for all."""
    share: float = 1.0
    """The part of its points at which conditions of a reduction hold."""
    most: float = 1.0
    """The largest such part that there is at one point of the loops around it."""
    in_part: bool = False
    """True if its points are a part of the label's, behind which others' follow in memory."""
    in_chunks: bool = False
    """True if its points are those of a part that is scanned, which no tile takes whole."""
    is_open: bool = False
    """True if calls decide its extent, for which the program is not compiled alone."""


class Reach(NamedTuple):
    """An index of a loop that others are added to, as `p` in `2*p + r`."""

    place: int
    """The loop."""
    distance: int
    """The distance that the sum goes where the index goes on by one."""
    repeats: int = 1
    """The points of the loop at which the index is the same, as of `p` where `p` and `q` are
    joined."""
    size: int = 0
    """The number of values of the index; 0 where it has one for each point."""

    def values(self, points: float) -> float:
        """Returns how many values the index has at some points of the loop."""
        found = max(points / self.repeats, 1.0)
        return min(found, self.size) if self.size else found


@dataclass(frozen=True)
class Access:
    """A load or a store of elements of a tensor."""

    tensor: str
    bits: int
    """The width of an element."""
    stores: bool
    around: Loops
    depends: Loops
    fastest: Loops
    """The loops whose indices count neighbours in memory, the one that counts elements first."""
    key: tuple[object, ...]
    """Accesses of one tensor with one key address the same elements."""
    axes: tuple[str, ...] = ()
    """The label that indexes each axis by itself; empty for another index."""
    feeds_product: bool = False
    """True if a product takes the elements as they are."""
    repeats: tuple[int, ...] = ()
    """The points of each of the fastest loops that address one element, as two of `x // 2` do."""
    windows: tuple[tuple[Reach, ...], ...] = ()
    """The indices that are added for an axis, as in `2*p + r`, for each axis that has several."""
    further: Loops = ()
    """The loops that go on where the whole of the last axis ends, as those of the axis before."""
    further_repeats: Loops = ()
    """The same of them as `repeats`."""
    scattered: int = 0
    """The number of places in which neighbouring points of the fastest loop lie, where none counts
    single elements, as two of `x % 2` and `x // 2` do; else 0."""


@dataclass(frozen=True)
class Product:
    """A sum of products of types that Triton's dot takes."""

    kind: str
    """The type of its factors, as a device's `product_rates` name it."""
    bits: int
    around: Loops
    left: Loops
    """The loops that the factor of its rows depends on."""
    right: Loops
    """The loops that the factor of its columns depends on."""
    depth: Loops
    """The loops whose points it sums."""
    computed: bool = False
    """True if a factor is not a loaded one, as it is."""


@dataclass(frozen=True)
class Reduction:
    """A reduction of elements other than a sum of products."""

    around: Loops
    depends: Loops
    """The loops that its element depends on."""
    over: int
    """The loop that it reduces over."""
    scans: bool = False
    """True if all partial results are wanted."""
    running: bool = False
    """True if other values follow from it in each step, so that it cannot wait for the last one."""


@dataclass(frozen=True)
class Scalars:
    """Scalar operations with the same loops."""

    around: Loops
    depends: Loops
    again: Loops
    """The loops by which it differs from the same operations in other loops; where all of them have
    one trip, it is those, and computed once. Empty for the first ones."""
    arithmetic: float
    special: float


@dataclass(frozen=True)
class Tensor:
    """A tensor of the kernel."""

    bytes: int
    """Its size."""
    bits: int
    """The width of an element."""
    width: int = WIDEST
    """The bytes that one instruction copies at most: rows start at multiples of them."""

    @property
    def is_described(self) -> bool:
        """True if the copy engine takes the tensor, where it is contiguous."""
        return self.width == WIDEST


@dataclass
class Work:
    """The accesses, products, reductions and scalar operations of a kernel.

    Args:
        root: the function that the kernel is named after.
    """

    root: str
    loops: list[Walk] = field(default_factory=list[Walk])
    grid: dict[str, int] = field(default_factory=dict[str, int])
    """The loop of each label that the grid partitions or may partition, outermost first."""
    accesses: list[Access] = field(default_factory=list[Access])
    products: list[Product] = field(default_factory=list[Product])
    reductions: list[Reduction] = field(default_factory=list[Reduction])
    scalars: list[Scalars] = field(default_factory=list[Scalars])
    buffers: list[tuple[Loops, int]] = field(default_factory=list[tuple[Loops, int]])
    """The loops over a fused function's elements that are held, and the width of an element."""
    whole: set[int] = field(default_factory=set[int])
    """Loops that have one trip, since a fused function is held along them."""
    single: set[int] = field(default_factory=set[int])
    """Loops that step by one index, since others start at it."""
    twins: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """The other labels that walk the last axis of a tensor, for each that does."""
    order: Order = ()
    """The walk over the grid, as the schedule has it."""
    tensors: dict[str, Tensor] = field(default_factory=dict[str, Tensor])
    warps: int = 4
    stages: int = 3
    consumers: int = 0
    """The groups of warps that multiply, as the schedule has it; 0 where it does not specialize."""
    persistent: int = 0
    """The number of instances on each multiprocessor that walk the blocks, as the schedule has it;
    0 where none does."""
    alternating: bool = False
    """True if they walk every other round of blocks backwards, as the schedule has it."""
    dependent: bool = False
    """True if the kernel is launched while the one before it ends, as the schedule has it."""
    precision: str = "ieee"
    specializes: bool = True
    """False where it is known that groups of warps cannot have tasks of their own."""

    def labels(self) -> dict[str, list[int]]:
        """Returns the loops over each label."""
        found: dict[str, list[int]] = {}
        for place, item in enumerate(self.loops):
            found.setdefault(item.label, []).append(place)
        return found

    @property
    def is_chained(self) -> bool:
        """True if a product takes a factor that is computed, as of another product."""
        factors = sum(item.feeds_product and not item.stores for item in self.accesses)
        return factors < 2 * len(self.products)

    def labels_of(self, places: Iterable[int]) -> tuple[str, ...]:
        """Returns the labels of some loops, in the order of their names."""
        return tuple(sorted(self.loops[place].label for place in places))

    def results(self, item: Product) -> tuple[str, ...]:
        """Returns the labels of the result of a product, as `labels_of`."""
        return self.labels_of(({*item.left} | {*item.right}) - {*item.depth})

    def is_fed(self, item: Product) -> bool:
        """Returns whether a factor of a product is computed, of what is loaded alone."""
        others = [self.results(other) for other in self.products if other != item]
        factors = self.labels_of(item.left), self.labels_of(item.right)
        return item.computed and not any(factor in others for factor in factors)

    def signature(self) -> Hashable:
        """Returns what is equal for kernels that do the same to tensors of other names, along
        labels of other names."""
        numbers = {name: place for place, name in enumerate(self.tensors)}
        labels = {name: f"#{place}" for place, name in enumerate(self.labels())}
        keys: dict[tuple[object, ...], int] = {}

        def numbered(names: Iterable[str]) -> tuple[str, ...]:
            return tuple(labels.get(name, name) for name in names)

        return (
            tuple(replace(walk, label=labels[walk.label]) for walk in self.loops),
            tuple((labels[name], place) for name, place in self.grid.items()),
            tuple(
                (
                    numbers[item.tensor], keys.setdefault(item.key, len(keys)),
                    replace(item, tensor="", key=(), axes=numbered(item.axes)),
                ) for item in self.accesses
            ),
            tuple(self.products), tuple(self.reductions), tuple(self.scalars),
            tuple(self.buffers), frozenset(self.whole), frozenset(self.single),
            tuple((labels[name], part, factor) for name, part, factor in self.order),
            frozenset(
                (*numbered([name]), frozenset(numbered(others)))
                for name, others in self.twins.items()
            ),
            tuple(self.tensors.values()), self.warps, self.stages, self.consumers,
            self.persistent, self.alternating, self.dependent, self.precision, self.specializes,
        )  # fmt: skip
