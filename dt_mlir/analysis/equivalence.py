"""Classes of equivalent names."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.utils.disjoint_set import DisjointSet


def classes_of(sets: DisjointSet[str], names: Iterable[str]) -> list[list[str]]:
    """Returns the names of each set, sets and names in the order of the names."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(sets.find(name), []).append(name)
    return list(found.values())
