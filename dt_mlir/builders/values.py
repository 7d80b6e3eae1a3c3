"""Builds operations on values of the `tile` level, scalars and tiles alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, LocationAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from dt_mlir.diagnostics import has_location
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import Axis, axes_of, element_of, tile_type


class ValueBuilder:
    """Builds scalar operations, on tiles inside `tile.map`.

    Args:
        builder: where operations go.
        order: all axes of the kernel, in the order that every tile has them: those of its
            `tile.range` operations in program order, unless a pass has transposed tiles.
    """

    def __init__(self, builder: Builder, order: Sequence[Axis]) -> None:
        self.builder = builder
        self.order = [axis.name for axis in order]

    def union(self, values: Sequence[SSAValue]) -> list[Axis]:
        """The axes that values have between them, in order."""
        found = {axis.name: axis for value in values for axis in axes_of(value.type)}
        return [found[name] for name in self.order if name in found]

    def constant(self, attr: FloatAttr | IntegerAttr) -> SSAValue:
        """A scalar constant."""
        return self.builder.insert(arith.ConstantOp(attr)).result

    def elementwise(
        self,
        values: Sequence[SSAValue],
        build: Callable[[Builder, list[SSAValue]], SSAValue],
        location: LocationAttr | None = None,
    ) -> SSAValue:
        """Computes a scalar from scalars; from tiles, the same for each element.

        Args:
            values: scalars and tiles.
            build: builds the scalar operations on one element of each; gives the result.
            location: the location of the map, and of what is built without one.
        """
        axes = self.union(values)
        if not axes:
            return build(self.builder, list(values))
        inputs = [
            v for v in dict.fromkeys(values) if not isinstance(v.owner, arith.ConstantOp)
        ]
        block = Block(arg_types=[element_of(value.type) for value in inputs])
        inner = Builder(InsertPoint.at_end(block))
        elements: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args))
        operands: list[SSAValue] = []
        for value in values:
            if value not in elements:
                owner = value.owner
                assert isinstance(owner, arith.ConstantOp)
                elements[value] = inner.insert(owner.clone()).results[0]
            operands.append(elements[value])
        result = build(inner, operands)
        if result in block.args:
            # Nothing is left to compute, as of a sum with 0.
            unchanged = inputs[block.args.index(result)]
            if axes_of(unchanged.type) == tuple(axes):
                return unchanged
        inner.insert(tile.YieldOp(result))
        op = tile.MapOp(inputs, tile_type(result.type, axes), Region(block))
        if location is not None:
            op.location = location
            for inner_op in block.ops:
                if not has_location(inner_op):
                    inner_op.location = location
        return self.builder.insert(op).result

    def expression(
        self, ops: Sequence[Operation], values: Mapping[SSAValue, SSAValue]
    ) -> SSAValue:
        """Computes an expression of scalars on other operands, tiles among them, in one map.

        Args:
            ops: the scalar operations of the expression, in program order; the last one computes
                the value, and nothing else uses the others.
            values: what stands for the operands that the expression does not compute itself.
        """
        inside = {op.results[0] for op in ops[:-1]}
        outer = [v for v in dict.fromkeys(v for op in ops for v in op.operands) if v not in inside]

        def build(builder: Builder, elements: list[SSAValue]) -> SSAValue:
            known = dict(zip(outer, elements))
            for op in ops:
                builder.insert(op.clone_without_regions(known))
            return known[root.results[0]]

        root = ops[-1]
        result = self.elementwise([values[value] for value in outer], build, root.location)
        if result.name_hint is None:
            result.name_hint = root.results[0].name_hint
        return result

    def fill(self, attr: FloatAttr | IntegerAttr, axes: Sequence[Axis]) -> SSAValue:
        """A constant as a tile of these axes; without any, as a scalar."""
        scalar = self.constant(attr)
        if not axes:
            return scalar
        return self.builder.insert(tile.FillOp(scalar, tile_type(scalar.type, axes))).result

    def broadcast(self, value: SSAValue, axes: Sequence[Axis]) -> SSAValue:
        """A value with further axes."""
        if tuple(axes) == axes_of(value.type):
            return value
        type = tile_type(element_of(value.type), axes)
        if not axes_of(value.type):
            return self.builder.insert(tile.FillOp(value, type)).result
        return self.builder.insert(tile.BroadcastOp(value, type)).result

    def transpose(self, value: SSAValue, axes: Sequence[Axis]) -> SSAValue:
        """A tile with its axes in another order."""
        if tuple(axes) == axes_of(value.type):
            return value
        result = self.builder.insert(tile.TransposeOp(value, axes)).result
        result.name_hint = value.name_hint
        return result
