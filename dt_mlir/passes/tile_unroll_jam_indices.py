"""Indices that copies of operations share: sums are brought into one form, and built once.

`(x + 1) + 2 - 1` and `x + 2` are one index. Only then are two loads of the same elements equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from dt_mlir.analysis.index_sums import Sum, Sums
from dt_mlir.builders.index import IndexBuilder
from dt_mlir.builders.values import ValueBuilder
from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.types import axis_names, element_of


class Indices(Sums):
    """Builds indices, equal ones once.

    Args:
        find: returns what was built for a key where it can be used; else builds and keeps it.
    """

    def __init__(self, find: Callable[[Sum, Callable[[], SSAValue]], SSAValue]) -> None:
        super().__init__()
        self._find = find

    def moved(self, value: SSAValue, by: int, values: ValueBuilder) -> SSAValue:
        """Inserts an index plus a number."""
        return self.build(self.added(self.sum_of(value), Sum((), by), 1), values)

    def build(self, wanted: Sum, values: ValueBuilder) -> SSAValue:
        """Inserts a sum, a tile of the axes that its indices have between them."""
        if len(wanted.terms) == 1 and wanted.number == 0 and wanted.terms[0][1] == 1:
            return wanted.terms[0][0]

        def insert(builder: Builder, elements: list[SSAValue]) -> SSAValue:
            index = IndexBuilder(builder)
            total: SSAValue | None = None
            for element, (_, factor) in zip(elements, wanted.terms):
                size = abs(factor)
                part = element if size == 1 else index.mul(element, index.constant(size))
                if total is not None:
                    total = index.add(total, part) if factor > 0 else index.sub(total, part)
                else:
                    total = part if factor > 0 else index.sub(index.constant(0), part)
            if total is None:
                return index.constant(wanted.number)
            step = index.constant(abs(wanted.number)) if wanted.number else None
            if step is None:
                return total
            return index.add(total, step) if wanted.number > 0 else index.sub(total, step)

        def make() -> SSAValue:
            return values.elementwise([value for value, _ in wanted.terms], insert)

        found = self._find(wanted, make)
        self.known.setdefault(found, wanted)
        return found

    def map(
        self, op: tile.MapOp, inputs: Sequence[SSAValue], type: Attribute, values: ValueBuilder
    ) -> tile.MapOp:
        """Returns a map on other operands; the sums of indices in it are its operands.

        Args:
            op: the map.
            inputs: what it is computed from instead.
            type: the type of its result.
            values: where the sums go.
        """
        body = _Body(self, values)
        body.sums = self.arguments(op, inputs)
        for arg, value in zip(op.body.block.args, inputs):
            if arg not in body.sums:
                body.inner[arg] = body.operand(value)
        for inner in op.body.block.ops:
            if inner.results:
                body.add(inner)
        for value in inputs:
            # The loop of an axis is where its range is, also for what no longer reads its indices.
            known = {axis for operand in body.inputs for axis in axis_names(operand.type)}
            if not known.issuperset(axis_names(value.type)):
                body.operand(value)
        body.builder.insert(tile.YieldOp(body.value(op.yielded)))
        return tile.MapOp(body.inputs, type, Region(body.block))


class _Body:
    """The body of a map that is made anew."""

    def __init__(self, indices: Indices, values: ValueBuilder) -> None:
        self.indices, self.values = indices, values
        self.block = Block()
        self.builder = Builder(InsertPoint.at_end(self.block))
        self.inputs: list[SSAValue] = []
        self.sums: dict[SSAValue, Sum] = {}
        """The values of the old body that are sums of indices outside."""
        self.inner: dict[SSAValue, SSAValue] = {}
        """The values of the new body, by those of the old one."""

    def operand(self, value: SSAValue) -> SSAValue:
        """Returns the argument of the new body for an operand of the map."""
        if value not in self.inputs:
            self.inputs.append(value)
            self.block.insert_arg(element_of(value.type), len(self.block.args))
        return self.block.args[self.inputs.index(value)]

    def value(self, old: SSAValue) -> SSAValue:
        """Returns the value of the new body for one of the old body."""
        if old not in self.inner:
            found = self.sums[old]
            if found.terms:
                self.inner[old] = self.operand(self.indices.build(found, self.values))
            else:
                number = IntegerAttr(found.number, IndexType())
                self.inner[old] = self.builder.insert(arith.ConstantOp(number)).result
        return self.inner[old]

    def add(self, op: Operation) -> None:
        """Adds an operation of the old body."""
        found = self.indices.combined(op, [self.sums.get(value) for value in op.operands])
        if found is not None:
            self.sums[op.results[0]] = found
            return
        copy = op.clone({value: self.value(value) for value in op.operands})
        self.builder.insert(copy)
        self.inner.update(zip(op.results, copy.results))
