"""The initial values of what loops carry.

Some keep Triton from reducing behind a loop what its trips load. Where a loop begins with a
constant and combines it with a reduction of a tile that is just loaded, Triton lets each thread
combine what it has loaded, and reduces behind the loop. Its versions 3.6 and 3.7 do so where the
two combinations differ, too, as in a sum of maxima; and the elements that a thread combines may
belong to other rows, as its registers are taken in another order. What begins with a number that
Triton does not know is left as it is. `tile-hoist-reductions` does what is right and fits into
registers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, UnrealizedConversionCastOp, f32, i32
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from dt_mlir.backend.triton import code
from dt_mlir.backend.triton.scalars import constant_of, filled, literal, typed_literal
from dt_mlir.dialects import tile
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.tile.types import axes_of, element_of
from dt_mlir.element_types import is_float

HIDDEN = "_hidden"
"""The name of the function that hides a number."""
TEXT = '''
@triton.jit
def _hidden(value):
    # From a constant on, Triton would combine what each thread loads, other rows' elements too.
    return tl.where(tl.num_programs(1) == 1, value, float('nan'))
'''
"""Its text."""
_FIRST_CARRIED = 3
"""The number of the operand of a loop that is the first value which it carries."""
_KINDS = (
    ReductionKind.ADD, ReductionKind.MUL, ReductionKind.MAXIMUM, ReductionKind.MINIMUM,
)  # fmt: skip


def initial_value(
    value: SSAValue, shown: ast.expr, shape: Callable[[Attribute], ast.expr], hidden: bool
) -> ast.expr:
    """Returns the initial value of a loop-carried variable, as a value of its type.

    Args:
        value: the value.
        shown: the value as an expression.
        shape: gives the shape of a tile of a type.
        hidden: whether Triton may not know that it is a constant.
    """
    fill = value.owner
    if isinstance(fill, tile.FillOp):
        attr = constant_of(fill.value)
        if attr is None or not hidden:
            return shown
        number = literal(attr) if attr.type == f32 else typed_literal(attr)
        return filled(shape(value.type), code.call(HIDDEN, number), attr.type)
    attr = constant_of(value)
    if attr is None or (attr.type == f32 and isinstance(attr, FloatAttr)):
        return shown
    return literal(attr) if attr.type == i32 else typed_literal(attr)


def combines_reduced_load(loop: scf.ForOp, number: int) -> bool:
    """Returns whether a constant that a loop carries is combined with a reduction of what it loads.

    Args:
        loop: the loop.
        number: the number of the value that it carries.
    """
    fill = loop.iter_args[number].owner
    if not isinstance(fill, tile.FillOp) or not isinstance(constant_of(fill.value), FloatAttr):
        # Triton leaves integers as they are.
        return False
    pending = [(loop, number)]
    while pending:
        current, place = pending.pop()
        last = current.body.block.last_op
        assert isinstance(last, scf.YieldOp)
        op = last.arguments[place].owner
        if isinstance(op, Operation) and any(map(_is_reduced_load, op.operands)):
            return True
        # Loops that have one trip, or none, vanish; others begin with their constants then.
        for value in (current.body.block.args[1 + place], current.results[place]):
            pending += [
                (use.operation, use.index - _FIRST_CARRIED) for use in value.uses
                if isinstance(use.operation, scf.ForOp) and use.index >= _FIRST_CARRIED
            ]  # fmt: skip
    return False


def _is_reduced_load(value: SSAValue) -> bool:
    op = value.owner
    if not isinstance(op, tile.ReduceOp) or op.kind.data not in _KINDS:
        return False
    if len(axes_of(op.value.type)) < 2 or not is_float(element_of(op.value.type)):
        return False
    return _may_be_load(op.value)


def _may_be_load(value: SSAValue) -> bool:
    """Returns whether Triton may find that a tile is one that is loaded."""
    op = value.owner
    while isinstance(op, tile.RenameOp | UnrealizedConversionCastOp):
        op = op.operands[0].owner
    if isinstance(op, scf.ForOp) and isinstance(value, OpResult):
        # After one trip an extreme of nothing and of a tile is the tile.
        last = op.body.block.last_op
        assert isinstance(last, scf.YieldOp)
        combined = last.arguments[value.index].owner
        return isinstance(combined, Operation) and any(map(_may_be_load, combined.operands))
    if isinstance(op, tile.MapOp):
        # A mask that is true everywhere chooses nothing.
        last = op.body.block.last_op
        assert isinstance(last, tile.YieldOp)
        chosen, inputs = [last.value], dict(zip(op.body.block.args, op.inputs))
        while chosen:
            inner = chosen.pop()
            if isinstance(inner.owner, arith.SelectOp):
                chosen += [inner.owner.lhs, inner.owner.rhs]
            elif isinstance(inner, BlockArgument) and _may_be_load(inputs[inner]):
                return True
        return False
    return isinstance(op, tile.LoadOp)
