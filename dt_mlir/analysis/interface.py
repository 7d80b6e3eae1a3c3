"""The interface of a module of any level: inputs, sizes, outputs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import (
    MemRefType,
    ModuleOp,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineConstantExpr
from xdsl.utils.disjoint_set import DisjointSet

from dt_mlir.analysis.algorithm_sizes import AlgorithmSizes, bounds_of, unlabelled_axis
from dt_mlir.analysis.equivalence import classes_of
from dt_mlir.analysis.lone_kernels import runnable_function
from dt_mlir.analysis.size_system import fit
from dt_mlir.diagnostics import CompileError, did_you_mean
from dt_mlir.dialects import dt, host
from dt_mlir.dialects.sizes import Bound, Definition
from dt_mlir.traversal import operations, operations_of

DEFAULT_SIZES = (37, 50, 67, 41, 35, 43)
"""The sizes that labels get one after the other where nothing is said: they divide nothing."""


@dataclass
class Input:
    """An input of a program."""

    name: str
    """Its name in the source."""
    element: Attribute
    """Its element type in memory."""
    axes: list[str | int] | None
    """The axes, each as its label or as an extent that is enough; None for a scalar."""


@dataclass
class Interface:
    """The parameters of a program: inputs, and the sizes of labels."""

    inputs: list[Input] = field(default_factory=list[Input])
    """The inputs in declared order."""
    labels: list[str] = field(default_factory=list[str])
    """All labels in declared order."""
    used: set[str] = field(default_factory=set[str])
    """Those that the outputs need."""
    groups: list[list[str]] = field(default_factory=list[list[str]])
    """The labels of each size."""
    least: dict[str, int] = field(default_factory=dict[str, int])
    """The least size of labels that need one."""
    fixed: dict[str, int] = field(default_factory=dict[str, int])
    """The sizes that the program is compiled for."""
    axis_only: set[str] = field(default_factory=set[str])
    """Labels that only name the size of an axis, as far as the module says."""
    definitions: list[Definition] = field(default_factory=list[Definition])
    """The sizes that follow from others, each after those that it depends on."""
    bounds: list[Bound] = field(default_factory=list[Bound])
    """The indices that must not leave an axis."""

    @staticmethod
    def of(module: ModuleOp) -> Interface:
        """Reads a module's interface.

        Raises:
            CompileError: if it has neither functions of the `dt` level nor kernels.
        """
        if any(isinstance(op, dt.FuncOp) for op in module.ops):
            return _of_algorithm(module)
        function = runnable_function(module)
        if function is not None:
            return _of_host(function)
        raise CompileError(
            "there is nothing to run: the module has neither a function of the 'dt' level nor a "
            "kernel", module,
        )  # fmt: skip

    def sizes(self, given: Mapping[str, int]) -> dict[str, int]:
        """A size for each label in use: the given ones, and others that divide nothing.

        Raises:
            CompileError: if a given label does not exist, or labels of one size get two.
        """
        for label in given:
            if label not in self.labels:
                raise CompileError(
                    f"there is no label '{label}' to give a size", None,
                    did_you_mean(label, self.labels),
                )  # fmt: skip
        found: dict[str, int] = {}
        for i, group in enumerate(self.groups):
            chosen = {given[label] for label in group if label in given}
            chosen |= {self.fixed[label] for label in group if label in self.fixed and not chosen}
            if len(chosen) > 1:
                raise CompileError(f"the labels {', '.join(group)} have one size")
            size = chosen.pop() if chosen else DEFAULT_SIZES[i % len(DEFAULT_SIZES)]
            found.update(dict.fromkeys(group, size))
        self.settle(found, {**found, **given}, given)
        for label, size in given.items():
            if found.get(label, size) != size:
                raise CompileError(
                    f"the size of '{label}' follows from others and is {found[label]}, not {size}",
                    None, "give the sizes of the tensors' axes that it depends on",
                )  # fmt: skip
        return found

    def derived(self) -> set[str]:
        """Returns the labels whose sizes follow from others."""
        defined = {item.label for item in self.definitions}
        return {label for group in self.groups if defined & set(group) for label in group}

    def settle(
        self, sizes: dict[str, int], wanted: Mapping[str, int], kept: Iterable[str] = ()
    ) -> None:
        """Gives labels the sizes that follow from others, and others such that indices fit.

        Args:
            sizes: a size for each label; free ones change where that helps.
            wanted: sizes that labels should have, if others can be chosen so.
            kept: labels whose sizes do not change.

        Raises:
            CompileError: if a size divides by one that is 0.
        """
        if not self.definitions and not self.bounds:
            return
        try:
            fit(sizes, wanted, self.definitions, self.bounds, self.groups, kept)
        except ZeroDivisionError:
            raise CompileError("the size of a label divides by one that is 0") from None

    def completed(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Returns sizes with those of labels that directives add: they follow from others, or are
        those of others."""
        found = dict(sizes)
        for group in self.groups:
            known = next((found[label] for label in group if label in found), None)
            if known is not None:
                found.update((label, known) for label in group if label not in found)
        for item in self.definitions:
            if item.label not in found:
                found[item.label] = item.value(found)
        return found

    def free_labels(self) -> list[str]:
        """The labels that no input axis is bound to, of those that the program uses."""
        bound = {a for item in self.inputs for a in item.axes or () if isinstance(a, str)}
        bound |= {item.label for item in self.definitions}
        return [
            group[0] for group in self.groups if not bound & set(group) and self.used & set(group)
        ]

    def check_sizes(self, sizes: Mapping[str, int]) -> None:
        """Checks that a program can run at these sizes.

        Raises:
            CompileError: at the first label whose size is too small, or not what it is fixed at.
        """
        for label, number in self.least.items():
            if label in self.used and sizes[label] < number:
                raise CompileError(f"'{label}' has size {sizes[label]}, but needs {number}")
        for item in self.definitions:
            try:
                value = item.value(sizes)
            except ZeroDivisionError:
                raise CompileError(f"the size of '{item.label}' divides by one that is 0") from None
            if value < 0:
                raise CompileError(f"the size of '{item.label}' is {value}: a tensor is too small")
            if value != sizes[item.label]:
                raise CompileError(
                    f"'{item.label}' has size {sizes[item.label]}, but {value} follows from others"
                )
        for bound in self.bounds:
            problem = bound.problem(sizes)
            if problem is not None:
                raise CompileError(problem)
        for label, number in self.fixed.items():
            if sizes.get(label, number) != number:
                raise CompileError(
                    f"'{label}' has size {sizes[label]}, but the program is compiled for {number}"
                )

    def least_of_groups(self, known: Collection[str]) -> dict[str, int]:
        """The least size of each group of labels that needs one, by the group's first label.

        Args:
            known: the labels to name groups by, as for `canonical`.
        """
        found: dict[str, int] = {}
        for group in self.groups:
            number = max((self.least.get(label, 0) for label in group), default=0)
            if number and self.used & set(group):
                found[min({*group} & {*known}, default=min(group))] = number
        return found

    def difference(self, other: Interface) -> str | None:
        """Describes a parameter that only one of two interfaces has; None if there is none."""
        ours, theirs = ({i.name: i for i in x.inputs} for x in (self, other))
        for name in {**ours, **theirs}:
            if name not in theirs:
                return f"the input '{name}' is gone"
            if name not in ours:
                return f"there is a new input '{name}'"
            before, after = ours[name], theirs[name]
            if before.element != after.element:
                return f"'{name}' has elements of {after.element}, and had {before.element}"
            if len(before.axes or ()) != len(after.axes or ()):
                return (
                    f"'{name}' has {len(after.axes or ())} axes, and had {len(before.axes or ())}"
                )
        groups = [
            sorted(sorted(self.used & set(group)) for group in x.groups if self.used & set(group))
            for x in (self, other)
        ]
        if groups[0] != groups[1]:
            shown = ["; ".join(" = ".join(g) for g in found) for found in groups]
            return f"labels have one size where '{shown[1]}', and had where '{shown[0]}'"
        # Labels of joined loops are those of a schedule.
        followed = [
            {d.label: d for d in x.definitions if d.label in self.used} for x in (self, other)
        ]
        if followed[0] != followed[1]:
            return "sizes of labels follow from others in another way"
        both = {*self.labels} & {*other.labels}
        checked = [{x.canonical(bound, both) for bound in x.bounds} for x in (self, other)]
        if checked[0] != checked[1]:
            return "other indices are checked"
        needs = [x.least_of_groups(both) for x in (self, other)]
        if needs[0] != needs[1]:
            return f"the least sizes of labels are {needs[1]}, and were {needs[0]}"
        return None

    def canonical(self, bound: Bound, known: Collection[str]) -> Bound:
        """Returns the check of an index with the first label of each size, and without a reason.

        Args:
            bound: the check.
            known: the labels to choose from, as those that two interfaces have.
        """
        first = {
            label: min((name for name in group if name in known), default=label)
            for group in self.groups for label in group
        }  # fmt: skip

        def of(labels: Iterable[str]) -> tuple[str, ...]:
            return tuple(first.get(label, label) for label in labels)

        (label,) = of([bound.label])
        return bound._replace(reason="", label=label, over=of(bound.over), sizes=of(bound.sizes))

    def shape(self, item: Input, sizes: Mapping[str, int]) -> list[int]:
        """The extents of an input's axes."""
        return [sizes[axis] if isinstance(axis, str) else axis for axis in item.axes or ()]


def _of_algorithm(module: ModuleOp) -> Interface:
    """The interface of the `dt` level, found without the lowering, which is checked against it."""
    return _Algorithm(module).interface()


class _Algorithm:
    """Collects what the functions that the outputs of a `dt` module need ask of their inputs."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self.functions = {op.sym_name.data: op for op in module.ops if isinstance(op, dt.FuncOp)}
        labels = [op for op in module.ops if isinstance(op, dt.LabelOp)]
        self.labels = [op.sym_name.data for op in labels]
        self.same = DisjointSet(self.labels)
        self.axes: dict[str, list[str | int]] = {
            op.sym_name.data: [] for op in module.ops if isinstance(op, dt.InputOp)
        }
        self.least: dict[str, int] = {}
        self.used: set[str] = set()
        self.bounded: list[tuple[dt.ReadOp, int]] = []
        self.bounds: list[Bound] = []
        self.numbers: list[tuple[str, int, int]] = []
        self.needed = self._needed()
        self.sizes = AlgorithmSizes.of(labels, self.needed)
        for op in module.ops:
            if isinstance(op, dt.InputOp) and op.axis_labels is not None:
                self.axes[op.sym_name.data] = [label or 1 for label in op.axis_labels]

    def interface(self) -> Interface:
        for function in self.needed:
            for op in operations(function):
                self._visit(op)
        for read, axis in self.bounded:
            self._bound(read, axis)
        for name, axis, number in self.numbers:
            self._read_at_number(name, axis, number)
        inputs = [
            Input(
                op.sym_name.data, op.element,
                None if op.is_scalar else self.axes[op.sym_name.data],
            )
            for op in self.module.ops
            if isinstance(op, dt.InputOp)
        ]  # fmt: skip
        definitions = self.sizes.needed(self.used, self.axes, self.same.find)
        self.used.update(label for item in definitions for label in (item.label, *item.sizes))
        named = {label for axes in self.axes.values() for label in axes if isinstance(label, str)}
        self.used.update(named & self._axis_only())
        # A label that only the schedule has, as one of a joined loop, has no size before that.
        labels = [label for label in self.labels if label in self.used or label in named]
        bounds = [bound for bound in self.bounds if not bound.is_implied(self.same.find)]
        return Interface(
            inputs, self.labels, self.used, classes_of(self.same, labels), self.least, {},
            self._axis_only(), definitions, bounds,
        )  # fmt: skip

    def _axis_only(self) -> set[str]:
        ops = (op for op in self.module.ops if isinstance(op, dt.LabelOp))
        return {op.sym_name.data for op in ops if op.axis is not None}

    def _needed(self) -> list[dt.FuncOp]:
        """The functions that the outputs need."""
        needed: dict[str, None] = {}
        pending = output_names(self.module)
        while pending:
            name = pending.pop()
            if name in self.functions and name not in needed:
                needed[name] = None
                reads = operations_of(self.functions[name], dt.ReadOp)
                pending += [op.source_name for op in reads]
        return [self.functions[name] for name in needed]

    def _visit(self, op: Operation) -> None:
        match op:
            case dt.FuncOp():
                self.used.update(op.label_names)
            case dt.ReduceOp():
                self.used.update(op.used_labels)
                for label in op.label_names if op.needs_elements else ():
                    self.least[label] = max(self.least.get(label, 0), 1)
            case dt.IndexOp() | dt.SizeOp() | dt.ClampOp():
                self.used.add(op.label.data)
            case dt.ReadOp():
                self._read(op)
            case _:
                pass

    def _read(self, op: dt.ReadOp) -> None:
        source = op.source_name
        if source in self.axes and not self.axes[source]:
            # What nothing reads has no axes that matter.
            self.axes[source] = [1] * len(op.map.data.results)
        known: list[str | int] = (
            list(self.functions[source].label_names)
            if source in self.functions
            else self.axes[source]
        )
        self.used.update(op.size_labels)
        for axis, expr in enumerate(op.indices):
            first = known[axis]
            label = self.sizes.sizing_label(op, axis, first)
            if op.is_guarded or (label is None and not isinstance(expr, AffineConstantExpr)):
                self.bounded.append((op, axis))
            elif isinstance(expr, AffineConstantExpr):
                self.numbers.append((source, axis, expr.value + 1))
            elif isinstance(first, int):
                assert label is not None
                known[axis] = label
            else:
                assert label is not None
                self.same.union(first, label)

    def _bound(self, read: dt.ReadOp, axis: int) -> None:
        """Notes what a read asks of the size of an axis."""
        function = self.functions.get(read.source_name)
        axes = self.axes[read.source_name] if function is None else function.label_names
        label = axes[axis]
        if not isinstance(label, str):
            raise unlabelled_axis(read, axis)
        self.bounds += bounds_of(read, axis, label)

    def _read_at_number(self, name: str, axis: int, number: int) -> None:
        """Notes that an axis is read at a number, which makes it as large as that at least."""
        function = self.functions.get(name)
        label = self.axes[name][axis] if function is None else function.label_names[axis]
        if isinstance(label, str):
            self.least[label] = max(self.least.get(label, 0), number)
        else:
            self.axes[name][axis] = max(label, number)


def _of_host(function: host.FuncOp) -> Interface:
    labels = list(function.label_names)
    same = function.first_of_same()
    groups: dict[str, list[str]] = {}
    for label in labels:
        groups.setdefault(same.get(label, label), []).append(label)
    least: dict[str, int] = {}
    for item in function.nonempty or ():
        least[item.label.data] = max(least.get(item.label.data, 0), item.size.data)
    inputs: list[Input] = []
    for value, name, names, minimums in function.arguments():
        type = value.type
        if not isinstance(type, MemRefType | UnrankedMemRefType):
            inputs.append(Input(name, type, None))
            continue
        axes: list[str | int] = []
        for label, number in zip(names, minimums):
            axes.append(label or max(1, number))
            if label and number:
                least[label] = max(least.get(label, 0), number)
        inputs.append(Input(name, type.element_type, axes))
    fixed = function.fixed_sizes()
    return Interface(
        inputs, labels, set(labels), list(groups.values()), least, fixed, set(),
        function.definitions(), function.bounds(),
    )  # fmt: skip


def output_names(module: ModuleOp) -> list[str]:
    """The outputs' names, in the order in which they are returned."""
    found = [op.function.root_reference.data for op in module.ops if isinstance(op, dt.OutputOp)]
    if found:
        return found
    function = runnable_function(module)
    if function is None:
        return []
    return [host.tensor_name(value) for value in function.returned()]
