"""Chooses among schedules by sizes: a decision tree with few leaves.

A test compares a size, or the product of two, with a number between those that were measured. The
tree grows where that saves most, as regression trees do (Breiman et al., Classification and
Regression Trees, 1984): by the logarithms of the times of the schedules at each leaf over the best
ones.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from math import isqrt, log, prod

MOST_LEAVES = 8
"""The most leaves of a tree."""
LEAST_SAVED = 0.02
"""The logarithm of a time that a test must save, over all sizes together."""
NO_TIME = 10.0
"""The logarithm of how much slower a schedule counts at sizes at which it has no time."""

RESOLUTION = 1e-6
"""The least time that counts: where nothing is launched, a clock may measure 0."""

Feature = tuple[str, ...]
"""Labels whose sizes are multiplied."""


@dataclass(frozen=True)
class Leaf:
    """A schedule."""

    schedule: int
    """Its number."""


@dataclass(frozen=True)
class Split:
    """A comparison, and what follows from it."""

    feature: Feature
    most: int
    """The largest number for which it holds."""
    holds: Tree
    fails: Tree


Tree = Leaf | Split


def choose(tree: Tree, sizes: Mapping[str, int]) -> int:
    """Returns the number of the schedule for some sizes."""
    while isinstance(tree, Split):
        value = prod(sizes[label] for label in tree.feature)
        tree = tree.holds if value <= tree.most else tree.fails
    return tree.schedule


def leaves(tree: Tree) -> list[int]:
    """Returns the schedules of the leaves, in their order."""
    if isinstance(tree, Leaf):
        return [tree.schedule]
    return leaves(tree.holds) + leaves(tree.fails)


def tested(tree: Tree) -> set[Feature]:
    """Returns what a tree tests."""
    if isinstance(tree, Leaf):
        return set()
    return {tree.feature} | tested(tree.holds) | tested(tree.fails)


def named(tree: Tree, names: Mapping[str, str]) -> Tree:
    """Returns a tree whose labels have other names."""
    if isinstance(tree, Leaf):
        return tree
    feature = tuple(names[label] for label in tree.feature)
    return Split(feature, tree.most, named(tree.holds, names), named(tree.fails, names))


def renumbered(tree: Tree, numbers: Mapping[int, int]) -> Tree:
    """Returns a tree whose schedules have other numbers."""
    if isinstance(tree, Leaf):
        return Leaf(numbers[tree.schedule])
    holds, fails = renumbered(tree.holds, numbers), renumbered(tree.fails, numbers)
    return Split(tree.feature, tree.most, holds, fails)


def text_of(tree: Tree, indent: str = "", name: Callable[[int], str] = str) -> str:
    """Returns a tree as statements of Python that return a schedule.

    Args:
        tree: the tree.
        indent: what stands in front of each line.
        name: what to return for a number.
    """
    if isinstance(tree, Leaf):
        return f"{indent}return {name(tree.schedule)}\n"
    deeper = indent + "    "
    test = f"{indent}if {' * '.join(tree.feature)} <= {tree.most}:\n"
    return test + text_of(tree.holds, deeper, name) + text_of(tree.fails, indent, name)


@dataclass(frozen=True)
class _Group:
    """Measured sizes that meet at a leaf, with the best way to tell them apart."""

    places: tuple[int, ...]
    schedule: int
    cost: float
    saved: float
    test: tuple[Feature, int] | None


def grow(
    sizes: Sequence[Mapping[str, int]], times: Sequence[Sequence[float | None]],
    most: int = MOST_LEAVES,
) -> Tree:
    """Returns the tree for measured times.

    Args:
        sizes: the sizes of the labels that differ, of each measurement.
        times: of each, the times of the schedules; None where one has none.
        most: the most leaves.
    """
    costs = [_costs(row) for row in times]
    features = _features(sizes)

    def group(places: tuple[int, ...]) -> _Group:
        schedule, cost = _best(costs, places)
        best: tuple[float, tuple[Feature, int] | None] = 0.0, None
        for feature in features:
            values = {place: prod(sizes[place][label] for label in feature) for place in places}
            for low, high in _neighbours(values.values()):
                parts = _parts(values, low)
                saved = cost - sum(_best(costs, part)[1] for part in parts)
                if saved > best[0] + 1e-9:
                    best = saved, (feature, max(isqrt(low * high), low))
        return _Group(places, schedule, cost, *best)

    # Leaves that save most are told apart first.
    order = count()
    root = group(tuple(range(len(sizes))))
    heap = [(-root.saved, next(order), root)]
    halves: dict[tuple[int, ...], tuple[_Group, _Group]] = {}
    while heap and len(halves) + 1 < most:
        _, _, found = heapq.heappop(heap)
        if found.test is None or found.saved < LEAST_SAVED:
            continue
        feature, bound = found.test
        values = {
            place: prod(sizes[place][label] for label in feature) for place in found.places
        }
        lower, upper = (group(part) for part in _parts(values, bound))
        halves[found.places] = lower, upper
        for half in (lower, upper):
            heapq.heappush(heap, (-half.saved, next(order), half))

    def tree(found: _Group) -> Tree:
        if found.places not in halves:
            return Leaf(found.schedule)
        assert found.test is not None
        lower, upper = halves[found.places]
        return Split(*found.test, tree(lower), tree(upper))

    return tree(root)


def _costs(row: Sequence[float | None]) -> list[float]:
    """Returns how much slower each schedule is than the best, as a logarithm."""
    times = [None if time is None else max(time, RESOLUTION) for time in row]
    best = min((time for time in times if time is not None), default=1.0)
    return [NO_TIME if time is None else log(time / best) for time in times]


def _features(sizes: Sequence[Mapping[str, int]]) -> list[Feature]:
    """Returns what may be tested: labels whose sizes differ, and products of two."""
    labels = [label for label in sizes[0] if len({row[label] for row in sizes}) > 1]
    return [*((label,) for label in labels), *combinations(labels, 2)]


def _neighbours(values: Iterable[int]) -> list[tuple[int, int]]:
    """Returns each number with the next larger one."""
    ordered = sorted({*values})
    return list(zip(ordered, ordered[1:]))


def _parts(values: Mapping[int, int], most: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the places up to a number, and those beyond."""
    lower = tuple(place for place, value in values.items() if value <= most)
    return lower, tuple(place for place in values if place not in lower)


def _best(costs: Sequence[Sequence[float]], places: Sequence[int]) -> tuple[int, float]:
    """Returns the schedule that costs least at some sizes, and what it costs there."""
    sums = [sum(costs[place][number] for place in places) for number in range(len(costs[0]))]
    least = min(sums)
    return sums.index(least), least
