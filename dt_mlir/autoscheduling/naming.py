"""The labels of a program's functions, called alike where they walk the same axes.

How a function calls its labels says nothing: `top[a] = rmax(s[a, b], b)` reduces what
`exp(s[i, j] - top[i])` walks along `j`. What is tiled alike and what is computed in one pass is
found by labels, so that a schedule is found for the program with as few of them as there can be.
`Writer` says it with the program's own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.decisions import Decision
from dt_mlir.autoscheduling.likeness import LABELS
from dt_mlir.copying import copy_of
from dt_mlir.dialects import dt
from dt_mlir.dialects.formats import is_name_array, name_array, names, symbol_name
from dt_mlir.traversal import operations_of

PART = "_part"
"""The end of the name that `rfactor` gives a label of parts."""
MADE = (PART, "_in")
"""The ends of the names that directives give labels where a reduction over one is in parts: that of
the parts, and that of the indices in one, which a tile takes whole."""

_Axis = tuple[str, int]
"""An axis of a tensor or of a function."""


@dataclass
class _Class:
    """Labels of functions that are called alike: one of a function at most."""

    name: str
    size: str
    """The first of the labels that have their size."""
    functions: set[str] = field(default_factory=set[str])
    axes: set[_Axis] = field(default_factory=set[_Axis])
    """The axes that they walk."""


class Naming:
    """The labels of a program's functions, and those that are used in their place.

    A label is called as the one at which its function is read, else as one that walks the most axes
    that it walks, too, else as any other of its size. Functions are looked at from the outputs on,
    so that neither names nor the order of definitions decide.

    Args:
        module: the program at the `dt` level, without a schedule; it is not changed.
    """

    def __init__(self, module: ModuleOp) -> None:
        functions = {op.sym_name.data: op for op in module.ops if isinstance(op, dt.FuncOp)}
        needed = _needed(module, functions)
        self.used = {name: _labels_of(functions[name]) for name in needed}
        """The labels of each function that is needed, those of its reductions among them."""
        interface = Interface.of(module)
        groups = interface.groups
        self.axes = {
            item.name: [axis if isinstance(axis, str) else "" for axis in item.axes]
            for item in interface.inputs if item.axes
        }  # fmt: skip
        """The names of the axes of inputs."""
        self.same = {label: group for group in groups for label in group}
        """The labels that have the size of a label, for each."""
        self._declared = {
            op.sym_name.data for op in module.ops
            if isinstance(op, dt.FuncOp | dt.InputOp | dt.LabelOp)
        }  # fmt: skip
        self.added: dict[str, str] = {}
        """Labels that the program does not declare, each with one of its size."""
        self.labels = self._classes([functions[name] for name in needed])
        """The names that each function's labels have here."""
        self.written_module = self.module = module
        """The program with its own labels, and with these."""
        if any(label != name for known in self.labels.values() for label, name in known.items()):
            self.module = copy_of(module)
            self._rename()

    def sizes(self, given: Mapping[str, int]) -> dict[str, int]:
        """Returns sizes of the program's labels, with those of labels that it does not declare."""
        return {**given, **{
            name: given[label] for name, label in self.added.items() if label in given
        }}  # fmt: skip

    def unchanged(self) -> list[str]:
        """Returns the functions whose labels keep their names."""
        return [
            name for name, known in self.labels.items()
            if all(label == other for label, other in known.items())
        ]

    def said(self, item: Decision) -> Decision:
        """Returns a directive of the program with the labels that are used."""
        known = self.labels.get(item.function, {})
        arguments = [
            argument._replace(value=known.get(str(argument.value), argument.value))
            if item.name == "deterministic" else argument for argument in item.arguments
        ]  # fmt: skip
        return replace(item, arguments=tuple(arguments))

    def _classes(self, functions: Iterable[dt.FuncOp]) -> dict[str, dict[str, str]]:
        """Returns what each function's labels are called."""
        classes: list[_Class] = []
        found: dict[str, dict[str, str]] = {}
        for op in functions:
            name, walked = op.sym_name.data, _walked(op)
            known = found[name] = {}
            for label in self.used[name]:
                group, axes = self.same.get(label, [label]), walked.get(label, set[_Axis]())
                fitting = [c for c in classes if c.size == group[0] and name not in c.functions]
                # The first of several that are as like it.
                best = max(fitting, key=lambda c: _likeness(c, name, axes), default=None)
                if best is None:
                    taken = {c.name for c in classes}
                    best = _Class(self._free((label, *group), taken), group[0])
                    classes.append(best)
                best.functions.add(name)
                best.axes |= axes
                known[label] = best.name
        return found

    def _free(self, labels: Sequence[str], taken: Collection[str]) -> str:
        """Returns a name for labels of one size, of which that of their parts may be made.

        Args:
            labels: the labels of their size, the one that is wanted first.
            taken: the names of other labels.
        """
        for label in labels:
            if label not in taken and not is_of_parts(label, self._declared):
                return label
        name = f"{labels[0]}_"
        while name in taken or name in self._declared or is_of_parts(name, self._declared):
            name += "_"
        self.added[name] = labels[0]
        self.same[name] = [*dict.fromkeys((*labels, name))]
        return name

    def _rename(self) -> None:
        """Gives the labels of functions other names."""
        declared = {op.sym_name.data: op for op in self.module.ops if isinstance(op, dt.LabelOp)}
        for name, label in self.added.items():
            op = declared[name] = declared[label].clone()
            op.sym_name, op.axis = StringAttr(name), None
            self.module.body.block.insert_op_before(op, declared[label])
        for name in {name for known in self.labels.values() for name in known.values()}:
            # One that says a size says it for all that have it.
            sized = (declared[other] for other in self.same.get(name, [name]))
            op = next((op for op in sized if op.size is not None), None)
            if op is not None and declared[name].size is None:
                declared[name].size, declared[name].sizes = op.size, op.sizes
                declared[name].inferred = op.inferred
        for op in self.module.ops:
            if isinstance(op, dt.FuncOp) and op.sym_name.data in self.labels:
                rename(op, self.labels[op.sym_name.data])


def is_of_parts(label: str, names: Collection[str]) -> bool:
    """Returns whether names are those of labels that directives make of a label in parts."""
    return any(label + end in names for end in MADE)


def _likeness(known: _Class, function: str, axes: set[_Axis]) -> tuple[int, int]:
    """Returns how many axes a label of a function walks that others walk: of the function itself,
    and in all."""
    same = known.axes & axes
    return sum(tensor == function for tensor, _ in same), len(same)


def _labels_of(op: dt.FuncOp) -> list[str]:
    """Returns the labels of a function, those of its reductions behind its own."""
    reduced = (label for r in operations_of(op, dt.ReduceOp) for label in r.label_names)
    return list(dict.fromkeys((*op.label_names, *reduced)))


def _names(attr: Attribute) -> tuple[str, ...]:
    if isinstance(attr, StringAttr):
        return (attr.data,)
    assert is_name_array(attr)
    return names(attr)


def _walked(op: dt.FuncOp) -> dict[str, set[_Axis]]:
    """Returns the axes of what a function reads, and its own, that each label walks."""
    found: dict[str, set[_Axis]] = {}
    for axis, label in enumerate(op.label_names):
        found.setdefault(label, set()).add((op.sym_name.data, axis))
    for read in operations_of(op, dt.ReadOp):
        for axis in range(0 if read.is_guarded else len(read.indices)):
            label = read.label_alone(axis)
            if label is not None:
                found.setdefault(label, set()).add((read.source_name, axis))
    return found


def _needed(module: ModuleOp, functions: Mapping[str, dt.FuncOp]) -> list[str]:
    """Returns the functions that outputs need, these first, whatever the order of definitions."""
    found = [symbol_name(op.function) for op in module.ops if isinstance(op, dt.OutputOp)]
    for name in found:
        for read in operations_of(functions[name], dt.ReadOp):
            if read.source_name in functions and read.source_name not in found:
                found.append(read.source_name)
    return found


def rename(op: dt.FuncOp, renamed: Mapping[str, str]) -> None:
    """Gives the labels of a function other names, all at once."""

    def of(attr: Attribute) -> Attribute:
        if isinstance(attr, StringAttr):
            return StringAttr(renamed.get(attr.data, attr.data))
        return name_array([renamed.get(name, name) for name in _names(attr)])

    for inner in operations_of(op, Operation):
        if inner.dialect_name() == "dt":
            for name in LABELS:
                if name in inner.properties:
                    inner.properties[name] = of(inner.properties[name])
