"""What is computed together: the functions of each kernel, and how they are fused.

Functions are visited from the outputs on, each after those that read it. One that only the
functions of one kernel read may join that kernel, inlined or at one of a few places; one that
several kernels read may be inlined into all of them. Whether it does is decided by the predicted
times of the kernels with it and without it, each with its best tiles. Where several reductions over
a label depend on each other, or a reduction goes up to each index, computing them in one pass is
tried first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dt_mlir.autoscheduling.decisions import Decision, plain
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.autoscheduling.tilings import best_tiling
from dt_mlir.costs.device import Device
from dt_mlir.costs.model import Cost, Tiling
from dt_mlir.costs.work import Work
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import dt
from dt_mlir.dialects.elem import ReductionKind

GAIN = 0.98
"""The part of the time without it that a change must not exceed to be made."""


@dataclass(frozen=True)
class Kernel:
    """A kernel, its best tiles, and what these cost."""

    work: Work
    tiling: Tiling
    cost: Cost


@dataclass(frozen=True)
class Cluster:
    """The functions that a kernel computes, or several where reductions are split into parts."""

    root: str
    members: tuple[str, ...]
    """The functions, the root first."""
    decisions: tuple[Decision, ...]
    """The directives that put them together, those of consumers first."""
    kernels: tuple[Kernel, ...] = ()

    @property
    def seconds(self) -> float:
        """The predicted time."""
        return sum(kernel.cost.seconds for kernel in self.kernels)


class Clusters:
    """Puts the functions of a program together.

    Args:
        algorithm: the program.
        device: the device.
        kept: directives of the program about rounding, which stay, by the function that they name.
    """

    def __init__(
        self, algorithm: Algorithm, device: Device, kept: Sequence[Decision] = ()
    ) -> None:
        self.algorithm, self.device = algorithm, device
        self.kept: dict[str, list[Decision]] = {}
        for item in kept:
            self.kept.setdefault(item.function, []).append(item)
        self.taken = {
            op.sym_name.data for op in algorithm.module.ops
            if isinstance(op, dt.FuncOp | dt.InputOp | dt.LabelOp)
        }  # fmt: skip
        """The names that the program has."""
        self.found: dict[str, Cluster] = {}
        self.home: dict[str, str] = {}
        """The root of the cluster of each function; none for one that several inline."""
        self.alone: dict[str, Cluster | None] = {}

    def run(self) -> list[Cluster]:
        """Returns the clusters, in the order in which their kernels run.

        Raises:
            CompileError: where the program itself cannot be compiled.
        """
        for name in reversed(list(self.algorithm.functions)):
            self._place(name)
        order = list(self.algorithm.functions)
        return [self.found[name] for name in order if name in self.found]

    def _place(self, name: str) -> None:
        """Decides where a function is computed whose readers have their places."""
        if name in self.home:
            return
        homes = {root for reader in self.algorithm.readers[name] for root in self._homes(reader)}
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

    def evaluated(
        self, root: str, members: Iterable[str], decisions: Sequence[Decision], coarse: bool = True
    ) -> Cluster | None:
        """Returns a cluster with its predicted time; None where its directives are not legal."""
        names = tuple(dict.fromkeys((root, *members)))
        rounding = self.rounding(root, names, decisions)
        if rounding is None:
            return None
        outputs = [name for name in names if name in self.algorithm.outputs and name != root]
        try:
            works = self.algorithm.works(names, [root, *outputs], [*decisions, *rounding])
        except CompileError:
            return None
        kernels = tuple(
            Kernel(work, *best_tiling(work, self.device, coarse)) for work in works
        )
        return Cluster(root, names, tuple(decisions), kernels)

    def rounding(
        self, root: str, members: Sequence[str], decisions: Sequence[Decision]
    ) -> list[Decision] | None:
        """Returns the kept directives of a kernel, which then name its root.

        None if its functions want different ones.
        """
        found: dict[str, Decision] = {}
        for member in members:
            for item in self.kept.get(member, ()):
                moved = replace(item, function=root)
                if found.setdefault(item.name, moved) != moved:
                    return None
        parts = [d.arguments[1].value for d in decisions if d.name == "rfactor"]
        if parts and "precision" in found:
            # The products are those of the parts, which inherit no directive.
            found["precision"] = replace(found["precision"], function=str(parts[0]))
        products = [m for m in members if self._has_product(m)]
        if "precision" in found and any(
            not any(k.name == "precision" for k in self.kept.get(m, ())) for m in products
        ) and len(products) > 1 and not self._in_one_pass(root):
            return None
        return list(found.values())

    def _in_one_pass(self, root: str) -> bool:
        # A directive of a root holds for all that it computes in one pass.
        return any(item.name == "precision" for item in self.kept.get(root, ()))

    def _has_product(self, name: str) -> bool:
        return any(op.kind.data is ReductionKind.DOT for op in self.algorithm.reductions(name))

    def single(self, name: str) -> Cluster | None:
        """Returns a function in a kernel of its own."""
        if name not in self.alone:
            self.alone[name] = self.evaluated(name, (), ())
        return self.alone[name]

    def _root(self, name: str) -> Cluster:
        """Returns the cluster of a function that is stored, before others join it."""
        single = self.single(name)
        if single is None:
            # What is wrong with it is the program's fault, and said so.
            self.algorithm.works([name], [name], [])
            raise CompileError(f"'{name}' rounds in two ways", self.algorithm.functions[name])
        best = single
        for label in self._scanned(name):
            decision = plain(
                name, "scan", label, reason="one pass instead of one for each index"
            )
            trial = self.evaluated(name, (), [decision])
            if trial is not None and trial.seconds < GAIN * best.seconds:
                best = trial
        for label, members in self._dependent(name):
            decision = plain(name, "online", label, reason="its reductions share one pass")
            trial = self.evaluated(name, members, [decision])
            if trial is None:
                continue
            kept = tuple(m for m in trial.members if self._is_gathered(m, trial))
            trial = replace(trial, members=kept) if len(kept) == len(trial.members) else (
                self.evaluated(name, kept, [decision])
            )
            if trial is None:
                continue
            without = best.seconds + sum(
                self._stored(m) for m in trial.members if m != name
            )
            if trial.seconds < without and trial.seconds < self._fused(name, trial.members):
                best = trial
        return best

    def _is_gathered(self, member: str, trial: Cluster) -> bool:
        return all(kernel.work.root != member for kernel in trial.kernels[:-1])

    def _stored(self, name: str) -> float:
        found = self.single(name)
        return found.seconds if found is not None else float("inf")

    def _fused(self, name: str, members: Sequence[str]) -> float:
        """Returns the time of functions that are fused in the usual way."""
        other = Clusters(self.algorithm, self.device, [k for ks in self.kept.values() for k in ks])
        other.alone = self.alone
        start = self.single(name)
        assert start is not None
        other._set(start)
        for member in reversed(list(self.algorithm.functions)):
            if member in members and member != name:
                if not other._join(member, other.found[name]):
                    return sum(c.seconds for c in other.found.values()) + sum(
                        self._stored(m) for m in members if m not in other.home
                    )
        return other.found[name].seconds

    def _scanned(self, name: str) -> list[str]:
        """Returns the labels up to whose indices a function may be scanned."""
        labels = self.algorithm.functions[name].label_names
        used = {
            label for op in self.algorithm.reductions(name) for label in op.constrained_labels
        }
        return [label for label in labels if label in used]

    def _dependent(self, name: str) -> list[tuple[str, list[str]]]:
        """Returns labels over which several reductions are computed for a function, with those
        that are for it alone."""
        upstream: dict[str, None] = {name: None}
        for other in reversed(list(self.algorithm.functions)):
            readers = self.algorithm.readers[other]
            free = other not in self.algorithm.outputs and other not in self.home
            if readers and free and all(reader in upstream for reader in readers):
                upstream[other] = None
        counts: dict[str, int] = {}
        for member in upstream:
            for op in self.algorithm.reductions(member):
                for label in op.label_names:
                    counts[label] = counts.get(label, 0) + 1
        found: list[tuple[str, list[str]]] = []
        for label, count in counts.items():
            if count > 1:
                members = [m for m in upstream if m == name or self._has_label(m, label)]
                found.append((label, members))
        return found

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
            trial = self.evaluated(cluster.root, members, [*cluster.decisions, decision])
            if trial is not None and (best is None or trial.seconds < best.seconds):
                best = trial
        if best is None or best.seconds > GAIN * (cluster.seconds + self._stored(name)):
            return False
        self._set(best)
        return True

    def _ways(self, name: str, cluster: Cluster) -> list[Decision]:
        """Returns the ways in which a function may join a kernel."""
        algorithm = self.algorithm
        found: list[Decision] = []
        if not algorithm.reductions(name):
            found.append(plain(name, "inline", reason="it is elementwise"))
            reads = sum(len(algorithm.accesses(r, name)) for r in algorithm.readers[name])
            if reads == 1:
                return found
        gathered = {m for m in cluster.members if not self._has_nest(m, cluster)}
        targets = [cluster.root, *(r for r in algorithm.readers[name] if r != cluster.root)]
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
        for reader in algorithm.readers[name]:
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
            trial = self.evaluated(
                root, (*cluster.members, name), [*cluster.decisions, decision]
            )
            if trial is None:
                return False
            trials.append(trial)
        before = sum(self.found[root].seconds for root in homes) + self._stored(name)
        if sum(trial.seconds for trial in trials) > GAIN * before:
            return False
        for trial in trials:
            self.found[trial.root] = trial
        return True


