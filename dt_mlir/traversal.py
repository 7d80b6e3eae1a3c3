"""Walks over operations and their regions.

`Operation.walk` of xDSL nests one generator for each level of regions, so that each operation
passes through all of them. These walks take one step for each operation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
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
        for region in reversed(op.regions):
            block = region.last_block
            while block is not None:
                inner = block.last_op
                while inner is not None:
                    pending.append(inner)
                    inner = inner.prev_op
                block = block.prev_block
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


def in_program_order(root: Operation, ops: Iterable[OperationT]) -> list[OperationT]:
    """Returns some of the operations in an operation's regions, in program order.

    Unlike `operations_of` it walks only blocks that hold several of them, or of what is around
    them.
    """
    ways: dict[OperationT, list[Operation]] = {}
    for op in ops:
        way: list[Operation] = [op]
        while (above := way[-1].parent_op()) is not None and above is not root:
            way.append(above)
        ways[op] = way[::-1]

    def ordered(found: list[OperationT], depth: int) -> list[OperationT]:
        if len(found) < 2:
            return found
        parts: dict[Operation, list[OperationT]] = {}
        first: list[OperationT] = []
        for op in found:
            if len(ways[op]) == depth:
                # It contains the others.
                first.append(op)
            else:
                parts.setdefault(ways[op][depth], []).append(op)
        inside = [op for part in _siblings(parts) for op in ordered(parts[part], depth + 1)]
        return [*first, *inside]

    return ordered(list(ways), 0)


def _siblings(ops: Collection[Operation]) -> list[Operation]:
    """Returns operations with one parent in program order."""
    if len(ops) < 2:
        return list(ops)
    blocks = {op.parent for op in ops}
    if len(blocks) > 1:
        parent = next(iter(ops)).parent_op()
        assert parent is not None
        return [op for r in parent.regions for b in r.blocks for op in b.ops if op in ops]
    left, found = len(ops), list[Operation]()
    block = next(iter(blocks))
    op = None if block is None else block.first_op
    while op is not None and left:
        if op in ops:
            found.append(op)
            left -= 1
        op = op.next_op
    return found


def captured_by(op: Operation) -> list[SSAValue]:
    """Returns the values that the regions of an operation use and do not define."""
    if not op.regions:
        return []
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
