"""Replaces operations, and the types of values, in kernels of the `tile` level."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Attribute, Operation
from xdsl.rewriter import Rewriter

from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.access import AccessOp
from dt_mlir.traversal import values_of


def retype(kernel: tile.KernelOp, change: Callable[[Attribute], Attribute]) -> None:
    """Change the types of all of a kernel's values."""
    for value in list(values_of(kernel)):
        new = change(value.type)
        if new != value.type:
            Rewriter.replace_value_with_new_type(value, new)


def replace_op(op: Operation, new: Operation) -> None:
    """Puts an operation where another is, with its location, attributes and names of results."""
    assert op.parent is not None
    new.location = op.location
    new.attributes.update(op.attributes)
    if isinstance(op, AccessOp) and isinstance(new, AccessOp):
        new.eviction_policy = op.eviction_policy
    op.parent.insert_op_before(new, op)
    for old_result, new_result in zip(op.results, new.results):
        new_result.name_hint = old_result.name_hint
        old_result.replace_all_uses_with(new_result)
    Rewriter.erase_op(op)
