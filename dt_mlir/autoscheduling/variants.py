"""Further ways to compute a cluster: reductions in parts, and labels joined into one."""

from __future__ import annotations

from collections.abc import Iterator

from dt_mlir.autoscheduling.clusters import GAIN, Cluster, Clusters
from dt_mlir.autoscheduling.decisions import Decision, plain
from dt_mlir.costs.work import Work
from dt_mlir.dialects.sched import Argument

PARTS = (4, 8, 16, 32)
"""The numbers of parts into which a reduction may be split."""
LEAST = 512
"""The least points of a part."""
SHORT = 128
"""The extent below which a label whose elements are neighbours in memory may be joined to others.
"""


def improved(clusters: Clusters, cluster: Cluster) -> Cluster:
    """Returns a cluster with its fastest variant, tiles chosen finely.

    Args:
        clusters: the clusters of the program.
        cluster: one of them.
    """
    best = cluster
    for decision in _joined(clusters, cluster):
        trial = clusters.evaluated(
            cluster.root, cluster.members, [*cluster.decisions, decision]
        )
        if trial is not None and trial.seconds < GAIN * best.seconds:
            best = trial
    for decision in _split(clusters, best):
        trial = clusters.evaluated(best.root, best.members, [*best.decisions, decision])
        if trial is not None and trial.seconds < GAIN * cluster.seconds and (
            trial.seconds < GAIN * best.seconds
        ):
            best = trial
    return clusters.evaluated(best.root, best.members, best.decisions, coarse=False) or best


def _split(clusters: Clusters, cluster: Cluster) -> Iterator[Decision]:
    """Yields ways to split reductions of a kernel that has few program instances."""
    device = clusters.device
    if len(cluster.kernels) != 1:
        return
    kernel = cluster.kernels[0]
    if kernel.cost.programs > 2 * device.multiprocessors:
        return
    algorithm = clusters.algorithm
    scanned = [d.arguments[0].value for d in cluster.decisions if d.name == "scan"]
    gathered = [d.arguments[0].value for d in cluster.decisions if d.name == "online"]
    reduced = [label for op in algorithm.reductions(cluster.root) for label in op.label_names]
    name = f"{cluster.root}_parts"
    while name in clusters.taken:
        name += "_"
    for label in dict.fromkeys(scanned or gathered or reduced):
        size = algorithm.sizes.get(str(label), 1)
        for count in PARTS:
            few = kernel.cost.programs * count <= 8 * device.multiprocessors
            if size >= LEAST * count and few:
                yield Decision(
                    cluster.root, "rfactor", (Argument(str(label), count), Argument(None, name)),
                    f"{kernel.cost.programs} instances are few for "
                    f"{device.multiprocessors} multiprocessors",
                )  # fmt: skip


def _joined(clusters: Clusters, cluster: Cluster) -> Iterator[Decision]:
    """Yields ways to join labels of a kernel's root whose loops are short one by one."""
    labels = clusters.algorithm.functions[cluster.root].label_names
    if len(cluster.kernels) != 1 or len(labels) < 2:
        return
    work = cluster.kernels[0].work
    rows = _rows(work)
    runs = [[label for label in labels if label in rows]] if rows else []
    if not work.products:
        last = clusters.algorithm.sizes.get(labels[-1], SHORT)
        runs = [list(labels)] if last < SHORT else []
    for run in runs:
        start = labels.index(run[0]) if run else 0
        if len(run) < 2 or list(labels[start : start + len(run)]) != run:
            continue
        name = "_".join(run)
        while name in clusters.taken:
            name += "_"
        yield plain(cluster.root, "fuse", *run, name, reason="one loop has fewer ragged tiles")


def _rows(work: Work) -> set[str]:
    """Returns the labels of the grid that only the left factors of all products have."""
    found: set[str] | None = None
    for item in work.products:
        alone = {work.loops[p].label for p in {*item.left} - {*item.right}}
        found = alone if found is None else found & alone
    return {label for label in found or () if label in work.grid}
