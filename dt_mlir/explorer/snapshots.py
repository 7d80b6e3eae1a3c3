"""A module as it was after a pass: its operations without their names, and its text."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from dt_mlir.diagnostics import Place, places_of
from dt_mlir.dialects import tile
from dt_mlir.printing import module_lines


class Use(NamedTuple):
    """An operand, as the result of an operation or as an argument of one of its blocks."""

    node: int
    """The number of the operation; -1 for one outside of the module."""
    place: int
    """The number of the result; below 0 for arguments, the first of which is -1."""


@dataclass
class Node:
    """An operation of a snapshot. Nothing in it says what values are called."""

    name: str
    parent: int
    """The number of the operation around it; -1 for the module."""
    attributes: dict[str, Attribute]
    """Its attributes and properties."""
    types: tuple[Attribute, ...]
    """The types of its results."""
    uses: tuple[Use, ...]
    """Its operands."""
    places: list[Place]
    """The places that it comes from: its own first, then those of directives."""
    children: list[list[int]] = field(default_factory=list[list[int]])
    """The numbers of the operations in each of its blocks."""
    key: Hashable = None
    """Name, attributes, types, and the body of a map: all but the operands."""
    symbol: str | None = None


class TextLine(NamedTuple):
    """A line of a snapshot's text."""

    text: str
    nodes: tuple[int, ...]
    """The numbers of its operations; the first is the one that the line is of."""


@dataclass
class Snapshot:
    """A module at one point of a pipeline.

    Operations have the numbers of their places in program order.
    """

    nodes: list[Node]
    lines: list[TextLine]
    numbers: dict[Operation, int]
    """The numbers of the operations of the module, which may have changed since."""

    @staticmethod
    def of(module: ModuleOp) -> Snapshot:
        """Takes a snapshot."""
        nodes: list[Node] = []
        numbers: dict[Operation, int] = {}
        _add(module, -1, nodes, numbers)
        for op, number in numbers.items():
            nodes[number].uses = tuple(_use(value, numbers) for value in op.operands)
        for node in reversed(nodes):
            node.key = _key(node, nodes)
        lines = [
            TextLine(line.text, tuple(numbers[op] for op in line.operations))
            for line in module_lines(module)
        ]
        return Snapshot(nodes, lines, numbers)


def _add(op: Operation, parent: int, nodes: list[Node], numbers: dict[Operation, int]) -> int:
    number = numbers[op] = len(nodes)
    attributes = {**op.properties, **op.attributes}
    types = tuple(result.type for result in op.results)
    symbol = attributes.get("sym_name")
    node = Node(op.name, parent, attributes, types, (), places_of(op.location))
    node.symbol = symbol.data if isinstance(symbol, StringAttr) else None
    nodes.append(node)
    for region in op.regions:
        for block in region.blocks:
            node.children.append([_add(inner, number, nodes, numbers) for inner in block.ops])
    return number


def _use(value: SSAValue, numbers: dict[Operation, int]) -> Use:
    if isinstance(value, OpResult):
        return Use(numbers.get(value.op, -1), value.index)
    assert isinstance(value, BlockArgument)
    owner = value.block.parent_op()
    return Use(-1 if owner is None else numbers.get(owner, -1), -1 - value.index)


def _key(node: Node, nodes: list[Node]) -> Hashable:
    inside: Hashable = None
    if node.symbol is None and node.children and node.name in _LEAVES:
        # A map is what its body computes of its elements.
        first = min((child for block in node.children for child in block), default=0)
        inside = tuple(
            (nodes[child].key, tuple((use.node - first, use.place) for use in nodes[child].uses))
            for block in node.children for child in block
        )  # fmt: skip
    return node.name, tuple(sorted(node.attributes.items())), node.types, inside


_LEAVES = frozenset({tile.MapOp.name})
"""The operations whose bodies are scalar expressions on their operands."""
