"""Features of a kernel on which its measured time may depend beside its predicted one, as numbers.

They say nothing about which program a kernel is of, so that what is learned of one holds for
others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2

from dt_mlir.costs.device import Device
from dt_mlir.costs.tiling import Cost, Tiling
from dt_mlir.costs.work import Work


def features(work: Work, tiling: Tiling, cost: Cost, device: Device) -> dict[str, float]:
    """Returns the features of a kernel with its tiles, each about as large as the others.

    Args:
        work: what the kernel does.
        tiling: the tiles.
        cost: what they cost on the device.
        device: the device.
    """
    total = sum(cost.bounds.values()) or 1.0
    found = {f"{name} share": bound / total for name, bound in cost.bounds.items()}
    waves = cost.programs / (device.multiprocessors * cost.resident)
    whole = max(1, -(-cost.programs // (device.multiprocessors * cost.resident)))
    found["idle"] = 1 - waves / whole
    found["waves"] = log2(max(waves, 1 / 16)) / 4
    found["resident"] = log2(cost.resident) / 4
    found["registers"] = min(cost.registers / 255, 2.0)
    found["shared memory"] = cost.shared / device.shared_memory
    found["warps"] = log2(tiling.warps) / 4
    found["stages"] = log2(tiling.stages) / 4
    found["consumers"] = tiling.consumers / 2
    found["walks"] = float(tiling.persistent > 0)
    found["alternates"] = float(tiling.alternating)
    lanes = {
        label: tiling.tiles.get(label, 1) or max(work.loops[p].extent for p in places)
        for label, places in work.labels().items()
    }
    rows, columns, depths = _sides(work)
    for name, labels in (("rows", rows), ("columns", columns), ("depth", depths)):
        found[name] = log2(max([1, *(lanes[label] for label in labels)])) / 8
    elements = 1
    for label in work.grid:
        elements *= lanes[label]
    found["elements"] = log2(max(elements, 1) / (tiling.warps * device.warp)) / 8
    inner = [factor for _, part, factor in tiling.order if part == "inner"]
    found["group"] = log2(max([1, *inner])) / 4
    return found


def _sides(work: Work) -> tuple[set[str], set[str], set[str]]:
    """Returns the labels of the rows, columns and depths of products."""
    rows: set[str] = set()
    columns: set[str] = set()
    depths: set[str] = set()
    for item in work.products:
        left, right, depth = {*item.left}, {*item.right}, {*item.depth}
        for into, places in ((rows, left - right), (columns, right - left), (depths, depth)):
            into.update(work.loops[place].label for place in places)
    return rows, columns, depths


def combined(found: Sequence[tuple[float, Mapping[str, float]]]) -> tuple[float, ...]:
    """Returns the features of several kernels that run one after the other, as a vector.

    Args:
        found: the predicted seconds of each kernel, and its features.
    """
    total = sum(seconds for seconds, _ in found) or 1.0
    names = found[0][1]
    means = (sum(seconds * each[name] for seconds, each in found) / total for name in names)
    return *means, log2(len(found))
