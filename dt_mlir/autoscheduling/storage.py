"""The layout of what kernels store for others: rows that start where GPUs like to read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import lcm, prod
from typing import NamedTuple

from dt_mlir.analysis.registers import THREADS_OF_A_WARP
from dt_mlir.autoscheduling.decisions import Decision, copies, sized
from dt_mlir.autoscheduling.evaluation import Cluster, Evaluator, Kernel
from dt_mlir.costs.model import cost_of

ALIGNED = 16
"""The bytes at multiples of which rows start that are copied in the widest way."""
MOST_ELEMENTS = 2**15
"""The most elements of a tile that is copied at once."""
WARPS = 8
"""The fewest warps that copy one."""
EACH = 32
"""The elements of a thread beyond which more warps copy a tile: where rows are ragged, each has an
address of its own in registers."""
FEW = 16
"""The elements of a thread to which a tile that need not be whole is cut down."""
MOST_WARPS = 16
"""The most warps that copy a tile: there are 64 lanes in some, and 1024 threads at most."""


class _Reader(NamedTuple):
    """An access of a product."""

    tiles: tuple[int, ...]
    """The tile that it reads, along each axis."""
    free: frozenset[int]
    """The axes before the last one that no sum goes over, if the copy engine reads it."""


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
    copied = copies(cluster.decisions)
    kernels: list[Kernel] = []
    storage: list[Decision] = []
    for kernel in cluster.kernels:
        name = kernel.work.root
        alone = len(cluster.kernels) == 1 and name not in evaluator.algorithm.outputs
        readers = _readers(name, clusters) if name in copied or alone else []
        padding = _padding(evaluator, kernel, readers)
        if padding:
            reason = "rows start at multiples of 16 bytes, and tiles are whole"
            storage.append(sized(name, "align_storage", padding, reason))
            if name in copied or not cluster.decisions:
                kernel = _copying(evaluator, kernel, padding, readers)
        kernels.append(kernel)
    decided = tuple(kernels) != cluster.kernels and not copied
    return replace(cluster, kernels=tuple(kernels), storage=tuple(storage), decided=decided)


def _padding(
    evaluator: Evaluator, kernel: Kernel, readers: Sequence[_Reader]
) -> dict[str, int]:
    """Returns the numbers of elements to which the storage of what a kernel stores is padded.

    There are none where rows are aligned anyway, or no product reads them in one way.
    """
    name, functions = kernel.work.root, evaluator.algorithm.functions
    # A loop over joined labels indexes no axis by itself; copies have none.
    labels = functions[name].label_names if name in functions else next(
        item.axes for item in kernel.work.accesses if item.stores and item.tensor == name
    )  # fmt: skip
    if len(labels) < 2:
        return {}
    bits = kernel.work.tensors[name].bits
    row = evaluator.algorithm.sizes.get(labels[-1], 16) * bits // 8
    found = {reader.tiles for reader in readers} if row % ALIGNED else set[tuple[int, ...]]()
    if len(found) != 1:
        return {}
    (tiles,) = found
    if len(tiles) != len(labels) or not all(tiles):
        return {}
    return dict(zip(labels, (*tiles[:-1], lcm(tiles[-1], ALIGNED * 8 // bits))))


def _copying(
    evaluator: Evaluator, kernel: Kernel, tiles: dict[str, int], readers: Sequence[_Reader]
) -> Kernel:
    """Returns a kernel that stores whole tiles, or parts of them, if it can do so at once.

    Args:
        evaluator: the program, and the device.
        kernel: the kernel.
        tiles: the tiles in which it is read.
        readers: what reads it. Along free axes, elements that nothing has written are not used.
    """
    if kernel.work.reductions or prod(tiles.values()) > MOST_ELEMENTS:
        return kernel
    labels, tiles = list(tiles), {**tiles}
    free = [labels[axis] for axis in sorted(frozenset.intersection(*(r.free for r in readers)))]
    while free and prod(tiles.values()) > WARPS * THREADS_OF_A_WARP * FEW:
        longest = max(free, key=tiles.__getitem__)
        if tiles[longest] == 1:
            break
        tiles[longest] //= 2
    warps = min(max(WARPS, prod(tiles.values()) // (THREADS_OF_A_WARP * EACH)), MOST_WARPS)
    tiling = kernel.tiling._replace(tiles=tiles, blocked=frozenset(tiles), warps=warps)
    return Kernel(kernel.work, tiling, cost_of(kernel.work, tiling, evaluator.device))


def _readers(name: str, clusters: Sequence[Cluster]) -> list[_Reader]:
    """Returns what reads a function; nothing if it is not products alone."""
    found: list[_Reader] = []
    for cluster in clusters:
        for kernel in cluster.kernels:
            for item in kernel.work.accesses:
                if item.tensor != name or item.stores:
                    continue
                if not item.feeds_product:
                    return []
                tiles = tuple(kernel.tiling.tiles.get(label, 0) for label in item.axes)
                free = [n for n, label in enumerate(item.axes[:-1]) if label in kernel.work.grid]
                found.append(_Reader(tiles, frozenset(free if kernel.tiling.consumers else ())))
    return found
