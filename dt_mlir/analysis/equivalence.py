"""Disjoint sets of names, by union-find."""

from __future__ import annotations

from collections.abc import Iterable


class Equivalence:
    """An equivalence relation on names; the first name of a class stands for it.

    Finding halves the paths that it walks (Tarjan and van Leeuwen, "Worst-case analysis of set
    union algorithms", 1984).

    Args:
        names: the names in their order, each equivalent to itself alone.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._place = {name: i for i, name in enumerate(names)}
        self._parent = {name: name for name in self._place}

    def find(self, name: str) -> str:
        """Returns the first name of a name's class."""
        while self._parent[name] != name:
            self._parent[name] = self._parent[self._parent[name]]
            name = self._parent[name]
        return name

    def unite(self, a: str, b: str) -> None:
        """Makes two names equivalent."""
        first, second = sorted((self.find(a), self.find(b)), key=self._place.__getitem__)
        self._parent[second] = first

    def classes(self) -> list[list[str]]:
        """Returns the classes, with their names, in the names' order."""
        found: dict[str, list[str]] = {}
        for name in self._place:
            found.setdefault(self.find(name), []).append(name)
        return list(found.values())
