"""Walks over kernels of the `tile` level."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from dt_mlir.dialects import tile
from dt_mlir.dialects.tile.access import AccessOp
from dt_mlir.traversal import operations


def kernels_of(module: ModuleOp) -> list[tile.KernelOp]:
    """The kernels of a module."""
    return [op for op in module.ops if isinstance(op, tile.KernelOp)]


def values_of(kernel: tile.KernelOp) -> Iterator[SSAValue]:
    """All values that a kernel defines, its arguments among them."""
    for op in operations(kernel):
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args


def retype(kernel: tile.KernelOp, change: Callable[[Attribute], Attribute]) -> None:
    """Change the types of all of a kernel's values."""
    for value in list(values_of(kernel)):
        new = change(value.type)
        if new != value.type:
            Rewriter.replace_value_with_new_type(value, new)


def replace_op(op: Operation, new: Operation) -> None:
    """Put an operation where another is, with its location, attributes and names of results."""
    assert op.parent is not None
    new.location = op.location
    new.attributes.update(op.attributes)
    if isinstance(op, AccessOp) and isinstance(new, AccessOp):
        new.eviction_policy = op.eviction_policy
    op.parent.insert_op_before(new, op)
    for old_result, new_result in zip(op.results, new.results):
        new_result.name_hint = old_result.name_hint
        old_result.replace_all_uses_with(new_result)
    op.detach()
    op.erase()
