"""The interface by which operations of other packages are printed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Protocol

from xdsl.ir import Operation, SSAValue

DESCRIPTOR = "triton.descriptor"
"""The attribute of accesses that go through descriptors."""
RANGE_OPTIONS = "triton.range"
"""The attribute of an `scf.for` that holds options of `tl.range`, a dictionary."""


class PrintsTriton(Protocol):
    """An operation in a `tile.kernel` that says itself how it is printed.

    It has one result. Passes between levels leave it alone. Interpreters and certificates know it
    where it prints as a hint on one of its operands, which it is then; see `HINTS`.
    """

    def triton_expression(self, operands: Sequence[ast.expr]) -> ast.expr:
        """Returns the operation as an expression of Triton's language.

        Args:
            operands: the operands as expressions, in order.
        """
        ...


HINTS = frozenset({"max_constancy", "max_contiguous", "multiple_of"})
"""The functions of Triton that return their first operand, of which they tell the compiler."""
Printer = Callable[[Sequence[ast.expr]], ast.expr]


def triton_printer(op: Operation) -> Printer | None:
    """Returns how an operation prints itself; None for one that the emitter prints.

    Asking whether it is a `PrintsTriton` takes ten times as long.
    """
    printer: Printer | None = getattr(op, "triton_expression", None)
    return printer


def hinted_operand(op: Operation) -> SSAValue | None:
    """Returns the operand that an operation prints a hint on; None if it prints as anything else.

    Args:
        op: any operation.
    """
    printer = triton_printer(op)
    if printer is None:
        return None
    shown: list[ast.expr] = [ast.Name(str(number)) for number in range(len(op.operands))]
    match printer(shown):
        case ast.Call(func=ast.Attribute(attr=name), args=[first, *_]) if name in HINTS:
            return op.operands[shown.index(first)] if first in shown else None
        case _:
            return None
