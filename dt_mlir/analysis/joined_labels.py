"""Labels of joined loops: their sizes, which follow from those of the labels that they join."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import AffineExpr, AffineMap

from dt_mlir.analysis.nests import loop_of
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import host, loop
from dt_mlir.dialects.indices import multiply, print_index_text, symbol
from dt_mlir.dialects.kernel import KernelOp
from dt_mlir.dialects.sizes import Definition
from dt_mlir.traversal import operations_of


def joined_label(label: str, labels: Sequence[str]) -> Definition:
    """Returns the size of the label of a joined loop: the product of those of other labels."""
    size: AffineExpr = symbol(0)
    for number in range(1, len(labels)):
        size = multiply(size, symbol(number))
    return Definition(label, AffineMap(0, len(labels), (size,)), tuple(labels), False)


def joined_labels(kernel: KernelOp) -> list[Definition]:
    """Returns the sizes of the labels of joined loops in a kernel.

    Raises:
        CompileError: if two loops over one label join different labels.
    """
    found: dict[str, Definition] = {}
    for op in operations_of(kernel, loop.DelinearizeOp):
        definition = joined_label(loop_of(op.index).label_name, op.label_names)
        if found.setdefault(definition.label, definition) != definition:
            others = ", ".join(found[definition.label].sizes)
            raise CompileError(
                f"the label '{definition.label}' joins {', '.join(definition.sizes)} here, and "
                f"{others} elsewhere", op, "give each joined loop a label of its own",
            )  # fmt: skip
    return list(found.values())


def check_joined_labels(kernel: loop.KernelOp, function: host.FuncOp | None) -> None:
    """Checks that joined loops make a trip for each point of the loops that they join.

    Raises:
        CompileError: if the host function says another size.
    """
    for item in joined_labels(kernel):
        if function is not None and item not in function.definitions():
            size = print_index_text(item.map.results[0], [], item.sizes)
            raise CompileError(
                f"the host function does not say that '{item.label}' has the size of "
                f"{', '.join(item.sizes)} together", kernel,
                f"write 'host.define {item.label} size {size}'",
            )  # fmt: skip
