"""The text of operands without their types.

An operand is defined before it is used, so that its type is known where it is read.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer


def parse_optional_value(parser: Parser) -> SSAValue | None:
    """Parses a value that is defined above, if there is one."""
    operand = parser.parse_optional_unresolved_operand()
    if operand is None:
        return None
    values = parser.ssa_values.get(operand.operand_name)
    if values is None or operand.index >= len(values):
        parser.raise_error(f"'{operand.span.text}' is not defined above", operand.span)
    return values[operand.index]


def parse_value(parser: Parser) -> SSAValue:
    """Parses a value that is defined above."""
    return parser.expect(lambda: parse_optional_value(parser), "expected a value, as in '%x'")


def parse_values(parser: Parser) -> list[SSAValue]:
    """Parses `[%x, %y]`."""
    delimiter = parser.Delimiter.SQUARE
    return parser.parse_comma_separated_list(delimiter, lambda: parse_value(parser))


def print_values(printer: Printer, values: Sequence[SSAValue]) -> None:
    """Prints `[%x, %y]`."""
    with printer.in_square_brackets():
        printer.print_list(values, printer.print_ssa_value)
