"""The format of numbers in IR: with the fewest digits that mean the same, `inf`, `-inf`, `nan`."""

from __future__ import annotations

from math import inf, isinf, isnan, nan

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

Number = FloatAttr | IntegerAttr
"""A constant of the IR."""


def parse_optional_number(parser: Parser) -> int | float | None:
    """Parses a number, if there is one: `1.5`, `-3`, `true`, `inf`, `-inf`, `nan`."""
    negative = parser.parse_optional_punctuation("-") is not None
    if parser.parse_optional_keyword("inf"):
        number = inf
    elif parser.parse_optional_keyword("nan"):
        number = nan
    else:
        boolean = None if negative else parser.parse_optional_boolean()
        number = parser.parse_optional_number(allow_boolean=False) if boolean is None else boolean
    if number is None:
        return parser.raise_error("expected a number after '-'") if negative else None
    return -number if negative else number


def constant(number: int | float, type: Attribute) -> Number:
    """Returns a number as a constant of a type.

    Raises:
        VerifyException: if the type does not hold it.
    """
    if isinstance(type, AnyFloat) and not isinstance(number, bool):
        return FloatAttr(float(number), type)
    if isinstance(type, IntegerType | IndexType) and isinstance(number, int):
        return IntegerAttr(int(number), type)
    shown = str(number).lower() if isinstance(number, bool) else number
    raise VerifyException(f"{shown} is not of type {type}")


def print_number(printer: Printer, attr: Number) -> None:
    """Prints a constant without its type; a float with the fewest digits that mean the same."""
    if isinstance(attr, IntegerAttr):
        number = attr.value.data
        printer.print_string(str(number) if attr.type != i1 else str(number != 0).lower())
        return
    value, type = attr.value.data, attr.type
    if isnan(value):
        printer.print_string("nan")
    elif isinf(value):
        printer.print_string("inf" if value > 0 else "-inf")
    else:
        shown = (f"{value:.{digits}g}" for digits in range(1, 18))
        text = next(text for text in shown if FloatAttr(float(text), type) == attr)
        digits, exponent, power = text.partition("e")
        printer.print_string(f"{digits if '.' in digits else digits + '.0'}{exponent}{power}")
