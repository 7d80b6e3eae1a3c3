"""Elementwise work: `tile.map`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.tile.formats import parse_result_type, print_result_type
from dt_mlir.dialects.tile.map_line import line_of, parse_line, print_line
from dt_mlir.dialects.tile.types import (
    TileType,
    axes_of,
    check_tile,
    common_layout,
    element_of,
    is_subsequence,
    layout_of,
    tile_type,
)
from dt_mlir.dialects.values import parse_value

SCALAR_DIALECTS = ("arith", "math", "elem")
"""The dialects whose operations the body of a `tile.map` may hold."""

@irdl_op_definition
class MapOp(IRDLOperation):
    """Elementwise work on tiles and scalars: the body computes one element.

    Operands lack the axes that they do not depend on, and are the same along them; the axes that
    they have are in the result's order. A body of one operation is written in one line, with its
    constants; a constant has the element type of the last operand where none is written.

    `%s = tile.map arith.select %mask, %x, -inf`, or with a body
    `%s = tile.map (%a = %x, %b = %y) { %c = arith.subf %a, %b : f32 … tile.yield %c : f32 }`.
    """

    name = "tile.map"
    GRAMMAR: ClassVar = (
        "scalar-op (variant `,`)? (value | number | `(` number `:` type `)`), … "
        "attr-dict (`:` type)? | tile.map `(` (value `=` value), … `)` (`->` type)? "
        "(`attributes` attr-dict)? region"
    )

    inputs = var_operand_def()
    """The tiles and scalars."""
    body = region_def("single_block")
    """Computes one element from theirs."""
    result = result_def(TileType)
    """The tile."""

    traits = traits_def(Pure(), IsolatedFromAbove())

    def __init__(self, inputs: Sequence[SSAValue], type: Attribute, body: Region) -> None:
        super().__init__(operands=[inputs], result_types=[type], regions=[body])

    @property
    def yielded(self) -> SSAValue:
        """The value that the body yields."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return last.value

    def verify_(self) -> None:
        axes = axes_of(self.result.type)
        args = self.body.block.args
        if len(args) != len(self.inputs):
            raise VerifyException("the body of a map takes one element of each operand")
        for arg, value in zip(args, self.inputs):
            check_tile(value.type)
            if arg.type != element_of(value.type):
                raise VerifyException(f"an element of {value.type} is not of type {arg.type}")
            if not is_subsequence(axes_of(value.type), axes):
                raise VerifyException(f"{value.type} does not broadcast to {self.result.type}")
        tiles = [value.type for value in self.inputs if axes_of(value.type)]
        if tiles and common_layout(tiles) != layout_of(self.result.type):
            raise VerifyException(f"a map of such operands is not held as {self.result.type}")
        last = self.body.block.last_op
        if not isinstance(last, YieldOp) or last.value.type != element_of(self.result.type):
            raise VerifyException("the body of a map must yield an element of its result")
        for op in self.body.block.ops:
            if op is not last and not _is_scalar(op.name):
                raise VerifyException(f"'{op.name}' cannot stand in the body of a map")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        place = parser.pos
        name = parser.parse_optional_identifier()
        return cls._parse_line(parser, name, place) if name else cls._parse_body(parser)

    @classmethod
    def _parse_line(cls, parser: Parser, name: str, place: int) -> Self:
        scalar = parser.ctx.get_optional_op(name) if _is_scalar(name) else None
        if scalar is None:
            parser.raise_error(f"'{name}' cannot stand in the body of a map", place)
        line = parse_line(parser, name)
        attributes = parser.parse_optional_attr_dict()
        values = line.values
        type = parse_result_type(parser, lambda: inferred_type(values, line.element), place)
        block, element = line.body(scalar, element_of(type))
        block.add_op(YieldOp(element))
        op = cls(values, type, Region(block))
        op.attributes.update(attributes)
        return op

    @classmethod
    def _parse_body(cls, parser: Parser) -> Self:
        def item() -> tuple[Parser.UnresolvedArgument, SSAValue]:
            arg = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            return arg, parse_value(parser)

        items = parser.parse_comma_separated_list(parser.Delimiter.PAREN, item)
        values = [value for _, value in items]
        type = parser.parse_type() if parser.parse_optional_punctuation("->") else None
        attributes = parser.parse_optional_attr_dict_with_keyword()
        place = parser.pos
        body = parser.parse_region([arg.resolve(element_of(value.type)) for arg, value in items])
        if type is None:
            last = body.blocks[0].last_op if body.blocks else None
            if not isinstance(last, YieldOp):
                parser.raise_error("the body of a map ends with 'tile.yield'", place)
            try:
                type = inferred_type(values, last.value.type)
            except VerifyException as error:
                parser.raise_error(f"{error}; write '-> !tile.of<…>' before the body", place)
        op = cls(values, type, body)
        op.attributes.update(attributes.data if attributes else {})
        return op

    def print(self, printer: Printer) -> None:
        # The locations of a body have no place in a line.
        line = None if printer.print_debuginfo else line_of(self.body.block, list(self.inputs))
        if line is not None:
            print_line(printer, line)
            printer.print_op_attributes(self.attributes)
            values, element = line.values, line.element
            print_result_type(printer, self.result.type, lambda: inferred_type(values, element))
            return

        def item(pair: tuple[SSAValue, SSAValue]) -> None:
            printer.print_ssa_value(pair[0])
            printer.print_string(" = ")
            printer.print_ssa_value(pair[1])

        printer.print_string(" (")
        printer.print_list(zip(self.body.block.args, self.inputs), item)
        printer.print_string(")")
        last = self.body.block.last_op
        element = last.value.type if isinstance(last, YieldOp) else self.result.type
        print_result_type(
            printer, self.result.type, lambda: inferred_type(self.inputs, element), " -> "
        )
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


def _is_scalar(name: str) -> bool:
    return name.split(".")[0] in SCALAR_DIALECTS


def inferred_type(values: Sequence[SSAValue], element: Attribute) -> Attribute:
    """Returns the type of a map of values: the axes are those of an operand that has all.

    Raises:
        VerifyException: where none has.
    """
    axes = [axes_of(value.type) for value in values]
    longest = max(axes, key=len, default=())
    if not longest or not all(is_subsequence(own, longest) for own in axes):
        raise VerifyException("no operand of the map has all axes of its result")
    return tile_type(element, longest, common_layout([value.type for value in values]))


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the body of a map with its element."""

    name = "tile.yield"

    value = operand_def()
    """The element."""

    assembly_format = "$value attr-dict `:` type($value)"
    traits = traits_def(IsTerminator(), HasParent(MapOp))

    def __init__(self, value: SSAValue) -> None:
        super().__init__(operands=[value])
