"""Functions that a pass over a label computes, and stores, too."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from xdsl.ir import Operation, SSAValue

from dt_mlir.analysis.nests import argument_named, function_labels, loop_of, reads_of, writes_of
from dt_mlir.dialects import loop
from dt_mlir.passes.schedule_fuse_at_copies import Move, take_arguments
from dt_mlir.scheduling.directive import Site
from dt_mlir.traversal import captured_by, operations

HINT = "leave out 'together'"
"""The remedy where a function cannot be stored."""


def add_store(site: Site, move: Move) -> None:
    """Stores a function at each index of a nest that reads it, as it is read there.

    Args:
        site: the function that the nest is of, and the directive.
        move: the function's move to the kernel of the nest.

    Raises:
        CompileError: if the nest does not read each of its elements.
    """
    home, argument = move.home, take_arguments(move)
    (write,) = writes_of(home, home.root.data)
    own = {loop_of(index) for index in write.simple_indices() if isinstance(index, SSAValue)}
    for read in reads_of(argument):
        indices = read.index_values()
        values = [index for index in indices if isinstance(index, SSAValue)]
        loops = {loop_of(value) for value in values}
        if read.boundary is None and len(values) == len(indices) == len(loops) and loops <= own:
            break
    else:
        labels = ", ".join(function_labels(home, write))
        raise site.error(
            f"'{move.site.function}' is stored, and '{site.function}[{labels}]' does not need it "
            "at each of its indices", HINT,
        )  # fmt: skip
    copy = loop.ReadOp(argument, values)
    store = loop.WriteOp(copy.result, argument, values)
    for op in (copy, store):
        op.location = read.location
        assert write.parent is not None
        write.parent.insert_op_before(op, write)


def hoist_store(site: Site, home: loop.KernelOp, name: str) -> None:
    """Moves the store of a function, with what it stores, out of loops that it does not depend on.

    An element is then written once, and also where such a loop has no trip.

    Args:
        site: the function that the nest is of, and the directive.
        home: its kernel.
        name: the function that is stored.

    Raises:
        CompileError: if what it stores is computed inside of such a loop.
    """
    argument = argument_named(home, name)
    assert argument is not None
    (write,) = (u.operation for u in argument.uses if isinstance(u.operation, loop.WriteOp))
    assert isinstance(write, loop.WriteOp)
    axes = {loop_of(index) for index in write.simple_indices() if isinstance(index, SSAValue)}
    around: list[loop.LoopLike] = []
    parent = write.parent_op()
    while isinstance(parent, loop.LoopLike):
        around.append(parent)
        parent = parent.parent_op()
    left = list(takewhile(lambda op: op not in axes, around))
    moved = _behind(write, left[-1]) if left else []
    repeated = [op for op in around[len(left) :] if op not in axes] or _needed_by(moved, left)
    if repeated:
        label = repeated[0].label_name
        raise site.error(f"'{name}' is stored, and would be computed once for each '{label}'", HINT)
    for op in moved:
        op.detach()
        assert left[-1].parent is not None
        left[-1].parent.insert_op_before(op, left[-1])


def _needed_by(ops: Sequence[Operation], loops: Sequence[loop.LoopLike]) -> list[loop.LoopLike]:
    """Returns those of some loops around operations that these cannot leave."""
    if any(isinstance(op, loop.OnlineOp) for op in ops):
        # The pass itself stands where all that it needs is known.
        return list(loops)
    used = {value for op in ops for value in (*op.operands, *captured_by(op))}
    return [op for op in loops if op.iv in used]


def _behind(write: loop.WriteOp, outermost: Operation) -> list[Operation]:
    """Returns a write and what its value is computed by inside of a loop, in program order."""
    found: set[Operation] = set()
    pending: list[Operation] = [write]
    while pending:
        op = pending.pop()
        if op in found or not outermost.is_ancestor(op):
            continue
        found.add(op)
        for value in (*op.operands, *captured_by(op)):
            if isinstance(value.owner, Operation):
                pending.append(value.owner)
    # Some of it may stand between the loops.
    return [op for op in operations(outermost) if op in found]
