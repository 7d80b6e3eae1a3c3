"""Addresses in loops that are what they are before the loop, plus a number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue, Use
from xdsl.traits import is_side_effect_free

from dt_mlir.analysis.index_sums import Sum, Sums
from dt_mlir.analysis.unrolled_loops import unrolled_trips
from dt_mlir.dialects import tile
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.dialects.tile.types import axes_of, axis_names
from dt_mlir.traversal import operations, operations_of


class Part(NamedTuple):
    """A multiple of an index."""

    value: SSAValue
    factor: int
    from_origin: bool = False
    """True for a range, of which only the distances to its origin count."""


class MovingIndex(NamedTuple):
    """The index of one axis of a tensor: the sum of its parts and a number."""

    fixed: tuple[Part, ...]
    """The tiles and numbers that are known before the loop."""
    moving: tuple[Part, ...]
    """The numbers that the loop computes."""
    number: int


class MovingAccess(NamedTuple):
    """A load or store whose indices a loop changes by numbers alone."""

    op: tile.LoadOp | tile.StoreOp
    indices: tuple[MovingIndex, ...]


class MovingAddresses:
    """Finds the accesses of a kernel whose addresses are a tile from before a loop plus a number.

    Such an address takes one addition a step, however the index was computed. This is the strength
    reduction of addresses (LLVM's `separate-const-offset-from-gep` and `loop-reduce`), for tiles:
    `X[2 * p + r, c_start + (0, 1, …)]` is `X[2 * p, (0, 1, …)]`, moved by `r` and `c_start`.

    Args:
        kernel: the kernel.
    """

    def __init__(self, kernel: GridKernelOp) -> None:
        self._sums = Sums()
        self.accesses: dict[scf.ForOp, list[MovingAccess]] = {}
        """The accesses, by the loop before which their tiles are known."""
        for op in operations(kernel):
            if isinstance(op, tile.LoadOp | tile.StoreOp):
                self._add(op)
        moving = [access for found in self.accesses.values() for access in found]
        self.parts = {
            part.value
            for access in moving
            for index in access.indices
            for part in (*index.fixed, *index.moving)
            if not part.from_origin
        }
        """The indices that addresses are computed from."""
        self.unused = self._unused(kernel, {access.op for access in moving})
        """The operations that only indices of these accesses are computed from."""

    def _add(self, op: tile.LoadOp | tile.StoreOp) -> None:
        # The outermost loop that does: what is inside of it is computed least often.
        for loop in reversed(list(loops_of_products(op))):
            found = [self._moving(index, loop) for index in op.indices]
            indices = tuple(index for index in found if index is not None)
            if len(indices) < len(found):
                continue
            axes = {n for index in indices for p in index.fixed for n in axis_names(p.value.type)}
            # What cancels in a sum takes its axis with it.
            whole = axes == {*op.access_axes()}
            if axes and whole and any(index.moving for index in indices):
                self.accesses.setdefault(loop, []).append(MovingAccess(op, indices))
            return

    def _moving(self, value: SSAValue, loop: scf.ForOp) -> MovingIndex | None:
        """Returns an index as what is known before a loop plus numbers; None if it is not."""
        fixed: list[Part] = []
        moving: list[Part] = []
        total = self._sum_of(value, loop)
        number = total.number
        for part, factor in total.terms:
            if not is_computed_in(part, loop):
                fixed.append(Part(part, factor))
            elif not axes_of(part.type):
                moving.append(Part(part, factor))
            elif isinstance(part.owner, tile.RangeOp | tile.JoinedRangeOp):
                fixed.append(Part(part, factor, from_origin=True))
                origin = Sum.of(part.owner.origin_of(part))
                number += factor * origin.number
                for begin, _ in origin.terms:
                    (moving if is_computed_in(begin, loop) else fixed).append(Part(begin, factor))
            else:
                return None
        return MovingIndex(tuple(fixed), tuple(moving), number)

    def _sum_of(self, value: SSAValue, loop: scf.ForOp) -> Sum:
        """Returns an index as a sum of ranges, numbers, and tiles from before a loop."""
        op, known = value.owner, self._sums.known
        if isinstance(op, tile.MapOp) and is_computed_in(value, loop) and value not in known:
            for operand in op.inputs:
                self._sum_of(operand, loop)
            known[value] = self._sums.sum_in(op, op.inputs) or Sum.of(value)
        return self._sums.sum_of(value)

    def _unused(
        self, kernel: GridKernelOp, moved: set[tile.LoadOp | tile.StoreOp]
    ) -> set[Operation]:
        """Returns the operations that only the indices of some accesses are computed from."""
        found: set[Operation] = set()
        for op in reversed(operations(kernel)):
            results = [use for result in op.results for use in result.uses]
            if (
                results
                and is_side_effect_free(op)
                and not isinstance(op.parent_op(), tile.MapOp)
                and self.parts.isdisjoint(op.results)
                and all(use.operation in found or _is_index_of(use, moved) for use in results)
            ):
                found.add(op)
        return found


def loops_of_products(op: Operation) -> Iterator[scf.ForOp]:
    """The loops of products around an operation, from the inside to the outside.

    Their steps are short, and the products wait for addresses. In other loops, which wait for
    memory, many tiles that are kept would only take registers, and so they would in a loop over
    blocks, whose steps are long. Loops that are unrolled vanish.
    """
    parent = op.parent_op()
    while parent is not None:
        if (
            isinstance(parent, scf.ForOp)
            and not isinstance(parent.step.owner, tile.NumProgramsOp)
            and unrolled_trips(parent) is None
            and operations_of(parent, tile.DotOp)
        ):
            yield parent
        parent = parent.parent_op()


def is_computed_in(value: SSAValue, loop: scf.ForOp) -> bool:
    """Returns whether a loop computes a value."""
    return loop.body.block.is_ancestor(value.owner)


def _is_index_of(use: Use, moved: set[tile.LoadOp | tile.StoreOp]) -> bool:
    op = use.operation
    if not isinstance(op, tile.LoadOp | tile.StoreOp) or op not in moved:
        return False
    value = op.operands[use.index]
    return value in op.indices and value not in (*op.masks, *getattr(op, "inside", ()))
