"""Pieces of assembly format: types of results that are inferred.

Operands of the `tile` dialect are defined before they are used, so that their types are known
where they are read. The type of a result is written where it cannot be inferred from them.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.lexer import Position


def parse_result_type(
    parser: Parser, infer: Callable[[], Attribute], place: Position
) -> Attribute:
    """Parses `: type`, or infers the type where none is written; `place` is where operands are."""
    if parser.parse_optional_punctuation(":"):
        return parser.parse_type()
    try:
        return infer()
    except VerifyException as error:
        parser.raise_error(f"{error}; a result's type is written as ': !tile.of<x, f32>'", place)


def print_result_type(
    printer: Printer, type: Attribute, infer: Callable[[], Attribute], mark: str = " : "
) -> None:
    """Prints the type of a result, behind a mark, where it cannot be inferred."""
    try:
        if infer() == type:
            return
    except VerifyException:
        pass
    printer.print_string(mark)
    printer.print_attribute(type)
