"""Fusion of a function that its consumer reads in windows.

A step of a loop then needs more of the function than a tile of it. What a read needs of it is a
function of its own, over the loops that its indices are made of: `g[x, 2 * p + r]` is one over `x`,
`p` and `r`. Its buffer has an axis for each, and its values are those of the producer's nest,
computed at the index that the read has there. Reads at the same indices share a buffer, and others
have one each, as a tile is not indexed by another one: what they overlap in is computed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.builder import Builder
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.nests import encloses, loop_of, loops_in, walked_label
from dt_mlir.dialects import loop
from dt_mlir.dialects.identifiers import memory_hint
from dt_mlir.dialects.loop.delinearize import is_induction_variable
from dt_mlir.passes.schedule_fuse_at_copies import Move
from dt_mlir.passes.schedule_inline_reads import inline_read
from dt_mlir.scheduling.directive import Site


class Window(NamedTuple):
    """The elements of a function that a read needs, in all iterations of the loops around it."""

    map: AffineMap
    values: tuple[SSAValue, ...]
    """The values that the map takes."""
    sizes: tuple[str, ...]
    """The labels whose sizes it takes."""
    boundary: Attribute | None
    exterior: Attribute | None


def window_of(read: loop.ReadOp) -> Window:
    """Returns the window of a read."""
    return Window(
        read.map.data, tuple(read.indices), read.size_labels, read.boundary, read.exterior
    )


def compute_window(
    move: Move, place: loop.LoopLike, first: Operation, reads: list[loop.ReadOp]
) -> loop.LocalOp:
    """Inserts the nest that computes a window of a producer.

    Args:
        move: the producer's move.
        place: the loop in whose body it is computed.
        first: the operation in the body in front of which it is computed.
        reads: the reads of the window, which then read its buffer.

    Returns:
        The buffer, whose loops walk all of their labels.

    Raises:
        CompileError: if an index is computed in the step itself, or walks a reduction over a
            domain.
    """
    site, read = move.site, reads[0]
    values = _loop_indices(site, read, place, first)
    assert isinstance(read.base.type, MemRefType)
    shape = [DYNAMIC_INDEX] * len(values)
    buffer = loop.LocalOp(
        site.function,
        [walked_label(value) for value in values],
        MemRefType(read.base.type.element_type, shape),
    )
    buffer.result.name_hint = memory_hint(site.function, "buffer")
    buffer.location = site.location or read.location
    builder = Builder(InsertPoint.before(first))
    builder.insert(buffer)

    mapper: dict[SSAValue, SSAValue] = {}
    walked = {loop_of(value) for value in values}
    for op in loops_in(move.home):
        if op not in walked or encloses(op, place):
            continue
        body = Block(arg_types=[op.iv.type])
        body.args[0].name_hint = op.iv.name_hint
        own = builder.insert(loop.ForOp(op.label_name, site.function, Region(body)))
        own.location = buffer.location
        mapper[op.iv] = own.iv
        builder = Builder(InsertPoint.at_end(body))
    for parts in dict.fromkeys(value.owner for value in values):
        if isinstance(parts, loop.DelinearizeOp) and parts.index in mapper:
            builder.insert(parts.clone(mapper))
    copy = builder.insert(read.clone(mapper))
    write = loop.WriteOp(copy.result, buffer.result, [mapper.get(v, v) for v in values])
    write.location = buffer.location
    builder.insert(write)
    inline_read(move, copy)
    for read in reads:
        Rewriter.replace_op(read, _read_of(buffer, read, values))
    return buffer


def _loop_indices(
    site: Site, read: loop.ReadOp, place: loop.LoopLike, first: Operation
) -> list[SSAValue]:
    """Returns the loops' indices that a read's indices are made of, all of a joined loop's."""
    found: dict[SSAValue, None] = {}
    for value in read.indices:
        if not is_induction_variable(value):
            assert isinstance(value.owner, Operation)
            if not _dominates(value.owner, first):
                raise site.error(
                    f"'{site.function}' is read at an index that the step computes, by data or by "
                    "a boundary condition, and is not known before it",
                    f"write {site.function}.inline(), or leave '{site.function}' unfused",
                )
            # Tiles of what is computed there have the axes of the loops that the data is of.
            behind = (v for v in _indices_behind(value) if encloses(loop_of(v), place))
            found.update(dict.fromkeys(behind))
            continue
        op = loop_of(value)
        if isinstance(op, loop.ReduceOp) and op.domain is not None and not encloses(op, place):
            raise site.error(
                f"'{site.function}' is read in a window that the reduction over "
                f"'{op.label_name}' walks, which has a domain",
                f"fuse it at '{op.label_name}', write {site.function}.inline(), or leave "
                f"'{site.function}' unfused",
            )
        parts = value.owner
        joined = isinstance(parts, loop.DelinearizeOp)
        # A write has all indices of a joined loop.
        found.update(dict.fromkeys(parts.indices if joined else [value]))
    return list(found)


def _indices_behind(value: SSAValue) -> Iterator[SSAValue]:
    """Yields the loops' indices that a value depends on, also those of the loops inside of it.

    The index of a joined loop stands for all of its parts.
    """
    pending, seen = [value], set[SSAValue]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if isinstance(owner, loop.DelinearizeOp):
            yield from owner.indices
        elif is_induction_variable(value):
            yield value
        elif isinstance(owner, Operation):
            inner = [operand for op in owner.walk() for operand in op.operands]
            pending += inner
            if isinstance(owner, loop.ReadOp) and isinstance(owner.base.owner, loop.LocalOp):
                pending += owner.indices


def _dominates(op: Operation, other: Operation) -> bool:
    """Returns whether another operation, in the same block or deeper, runs after an operation."""
    assert op.parent is not None
    at = op.parent.find_ancestor_op_in_block(other)
    return at is not None and op.is_before_in_block(at)


def _read_of(
    buffer: loop.LocalOp, read: loop.ReadOp, values: list[SSAValue]
) -> loop.ReadOp:
    """Returns the read of a window's buffer in place of one of the function."""
    new = loop.ReadOp(buffer.result, values)
    new.location = read.location
    new.result.name_hint = read.result.name_hint
    return new
