"""`auto`: a schedule for a program at some sizes, without running anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region
from xdsl.rewriter import Rewriter

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.clusters import Clusters
from dt_mlir.autoscheduling.decisions import Decision
from dt_mlir.autoscheduling.evaluation import Cluster, Evaluator, Kernel
from dt_mlir.autoscheduling.naming import Naming
from dt_mlir.autoscheduling.ordering import order_operands
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.autoscheduling.storage import aligned
from dt_mlir.autoscheduling.tilings import ranked_tilings
from dt_mlir.autoscheduling.variants import all_finished
from dt_mlir.autoscheduling.writing import Part
from dt_mlir.compiling import compiling
from dt_mlir.copying import copy_of
from dt_mlir.costs.device import Device
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import sched

KEPT = ("precision", "math", "deterministic")
"""The directives of a program that stay: they say which rounding is wanted."""
NOMINAL = 4096
"""The size of a label that nothing says one of."""
TRIALS = 6
"""The number of tilings that are tried until one can be lowered."""
SEARCHES = 6
"""The number of times that kernels are looked for where tiles of some cannot be lowered."""


def open_labels(module: ModuleOp, given: Mapping[str, int]) -> list[str]:
    """Returns labels in use that neither given sizes nor the program say a size of."""
    interface = Interface.of(module)
    known = {*given, *interface.fixed, *interface.derived()}
    return [
        group[0] for group in interface.groups
        if not known & set(group) and interface.used & set(group)
    ]  # fmt: skip


def assumed_sizes(
    module: ModuleOp, given: Mapping[str, int], nominal: int = NOMINAL
) -> dict[str, int]:
    """Returns a size for each label: the given ones, and a nominal one for `open_labels`.

    Args:
        module: a program at the `dt` level.
        given: sizes of some labels.
        nominal: the size of others that nothing decides.

    Raises:
        CompileError: if there is no such label, or sizes contradict each other.
    """
    interface = Interface.of(module)
    for label, size in given.items():
        if size < 0:
            raise CompileError(f"the size of '{label}' must be 0 or more, not {size}")
    interface.sizes(given)
    others = dict.fromkeys(open_labels(module, given), nominal)
    try:
        return interface.sizes({**given, **others})
    except CompileError:
        return interface.sizes(given)


@compiling()
def auto_schedule(
    module: ModuleOp, sizes: Mapping[str, int], device: Device
) -> list[Decision]:
    """Returns a schedule that is predicted to be fast.

    The program's own schedule is left aside, but for what it says about rounding. The same program
    with other names, or another order of its definitions or of operands that may be swapped, gets
    the same schedule.

    Args:
        module: a program at the `dt` level; it is not changed.
        sizes: a size for each label.
        device: the device that the schedule is for.

    Raises:
        CompileError: where the program itself cannot be compiled.
    """
    evaluator = evaluator_of(module, sizes, device, assumes=True)
    for search in range(SEARCHES):
        clusters = aligned(evaluator, all_finished(evaluator, Clusters(evaluator).run()))
        while evaluator.refutes(clusters):
            clusters = aligned(evaluator, all_finished(evaluator, Clusters(evaluator).run()))
        wrong = [c for c in clusters if c.decisions and _lowered(evaluator, c) is None]
        if not wrong or search == SEARCHES - 1:
            found = _written(evaluator, clusters)
            if found is not None:
                return found
            wrong = _gathering(evaluator, clusters, {cluster.root for cluster in clusters})
            evaluator.by_names = True
        if not wrong:
            break
        for cluster in wrong:
            evaluator.refuse(cluster)
    names = evaluator.algorithm.functions
    return list(chain(*evaluator.written(_apart_from_each_other(evaluator, names))))


def _written(evaluator: Evaluator, clusters: Sequence[Cluster]) -> list[Decision] | None:
    """Returns the schedule of a program's clusters with the program's own labels; None where they
    are not legal together."""
    algorithm = evaluator.algorithm
    parts = [(cluster, part) for cluster in clusters for part in _schedule(evaluator, cluster)]
    apart = set[str]()
    while True:
        schedules = evaluator.written((part for _, part in parts), apart)
        # What several kernels inline is inlined once.
        found = list(dict.fromkeys(chain(*schedules)))
        same = {
            cluster.root for (cluster, (_, before)), said in zip(parts, schedules)
            if _names_in(said) == _names_in(before)
        }
        if len(clusters) == 1 and same and algorithm.is_whole(clusters[0].members):
            return found
        others = _apart_from_others(algorithm, clusters)
        for cluster in clusters:
            if cluster.root not in same:
                others.difference_update(cluster.members)
        rest = dict.fromkeys(
            item for (cluster, _), said in zip(parts, schedules) if cluster.root not in others
            for item in said
        )  # fmt: skip
        if not rest or evaluator.is_legal(list(rest), others):
            return found
        if apart:
            return None
        together = [cluster for cluster in clusters if cluster.root not in others]
        apart = {cluster.root for cluster in _gathering(evaluator, together, ())}
        if not apart:
            return None


def _names_in(schedule: Iterable[Decision]) -> list[Decision]:
    """Returns the directives of a kernel that give labels names."""
    return [item for item in schedule if item.name in ("rename", "fuse")]


def _gathering(
    evaluator: Evaluator, clusters: Sequence[Cluster], apart: Collection[str]
) -> list[Cluster]:
    """Returns the clusters that would compute functions of others, by the names of labels.

    Args:
        evaluator: the program, and the device.
        clusters: its clusters.
        apart: as for `Writer`.
    """
    functions = {*evaluator.algorithm.functions}
    return [
        cluster for cluster in clusters if cluster.decisions
        for said in [evaluator.written(_schedule(evaluator, cluster), apart)]
        if not evaluator.is_legal(list(chain(*said)), functions.difference(cluster.members))
    ]  # fmt: skip


def evaluator_of(
    module: ModuleOp, sizes: Mapping[str, int], device: Device, assumes: bool = False
) -> Evaluator:
    """Returns what predicts times of a program's kernels.

    Args:
        module: the program, as for `auto_schedule`.
        sizes: as for `auto_schedule`.
        device: the device.
        assumes: as for `Evaluator`.
    """
    bare, kept = _apart(module)
    sizes = _without_rows(bare, sizes, kept)
    order_operands(bare, sizes)
    naming = Naming(bare)
    algorithm = Algorithm(naming.module, naming.sizes(sizes))
    return Evaluator(algorithm, device, list(map(naming.said, kept)), assumes, naming)


def _without_rows(
    module: ModuleOp, sizes: Mapping[str, int], kept: list[Decision]
) -> Mapping[str, int]:
    """Returns sizes in which the number of rows that results must not depend on is a fixed one."""
    rows = {str(item.arguments[0].value) for item in kept if item.name == "deterministic"}
    if not rows:
        return sizes
    same = [group for group in Interface.of(module).groups if rows & set(group)]
    return {**sizes, **{label: NOMINAL for group in same for label in group}}


def _apart_from_others(algorithm: Algorithm, clusters: Sequence[Cluster]) -> set[str]:
    """Returns the functions of clusters whose directives can only be illegal in them alone.

    To such a cluster the others are inputs: none computes what it does, and it gathers nothing by
    itself that it needs for a pass. There are none where a cluster stores more than the results of
    its root, as the order of all of them matters then.
    """
    for cluster in clusters:
        stored = any(item.stored for item in cluster.decisions)
        if stored or not {*cluster.members[1:]}.isdisjoint(algorithm.outputs):
            return set()
    homes = Counter(member for cluster in clusters for member in cluster.members)

    def is_apart(cluster: Cluster) -> bool:
        gathers = any(item.name == "online" for item in cluster.decisions)
        shares = any(homes[member] > 1 for member in cluster.members)
        return not (cluster.storage or gathers or shares)

    return {member for cluster in filter(is_apart, clusters) for member in cluster.members}


def _apart(module: ModuleOp) -> tuple[ModuleOp, list[Decision]]:
    """Returns a program without its schedule, and what stays of that."""
    bare = copy_of(module)
    found: list[sched.DirectiveOp] = []
    for schedule in list(bare.ops):
        if isinstance(schedule, sched.ScheduleOp):
            found += [op for op in schedule.body.block.ops if isinstance(op, sched.DirectiveOp)]
            Rewriter.erase_op(schedule)
    # What is said of the parts of a function is meant of its own reductions.
    parts = {
        str(op.argument_list[1].value): op.function_name for op in found
        if op.directive_name == "rfactor" and len(op.argument_list) > 1
    }  # fmt: skip
    kept: dict[Decision, None] = {}
    for op in found:
        if op.directive_name in KEPT and not any(item.is_open for item in op.argument_list):
            function = op.function_name
            while function in parts:
                function = parts[function]
            arguments = tuple(op.argument_list)
            kept[Decision(function, op.directive_name, arguments, "as it was asked")] = None
    return bare, list(kept)


def rounding_of(module: ModuleOp) -> set[str]:
    """Returns the directives of a program that say which rounding is wanted, as DT.

    Args:
        module: a program at the `dt` level.
    """
    return {item.text for item in _apart(module)[1]}


def _lowered(evaluator: Evaluator, cluster: Cluster) -> list[Decision] | None:
    """Returns the schedule of a cluster, with tiles that can be lowered; None if a few cannot."""
    for kernels in chain([cluster.kernels], _others(evaluator, cluster)):
        schedule = evaluator.schedule(replace(cluster, kernels=kernels))
        if schedule is not None:
            return schedule
    return None


def _schedule(evaluator: Evaluator, cluster: Cluster) -> list[Part]:
    """Returns the schedule of a cluster, with tiles that can be lowered, kernel by kernel.

    Where no tiles of a few can, its functions get kernels of their own.
    """
    schedule = _lowered(evaluator, cluster)
    if schedule is not None:
        return [(cluster.members, schedule)]
    if len(cluster.members) == 1 and not cluster.decisions:
        return [(cluster.members, evaluator.rounding(cluster.members, ()) or [])]
    return _apart_from_each_other(evaluator, reversed(cluster.members))


def _others(evaluator: Evaluator, cluster: Cluster) -> Iterator[tuple[Kernel, ...]]:
    """Yields a cluster's kernels with other tiles, for where its own cannot be lowered."""
    if cluster.decided:
        return
    ranked = [
        ranked_tilings(replace(k.work, specializes=False), evaluator.device, TRIALS)
        for k in cluster.kernels
    ]
    for number in range(max(map(len, ranked))):
        yield tuple(
            Kernel(k.work, *found[min(number, len(found) - 1)])
            for k, found in zip(cluster.kernels, ranked)
        )


def _apart_from_each_other(evaluator: Evaluator, functions: Iterable[str]) -> list[Part]:
    """Returns the schedule in which each of some functions has a kernel of its own, one by one."""
    found: list[Part] = []
    for name in functions:
        single = evaluator.evaluated(name, (), (), coarse=False)
        assert single is not None, "a function by itself is legal, or was refused before"
        found += _schedule(evaluator, single)
    return found


def with_schedule(module: ModuleOp, decisions: list[Decision]) -> ModuleOp:
    """Returns a program under a schedule in place of its own.

    Args:
        module: a program at the `dt` level; it is not changed.
        decisions: the schedule.
    """
    bare, _ = _apart(module)
    block = Block()
    for item in decisions:
        op = sched.DirectiveOp.make(item.name, item.function, item.arguments)
        op.set_reason(item.reason)
        block.add_op(op)
    bare.body.block.add_op(sched.ScheduleOp(Region(block)))
    return bare
