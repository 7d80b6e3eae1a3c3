"""`tile-share-loads`: loads once what is loaded with its axes in several orders."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsolatedFromAbove

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import axes_of


def share_loads(block: Block, known: dict[Hashable, tile.LoadOp]) -> None:
    """Replaces loads of a block, and of the blocks in it, by transposes of others.

    Args:
        block: the block.
        known: the loads that dominate the block, by what they load.
    """
    own = dict(known)
    for op in list(block.ops):
        if isinstance(op, tile.LoadOp):
            first = own.setdefault(_key(op), op)
            if first is op:
                continue
            if first.result.type == op.result.type:
                op.result.replace_all_uses_with(first.result)
                Rewriter.erase_op(op)
            else:
                new = tile.TransposeOp(first.result, axes_of(op.result.type))
                new.location = op.location
                new.result.name_hint = op.result.name_hint
                Rewriter.replace_op(op, new)
                _reduce_untransposed(new)
        elif op.regions and not op.has_trait(IsolatedFromAbove):
            for region in op.regions:
                for inner in region.blocks:
                    share_loads(inner, own)


def _key(op: tile.LoadOp) -> Hashable:
    """Equal for loads of the same elements, in whatever order their axes are."""
    return (
        tuple(op.operands),
        frozenset(op.properties.items()),
        frozenset(op.attributes.items()),
        frozenset(axes_of(op.result.type)),
    )


def _reduce_untransposed(op: tile.TransposeOp) -> None:
    """Makes reductions of a transposed tile reduce the tile, and transpose what is left of it."""
    for use in list(op.result.uses):
        user = use.operation
        if not isinstance(user, tile.ReduceOp):
            continue
        wanted = axes_of(user.result.type)
        reduced = tile.ReduceOp(user.kind.data, op.value, user.axis.data)
        reduced.location = user.location
        reduced.result.name_hint = user.result.name_hint
        reduced.attributes.update(user.attributes)
        Rewriter.insert_op(reduced, InsertPoint.before(user))
        result = reduced.result
        if axes_of(result.type) != wanted:
            back = tile.TransposeOp(result, wanted)
            back.location = user.location
            Rewriter.insert_op(back, InsertPoint.before(user))
            result = back.result
        user.result.replace_all_uses_with(result)
        Rewriter.erase_op(user)
    if not op.result.uses:
        Rewriter.erase_op(op)


@dataclass(frozen=True)
class TileShareLoadsPass(ModulePass):
    """Loads once what is loaded with its axes in several orders; the others are transposes of it.

    A reduction of such a transpose reduces the tile as it is.

    ```
    %X = tile.load %X_ptr[%a, %b]                          %X = tile.load %X_ptr[%a, %b]
    %X_1 = tile.load %X_ptr[%a, %b] : !tile.of<b, a, f32>
    %s = tile.reduce add %X_1 along a                  ->  %s = tile.reduce add %X along a
    ```
    """

    name = "tile-share-loads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            share_loads(kernel.body.block, {})
