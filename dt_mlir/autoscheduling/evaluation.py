"""Kernels of a program's functions under some directives, with their predicted times."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context

from dt_mlir.analysis.tile_sizes import check_sizes
from dt_mlir.autoscheduling.decisions import Decision
from dt_mlir.autoscheduling.directives import tile_directives
from dt_mlir.autoscheduling.likeness import Likeness, Names, renamed
from dt_mlir.autoscheduling.naming import Naming
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.autoscheduling.tilings import best_tiling, specialized_tilings
from dt_mlir.autoscheduling.writing import Part, Writer
from dt_mlir.costs.device import Device
from dt_mlir.costs.tiling import Cost, Tiling
from dt_mlir.costs.work import Work
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import dt, tile
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.passes.convert_loop_to_tile import ConvertLoopToTilePass
from dt_mlir.pipeline import ALGORITHM, STAGES, run_pipeline

_Key = tuple[tuple[str, ...], tuple[Decision, ...]]
"""The functions of a cluster, the root first, and the directives that put them together."""
REPORTS = ("loop-report-costs", "tile-report-spills")
"""The passes that only warn."""
SCHEDULED = (*ALGORITHM, "convert-dt-to-loop", "apply-schedule")
"""The passes up to a scheduled module of the `loop` level."""
_ALL = [name for name in STAGES["warp"] if name not in (*SCHEDULED, *REPORTS)]
REST = _ALL[: _ALL.index("warp-split-producer") + 1]
"""The passes that lower a scheduled module of the `loop` level to what groups of warps do, up to
the last one that refuses any."""
TRIED = 2
"""The number of tilings with which a specialized kernel is tried."""
LEAST_GAIN = 0.02
"""The part of a time that a change must save to be made, where that is short."""
ENOUGH = 5e-7
"""The seconds that are enough to save where it is long."""


def pays(after: float, before: float) -> bool:
    """Returns whether a change that leads from one predicted time to another is worth making."""
    return after < before - min(LEAST_GAIN * before, ENOUGH)


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
    storage: tuple[Decision, ...] = ()
    """The directives about its results in memory."""
    decided: bool = False
    """True if its tiles follow from those of its readers."""

    @property
    def seconds(self) -> float:
        """The predicted time."""
        return sum(kernel.cost.seconds for kernel in self.kernels)


class Evaluator:
    """Predicts times of clusters.

    Args:
        algorithm: the program.
        device: the device.
        kept: directives of the program about rounding, which stay.
        assumes: whether groups of warps are taken to have tasks of their own wherever nothing says
            that they cannot, until `refutes` finds out, which takes long.
        naming: the program with its own labels, and what they are called here; None if so, too.
    """

    def __init__(
        self, algorithm: Algorithm, device: Device, kept: Sequence[Decision] = (),
        assumes: bool = False, naming: Naming | None = None,
    ) -> None:  # fmt: skip
        self.algorithm, self.device, self.assumes = algorithm, device, assumes
        self._naming = naming
        self._written = algorithm
        """The program with its own labels."""
        if naming is not None and naming.written_module is not algorithm.module:
            self._written = Algorithm(naming.written_module, algorithm.sizes)
        self.kept: dict[str, list[Decision]] = {}
        for item in kept:
            self.kept.setdefault(item.function, []).append(item)
        self.taken = set[str]()
        """The names that the program has."""
        self.parts: dict[str, int] = {}
        """The number of parts of each label that is split: a program has one."""
        self.in_parts: dict[Hashable, Cluster] = {}
        """Clusters with their reductions in parts where that pays, by what they are without."""
        self.likely_parts: dict[str, int] = {}
        """The number of parts of each label that the last kernel was fastest with."""
        self.parts_of_roots: dict[tuple[str, str], int] = {}
        """The number that kernels were fastest with, by their roots and the label."""
        self.by_names = False
        """True if passes are taken to gather all that `online` may by names, as it took more than
        was wanted."""
        self._decide_anew()
        self._works: dict[_Key, list[Work] | None] = {}
        self._likeness = Likeness(algorithm)
        self._alike: dict[Hashable, tuple[list[Work] | None, Names]] = {}
        """The work of parts of the program, with the names in them, by what is alike."""
        self._legal: dict[Hashable, bool] = {}
        """True for parts under schedules that can be lowered to tiles, or to what groups of warps
        do where they have tasks of their own, by what is alike."""
        self._found: dict[tuple[_Key, bool], Cluster] = {}
        self._tilings: dict[tuple[Hashable, bool], tuple[Tiling, Cost, list[str]]] = {}
        """The best tilings of kernels, with the labels in them, by signature."""
        self._specialized: dict[Hashable, bool] = {}
        """True for kernels whose groups of warps may have tasks of their own, by what is alike."""

    def _decide_anew(self) -> None:
        """Takes back what was decided for all of the program."""
        self.taken = {
            op.sym_name.data for op in self.algorithm.module.ops
            if isinstance(op, dt.FuncOp | dt.InputOp | dt.LabelOp)
        }  # fmt: skip
        self.parts, self.likely_parts, self.parts_of_roots = {}, {}, {}

    def evaluated(
        self, root: str, members: Iterable[str], decisions: Sequence[Decision], coarse: bool = True
    ) -> Cluster | None:
        """Returns a cluster with its predicted time; None where its directives are not legal.

        Args:
            root: the function that is stored.
            members: the functions that are computed with it.
            decisions: the directives that put them together.
            coarse: whether few tilings are enough.
        """
        key = tuple(dict.fromkeys((root, *members))), tuple(decisions)
        if key not in self._works:
            self._works[key] = self._lowered(*key)
        works = self._works[key]
        if works is None:
            return None
        if (key, coarse) not in self._found:
            if not coarse:
                for work in works:
                    known = self._of_kernel(key, work) in self._specialized
                    if known or not self.assumes:
                        work.specializes = self._specializes(key, work)
            kernels = tuple(Kernel(work, *self._best(work, coarse)) for work in works)
            self._found[key, coarse] = Cluster(root, *key, kernels)
        return self._found[key, coarse]

    def _best(self, work: Work, coarse: bool) -> tuple[Tiling, Cost]:
        """Returns the best tiling of a kernel, looked for once among layers that are alike."""
        key, labels = (work.signature(), coarse), list(work.labels())
        if key not in self._tilings:
            self._tilings[key] = *best_tiling(work, self.device, coarse), labels
        tiling, cost, others = self._tilings[key]
        return (tiling if labels == others else tiling.renamed(dict(zip(others, labels)))), cost

    def _specializes(self, key: _Key, work: Work) -> bool:
        """Returns whether groups of warps may have tasks of their own in a kernel.

        It is tried with the best tiles; others may still be too large.

        Args:
            key: the functions and directives that the kernel is of.
            work: what it does.
        """
        if not work.specializes:
            return False
        kernel = self._of_kernel(key, work)
        if kernel not in self._specialized:
            trials = [
                Cluster(key[0][0], *key, (Kernel(work, *item),))
                for item in specialized_tilings(work, self.device, TRIED)
            ]
            self._specialized[kernel] = any(
                self._lowers(trial, self.directives(trial)) for trial in trials
            )
        return self._specialized[kernel]

    def _of_kernel(self, key: _Key, work: Work) -> Hashable:
        """Returns what is equal for kernels that are lowered alike: what they do does not tell of
        boundary conditions."""
        return self._legal_alike(*key), work.signature()

    def _legal_alike(self, members: Sequence[str], schedule: Sequence[Decision]) -> Hashable:
        """Returns what is equal for parts under schedules of which all are legal, or none."""
        alike = self._likeness.key(members, schedule)
        return (tuple(members), tuple(schedule)) if alike is None else alike[0]

    def refutes(self, clusters: Iterable[Cluster]) -> bool:
        """Returns whether clusters have kernels that were assumed to be specialized and cannot be.

        If so, clusters are to be found again. If not, nothing follows from what was assumed of
        others: a kernel that is not chosen where it is taken to be fast is not where it is slow.
        """
        refuted = False
        for cluster in clusters:
            key = cluster.members, cluster.decisions
            for kernel in cluster.kernels:
                if kernel.tiling.consumers and not self._specializes(key, kernel.work):
                    refuted = True
        if refuted:
            self._found = {item: known for item, known in self._found.items() if item[1]}
            self._decide_anew()
        return refuted

    def refuse(self, cluster: Cluster) -> None:
        """Takes the directives of a cluster to be illegal, as its tiles cannot be lowered, or as it
        would compute what others do.

        Clusters are to be found again.
        """
        key = cluster.members, cluster.decisions
        self._works[key] = None
        self._found = {item: known for item, known in self._found.items() if item[0] != key}
        self.in_parts = {}
        self._decide_anew()

    def schedule(self, cluster: Cluster) -> list[Decision] | None:
        """Returns the directives of a cluster; None where its tiles cannot be lowered.

        Args:
            cluster: the cluster, its kernels with their tiles.
        """
        schedule = self.directives(cluster)
        parts = [cluster]
        if any(kernel.tiling.consumers for kernel in cluster.kernels):
            # One whose groups of warps have tasks of their own was lowered by itself before.
            parts = [replace(cluster, kernels=(kernel,)) for kernel in cluster.kernels]
        if not all(self._lowers(part, self.directives(part)) for part in parts):
            return None
        # By itself the root is an output, which cannot be padded.
        return [*schedule, *cluster.storage]

    def _lowers(self, cluster: Cluster, schedule: Sequence[Decision]) -> bool:
        """Returns whether a cluster can be lowered under a schedule."""
        key = self._legal_alike(cluster.members, schedule)
        if key not in self._legal:
            self._legal[key] = self._is_legal(cluster, schedule)
        return self._legal[key]

    def _is_legal(self, cluster: Cluster, schedule: Sequence[Decision]) -> bool:
        try:
            module = self.algorithm.scheduled(cluster.members, schedule)
            if any(kernel.tiling.consumers for kernel in cluster.kernels):
                run_pipeline(module, REST, verify=False)
            else:
                ConvertLoopToTilePass().apply(Context(), module)
                for kernel in module.ops:
                    if isinstance(kernel, tile.KernelOp):
                        check_sizes(kernel)
        except CompileError:
            return False
        return True

    def directives(self, cluster: Cluster) -> list[Decision]:
        """Returns the directives of a cluster but for those of its storage, legal or not."""
        tiles = [
            decision for k in cluster.kernels
            for decision in tile_directives(k.work, k.tiling, k.cost, self.device, self.taken)
        ]  # fmt: skip
        rounding = self.rounding(cluster.members, cluster.decisions) or []
        return [*cluster.decisions, *rounding, *tiles]

    def written(
        self, parts: Iterable[Part], apart: Collection[str] = ()
    ) -> list[list[Decision]]:
        """Returns the directives of kernels of one schedule, with the program's own labels.

        Args:
            parts: the functions and directives of each kernel.
            apart: as for `Writer`.
        """
        if self._naming is None:
            return [[*decisions] for _, decisions in parts]
        taken = {
            op.sym_name.data for op in self._written.module.ops
            if isinstance(op, dt.FuncOp | dt.InputOp | dt.LabelOp)
        }  # fmt: skip
        writer = Writer(self._naming, self.algorithm, taken, apart)
        return [writer.written(part) for part in parts]

    def is_legal(self, schedule: Sequence[Decision], others: Collection[str] = ()) -> bool:
        """Returns whether a schedule is legal in the program, with its own labels; arguments as for
        `Algorithm.is_legal`."""
        if self._naming is not None and self._written is not self.algorithm:
            self._written.share_kernels(self.algorithm, self._naming.unchanged())
        return self._written.is_legal(schedule, others)

    def known(self, root: str, members: Iterable[str]) -> list[Cluster]:
        """Returns the clusters of a root and its members that have been evaluated.

        They differ in their directives, and their tiles were chosen coarsely.
        """
        wanted = {root, *members}
        return [
            cluster for (key, coarse), cluster in self._found.items()
            if coarse and key[0][0] == root and wanted == {*key[0]}
        ]

    def _lowered(
        self, members: tuple[str, ...], decisions: tuple[Decision, ...]
    ) -> list[Work] | None:
        """Returns what the kernels of functions do, the root first; None if that is not legal."""
        rounding = self.rounding(members, decisions)
        if rounding is None:
            return None
        said = [*decisions, *rounding]
        alike = self._likeness.key(members, said)
        if alike is None:
            return self._worked(members, said)
        key, names = alike
        if key not in self._alike:
            self._alike[key] = self._worked(members, said), names
        works, others = self._alike[key]
        if works is None or others == names:
            return works
        return [renamed(work, others, names) for work in works]

    def _worked(self, members: Sequence[str], said: Sequence[Decision]) -> list[Work] | None:
        try:
            return self.algorithm.works(members, said)
        except CompileError:
            return None

    def rounding(
        self, members: Sequence[str], decisions: Sequence[Decision]
    ) -> list[Decision] | None:
        """Returns the kept directives of a kernel's functions, which then name its root.

        None if they would round what others compute, or contradict each other.

        Args:
            members: the functions, the root first.
            decisions: the directives that put them together.
        """
        root = members[0]
        found: dict[str, Decision] = {}
        for member in members:
            for item in self.kept.get(member, ()):
                if member != root and not self._may_move(item, members):
                    return None
                moved = replace(item, function=root)
                if found.setdefault(item.name, moved) != moved:
                    return None
        for item in decisions:
            if item.name == "rfactor" and "precision" in found:
                # The products are those of the parts, which inherit no directive.
                parts = str(item.arguments[1].value)
                found["precision"] = replace(found["precision"], function=parts)
        return list(found.values())

    def _may_move(self, item: Decision, members: Sequence[str]) -> bool:
        """Returns whether a directive of a function may hold for all of a kernel.

        It may if the root has it too, or if it is about products and all that there are have it.
        """
        without = [m for m in members if not any(k.name == item.name for k in self.kept.get(m, ()))]
        if members[0] not in without or item.name == "deterministic":
            return True
        return item.name == "precision" and not any(map(self.multiplies, without))

    def multiplies(self, name: str) -> bool:
        """Returns whether a function has sums of products."""
        return any(op.kind.data is ReductionKind.DOT for op in self.algorithm.reductions(name))

    def form(self, name: str) -> Hashable:
        """Returns what is equal for functions that compute the same from tensors that are alike,
        along labels of the same names."""
        alike = self._likeness.key([name], ())
        return name if alike is None else (alike[0], alike[1].labels)

    def single(self, name: str) -> Cluster | None:
        """Returns a function in a kernel of its own; None where that is not legal."""
        return self.evaluated(name, (), ())
