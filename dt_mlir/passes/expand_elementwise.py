"""`expand-elementwise`: writes functions that the target lacks in terms of those that it has."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32, f64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from dt_mlir.builders.scalars import ScalarBuilder, expand_function
from dt_mlir.dialects import elem
from dt_mlir.passes.expand_elementwise_functions import (
    APPLY_EXPANSIONS,
    OP_EXPANSIONS,
    in_accurate_kernel,
    known_constant,
)
from dt_mlir.traversal import operations

LIBRARY = frozenset(
    f"math.{name}" for name in ("exp", "erf", "tanh", "expm1", "log1p", "tan", "log10", "powf")
)
"""Operations that an accurate kernel leaves to the device library."""


def _is_left(op: Operation) -> bool:
    """Returns whether an operation belongs to an accurate kernel, and to the device library."""
    if op.name not in LIBRARY:
        return False
    if op.name in ("math.exp", "math.erf") and op.operands[0].type != f32:
        # There is no instruction for them, and the target's own functions are accurate.
        return True
    known = op.name == "math.powf" and known_constant(op.operands[1]) is not None
    if known or (op.name == "math.powf" and op.operands[1].type != f64):
        # The library's is not accurate enough in f32.
        return False
    return in_accurate_kernel(op)


def _expanded(op: Operation, within: frozenset[str]) -> SSAValue | None:
    """Inserts what an operation is in terms of others; returns None where it stays."""
    if isinstance(op, elem.ApplyOp):
        expansion = APPLY_EXPANSIONS.get(op.function.data)
        if expansion is None:
            return expand_function(op, within)
    else:
        expansion = OP_EXPANSIONS.get(op.name)
    if expansion is None or _is_left(op):
        return None
    return expansion(ScalarBuilder(op), *op.operands)


def expand(module: ModuleOp) -> None:
    """Expands what the target lacks, until nothing is left to expand."""
    pending = [(op, frozenset[str]()) for op in operations(module)]
    while pending:
        op, within = pending.pop()
        before = op.prev_op
        if op.parent is None or (result := _expanded(op, within)) is None:
            continue
        if isinstance(op, elem.ApplyOp):
            within |= {op.function.data}
        op.results[0].replace_all_uses_with(result)
        new = op.prev_op
        while new is not None and new is not before:
            pending.append((new, within))
            new = new.prev_op
        Rewriter.erase_op(op)


@dataclass(frozen=True)
class ExpandElementwisePass(ModulePass):
    """Writes elementwise functions that Triton lacks in terms of those that it has.

    In a kernel whose `math` is `accurate`, those that the target's device library has stay.

    ```
    %0 = elem.apply "relu"(%x) : (f32) -> f32
      ->
    %c = arith.constant 0.0 : f32
    %0 = arith.maximumf %x, %c : f32
    ```
    """

    name = "expand-elementwise"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        expand(op)
