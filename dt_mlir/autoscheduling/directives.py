"""The directives that give a kernel its tiles, with the reasons for them."""

from __future__ import annotations

from collections.abc import Collection

from dt_mlir.autoscheduling.decisions import Decision, plain, sized
from dt_mlir.costs.device import Device
from dt_mlir.costs.execution import CONSUMER_REGISTERS
from dt_mlir.costs.moving import UNROLLED
from dt_mlir.costs.tiling import Cost, Tiling
from dt_mlir.costs.work import Work
from dt_mlir.dialects.sched import Argument

WORTH = 0.005
"""The part of a kernel's time that a launch must at least overlap with the kernel before."""


def tile_directives(
    work: Work, tiling: Tiling, cost: Cost, device: Device, taken: Collection[str]
) -> list[Decision]:
    """Returns the directives of a kernel's root that give it its tiles.

    Args:
        work: what the kernel does.
        tiling: the tiles.
        cost: what they cost.
        device: the device.
        taken: names that a part of a split label cannot have.
    """
    root = work.root
    found: list[Decision] = []
    blocks = {label: tiling.tiles[label] for label in work.grid if label in tiling.blocked}
    if blocks:
        found.append(sized(root, "block", blocks, _waves(cost, device)))
    tiles = {label: tile for label, tile in tiling.tiles.items() if tile != 1}
    if tiles:
        found.append(sized(root, "tensorize", tiles, _limit(cost)))
    short = _unrolled(work, tiling)
    if short and not work.products:
        found.append(sized(root, "unroll", short, "loads of all steps are under way at once"))
    order = [item for item in tiling.order if item[0] in blocks]
    if order and (len(blocks) > 1 or any(part == "descending" for _, part, _ in order)):
        found.append(Decision(root, "map", tuple(_walks(order, taken)), _order(order)))
    if tiling.persistent:
        rounds = (Argument("rounds", "alternating"),) if tiling.alternating else ()
        reason = "the next block is copied while this one is stored"
        if tiling.alternating:
            reason = "each instance gets long blocks and short ones"
        found.append(Decision(root, "persistent", rounds, reason))
    if tiling.consumers:
        numbers = {"consumers": tiling.consumers, "registers": CONSUMER_REGISTERS}
        numbers |= _held_whole(work, tiling)
        reason = "a group of warps copies what the others multiply"
        found.append(sized(root, "warp_specialize", numbers, reason))
        found += _stored_by_threads(work)
    registers = f"about {cost.registers:.0f} registers a thread"
    found.append(plain(root, "num_warps", tiling.warps, reason=registers))
    if cost.shared:
        size = f"{cost.shared / 1024:.0f} of {device.shared_memory / 1024:.0f} KB"
        reason = f"they take {size} of shared memory"
        found.append(plain(root, "num_stages", tiling.stages, reason=reason))
    if tiling.dependent and device.overlap > WORTH * cost.seconds:
        reason = "its launch overlaps with the end of the kernel before"
        found.append(plain(root, "dependent_launch", reason=reason))
    return found


def _held_whole(work: Work, tiling: Tiling) -> dict[str, int]:
    """Returns the sizes of labels that tiles take whole and the program leaves open, as of heads:
    what groups of warps multiply has a known number of rows and columns."""
    return {
        walk.label: walk.extent for walk in work.loops
        if walk.is_open and not tiling.tiles[walk.label]
    }  # fmt: skip


def _stored_by_threads(work: Work) -> list[Decision]:
    """Returns the directive of a kernel whose results the copy engine does not take."""
    stored = dict.fromkeys(item.tensor for item in work.accesses if item.stores)
    if all(work.tensors[name].is_described for name in stored):
        return []
    factors = {item.tensor for item in work.accesses if item.feeds_product}
    reads = [name for name in work.tensors if name in factors]
    described = [*reads, *(name for name in stored if work.tensors[name].is_described)]
    reason = "threads store what has rows that start anywhere"
    return [plain(work.root, "descriptor", *described, reason=reason)]


def _unrolled(work: Work, tiling: Tiling) -> dict[str, int]:
    """Returns the short reductions that are taken one element after the other."""
    return {
        label: max(work.loops[p].extent for p in places)
        for label, places in work.labels().items()
        if label not in work.grid and tiling.tiles.get(label) == 1
        and 1 < max(work.loops[p].extent for p in places) <= UNROLLED
    }  # fmt: skip


def _waves(cost: Cost, device: Device) -> str:
    waves = cost.programs / (device.multiprocessors * cost.resident)
    return f"{cost.programs} instances, {cost.resident} a multiprocessor: {waves:.2f} waves"


def _limit(cost: Cost) -> str:
    busy = {
        "memory": "memory", "cache": "the cache", "products": "tensor cores",
        "arithmetic": "arithmetic", "special": "special functions", "waiting": "latency",
        "starting": "the start of instances",
    }[cost.limit]  # fmt: skip
    return f"{cost.seconds * 1e6:.4g} us, limited by {busy}"


def _order(order: list[tuple[str, str, int]]) -> str:
    parts = {part for _, part, _ in order}
    if "descending" in parts:
        return "the blocks with most to do start first"
    if "inner" in parts:
        return "instances that run at once share rows and columns"
    return "neighbours in memory run at once"


def _walks(order: list[tuple[str, str, int]], taken: Collection[str]) -> list[Argument]:
    found: list[Argument] = []
    for label, part, factor in order:
        inner = f"{label}1"
        while inner in taken:
            inner += "1"
        if part == "outer":
            found.append(Argument(label, inner, factor))
        elif part == "inner":
            found.append(Argument(None, inner))
        elif part == "descending":
            found.append(Argument(label, "descending"))
        else:
            found.append(Argument(None, label))
    return found
