"""The body of a loop that computes several reductions, with what its values depend on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, LocationAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from dt_mlir.copying import copy_of
from dt_mlir.diagnostics import has_location
from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.numbers import constant
from dt_mlir.traversal import captured_by


class Body:
    """The body of a `loop.online` that is being built; equal operations are there once.

    Args:
        block: the block, which has the loop's index as its argument.
        location: the location of what is inserted without one.
    """

    def __init__(self, block: Block, location: LocationAttr) -> None:
        self.block = block
        self.location = location
        self.builder = Builder(InsertPoint.at_end(block))
        self.running: list[loop.RunningOp] = []
        self.decomposed: list[Block] = []
        """The bodies of sums that were decomposed, which are not part of the loop."""
        self._known: dict[Hashable, Operation] = {}
        self._inside: set[Operation] = set()
        self._sources: dict[SSAValue, frozenset[loop.RunningOp]] = {}
        self._varies: dict[SSAValue, bool] = {block.args[0]: True}

    # Insertion

    def insert(self, op: Operation) -> Operation:
        """Inserts an operation, unless one that computes the same is there; returns that."""
        key = key_of(op)
        known = self._known.get(key)
        if known is not None:
            # What is dropped uses nothing.
            op.erase()
            return known
        if not has_location(op):
            op.location = self.location
        self.builder.insert(op)
        self._known[key] = op
        self._inside.add(op)
        sources = frozenset[loop.RunningOp]()
        varies = False
        for value in (*op.operands, *captured_by(op)):
            sources |= self.sources(value)
            varies = varies or self.varies(value)
        if isinstance(op, loop.RunningOp):
            self.running.append(op)
            sources, varies = frozenset([op]), False
        for result in op.results:
            self._sources[result], self._varies[result] = sources, varies
        return op

    def value(self, op: Operation) -> SSAValue:
        """Inserts an operation; returns its first result."""
        return self.insert(op).results[0]

    def clone(self, op: Operation, values: Mapping[SSAValue, SSAValue]) -> Operation:
        """Inserts a copy of an operation on other operands.

        Args:
            op: the operation; its regions are copied too.
            values: what stands for the values that it uses.
        """
        return self.insert(copy_of(op, dict(values)))

    def number(self, value: float, type: Attribute) -> SSAValue:
        """A constant."""
        return self.value(arith.ConstantOp(constant(value, type)))

    def widened(self, value: SSAValue, type: Attribute) -> SSAValue:
        """A value in the type of a sum, which may be wider than what is summed."""
        return value if value.type == type else self.value(arith.ExtFOp(value, type))

    def release(self) -> None:
        """Drops the bodies of sums that were decomposed, so that they use no value any more."""
        for block in self.decomposed:
            block.drop_all_references()
        self.decomposed.clear()

    # Dependence

    def contains(self, value: SSAValue) -> bool:
        """Returns whether the body computes a value."""
        return value.owner in self._inside or value in self.block.args

    def sources(self, value: SSAValue) -> frozenset[loop.RunningOp]:
        """The running reductions that a value depends on."""
        return self._sources.get(value, frozenset())

    def varies(self, value: SSAValue) -> bool:
        """Returns whether a value differs between the elements of a step."""
        return self._varies.get(value, False)

    def is_mixed(self, value: SSAValue) -> bool:
        """Returns whether a value depends on both the element and running values."""
        return self.varies(value) and bool(self.sources(value))

    def is_running(self, value: SSAValue) -> bool:
        """Returns whether a value depends on running values, and not on the element."""
        return not self.varies(value) and bool(self.sources(value))

    # Copies elsewhere

    def rebuild(
        self,
        value: SSAValue,
        values: dict[SSAValue, SSAValue],
        insert: Callable[[Operation], Operation],
        everything: bool = False,
    ) -> SSAValue:
        """Copies what computes a value of the body, on other values.

        Args:
            value: the value, which does not depend on the element.
            values: what stands for values of the body; the copies are added.
            insert: inserts a copy, and returns what stands for it.
            everything: whether what depends on no running value is copied too.
        """
        if value in values:
            return values[value]
        op = value.owner
        needed = bool(self.sources(value)) or (everything and self.contains(value))
        if not needed:
            return value
        assert isinstance(op, Operation)
        for operand in (*op.operands, *captured_by(op)):
            self.rebuild(operand, values, insert, everything)
        found = insert(copy_of(op, dict(values)))
        for old, new in zip(op.results, found.results):
            new.name_hint = new.name_hint or old.name_hint
            values[old] = new
        return values[value]

    def is_extreme_of(self, value: SSAValue, element: SSAValue) -> bool:
        """Returns whether a value is the maximum of elements that one of them stands for."""
        return False

    def is_neutral(self, value: SSAValue, kind: ReductionKind) -> bool:
        """Returns whether a value is the neutral element of a reduction."""
        op = value.owner
        return isinstance(op, arith.ConstantOp) and op.value == identity(kind, value.type)


def number_of(value: SSAValue) -> float | None:
    """Returns the number that a constant is; None for anything else."""
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, FloatAttr | IntegerAttr):
        return float(op.value.value.data)
    return None


def key_of(op: Operation, numbers: dict[SSAValue, Hashable] | None = None) -> Hashable:
    """Returns a key that is equal for operations that compute the same.

    Loops differ in the function that they are said to be of, which computes nothing.

    Args:
        op: the operation.
        numbers: what stands for values that the key of an outer operation has numbered.
    """
    own: dict[SSAValue, Hashable] = {} if numbers is None else numbers
    operands = tuple(own.get(value, value) for value in op.operands)
    properties = frozenset(item for item in op.properties.items() if item[0] != "function")
    regions = tuple(_region_key(region, dict(own)) for region in op.regions)
    types = tuple(result.type for result in op.results)
    return op.name, operands, properties, frozenset(op.attributes.items()), types, regions


def _region_key(region: Region, numbers: dict[SSAValue, Hashable]) -> Hashable:
    found: list[Hashable] = []
    for block in region.blocks:
        for arg in block.args:
            numbers[arg] = ("value", len(numbers))
        found.append(tuple(arg.type for arg in block.args))
        for op in block.ops:
            found.append(key_of(op, numbers))
            for result in op.results:
                numbers[result] = ("value", len(numbers))
    return tuple(found)

