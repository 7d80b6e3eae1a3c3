"""One name for labels of reductions that walk the same axes, while a schedule is looked for.

How the label of a reduction is called says nothing: `rmax(s[i, a], a)` reduces what
`exp(s[i, j] - …)` walks along `j`. What is computed in one pass is found by names, so that a
schedule is found for the program with as few of them as there can be, and then says the program's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.decisions import Decision
from dt_mlir.autoscheduling.likeness import LABELS
from dt_mlir.dialects import dt
from dt_mlir.dialects.formats import is_name_array, name_array, names, symbol_name
from dt_mlir.dialects.sched import Argument
from dt_mlir.traversal import operations_of

TILES = ("tensorize", "unroll")
"""The directives about all loops of a kernel over a label."""


class Naming:
    """The names of a program's labels, and those that are used in their place.

    Args:
        module: the program at the `dt` level, without a schedule; it is not changed.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._functions = {op.sym_name.data: op for op in module.ops if isinstance(op, dt.FuncOp)}
        self._used = {name: _labels_of(op) for name, op in self._functions.items()}
        """The labels that each function has, those of its reductions among them."""
        self.names = self._merged(module)
        """The label that stands for each label of reductions which has another name."""
        self.written_module = self.module = module
        """The program with its names, and with these."""
        if self.names:
            self.module = module.clone()
            _rename(self.module, self.names)

    def _merged(self, module: ModuleOp) -> dict[str, str]:
        """Returns for labels of reductions those that walk the same axes, and that no function has
        beside them."""
        needed = _needed(module, self._functions)
        own = dict.fromkeys(x for name in needed for x in self._functions[name].label_names)
        labels = dict.fromkeys(label for name in needed for label in self._used[name])
        uses = [self._used[name] for name in needed]
        groups = Interface.of(module).groups
        size = {label: number for number, group in enumerate(groups) for label in group}
        along = _along(module, needed)
        found: dict[str, str] = {}
        # Labels of functions keep their names, so that others may have these.
        classes = {label: {label} for label in own}
        for label in (label for label in labels if label not in own):
            for first, known in classes.items():
                if (
                    size.get(first) == size.get(label)
                    and any(label in axis and not axis.isdisjoint(known) for axis in along)
                    and all(label not in used or known.isdisjoint(used) for used in uses)
                ):
                    found[label] = first
                    known.add(label)
                    break
            else:
                classes[label] = {label}
        # Where one label alone is reduced, passes are the same without.
        reduced = {
            label for name in needed
            for op in operations_of(self._functions[name], dt.ReduceOp) for label in op.label_names
        }  # fmt: skip
        return {
            label: first for label, first in found.items() if len(classes[first] & reduced) > 1
        }  # fmt: skip

    def written(self, members: Sequence[str], decisions: Sequence[Decision]) -> list[Decision]:
        """Returns directives of a kernel with the names that the program has.

        Args:
            members: the functions of the kernel, the root first.
            decisions: its directives, with the names of `module`.
        """
        return _Writer(self, members, decisions).run() if self.names else [*decisions]

    def labels(self, label: str, functions: Iterable[str]) -> list[str]:
        """Returns the program's names of a label in some functions."""
        alike = {label, *(other for other, name in self.names.items() if name == label)}
        used = (self._used.get(name, {}) for name in functions)
        return list(dict.fromkeys(each for labels in used for each in labels if each in alike))

    def own_labels(self, function: str) -> Sequence[str]:
        """Returns the labels of a function, but for those of its reductions."""
        return self._functions[function].label_names


class _Writer:
    """Writes directives with a program's names; arguments are those of `Naming.written`."""

    def __init__(
        self, naming: Naming, members: Sequence[str], decisions: Sequence[Decision]
    ) -> None:
        self.naming, self.members, self.decisions = naming, members, decisions
        self.passes: dict[str, set[str]] = {}
        """The labels of passes, by the function that they are for."""
        self.parts: dict[str, str] = {}
        """The functions whose reductions are split, by the name of the function of the parts."""
        self.nests: dict[str, list[str]] = {}
        """The functions that are fused into each one."""
        self.placed = set[str]()
        """The functions that are fused or inlined."""
        for item in decisions:
            values = [str(argument.value) for argument in item.arguments]
            if item.name == "online":
                self.passes.setdefault(item.function, set()).add(values[0])
            elif item.name == "rfactor":
                self.parts[values[1]] = item.function
            elif item.name == "fuse_at":
                self.nests.setdefault(values[0], []).append(item.function)
            if item.name in ("fuse_at", "inline"):
                self.placed.add(item.function)

    def run(self) -> list[Decision]:
        """Returns the directives."""
        return [self._written(item) for item in self.decisions]

    def _written(self, item: Decision) -> Decision:
        function = self.parts.get(item.function, item.function)
        if item.name in TILES:
            arguments = [
                Argument(label, argument.value, argument.factor)
                for argument in item.arguments
                for label in self._walking(function, str(argument.key))
            ]  # fmt: skip
        elif item.name in ("online", "rfactor", "scan"):
            first, *others = item.arguments
            key, value = first.key, first.value
            if key is None:
                value = self._reduced(function, str(value))
            else:
                key = self._reduced(function, key)
            arguments = [Argument(key, value, first.factor), *others]
        elif item.name == "fuse_at":
            target, label = item.arguments
            reduced = self._reduced(str(target.value), str(label.value))
            arguments = [target, label._replace(value=reduced)]
        else:
            arguments = [self._named(function, argument) for argument in item.arguments]
        return replace(item, arguments=tuple(arguments))

    def _named(self, function: str, argument: Argument) -> Argument:
        """Returns an argument with the name of a label of parts, if it has one."""
        key = argument.key
        value = argument.value
        if key is not None and key.endswith("_part"):
            key = f"{self._reduced(function, key.removesuffix('_part'))}_part"
        if isinstance(value, str) and value.endswith("_part"):
            value = f"{self._reduced(function, value.removesuffix('_part'))}_part"
        return Argument(key, value, argument.factor)

    def _reduced(self, function: str, label: str) -> str:
        """Returns the name of a label in a function, or in a pass for it: the label itself, if one
        of the functions that it needs has that."""
        among = [function]
        if label in self.passes.get(function, ()):
            among = [function, *self._gathered(function)]
        found = self.naming.labels(label, among)
        return label if label in found or not found else found[0]

    def _walking(self, root: str, label: str) -> list[str]:
        """Returns the names of a label in the loops of the kernel of a function."""
        stem = label.removesuffix("_part")
        if stem != label:
            return [f"{self._reduced(root, stem)}_part"]
        nests = [root]
        for name in nests:
            nests += self.nests.get(name, [])
        # What is fused runs before.
        found = self.naming.labels(label, [*nests[::-1], *self._gathered(root)])
        if label in self.passes.get(root, ()):
            # Reductions of the pass have its label.
            own = {each for name in nests for each in self.naming.own_labels(name)}
            found = [self._reduced(root, label), *(each for each in found if each in own)]
        return list(dict.fromkeys(found)) or [label]

    def _gathered(self, root: str) -> list[str]:
        """Returns the functions that are computed in a pass for a function."""
        if root not in self.passes or root != self.members[0]:
            return []
        return [name for name in self.members[1:] if name not in self.placed]


def _labels_of(op: dt.FuncOp) -> dict[str, None]:
    """Returns the labels of a function, those of its reductions among them, as they occur."""
    found = dict.fromkeys(op.label_names)
    for inner in operations_of(op, Operation):
        for name in LABELS:
            attr = inner.properties.get(name)
            if attr is not None and inner.dialect_name() == "dt":
                found.update(dict.fromkeys(_names(attr)))
    return found


def _names(attr: Attribute) -> tuple[str, ...]:
    if isinstance(attr, StringAttr):
        return (attr.data,)
    assert is_name_array(attr)
    return names(attr)


def _along(module: ModuleOp, functions: Collection[str]) -> list[set[str]]:
    """Returns the labels that walk each axis of what functions read, and of the functions."""
    found: dict[tuple[str, int], set[str]] = {}
    for op in module.ops:
        if isinstance(op, dt.InputOp) and op.axes is not None:
            for axis, label in enumerate(names(op.axes)):
                found.setdefault((op.sym_name.data, axis), set()).add(label)
        elif isinstance(op, dt.FuncOp) and op.sym_name.data in functions:
            for axis, label in enumerate(op.label_names):
                found.setdefault((op.sym_name.data, axis), set()).add(label)
            for read in operations_of(op, dt.ReadOp):
                for axis in range(0 if read.is_guarded else len(read.indices)):
                    label = read.label_alone(axis)
                    if label is not None:
                        found.setdefault((read.source_name, axis), set()).add(label)
    return [labels for labels in found.values() if len(labels) > 1]


def _needed(module: ModuleOp, functions: Mapping[str, dt.FuncOp]) -> list[str]:
    """Returns the functions that outputs need, these first, whatever the order of definitions."""
    found = [symbol_name(op.function) for op in module.ops if isinstance(op, dt.OutputOp)]
    for name in found:
        for read in operations_of(functions[name], dt.ReadOp):
            if read.source_name in functions and read.source_name not in found:
                found.append(read.source_name)
    return found


def _rename(module: ModuleOp, renamed: Mapping[str, str]) -> None:
    """Gives labels of functions, and of axes of inputs, other names."""

    def of(attr: Attribute) -> Attribute:
        if isinstance(attr, StringAttr):
            return StringAttr(renamed.get(attr.data, attr.data))
        return name_array([renamed.get(name, name) for name in _names(attr)])

    for op in operations_of(module, dt.InputOp, dt.FuncOp):
        if isinstance(op, dt.InputOp):
            if op.axes is not None:
                op.axes = name_array([renamed.get(name, name) for name in names(op.axes)])
            continue
        for inner in operations_of(op, Operation):
            if inner.dialect_name() == "dt":
                for name in LABELS:
                    if name in inner.properties:
                        inner.properties[name] = of(inner.properties[name])
