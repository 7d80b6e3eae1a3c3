"""`tile-elide-masks`: drops masks that change nothing."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.analysis.masked_values import Number, evaluate
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import axis_names, element_of
from dt_mlir.traversal import operations

Pads = dict[tile.LoadOp, Number]


def masked_select(op: tile.MapOp) -> tuple[SSAValue, SSAValue, Number] | None:
    """The mask, the value and the constant of a map that only selects by a mask."""
    ops = list(op.body.block.ops)
    if len(ops) != 3 or len(op.inputs) != 2:
        return None
    constant, select, _ = ops
    if not isinstance(constant, arith.ConstantOp) or not isinstance(select, arith.SelectOp):
        return None
    attr = constant.value
    args = op.body.block.args
    if (
        not isinstance(attr, FloatAttr | IntegerAttr)
        or [*select.operands] != [args[0], args[1], constant.result]
        or not isinstance(op.inputs[0].owner, tile.MaskOp)
    ):
        return None
    return op.inputs[0], op.inputs[1], attr.value.data


def beyond(value: SSAValue, mask: SSAValue, pads: Pads) -> Number | None:
    """Returns a value's number where a mask is false; None if it is not known.

    Args:
        value: a tile or a scalar.
        mask: a mask along one axis.
        pads: what stands in for the masked elements of the loads that may be chosen.
    """
    axis = axis_names(mask.type)[0]
    owner = value.owner
    match owner:
        case arith.ConstantOp():
            attr = owner.value
            return attr.value.data if isinstance(attr, FloatAttr | IntegerAttr) else None
        case tile.FillOp():
            return beyond(owner.value, mask, pads)
        case tile.LoadOp():
            if mask not in owner.masks:
                return None
            if owner in pads:
                return pads[owner]
            return None if owner.pad is None else owner.pad.value.data
        case tile.TransposeOp() | tile.BroadcastOp():
            return beyond(owner.value, mask, pads) if axis in axis_names(value.type) else None
        case tile.MapOp():
            chosen = masked_select(owner)
            if chosen is not None and chosen[0] is mask:
                return chosen[2]
            known: dict[SSAValue, Number] = {}
            for arg, operand in zip(owner.body.block.args, owner.inputs):
                number = 0 if operand is mask else beyond(operand, mask, pads)
                if number is not None:
                    known[arg] = number
            return evaluate(owner.body.block, known).get(owner.yielded)
        case _:
            return None


def _loads_behind(value: SSAValue, mask: SSAValue, found: dict[tile.LoadOp, None]) -> None:
    """The loads under a mask that a value is computed from, elementwise."""
    owner = value.owner
    match owner:
        case tile.LoadOp():
            if mask in owner.masks:
                found[owner] = None
        case tile.MapOp():
            for operand in owner.inputs:
                _loads_behind(operand, mask, found)
        case tile.TransposeOp() | tile.BroadcastOp():
            _loads_behind(owner.value, mask, found)
        case _:
            pass


def _candidates(type: Attribute, wanted: Number) -> list[Number]:
    """Returns candidates for the fill value of masked elements of a type, likeliest first."""
    if isinstance(type, AnyFloat):
        if type.bitwidth == 8:
            # f8e4m3 has no infinities.
            return [0.0, 1.0]
        return list(dict.fromkeys([0.0, float(wanted), -math.inf, math.inf, 1.0]))
    assert isinstance(type, IntegerType)
    width = type.width.data
    if width == 1:
        return [0, -1]
    fits = -(2 ** (width - 1)) <= wanted < 2 ** (width - 1)
    return list(dict.fromkeys([0, 1, *([int(wanted)] if fits else [])]))


def _same(a: Number | None, b: Number) -> bool:
    return a is not None and (a == b or (a != a and b != b))


def elide_masks(kernel: tile.KernelOp) -> None:
    """Drops the selections of a kernel whose masked elements are already what they select.

    What stands in for the masked elements of a load is chosen so that this happens: before
    `exp` it is minus infinity, whose exponential is the identity of a sum.
    """
    decided: Pads = {}
    for op in operations(kernel):
        if not isinstance(op, tile.MapOp):
            continue
        chosen = masked_select(op)
        if chosen is None:
            continue
        mask, value, wanted = chosen
        loads: dict[tile.LoadOp, None] = {}
        _loads_behind(value, mask, loads)
        free = [load for load in loads if load not in decided]
        choices = [_candidates(element_of(load.result.type), wanted) for load in free]
        for pads in itertools.islice(itertools.product(*choices), 200):
            trial = {**decided, **dict(zip(free, pads))}
            if _same(beyond(value, mask, trial), wanted):
                decided = trial
                op.result.replace_all_uses_with(value)
                Rewriter.erase_op(op)
                break
    for load, pad in decided.items():
        element = element_of(load.result.type)
        load.pad = (
            FloatAttr(float(pad), element)
            if isinstance(element, AnyFloat)
            else IntegerAttr(int(pad), element)  # pyright: ignore
        )


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
