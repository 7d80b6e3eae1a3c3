"""A pass that makes malformed IR."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from dt_mlir.dialects import tile
from dt_mlir.traversal import operations_of


class MapFromOutside(ModulePass):
    """Makes an operation inside a map use a value from outside it."""

    name = "map-from-outside"
    after = "tile-place-masks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for map_op in operations_of(op, tile.MapOp):
            for inner in map_op.body.block.ops:
                if inner.operands:
                    inner.operands[0] = map_op.inputs[0]
