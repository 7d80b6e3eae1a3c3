"""Passes over a label for which no law is known, which is seen before they are made.

A pass computes a sum of elements that depend on another reduction over its label by a law that
separates the elements from what is reduced (`dt_mlir.laws.terms`). Where an element surely goes
through an operation that none separates, as an activation of a normalized row, `online` is refused.
Other reductions of elements that depend on another one are computed only where the elements depend
on an extreme by comparison alone (`dt_mlir.laws.dominance`), and so on no sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects import math as math_ops
from xdsl.ir import Block, Operation, SSAValue

from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.dialects import dt
from dt_mlir.dialects.elem import ReductionKind

_SUMS = (ReductionKind.ADD, ReductionKind.DOT)
_LINEAR = (
    arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp, arith.NegfOp, arith.ExtFOp,
    arith.SelectOp,
)  # fmt: skip
"""The operations that a law goes through to their operands."""
_OTHERS = (math_ops.ExpOp, math_ops.Exp2Op, math_ops.PowFOp)
"""The operations that a law may separate, which depends on their operands."""


class _Value(NamedTuple):
    """A value in a pass."""

    varies: bool = False
    """True if it differs between the elements along the label."""
    refused: bool = False
    """True if no law separates it as an element of a sum, unless it depends on an extreme."""
    sums: bool = False
    """True if it depends on a sum of the pass over its label."""
    extremes: bool = False
    """True if it depends on another reduction of the pass over its label."""


class _Unknown(Exception):
    """Only the pass itself can tell."""


def has_no_law(algorithm: Algorithm, members: Sequence[str], label: str) -> bool:
    """Returns whether a pass over a label is surely refused, as no law separates an element.

    Args:
        algorithm: the program.
        members: the functions that are computed in the pass, which leaves none of them apart.
        label: the label.
    """
    found = _Pass(algorithm, label)
    try:
        for name in algorithm.functions:
            if name in members:
                found.add(name)
    except _Unknown:
        return False
    return found.is_refused


class _Pass:
    """The values of functions in a pass.

    Args:
        algorithm: the program.
        label: the label of the pass.
    """

    def __init__(self, algorithm: Algorithm, label: str) -> None:
        self.algorithm, self.label = algorithm, label
        self.is_refused = False
        """True if there is surely no law for a reduction over the label."""
        self._results: dict[str, _Value] = {}
        self._values: dict[SSAValue, _Value] = {}

    def add(self, name: str) -> None:
        """Adds a function, behind those that it reads.

        Raises:
            _Unknown: if it may be computed otherwise.
        """
        (self._results[name],) = self._yielded(self.algorithm.functions[name].body.block)

    def _yielded(self, block: Block) -> list[_Value]:
        """Returns the values that a block yields."""
        for op in block.ops:
            if isinstance(op, dt.YieldOp):
                break
            found = self._of(op, [self._values[value] for value in op.operands])
            self._values.update(dict.fromkeys(op.results, found))
        assert block.last_op is not None
        return [self._values[value] for value in block.last_op.operands]

    def _of(self, op: Operation, operands: Sequence[_Value]) -> _Value:
        match op:
            case dt.ReduceOp():
                return self._reduced(op, self._yielded(op.body.block))
            case dt.ReadOp() if op.source_name in self._results:
                own = self.algorithm.functions[op.source_name].label_names
                if op.is_guarded or own != tuple(map(op.label_alone, range(len(own)))):
                    # It is computed apart where it is read under other labels.
                    raise _Unknown
                return self._results[op.source_name]
            case dt.ReadOp():
                along = self.label in op.used_labels
            case dt.IndexOp():
                along = op.label.data == self.label
            case _:
                along = False
        sums = any(value.sums for value in operands)
        extremes = any(value.extremes for value in operands)
        varies = along or any(value.varies for value in operands)
        # A value that is the same for all elements may go through any operation.
        refused = (sums or extremes) and varies
        if isinstance(op, _LINEAR):
            refused = refused and any(value.refused for value in operands)
        return _Value(varies, refused and not isinstance(op, _OTHERS), sums, extremes)

    def _reduced(self, op: dt.ReduceOp, elements: Sequence[_Value]) -> _Value:
        if self.label not in op.label_names:
            if any(value.sums or value.extremes for value in elements):
                # What is reduced there may not be a reduction of the pass.
                raise _Unknown
            return _Value(any(value.varies for value in elements))
        if len(op.label_names) > 1 or op.constraints:
            raise _Unknown
        if op.kind.data in _SUMS:
            refused = any(value.refused and not value.extremes for value in elements)
            self.is_refused = self.is_refused or refused
            return _Value(sums=True)
        refused = any(value.sums and value.varies for value in elements)
        self.is_refused = self.is_refused or refused
        return _Value(extremes=True)
