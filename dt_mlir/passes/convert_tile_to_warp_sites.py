"""The places in a kernel where the boxes of factors are copied, and waited for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from dt_mlir.analysis.boxes import Box
from dt_mlir.dialects import tile, warp


@dataclass
class Site:
    """Copies that are waited for together: in front of the product that needs them, or where a
    factor that is the same in all trips of a loop is loaded."""

    block: Block
    """The block that they are in."""
    boxes: list[Box]
    """The boxes that are copied."""
    ready: SSAValue | None = None
    """The barriers of the groups."""


def sites_of(factors: Mapping[tile.DotOp, Sequence[Box | None]]) -> dict[Operation, Site]:
    """Returns the copies by the operation that they stand in front of, or instead of.

    Args:
        factors: the boxes of each product's factors; None for one in registers.
    """
    found: dict[Operation, Site] = {}
    known: set[Operation] = set()
    for dot, boxes in factors.items():
        for box in boxes:
            if box is None or box.op in known:
                continue
            known.add(box.op)
            block = box.op.parent
            assert block is not None
            place = dot if block is dot.parent else box.op
            found.setdefault(place, Site(block, [])).boxes.append(box)
    return found


def blocks_alike(
    sites: Sequence[Site], part_of: Callable[[Box], warp.DescriptorType]
) -> dict[Block, Block]:
    """Returns the blocks of loops that copy what a loop in front of them has copied, with its own.

    One runs behind the other, so that they use the same rings in turn.

    Args:
        sites: the copies.
        part_of: gives the type of the part of a box that a group has.
    """
    copied: dict[Block, list[list[tuple[object, ...]]]] = {}
    for site in sites:
        parts = [(box, part_of(box)) for box in site.boxes]
        copied.setdefault(site.block, []).append([
            (box.op.base, part, box.permutation, *box.matrix(part.extents)) for box, part in parts
        ])  # fmt: skip
    around = {block: block.parent_op() for block in copied}
    loops = {block: op for block, op in around.items() if isinstance(op, scf.ForOp)}
    found: dict[Block, Block] = {}
    for number, (later, loop) in enumerate(loops.items()):
        for earlier, other in list(loops.items())[:number]:
            if (
                earlier not in found
                and other.parent is loop.parent
                and copied[earlier] == copied[later]
            ):
                found[later] = earlier
                break
    return found
