"""Reductions that a pass over a label would compute again and again."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from math import prod

from xdsl.ir import Operation, SSAValue

from dt_mlir.analysis.equal_operations import operation_key
from dt_mlir.autoscheduling.slices import MOST_READS, Algorithm
from dt_mlir.dialects import dt
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.traversal import operations_of

FEW = 2**18
"""The times that a reduction is computed again for which that may take less than to store it."""


def is_made_too_often(algorithm: Algorithm, members: Sequence[str], label: str) -> bool:
    """Returns whether a pass over a label nests deeply, or has too many copies of a function.

    Args:
        algorithm: the program.
        members: the functions that are computed in the pass, the root first.
        label: the label.
    """
    return most_copies(algorithm, members) > MOST_READS or nests_deeply(algorithm, members, label)


def most_copies(algorithm: Algorithm, members: Sequence[str]) -> int:
    """Returns the number of indices at which a kernel computes a function at least, of whichever
    that is most.

    Of all readers the one that needs most counts, and of its reads those at computed indices.

    Args:
        algorithm: the program.
        members: the functions of the kernel, the root first.
    """
    root, *others = members
    found = {root: 1}
    for name in (name for name in reversed(list(algorithm.functions)) if name in others):
        found[name] = 1
        for reader in (reader for reader in algorithm.readers[name] if reader in found):
            computed = {
                (tuple(map(_computed_like, read.values)), read.is_guarded and read.map)
                for read in algorithm.accesses(reader, name) if read.values or read.is_guarded
            }  # fmt: skip
            found[name] = max(found[name], found[reader] * max(len(computed), 1))
    return max(found.values())


def _computed_like(value: SSAValue) -> Hashable:
    """Returns what is equal for values of a function that are computed alike."""
    op = value.owner
    if not isinstance(op, Operation):
        return value
    return operation_key(op, tuple(map(_computed_like, op.operands)))


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
        if any(label in op.label_names and moving[reader].intersection(depends_on(op))
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


def times_computed(algorithm: Algorithm, members: Sequence[str], label: str) -> dict[str, int]:
    """Returns how often a pass over a label computes reductions of functions, where that is known.

    A pass has a loop over its label. Where it reduces over the label inside of reductions over
    other labels, each of these has loops of its own, as they do not become one: a product whose
    rows are normalized, and multiplied again, is computed for the sum of a row, for that of its
    squares, and for the second product. And products that the pass reduces over its label are
    computed again for the root, if that has the label: one whose rows are normalized, for their
    sums, and for its elements.

    Args:
        algorithm: the program.
        members: the functions that are computed in the pass, the root first.
        label: the label.
    """
    found: dict[str, int] = {}
    in_pass, behind = set[str](), set[str]()
    root = algorithm.functions[members[0]]
    if label in root.label_names:
        reads = [
            read for read in operations_of(root, dt.ReadOp)
            if not any(label in around for around in labels_around(read))
        ]  # fmt: skip
        behind = computed_along(algorithm, members, reads, {label})
    for op in (op for member in members for op in algorithm.reductions(member)):
        reads = operations_of(op, dt.ReadOp)
        if label in op.label_names:
            in_pass |= computed_along(algorithm, members, reads, {label})
        else:
            for name in computed_along(algorithm, members, reads, {*op.label_names}):
                if any(label in other.label_names for other in algorithm.reductions(name)):
                    found[name] = found.get(name, 0) + 1
    for name in in_pass & behind:
        # What else is read again is near, as a row that is normalized is.
        if any(op.kind.data is ReductionKind.DOT for op in algorithm.reductions(name)):
            found[name] = max(found.get(name, 0), 2)
    return found


def computed_for_elements(
    algorithm: Algorithm, members: Sequence[str], label: str
) -> set[str]:
    """Returns functions that a pass over a label reduces over it for each tile of its root along
    the label: those that sums of the root over other labels are made of.

    There are none where the pass perhaps holds what it computes along the label.

    Args:
        algorithm: the program.
        members: the functions that are computed in the pass, the root first.
        label: the label.
    """
    root, *others = (algorithm.functions[name] for name in members)
    held = any(label in op.label_names and operations_of(op, dt.ReduceOp) for op in others)
    gathers = any(read.values for op in (root, *others) for read in operations_of(op, dt.ReadOp))
    if label not in root.label_names or held or gathers:
        return set()
    found = set[str]()
    for op in algorithm.reductions(members[0]):
        if label not in op.label_names:
            reads = operations_of(op, dt.ReadOp)
            inside = computed_along(algorithm, members, reads, {*op.label_names})
            found |= inside - computed_along(algorithm, members, reads, {label})
    return {
        name for name in found
        if any(label in op.label_names for op in algorithm.reductions(name))
    }  # fmt: skip


def computed_along(
    algorithm: Algorithm, members: Sequence[str], reads: Iterable[dt.ReadOp], moving: set[str]
) -> set[str]:
    """Returns the functions of a kernel that are computed at each index of some labels.

    Args:
        algorithm: the program.
        members: the functions that are computed in the kernel.
        reads: what is read at the indices.
        moving: the labels.
    """
    found = set[str]()

    def add(reads: Iterable[dt.ReadOp], moving: set[str]) -> None:
        for read in reads:
            name = read.source_name
            if name not in members or name in found:
                continue
            own = algorithm.functions[name]
            along = {
                axis for axis, used in zip(own.label_names, read.labels_by_axis())
                if not moving.isdisjoint(used)
            }  # fmt: skip
            if along:
                found.add(name)
                add(operations_of(own, dt.ReadOp), along)

    add(reads, moving)
    return found


def varies_with(
    algorithm: Algorithm, members: Collection[str], op: dt.ReduceOp, label: str
) -> set[str]:
    """Returns labels on which what a pass sums surely depends, whatever a law takes out of the sum.

    A law takes out factors that are the same at all indices of the label, and sums terms apart.

    Args:
        algorithm: the program.
        members: the functions that are computed in the pass.
        op: a reduction of one of them over the label.
        label: the label.
    """

    def most(found: Iterable[set[str]]) -> set[str]:
        sizes = algorithm.sizes
        return max(found, key=lambda each: prod(sizes.get(x, 1) for x in each), default=set[str]())

    def along(reads: Iterable[dt.ReadOp], label: str) -> set[str]:
        """Returns the labels that one of some reads has beside a label."""
        return most(beside(read, label) for read in reads if label in read.used_labels)

    def beside(read: dt.ReadOp, label: str) -> set[str]:
        name = read.source_name
        if name not in members:
            return {*read.used_labels} - {label}
        own, walked = algorithm.functions[name], dict[str, str]()
        for axis, each in enumerate(own.label_names):
            outside = read.label_alone(axis)
            if outside is not None:
                walked[each] = outside
        if algorithm.reductions(name):
            return set()
        inside = operations_of(own, dt.ReadOp)
        found = (along(inside, each) for each, outside in walked.items() if outside == label)
        return most({walked[each] for each in labels if each in walked} for labels in found)

    # Both factors of a product are in each of its terms.
    last = op.body.block.last_op
    assert last is not None
    factors = (along(_reads_behind(value), label) for value in last.operands)
    return set[str]().union(*factors)


def _reads_behind(value: SSAValue) -> Iterator[dt.ReadOp]:
    """Yields the reads that a value is computed of."""
    pending, known = [value], {value}
    while pending:
        op = pending.pop().owner
        if isinstance(op, dt.ReadOp):
            yield op
        elif isinstance(op, Operation):
            pending += [each for each in op.operands if each not in known]
            known.update(op.operands)


def repeated(algorithm: Algorithm, members: Sequence[str], label: str) -> set[str]:
    """Returns the functions that a pass over a label leaves apart, as it would compute their
    reductions again at each index of another label.

    That is one which all functions have whose reductions the pass computes. The directive `online`
    leaves the same ones apart.

    Args:
        algorithm: the program.
        members: the functions that would be computed in the pass, the root first.
        label: the label.
    """
    labels = {
        name: {*walked.values()} for name, walked in labels_as_read(algorithm, members).items()
    }  # fmt: skip
    reduced = {
        name: {other for op in algorithm.reductions(name) for other in op.label_names}
        for name in members
    }  # fmt: skip
    common = [labels[name] for name in members if label in reduced[name]]
    shared = set[str]().union(*common[:1]).intersection(*common)
    lacking = [name for name in members[1:] if not shared <= labels[name]]
    found = {name for name in lacking if reduced[name] and label not in reduced[name]}
    while further := {
        name for name in lacking
        if name not in found and not found.isdisjoint(algorithm.reads[name])
    }:
        found |= further
    return found


def last_products(algorithm: Algorithm, members: Sequence[str], label: str) -> list[str]:
    """Returns the functions of a pass without those that are needed for elements of its reductions.

    Args:
        algorithm: the program.
        members: the functions that would be computed in the pass, the root first.
        label: the label.

    Returns:
        The functions, the root first; it alone if fewer than two sums of products over the label
        are left.
    """
    inside = [
        read.source_name for name in members for op in algorithm.reductions(name)
        if label in op.label_names for read in operations_of(op, dt.ReadOp)
    ]  # fmt: skip
    for name in inside:
        inside += [read for read in algorithm.reads.get(name, ()) if read not in inside]
    found = [name for name in members if name == members[0] or name not in inside]
    products = [
        op for name in found for op in algorithm.reductions(name)
        if label in op.label_names and op.kind.data is ReductionKind.DOT
    ]  # fmt: skip
    return found if len(products) > 1 else [members[0]]


def labels_as_read(algorithm: Algorithm, members: Sequence[str]) -> dict[str, dict[str, str]]:
    """Returns the names that the first of some functions has for the labels of each, as far as all
    reads agree.

    Args:
        algorithm: the program.
        members: the functions of a kernel, the root first.
    """
    root, *others = members
    names = {root: {label: label for label in algorithm.functions[root].label_names}}
    for name in (name for name in reversed(list(algorithm.functions)) if name in others):
        own = algorithm.functions[name].label_names
        found: list[set[str]] = [set() for _ in own]
        for reader in (reader for reader in algorithm.readers[name] if reader in names):
            for read in algorithm.accesses(reader, name):
                for axis, label in enumerate(own):
                    walked = read.label_alone(axis) or label
                    found[axis].add(names[reader].get(walked, walked))
        names[name] = {
            label: next(iter(walked)) for label, walked in zip(own, found) if len(walked) == 1
        }  # fmt: skip
    return names


def labels_around(read: dt.ReadOp) -> Iterator[tuple[str, ...]]:
    """Yields the labels of the reductions around a read, those of the innermost one first."""
    op = read.parent_op()
    while isinstance(op, dt.ReduceOp):
        yield op.label_names
        op = op.parent_op()


def depends_on(op: dt.ReduceOp) -> set[str]:
    """Returns the labels that a reduction depends on, but for those of reductions."""
    found = {*op.constrained_labels}.difference(op.label_names)
    for read in operations_of(op, dt.ReadOp):
        found |= {*read.used_labels}.difference(*labels_around(read))
    return found
