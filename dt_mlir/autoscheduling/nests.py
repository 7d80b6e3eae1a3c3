"""The loops of a kernel before it is lowered, by what its directives fuse where.

A loop is named by the function and the label that it is of. One around a fused function is that of
the function which it is fused into.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dt_mlir.autoscheduling.decisions import Decision
from dt_mlir.autoscheduling.evaluation import Cluster
from dt_mlir.autoscheduling.slices import Algorithm

Loop = tuple[str, str]
"""A function that has loops of its own, and the label of one of them."""
JOINING = ("fuse_at", "inline")
"""The directives by which a function joins a kernel."""


class Nests:
    """The loops of a kernel.

    What is found of them is kept where more functions join the kernel.

    Args:
        algorithm: the program.
        readers: the functions that read each function.
        cluster: the kernel.
    """

    def __init__(
        self, algorithm: Algorithm, readers: Mapping[str, Sequence[str]], cluster: Cluster
    ) -> None:
        self.algorithm, self.readers = algorithm, readers
        self.root = cluster.root
        self.members = set[str]()
        """The functions of the kernel."""
        self.passes = set[str]()
        """The labels over which it computes several reductions in one pass."""
        self._cluster = cluster
        self._fused: dict[str, tuple[str, list[str]]] = {}
        """The functions that others are fused into, and the labels of the loops around them."""
        self._loops: dict[Loop, Loop] = {}
        self._indices: dict[tuple[str, str, str], str | None] = {}
        self._enclosed: dict[tuple[Loop, str], bool] = {}
        self._add(cluster.members, cluster.decisions)

    def _add(self, members: Iterable[str], decisions: Iterable[Decision]) -> None:
        self.members.update(members)
        for item in decisions:
            if item.name == "online":
                self.passes.add(str(item.arguments[0].value))
            elif item.name == "fuse_at":
                target, last = (str(argument.value) for argument in item.arguments)
                self._fused.setdefault(item.function, (target, self.outside(target, last)))

    def grow(self, cluster: Cluster) -> bool:
        """Adds the functions that a kernel has beside those of this one; False if it is another.

        They read nothing of it: how it reads what it has is known already.
        """
        if cluster is self._cluster:
            return True
        members, decisions = self._cluster.members, self._cluster.decisions
        known, done = len(members), len(decisions)
        if cluster.members[:known] != members or cluster.decisions[:done] != decisions:
            return False
        members, decisions = cluster.members[known:], cluster.decisions[done:]
        joining = all(d.name in JOINING and d.function in members for d in decisions)
        reads = (other for name in members for other in self.algorithm.reads[name])
        if not joining or not self.members.isdisjoint(reads):
            return False
        self._add(members, decisions)
        self._cluster = cluster
        return True

    def has_nest(self, member: str) -> bool:
        """Returns whether a function of the kernel has loops of its own, to fuse others into."""
        return member == self.root or member in self._fused

    def around(self, member: str) -> tuple[str, list[str]]:
        """Returns the function that another one is fused into, and the labels of the loops there
        that are around it; a function itself, and none, if it is fused into no other."""
        return self._fused.get(member, (member, []))

    def outside(self, target: str, label: str) -> list[str]:
        """Returns the labels of the loops of a function down to that over one of its labels, or to
        one that it reduces."""
        own = list(self.algorithm.functions[target].label_names)
        return own[: own.index(label) + 1] if label in own else [*own, label]

    def loop_of(self, member: str, label: str) -> Loop:
        """Returns a loop of the kernel.

        Args:
            member: a function of the kernel that has loops of its own.
            label: one of its labels, or one that it reduces.
        """
        loop = member, label
        if loop not in self._loops:
            while True:
                target, around = self.around(member)
                walked = self._index_of(member, label, target) if around else None
                if walked not in around:
                    break
                member, label = target, walked
            self._loops[loop] = member, label
        return self._loops[loop]

    def loops_at(self, target: str, label: str) -> set[Loop]:
        """Returns the loops around what is fused into a function at one of its loops."""
        found = {self.loop_of(target, each) for each in self.outside(target, label)}
        member = target
        while member != self.root:
            member, outside = self.around(member)
            found |= {self.loop_of(member, each) for each in outside}
        return found

    def indexing(self, name: str) -> set[Loop]:
        """Returns the loops on which indices depend at which the kernel reads a function."""
        found = set[Loop]()
        labels: dict[str, set[str]] = {}
        """The labels of functions, and those that they reduce, on which these indices depend."""
        for reader in self.readers[name]:
            reads = self.algorithm.accesses(reader, name)
            labels[reader] = {label for read in reads for label in read.used_labels}
        # Each function comes behind those that it reads.
        for reader in self.algorithm.functions:
            used = labels.get(reader, set()) if reader in self.members else set[str]()
            if not used:
                continue
            if self.has_nest(reader):
                found |= {self.loop_of(reader, label) for label in used}
                continue
            # What it reduces has loops of its own, but for a pass, which the root has.
            own = self.algorithm.functions[reader].label_names
            found |= {(self.root, label) for label in self.passes & used.difference(own)}
            for other in self.readers[reader]:
                at = labels.setdefault(other, set())
                for read in self.algorithm.accesses(other, reader):
                    for label, walked in zip(own, read.labels_by_axis()):
                        if label in used:
                            at.update(walked)
        return found

    def is_around(self, loop: Loop, name: str) -> bool:
        """Returns whether a loop may be around all reads of a function by the kernel."""
        return all(self._encloses(loop, reader, name) for reader in self._readers(name))

    def _encloses(self, loop: Loop, reader: str, name: str) -> bool:
        """Returns whether a loop may be around the reads of a function by one of the kernel."""
        if not self.has_nest(reader):
            # It reads where it is read, or where it is computed with others.
            key = loop, reader
            if key not in self._enclosed:
                self._enclosed[key] = self.is_around(loop, reader)
            return self._enclosed[key]
        outside = set[Loop]()
        member = reader
        while member != self.root and self.has_nest(member):
            member, around = self.around(member)
            outside |= {(member, label) for label in around}
        for read in self.algorithm.accesses(reader, name):
            own = {*self.algorithm.functions[reader].label_names, *read.used_labels}
            own |= self.passes if reader == self.root else set[str]()
            loops = outside | {(reader, label) for label in own}
            if loop not in {self.loop_of(*item) for item in loops}:
                return False
        return True

    def _readers(self, name: str) -> Iterable[str]:
        return filter(self.members.__contains__, self.readers[name])

    def _index_of(self, member: str, label: str, target: str) -> str | None:
        """Returns the label at whose index the kernel reads a function along one of its own.

        Args:
            member: a function of the kernel that has loops of its own.
            label: one of its labels, or one that it reduces.
            target: the function that it is fused into.

        Returns:
            A label of the target, or one that it reduces; None if all reads have no one in common.
        """
        item = member, label, target
        if item not in self._indices:
            own = label in self.algorithm.functions[member].label_names
            found = self._indices_of(member, label, target) if own else set()
            self._indices[item] = found.pop() if len(found) == 1 else None
        return self._indices[item]

    def _indices_of(self, member: str, label: str, target: str) -> set[str | None]:
        """Returns the labels at whose indices the kernel reads a function, None for other indices;
        arguments as for `_index_of`."""
        functions, found = self.algorithm.functions, set[str | None]()
        pending = [(member, label)]
        known = {*pending}
        for name, own in pending:
            axis = functions[name].label_names.index(own)
            for reader in self._readers(name):
                inlined = reader != target and not self.has_nest(reader)
                for read in self.algorithm.accesses(reader, name):
                    walked = read.label_alone(axis)
                    if walked is None or reader == target:
                        found.add(walked)
                    elif not inlined:
                        found.add(self._index_up_to(reader, walked, target))
                    elif walked not in functions[reader].label_names:
                        # It has a loop of its own where the reader is computed, but for a pass.
                        passes = self.passes if target == self.root else set[str]()
                        found.add(walked if walked in passes else None)
                    elif (reader, walked) not in known:
                        known.add((reader, walked))
                        pending.append((reader, walked))
        return found

    def _index_up_to(self, member: str, label: str, target: str) -> str | None:
        """Returns the label of a function whose index is that of a loop which is fused into it, or
        into what is; None if there is none. Arguments are those of `_index_of`."""
        at: str | None = label
        while member != target and at is not None:
            outer, around = self.around(member)
            at = self._index_of(member, at, outer) if outer != member else None
            member, at = outer, at if at in around else None
        return at
