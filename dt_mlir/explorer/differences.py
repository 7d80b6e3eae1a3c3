"""The difference between two modules, by operation.

Operations are matched by what they are and by what they compute from, never by the text of a line,
so that renumbered values are no difference. First those are matched whose whole provenance is the
same, wherever they stand: what a pass hoisted is found so. Then the blocks of matched operations
are aligned, as GumTree (Falleri et al. 2014) does in its top-down and bottom-up phases.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import StrEnum

from dt_mlir.explorer.snapshots import Node, Snapshot, Use


class Change(StrEnum):
    """The change of an operation."""

    SAME = "same"
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    MOVED = "moved"


@dataclass
class Difference:
    """The difference between two snapshots."""

    before: dict[int, int]
    """The number of the operation before, by that of the one after which it is."""
    changes: list[Change]
    """The change of each operation of the later snapshot."""
    reasons: dict[int, str]
    """The attributes, types or operands that differ, for changed operations."""
    removed: list[int]
    """The operations of the earlier snapshot that are no more."""
    counts: dict[str, int] = field(default_factory=dict[str, int])
    """The number of operations by which of each name there are more, or fewer, than before."""

    @property
    def is_empty(self) -> bool:
        """True if nothing differs."""
        return not self.removed and all(change is Change.SAME for change in self.changes)


def difference(before: Snapshot, after: Snapshot) -> Difference:
    """Compares two snapshots."""
    return _Comparison(before.nodes, after.nodes).run()


class _Comparison:
    def __init__(self, before: list[Node], after: list[Node]) -> None:
        self.before, self.after = before, after
        self.there: dict[int, int] = {}
        """The number after, by that before."""
        self.here: dict[int, int] = {}
        """The number before, by that after."""

    def run(self) -> Difference:
        self._pair(0, 0)
        self._match_provenance()
        # What is matched grows from the module inwards.
        pending = [(0, 0)]
        while pending:
            old, new = pending.pop()
            for olds, news in zip(self.before[old].children, self.after[new].children):
                self._align(olds, news)
            for block in self.after[new].children:
                pending += [(self.here[n], n) for n in block if n in self.here]
        changes = [self._change(number) for number in range(len(self.after))]
        for new, old in self.here.items():
            for olds, news in zip(self.before[old].children, self.after[new].children):
                for number in self._out_of_order(olds, news):
                    if changes[number][0] is Change.SAME:
                        changes[number] = Change.MOVED, "another order"
        removed = [n for n in range(len(self.before)) if n not in self.there]
        counts = Counter(node.name for node in self.after)
        counts.subtract(node.name for node in self.before)
        return Difference(
            self.here, [change for change, _ in changes],
            {n: reason for n, (_, reason) in enumerate(changes) if reason}, removed,
            {name: count for name, count in sorted(counts.items()) if count},
        )  # fmt: skip

    def _pair(self, old: int, new: int) -> None:
        self.there[old], self.here[new] = new, old

    def _match_provenance(self) -> None:
        """Matches operations that compute the same from the same, where there is one of each."""
        found: list[dict[Hashable, list[int]]] = []
        for nodes in (self.before, self.after):
            hashes = _provenance(nodes)
            groups: dict[Hashable, list[int]] = defaultdict(list)
            for number, hashed in enumerate(hashes):
                groups[hashed].append(number)
            found.append(groups)
        olds, news = found
        for hashed, (old, *others) in olds.items():
            match = news.get(hashed, ())
            if not others and len(match) == 1 and old and match[0]:
                self._pair(old, match[0])

    def _align(self, olds: Sequence[int], news: Sequence[int]) -> None:
        """Matches the operations of two blocks that have no match yet."""
        left = [("matched", self.there[n]) if n in self.there else self.before[n].key for n in olds]
        right = [("matched", n) if n in self.here else self.after[n].key for n in news]
        matcher = SequenceMatcher(None, left, right, autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag == "equal":
                for old, new in zip(olds[i1:i2], news[j1:j2]):
                    if old not in self.there and new not in self.here:
                        self._pair(old, new)
            elif tag == "replace":
                self._align_similar(olds[i1:i2], news[j1:j2])

    def _align_similar(self, olds: Sequence[int], news: Sequence[int]) -> None:
        """Matches operations of one name that share attributes or operands, in their order."""
        rest = [n for n in news if n not in self.here]
        for old in olds:
            if old in self.there:
                continue
            match = next((n for n in rest if self._is_similar(old, n)), None)
            if match is not None:
                self._pair(old, match)
                rest = rest[rest.index(match) + 1 :]

    def _is_similar(self, old: int, new: int) -> bool:
        a, b = self.before[old], self.after[new]
        if a.name != b.name or len(a.types) != len(b.types) or a.symbol != b.symbol:
            return False
        if a.symbol is not None:
            return True
        shared = sum(self._corresponds(x, y) for x, y in zip(a.uses, b.uses))
        operands = max(len(a.uses), len(b.uses))
        return 2 * shared >= operands if operands else bool(a.children) or a.types == b.types

    def _corresponds(self, old: Use, new: Use) -> bool:
        return old.place == new.place and (
            self.there.get(old.node) == new.node or (old.node == new.node == -1)
        )

    def _change(self, number: int) -> tuple[Change, str]:
        if number not in self.here:
            return Change.ADDED, ""
        old = self.here[number]
        a, b = self.before[old], self.after[number]
        reasons = [
            name for name in {**a.attributes, **b.attributes}
            if a.attributes.get(name) != b.attributes.get(name)
        ]  # fmt: skip
        if a.types != b.types:
            reasons.append("type")
        pairs = zip(a.uses, b.uses)
        if len(a.uses) != len(b.uses) or not all(self._corresponds(x, y) for x, y in pairs):
            reasons.append("operands")
        if not reasons and a.key != b.key:
            reasons.append("body")
        if reasons:
            return Change.CHANGED, ", ".join(reasons)
        if number and self.there.get(a.parent) != b.parent:
            return Change.MOVED, "another block"
        return Change.SAME, ""

    def _out_of_order(self, olds: Sequence[int], news: Sequence[int]) -> list[int]:
        """Returns the fewest operations that must move to turn one order into the other."""
        places = {old: place for place, old in enumerate(olds)}
        kept = [n for n in news if self.here.get(n) in places]
        order = [places[self.here[n]] for n in kept]
        longest = _longest_increasing(order)
        return [n for place, n in enumerate(kept) if place not in longest]


def _provenance(nodes: Sequence[Node]) -> list[int]:
    """Returns a hash for each operation, of itself and of all that its operands come from."""
    found: list[int] = []
    for node in nodes:
        operands = tuple(
            (found[use.node] if 0 <= use.node < len(found) else use.node, use.place)
            for use in node.uses
        )
        # Without operands, it is known by where it is.
        around = () if operands or node.parent < 0 else (nodes[node.parent].symbol,)
        found.append(hash((node.key, operands, around)))
    return found


def _longest_increasing(numbers: Sequence[int]) -> set[int]:
    """Returns the places of a longest increasing subsequence."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for place, number in enumerate(numbers):
        length = bisect_left(tails, number)
        tails[length : length + 1] = [number]
        ends[length : length + 1] = [place]
        before.append(ends[length - 1] if length else -1)
    found: set[int] = set()
    place = ends[-1] if ends else -1
    while place >= 0:
        found.add(place)
        place = before[place]
    return found
