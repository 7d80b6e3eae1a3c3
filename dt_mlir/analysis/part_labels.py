"""Labels that number the parts of others: their sizes, which follow from those of the others."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block
from xdsl.ir.affine import AffineMap

from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import host, loop
from dt_mlir.dialects.indices import add, number, quotient, symbol
from dt_mlir.dialects.sizes import Definition
from dt_mlir.traversal import operations_of


def part_label(label: str, whole: str, count: int | None, length: int) -> Definition:
    """Returns the size of a label that numbers the parts of another one.

    Args:
        label: the label.
        whole: the label whose parts it numbers.
        count: the number of parts, if it is given.
        length: the number of indices of a part, if that is given.
    """
    if count is not None:
        return Definition(label, AffineMap(0, 0, (number(count),)), (), False)
    size = quotient(add(symbol(0), number(length - 1)), number(length))
    return Definition(label, AffineMap(0, 1, (size,)), (whole,), False)


def whole_part(label: str, whole: str, count: int) -> Definition:
    """Returns the size of a label that has the indices of a part of another one.

    Args:
        label: the label.
        whole: the label that is cut into parts.
        count: the number of parts.
    """
    size = quotient(add(symbol(0), number(count - 1)), number(count))
    return Definition(label, AffineMap(0, 1, (size,)), (whole,), False)


def check_part_labels(kernel: loop.KernelOp, function: host.FuncOp | None) -> None:
    """Checks that the parts of labels are numbered by the indices of loops that walk all of them.

    Parts that another function reduces have the steps that they have there.

    Raises:
        CompileError: at a part that is not, or where the host function says another size.
    """
    known = None if function is None else function.definitions()
    for op in operations_of(kernel, loop.PartOp):
        owner = op.index.owner
        around = owner.parent_op() if isinstance(owner, Block) else None
        if not isinstance(around, loop.ForOp):
            raise CompileError("the number of a part is the index of a 'loop.for'", op)
        if op.function is not None:
            _check_steps(kernel, op, op.function.data)
        if known is not None and op.whole is not None and op.parts is not None:
            named = whole_part(op.whole.data, op.label.data, op.parts)
            if named not in known:
                raise CompileError(
                    f"the label '{named.label}' has the size of a part of '{op.label.data}', and "
                    "the host function gives it another size", op,
                    f"give it one index for each {op.parts} of '{op.label.data}'",
                )  # fmt: skip
        wanted = part_label(around.label_name, op.label.data, op.parts, op.step_size)
        if known is not None and wanted not in known:
            raise CompileError(
                f"the label '{around.label_name}' numbers the parts of '{op.label.data}', and the "
                "host function gives it another size",
                op,
                f"give it {op.parts} indices" if op.parts is not None else
                f"give it one index for each {op.step_size} of '{op.label.data}'",
            )  # fmt: skip


def parts_as(
    kernels: Iterable[loop.KernelOp], function: str
) -> list[tuple[loop.KernelOp, loop.PartOp]]:
    """Returns the parts that are those which a function reduces, with the kernels they are in.

    Args:
        kernels: the kernels of a program.
        function: the function.
    """
    return [
        (kernel, op)
        for kernel in kernels
        for op in operations_of(kernel, loop.PartOp)
        if op.function is not None and op.function.data == function
    ]


def _check_steps(kernel: loop.KernelOp, op: loop.PartOp, function: str) -> None:
    """Checks that parts are those that another function reduces.

    Raises:
        CompileError: if they are not.
    """
    module = kernel.parent_op()
    others = [] if module is None else [
        other for other in operations_of(module, loop.PartOp)
        if other.function is None and _walks(other, function)
    ]  # fmt: skip
    if not others:
        raise CompileError(
            f"no kernel of the module reduces the parts of '{op.label.data}' for '{function}'", op
        )
    for other in others:
        if (op.label, op.count, op.step, op.whole) != (
            other.label, other.count, other.step, other.whole
        ):  # fmt: skip
            raise CompileError(
                f"these are not the parts of '{other.label.data}' that '{function}' reduces",
                op,
                "give both the same number and step",
            )


def _walks(part: loop.PartOp, function: str) -> bool:
    """Returns whether a part's number is the index of a function's loop."""
    owner = part.index.owner
    around = owner.parent_op() if isinstance(owner, Block) else None
    return isinstance(around, loop.ForOp) and around.function_name == function
