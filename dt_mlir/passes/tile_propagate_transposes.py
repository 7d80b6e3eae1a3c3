"""`tile-propagate-transposes`: moves transposes up to the loads, which take any order of axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import Axis, axes_of, element_of, tile_type
from dt_mlir.traversal import operations


def _can_move(value: SSAValue) -> bool:
    """Returns whether a value's producer can compute it with its axes in another order."""
    owner = value.owner
    if len(axes_of(value.type)) < 2:
        return True
    if isinstance(owner, Block) or len(list(value.uses)) != 1:
        return False
    match owner:
        case tile.LoadOp() | tile.FillOp() | tile.TransposeOp():
            return True
        case tile.MapOp():
            return all(_can_move(v) for v in owner.inputs if len(axes_of(v.type)) > 1)
        case tile.BroadcastOp():
            return _can_move(owner.value)
        case _:
            return False


def reorder(value: SSAValue, axes: Sequence[Axis]) -> SSAValue:
    """Returns a value with its axes in another order, recomputed so.

    Args:
        value: a value whose producers can compute it so, as a load or what is computed of loads.
        axes: the order; axes that the value does not have do not matter.
    """
    order = [axis for axis in axes if axis in axes_of(value.type)]
    if tuple(order) == axes_of(value.type):
        return value
    owner = value.owner
    assert isinstance(owner, Operation)
    assert owner.parent is not None
    if isinstance(owner, tile.TransposeOp):
        if tuple(order) == axes_of(owner.value.type):
            return owner.value
        new = tile.TransposeOp(owner.value, order)
        new.location = owner.location
        owner.parent.insert_op_before(new, owner)
        return new.result
    if isinstance(owner, tile.MapOp | tile.BroadcastOp):
        operands = list(owner.operands)
        for i, operand in enumerate(operands):
            owner.operands[i] = reorder(operand, axes)
    if isinstance(owner, tile.LoadOp):
        for i, operand in enumerate(owner.operands):
            owner.operands[i] = _copied(operand, axes, owner)
    type = tile_type(element_of(value.type), order)
    return Rewriter.replace_value_with_new_type(value, type)


def _copied(value: SSAValue, axes: Sequence[Axis], user: Operation) -> SSAValue:
    """Returns an index, a mask or a bound of a load with its axes in another order.

    Other loads may use the value as it is.
    """
    order = [axis for axis in axes if axis in axes_of(value.type)]
    if tuple(order) == axes_of(value.type):
        return value
    owner = value.owner
    assert user.parent is not None
    if isinstance(owner, tile.MapOp) and all(len(axes_of(v.type)) < 2 for v in owner.inputs):
        copy = owner.clone()
        user.parent.insert_op_before(copy, user)
        result = Rewriter.replace_value_with_new_type(
            copy.result, tile_type(element_of(value.type), order)
        )
        result.name_hint = value.name_hint
        return result
    new = tile.TransposeOp(value, order)
    new.location = user.location
    user.parent.insert_op_before(new, user)
    return new.result


def propagate_transposes(kernel: tile.KernelOp) -> None:
    """Removes the transposes of a kernel whose operands can be computed in the other order."""
    for op in operations(kernel):
        if isinstance(op, tile.TransposeOp) and op.parent is not None and _can_move(op.value):
            result = reorder(op.value, axes_of(op.result.type))
            op.result.replace_all_uses_with(result)
            Rewriter.erase_op(op)
    for op in reversed(operations(kernel)):
        if isinstance(op, tile.TransposeOp | tile.MapOp) and not op.results[0].uses:
            Rewriter.erase_op(op)


@dataclass(frozen=True)
class TilePropagateTransposesPass(ModulePass):
    """Moves transposes up through elementwise work to the loads, which take any order of axes.

    ```
    %b = tile.load %B[%k, %y] : !tile.of<y: 16, k: 8, f32>
    %t = tile.transpose %b to [k, y]
      ->
    %b = tile.load %B[%k, %y]
    ```
    A transpose of what other operations use too, or of a loop's result, stays.
    """

    name = "tile-propagate-transposes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            propagate_transposes(kernel)
