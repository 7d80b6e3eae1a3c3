"""Reads of a function that are replaced by what computes it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.equal_operations import operation_key
from dt_mlir.analysis.nests import function_labels, reads_of, walked_label, writes_of
from dt_mlir.boundary_conditions import CONSTANT
from dt_mlir.builders.indices import index_in_bounds, is_in_bounds
from dt_mlir.dialects import loop
from dt_mlir.dialects.indices import dimension
from dt_mlir.dialects.loop import Index
from dt_mlir.dialects.numbers import constant
from dt_mlir.passes.schedule_fuse_at_copies import (
    Binding,
    Move,
    index_value,
    insert,
    settle_arguments,
    take_arguments,
)
from dt_mlir.traversal import operations_of


def inline(move: Move, stays: bool = False) -> int:
    """Replaces the reads of a producer in a kernel by copies of its nest without its loops.

    Args:
        move: the producer's move.
        stays: whether the kernel writes the producer's tensor.

    Returns:
        The number of copies.
    """
    reads = _merged(reads_of(take_arguments(move)))
    for read in reads:
        inline_read(move, read)
    settle_arguments(move, stays)
    return len(reads)


def _merged(reads: Iterable[loop.ReadOp]) -> list[loop.ReadOp]:
    """Merges reads of one element in one block; returns those that remain.

    Functions that read the one before them twice would have as many copies of the first as there
    are paths to it otherwise.

    Args:
        reads: the reads, in program order.
    """
    numbers: dict[SSAValue, int] = {}
    values: dict[Hashable, int] = {}

    def number_of(value: SSAValue) -> int:
        """Returns a number that is equal for values which are computed alike in one block."""
        pending = [value]
        while pending:
            op, key = pending[-1].owner, pending[-1]
            if isinstance(op, Operation) and not op.regions and len(op.results) == 1:
                before = [operand for operand in op.operands if operand not in numbers]
                if before:
                    pending += before
                    continue
                operands = tuple(numbers[operand] for operand in op.operands)
                key = op.parent, operation_key(op, operands)
            numbers[pending.pop()] = values.setdefault(key, len(values))
        return numbers[value]

    first: dict[int, loop.ReadOp] = {}
    for read in reads:
        known = first.setdefault(number_of(read.result), read)
        if known is not read:
            read.result.replace_all_uses_with(known.result)
            Rewriter.erase_op(read)
    return [*first.values()]


def inline_read(move: Move, read: loop.ReadOp) -> None:
    """Replaces a read of a producer by a copy of its nest without its loops."""
    same = move.site.program.host.first_of_same()
    binding, inside = _indices_in_bounds(read, move.producer, same)
    last = read.prev_op
    buffer = insert(move, binding, read, False)
    (write,) = (u.operation for u in buffer.result.uses)
    assert isinstance(write, loop.WriteOp)
    value = write.value
    if inside is not None:
        _guard_reads(last, read)
        value = _chosen(read, inside, value)
    read.result.replace_all_uses_with(value)
    for op in (read, write, buffer):
        Rewriter.erase_op(op)


def _indices_in_bounds(
    read: loop.ReadOp, producer: loop.KernelOp, same: Mapping[str, str]
) -> tuple[Binding, SSAValue | None]:
    """Returns the indices at which a read needs a function, and whether they are in bounds.

    Under a boundary condition they are made such that they are; under `constant_exterior` another
    value stands where they were not.

    Args:
        read: the read.
        producer: the kernel of the function.
        same: for each label the first of those that have its size, if it is another.
    """
    axes = [read.index_at(axis) for axis in range(len(read.map.data.results))]
    if read.boundary is None:
        simple = [v for v in read.index_values() if v is not None]
        return tuple(simple if len(simple) == len(axes) else axes), None
    kind = read.boundary.data
    builder = Builder(InsertPoint.before(read))
    labels = function_labels(producer, writes_of(producer, producer.root.data)[0])
    binding: list[Index] = []
    inside: SSAValue | None = None
    for label, axis, own in zip(labels, axes, read.index_values()):
        if isinstance(own, SSAValue):
            walked = walked_label(own)
            if same.get(walked, walked) == same.get(label, label):
                # The loop's bounds are those of the axis.
                binding.append(axis)
                continue
        value = index_value(builder, axis)
        size = builder.insert(loop.SizeOp(label)).result
        if kind == CONSTANT:
            found = is_in_bounds(builder, value, size, False)
            inside = found if inside is None else builder.insert(arith.AndIOp(inside, found)).result
        near = "repeat_edge" if kind == CONSTANT else kind
        moved = index_in_bounds(builder, near, value, size)
        binding.append(Index(dimension(0), (moved,), ()))
    return tuple(binding), inside


def _guard_reads(last: Operation | None, read: loop.ReadOp) -> None:
    """Makes what was inserted in front of a read touch nothing out of bounds.

    An index that was moved into bounds is not in bounds where there are none: in an empty axis.
    """
    assert read.parent is not None
    op = read.parent.first_op if last is None else last.next_op
    while op is not None and op is not read:
        for inner in operations_of(op, loop.ReadOp):
            if inner.boundary is None and not isinstance(inner.base.owner, loop.LocalOp):
                inner.boundary = StringAttr(CONSTANT)
                inner.exterior = constant(0, inner.result.type)
        op = op.next_op


def _chosen(read: loop.ReadOp, inside: SSAValue, value: SSAValue) -> SSAValue:
    """Returns the value of a read under `constant_exterior`."""
    assert read.exterior is not None
    builder = Builder(InsertPoint.before(read))
    exterior = builder.insert(arith.ConstantOp(read.exterior)).result
    chosen = builder.insert(arith.SelectOp(inside, value, exterior))
    chosen.location = read.location
    return chosen.result
