"""Sizes of labels in the `dt` dialect: which reads size them, and what reads must satisfy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from dt_mlir.analysis.size_system import in_order
from dt_mlir.boundary_conditions import CONSTANT
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import dt
from dt_mlir.dialects.indices import (
    compacted,
    dimension,
    number,
    print_index_text,
    shifted_dims,
    substitute,
    symbol,
)
from dt_mlir.dialects.sizes import Bound, Definition
from dt_mlir.traversal import operations, operations_of


@dataclass
class AlgorithmSizes:
    """The sizes that the labels of a program have by themselves."""

    definitions: list[Definition]
    """Each after those that it depends on."""
    inferred: set[str]
    """The labels whose sizes follow from reads."""
    of_axes: set[str]
    """The labels that only name the size of an input's axis."""
    shifted: set[tuple[str, int, str]]
    """The labels that occur plus or times something in an index of an axis of a tensor."""
    declared: dict[str, dt.LabelOp]
    """The operations that declare labels."""

    @staticmethod
    def of(
        declared: Iterable[dt.LabelOp],
        functions: Iterable[dt.FuncOp],
        shifted: set[tuple[str, int, str]] | None = None,
    ) -> AlgorithmSizes:
        """Collects the sizes of labels of the `dt` level.

        Args:
            declared: the operations that declare labels.
            functions: the functions that the outputs need.
            shifted: the shifted labels of a program of which these are a part; None to find them
                in these functions.

        Raises:
            CompileError: if they form a cycle, or depend on what is not a label.
        """
        labels = {op.sym_name.data: op for op in declared}
        found: list[Definition] = []
        for name, op in labels.items():
            for other in op.used_sizes:
                if other not in labels:
                    raise CompileError(f"'{other}' is not a label", op)
            if op.size is not None:
                inferred = op.inferred is not None
                found.append(Definition(name, op.size.data, op.used_sizes, inferred))
        ordered = in_order(found)
        if isinstance(ordered, str):
            raise CompileError(f"the size of '{ordered}' depends on itself", labels[ordered])
        of_axes = {name for name, op in labels.items() if op.axis is not None}
        inferred = {item.label for item in ordered if item.inferred}
        if shifted is None:
            shifted = shifted_labels(functions)
        return AlgorithmSizes(ordered, inferred, of_axes, shifted, labels)

    def sizing_label(self, read: dt.ReadOp, number: int, axis: str | int) -> str | None:
        """Returns the label that an index is by itself, so that it has the size of its axis.

        It is None for a value, for a label whose size follows from its reads, for one that is
        shifted in another read of the axis, and for an axis whose size has a label of its own.

        Args:
            read: a read.
            number: the number of the axis.
            axis: the label of the axis, as far as it is known.
        """
        labels, expr = read.used_labels, read.indices[number]
        if not isinstance(expr, AffineDimExpr) or expr.position >= len(labels):
            return None
        label = labels[expr.position]
        if (read.source_name, number, label) in self.shifted:
            return None
        return None if label in self.inferred or axis in self.of_axes else label

    def needed(
        self,
        used: Iterable[str],
        axes: Mapping[str, Sequence[str | int]],
        first_of: Callable[[str], str],
    ) -> list[Definition]:
        """Returns the definitions of labels that are used, and those that these depend on.

        Args:
            used: the labels that functions use.
            axes: the axes of inputs, whose labels are used too.
            first_of: gives the first of the labels that have the size of a label.

        Raises:
            CompileError: if a size depends on itself, as one that another label has too.
        """
        wanted = {*used, *(a for found in axes.values() for a in found if isinstance(a, str))}
        kept: list[Definition] = []
        for item in reversed(self.definitions):
            if item.label in wanted:
                kept.append(item)
                wanted.update(item.sizes)
        ordered = in_order(kept[::-1], first_of)
        if isinstance(ordered, str):
            raise CompileError(
                f"the size of '{ordered}' depends on itself, as other labels have the same size",
                self.declared[ordered],
                f"declare '{ordered}' without a size, or read no axis by both labels",
            )
        return ordered


def shifted_labels(functions: Iterable[dt.FuncOp]) -> set[tuple[str, int, str]]:
    """Returns the labels that occur plus or times something in an index of an axis of a tensor:
    the tensor, the number of the axis and the label of each."""
    return {
        (read.source_name, axis, label)
        for function in functions
        for read in operations_of(function, dt.ReadOp) if not read.is_guarded
        for axis, expr in enumerate(read.indices)
        for dim in shifted_dims(expr)
        for label in read.used_labels[dim : dim + 1]
    }  # fmt: skip


def scope_of(read: dt.ReadOp) -> tuple[str, ...]:
    """Returns the labels for whose indices a read is evaluated, outermost first."""
    found: list[str] = []
    parent: Operation | None = read.parent_op()
    while parent is not None:
        if isinstance(parent, dt.ReduceOp | dt.FuncOp):
            found[:0] = parent.label_names
        parent = parent.parent_op()
    return tuple(dict.fromkeys(found))


def bounds_of(read: dt.ReadOp, axis: int, label: str) -> list[Bound]:
    """Returns the conditions under which a read of an axis is in bounds.

    Args:
        read: a read.
        axis: the axis.
        label: its label.
    """
    expr = read.indices[axis]
    labels, count = read.used_labels, len(read.used_labels)
    moved = read.is_guarded or any(position >= count for position in expr.used_dims())
    if moved:
        own = isinstance(expr, AffineDimExpr) and label in labels[expr.position : expr.position + 1]
        if own or (read.boundary is not None and read.boundary.data == CONSTANT):
            return []
        # The element that is read instead must exist. It is read outside of domains, too, where no
        # mask says that nothing is.
        expr = number(0)
    # What depends on few of the labels around is computed before the loops over the others, even
    # if those make no trip.
    needed = {*labels, *_labels_behind(read.values)}
    over = tuple(label for label in scope_of(read) if label in needed)
    dims = [dimension(over.index(name)) for name in labels]
    dims += [number(0)] * len(read.values)
    symbols = [symbol(i) for i in range(len(read.size_labels))]
    shown = ", ".join(
        print_index_text(index, [*labels, *("_" for _ in read.values)], read.size_labels)
        for index in read.indices
    )
    reason = f"reading {read.source_name}[{shown}]"
    sizes = list(read.size_labels)
    constraints: list[AffineExpr] = []
    parent = read.parent_op()
    while isinstance(parent, dt.ReduceOp) and not moved:
        constraints += _constraints_over(parent, over, sizes)
        parent = parent.parent_op()
    index = substitute(expr, dims, symbols)
    return [Bound(index, over, tuple(sizes), label, reason, tuple(constraints))]


def _labels_behind(values: Sequence[SSAValue]) -> set[str]:
    """Returns the labels that data depends on, reduced ones too."""
    found: set[str] = set()
    pending = [value.owner for value in values]
    while pending:
        op = pending.pop()
        if not isinstance(op, Operation):
            continue
        for inner in operations(op):
            if isinstance(inner, dt.ReadOp):
                found.update(inner.used_labels)
            elif isinstance(inner, dt.IndexOp):
                found.add(inner.label.data)
            pending += [value.owner for value in inner.operands]
    return found


def _constraints_over(
    op: dt.ReduceOp, over: Sequence[str], sizes: list[str]
) -> list[AffineExpr]:
    """Returns the constraints of a domain on some labels alone; adds to the labels of sizes."""
    found: list[AffineExpr] = []
    for expr in op.constraints:
        needed = compacted([expr])
        labels = op.constrained_labels
        # What a value is, is not known before the launch.
        if any(i >= len(labels) or labels[i] not in over for i in needed.dims):
            continue
        own = [op.size_labels[i] for i in needed.symbols]
        sizes += [label for label in own if label not in sizes]
        dims = [dimension(over.index(op.constrained_labels[i])) for i in needed.dims]
        symbols = [symbol(sizes.index(label)) for label in own]
        found.append(substitute(needed.results[0], dims, symbols))
    return found


def unlabelled_axis(read: dt.ReadOp, axis: int) -> CompileError:
    """Returns the error that an axis whose size a read depends on has no label."""
    name = read.source_name
    return CompileError(
        f"axis {axis} of '{name}' has no label", read,
        f"name its axes, as in 'dt.input @{name}[x, …]'",
    )  # fmt: skip
