"""Fused functions that are computed again where their values have not changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.ir import Block, SSAValue

from dt_mlir.analysis.nests import encloses, locals_of, write_to
from dt_mlir.dialects import loop
from dt_mlir.traversal import captured_by


class Recomputation(NamedTuple):
    """A fused function, and the loops that repeat its computation."""

    buffer: loop.LocalOp
    loops: list[loop.LoopLike]
    """The loops around it on which its values do not depend, innermost first."""
    place: loop.LoopLike | None
    """The innermost loop around them all; None if there is none on which the values depend."""


def recomputations(kernel: loop.KernelOp) -> Iterator[Recomputation]:
    """Yields the fused functions of a kernel that sequential loops around them compute again.

    What has no sequential loop of its own is not listed: it is moved out of loops that do not
    change it.
    """
    for buffer in locals_of(kernel):
        behind = _loops_behind(buffer)
        if all(op.has_one_trip for op in behind if not encloses(op, buffer)):
            continue
        repeated: list[loop.LoopLike] = []
        place: loop.LoopLike | None = None
        outside = False
        parent = buffer.parent_op()
        while isinstance(parent, loop.LoopLike):
            if parent in behind:
                place = place or parent
            elif not parent.has_one_trip:
                repeated.append(parent)
                outside = outside or place is not None
            parent = parent.parent_op()
        if repeated:
            yield Recomputation(buffer, repeated, None if outside else place)


def _loops_behind(buffer: loop.LocalOp) -> set[loop.LoopLike]:
    """Returns the loops that fill a buffer, and those around it that its values depend on."""
    found: set[loop.LoopLike] = set()
    seen: set[SSAValue] = set()
    pending = _written(buffer)
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        op = value.owner.parent_op() if isinstance(value.owner, Block) else value.owner
        if isinstance(op, loop.LoopLike):
            found.add(op)
            inside = op.yielded if isinstance(op, loop.ReductionLoop) else ()
            pending += [*op.operands, *inside]
        elif isinstance(op, loop.ReadOp) and isinstance(op.base.owner, loop.LocalOp):
            pending += [*op.indices, *_written(op.base.owner)]
        elif op is not None and not isinstance(value.owner, Block):
            pending += [*op.operands, *captured_by(op)]
    return found


def _written(buffer: loop.LocalOp) -> list[SSAValue]:
    """Returns the value that is written to a buffer, and the indices of the loops around it."""
    write = write_to(buffer.result)
    found = list(write.operands)
    parent = write.parent_op()
    while isinstance(parent, loop.LoopLike) and not encloses(parent, buffer):
        found.append(parent.iv)
        parent = parent.parent_op()
    found.remove(buffer.result)
    return found
