"""Bounds of the times of kernels, which take less to predict than the times."""

from __future__ import annotations

from math import prod

from dt_mlir.costs.device import Device
from dt_mlir.costs.dots import OF_THREADS
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
