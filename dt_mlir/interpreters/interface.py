"""What a module takes and gives, at whatever level it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from dt_mlir.diagnostics import CompileError, did_you_mean
from dt_mlir.dialects import dt, host
from dt_mlir.host_part import HostPart, value_name

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
    """For each axis its label, or an extent that is enough; None for a scalar."""


@dataclass
class Interface:
    """What a program takes: inputs, and the sizes of labels."""

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

    @staticmethod
    def of(module: ModuleOp) -> Interface:
        """Read a module's interface.

        Raises:
            CompileError: if it has neither functions of the `dt` level nor a host function.
        """
        for op in module.ops:
            if isinstance(op, dt.FuncOp):
                return _of_algorithm(module)
        for op in module.ops:
            if isinstance(op, func.FuncOp):
                return _of_host(op)
        raise CompileError(
            "there is nothing to run: the module has neither a function of the 'dt' level nor a "
            "host function", module,
        )  # fmt: skip

    def sizes(self, given: Mapping[str, int]) -> dict[str, int]:
        """A size for each label: the given ones, and others that divide nothing.

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
        return found

    def free_labels(self) -> list[str]:
        """The labels that no input axis is bound to, of those that the program uses."""
        bound = {a for item in self.inputs for a in item.axes or () if isinstance(a, str)}
        return [
            group[0] for group in self.groups if not bound & set(group) and self.used & set(group)
        ]

    def shape(self, item: Input, sizes: Mapping[str, int]) -> list[int]:
        """The extents of an input's axes."""
        return [sizes[axis] if isinstance(axis, str) else axis for axis in item.axes or ()]


def _of_algorithm(module: ModuleOp) -> Interface:
    from dt_mlir.passes.convert_dt_to_loop import label_groups, least_sizes, used_labels

    axes: dict[str, list[str | int]] = {}
    for op in module.ops:
        if isinstance(op, dt.InputOp):
            rank = len(op.type.get_shape()) if isinstance(op.type, TensorType) else 0
            axes[op.sym_name.data] = [1] * rank
    least = dict(least_sizes(module))
    numbers: dict[tuple[str, int], int] = {}
    for op in _needed_operations(module):
        if not isinstance(op, dt.ReadOp) or op.source_name not in axes:
            continue
        known = axes[op.source_name]
        for axis, expr in enumerate(op.map.data.results):
            if isinstance(expr, AffineDimExpr) and isinstance(known[axis], int):
                known[axis] = op.used_labels[expr.position]
            elif isinstance(expr, AffineConstantExpr):
                place = (op.source_name, axis)
                numbers[place] = max(numbers.get(place, 0), expr.value + 1)
    for (name, axis), number in numbers.items():
        label = axes[name][axis]
        if isinstance(label, str):
            least[label] = max(least.get(label, 0), number)
        else:
            axes[name][axis] = max(label, number)
    return Interface(
        [
            Input(op.sym_name.data, op.element, None if op.is_scalar else axes[op.sym_name.data])
            for op in module.ops
            if isinstance(op, dt.InputOp)
        ],
        [op.sym_name.data for op in module.ops if isinstance(op, dt.LabelOp)],
        set(used_labels(module)),
        label_groups(module),
        least,
    )


def _needed_operations(module: ModuleOp) -> Iterator[Operation]:
    """The operations of the functions that the outputs need."""
    from dt_mlir.passes.convert_dt_to_loop import needed_functions

    needed = needed_functions(module)
    for function in module.ops:
        if isinstance(function, dt.FuncOp) and function.sym_name.data in needed:
            yield from function.walk()


def _of_host(function: func.FuncOp) -> Interface:
    part = HostPart.of(function)
    labels = part.strings(host.LABELS)
    same = part.same()
    groups: dict[str, list[str]] = {}
    for label in labels:
        groups.setdefault(same.get(label, label), []).append(label)
    least: dict[str, int] = {}
    conditions = function.attributes.get(host.NONEMPTY)
    for item in conditions if isinstance(conditions, ArrayAttr) else ():
        assert isinstance(item, DictionaryAttr)
        label, number = item.data["label"], item.data["least"]
        assert isinstance(label, StringAttr)
        assert isinstance(number, IntegerAttr)
        least[label.data] = max(least.get(label.data, 0), number.value.data)
    inputs: list[Input] = []
    for value, name, names, attrs in part.inputs:
        type = value.type
        if not isinstance(type, MemRefType | UnrankedMemRefType):
            inputs.append(Input(name, type, None))
            continue
        minimums = attrs.data.get(host.MINIMUMS)
        numbers = [m.value.data for m in minimums] if isinstance(minimums, ArrayAttr) else []  # pyright: ignore
        axes: list[str | int] = []
        for axis, label in enumerate(names):
            number = int(numbers[axis]) if numbers else 0
            axes.append(label or max(1, number))
            if label and number:
                least[label] = max(least.get(label, 0), number)
        inputs.append(Input(name, type.element_type, axes))
    return Interface(inputs, labels, set(labels), list(groups.values()), least, part.fixed_sizes())


def output_names(module: ModuleOp) -> list[str]:
    """The outputs' names, in the order in which they are returned."""
    found = [op.function.root_reference.data for op in module.ops if isinstance(op, dt.OutputOp)]
    if found:
        return found
    for op in module.ops:
        if isinstance(op, func.FuncOp):
            return [value_name(value) or "" for value in HostPart.of(op).outputs]
    return []
