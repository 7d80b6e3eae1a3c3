"""How operations of other packages reach the emitted text."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

RANGE_OPTIONS = "triton.range"
"""The attribute of an `scf.for` that holds options of `tl.range`, a dictionary."""


@runtime_checkable
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
