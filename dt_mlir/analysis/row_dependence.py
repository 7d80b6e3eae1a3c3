"""Dependence of a row's result on how many rows there are.

Batch invariance: what a program computes for a row is the same, bit by bit, whatever the other rows
are, and however many (He et al., Defeating Nondeterminism in LLM Inference, 2025).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue

from dt_mlir.analysis.joined_labels import joined_labels
from dt_mlir.analysis.loop_program import LoopProgram
from dt_mlir.analysis.nests import walked_label, writes_of
from dt_mlir.dialects import loop
from dt_mlir.dialects.indices import symbol
from dt_mlir.traversal import operations, operations_of


class Dependence(NamedTuple):
    """A part of a program whose result depends on how many rows there are, or on other rows."""

    op: Operation
    """The operation that does."""
    reason: str
    """The part, and what it depends on."""
    remedy: str


def labels_of_rows(program: LoopProgram, label: str) -> set[str] | None:
    """Returns the labels whose sizes change with the number of rows, `label` among them.

    Args:
        program: the program.
        label: the label of the rows.

    Returns:
        The labels; None if the number of rows follows from other sizes by more than being equal.
    """
    same = program.host.first_of_same()
    definitions = [
        *program.host.definitions(),
        *(item for kernel in program.kernels for item in joined_labels(kernel)),
    ]
    found = {label}
    while True:
        roots = {same.get(name, name) for name in found}
        more = {name for name in program.labels() if same.get(name, name) in roots}
        for item in definitions:
            if found.intersection(item.sizes):
                more.add(item.label)
            if item.label in found and item.sizes:
                if list(item.map.results) == [symbol(0)]:
                    more.update(item.sizes)
                elif item.label == label or same.get(item.label) == same.get(label, label):
                    return None
        if more <= found:
            return found
        found |= more


def kernels_behind(
    program: LoopProgram, kernel: loop.KernelOp, label: str
) -> list[tuple[loop.KernelOp, str | None]]:
    """Returns a kernel, and those whose results it reads, directly or through others.

    Each comes with the label of its rows: that of the axis which the reader indexes by its own. It
    is None where a reader indexes none so, and every row is another one.

    Args:
        program: the program.
        kernel: the kernel.
        label: the label of its rows.
    """
    found: list[tuple[loop.KernelOp, str | None]] = [(kernel, label)]
    for one, row in found:
        for read in operations_of(one, loop.ReadOp):
            base = read.base
            if not isinstance(base, BlockArgument) or base not in one.args:
                continue
            name = one.argument_names[base.index]
            writer = program.kernel_of(name) or program.home_of(name)
            if writer is None:
                continue
            item = (writer, _row_behind(read, row, writer, name))
            if item not in found:
                found.append(item)
    return found


def _row_behind(
    read: loop.ReadOp, row: str | None, writer: loop.KernelOp, name: str
) -> str | None:
    """Returns the label of the axis of what a kernel writes that a read indexes by its row."""
    own = [
        axis
        for axis, index in enumerate(read.index_values())
        if isinstance(index, SSAValue) and walked_label(index) == row
    ]
    for write in writes_of(writer, name):
        for axis in own:
            index = write.index_values()[axis]
            if isinstance(index, SSAValue):
                return walked_label(index)
    return None


def dependences(
    kernel: loop.KernelOp, rows: set[str], row: str | None
) -> Iterator[Dependence]:
    """Returns the parts of a kernel that depend on how many rows there are, or on other rows.

    Args:
        kernel: a kernel with its final loops.
        rows: the labels whose sizes change with the number of rows.
        row: the one of them that numbers the kernel's rows.
    """
    for op in operations(kernel):
        match op:
            case loop.ReductionLoop() if op.label_name in rows:
                yield Dependence(
                    op, f"'{op.function_name}' is reduced over '{op.label_name}'",
                    "promise it of functions whose rows do not meet",
                )  # fmt: skip
            case loop.PrefixOp() if op.loop.label_name in rows:
                yield Dependence(
                    op, f"what is scanned over '{op.loop.label_name}' depends on the rows before",
                    "promise it of functions whose rows do not meet",
                )  # fmt: skip
            case loop.SizeOp() if op.label.data in rows:
                yield Dependence(
                    op, f"a value depends on len({op.label.data})",
                    "let rows depend on their own elements alone",
                )  # fmt: skip
            case loop.WriteOp() if _is_summed(op, kernel):
                yield Dependence(
                    op, "parts are added in memory in any order",
                    "leave out 'atomic': rfactor combines them in their order",
                )  # fmt: skip
            case loop.ReadOp() | loop.WriteOp():
                yield from _of_access(op, kernel, rows, row)
            case loop.LoopLike() if op.is_tile and op.label_name in rows and not op.step_size:
                yield Dependence(
                    op, f"a tile holds '{op.label_name}' whole, and changes with its size",
                    f"step it, as in tensorize({op.label_name}:16)",
                )  # fmt: skip
            case _:
                pass
        if isinstance(op, loop.ReductionLoop):
            yield from _of_products(op)


def _is_summed(op: loop.WriteOp, kernel: loop.KernelOp) -> bool:
    """Returns whether what is written is added to what other instances write."""
    if not isinstance(op.base, BlockArgument) or op.base not in kernel.args:
        return False
    return kernel.argument_names[op.base.index] in kernel.summed_names


def _of_products(op: loop.ReductionLoop) -> Iterator[Dependence]:
    """Returns products that are computed in another way where a row of their tile is not finite."""
    if op.domain is None or not op.is_tile:
        return
    products = (
        [inner for inner in op.running if inner.is_dot]
        if isinstance(op, loop.OnlineOp)
        else [op] if isinstance(op, loop.ReduceOp) and op.kind and op.is_dot else []
    )
    if products:
        yield Dependence(
            products[0],
            f"the product over '{op.label_name}' has conditions, and is summed by elements where "
            "some row of its tile is not finite",
            "write the conditions into the elements, as in "
            f"rdot(where(…, …, 0), …, {op.label_name})",
        )


def _of_access(
    op: loop.ReadOp | loop.WriteOp, kernel: loop.KernelOp, rows: set[str], row: str | None
) -> Iterator[Dependence]:
    if rows.intersection(op.size_labels):
        shown = ", ".join(f"len({label})" for label in op.size_labels if label in rows)
        yield Dependence(op, f"an index depends on {shown}", "index rows by their label alone")
    for label, index in zip(_axes(op.base, kernel), op.index_values()):
        if label not in rows:
            continue
        if not isinstance(index, SSAValue):
            yield Dependence(
                op, f"other rows are read: '{label}' is indexed by more than a label",
                "index rows by their label alone",
            )  # fmt: skip
        elif walked_label(index) != row:
            yield Dependence(
                op, f"other rows are read: '{label}' is indexed by '{walked_label(index)}', of "
                "which there are as many as rows", "index rows by their label alone",
            )  # fmt: skip


def _axes(base: SSAValue, kernel: loop.KernelOp) -> tuple[str, ...]:
    """Returns the labels of the axes of a tensor or a buffer."""
    if isinstance(base, BlockArgument) and isinstance(base.type, MemRefType):
        return kernel.axes_of(base)
    owner = base.owner
    return owner.label_names if isinstance(owner, loop.LocalOp) else ()
