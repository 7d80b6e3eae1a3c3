"""Copies of operations with all that is in them.

`Operation.clone` of xDSL gives operations their operands in a second walk, as regions may hold
graphs, in which a use may come before its definition, and blocks may have successors. The dialects
of this project have neither, so that one walk is enough, which takes less time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.ir import Block, Operation, Region, SSAValue

OperationT = TypeVar("OperationT", bound=Operation)


def copy_of(
    op: OperationT, values: dict[SSAValue, SSAValue] | None = None
) -> OperationT:
    """Returns an operation like another one, with the same regions, hints of names and locations.

    Args:
        op: the operation. It, and what is in it, has no successors; each operand in it is defined
            before it, or outside.
        values: what stands for values that are defined outside; others are operands of the copy,
            too. What stands for the values that the operation defines is added.
    """
    values = {} if values is None else values
    found = type(op).create(
        operands=[values.get(value, value) for value in op.operands],
        result_types=[value.type for value in op.results],
        properties=op.properties,
        attributes=op.attributes,
        location=op.location,
        regions=[_region(region, values) for region in op.regions],
    )
    _map(op.results, found.results, values)
    return found


def _region(region: Region, values: dict[SSAValue, SSAValue]) -> Region:
    found: list[Block] = []
    for block in region.blocks:
        made = Block(arg_types=[value.type for value in block.args])
        for value, other in zip(block.args, made.args):
            other.location = value.location
        _map(block.args, made.args, values)
        made.add_ops([copy_of(op, values) for op in block.ops])
        found.append(made)
    return Region(found)


def _map(
    before: Sequence[SSAValue], after: Sequence[SSAValue], values: dict[SSAValue, SSAValue]
) -> None:
    """Lets values stand for others, with their hints of names."""
    for value, other in zip(before, after):
        values[value] = other
        if value.name_hint is not None:
            other.name_hint = value.name_hint
