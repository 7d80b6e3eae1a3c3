"""Reductions that a pass over a label would nest in each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.dialects import dt
from dt_mlir.traversal import operations_of

FEW = 2**18
"""The times that a reduction is computed again for which that may take less than to store it."""


def nests_deeply(algorithm: Algorithm, members: Sequence[str], label: str) -> bool:
    """Returns whether a pass over a label would reduce over it again at each of its indices, or
    there again, so often that it takes far longer than to store what is reduced.

    Args:
        algorithm: the program.
        members: the functions that are computed in the pass, the root first.
        label: the label.
    """
    root, *others = members
    order = [name for name in reversed(list(algorithm.functions)) if name in others]
    # The labels of each function whose indices follow that of the pass.
    moving: dict[str, set[str]] = {name: set() for name in members}
    # The times that each function is computed for one index of the pass.
    again = dict.fromkeys(members, 1)
    for reader in (root, *order):
        inside = again[reader]
        if any(label in op.label_names and moving[reader].intersection(_depends_on(op))
               for op in algorithm.reductions(reader)):
            inside *= algorithm.sizes.get(label, 1)
        if inside > FEW:
            return True
        for name in others:
            own = algorithm.functions[name].label_names
            for read in algorithm.accesses(reader, name):
                bound = {other for around in labels_around(read) for other in around}
                times = inside if label in bound else again[reader]
                again[name] = max(again[name], times)
                along = moving[reader] - bound | bound & {label}
                moving[name] |= {
                    axis for axis, used in zip(own, read.labels_by_axis())
                    if not along.isdisjoint(used)
                }
    return False


def labels_around(read: dt.ReadOp) -> Iterator[tuple[str, ...]]:
    """Yields the labels of the reductions around a read, those of the innermost one first."""
    op = read.parent_op()
    while isinstance(op, dt.ReduceOp):
        yield op.label_names
        op = op.parent_op()


def _depends_on(op: dt.ReduceOp) -> set[str]:
    """Returns the labels that a reduction depends on, but for those of reductions."""
    found = {*op.constrained_labels}.difference(op.label_names)
    for read in operations_of(op, dt.ReadOp):
        found |= {*read.used_labels}.difference(*labels_around(read))
    return found
