"""Divisibility of indices."""

from __future__ import annotations

import math

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, SSAValue


def constant_index(value: SSAValue) -> int | None:
    """The value of a constant; None for anything else."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def multiple_of(value: SSAValue) -> int:
    """A number that divides an index whatever the sizes; 0 divides only 0."""
    known = constant_index(value)
    if known is not None:
        return abs(known)
    owner = value.owner
    match owner:
        case arith.MuliOp():
            return multiple_of(owner.lhs) * multiple_of(owner.rhs)
        case (
            arith.AddiOp() | arith.SubiOp() | arith.MinSIOp() | arith.MaxSIOp() | arith.SelectOp()
        ):
            return math.gcd(multiple_of(owner.lhs), multiple_of(owner.rhs))
        case Block():
            loop = owner.parent_op()
            if isinstance(loop, scf.ForOp) and value is owner.args[0]:
                return math.gcd(multiple_of(loop.lb), multiple_of(loop.step))
            return 1
        case _:
            return 1
