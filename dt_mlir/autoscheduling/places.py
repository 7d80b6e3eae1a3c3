"""The places in a kernel where functions that it reads may be computed.

A function may be inlined, or fused at a loop of the kernel's root or of a function that was fused
before. Ways that are never legal are left out, as each is lowered to be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dt_mlir.autoscheduling.decisions import Decision, plain
from dt_mlir.autoscheduling.evaluation import Cluster
from dt_mlir.autoscheduling.slices import Algorithm


class Places:
    """The places in kernels of a program's functions.

    Args:
        algorithm: the program.
        readers: the functions that read each function.
    """

    def __init__(self, algorithm: Algorithm, readers: Mapping[str, Sequence[str]]) -> None:
        self.algorithm, self.readers = algorithm, readers

    def ways(self, name: str, cluster: Cluster, stores: bool) -> list[Decision]:
        """Returns the ways in which a function may join a kernel, which may have to store it."""
        algorithm = self.algorithm
        found: list[Decision] = []
        reason, stored = ("it is stored from there", [name]) if stores else ("", [])
        if not stores and not algorithm.reductions(name) and not self.is_gathered(name, cluster):
            found.append(plain(name, "inline", reason="it is elementwise"))
            reads = sum(len(algorithm.accesses(r, name)) for r in self.readers[name])
            if reads == 1:
                return found
        readers = [
            r for r in self.readers[name] if r in cluster.members and self._has_nest(r, cluster)
        ]
        places = [
            (target, label) for target in dict.fromkeys([cluster.root, *readers])
            for label in self._places(name, target, cluster)
        ]  # fmt: skip
        known = set[tuple[str, str]]()
        for target, label in places:
            loop = self._loop_of(target, label, cluster)
            if loop not in known and self._is_around(loop, name, cluster):
                known.add(loop)
                if stores and not self._is_written_once(name, target, label, cluster):
                    continue
                found.append(plain(name, "fuse_at", target, label, reason=reason, stored=stored))
        return found

    def is_gathered(self, name: str, cluster: Cluster) -> bool:
        """Returns whether a kernel computes a function in one pass with its reductions anyway.

        Args:
            name: a function that only the kernel's functions read.
            cluster: the kernel.
        """
        labels = self.algorithm.functions[name].label_names
        return not self._passes(cluster).isdisjoint(labels) and all(
            self._is_read_along(name, label, cluster) for label in labels
        )

    def held(self, decision: Decision, cluster: Cluster) -> int:
        """Returns how many elements of a function a kernel holds at least that computes it so.

        Args:
            decision: one of the ways in which a function may join a kernel.
            cluster: the kernel.
        """
        if decision.name != "fuse_at":
            return 1
        name, around = decision.function, self._loops_around(decision, cluster)
        held = 1
        for axis, own in enumerate(self.algorithm.functions[name].label_names):
            for reader in filter(cluster.members.__contains__, self.readers[name]):
                labels = {r.label_alone(axis) for r in self.algorithm.accesses(reader, name)}
                if any(self._goes_on(reader, label, around, cluster) for label in labels if label):
                    held *= self.algorithm.sizes.get(own, 1)
                    break
        return held

    def times(self, decision: Decision, cluster: Cluster, blocks: Callable[[int], int]) -> int:
        """Returns how often a kernel computes all of a function at least that it computes so: once
        for each block of a label that the function does not depend on.

        0 says nothing: the kernel perhaps needs less of the function, or functions between have
        loops that may be those of the root.

        Args:
            decision: one of the ways in which a function may join a kernel.
            cluster: the kernel, which has products.
            blocks: returns the number of blocks of a label of some extent, at least.
        """
        if len(cluster.kernels) != 1 or not self._is_read_whole(decision.function, cluster):
            return 0
        work = cluster.kernels[0].work
        depends = self._indexing(decision.function, cluster)
        if any(walk.share < 1 for walk in work.loops) or not self._is_of_root(depends, cluster):
            return 0
        if decision.name != "fuse_at":
            return 1
        walks, own = work.labels(), self._labels_of(decision.function)
        found = 1
        for root, label in self._loops_around(decision, cluster) - depends:
            # The grid has no label that several loops walk.
            if root != cluster.root or label not in work.grid or label in own:
                continue
            if not any(place in work.single or place in work.whole for place in walks[label]):
                found *= blocks(work.loops[work.grid[label]].extent)
        return found

    def _is_of_root(self, loops: set[tuple[str, str]], cluster: Cluster) -> bool:
        """Returns whether loops are the root's own, and not perhaps so under another name."""
        return all(member == cluster.root for member, _ in loops)

    def _labels_of(self, name: str) -> set[str]:
        """Returns the labels of a function, and those that it reduces."""
        reduced = (label for op in self.algorithm.reductions(name) for label in op.label_names)
        return {*self.algorithm.functions[name].label_names, *reduced}

    def _is_read_whole(self, name: str, cluster: Cluster) -> bool:
        """Returns whether a kernel surely reads all elements of a function."""
        sizes = self.algorithm.sizes
        pending, known = [name], {name}
        while pending:
            name = pending.pop()
            if name == cluster.root:
                return True
            extents = [sizes.get(label) for label in self.algorithm.functions[name].label_names]
            for reader in filter(cluster.members.__contains__, self.readers[name]):
                for read in self.algorithm.accesses(reader, name):
                    labels = [read.label_alone(axis) for axis in range(len(extents))]
                    if reader in known or None in labels or len({*labels}) < len(labels):
                        continue
                    if [sizes.get(str(label)) for label in labels] == extents:
                        known.add(reader)
                        pending.append(reader)
        return False

    def _loops_around(self, decision: Decision, cluster: Cluster) -> set[tuple[str, str]]:
        """Returns the loops of a kernel in which a function is computed that is fused into it."""
        target, label = (str(argument.value) for argument in decision.arguments)
        around = {self._loop_of(target, each, cluster) for each in self._outside(target, label)}
        member = target
        while member != cluster.root:
            member, outside = self._around(member, cluster)
            around |= {self._loop_of(member, each, cluster) for each in outside}
        return around

    def _goes_on(
        self, reader: str, label: str, around: set[tuple[str, str]], cluster: Cluster
    ) -> bool:
        """Returns whether the index of a label surely goes on inside of some loops of a kernel.

        Args:
            reader: a function of the kernel.
            label: a label of it, or one that it reduces.
            around: the loops.
            cluster: the kernel.
        """
        pending, known = [(reader, label)], {(reader, label)}
        while pending:
            reader, label = pending.pop()
            labels = self.algorithm.functions[reader].label_names
            own = label in labels
            if self._has_nest(reader, cluster):
                loop = self._loop_of(reader, label, cluster)
                # Loops around a fused function may have other names than its labels.
                named = loop == (reader, label) and own and reader != cluster.root
                if loop not in around and not named:
                    return True
            elif not own:
                # It is reduced where the reader is computed, if not in the pass of the root.
                if label not in self._passes(cluster):
                    return True
            else:
                # Its index is one at which the reader is read.
                axis = labels.index(label)
                found = {
                    (other, walked)
                    for other in self.readers[reader] if other in cluster.members
                    for read in self.algorithm.accesses(other, reader)
                    if (walked := read.label_alone(axis)) is not None
                } - known  # fmt: skip
                known |= found
                pending += found
        return False

    def _is_written_once(self, name: str, target: str, label: str, cluster: Cluster) -> bool:
        """Returns whether each element of a function may be computed once at a loop.

        Args:
            name: the function.
            target: a function with loops of its own.
            label: the label of one of these loops.
            cluster: the kernel.
        """
        around = self._outside(target, label)
        loops = {self._loop_of(target, each, cluster) for each in around}
        return loops <= self._indexing(name, cluster)

    def _indexing(self, name: str, cluster: Cluster) -> set[tuple[str, str]]:
        """Returns the loops of a kernel on which indices depend at which it reads a function."""
        found = set[tuple[str, str]]()
        labels: dict[str, set[str]] = {}
        """The labels of functions, and those that they reduce, on which these indices depend."""
        for reader in self.readers[name]:
            reads = self.algorithm.accesses(reader, name)
            labels[reader] = {label for read in reads for label in read.used_labels}
        passes = self._passes(cluster)
        # Each function comes behind those that it reads.
        for reader in self.algorithm.functions:
            used = labels.get(reader, set()) if reader in cluster.members else set[str]()
            if not used:
                continue
            if self._has_nest(reader, cluster):
                found |= {self._loop_of(reader, label, cluster) for label in used}
                continue
            # What it reduces has loops of its own, but for a pass, which the root has.
            own = self.algorithm.functions[reader].label_names
            found |= {(cluster.root, label) for label in passes & used.difference(own)}
            for other in self.readers[reader]:
                at = labels.setdefault(other, set())
                for read in self.algorithm.accesses(other, reader):
                    for label, walked in zip(own, read.labels_by_axis()):
                        if label in used:
                            at.update(walked)
        return found

    def _loop_of(self, member: str, label: str, cluster: Cluster) -> tuple[str, str]:
        """Returns a loop of a kernel, by the function and the label that it is of.

        A loop around a fused function is that of the function that it is fused into.

        Args:
            member: a function of the kernel that has loops of its own.
            label: one of its labels, or one that it reduces.
            cluster: the kernel.
        """
        known: dict[tuple[str, str, str], str | None] = {}
        while True:
            target, around = self._around(member, cluster)
            walked = self._index_of((member, label, target), cluster, known) if around else None
            if walked not in around:
                return member, label
            member, label = target, walked

    def _index_of(
        self, item: tuple[str, str, str], cluster: Cluster,
        known: dict[tuple[str, str, str], str | None],
    ) -> str | None:  # fmt: skip
        """Returns the label at whose index a kernel reads a function along one of its own.

        Args:
            item: a function of the kernel that has loops of its own, one of its labels, or of those
                that it reduces, and the function that it is fused into.
            cluster: the kernel.
            known: what has been found, as many functions may be read on many ways.

        Returns:
            A label of the target, or one that it reduces; None if all reads have no one in common.
        """
        if item not in known:
            member, label, target = item
            own = label in self.algorithm.functions[member].label_names
            found = self._indices_of(member, label, target, cluster, known) if own else set()
            known[item] = found.pop() if len(found) == 1 else None
        return known[item]

    def _indices_of(
        self, member: str, label: str, target: str, cluster: Cluster,
        known: dict[tuple[str, str, str], str | None],
    ) -> set[str | None]:  # fmt: skip
        """Returns the labels at whose indices a kernel reads a function, None for other indices;
        arguments as for `_index_of`."""
        functions, found = self.algorithm.functions, set[str | None]()
        pending = [(member, label)]
        for name, own in pending:
            axis = functions[name].label_names.index(own)
            for reader in filter(cluster.members.__contains__, self.readers[name]):
                inlined = reader != target and not self._has_nest(reader, cluster)
                for read in self.algorithm.accesses(reader, name):
                    walked = read.label_alone(axis)
                    if walked is None or reader == target:
                        found.add(walked)
                    elif not inlined:
                        found.add(self._index_up_to(reader, walked, target, cluster, known))
                    elif walked not in functions[reader].label_names:
                        # It has a loop of its own where the reader is computed, but for a pass.
                        passes = self._passes(cluster) if target == cluster.root else set[str]()
                        found.add(walked if walked in passes else None)
                    elif (reader, walked) not in pending:
                        pending.append((reader, walked))
        return found

    def _index_up_to(
        self, member: str, label: str, target: str, cluster: Cluster,
        known: dict[tuple[str, str, str], str | None],
    ) -> str | None:  # fmt: skip
        """Returns the label of a function whose index is that of a loop which is fused into it, or
        into what is; None if there is none. Arguments are those of `_index_of`."""
        at: str | None = label
        while member != target and at is not None:
            outer, around = self._around(member, cluster)
            at = self._index_of((member, at, outer), cluster, known) if outer != member else None
            member, at = outer, at if at in around else None
        return at

    def _around(self, member: str, cluster: Cluster) -> tuple[str, list[str]]:
        """Returns the function that another one is fused into, and the labels of the loops there
        that are around it."""
        for item in cluster.decisions:
            if item.name == "fuse_at" and item.function == member:
                target, last = (str(argument.value) for argument in item.arguments)
                return target, self._outside(target, last)
        return member, []

    def _outside(self, target: str, label: str) -> list[str]:
        """Returns the labels of the loops of a function down to that over one of its labels, or to
        one that it reduces."""
        own = list(self.algorithm.functions[target].label_names)
        return own[: own.index(label) + 1] if label in own else [*own, label]

    def _is_around(self, loop: tuple[str, str], name: str, cluster: Cluster) -> bool:
        """Returns whether a loop may be around all reads of a function by a kernel."""
        for reader in filter(cluster.members.__contains__, self.readers[name]):
            if not self._has_nest(reader, cluster):
                # It reads where it is read, or where it is computed with others.
                if not self._is_around(loop, reader, cluster):
                    return False
                continue
            outside = set[tuple[str, str]]()
            member = reader
            while member != cluster.root and self._has_nest(member, cluster):
                member, around = self._around(member, cluster)
                outside |= {(member, label) for label in around}
            for read in self.algorithm.accesses(reader, name):
                own = {*self.algorithm.functions[reader].label_names, *read.used_labels}
                own |= self._passes(cluster) if reader == cluster.root else set[str]()
                loops = outside | {(reader, label) for label in own}
                if loop not in {self._loop_of(*item, cluster) for item in loops}:
                    return False
        return True

    def _is_read_along(self, member: str, label: str, cluster: Cluster) -> bool:
        """Returns whether a kernel reads a function at the index of one of its labels along it."""
        labels = self.algorithm.functions[member].label_names
        reads = [
            read for reader in cluster.members for read in self.algorithm.accesses(reader, member)
        ]  # fmt: skip
        return label in labels and all(
            read.label_alone(labels.index(label)) == label for read in reads
        )

    def _passes(self, cluster: Cluster) -> set[str]:
        """Returns the labels over which a kernel computes several reductions in one pass."""
        return {str(d.arguments[0].value) for d in cluster.decisions if d.name == "online"}

    def _has_nest(self, member: str, cluster: Cluster) -> bool:
        """Returns whether a member of a kernel has loops of its own, to fuse others into."""
        if member == cluster.root:
            return True
        return any(d.name == "fuse_at" and d.function == member for d in cluster.decisions)

    def _places(self, name: str, target: str, cluster: Cluster) -> list[str]:
        """Returns labels of a function inside whose loops another one may be computed."""
        loops = self._indexing(name, cluster)
        named = set[str]()
        if not self._is_of_root(loops, cluster):
            # Loops of fused functions may be the target's under other names, which names suggest.
            named = {
                label for reader in self.readers[name] if reader in cluster.members
                for read in self.algorithm.accesses(reader, name) for label in read.used_labels
            }  # fmt: skip

        def is_used(label: str) -> bool:
            return label in named or self._loop_of(target, label, cluster) in loops

        own = [*filter(is_used, self.algorithm.functions[target].label_names)]
        labels = (each for op in self.algorithm.reductions(target) for each in op.label_names)
        reduced = [*filter(is_used, labels)]
        # The innermost loop holds least; the outermost one computes least again.
        places = [*reduced[-1:], *own[-1:], *own[:1]]
        return list(dict.fromkeys(places))
