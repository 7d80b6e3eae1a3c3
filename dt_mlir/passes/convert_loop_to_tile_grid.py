"""From the number of a program instance to the origins of its blocks.

A split walks groups of blocks of which the last may have fewer: every block is met once and the
grid has exactly as many instances as there are blocks, whatever the sizes. With the outer half
first this is the grouped ordering of Triton's matrix-product tutorial.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from dt_mlir.builders.index import IndexBuilder
from dt_mlir.dialects import loop, tile
from dt_mlir.dialects.loop import WalkAttr


def lower_grid(
    grid: loop.GridOp, index: IndexBuilder, sizes: dict[str, SSAValue]
) -> list[SSAValue]:
    """Emits the walk over the blocks.

    Args:
        grid: the grid.
        index: builds the arithmetic.
        sizes: the sizes of the partitioned labels.

    Returns:
        The origin of the instance's block along each partitioned label.
    """
    labels = grid.label_names
    if not labels:
        return []
    blocks = grid.block_sizes
    program_id = index.builder.insert(tile.ProgramIdOp()).result
    program_id.name_hint = "pid"
    order = grid.walk_order
    counts: dict[str, SSAValue] = {}
    # The slowest label's number of blocks is needed only where a split looks at its end.
    for label in labels:
        if order[0] != WalkAttr(label):
            counts[label] = index.ceil_div(
                sizes[label], index.constant(blocks[label]), f"{label}_blocks"
            )
    walker = _Walker(index, order, counts)
    numbers = walker.walk(program_id)
    return [
        index.mul(numbers[label], index.constant(blocks[label]), f"{label}_origin")
        for label in labels
    ]


class _Walker:
    def __init__(
        self, index: IndexBuilder, order: list[WalkAttr], counts: dict[str, SSAValue]
    ) -> None:
        self.index = index
        self.order = order
        self.counts = counts
        self.parts: dict[tuple[str, str], SSAValue] = {}

    def walk(self, program_id: SSAValue) -> dict[str, SSAValue]:
        """The number of the block along each label."""
        index, rest = self.index, program_id
        for position, walk in enumerate(self.order):
            later = self.order[position + 1 :]
            if not later:
                value = rest
            else:
                value, rest = self._digit(walk, later, rest)
            hint = {"outer": "group", "inner": "in_group"}.get(walk.part, "block")
            if walk.part == "descending":
                last = index.sub(self.counts[walk.label], index.constant(1))
                value = index.sub(last, value)
            if value is not program_id:
                value.name_hint = f"{walk.label}_{hint}"
            self.parts[walk.label, walk.part] = value
        found: dict[str, SSAValue] = {}
        for walk in self.order:
            if walk.is_whole:
                found[walk.label] = self.parts[walk.label, walk.part]
            elif walk.label not in found:
                outer, inner = self.parts[walk.label, "outer"], self.parts[walk.label, "inner"]
                scaled = index.mul(outer, index.constant(walk.factor))
                found[walk.label] = index.add(scaled, inner, f"{walk.label}_block")
        return found

    def _digit(
        self, walk: WalkAttr, later: list[WalkAttr], rest: SSAValue
    ) -> tuple[SSAValue, SSAValue]:
        """A part of the walk, and what is left for the faster ones."""
        index = self.index
        partner = {"outer": "inner", "inner": "outer"}.get(walk.part)
        if partner is None or (walk.label, partner) in self.parts:
            below = self._product(later)
            return index.div(rest, below), index.rem(rest, below, "rest")
        others = [w for w in later if w.label != walk.label]
        unit = self._product(others) if others else index.constant(1)
        factor, count = index.constant(walk.factor), self.counts[walk.label]
        if walk.part == "outer":
            # All groups before the last are full.
            below = index.mul(factor, unit, f"{walk.label}_group_blocks")
            return index.div(rest, below), index.rem(rest, below, "rest")
        # The inner half first: it meets one group more while the last group lasts.
        full = index.div(count, factor)
        tail = index.rem(count, factor)
        large = index.mul(index.add(full, index.constant(1)), unit)
        head = index.mul(tail, large)
        in_head = index.builder.insert(arith.CmpiOp(rest, head, "slt")).result
        # Where there is no full group everything is in the head, and this is not used.
        one = index.constant(1)
        safe = index.builder.insert(arith.MaxSIOp(full, one)).result
        small = index.mul(safe, unit)
        behind = index.sub(rest, head)
        value = self._select(
            in_head, index.div(rest, large), index.add(tail, index.div(behind, small))
        )
        left = self._select(in_head, index.rem(rest, large), index.rem(behind, small))
        return value, left

    def _select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.index.builder.insert(arith.SelectOp(condition, a, b)).result

    def _product(self, walks: list[WalkAttr]) -> SSAValue:
        """The number of program instances that the given parts of the walk make together."""
        index = self.index
        result: SSAValue | None = None
        pending = {w.label for w in walks if not w.is_whole}
        for walk in walks:
            if walk.is_whole:
                count = self.counts[walk.label]
            elif walk.label not in pending:
                continue
            else:
                pending.discard(walk.label)
                count = self._part_count(walk, walks)
            result = count if result is None else index.mul(result, count)
        assert result is not None
        return result

    def _part_count(self, walk: WalkAttr, walks: list[WalkAttr]) -> SSAValue:
        """The number of values of a part; both halves of a split make the whole together."""
        index, count = self.index, self.counts[walk.label]
        both = [w for w in walks if w.label == walk.label]
        if len(both) == 2:
            return count
        factor = index.constant(walk.factor)
        if walk.part == "inner":
            start = index.mul(
                self.parts[walk.label, "outer"], factor, f"{walk.label}_group_start"
            )
            return index.minimum(index.sub(count, start), factor, f"{walk.label}_group_size")
        inner = self.parts[walk.label, "inner"]
        return index.ceil_div(index.sub(count, inner), factor, f"{walk.label}_groups")
