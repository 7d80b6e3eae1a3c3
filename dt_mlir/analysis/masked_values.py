"""Numbers that values of the `tile` level have where a mask is false."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import SSAValue

from dt_mlir.analysis.known_numbers import Number, evaluate
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import axis_names

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
    return _beyond(value, mask, pads, {})


def _beyond(
    value: SSAValue, mask: SSAValue, pads: Pads, found: dict[SSAValue, Number | None]
) -> Number | None:
    # Values are used several times: without what is found already this takes exponential time.
    if value not in found:
        found[value] = _beyond_owner(value, mask, pads, found)
    return found[value]


def _beyond_owner(
    value: SSAValue, mask: SSAValue, pads: Pads, found: dict[SSAValue, Number | None]
) -> Number | None:
    axis = axis_names(mask.type)[0]
    owner = value.owner
    match owner:
        case arith.ConstantOp():
            attr = owner.value
            return attr.value.data if isinstance(attr, FloatAttr | IntegerAttr) else None
        case tile.FillOp():
            return _beyond(owner.value, mask, pads, found)
        case tile.LoadOp():
            if mask not in owner.masks:
                return None
            if owner in pads:
                return pads[owner]
            return None if owner.pad is None else owner.pad.value.data
        case tile.TransposeOp() | tile.BroadcastOp():
            along = axis in axis_names(value.type)
            return _beyond(owner.value, mask, pads, found) if along else None
        case tile.MapOp():
            chosen = masked_select(owner)
            if chosen is not None and chosen[0] is mask:
                return chosen[2]
            known: dict[SSAValue, Number] = {}
            for arg, operand in zip(owner.body.block.args, owner.inputs):
                number = 0 if operand is mask else _beyond(operand, mask, pads, found)
                if number is not None:
                    known[arg] = number
            return evaluate(owner.body.block, known).get(owner.yielded)
        case _:
            return None
