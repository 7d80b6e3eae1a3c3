"""Sizes of labels in the `dt` dialect: which reads size them, and what reads must satisfy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from dt_mlir.analysis.size_system import in_order
from dt_mlir.boundary_conditions import CONSTANT
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import dt
from dt_mlir.dialects.indices import dimension, number, print_index_text, substitute, symbol
from dt_mlir.dialects.sizes import Bound, Definition


@dataclass
class AlgorithmSizes:
    """The sizes that the labels of a module have by themselves."""

    definitions: list[Definition]
    """Each after those that it depends on."""
    inferred: set[str]
    """The labels whose sizes follow from reads."""

    @staticmethod
    def of(module: ModuleOp) -> AlgorithmSizes:
        """Collects the sizes of a module of the `dt` level.

        Raises:
            CompileError: if they form a cycle, or depend on what is not a label.
        """
        labels = {op.sym_name.data: op for op in module.ops if isinstance(op, dt.LabelOp)}
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
        return AlgorithmSizes(ordered, {item.label for item in ordered if item.inferred})

    def sizing_label(self, read: dt.ReadOp, expr: AffineExpr) -> str | None:
        """Returns the label that an index is by itself, so that it has the size of its axis.

        It is None for a value, and for a label whose size follows from its reads.
        """
        labels = read.used_labels
        if not isinstance(expr, AffineDimExpr) or expr.position >= len(labels):
            return None
        label = labels[expr.position]
        return None if label in self.inferred else label

    def needed(
        self, used: Iterable[str], axes: Mapping[str, Sequence[str | int]]
    ) -> list[Definition]:
        """Returns the definitions of labels that are used, and those that these depend on.

        Args:
            used: the labels that functions use.
            axes: the axes of inputs, whose labels are used too.
        """
        wanted = {*used, *(a for found in axes.values() for a in found if isinstance(a, str))}
        kept: list[Definition] = []
        for item in reversed(self.definitions):
            if item.label in wanted:
                kept.append(item)
                wanted.update(item.sizes)
        return kept[::-1]


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
    if read.is_guarded or any(position >= count for position in expr.used_dims()):
        own = isinstance(expr, AffineDimExpr) and (*labels, "")[expr.position] == label
        if own or (read.boundary is not None and read.boundary.data == CONSTANT):
            return []
        # The element that is read instead must exist.
        expr = number(0)
    over = scope_of(read)
    dims = [dimension(over.index(name)) for name in labels]
    dims += [dimension(0)] * len(read.values)
    symbols = [symbol(i) for i in range(len(read.size_labels))]
    shown = ", ".join(
        print_index_text(index, [*labels, *("_" for _ in read.values)], read.size_labels)
        for index in read.indices
    )
    reason = f"reading {read.source_name}[{shown}]"
    sizes = list(read.size_labels)
    constraints: list[AffineExpr] = []
    parent = read.parent_op()
    while isinstance(parent, dt.ReduceOp):
        constraints += _constraints_over(parent, over, sizes)
        parent = parent.parent_op()
    index = substitute(expr, dims, symbols)
    return [Bound(index, over, tuple(sizes), label, reason, tuple(constraints))]


def _constraints_over(
    op: dt.ReduceOp, over: Sequence[str], sizes: list[str]
) -> list[AffineExpr]:
    """Returns the constraints of a domain in terms of some labels; adds to the labels of sizes."""
    sizes += [label for label in op.size_labels if label not in sizes]
    dims = [dimension(over.index(label)) for label in op.constrained_labels]
    symbols = [symbol(sizes.index(label)) for label in op.size_labels]
    return [substitute(expr, dims, symbols) for expr in op.constraints]


def unlabelled_axis(read: dt.ReadOp, axis: int) -> CompileError:
    """Returns the error that an axis whose size a read depends on has no label."""
    name = read.source_name
    return CompileError(
        f"axis {axis} of '{name}' has no label", read,
        f"name its axes, as in 'dt.input @{name}[x, …]'",
    )  # fmt: skip
