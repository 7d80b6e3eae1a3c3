"""Parts of a program that are alike, of which one is looked at for all.

The layers of a network differ in the names of their functions, and its projections in those of
their labels. What kernels do follows from the rest: what each function computes, from what, under
which directives, and the sizes of its labels.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from dt_mlir.autoscheduling.decisions import Decision
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.costs.work import Work
from dt_mlir.dialects import dt
from dt_mlir.dialects.formats import names, symbol_name
from dt_mlir.traversal import operations_of

_NAMED = dt.LabelOp | dt.InputOp | dt.FuncOp
LABELS = ("label", "labels", "sizes", "domain_labels", "domain_sizes")
"""The properties of operations that hold labels."""


@dataclass(frozen=True)
class Names:
    """The names of a part, in the order in which they occur."""

    tensors: tuple[str, ...]
    """Its functions, and what they read."""
    labels: tuple[str, ...]
    """Its labels, but for those that have sizes of their own, or of which other names are made."""


class Likeness:
    """Finds parts of a program that are alike.

    Args:
        algorithm: the program.
    """

    def __init__(self, algorithm: Algorithm) -> None:
        self.algorithm = algorithm
        ops = list(algorithm.module.ops)
        self._inputs = {op.sym_name.data: op for op in ops if isinstance(op, dt.InputOp)}
        self._labels = exchangeable([op for op in ops if isinstance(op, _NAMED)])
        self._forms: dict[str, _Form] = {}

    def key(
        self, functions: Sequence[str], decisions: Sequence[Decision]
    ) -> tuple[Hashable, Names] | None:
        """Returns what is equal for parts that are alike, and their names.

        None if directives copy inputs, which others read, too.

        Args:
            functions: the functions of the part, as for `Algorithm.part`.
            decisions: its directives.
        """
        if any(item.name == "cache_read" for item in decisions):
            return None
        tensors = {name: number for number, name in enumerate(functions)}
        labels: dict[str, int] = {}

        def number(label: str) -> Hashable:
            return labels.setdefault(label, len(labels)) if label in self._labels else label

        found: list[Hashable] = []
        used = self._labels_used(functions, decisions)
        for name in functions:
            form = self._form(name)
            for other in form.read:
                tensors.setdefault(other, len(tensors))
            found.append((
                form.form, tuple(tensors[other] for other in form.read),
                tuple(map(number, used[name])),
            ))  # fmt: skip
        walked: dict[tuple[str, int], str | None] = {}
        for name in functions:
            for place, label in self._form(name).walked.items():
                own = None if label is None else used[name][label]
                walked[place] = own if place not in walked or own is None else walked[place]
        others: dict[str, str] = {}
        sizes = self.algorithm.sizes

        def along(tensor: str, axis: int, label: str) -> Hashable:
            """Returns the label of an axis: that which walks it in the part, if its own is another
            function's, and both have the size of the axis."""
            own = walked.get((tensor, axis)) or label
            if label not in labels and label in self._labels and sizes.get(label) == sizes.get(own):
                label = others.setdefault(label, own)
            return number(label)

        given: list[Hashable] = []
        for name in tensors:
            what, axes = self._given(name)
            known = None if axes is None else [along(name, *item) for item in enumerate(axes)]
            given.append((what, None if known is None else tuple(known)))
        for item in decisions:
            if item.name == "rfactor":
                # The function of the parts gets its name here.
                tensors.setdefault(str(item.arguments[1].value), len(tensors))

        def named(name: object) -> Hashable:
            if not isinstance(name, str):
                return name
            if name in tensors:
                return "tensor", tensors[name]
            known = stem_of(name, labels) or name
            return "label", number(known), name.removeprefix(known)

        said = tuple(
            (
                item.name, tensors[item.function],
                tuple((named(a.key), named(a.value), a.factor) for a in item.arguments),
                tuple(tensors[name] for name in item.stored),
            ) for item in decisions
        )  # fmt: skip
        points = tuple(map(sizes.get, labels))
        return (tuple(found), tuple(given), said, points), Names(tuple(tensors), tuple(labels))

    def _labels_used(
        self, functions: Sequence[str], decisions: Sequence[Decision]
    ) -> dict[str, tuple[str, ...]]:
        """Returns the labels of functions, by number, as kernels have them: those of functions that
        are inlined are the ones at which they are read, where these have the same sizes."""
        inlined = {item.function for item in decisions if item.name == "inline"}
        if any(read.is_guarded for reader in functions for name in inlined
               for read in self.algorithm.accesses(reader, name)):
            # The condition holds for what they read in turn, by the sizes of their own labels.
            inlined = set[str]()
        found: dict[str, tuple[str, ...]] = {}
        # Those that read a function join a kernel before it.
        for name in functions:
            labels = self._form(name).labels
            if name in inlined:
                known = self._walked(name, found)
                labels = tuple(known.get(label, label) for label in labels)
            found[name] = labels
        return found

    def _walked(self, name: str, readers: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
        """Returns the labels that walk those of a function wherever it is read, and have their
        sizes.

        Args:
            name: the function.
            readers: the labels of functions that may read it, as `_labels_used` returns them.
        """
        at: list[set[str | None]] = [set() for _ in self.algorithm.functions[name].label_names]
        for reader, used in readers.items():
            names = dict(zip(self._form(reader).labels, used))
            for read in self.algorithm.accesses(reader, name):
                for axis, found in enumerate(at):
                    label = None if read.is_guarded else read.label_alone(axis)
                    found.add(None if label is None else names[label])
        sizes = self.algorithm.sizes
        return {
            own: label for own, walked in zip(self.algorithm.functions[name].label_names, at)
            if len(walked) == 1 and (label := next(iter(walked))) is not None
            and sizes.get(own) == sizes.get(label)
        }  # fmt: skip

    def _given(self, name: str) -> tuple[Hashable, Sequence[str] | None]:
        """Returns what matters of a tensor or a function to those that read it, and the labels of
        its axes."""
        given = self._inputs.get(name)
        if given is not None:
            axes = given.axes or self.algorithm.axes.get(name)
            return given.type, None if axes is None else names(axes)
        op = self.algorithm.functions[name]
        return (op.element, name in self.algorithm.outputs), op.label_names

    def _form(self, name: str) -> _Form:
        """Returns what a function computes, whatever the names of what it reads, and of labels."""
        if name not in self._forms:
            op = self.algorithm.functions[name]
            labels, read = dict.fromkeys(op.label_names), dict[str, int]()
            numbers = {label: number for number, label in enumerate(labels)}
            inside = _form_of(op.body.block, {}, read, numbers)
            form = len(op.label_names), inside, op.element, op.declared
            walked: dict[tuple[str, int], int | None] = {}
            for item in operations_of(op, dt.ReadOp):
                for axis in range(len(item.indices)):
                    label = None if item.is_guarded else item.label_alone(axis)
                    place = item.source_name, axis
                    if label is None:
                        walked[place] = None
                    else:
                        walked.setdefault(place, numbers[label])
            self._forms[name] = _Form(form, tuple(read), tuple(numbers), walked)
        return self._forms[name]


@dataclass(frozen=True)
class _Form:
    """The computation of a function, without the names in it."""

    form: Hashable
    """Its operations, with numbers for names."""
    read: tuple[str, ...]
    """The tensors and functions that it reads, by number."""
    labels: tuple[str, ...]
    """Its labels, by number."""
    walked: dict[tuple[str, int], int | None]
    """The first label that walks each axis of what it reads, by the name of that; None where an
    index is not a label by itself, or may be out of bounds."""


def exchangeable(declared: Sequence[dt.LabelOp | dt.InputOp | dt.FuncOp]) -> set[str]:
    """Returns the labels that have no other size than that of the axes that they index, and whose
    name no other name of the program is made of."""
    labels = [op for op in declared if isinstance(op, dt.LabelOp)]
    used = {name for op in labels for name in op.used_sizes}
    found = {op.sym_name.data for op in labels if op.size is None and op.axis is None} - used
    every = [op.sym_name.data for op in declared]
    return {name for name in found if not any(_is_of(other, name) for other in every)}


def _is_of(name: str, label: str) -> bool:
    """Returns whether a name is that of a part of a label, as directives make them: `k_part` and
    `k1` of `k`."""
    rest = name.removeprefix(label)
    return rest != name and (rest.startswith("_") or rest.isdigit())


def stem_of(name: str, labels: Collection[str]) -> str | None:
    """Returns the label of a part of which a name is; None if there is none."""
    if name in labels:
        return None
    return max((label for label in labels if _is_of(name, label)), key=len, default=None)


def _form_of(
    block: Block, values: dict[SSAValue, int], read: dict[str, int], labels: dict[str, int]
) -> Hashable:
    for value in block.args:
        values[value] = len(values)
    return tuple(_operation(op, values, read, labels) for op in block.ops)


def _operation(
    op: Operation, values: dict[SSAValue, int], read: dict[str, int], labels: dict[str, int]
) -> Hashable:
    operands = tuple(values[value] for value in op.operands)
    properties = dict(op.properties)
    source: int | None = None
    if isinstance(op, dt.ReadOp):
        source = read.setdefault(symbol_name(op.source), len(read))
        properties.pop("source")
    used: list[Hashable] = []
    if op.dialect_name() == "dt":
        used += [
            (name, _numbered(properties.pop(name), labels)) for name in LABELS if name in properties
        ]  # fmt: skip
    inside = tuple(
        _form_of(block, values, read, labels) for r in op.regions for block in r.blocks
    )
    for value in op.results:
        values[value] = len(values)
    types = tuple(value.type for value in op.results)
    marks = tuple(sorted(op.attributes.items()))
    said = tuple(properties.items()), tuple(used)
    return op.name, operands, said, marks, source, inside, types


def _numbered(attr: Attribute, labels: dict[str, int]) -> Hashable:
    """Returns labels of an operation by their numbers."""
    if isinstance(attr, StringAttr):
        return labels.setdefault(attr.data, len(labels))
    assert isinstance(attr, ArrayAttr)
    return tuple(_numbered(item, labels) for item in attr)


def renamed(work: Work, before: Names, after: Names) -> Work:
    """Returns what a kernel does to tensors of other names, along labels of other names.

    Args:
        work: what a kernel does.
        before: the names of the part that it is of. Names of tensors and labels that directives
            make begin with them.
        after: the names of a part that is alike.
    """
    tensors = dict(zip(before.tensors, after.tensors))
    labels = dict(zip(before.labels, after.labels))

    def tensor(name: str) -> str:
        found = tensors.get(name)
        if found is None:
            known = max((other for other in tensors if name.startswith(f"{other}_")), key=len)
            found = tensors[known] + name.removeprefix(known)
        return found

    def label(name: str) -> str:
        known = name if name in labels else stem_of(name, labels)
        return name if known is None else labels[known] + name.removeprefix(known)

    accesses = [
        replace(item, tensor=tensor(item.tensor), axes=tuple(map(label, item.axes)))
        for item in work.accesses
    ]  # fmt: skip
    return replace(
        work,
        root=tensor(work.root),
        loops=[replace(walk, label=label(walk.label)) for walk in work.loops],
        grid={label(name): place for name, place in work.grid.items()},
        accesses=accesses,
        twins={label(name): set(map(label, others)) for name, others in work.twins.items()},
        order=tuple((label(name), part, factor) for name, part, factor in work.order),
        tensors={tensor(name): found for name, found in work.tensors.items()},
    )
