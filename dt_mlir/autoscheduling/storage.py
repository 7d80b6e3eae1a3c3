"""The layout of what kernels store for others: rows that start where GPUs like to read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from dt_mlir.autoscheduling.decisions import sized
from dt_mlir.autoscheduling.evaluation import Cluster, Evaluator, Kernel
from dt_mlir.costs.model import cost_of

MOST_ELEMENTS = 2**15
"""The most elements of a tile that is copied at once."""
WARPS = 8
"""The warps that copy one."""


def aligned(evaluator: Evaluator, clusters: Sequence[Cluster]) -> list[Cluster]:
    """Returns clusters with storage padded where products read ragged rows.

    An elementwise function that a product reads takes the product's tiles, and its storage whole
    ones, so that rows start at multiples of 16 bytes and the product needs no masks.

    Args:
        evaluator: the program, and the device.
        clusters: its clusters.
    """
    return [_aligned(evaluator, cluster, clusters) for cluster in clusters]


def _aligned(evaluator: Evaluator, cluster: Cluster, clusters: Sequence[Cluster]) -> Cluster:
    algorithm, name = evaluator.algorithm, cluster.root
    labels = algorithm.functions[name].label_names
    if name in algorithm.outputs or len(cluster.kernels) != 1 or len(labels) < 2:
        return cluster
    work = cluster.kernels[0].work
    element = work.tensors[name].bits
    if algorithm.sizes.get(labels[-1], 16) * element // 8 % 16 == 0:
        return cluster
    tiles = _tiles_of_readers(name, clusters)
    if tiles is None or len(tiles) != len(labels):
        return cluster
    sizes = dict(zip(labels, tiles))
    reason = "rows start at multiples of 16 bytes, and tiles are whole"
    padding = sized(name, "align_storage", sizes, reason)
    if cluster.decisions or work.reductions or prod(tiles) > MOST_ELEMENTS:
        return replace(cluster, storage=(padding,))
    tiling = replace(
        cluster.kernels[0].tiling, tiles=sizes, blocked=frozenset(labels), warps=WARPS
    )
    kernel = Kernel(work, tiling, cost_of(work, tiling, evaluator.device))
    return replace(cluster, kernels=(kernel,), storage=(padding,), decided=True)


def _tiles_of_readers(name: str, clusters: Sequence[Cluster]) -> list[int] | None:
    """Returns the tiles in which products read a function, if they do so in one way."""
    found: set[tuple[int, ...]] = set()
    for cluster in clusters:
        for kernel in cluster.kernels:
            for item in kernel.work.accesses:
                if item.tensor != name or item.stores:
                    continue
                tiles = tuple(kernel.tiling.tiles.get(label, 0) for label in item.axes)
                if not item.feeds_product or not all(tiles):
                    return None
                found.add(tiles)
    return list(found.pop()) if len(found) == 1 else None
