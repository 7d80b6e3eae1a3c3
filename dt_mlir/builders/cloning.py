"""Clones the bodies of loops of the `tile` level."""

from __future__ import annotations

from collections.abc import Container, Mapping
from itertools import count

from xdsl.builder import Builder
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from dt_mlir.dialects import tile
from dt_mlir.dialects.formats import names
from dt_mlir.dialects.tile.types import Axis, axes_of, element_of, tile_type
from dt_mlir.traversal import operations, values_of


def clone_body(
    body: Block, builder: Builder, values: Mapping[SSAValue, SSAValue]
) -> dict[SSAValue, SSAValue]:
    """Clones the operations of a loop's body, except its terminator, with fresh axes.

    An axis name stands for one `tile.range` at a time. The axis of each range in the body
    therefore gets a name in the clone that no range of the kernel has, and so do the types and
    the reductions of the values that have it. Values from outside the body keep their axes.

    Args:
        body: the body of a loop in a `tile.kernel`.
        builder: where the clones go.
        values: what the clones use in place of values of the body and of outer ones, such as the
            induction variable and the carried values. Their types are those of what they replace.

    Returns:
        What stands for each result of the body's operations in the clone, and `values`.
    """
    kernel = body.parent_op()
    while not isinstance(kernel, tile.KernelOp):
        assert kernel is not None, "the body is in a kernel"
        kernel = kernel.parent_op()
    ranges = (tile.RangeOp, tile.JoinedRangeOp)
    taken = {op.axis.name for op in operations(kernel) if isinstance(op, ranges)}
    taken |= set(names(kernel.labels))
    fresh: dict[str, str] = {}
    for op in body.walk():
        if isinstance(op, ranges) and op.axis.name not in fresh:
            label = op.label.data if isinstance(op, tile.RangeOp) else "_".join(names(op.labels))
            fresh[op.axis.name] = _unused(label, taken)
            taken.add(fresh[op.axis.name])
    found = dict(values)
    # The clones may go into the body itself.
    last = body.last_op
    for op in list(body.ops):
        if op is not last:
            clone = builder.insert(op.clone(dict(found)))
            _rename(clone, fresh)
            found.update(zip(op.results, clone.results))
    return found


def _unused(label: str, taken: Container[str]) -> str:
    return next(name for i in count(1) if (name := f"{label}_{i}") not in taken)


def _rename(root: Operation, fresh: Mapping[str, str]) -> None:
    for value in list(values_of(root)):
        axes = axes_of(value.type)
        if any(axis.name in fresh for axis in axes):
            named = [Axis(fresh.get(axis.name, axis.name), axis.extent) for axis in axes]
            Rewriter.replace_value_with_new_type(value, tile_type(element_of(value.type), named))
    for op in root.walk():
        if isinstance(op, tile.ReduceOp | tile.ScanOp | tile.ArgReduceOp):
            op.axis = StringAttr(fresh.get(op.axis.data, op.axis.data))
