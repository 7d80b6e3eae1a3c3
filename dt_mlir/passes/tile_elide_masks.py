"""`tile-elide-masks`: drops masks that change nothing."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.analysis.masked_values import Pads, masked_select
from dt_mlir.dialects import tile
from dt_mlir.dialects.numbers import constant
from dt_mlir.dialects.tile.types import element_of
from dt_mlir.element_types import is_float
from dt_mlir.passes.tile_elide_masks_fills import find_fill_values
from dt_mlir.traversal import operations


def elide_masks(kernel: tile.KernelOp) -> None:
    """Drops the selections of a kernel whose masked elements are already what they select.

    The fill values of loads are chosen so that this happens: before `exp` it is minus infinity,
    whose exponential is the identity of a sum.
    """
    decided: Pads = {}
    for op in operations(kernel):
        selected = masked_select(op) if isinstance(op, tile.MapOp) else None
        if selected is None:
            continue
        mask, value, wanted = selected
        found = find_fill_values(value, mask, wanted, decided)
        if found is not None:
            decided = found
            op.results[0].replace_all_uses_with(value)
            Rewriter.erase_op(op)
    for load, pad in decided.items():
        element = element_of(load.result.type)
        load.pad = constant(float(pad) if is_float(element) else int(pad), element)


@dataclass(frozen=True)
class TileElideMasksPass(ModulePass):
    """Drops selections whose masked elements already are the reduction's identity.

    ```
    %a = tile.load %A[%y] masked [%y_mask] pad 0.0
    %e = tile.map (%x = %a) { math.exp %x }
    %s = tile.map (%m = %y_mask, %x = %e) { arith.select %m, %x, 0.0 }
    tile.reduce add %s along y
      ->
    %a = tile.load %A[%y] masked [%y_mask] pad -inf
    %e = tile.map (%x = %a) { math.exp %x }
    tile.reduce add %e along y
    ```
    """

    name = "tile-elide-masks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            elide_masks(kernel)
