"""Walks over operations and their regions.

`Operation.walk` of xDSL nests one generator for each level of regions, so that each operation
passes through all of them. These walks take one step for each operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from xdsl.ir import BlockArgument, Operation, Region, SSAValue

OperationT = TypeVar("OperationT", bound=Operation)


def operations(root: Operation) -> list[Operation]:
    """Returns an operation and all operations in its regions, in program order.

    The list does not change when operations are inserted or erased later.
    """
    found: list[Operation] = []
    pending = [root]
    while pending:
        op = pending.pop()
        found.append(op)
        if op.regions:
            for region in reversed(op.regions):
                for block in reversed(tuple(region.blocks)):
                    inner = block.last_op
                    while inner is not None:
                        pending.append(inner)
                        inner = inner.prev_op
    return found


def of_kind(
    ops: Iterable[Operation], *kinds: type[OperationT]
) -> list[OperationT]:
    """Returns those of some operations that are of some classes; subclasses count."""
    known: dict[type[Operation], bool] = {}
    found: list[OperationT] = []
    op: Any
    for op in ops:
        cls = type(op)
        # A class is looked up once: `issubclass` on abstract classes is slow.
        wanted = known.get(cls)
        if wanted is None:
            wanted = known[cls] = issubclass(cls, kinds)
        if wanted:
            found.append(op)
    return found


def operations_of(root: Operation, *kinds: type[OperationT]) -> list[OperationT]:
    """Returns the operations of some classes in an operation, itself included, in program order."""
    return of_kind(operations(root), *kinds)


def captured_by(op: Operation) -> list[SSAValue]:
    """Returns the values that the regions of an operation use and do not define."""
    inside = operations(op)[1:]
    own: set[SSAValue] = {result for inner in inside for result in inner.results}
    own.update(arg for inner in (op, *inside) for r in inner.regions for arg in _arguments(r))
    used = dict.fromkeys(value for inner in inside for value in inner.operands)
    return [value for value in used if value not in own]


def _arguments(region: Region) -> list[BlockArgument]:
    return [arg for block in region.blocks for arg in block.args]


def values_of(root: Operation) -> Iterator[SSAValue]:
    """Returns the results and block arguments in an operation's regions, in program order."""
    for op in operations(root):
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args
