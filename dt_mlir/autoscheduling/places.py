"""The places in a kernel where functions that it reads may be computed.

A function may be inlined, or fused at a loop of the kernel's root or of a function that was fused
before. Ways that are never legal are left out, as each is lowered to be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from dt_mlir.autoscheduling.decisions import Decision, plain
from dt_mlir.autoscheduling.evaluation import Cluster
from dt_mlir.autoscheduling.nests import Loop, Nests
from dt_mlir.autoscheduling.slices import Algorithm


class Places:
    """The places in kernels of a program's functions.

    Args:
        algorithm: the program.
        readers: the functions that read each function.
    """

    def __init__(self, algorithm: Algorithm, readers: Mapping[str, Sequence[str]]) -> None:
        self.algorithm, self.readers = algorithm, readers
        self._last: Nests | None = None
        """The loops of the kernel that was looked at last: a function mostly joins that one."""

    def nests(self, cluster: Cluster) -> Nests:
        """Returns the loops of a kernel."""
        if self._last is None or not self._last.grow(cluster):
            self._last = Nests(self.algorithm, self.readers, cluster)
        return self._last

    def ways(self, name: str, cluster: Cluster, stores: bool) -> list[Decision]:
        """Returns the ways in which a function may join a kernel, which may have to store it."""
        algorithm, nests = self.algorithm, self.nests(cluster)
        found: list[Decision] = []
        reason, stored = ("it is stored from there", [name]) if stores else ("", [])
        if not stores and not algorithm.reductions(name) and not self.is_gathered(name, cluster):
            found.append(plain(name, "inline", reason="it is elementwise"))
            reads = sum(len(algorithm.accesses(r, name)) for r in self.readers[name])
            if reads == 1:
                return found
        readers = [r for r in self.readers[name] if r in nests.members and nests.has_nest(r)]
        loops = nests.indexing(name)
        places = [
            (target, label) for target in dict.fromkeys([cluster.root, *readers])
            for label in self._places(name, target, loops, nests)
        ]  # fmt: skip
        known = set[Loop]()
        for target, label in places:
            loop = nests.loop_of(target, label)
            if loop not in known and nests.is_around(loop, name):
                known.add(loop)
                around = {nests.loop_of(target, each) for each in nests.outside(target, label)}
                # Each element that is stored has to be computed once.
                if stores and not around <= loops:
                    continue
                found.append(plain(name, "fuse_at", target, label, reason=reason, stored=stored))
        return found

    def is_gathered(self, name: str, cluster: Cluster) -> bool:
        """Returns whether a kernel computes a function in one pass with its reductions anyway.

        Args:
            name: a function that only the kernel's functions read.
            cluster: the kernel.
        """
        labels, nests = self.algorithm.functions[name].label_names, self.nests(cluster)
        return not nests.passes.isdisjoint(labels) and all(
            read.label_alone(axis) == label
            for reader in self.readers[name] if reader in nests.members
            for read in self.algorithm.accesses(reader, name) for axis, label in enumerate(labels)
        )

    def held(self, decision: Decision, cluster: Cluster) -> set[str]:
        """Returns the labels of a function along which a kernel surely holds all of its elements
        that computes it so.

        Args:
            decision: one of the ways in which a function may join a kernel.
            cluster: the kernel.
        """
        if decision.name != "fuse_at":
            return set()
        name, nests = decision.function, self.nests(cluster)
        around = nests.loops_at(*_place(decision))
        held = set[str]()
        for axis, own in enumerate(self.algorithm.functions[name].label_names):
            for reader in filter(nests.members.__contains__, self.readers[name]):
                labels = {r.label_alone(axis) for r in self.algorithm.accesses(reader, name)}
                if any(self._goes_on(reader, label, around, nests) for label in labels if label):
                    held.add(own)
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
        work, nests = cluster.kernels[0].work, self.nests(cluster)
        depends = nests.indexing(decision.function)
        if any(walk.share < 1 for walk in work.loops) or not _are_of(cluster.root, depends):
            return 0
        if decision.name != "fuse_at":
            return 1
        walks, own = work.labels(), self._labels_of(decision.function)
        found = 1
        for root, label in nests.loops_at(*_place(decision)) - depends:
            # The grid has no label that several loops walk.
            if root != cluster.root or label not in work.grid or label in own:
                continue
            if not any(place in work.single or place in work.whole for place in walks[label]):
                found *= blocks(work.loops[work.grid[label]].extent)
        return found

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

    def _goes_on(
        self, reader: str, label: str, around: set[Loop], nests: Nests
    ) -> bool:
        """Returns whether the index of a label surely goes on inside of some loops of a kernel.

        Args:
            reader: a function of the kernel.
            label: a label of it, or one that it reduces.
            around: the loops.
            nests: the loops of the kernel.
        """
        pending, known = [(reader, label)], {(reader, label)}
        while pending:
            reader, label = pending.pop()
            labels = self.algorithm.functions[reader].label_names
            own = label in labels
            if nests.has_nest(reader):
                loop = nests.loop_of(reader, label)
                # Loops around a fused function may have other names than its labels.
                named = loop == (reader, label) and own and reader != nests.root
                if loop not in around and not named:
                    return True
            elif not own:
                # It is reduced where the reader is computed, if not in the pass of the root.
                if label not in nests.passes:
                    return True
            else:
                # Its index is one at which the reader is read.
                axis = labels.index(label)
                found = {
                    (other, walked)
                    for other in self.readers[reader] if other in nests.members
                    for read in self.algorithm.accesses(other, reader)
                    if (walked := read.label_alone(axis)) is not None
                } - known  # fmt: skip
                known |= found
                pending += found
        return False

    def _places(self, name: str, target: str, loops: set[Loop], nests: Nests) -> list[str]:
        """Returns labels of a function inside whose loops another one may be computed.

        Args:
            name: the other one.
            target: the function.
            loops: the loops on which indices depend at which the kernel reads the other one.
            nests: the loops of the kernel.
        """
        named = set[str]()
        if not _are_of(nests.root, loops):
            # Loops of fused functions may be the target's under other names, which names suggest.
            named = {
                label for reader in self.readers[name] if reader in nests.members
                for read in self.algorithm.accesses(reader, name) for label in read.used_labels
            }  # fmt: skip

        def is_used(label: str) -> bool:
            return label in named or nests.loop_of(target, label) in loops

        own = [*filter(is_used, self.algorithm.functions[target].label_names)]
        labels = (each for op in self.algorithm.reductions(target) for each in op.label_names)
        reduced = [*filter(is_used, labels)]
        # The innermost loop holds least; the outermost one computes least again.
        places = [*reduced[-1:], *own[-1:], *own[:1]]
        return list(dict.fromkeys(places))


def _place(decision: Decision) -> Loop:
    """Returns the function and the label that another one is fused at."""
    target, label = (str(argument.value) for argument in decision.arguments)
    return target, label


def _are_of(root: str, loops: Iterable[Loop]) -> bool:
    """Returns whether loops are a root's own, and not perhaps so under another name."""
    return all(member == root for member, _ in loops)
