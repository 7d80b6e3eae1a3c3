"""`tile-hint-contiguous`: a pass of the `tile` level whose operation reaches the emitted text."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.passes import ModulePass
from xdsl.traits import Pure

from dt_mlir.analysis.kernels import kernels_of
from dt_mlir.dialects import tile
from dt_mlir.traversal import operations_of


@irdl_op_definition
class ContiguousOp(IRDLOperation):
    """Tells Triton that the elements of a tile of indices follow one another."""

    name = "hints.contiguous"

    value = operand_def(tile.TileType)
    """The tile of indices."""
    count = prop_def(IntegerAttr)
    """The number of elements that follow one another."""
    result = result_def(tile.TileType)
    """The same tile."""

    assembly_format = "$value `by` $count attr-dict `:` type($value) `->` type($result)"
    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, count: int) -> None:
        super().__init__(
            operands=[value],
            properties={"count": IntegerAttr(count, i64)},
            result_types=[value.type],
        )

    def triton_expression(self, operands: Sequence[ast.expr]) -> ast.expr:
        """`tl.max_contiguous(value, count)`"""
        function = ast.Attribute(ast.Name("tl"), "max_contiguous")
        return ast.Call(function, [operands[0], ast.Constant(self.count.value.data)], [])


Hints = Dialect("hints", [ContiguousOp])


@dataclass(frozen=True)
class HintContiguousPass(ModulePass):
    """Tells Triton of each range of known extent that its indices follow one another.

    ```
    %x = tile.range x: 64 from %0   ->   %x = tile.range x: 64 from %0
                                       %1 = hints.contiguous %x by 64
    ```
    """

    name = "tile-hint-contiguous"
    after = "tile-place-evictions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            for index in operations_of(kernel, tile.RangeOp):
                extent = index.axis.extent
                if not isinstance(extent, int) or index.parent is None:
                    continue
                users = [
                    use
                    for use in index.result.uses
                    if isinstance(use.operation, tile.LoadOp | tile.StoreOp)
                ]
                hint = ContiguousOp(index.result, extent)
                hint.location = index.location
                hint.result.name_hint = index.result.name_hint
                index.parent.insert_op_after(hint, index)
                for use in users:
                    use.operation.operands[use.index] = hint.result
