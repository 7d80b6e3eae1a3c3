"""Predicates of the comparisons of `arith`, by name."""

from __future__ import annotations

from xdsl.dialects import arith

PREDICATES = {
    arith.CmpfOp.name: arith.CMPF_COMPARISON_OPERATIONS,
    arith.CmpiOp.name: arith.CMPI_COMPARISON_OPERATIONS,
}
"""The predicates of each comparison, in the order of their numbers."""


def predicate_of(op: arith.CmpfOp | arith.CmpiOp) -> str:
    """Returns the name of an operation's predicate."""
    return PREDICATES[op.name][op.predicate.value.data]
