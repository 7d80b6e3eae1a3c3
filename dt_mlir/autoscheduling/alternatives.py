"""Ways to compute the functions of a kernel other than the one that is predicted to be fastest."""

from __future__ import annotations

from collections.abc import Collection

from dt_mlir.autoscheduling.clusters import Clusters
from dt_mlir.autoscheduling.evaluation import Cluster, Evaluator

SLOWER = 3.0
"""The factor beyond which a predicted time is too long for the prediction to be wrong."""

Way = tuple[Cluster, ...]
"""The clusters that compute some functions, in the order in which their kernels run."""


def alternatives(evaluator: Evaluator, cluster: Cluster) -> list[Way]:
    """Returns the ways to compute a cluster's functions, that of the cluster first.

    They are those that were compared when the cluster was found: reductions in other parts or in
    one pass, functions fused elsewhere, joined labels; kernels that the last functions did not
    join; and each function in a kernel of its own where that is legal.

    Args:
        evaluator: the program, and the device; what it has evaluated is looked at.
        cluster: one of the clusters of the program.
    """
    found: list[Way] = [(cluster,)]
    found += [(other,) for other in evaluator.known(cluster.root, cluster.members)]
    stored = {name for item in cluster.decisions for name in item.stored}
    # The functions joined one by one, each with a directive of its own.
    for count in range(1, len(cluster.members)):
        joined, others = cluster.members[:count], cluster.members[count:]
        read = {name for reader in joined for name in evaluator.algorithm.reads[reader]}
        found += [
            (*_apart(evaluator, others, stored | read), part)
            for part in evaluator.known(cluster.root, joined)
        ]
    if len(cluster.members) > 1:
        found.append(_apart(evaluator, cluster.members, stored))
    most = SLOWER * cluster.seconds
    kept: dict[tuple[tuple[str, ...], ...], Way] = {}
    for way in found:
        if sum(item.seconds for item in way) <= most:
            kept.setdefault(tuple(tuple(d.text for d in item.decisions) for item in way), way)
    return [
        tuple(
            evaluator.evaluated(item.root, item.members, item.decisions, coarse=False) or item
            for item in way
        ) for way in kept.values()
    ]  # fmt: skip


def _apart(evaluator: Evaluator, members: tuple[str, ...], stored: Collection[str]) -> Way:
    """Returns kernels of some functions of a cluster, found as if there were no others.

    Args:
        evaluator: the program, and the device.
        members: the functions.
        stored: those that others read, too.
    """
    return tuple(Clusters(evaluator, members, stored, passes=False).run())
