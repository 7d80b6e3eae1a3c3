"""Sizes that follow from others, and the indices that they must keep in bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from xdsl.ir.affine import AffineExpr, AffineMap

from dt_mlir.dialects.index_ranges import Range, index_range
from dt_mlir.dialects.indices import add, subtract


class Definition(NamedTuple):
    """The size of a label in terms of others."""

    label: str
    """The label."""
    map: AffineMap
    """The expressions, of which the least is the size."""
    sizes: tuple[str, ...]
    """The labels whose sizes are the symbols."""
    inferred: bool
    """True if it follows from reads, and is 0 where the expression is negative."""

    def value(self, known: Mapping[str, int]) -> int:
        """Returns the size.

        Args:
            known: the sizes that it depends on.

        Raises:
            ZeroDivisionError: where a divisor is 0.
        """
        symbols = [known[label] for label in self.sizes]
        found = min(expr.eval([], symbols) for expr in self.map.results)
        return max(found, 0) if self.inferred else found


class Bound(NamedTuple):
    """An index that must not leave an axis."""

    expr: AffineExpr
    """The index."""
    over: tuple[str, ...]
    """The labels for whose indices it is evaluated, its dimensions."""
    sizes: tuple[str, ...]
    """The labels whose sizes are its symbols."""
    label: str
    """The label of the axis."""
    reason: str
    """The access, in words."""
    constraints: tuple[AffineExpr, ...] = ()
    """Expressions that are not negative wherever the index is evaluated."""

    def range(self, sizes: Mapping[str, int]) -> Range | None:
        """Returns the interval of the index; None where it is evaluated nowhere.

        Raises:
            ZeroDivisionError: where a divisor is 0.
        """
        if any(sizes[label] < 1 for label in self.over):
            return None
        dims = [Range(0, sizes[label] - 1) for label in self.over]
        symbols = [sizes[label] for label in self.sizes]
        least, most = index_range(self.expr, dims, symbols)
        for constraint in self.constraints:
            # What is not negative may be taken away, or added, to bound the index.
            below, above = subtract(self.expr, constraint), add(self.expr, constraint)
            least = max(least, index_range(below, dims, symbols).least)
            most = min(most, index_range(above, dims, symbols).most)
        return Range(least, most)

    def problem(self, sizes: Mapping[str, int]) -> str | None:
        """Returns what is wrong at some sizes, or None."""
        try:
            found = self.range(sizes)
        except ZeroDivisionError:
            return f"{self.reason} divides by a size that is 0"
        if found is None or (found.least >= 0 and found.most < sizes[self.label]):
            return None
        place = found.least if found.least < 0 else found.most
        return f"{self.reason} may need an index of {place}, but there are {sizes[self.label]}"


def in_order(definitions: Sequence[Definition]) -> list[Definition] | str:
    """Returns definitions, each after those that it depends on.

    Returns:
        The definitions; a label of a cycle where there is one.
    """
    by_label = {item.label: item for item in definitions}
    done: dict[str, Definition] = {}

    def visit(label: str, path: tuple[str, ...]) -> str | None:
        if label in done or label not in by_label:
            return None
        if label in path:
            return label
        for other in by_label[label].sizes:
            found = visit(other, (*path, label))
            if found is not None:
                return found
        done[label] = by_label[label]
        return None

    for label in by_label:
        found = visit(label, ())
        if found is not None:
            return found
    return list(done.values())


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


def fit(
    sizes: dict[str, int],
    wanted: Mapping[str, int],
    definitions: Sequence[Definition],
    bounds: Sequence[Bound],
    groups: Sequence[Sequence[str]],
    kept: Iterable[str] = (),
) -> None:
    """Changes free sizes so that those that follow have wanted values, and indices are in bounds.

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
    for _ in range(4):
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
            break


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
    for value in range(8 * wanted + 64):
        trial.update(dict.fromkeys(members.get(free, (free,)), value))
        try:
            complete(trial, definitions, groups)
        except ZeroDivisionError:
            continue
        if trial[item.label] == wanted:
            sizes.update(trial)
            return True
        if trial[item.label] > wanted and value > wanted:
            break
    return False
