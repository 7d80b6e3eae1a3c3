"""The interface by which operations of other packages are printed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Protocol

from xdsl.ir import Operation

DESCRIPTOR = "triton.descriptor"
"""The attribute of accesses that go through descriptors."""
RANGE_OPTIONS = "triton.range"
"""The attribute of an `scf.for` that holds options of `tl.range`, a dictionary."""


class PrintsTriton(Protocol):
    """An operation in a `tile.kernel` that says itself how it is printed.

    It has one result. Passes between levels leave it alone, and interpreters do not know it.
    """

    def triton_expression(self, operands: Sequence[ast.expr]) -> ast.expr:
        """Returns the operation as an expression of Triton's language.

        Args:
            operands: the operands as expressions, in order.
        """
        ...


Printer = Callable[[Sequence[ast.expr]], ast.expr]


def triton_printer(op: Operation) -> Printer | None:
    """Returns how an operation prints itself; None for one that the emitter prints.

    Asking whether it is a `PrintsTriton` takes ten times as long.
    """
    printer: Printer | None = getattr(op, "triton_expression", None)
    return printer
