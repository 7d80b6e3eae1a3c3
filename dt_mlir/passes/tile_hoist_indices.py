"""`tile-hoist-indices`: computes before a loop what its steps add numbers to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.index_sums import Sum
from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.analysis.moving_addresses import is_computed_in, loops_of_products
from dt_mlir.builders.values import ValueBuilder
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import axes_of, element_of
from dt_mlir.passes.tile_unroll_jam_indices import Indices
from dt_mlir.traversal import operations_of


class _Split(NamedTuple):
    """A sum of indices whose tiles are known before a loop."""

    loop: scf.ForOp
    fixed: Sum
    """The part that is known before the loop."""
    moving: Sum
    """The part that is computed in it: numbers."""


def _split(op: tile.MapOp, indices: Indices) -> _Split | None:
    """Returns the parts of an index, by the outermost loop that leaves its tiles alone."""
    total = indices.sum_in(op, op.inputs)
    if total is None:
        return None
    for loop in reversed(list(loops_of_products(op))):
        inside = [is_computed_in(value, loop) for value, _ in total.terms]
        fixed = Sum(tuple(t for t, moves in zip(total.terms, inside) if not moves), total.number)
        moving = Sum(tuple(t for t, moves in zip(total.terms, inside) if moves), 0)
        if any(axes_of(value.type) for value, _ in moving.terms):
            continue
        axes = {axis for value, _ in fixed.terms for axis in axes_of(value.type)}
        computed = fixed.number != 0 or [factor for _, factor in fixed.terms] != [1]
        whole = axes == {*axes_of(op.result.type)}
        return _Split(loop, fixed, moving) if moving.terms and computed and whole else None
    return None


def hoist_indices(kernel: tile.KernelOp) -> None:
    """Hoists the parts of a kernel's indices that loops leave alone."""
    indices = Indices(lambda _, make: make())
    for op in operations_of(kernel, tile.MapOp):
        if not isinstance(element_of(op.result.type), IndexType):
            continue
        split = _split(op, indices)
        if split is None:
            continue
        axes = axes_of(op.result.type)
        before = ValueBuilder(Builder(InsertPoint.before(split.loop)), axes)
        fixed = indices.build(split.fixed, before)
        inside = ValueBuilder(Builder(InsertPoint.before(op)), axes)
        found = indices.build(Sum(((fixed, 1), *split.moving.terms), 0), inside)
        for value in (fixed, found):
            assert isinstance(value.owner, tile.MapOp)
            value.owner.location = op.location
        found.name_hint = op.result.name_hint
        op.result.replace_all_uses_with(found)
        Rewriter.erase_op(op)


@dataclass(frozen=True)
class TileHoistIndicesPass(ModulePass):
    """Computes before a loop what its steps add numbers to.

    A tile of indices that is a sum of tiles from before the loop and of numbers is made of two
    sums: one before the loop, with the number that is always added, and one inside. The taps of a
    convolution move such an index: `2 * p + r - 1` is `2 * p - 1`, plus `r` in each step. Masks and
    addresses that are computed from it then take one addition.

    ```
    scf.for … {
      %i = tile.map (%a = %p, %b = %r) { 2 * %a + %b - 1 }
      ->
    %h = tile.map (%a = %p) { 2 * %a - 1 }
    scf.for … {
      %i = tile.map arith.addi %h, %r
    ```
    """

    name = "tile-hoist-indices"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            hoist_indices(kernel)
