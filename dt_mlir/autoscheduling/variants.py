"""Further ways to compute a cluster: reductions in parts, and labels joined into one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, prod

from dt_mlir.autoscheduling.decisions import Decision, copies, plain
from dt_mlir.autoscheduling.evaluation import Cluster, Evaluator, pays
from dt_mlir.autoscheduling.naming import is_of_parts
from dt_mlir.autoscheduling.nesting import (
    computed_along,
    depends_on,
    labels_as_read,
    varies_with,
)
from dt_mlir.autoscheduling.storage import ALIGNED, aligned
from dt_mlir.costs.bounds import bytes_of_result, least_of_any, least_of_units
from dt_mlir.costs.execution import NORM
from dt_mlir.costs.work import Work
from dt_mlir.dialects import dt
from dt_mlir.dialects.formats import symbol_name
from dt_mlir.dialects.sched import Argument
from dt_mlir.traversal import operations_of

SURE = 0.95
"""The part of the time in parts that a kernel without them which waits for loads must at most take
to be chosen: what few instances wait for is predicted less well than what they compute."""
SURE_OF_CHAINS = 0.8
"""The part of the time of a kernel of chained products that parts of it must at most take to be
chosen: attention of few rows takes up to 1.8 times what is predicted in parts, and 1.3 without."""
PARTS = (4, 8, 16, 32, 64, 128, 256)
"""The numbers of parts into which a reduction may be split."""
BYTES_OF_PART = 4
"""The bytes of an element of a part of a sum, at least."""
LEAST = 32
"""The least points of a part."""
HOPELESS = 3.0
"""The factor beyond a time that is wanted from which on no number of parts leads to it."""
SHORT = 128
"""The extent below which a label whose elements are neighbours in memory may be joined to others.
"""


def all_finished(evaluator: Evaluator, clusters: Sequence[Cluster]) -> list[Cluster]:
    """Returns the clusters of a program with their fastest variants, in their order.

    A program has one number of parts of a label, which is that of the kernel that takes longest.

    Args:
        evaluator: the program, and the device.
        clusters: its clusters.
    """
    longest = sorted(range(len(clusters)), key=lambda place: -clusters[place].seconds)
    found = {place: finished(evaluator, clusters[place]) for place in longest}
    return [found[place] for place in range(len(clusters))]


def finished(evaluator: Evaluator, cluster: Cluster) -> Cluster:
    """Returns a cluster with its fastest variant, tiles chosen finely.

    Args:
        evaluator: the program, and the device.
        cluster: one of its clusters.
    """
    best = cluster
    for decision in _joined(evaluator, cluster):
        trial = evaluator.evaluated(
            cluster.root, cluster.members, [*cluster.decisions, decision]
        )
        if trial is None:
            continue
        if cluster.kernels[0].work.products:
            # Groups of warps may have tasks of their own in one of them alone.
            after, before = finely(evaluator, trial).seconds, finely(evaluator, best).seconds
        else:
            after, before = trial.seconds, best.seconds
        if pays(after, before):
            best = trial
    split = with_parts(evaluator, best, thorough=True)
    # Finer tiles may keep the device busy without parts.
    if split is not best:
        whole = finely(evaluator, best)
        sure = 1.0
        if any(kernel.work.is_chained for kernel in whole.kernels):
            sure = 1 / SURE_OF_CHAINS
        elif any(kernel.cost.limit == "waiting" for kernel in whole.kernels):
            sure = SURE
        if sure * finely(evaluator, split).seconds < whole.seconds:
            best = split
    best = _with_copies(evaluator, best)
    evaluator.taken |= copies(best.decisions)
    for decision in best.decisions:
        if decision.name == "rfactor":
            split = decision.arguments[0]
            assert split.key is not None
            assert isinstance(split.value, int)
            evaluator.parts[split.key] = split.value
    return finely(evaluator, best)


def finely(evaluator: Evaluator, cluster: Cluster) -> Cluster:
    """Returns a cluster with tiles that are chosen finely."""
    found = evaluator.evaluated(cluster.root, cluster.members, cluster.decisions, coarse=False)
    assert found is not None, "it is legal with coarse tiles"
    return found


def _with_copies(evaluator: Evaluator, cluster: Cluster) -> Cluster:
    """Returns a cluster whose products read copies of inputs with ragged rows, if that pays.

    Arguments are those of `finished`.
    """
    fine = finely(evaluator, cluster)
    single = [*_copied(evaluator, fine)]
    sets = [single] if len(single) < 2 else [single, *([item] for item in single)]
    best, least = cluster, fine.seconds
    for found in filter(None, sets):
        said = [*cluster.decisions, *found]
        # Searches know what was compared with coarse tiles.
        if evaluator.evaluated(cluster.root, cluster.members, said) is None:
            continue
        trial = evaluator.evaluated(cluster.root, cluster.members, said, coarse=False)
        if trial is None or len(aligned(evaluator, [trial])[0].storage) < len(found):
            continue
        if pays(trial.seconds, least):
            best, least = trial, trial.seconds
    return best


def _copied(evaluator: Evaluator, cluster: Cluster) -> Iterator[Decision]:
    """Yields decisions to copy the inputs whose ragged rows products read, each once."""
    algorithm = evaluator.algorithm
    narrow = dict.fromkeys(
        item.tensor for kernel in cluster.kernels for item in kernel.work.accesses
        if item.feeds_product and not item.stores and item.tensor not in algorithm.functions
        and kernel.work.tensors[item.tensor].width < ALIGNED
        # What is read at moved places is not padded to whole tiles.
        and all(item.axes)
    )  # fmt: skip
    for tensor in narrow:
        readers = [name for name in cluster.members if algorithm.accesses(name, tensor)]
        if len(readers) != 1:
            continue
        name = f"{tensor}_copy"
        while name in evaluator.taken:
            name += "_"
        reason = f"its rows start at multiples of {ALIGNED} bytes then"
        yield plain(readers[0], "cache_read", tensor, name, reason=reason)


def with_parts(
    evaluator: Evaluator, cluster: Cluster, limit: float = inf, thorough: bool = False
) -> Cluster:
    """Returns a cluster whose reductions are split into parts if that is predicted to pay.

    Args:
        evaluator: the program, and the device.
        cluster: one of its clusters.
        limit: a time; what takes far longer is not wanted, and perhaps not the fastest then.
        thorough: whether the best number of parts is looked for though it is known for the root
            with fewer functions.
    """
    agreed = tuple(evaluator.parts.items()), len(evaluator.taken)
    key = cluster.members, cluster.decisions, agreed, thorough
    known = evaluator.in_parts.get(key)
    if known is not None:
        # Who asks compares with what was given.
        return cluster if known.decisions == cluster.decisions else known
    best, whole = cluster, True
    more = (len(cluster.kernels) + 1) * least_of_any(evaluator.device)
    # What is as short as the launches of its parts is not split.
    splits = _split(evaluator, cluster) if pays(more, cluster.seconds) else ()
    for ways in filter(None, splits):
        first = ways[0].arguments[0]
        least = least_in_parts(evaluator, cluster, str(first.key), int(str(first.value)))
        if not pays(least, cluster.seconds):
            continue
        trial, found = _fastest(evaluator, cluster, ways, limit, thorough)
        whole = whole and found
        if trial is not None and pays(trial.seconds, best.seconds):
            best = trial
    if whole:
        evaluator.in_parts[key] = best
    return best


def least_in_parts(evaluator: Evaluator, cluster: Cluster, label: str, count: int) -> float:
    """Returns the seconds that two kernels take at least of which one stores parts of a reduction,
    and the other one combines them.

    Args:
        evaluator: the program, and the device.
        cluster: the kernel without parts.
        label: the label that is reduced over.
        count: the number of parts.
    """
    algorithm, device = evaluator.algorithm, evaluator.device
    work = cluster.kernels[0].work
    elements = 0.0
    gathers = _gathers(cluster, label)
    for name, labels in _in_one_loop(evaluator, cluster, label).items():
        for op in algorithm.reductions(name):
            # A sum of what is the same at all indices may be taken out of the parts.
            reads = operations_of(op, dt.ReadOp)
            if label not in op.label_names or not any(label in r.used_labels for r in reads):
                continue
            depends = depends_on(op)
            if gathers:
                depends &= varies_with(algorithm, cluster.members, op, label)
            sizes = (algorithm.sizes.get(labels[own], 1) for own in labels.keys() & depends)
            elements += prod(map(float, sizes))
    moved = count * BYTES_OF_PART * elements / device.memory_rate
    stored = bytes_of_result(work) / device.memory_rate
    storing = (moved**NORM + least_of_units(work, device) ** NORM) ** (1 / NORM)
    return 2 * (device.launch - device.overlap) + storing + moved + stored


def _gathers(cluster: Cluster, label: str) -> bool:
    """Returns whether a kernel computes reductions over a label in one pass."""
    decisions = cluster.decisions
    return any(d.name == "online" and d.arguments[0].value == label for d in decisions)


def _in_one_loop(
    evaluator: Evaluator, cluster: Cluster, label: str
) -> dict[str, dict[str, str]]:
    """Returns the functions whose reductions over a label a kernel surely computes in one loop, the
    root first, with the root's names for their labels."""
    algorithm, members = evaluator.algorithm, cluster.members
    own = algorithm.functions[cluster.root].label_names
    found = {cluster.root: dict(zip(own, own))}
    if not _gathers(cluster, label):
        return found
    apart = {d.function for d in cluster.decisions if d.name in ("fuse_at", "inline")}
    # What is read at each index of another reduction has loops of its own.
    for op in (op for name in members for op in algorithm.reductions(name)):
        if label not in op.label_names:
            reads = operations_of(op, dt.ReadOp)
            apart |= computed_along(algorithm, members, reads, {*op.label_names})
    for name, labels in labels_as_read(algorithm, members).items():
        # Of what is read on its diagonal, or at a number, a part is computed.
        walked = {*labels.values()}.intersection(own)
        if name not in apart and len(walked) == len(algorithm.functions[name].label_names):
            found[name] = labels
    return found


def _fastest(
    evaluator: Evaluator, cluster: Cluster, ways: Sequence[Decision], limit: float, thorough: bool
) -> tuple[Cluster | None, bool]:
    """Returns a cluster in the fewest parts that take about as long as the best number of them.

    More parts pay until they do not. The search begins at the number that was best for the last
    cluster that reduces over the label, and else at the least one, which decides about nothing but
    what is tried. The number that was best for the same root is taken as it is, unless all of the
    program has its places.

    Args:
        evaluator: the program, and the device.
        cluster: the cluster.
        ways: decisions to split a reduction, fewer parts first.
        limit: a time, as for `with_parts`.
        thorough: as for `with_parts`.

    Returns:
        The cluster, None where its reduction cannot be split, and whether the best number of parts
        was looked for.
    """
    splits = [item.arguments[0] for item in ways]
    label = str(splits[0].key)
    counts = [int(str(item.value)) for item in splits]
    likely = evaluator.parts_of_roots.get((cluster.root, label))
    known = not thorough and likely in counts
    if likely not in counts:
        likely = evaluator.likely_parts.get(label)
    start = counts.index(likely) if likely in counts else 0

    def tried(place: int) -> Cluster | None:
        decisions = [*cluster.decisions, ways[place]]
        return evaluator.evaluated(cluster.root, cluster.members, decisions)

    def seconds(place: int) -> float:
        trial = tried(place)
        return inf if trial is None else trial.seconds

    def is_hopeless(place: int) -> bool:
        """Returns whether what combines so many parts takes too long by itself."""
        trial = tried(place)
        combining = [] if trial is None else [
            kernel.cost.seconds for kernel in trial.kernels if kernel.work.root == cluster.root
        ]
        return sum(combining) > HOPELESS * limit

    if known or seconds(start) == inf:
        return tried(start), True
    # What combines the fewest parts takes least.
    if limit < inf and is_hopeless(start) and (start == 0 or is_hopeless(0)):
        return tried(start), False
    if likely in counts and pays(seconds(start), limit) and limit < inf:
        # It is wanted, in whatever number of parts.
        return tried(start), False
    best, wanted = start, min(limit, cluster.seconds)
    while best + 1 < len(ways):
        if least_in_parts(evaluator, cluster, label, counts[best + 1]) > wanted:
            if seconds(best) > wanted:
                return tried(best), limit >= cluster.seconds
            break
        if seconds(best + 1) > seconds(best):
            break
        best += 1
    if best == start:
        while best > 0 and seconds(best - 1) < seconds(best):
            best -= 1
    evaluator.likely_parts[label] = counts[best]
    fewest = best
    while fewest > 0 and not pays(seconds(best), seconds(fewest - 1)):
        fewest -= 1
    evaluator.parts_of_roots[cluster.root, label] = counts[fewest]
    return tried(fewest), True


def _split(evaluator: Evaluator, cluster: Cluster) -> Iterator[list[Decision]]:
    """Yields ways to split reductions of a kernel that does not keep a device busy.

    They are lists for each label, fewer parts first.
    """
    device = evaluator.device
    if len(cluster.kernels) != 1:
        return
    cost = cluster.kernels[0].cost
    if cost.programs > 2 * device.multiprocessors and cost.limit != "waiting":
        return
    algorithm = evaluator.algorithm
    scanned = [d.arguments[0].value for d in cluster.decisions if d.name == "scan"]
    gathered = [d.arguments[0].value for d in cluster.decisions if d.name == "online"]
    reduced = [label for op in algorithm.reductions(cluster.root) for label in op.label_names]
    name = f"{cluster.root}_parts"
    while name in evaluator.taken:
        name += "_"
    reason = f"{cost.programs} instances are few for {device.multiprocessors} multiprocessors"
    for label in dict.fromkeys(scanned or gathered or reduced):
        if not scanned and _needs_fused(evaluator, cluster, str(label)):
            continue
        if is_of_parts(str(label), evaluator.taken):
            # A label of the parts would get a name that the program has.
            continue
        size = algorithm.sizes.get(str(label), 1)
        # A sum over several labels is split along one of them.
        points = size * prod(
            algorithm.sizes.get(other, 1) for other in reduced if other != label
        ) if label in reduced else size
        counts = [n for n in PARTS if size >= n and points >= LEAST * n]
        agreed = evaluator.parts.get(str(label))
        if agreed is not None:
            # Another kernel's reduction over the label is split already.
            counts = [agreed]
        enough = [n for n in counts if 2 * cost.programs * n >= device.multiprocessors]
        yield [
            Decision(
                cluster.root, "rfactor", (Argument(str(label), count), Argument(None, name)),
                reason if cost.limit != "waiting" else "each instance waits for many loads",
            ) for count in enough or counts[-1:]
        ]  # fmt: skip


def _needs_fused(evaluator: Evaluator, cluster: Cluster, label: str) -> bool:
    """Returns whether reductions over a label need functions that are fused into their kernel.

    These are not there when parts of the reductions are computed, which another kernel does before.
    """
    algorithm = evaluator.algorithm
    fused = {d.function for d in cluster.decisions if d.name == "fuse_at"}
    inlined = {d.function for d in cluster.decisions if d.name == "inline"}
    pending = [
        symbol_name(read.source) for op in algorithm.reductions(cluster.root)
        if label in op.label_names for read in operations_of(op, dt.ReadOp)
    ]  # fmt: skip
    # Others are computed in one pass with these reductions.
    for name in cluster.members[1:]:
        pending += algorithm.reads[name] if name not in fused | inlined else []
    needed = set[str]()
    while pending:
        name = pending.pop()
        if name not in needed:
            needed.add(name)
            pending += algorithm.reads[name] if name in inlined else []
    return not needed.isdisjoint(fused)


def _joined(evaluator: Evaluator, cluster: Cluster) -> Iterator[Decision]:
    """Yields ways to join labels of a kernel's root whose loops are short one by one."""
    labels = evaluator.algorithm.functions[cluster.root].label_names
    if len(cluster.kernels) != 1 or len(labels) < 2:
        return
    work = cluster.kernels[0].work
    rows = _rows(work)
    runs = [[label for label in labels if label in rows]] if rows else []
    if not work.products:
        last = evaluator.algorithm.sizes.get(labels[-1], SHORT)
        runs = [list(labels)] if last < SHORT else []
    for run in runs:
        start = labels.index(run[0]) if run else 0
        if len(run) < 2 or list(labels[start : start + len(run)]) != run:
            continue
        name = "_".join(run)
        while name in evaluator.taken:
            name += "_"
        yield plain(cluster.root, "fuse", *run, name, reason="one loop has fewer ragged tiles")


def _rows(work: Work) -> set[str]:
    """Returns the labels of the grid that only the left factors of all products have."""
    found: set[str] | None = None
    for item in work.products:
        alone = {work.loops[p].label for p in {*item.left} - {*item.right}}
        found = alone if found is None else found & alone
    return {label for label in found or () if label in work.grid}
