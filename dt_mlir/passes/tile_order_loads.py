"""`tile-order-loads`: loads tiles with their axes in the order of memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.dialects import host, tile
from dt_mlir.dialects.tile.types import Axis, axes_of, axis_names
from dt_mlir.passes.tile_propagate_transposes import reorder
from dt_mlir.traversal import operations_of

LEAST_RANK = 3
"""The rank from which on the order matters.

Threads take the axis first along which elements are adjacent, whatever its place. The order of the
axes decides between the others.
"""


def order_loads(kernel: tile.KernelOp, orders: Mapping[SSAValue, Sequence[int]]) -> None:
    """Loads tiles of a kernel in the order of memory, and transposes them behind the load.

    Args:
        kernel: the kernel.
        orders: the axes of tensors that are not row-major, the slowest first, by the kernel's
            arguments.
    """
    for op in list(operations_of(kernel, tile.LoadOp)):
        axes = axes_of(op.result.type)
        order = orders.get(op.base, range(len(op.indices)))
        wanted = sorted(axes, key=lambda axis: _place(op, axis, order))
        if len(axes) < LEAST_RANK or tuple(wanted) == axes:
            continue
        result = reorder(op.result, wanted)
        users = list(result.uses)
        back = tile.TransposeOp(result, axes)
        back.location = op.location
        Rewriter.insert_op(back, InsertPoint.after(op))
        for use in users:
            use.operation.operands[use.index] = back.result


def _place(op: tile.LoadOp, axis: Axis, order: Sequence[int]) -> tuple[int, bool]:
    """Returns a key that is larger for an axis along which elements are closer to each other.

    It is the place in memory of the fastest axis of the tensor whose index depends on the axis, and
    whether that index counts it by ones. An axis that only a mask has comes first.
    """
    for place in reversed(range(len(order))):
        index = op.indices[order[place]]
        if axis.name in axis_names(index.type):
            return place, _is_counted(index, axis.name)
    return -1, False


def _is_counted(index: SSAValue, axis: str) -> bool:
    """Returns whether an index grows by one where the place along an axis does."""
    owner = index.owner
    match owner:
        case tile.RangeOp():
            return owner.stride == 1
        case tile.JoinedRangeOp():
            return index is owner.indices[-1]
        case tile.BroadcastOp() | tile.TransposeOp():
            return _is_counted(owner.value, axis)
        case tile.MapOp():
            arguments: dict[SSAValue, SSAValue] = dict(zip(owner.body.block.args, owner.inputs))
            last = owner.body.block.last_op
            return last is not None and _counts(last.operands[0], arguments, axis)
        case _:
            return False


def _counts(value: SSAValue, arguments: Mapping[SSAValue, SSAValue], axis: str) -> bool:
    """Returns whether a value in a map grows by one where the place along an axis does.

    Args:
        value: the value.
        arguments: the map's operands, by the arguments of its body.
        axis: the axis.
    """
    if value in arguments:
        given = arguments[value]
        return axis in axis_names(given.type) and _is_counted(given, axis)
    match value.owner:
        case (
            arith.AddiOp(lhs=left, rhs=right)
            | arith.MaxSIOp(lhs=left, rhs=right)
            | arith.MinSIOp(lhs=left, rhs=right)
        ):
            return _counts(left, arguments, axis) or _counts(right, arguments, axis)
        case arith.SubiOp(lhs=left) | arith.IndexCastOp(input=left):
            return _counts(left, arguments, axis)
        case _:
            return False


@dataclass(frozen=True)
class TileOrderLoadsPass(ModulePass):
    """Gives the axes of a loaded tile of three axes or more the order of memory.

    The nest of loops orders the axes of tiles, and neighbouring threads would load what is far
    apart. The tile is transposed behind the load, which moves no data. Inputs are taken to be
    row-major; the tensors of functions lie as `reorder_storage` says.

    ```
    %X = tile.load %X_ptr[%k, %c] : !tile.of<g: 8, k: 64, i: 8, f32>    (%c is %g * 8 + %i)
      ->
    %X = tile.load %X_ptr[%k, %c] : !tile.of<k: 64, g: 8, i: 8, f32>
    %X_1 = tile.transpose %X to [g, k, i]
    ```
    """

    name = "tile-order-loads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = host.function_of(op)
        launched = {} if function is None else {x.kernel_name: x for x in function.launches()}
        for kernel in kernels_of(op):
            launch = launched.get(kernel.sym_name.data)
            given = () if launch is None else zip(kernel.body.block.args, launch.arguments)
            orders: dict[SSAValue, Sequence[int]] = {
                argument: host.storage_order_of(tensor)
                for argument, tensor in given
                if isinstance(tensor.type, MemRefType)
            }
            order_loads(kernel, orders)
