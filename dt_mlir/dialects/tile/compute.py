"""Reductions, products, and changes of the axes of tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import IndexType, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.dt import check_reduction
from dt_mlir.dialects.elem import ReductionKind, ReductionKindAttr
from dt_mlir.dialects.identifiers import Identifier
from dt_mlir.dialects.tile.formats import parse_result_type, print_result_type
from dt_mlir.dialects.tile.types import (
    Axis,
    TileType,
    axes_of,
    axis_names,
    check_tile,
    element_of,
    is_subsequence,
    layout_of,
    tile_type,
)
from dt_mlir.dialects.values import parse_value, parse_values, print_values
from dt_mlir.element_types import compute_type


@irdl_op_definition
class ReduceOp(IRDLOperation):
    """Reduces a tile along one axis.

    `tile.reduce add %a along x apart`: where the parts of a tile are computed apart, as by groups
    of warps, each part may have a result of its own. It decides between ways to compute the same.
    """

    name = "tile.reduce"
    GRAMMAR: ClassVar = "kind value `along` axis-name `apart`? attr-dict"

    kind = prop_def(ReductionKindAttr)
    """The combination of two elements; not `dot`, `argmax` or `argmin`."""
    value = operand_def(TileType)
    """The tile."""
    axis = prop_def(Identifier)
    """The axis that is reduced."""
    apart = opt_prop_def(UnitAttr)
    """Present where each part of the tile may have a result of its own."""
    result = result_def()
    """The tile without it."""

    traits = traits_def(Pure())

    def __init__(
        self, kind: ReductionKind, value: SSAValue, axis: str, apart: bool = False
    ) -> None:
        super().__init__(
            operands=[value],
            properties={
                "kind": ReductionKindAttr(kind), "axis": StringAttr(axis),
                "apart": UnitAttr() if apart else None,
            },
            result_types=[_without(value.type, axis)],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind, (value,), axis = _parse_along(parser, 1)
        op = cls(kind, value, axis, parser.parse_optional_keyword("apart") is not None)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        _print_along(printer, self.kind, [self.value], self.axis)
        if self.apart is not None:
            printer.print_string(" apart")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        kind = self.kind.data
        if kind is ReductionKind.DOT or kind.is_arg:
            raise VerifyException(f"'{kind}' has an operation of its own")
        _check_reduced(self.value.type, self.axis.data, self.result.type)
        check_reduction(kind, [element_of(self.value.type)], element_of(self.result.type))


@irdl_op_definition
class ScanOp(IRDLOperation):
    """Combines the elements of a tile along one axis up to each of them, itself included.

    `tile.scan add %a along x`; with `reverse` the elements from each on. Triton:
    `associative_scan`.

    With a factor for each element, `%h, %p = tile.scan add %b by %a along x`, a sum is multiplied
    by that before its element is added; the second result is the product of the factors up to
    each element. Pairs of a product and a sum are combined, which is associative:
    (a, b), (c, d) are (ac, bc + d).
    """

    name = "tile.scan"
    GRAMMAR: ClassVar = "kind value (`by` value)? `along` axis-name `reverse`? attr-dict"

    kind = prop_def(ReductionKindAttr)
    """The combination of two elements; not `dot`, `argmax` or `argmin`."""
    value = operand_def(TileType)
    """The tile."""
    factor = opt_operand_def(TileType)
    """The factors of the sums before each element."""
    axis = prop_def(Identifier)
    """The axis along which elements are combined."""
    reverse = opt_prop_def(UnitAttr)
    """Present where elements are combined from the last one on."""
    result = result_def()
    """A tile of the same axes."""
    products = opt_result_def()
    """The products of the factors."""

    traits = traits_def(Pure())

    def __init__(
        self,
        kind: ReductionKind,
        value: SSAValue,
        axis: str,
        reverse: bool = False,
        factor: SSAValue | None = None,
    ) -> None:
        super().__init__(
            operands=[value, factor],
            properties={
                "kind": ReductionKindAttr(kind),
                "axis": StringAttr(axis),
                "reverse": UnitAttr() if reverse else None,
            },
            result_types=[value.type, None if factor is None else factor.type],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind = ReductionKindAttr.parse_parameter(parser)
        value = parse_value(parser)
        factor = parse_value(parser) if parser.parse_optional_keyword("by") else None
        parser.parse_keyword("along")
        axis = parser.parse_identifier("an axis")
        reverse = parser.parse_optional_keyword("reverse") is not None
        op = cls(kind, value, axis, reverse, factor)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} ")
        printer.print_ssa_value(self.value)
        if self.factor is not None:
            printer.print_string(" by ")
            printer.print_ssa_value(self.factor)
        printer.print_string(f" along {self.axis.data}")
        if self.reverse is not None:
            printer.print_string(" reverse")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        kind = self.kind.data
        if kind is ReductionKind.DOT or kind.is_arg:
            raise VerifyException(f"'{kind}' is not combined up to each element")
        check_tile(self.value.type)
        if self.axis.data not in axis_names(self.value.type):
            raise VerifyException(f"there is no axis '{self.axis.data}' to combine along")
        if self.result.type != self.value.type:
            raise VerifyException("the result is a tile of the operand's type")
        if (self.factor is None) is not (self.products is None):
            raise VerifyException("the products are those of factors")
        if self.factor is not None and self.products is not None:
            if kind is not ReductionKind.ADD or self.factor.type != self.value.type:
                raise VerifyException("sums are multiplied by factors of their elements' type")
            if self.products.type != self.factor.type:
                raise VerifyException("the products are a tile of the factors' type")
        element = element_of(self.value.type)
        check_reduction(kind, [element], element)


@irdl_op_definition
class ArgReduceOp(IRDLOperation):
    """Finds the extreme element of a tile along one axis, and its index: the first of equals.

    NaN is more extreme than any number.
    """

    name = "tile.arg_reduce"
    GRAMMAR: ClassVar = "kind value `,` value `along` axis-name attr-dict"

    kind = prop_def(ReductionKindAttr)
    """`argmax` or `argmin`."""
    value = operand_def(TileType)
    """The tile."""
    index = operand_def(TileType)
    """Its elements' indices, i64, of the same axes."""
    axis = prop_def(Identifier)
    """The axis that is reduced."""
    extreme = result_def()
    """The extreme elements."""
    position = result_def()
    """Their indices."""

    traits = traits_def(Pure())

    def __init__(self, kind: ReductionKind, value: SSAValue, index: SSAValue, axis: str) -> None:
        super().__init__(
            operands=[value, index],
            properties={"kind": ReductionKindAttr(kind), "axis": StringAttr(axis)},
            result_types=[_without(value.type, axis), _without(index.type, axis)],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind, (value, index), axis = _parse_along(parser, 2)
        op = cls(kind, value, index, axis)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        _print_along(printer, self.kind, [self.value, self.index], self.axis)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if not self.kind.data.is_arg:
            raise VerifyException(f"'{self.kind.data}' gives no index")
        _check_reduced(self.value.type, self.axis.data, self.extreme.type)
        _check_reduced(self.index.type, self.axis.data, self.position.type)
        if axes_of(self.value.type) != axes_of(self.index.type):
            raise VerifyException("elements and indices must have the same axes")
        if element_of(self.index.type) != i64 or element_of(self.position.type) != i64:
            raise VerifyException("an index is an 'i64'")
        if element_of(self.extreme.type) != element_of(self.value.type):
            raise VerifyException("an extreme element has the elements' type")


@irdl_op_definition
class DotOp(IRDLOperation):
    """A product of matrices, or of a batch of them, added to an accumulator where there is one.

    The axes of `lhs` are (batch…, m, k), those of `rhs` (batch…, k, n), those of the result
    (batch…, m, n).
    """

    name = "tile.dot"
    GRAMMAR: ClassVar = "value `,` value (`acc` value)? attr-dict (`:` type)?"

    lhs = operand_def(TileType)
    """The left matrix."""
    rhs = operand_def(TileType)
    """The right matrix, of the same element type."""
    acc = opt_operand_def(TileType)
    """The accumulator, to which the product is added."""
    result = result_def(TileType)
    """The product, in the type that the elements are computed in."""

    traits = traits_def(Pure())

    def __init__(self, lhs: SSAValue, rhs: SSAValue, acc: SSAValue | None, type: Attribute) -> None:
        super().__init__(operands=[lhs, rhs, acc], result_types=[type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        place = parser.pos
        lhs = parse_value(parser)
        parser.parse_punctuation(",")
        rhs = parse_value(parser)
        acc = parse_value(parser) if parser.parse_optional_keyword("acc") else None
        attributes = parser.parse_optional_attr_dict()
        op = cls(lhs, rhs, acc, parse_result_type(parser, lambda: _product(lhs, rhs), place))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list([self.lhs, self.rhs], printer.print_ssa_value)
        if self.acc is not None:
            printer.print_string(" acc ")
            printer.print_ssa_value(self.acc)
        printer.print_op_attributes(self.attributes)
        print_result_type(printer, self.result.type, lambda: _product(self.lhs, self.rhs))

    def verify_(self) -> None:
        product = _product(self.lhs, self.rhs)
        if axes_of(self.result.type) != axes_of(product):
            raise VerifyException("the result of a dot has the axes (batch…, m, n)")
        check_reduction(
            ReductionKind.DOT,
            [element_of(self.lhs.type), element_of(self.rhs.type)],
            element_of(self.result.type),
        )
        if self.acc is not None and self.acc.type != self.result.type:
            raise VerifyException("the accumulator of a dot has its result's type")


class _SpreadOp(IRDLOperation):
    """An operation that gives a value axes along which it is the same."""

    GRAMMAR: ClassVar = "value attr-dict `:` type"

    value = operand_def()
    """The value."""
    result = result_def(TileType)
    """The tile."""

    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, type: Attribute) -> None:
        super().__init__(operands=[value], result_types=[type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parse_value(parser)
        attributes, type = _parse_end(parser)
        op = cls(value, type)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        _print_end(printer, self)


@irdl_op_definition
class FillOp(_SpreadOp):
    """A tile that holds one scalar throughout."""

    name = "tile.fill"

    def verify_(self) -> None:
        check_tile(self.result.type)
        if self.value.type != element_of(self.result.type):
            raise VerifyException("a tile is filled with a scalar of its element type")


@irdl_op_definition
class BroadcastOp(_SpreadOp):
    """Gives a tile axes along which it is the same."""

    name = "tile.broadcast"

    def verify_(self) -> None:
        check_tile(self.value.type)
        check_tile(self.result.type)
        if element_of(self.value.type) != element_of(self.result.type) or not is_subsequence(
            axes_of(self.value.type), axes_of(self.result.type)
        ):
            raise VerifyException(f"{self.value.type} does not broadcast to {self.result.type}")


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """A tile with its axes in another order."""

    name = "tile.transpose"
    GRAMMAR: ClassVar = "value `to` `[` axis-name, … `]` attr-dict"

    value = operand_def(TileType)
    """The tile."""
    result = result_def(TileType)
    """The tile with its axes in the result's order."""

    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, axes: Sequence[Axis]) -> None:
        super().__init__(operands=[value], result_types=[tile_type(element_of(value.type), axes)])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parse_value(parser)
        parser.parse_keyword("to")
        place = parser.pos
        names = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_identifier)
        known = {axis.name: axis for axis in axes_of(value.type)}
        if sorted(names) != sorted(known):
            parser.raise_error(f"expected the axes {', '.join(known)} in some order", place)
        op = cls(value, [known[name] for name in names])
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(f" to [{', '.join(axis_names(self.result.type))}]")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        check_tile(self.value.type)
        check_tile(self.result.type)
        if sorted(axes_of(self.value.type), key=str) != sorted(
            axes_of(self.result.type), key=str
        ) or element_of(self.value.type) != element_of(self.result.type):
            raise VerifyException("a transpose keeps the elements and the axes")


@irdl_op_definition
class RenameOp(IRDLOperation):
    """A tile whose axes stand for other loops of the same extents.

    Where what one loop produced is consumed by another, one axis takes the place of the other:
    the elements keep their places, and what lies beyond the new axis' bound is gone.
    """

    name = "tile.rename"
    GRAMMAR: ClassVar = "value `to` `[` values `]` attr-dict `:` type"

    value = operand_def(TileType)
    """The tile."""
    ranges = var_operand_def(TileType)
    """The ranges of the axes that take the others' places."""
    result = result_def(TileType)
    """The tile with renamed axes, in the same order."""

    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, ranges: Sequence[SSAValue], axes: Sequence[Axis]) -> None:
        super().__init__(
            operands=[value, ranges],
            result_types=[tile_type(element_of(value.type), axes)],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parse_value(parser)
        parser.parse_keyword("to")
        ranges = parse_values(parser)
        attributes, type = _parse_end(parser)
        op = cls(value, ranges, axes_of(type))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(" to ")
        print_values(printer, self.ranges)
        _print_end(printer, self)

    def verify_(self) -> None:
        check_tile(self.value.type)
        check_tile(self.result.type)
        before = [axis.extent for axis in axes_of(self.value.type)]
        after = [axis.extent for axis in axes_of(self.result.type)]
        if before != after or element_of(self.value.type) != element_of(self.result.type):
            raise VerifyException("renaming axes keeps the elements and the extents")
        ranges = {axis for value in self.ranges for axis in axes_of(value.type)}
        if not set(axes_of(self.result.type)) <= {*axes_of(self.value.type), *ranges}:
            raise VerifyException("renaming needs the range of each new axis")
        if not ranges <= set(axes_of(self.result.type)):
            raise VerifyException("renaming takes the ranges of axes of its result alone")


def _parse_along(parser: Parser, count: int) -> tuple[ReductionKind, list[SSAValue], str]:
    """Parses what a reduction works on: `maximum %x along l`."""
    kind = ReductionKindAttr.parse_parameter(parser)
    place = parser.pos
    values = parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: parse_value(parser))
    if len(values) != count:
        wanted = "one operand" if count == 1 else f"{count} operands"
        parser.raise_error(f"expected {wanted}, not {len(values)}", place)
    parser.parse_keyword("along")
    return kind, values, parser.parse_identifier("an axis")


def _print_along(
    printer: Printer, kind: ReductionKindAttr, values: Sequence[SSAValue], axis: StringAttr
) -> None:
    printer.print_string(f" {kind.data} ")
    printer.print_list(values, printer.print_ssa_value)
    printer.print_string(f" along {axis.data}")


def _parse_end(parser: Parser) -> tuple[dict[str, Attribute], Attribute]:
    """Parses the attributes of an operation and the type of its result."""
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    return attributes, parser.parse_type()


def _print_end(printer: Printer, op: _SpreadOp | RenameOp) -> None:
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_attribute(op.result.type)


def _product(left: SSAValue, right: SSAValue) -> Attribute:
    """Returns the type of the product of two tiles.

    Raises:
        VerifyException: if their axes are not (batch…, m, k) and (batch…, k, n).
    """
    for value in (left, right):
        check_tile(value.type)
    lhs, rhs = axes_of(left.type), axes_of(right.type)
    if (
        len(lhs) < 2
        or len(lhs) != len(rhs)
        or lhs[:-2] != rhs[:-2]
        or lhs[-1] != rhs[-2]
        or lhs[-2].name == rhs[-1].name
    ):
        raise VerifyException("a dot multiplies tiles (batch…, m, k) and (batch…, k, n)")
    element = element_of(left.type)
    if isinstance(element, IndexType):
        raise VerifyException(f"a dot multiplies no values of {element}: cast them to i64")
    return tile_type(compute_type(element), [*lhs[:-1], rhs[-1]])


def _without(type: Attribute, axis: str) -> Attribute:
    kept = [a for a in axes_of(type) if a.name != axis]
    return tile_type(element_of(type), kept, layout_of(type))


def _check_reduced(value: Attribute, axis: str, result: Attribute) -> None:
    check_tile(value)
    check_tile(result)
    if axis not in axis_names(value):
        raise VerifyException(f"there is no axis '{axis}' to reduce along")
    if axes_of(_without(value, axis)) != axes_of(result):
        raise VerifyException(f"the result must have the axes without '{axis}'")
