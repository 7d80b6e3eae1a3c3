"""The functions and tensors of a module of the `dt` level, and the host function of its kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnrankedMemRefType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr
from xdsl.utils.disjoint_set import DisjointSet

from dt_mlir.analysis.algorithm_sizes import AlgorithmSizes, bounds_of, unlabelled_axis
from dt_mlir.analysis.equivalence import classes_of
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import dt, host, loop
from dt_mlir.dialects.formats import name_array
from dt_mlir.dialects.identifiers import value_hint
from dt_mlir.dialects.indices import simple_index
from dt_mlir.dialects.sizes import Bound, Definition
from dt_mlir.frontend.analysis import OUTPUT_DIRECTIVES
from dt_mlir.frontend.printer import print_declarations, print_definition, print_directive
from dt_mlir.frontend.raising import raise_module
from dt_mlir.traversal import operations, operations_of


class AlgorithmProgram:
    """The state of the conversion of some operations of the `dt` level.

    Args:
        ops: inputs, functions, outputs and labels, in program order; others are left aside.
        shifted: the shifted labels of a program of which the operations are a part, as
            `shifted_labels` gives them; None if they are all of it.

    Raises:
        CompileError: if definitions form a cycle, or an index is out of bounds.
    """

    def __init__(
        self, ops: Sequence[Operation], shifted: set[tuple[str, int, str]] | None = None
    ) -> None:
        self.inputs = {op.sym_name.data: op for op in ops if isinstance(op, dt.InputOp)}
        self.functions = {op.sym_name.data: op for op in ops if isinstance(op, dt.FuncOp)}
        self.outputs = [op for op in ops if isinstance(op, dt.OutputOp)]
        labels = [op for op in ops if isinstance(op, dt.LabelOp)]
        self.labels = [op.sym_name.data for op in labels]
        self.same = DisjointSet(self.labels)
        self.axes: dict[str, list[str]] = {}
        self.minimums: dict[str, list[int]] = {}
        self.conditions: list[tuple[str, int, str]] = []
        self.bounded: list[tuple[dt.ReadOp, int]] = []
        self.bounds: list[Bound] = []
        self._labels: dict[str, set[str]] = {}
        for name, op in self.inputs.items():
            if op.axis_labels is not None:
                self.axes[name] = list(op.axis_labels)
        self.order = self._needed()
        needed = map(self.functions.__getitem__, self.order)
        self.sizes = AlgorithmSizes.of(labels, needed, shifted)
        scalars = [name for name, op in self.inputs.items() if op.is_scalar]
        self._places = {name: i for i, name in enumerate([*self.tensors(), *scalars])}
        for name in self.order:
            self._constrain(self.functions[name])
        # All reads that name axes are known now.
        for read, axis in self.bounded:
            self.bounds += bounds_of(read, axis, self.axis_label(read, axis))

    def reads(self, op: Operation) -> list[dt.ReadOp]:
        return operations_of(op, dt.ReadOp)

    def _needed(self) -> list[str]:
        """The functions that the outputs need, each after those that it reads."""
        done: dict[str, None] = {}
        places = {name: i for i, name in enumerate(self.functions)}

        def visit(name: str, path: tuple[str, ...]) -> None:
            if name in path:
                raise CompileError(
                    f"the definitions form a cycle: {' -> '.join([*path, name])}",
                    self.functions[name],
                )
            if name in done:
                return
            read = {r.source_name for r in self.reads(self.functions[name])}
            for other in sorted(read & places.keys(), key=places.__getitem__):
                visit(other, (*path, name))
            done[name] = None

        for output in self.outputs:
            visit(output.function.root_reference.data, ())
        return list(done)

    def _constrain(self, function: dt.FuncOp) -> None:
        for read in self.reads(function):
            source = self.functions.get(read.source_name)
            rank = len(read.map.data.results)
            known = self.axes.setdefault(
                read.source_name, list(source.label_names) if source else [""] * rank
            )
            least = self.minimums.setdefault(read.source_name, [0] * rank)
            for axis, expr in enumerate(read.indices):
                label = self.sizes.sizing_label(read, axis, known[axis])
                if read.is_guarded or (label is None and not isinstance(expr, AffineConstantExpr)):
                    self.bounded.append((read, axis))
                elif isinstance(expr, AffineConstantExpr):
                    least[axis] = max(least[axis], expr.value + 1)
                    if source is not None:
                        shown = host.shown_indices(axis, expr.value, rank)
                        what = f"reading {read.source_name}[{shown}]"
                        self.conditions.append((known[axis], expr.value + 1, what))
                else:
                    assert label is not None
                    known[axis] = known[axis] or label
                    self.same.union(known[axis], label)
        for op in operations(function):
            if isinstance(op, dt.ReduceOp) and op.needs_elements:
                what = f"{op.kind.data} in '{function.sym_name.data}'"
                self.conditions.extend((label, 1, what) for label in op.label_names)

    def axis_label(self, read: dt.ReadOp, axis: int) -> str:
        """The label of an axis of what is read.

        Raises:
            CompileError: if it has none.
        """
        name = read.source_name
        source = self.functions.get(name)
        labels = self.axes[name] if source is None else source.label_names
        if not labels[axis]:
            raise unlabelled_axis(read, axis)
        return labels[axis]

    def labels_of(self, function: dt.FuncOp) -> set[str]:
        """The labels that a function uses, those of sizes too."""
        name = function.sym_name.data
        if name not in self._labels:
            self._labels[name] = self._labels_in(function)
        return self._labels[name]

    def _labels_in(self, function: dt.FuncOp) -> set[str]:
        used = set(function.label_names)
        for op in operations(function):
            match op:
                case dt.ReduceOp():
                    used.update(op.used_labels)
                case dt.SizeOp() | dt.IndexOp() | dt.ClampOp():
                    used.add(op.label.data)
                case dt.ReadOp():
                    used.update(op.size_labels)
                    if op.is_guarded or is_conditional(op):
                        used.update(
                            self.axis_label(op, i)
                            for i, expr in enumerate(op.indices)
                            if op.is_guarded or not isinstance(expr, AffineConstantExpr)
                        )
                case _:
                    pass
        return used

    def definitions(self) -> list[Definition]:
        """The sizes that follow from others, of labels that the outputs need."""
        used = {label for name in self.order for label in self.labels_of(self.functions[name])}
        axes = {name: self.axes.get(name, []) for name in self.inputs}
        return self.sizes.needed(used, axes, self.same.find)

    def used_labels(self) -> list[str]:
        """The labels that the needed functions use, in declared order."""
        used = {label for name in self.order for label in self.labels_of(self.functions[name])}
        for item in self.definitions():
            used.update((item.label, *item.sizes))
        used.update(label for name in self.inputs for label in self.axes.get(name, ()) if label)
        return [label for label in self.labels if label in used]

    def tensors(self) -> list[str]:
        """Tensors in the order of a kernel's pointers: inputs, then functions as defined."""
        inputs = [name for name, op in self.inputs.items() if not op.is_scalar]
        needed = set(self.order)
        return [*inputs, *(name for name in self.functions if name in needed)]

    def in_argument_order(self, names: Iterable[str]) -> list[str]:
        """Tensors, then scalars in declared order."""
        return sorted(names, key=self._places.__getitem__)

    def memref_of(self, name: str) -> Attribute:
        """The type of a tensor in memory."""
        if name in self.functions:
            function = self.functions[name]
            return host.memory_type(function.element, len(function.labels))
        op = self.inputs[name]
        if op.is_scalar:
            return op.element
        if op.rank is None or name not in self.axes:
            return UnrankedMemRefType.from_type(op.element)
        return host.memory_type(op.element, op.rank)

    def axis_labels(self, name: str) -> list[str]:
        """The labels of a tensor's axes."""
        if name in self.functions:
            return list(self.functions[name].label_names)
        return self.axes.get(name, [])


def is_conditional(read: dt.ReadOp) -> bool:
    """Returns whether an index of a read may be out of bounds outside of a domain around it.

    One that is a label or a number is in bounds everywhere. Others are where all domains around
    hold, whichever labels these restrict.
    """
    if all(simple_index(expr) is not None or not expr.used_dims() for expr in read.indices):
        return False
    parent = read.parent_op()
    while isinstance(parent, dt.ReduceOp):
        if parent.constraints:
            return True
        parent = parent.parent_op()
    return False


class Source(NamedTuple):
    """The program's text, which is asked for before its functions are taken apart."""

    algorithm: list[str]
    compiled: list[str]
    labels: list[str]
    definitions: list[Definition]


def source_of(program: AlgorithmProgram, module: ModuleOp | None = None) -> Source:
    """Returns the program's text; the text itself is empty where its module is not given."""
    algorithm: list[str] = []
    compiled: list[str] = []
    if module is not None:
        tree = raise_module(module)
        algorithm += print_declarations(tree.declarations)
        algorithm += map(print_definition, tree.definitions)
        compiled += [print_directive(d) for d in tree.directives if d.name in OUTPUT_DIRECTIVES]
    return Source(algorithm, compiled, program.used_labels(), program.definitions())


def host_function(
    program: AlgorithmProgram, source: Source, kernels: Sequence[loop.KernelOp], name: str
) -> host.FuncOp:
    inputs = list(program.inputs)
    inputs.sort(key=lambda n: program.inputs[n].is_scalar)
    types = [program.memref_of(n) for n in inputs]
    block = Block(arg_types=types)
    values: dict[str, SSAValue] = dict(zip(inputs, block.args))
    for n, value in values.items():
        value.name_hint = value_hint(n)
    for item in source.definitions:
        block.add_op(host.DefineOp(item))
    for bound in dict.fromkeys(program.bounds):
        if not bound.is_implied(program.same.find):
            block.add_op(host.InBoundsOp(bound))
    sizes: dict[str, SSAValue] = {}
    labels = [label for f in program.order for label in program.functions[f].label_names]
    for label in program.labels:
        if label in labels:
            op = host.SizeOp(label)
            op.result.name_hint = value_hint(label)
            block.add_op(op)
            sizes[label] = op.result
    for n in program.tensors():
        if n not in program.functions:
            continue
        function = program.functions[n]
        extents = [sizes[label] for label in function.label_names]
        alloc = host.AllocOp(n, function.label_names, extents, function.element)
        alloc.location = function.location
        alloc.result.name_hint = value_hint(n)
        block.add_op(alloc)
        values[n] = alloc.result
    for kernel in kernels:
        launch = host.LaunchOp(kernel.sym_name.data, [values[n] for n in kernel.argument_names])
        launch.location = kernel.location
        block.add_op(launch)
    outputs = [values[o.function.root_reference.data] for o in program.outputs]
    block.add_op(host.ReturnOp(outputs))
    arguments = [_argument(program, n) for n in inputs]
    op = host.FuncOp(
        name, arguments, Region(block), source.labels, source.algorithm, source.compiled
    )
    op.location = program.outputs[0].location
    classes = classes_of(program.same, program.labels)
    same = [name_array(c) for c in classes if len(c) > 1]
    if same:
        op.same = ArrayAttr(same)
    if program.conditions:
        unique = dict.fromkeys(program.conditions)
        op.nonempty = ArrayAttr([host.AtLeastAttr(*condition) for condition in unique])
    op.kernel_only = program.outputs[0].kernel_only
    return op


def _argument(program: AlgorithmProgram, name: str) -> DictionaryAttr:
    attrs: dict[str, Attribute] = {host.NAME: StringAttr(name)}
    attrs[host.AXES] = name_array(program.axis_labels(name))
    minimums = program.minimums.get(name, [])
    if any(minimums):
        attrs[host.MINIMUMS] = ArrayAttr([IntegerAttr(m, i64) for m in minimums])
    return DictionaryAttr(attrs)
