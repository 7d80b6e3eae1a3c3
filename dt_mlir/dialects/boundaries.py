"""The text and the verifier of boundary conditions of reads, at every level."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from dt_mlir.boundary_conditions import BOUNDARIES, CONSTANT
from dt_mlir.callables import load_others
from dt_mlir.dialects.numbers import Number, constant, parse_optional_number, print_number


class Boundary(NamedTuple):
    """A parsed boundary condition."""

    kind: StringAttr | None
    value: int | float | None
    place: int

    def finish(self, parser: Parser, type: Attribute) -> tuple[StringAttr | None, Number | None]:
        """Returns the properties of a read of a type."""
        if self.value is None:
            return self.kind, None
        try:
            return self.kind, constant(self.value, type)
        except VerifyException as error:
            parser.raise_error(str(error), self.place)


def parse_boundary(parser: Parser) -> Boundary:
    """Parses a boundary condition, if there is one."""
    load_others()
    for name in BOUNDARIES:
        if parser.parse_optional_keyword(name):
            value, place = None, parser.pos
            if name == CONSTANT:
                value = parser.expect(lambda: parse_optional_number(parser), "expected a number")
            return Boundary(StringAttr(name), value, place)
    return Boundary(None, None, parser.pos)


def print_boundary(printer: Printer, kind: StringAttr | None, exterior: Number | None) -> None:
    """Prints ` constant_exterior 0.0`; nothing without a condition."""
    if kind is not None:
        printer.print_string(f" {kind.data}")
    if exterior is not None:
        printer.print_string(" ")
        print_number(printer, exterior)


def check_boundary(kind: StringAttr | None, exterior: Number | None, type: Attribute) -> None:
    """Checks the boundary condition of a read.

    Args:
        kind: the condition.
        exterior: the value out of bounds.
        type: the type of an element.

    Raises:
        VerifyException: if there is no such condition, or it has no value of the type.
    """
    if kind is not None and kind.data not in BOUNDARIES:
        known = ", ".join(BOUNDARIES)
        raise VerifyException(f"'{kind.data}' is not a boundary condition: there are {known}")
    if (exterior is not None) != (kind is not None and kind.data == CONSTANT):
        raise VerifyException(f"a read has an exterior value under '{CONSTANT}', and only there")
    if exterior is not None and exterior.type != type:
        raise VerifyException(f"the exterior value must be of type {type}")
