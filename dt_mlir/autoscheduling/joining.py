"""The ways in which a function may join a kernel that are worth lowering.

Bounds tell of others before: what a kernel would hold of the function, the shared memory that the
factors of its products take then, and how often it would compute them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod

from dt_mlir.autoscheduling.decisions import Decision
from dt_mlir.autoscheduling.evaluation import Cluster, Evaluator
from dt_mlir.autoscheduling.nesting import computed_for_elements
from dt_mlir.autoscheduling.places import Places
from dt_mlir.autoscheduling.tilings import (
    has_rows_and_columns,
    holds_few,
    least_blocks,
    least_of_factors,
    most_held,
)
from dt_mlir.costs.bounds import least_memory, least_of_products


def ways_within(
    evaluator: Evaluator, places: Places, name: str, cluster: Cluster, stores: bool, limit: float
) -> list[Decision]:
    """Returns the ways in which a function may join a kernel that perhaps take less than a limit.

    Args:
        evaluator: the program, and the device.
        places: the places in its kernels.
        name: the function.
        cluster: the kernel.
        stores: whether the kernel has to store the function.
        limit: the time in seconds, for all that the kernel computes then.
    """
    if stores and _least_stored(evaluator, name) > limit:
        return []
    multiplies = evaluator.multiplies(name)
    most = most_held(evaluator.device, multiplies)
    sizes = evaluator.algorithm.sizes
    found = [
        decision for decision in places.ways(name, cluster, stores)
        if prod(sizes.get(label, 1) for label in places.held(decision, cluster)) <= most
    ]  # fmt: skip
    if limit < inf:
        found = [item for item in found if _holds_few(evaluator, places, cluster, item)]
    if not multiplies or limit == inf:
        return found
    return [
        decision for decision in found
        if _fits(evaluator, places, cluster, decision)
        and _least(evaluator, places, cluster, decision) <= limit
    ]


def _holds_few(
    evaluator: Evaluator, places: Places, cluster: Cluster, decision: Decision
) -> bool:
    """Returns whether a kernel perhaps holds what a function reduces that joins it, for all
    elements that it holds of the function; arguments as for `ways_within`."""
    single, held = evaluator.single(decision.function), places.held(decision, cluster)
    if not held or single is None or len(cluster.kernels) != 1 or len(single.kernels) != 1:
        return True
    own, other = single.kernels[0].work, cluster.kernels[0].work
    return holds_few(own, other, held, evaluator.device)


def _fits(evaluator: Evaluator, places: Places, cluster: Cluster, decision: Decision) -> bool:
    """Returns whether the factors of a function's products perhaps fit into shared memory in a
    kernel that the function joins; arguments as for `ways_within`."""
    single, held = evaluator.single(decision.function), places.held(decision, cluster)
    if single is None or len(cluster.kernels) != 1 or len(single.kernels) != 1:
        return True
    own, other = single.kernels[0].work, cluster.kernels[0].work
    return least_of_factors(own, other, held, evaluator.device) <= evaluator.device.shared_memory


def least_for_elements(evaluator: Evaluator, members: Sequence[str], label: str) -> float:
    """Returns the seconds that products take at least in a pass that computes them for each tile of
    its root along its label.

    Args:
        evaluator: the program, and the device.
        members: the functions that are computed in the pass, the root first.
        label: the label.
    """
    algorithm, device = evaluator.algorithm, evaluator.device
    rounding = evaluator.rounding(tuple(members), ()) or ()
    rounded = any(item.name == "precision" for item in rounding)
    found = 0.0
    for name in computed_for_elements(algorithm, members, label):
        single = evaluator.single(name)
        works = [] if single is None else [kernel.work for kernel in single.kernels]
        if all(has_rows_and_columns(work, device) for work in works):
            found += sum(least_of_products(work, device, rounded) for work in works)
    return found * least_blocks(algorithm.sizes.get(label, 1))


def _least_stored(evaluator: Evaluator, name: str) -> float:
    """Returns the seconds that a kernel takes at least that stores a function: it moves that, and
    what the function is computed of."""
    device, single = evaluator.device, evaluator.single(name)
    if single is None or len(single.kernels) != 1:
        return 0.0
    launch = device.launch - device.overlap
    return least_memory(single.kernels[0].work, device) + launch


def _least(evaluator: Evaluator, places: Places, cluster: Cluster, decision: Decision) -> float:
    """Returns the seconds that products take at least in a kernel that a function with products
    joins; arguments as for `ways_within`."""
    device, single = evaluator.device, evaluator.single(decision.function)
    works = [] if single is None else [kernel.work for kernel in single.kernels]
    if not all(has_rows_and_columns(work, device) for work in works):
        return 0.0
    members = (*cluster.members, decision.function)
    rounding = evaluator.rounding(members, cluster.decisions) or ()
    rounded = any(item.name == "precision" for item in rounding)
    own = sum(least_of_products(work, device, rounded) for work in works)
    others = sum(least_of_products(kernel.work, device, rounded) for kernel in cluster.kernels)
    return places.times(decision, cluster, least_blocks) * own + others
