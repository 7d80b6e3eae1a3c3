"""The functions that each kernel computes, and how they are fused.

Functions are visited from the outputs on, each after those that read it. One that only the
functions of one kernel read may join that kernel, inlined or at one of a few places; one that
several kernels read may be inlined into all of them. Whether it does is decided by the predicted
times of the kernels with it and without it, each with its best tiles. Where several reductions over
a label are needed, or a reduction goes up to each index, computing them in one pass is compared
with that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dt_mlir.autoscheduling.decisions import Decision, plain
from dt_mlir.autoscheduling.evaluation import Cluster, Evaluator, pays
from dt_mlir.autoscheduling.variants import with_parts
from dt_mlir.diagnostics import CompileError


class Clusters:
    """Puts functions of a program together.

    Args:
        evaluator: the program, and the device.
        only: the functions in question; None for all. What others read of them is not looked at.
        passes: whether reductions may be computed in one pass.
    """

    def __init__(
        self, evaluator: Evaluator, only: Iterable[str] | None = None, passes: bool = True
    ) -> None:
        self.evaluator, self.algorithm = evaluator, evaluator.algorithm
        names = set(self.algorithm.functions if only is None else only)
        self.order = [name for name in self.algorithm.functions if name in names]
        self.passes = passes
        self.readers = {
            name: [r for r in self.algorithm.readers[name] if r in names] for name in self.order
        }
        self.found: dict[str, Cluster] = {}
        self.home: dict[str, str] = {}
        """The root of the cluster of each function; none for one that several inline."""

    def run(self) -> list[Cluster]:
        """Returns the clusters, in the order in which their kernels run.

        Raises:
            CompileError: where the program itself cannot be compiled.
        """
        for name in reversed(self.order):
            self._place(name)
        return [self.found[name] for name in self.order if name in self.found]

    def _place(self, name: str) -> None:
        """Decides where a function is computed whose readers have their places."""
        if name in self.home:
            return
        homes = {root for reader in self.readers[name] for root in self._homes(reader)}
        if name not in self.algorithm.outputs and homes:
            if len(homes) == 1 and self._join(name, self.found[next(iter(homes))]):
                return
            if len(homes) > 1 and self._inline_everywhere(name, homes):
                return
        self._set(self._root(name))

    def _homes(self, reader: str) -> set[str]:
        if reader in self.home:
            return {self.home[reader]}
        return {root for root, cluster in self.found.items() if reader in cluster.members}

    def _set(self, cluster: Cluster) -> None:
        self.found[cluster.root] = cluster
        for member in cluster.members:
            self.home[member] = cluster.root

    def _root(self, name: str) -> Cluster:
        """Returns the cluster of a function that is stored, before others join it."""
        best = self.evaluator.single(name)
        if best is None:
            # What is wrong with it is the program's fault, and said so.
            self.algorithm.works([name], [])
            raise CompileError(
                f"directives about the rounding of '{name}' contradict each other",
                self.algorithm.functions[name], "leave one of them out",
            )  # fmt: skip
        if not self.passes:
            return best
        for label in self._scanned(name):
            decision = plain(name, "scan", label, reason="one pass instead of one for each index")
            trial = self.evaluator.evaluated(name, (), [decision])
            if trial is not None and pays(self._time(trial), self._time(best)):
                best = trial
        for label, members in self._dependent(name):
            decision = plain(name, "online", label, reason="its reductions share one pass")
            trial = self._gathered(name, members, decision)
            if trial is None:
                continue
            apart = Clusters(self.evaluator, trial.members, passes=False).run()
            if pays(self._time(trial), sum(map(self._time, apart))):
                best = trial
        return best

    def _time(self, cluster: Cluster) -> float:
        """Returns the predicted time of a cluster, its reductions in parts if that is faster."""
        return with_parts(self.evaluator, cluster).seconds

    def _gathered(self, name: str, members: Sequence[str], decision: Decision) -> Cluster | None:
        """Returns the functions that are computed in one pass; None if the pass is not legal."""
        trial = self.evaluator.evaluated(name, members, [decision])
        if trial is None:
            return None
        apart = {kernel.work.root for kernel in trial.kernels} - {name}
        if not apart:
            return trial
        kept = [member for member in trial.members if member not in apart]
        return self.evaluator.evaluated(name, kept, [decision])

    def _scanned(self, name: str) -> list[str]:
        """Returns the labels up to whose indices a function may be scanned."""
        labels = self.algorithm.functions[name].label_names
        used = {
            label for op in self.algorithm.reductions(name) for label in op.constrained_labels
        }
        return [label for label in labels if label in used]

    def _dependent(self, name: str) -> list[tuple[str, list[str]]]:
        """Returns labels over which several reductions are computed for a function, with the
        functions that have each and are computed for it alone."""
        labels = dict.fromkeys(self.algorithm.functions[name].label_names)
        for member in (name, *self.algorithm.reads[name]):
            for op in self.algorithm.reductions(member):
                labels.update(dict.fromkeys(op.label_names))
        found: list[tuple[str, list[str]]] = []
        for label in labels:
            members = self._upstream(name, label)
            reductions = [
                op for member in members for op in self.algorithm.reductions(member)
                if label in op.label_names
            ]  # fmt: skip
            if len(reductions) > 1:
                found.append((label, members))
        return found

    def _upstream(self, name: str, label: str) -> list[str]:
        """Returns a function and those with a label that it reads through such functions, as far
        as no others read them."""
        members = {name}
        for other in reversed(self.order):
            readers = self.algorithm.readers[other]
            free = other not in self.algorithm.outputs and other not in self.home
            if readers and free and self._has_label(other, label) and members.issuperset(readers):
                members.add(other)
        return [name, *(other for other in self.order if other in members - {name})]

    def _has_label(self, name: str, label: str) -> bool:
        op = self.algorithm.functions[name]
        reduced = {found for item in self.algorithm.reductions(name) for found in item.label_names}
        return label in op.label_names or label in reduced

    def _join(self, name: str, cluster: Cluster) -> bool:
        """Lets a function join a kernel if that is predicted to pay; returns whether it does."""
        options = self._ways(name, cluster)
        if not options:
            return False
        members = (*cluster.members, name)
        best: Cluster | None = None
        for decision in options:
            trial = self.evaluator.evaluated(cluster.root, members, [*cluster.decisions, decision])
            if trial is not None and (best is None or trial.seconds < best.seconds):
                best = trial
        before = cluster.seconds + self.evaluator.stored(name)
        if best is None or not pays(best.seconds, before):
            return False
        self._set(best)
        return True

    def _ways(self, name: str, cluster: Cluster) -> list[Decision]:
        """Returns the ways in which a function may join a kernel."""
        algorithm = self.algorithm
        found: list[Decision] = []
        if not algorithm.reductions(name):
            found.append(plain(name, "inline", reason="it is elementwise"))
            reads = sum(len(algorithm.accesses(r, name)) for r in self.readers[name])
            if reads == 1:
                return found
        gathered = {m for m in cluster.members if not self._has_nest(m, cluster)}
        targets = [cluster.root, *(r for r in self.readers[name] if r != cluster.root)]
        for target in dict.fromkeys(targets):
            if target in gathered and target != cluster.root:
                continue
            for label in self._places(name, target, cluster):
                found.append(plain(name, "fuse_at", target, label))
        return found

    def _has_nest(self, member: str, cluster: Cluster) -> bool:
        """Returns whether a member of a kernel has loops of its own, to fuse others into."""
        if member == cluster.root:
            return True
        return any(d.name == "fuse_at" and d.function == member for d in cluster.decisions)

    def _places(self, name: str, target: str, cluster: Cluster) -> list[str]:
        """Returns labels of a function inside whose loops another one may be computed."""
        algorithm = self.algorithm
        used: dict[str, None] = {}
        for reader in self.readers[name]:
            if reader in cluster.members:
                for op in algorithm.accesses(reader, name):
                    used.update(dict.fromkeys(op.used_labels))
        own = [label for label in algorithm.functions[target].label_names if label in used]
        reduced = [
            label for op in algorithm.reductions(target) for label in op.label_names
            if label in used
        ]  # fmt: skip
        # The innermost loop holds least; the outermost one computes least again.
        places = [*reduced[-1:], *own[-1:], *own[:1]]
        return list(dict.fromkeys(places))

    def _inline_everywhere(self, name: str, homes: set[str]) -> bool:
        """Inlines an elementwise function into several kernels if that is predicted to pay."""
        if self.algorithm.reductions(name) or name in self.algorithm.outputs:
            return False
        decision = plain(name, "inline", reason="it is elementwise, for several kernels")
        trials: list[Cluster] = []
        for root in sorted(homes):
            cluster = self.found[root]
            trial = self.evaluator.evaluated(
                root, (*cluster.members, name), [*cluster.decisions, decision]
            )
            if trial is None:
                return False
            trials.append(trial)
        before = sum(self.found[root].seconds for root in homes) + self.evaluator.stored(name)
        if not pays(sum(trial.seconds for trial in trials), before):
            return False
        for trial in trials:
            self.found[trial.root] = trial
        return True


