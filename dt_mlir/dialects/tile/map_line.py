"""The form of a `tile.map` whose body is one operation: `arith.select %mask, %x, -inf`.

The operation's operands are the map's, and numbers. A number has the element type of the last
operand that is none; any other type is written, in parentheses: `(0 : i64)`. So is the type of
the result's elements, unless it is that one too, or the operation compares.
"""

from __future__ import annotations

from math import nan
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr, i1, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.comparisons import PREDICATES
from dt_mlir.dialects.numbers import Number, constant, parse_optional_number, print_number
from dt_mlir.dialects.tile.types import element_of
from dt_mlir.dialects.values import parse_optional_value


class Line(NamedTuple):
    """An operation in one line, on values and constants."""

    name: str
    """The operation's name."""
    properties: dict[str, Attribute]
    """The comparison's predicate, or the name of an elementwise function."""
    operands: list[SSAValue | Number]
    """The values of the map that it works on, and constants."""

    @property
    def values(self) -> list[SSAValue]:
        """The operands of the map, each once."""
        return list(dict.fromkeys(item for item in self.operands if isinstance(item, SSAValue)))

    @property
    def element(self) -> Attribute:
        """The element type of the result, where none is written."""
        return i1 if self.name in PREDICATES else _last_element(self.operands)

    def body(self, cls: type[Operation], element: Attribute) -> tuple[Block, SSAValue]:
        """Builds the body of the map; gives it, without its end, and the element."""
        values = self.values
        block = Block(arg_types=[element_of(value.type) for value in values])
        operands: list[SSAValue] = []
        for item in self.operands:
            if isinstance(item, SSAValue):
                operands.append(block.args[values.index(item)])
            else:
                op = arith.ConstantOp(item)
                block.add_op(op)
                operands.append(op.result)
        op = cls.create(operands=operands, result_types=[element], properties=self.properties)
        block.add_op(op)
        return block, op.results[0]


def parse_line(parser: Parser, name: str) -> Line:
    """Parses what follows the name of an operation.

    Raises:
        ParseError: where there is no such comparison, or a number has no type.
    """
    place = parser.pos
    properties: dict[str, Attribute] = {}
    if name in PREDICATES:
        predicate = parser.parse_identifier("a comparison")
        if predicate not in PREDICATES[name]:
            known = ", ".join(PREDICATES[name])
            parser.raise_error(f"'{predicate}' is not a comparison of '{name}': {known}", place)
        number = PREDICATES[name].index(predicate)
        properties["predicate"] = IntegerAttr(number, i64)
        parser.parse_punctuation(",")
    elif name == "elem.apply":
        properties["function"] = StringAttr(parser.parse_identifier("a function"))
        parser.parse_punctuation(",")

    def item() -> SSAValue | tuple[int | float, Attribute | None]:
        value = parse_optional_value(parser)
        if value is not None:
            return value
        is_typed = parser.parse_optional_punctuation("(") is not None
        number = parse_optional_number(parser)
        if number is None:
            parser.raise_error("expected a value or a number, as in '%x' or '-inf'")
        if not is_typed:
            return number, None
        parser.parse_punctuation(":")
        type = parser.parse_type()
        parser.parse_punctuation(")")
        return number, type

    place = parser.pos
    items = parser.parse_comma_separated_list(parser.Delimiter.NONE, item)
    operands: list[SSAValue | Number] = []
    try:
        type = _last_element([item for item in items if isinstance(item, SSAValue)])
        for found in items:
            if isinstance(found, SSAValue):
                operands.append(found)
            else:
                operands.append(constant(found[0], found[1] or type))
    except VerifyException as error:
        parser.raise_error(str(error), place)
    return Line(name, properties, operands)


def line_of(body: Block, inputs: list[SSAValue]) -> Line | None:
    """Returns the line for the body of a map; None if it takes more than one.

    Args:
        body: the body.
        inputs: the operands of the map.
    """
    *constants, op, _ = [None, None, *body.ops]
    if op is None or len(op.results) != 1 or op.regions or op.attributes or not op.operands:
        return None
    known: dict[SSAValue, SSAValue] = dict(zip(body.args, inputs))
    operands: list[SSAValue | Number] = []
    folded: list[Operation | None] = [None, None]
    for operand in op.operands:
        if operand in known:
            operands.append(known[operand])
        elif isinstance(operand.owner, arith.ConstantOp) and not operand.owner.attributes:
            value = operand.owner.value
            if not isinstance(value, FloatAttr | IntegerAttr) or not _is_plain(value):
                return None
            operands.append(value)
            folded.append(operand.owner)
        else:
            return None
    line = Line(op.name, dict(op.properties), operands)
    # Where parsing would not build the same body, a line does not say it.
    if not inputs or folded != constants or line.values != inputs or not _is_sayable(op):
        return None
    return line


def _is_plain(value: Number) -> bool:
    """Returns whether the text of a constant says all of it: there are many NaNs."""
    number = value.value.data
    if not isinstance(number, float) or number == number:
        return True
    assert isinstance(value, FloatAttr)
    type = value.type
    return type.pack([number]) == type.pack([nan])


def _is_sayable(op: Operation) -> bool:
    """Returns whether a line says all properties of an operation."""
    if op.name in PREDICATES:
        predicate = op.properties.get("predicate")
        count = len(PREDICATES[op.name])
        if not isinstance(predicate, IntegerAttr) or not 0 <= predicate.value.data < count:
            return False
    if op.name == "elem.apply":
        return isinstance(op.properties.get("function"), StringAttr)
    bare = type(op).create(operands=op.operands, result_types=op.result_types)
    said = {"predicate"} if op.name in PREDICATES else set[str]()
    same = {n: a for n, a in op.properties.items() if n not in said} == bare.properties
    bare.drop_all_references()
    return same


def _last_element(operands: list[SSAValue | Number] | list[SSAValue]) -> Attribute:
    """Returns the element type of the last operand that is a value."""
    for item in reversed(operands):
        if isinstance(item, SSAValue):
            return element_of(item.type)
    raise VerifyException("a map works on a tile at least")


def print_line(printer: Printer, line: Line) -> None:
    """Prints an operation in one line."""
    printer.print_string(f" {line.name}")
    if line.name in PREDICATES:
        predicate = line.properties["predicate"]
        assert isinstance(predicate, IntegerAttr)
        printer.print_string(f" {PREDICATES[line.name][predicate.value.data]},")
    elif line.name == "elem.apply":
        function = line.properties["function"]
        assert isinstance(function, StringAttr)
        printer.print_string(f" {function.data},")
    printer.print_string(" ")
    type = _last_element(line.operands)

    def item(operand: SSAValue | Number) -> None:
        if isinstance(operand, SSAValue):
            printer.print_ssa_value(operand)
        elif operand.type == type:
            print_number(printer, operand)
        else:
            printer.print_string("(")
            print_number(printer, operand)
            printer.print_string(" : ")
            printer.print_attribute(operand.type)
            printer.print_string(")")

    printer.print_list(line.operands, item)
