"""Bounds of the times of kernels, which take less to predict than the times."""

from __future__ import annotations

from math import prod

from dt_mlir.costs.device import Device
from dt_mlir.costs.execution import CACHED, NORM, OF_THREADS
from dt_mlir.costs.instance import Instance
from dt_mlir.costs.model import Model
from dt_mlir.costs.moving import Moved
from dt_mlir.costs.tiling import Tiling
from dt_mlir.costs.traffic import BOXES, NARROW, NEAR, RUNS_AHEAD
from dt_mlir.costs.work import Work

LEAST_SIDE = 16
"""The extent from which on a label is surely a side of tiles that tensor cores multiply."""


def least_of_any(device: Device) -> float:
    """Returns a bound of the times of all kernels with instances: that of one which begins, and
    ends."""
    return device.launch - device.overlap + device.start


def least_of_products(work: Work, device: Device, rounded: bool = False) -> float:
    """Returns the seconds for which tensor cores are busy at least with the products of a kernel.

    Args:
        work: what the kernel does.
        device: the device.
        rounded: whether factors of 32 bits may be rounded to 16.
    """
    rates, found = device.product_rates, 0.0
    for item in work.products:
        walks = [work.loops[place] for place in {*item.left, *item.right, *item.depth}]
        count = 2.0 * prod(float(walk.extent) * walk.share for walk in walks)
        found += count / max(rates[item.kind], rates["f16"] if rounded else 0.0)
    return found


def least_of_units(work: Work, device: Device) -> float:
    """Returns the seconds for which units are busy at least with the products of a kernel, with
    tiles of which tensor cores multiply them or not.

    Args:
        work: what the kernel does.
        device: the device.
    """
    found = 0.0
    for item in work.products:
        left, right, depth = {*item.left}, {*item.right}, {*item.depth}
        walks = [work.loops[place] for place in left | right | depth]
        points = prod(float(walk.extent) * walk.share for walk in walks)
        single = points / device.arithmetic_rate
        sides = left - right, right - left, depth
        rate = device.product_rates[item.kind]
        if item.kind == "f32":
            rate *= OF_THREADS
        if not work.single and all(_is_taken_in_tiles(work, side) for side in sides):
            found += 2 * points / rate
        else:
            found += min(2 * points / rate, single) if all(sides) else single
    return found


def _is_taken_in_tiles(work: Work, side: set[int]) -> bool:
    """Returns whether all tiles that are tried have several rows, columns or summands of a
    product.

    Args:
        work: what the kernel does.
        side: the loops of its rows, of its columns, or of what it sums.
    """
    return len(side) == 1 and all(work.loops[place].extent >= LEAST_SIDE for place in side)


def least_memory(work: Work, device: Device) -> float:
    """Returns the seconds for which memory moves at least what a kernel addresses.

    Args:
        work: what the kernel does.
        device: the device.
    """
    moved: dict[tuple[str, bool], float] = {}
    for item in work.accesses:
        if item.windows or max((*item.repeats, *item.further_repeats), default=1) > 1:
            # Several points address one element.
            continue
        if not all(work.loops[place].extent for place in item.around):
            continue
        points = prod(work.loops[place].extent * work.loops[place].share for place in item.depends)
        asked = min(points * item.bits / 8, work.tensors[item.tensor].bytes)
        key = item.tensor, item.stores
        moved[key] = max(moved.get(key, 0.0), asked)
    return sum(moved.values()) / device.memory_rate


def bytes_of_result(work: Work) -> float:
    """Returns the bytes of the result of a kernel's root, which it stores at least.

    Args:
        work: what the kernel does.
    """
    return sum(
        item.bits / 8 * prod(work.loops[place].extent for place in item.depends)
        for item in work.accesses if item.stores and item.tensor == work.root
        and all(work.loops[place].share == 1 for place in item.around)
    )  # fmt: skip


def least_with_products(model: Model, tiling: Tiling, stages: int) -> float:
    """Returns a bound of the times with some tiles, whatever the other decisions of a tiling are.

    Args:
        model: the costs of the kernel.
        tiling: the tiling of these tiles that has fewest warps, a group of them or more.
        stages: the most stages of a pipeline.
    """
    device, execution = model.device, model.execution(tiling)
    instance = execution.instance
    launch = device.launch - device.overlap
    if not instance.programs:
        return launch
    each = device.multiprocessors
    busiest = -(-instance.programs // each)
    memory = _memory(model, instance) / device.memory_rate
    loads = sum(_loaded(moved) for moved in instance.moved)
    # More warps repeat products, and have fewer elements of each, but for the least ones.
    products, elements = execution.products()
    elements += instance.operations.arithmetic
    waiting = device.start + CACHED * least_waits(instance, device, stages) * device.latency
    local = max(
        busiest * each * loads / device.cache_rate, busiest * each * products,
        busiest * each * elements / device.arithmetic_rate, waiting,
    )  # fmt: skip
    return (memory**NORM + local**NORM) ** (1 / NORM) + launch


def _memory(model: Model, instance: Instance) -> float:
    """Returns the bytes that memory moves at least: what is addressed, once."""
    found = 0.0
    for moved in instance.moved:
        if not moved.again:
            whole = float(model.work.tensors[moved.item.tensor].bytes)
            asked = moved.addressed * instance.programs
            found += (min(asked, whole) if whole or not moved.item.stores else asked) * moved.wasted
    return found


def _loaded(moved: Moved) -> float:
    """Returns the bytes that an access moves from the cache at least: as boxes where it feeds a
    product, as if all of them were near elsewhere."""
    if not moved.item.feeds_product:
        return moved.bytes * NEAR
    narrow = (16 / moved.width) ** NARROW * (moved.left * (1 - NEAR) + NEAR)
    return moved.bytes * narrow * min(BOXES / moved.wasted, 1.0)


def least_waits(instance: Instance, device: Device, stages: int) -> float:
    """Returns how many loads an instance waits for one after the other at least.

    Args:
        instance: the instance.
        device: the device.
        stages: the most stages of a pipeline.
    """
    ahead = (stages - 1.0) * (RUNS_AHEAD if device.specializes else 1.0)
    found = 0.0
    for moved in instance.moved:
        if not moved.item.stores and not moved.again:
            further = max(moved.times - 1.0, 0.0)
            found = max(found, 1.0 + further / (ahead if moved.item.feeds_product else 1.0))
    return found
