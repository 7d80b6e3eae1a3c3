"""Systems of sizes: the order in which they follow from each other, and sizes that fit them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence

from dt_mlir.dialects.sizes import Bound, Definition


def in_order(
    definitions: Sequence[Definition], first_of: Callable[[str], str] = str
) -> list[Definition] | str:
    """Returns definitions, each after those that it depends on.

    Args:
        definitions: the definitions.
        first_of: gives the first of the labels that have the size of a label.

    Returns:
        The definitions; a label of a cycle where there is one.
    """
    by_size: dict[str, list[Definition]] = {}
    for item in definitions:
        by_size.setdefault(first_of(item.label), []).append(item)
    done: dict[str, list[Definition]] = {}

    def visit(size: str, path: tuple[str, ...]) -> str | None:
        if size in done or size not in by_size:
            return None
        if size in path:
            return by_size[size][0].label
        for item in by_size[size]:
            for other in item.sizes:
                found = visit(first_of(other), (*path, size))
                if found is not None:
                    return found
        done[size] = by_size[size]
        return None

    for size in by_size:
        found = visit(size, ())
        if found is not None:
            return found
    return [item for items in done.values() for item in items]


def complete(
    sizes: dict[str, int], definitions: Iterable[Definition], groups: Iterable[Sequence[str]]
) -> None:
    """Gives labels the sizes that follow from others.

    Args:
        sizes: the sizes of all labels, of which those that follow are set.
        definitions: the definitions, each after those that it depends on.
        groups: the labels of each size.

    Raises:
        ZeroDivisionError: where a divisor is 0.
    """
    members = {label: group for group in groups for label in group}
    for item in definitions:
        value = item.value(sizes)
        for label in members.get(item.label, (item.label,)):
            sizes[label] = value


_TRIED = 4096
"""The values of a size that are tried where others do not grow with it."""
_ROUNDS = 4
"""The number of times that sizes are made larger before none is taken to fit."""


def fit(
    sizes: dict[str, int],
    wanted: Mapping[str, int],
    definitions: Sequence[Definition],
    bounds: Sequence[Bound],
    groups: Sequence[Sequence[str]],
    kept: Iterable[str] = (),
) -> None:
    """Changes free sizes so that those that follow have wanted values, and indices are in bounds.

    Where no sizes are found at which indices are in bounds, those that were given remain.

    Args:
        sizes: the sizes of all labels.
        wanted: sizes of labels that follow from others; where none serves, they keep theirs.
        definitions: the definitions, each after those that it depends on.
        bounds: the indices.
        groups: the labels of each size.
        kept: labels whose sizes do not change.

    Raises:
        ZeroDivisionError: where a divisor is 0.
    """
    members = {label: tuple(group) for group in groups for label in group}
    kept = {other for label in kept for other in members.get(label, (label,))}
    defined = {other for item in definitions for other in members.get(item.label, (item.label,))}
    frozen = set(kept)
    complete(sizes, definitions, groups)
    for item in definitions:
        if item.label not in wanted or sizes[item.label] == wanted[item.label]:
            frozen.update(item.sizes)
            continue
        for free in item.sizes:
            if free in defined or free in frozen:
                continue
            if _reach(sizes, item, free, wanted[item.label], members, definitions, groups):
                break
        frozen.update(item.sizes)
    before = dict(sizes)
    for _ in range(_ROUNDS):
        changed = False
        for bound in bounds:
            found = bound.range(sizes)
            fixed = bound.label in defined or bound.label in kept
            if found is None or found.most < sizes[bound.label] or fixed:
                continue
            for label in members.get(bound.label, (bound.label,)):
                sizes[label] = found.most + 1
            complete(sizes, definitions, groups)
            changed = True
        if not changed:
            return
    # An index grows with the size that must hold it: `A[x]` and `A[4 * x]`.
    sizes.update(before)


def _reach(
    sizes: dict[str, int],
    item: Definition,
    free: str,
    wanted: int,
    members: Mapping[str, Sequence[str]],
    definitions: Sequence[Definition],
    groups: Sequence[Sequence[str]],
) -> bool:
    """Gives a free size the least value for which one that follows has a wanted value."""
    trial = dict(sizes)

    def found(value: int) -> int:
        """Returns the size that follows from a value; below all others where a divisor is 0."""
        trial.update(dict.fromkeys(members.get(free, (free,)), value))
        try:
            complete(trial, definitions, groups)
        except ZeroDivisionError:
            return -1
        return trial[item.label]

    most = 8 * wanted + 64
    # Sizes grow with those that they follow from, but for remainders, of which some are tried.
    value = bisect_left(range(most), wanted, key=found)
    tried = next(
        (v for v in (value, *range(min(most, _TRIED))) if v < most and found(v) == wanted), None
    )
    if tried is None:
        return False
    sizes.update(trial)
    return True
