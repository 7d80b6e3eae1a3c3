"""Indices of the `tile` level that are the digits of one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.dialects import tile


class Join(NamedTuple):
    """Two neighbouring axes whose indices are a quotient and its rest."""

    first: int
    """The number of the slower axis, or of the last one that is joined already."""
    second: int
    """The number of the faster axis."""
    size: SSAValue | int
    """The divisor; the two are one axis where its stride is that many of the faster axis."""


class JoinedIndex(NamedTuple):
    """The index of some neighbouring axes taken as one."""

    axes: range
    value: SSAValue | None
    """The number whose digits the indices are; None for a lone axis of another index."""
    joins: tuple[Join, ...]
    digits: tuple[SSAValue, ...]
    """The indices of the axes, where they are joined."""


def joined_indices(indices: Sequence[SSAValue | None]) -> list[JoinedIndex]:
    """Returns neighbouring axes as one where their indices are the digits of one number.

    What `f.fuse` joins to a loop it takes apart for each access; `X[m // Q, m % Q]` is the element
    `m` of a tensor whose two axes lie behind each other in memory. This is MLIR's folding of
    `linearize_index` with `delinearize_index`, under a condition on strides.

    Args:
        indices: the index of each axis; None for one that no other is joined with.
    """
    found = [
        JoinedIndex(range(n, n + 1), value, (), () if value is None else (value,))
        for n, value in enumerate(indices)
    ]
    place = 0
    while place + 1 < len(found):
        slow, fast = found[place], found[place + 1]
        joined = _joined(slow.value, fast.value)
        if joined is None:
            place += 1
            continue
        value, size = joined
        join = Join(slow.axes[-1], fast.axes[-1], size)
        axes = range(slow.axes.start, fast.axes.stop)
        joins, digits = (*slow.joins, *fast.joins, join), (*slow.digits, *fast.digits)
        found[place : place + 2] = [JoinedIndex(axes, value, joins, digits)]
        # What is joined may be the quotient of an axis before.
        place = max(place - 1, 0)
    return found


def _joined(
    quotient: SSAValue | None, rest: SSAValue | None
) -> tuple[SSAValue, SSAValue | int] | None:
    """Returns what a quotient and a rest are of, and the divisor; None if they are not."""
    if quotient is None or rest is None:
        return None
    whole, digit = _operands(quotient, arith.DivSIOp), _operands(rest, arith.RemSIOp)
    if whole is None or whole != digit:
        return None
    known = isinstance(whole[1], int) or isinstance(whole[1].owner, tile.SizeOp)
    return whole if known else None


def _operands(
    value: SSAValue, cls: type[arith.DivSIOp] | type[arith.RemSIOp]
) -> tuple[SSAValue, SSAValue | int] | None:
    """Returns the operands of a quotient or rest of scalars or tiles; None if it is none."""
    op = value.owner
    outer: dict[SSAValue, SSAValue] = {}
    if isinstance(op, tile.MapOp):
        outer = dict(zip(op.body.block.args, op.inputs))
        op = op.yielded.owner
    if not isinstance(op, cls):
        return None
    known = constant_index(op.rhs)
    if outer and (op.lhs not in outer or (known is None and op.rhs not in outer)):
        return None
    return outer.get(op.lhs, op.lhs), known if known is not None else outer.get(op.rhs, op.rhs)
