"""Pieces of assembly format that several dialects share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeGuard

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

Name = StringAttr
"""The name of a label, a tensor or a function of the source."""


def names(array: ArrayAttr[StringAttr]) -> tuple[str, ...]:
    """The strings of an array of names."""
    return tuple(name.data for name in array)


def is_name_array(attr: Attribute | None) -> TypeGuard[ArrayAttr[StringAttr]]:
    """Returns whether an attribute is an array of strings."""
    return isinstance(attr, ArrayAttr) and all(isinstance(item, StringAttr) for item in attr)


def name_array(items: Sequence[str]) -> ArrayAttr[StringAttr]:
    """An array of names."""
    return ArrayAttr([StringAttr(item) for item in items])


@irdl_custom_directive
class NameDirective(CustomDirective):
    """One name, without quotes: `x`."""

    name: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.name.set(state, StringAttr(parser.parse_identifier()))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        attr = self.name.get(op)
        assert isinstance(attr, StringAttr)
        state.print_whitespace(printer)
        printer.print_string(attr.data)
        state.should_emit_space = True
        state.last_was_punctuation = False


@irdl_custom_directive
class NamesDirective(CustomDirective):
    """A bracketed list of names, without quotes: `[x, y]`."""

    names: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.names.set(state, parse_names(parser))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        attr = self.names.get(op)
        assert isinstance(attr, ArrayAttr)
        print_names(printer, attr)  # pyright: ignore[reportArgumentType]
        state.should_emit_space = True
        state.last_was_punctuation = False


def parse_names(parser: Parser) -> ArrayAttr[StringAttr]:
    """Parses `[x, y]`."""
    return name_array(
        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_identifier)
    )


def print_names(printer: Printer, attr: ArrayAttr[StringAttr]) -> None:
    """Prints `[x, y]`."""
    printer.print_string("[" + ", ".join(names(attr)) + "]")


@lru_cache(maxsize=4096)
def index_map(indices: tuple[tuple[bool, int], ...]) -> AffineMapAttr:
    """Returns the map of an access; most accesses of a program share a few maps.

    Args:
        indices: for each axis whether its index is a dimension of the map, and the dimension's
            position or the constant that the index is.
    """
    results = [
        AffineExpr.dimension(number) if is_dimension else AffineExpr.constant(number)
        for is_dimension, number in indices
    ]
    count = 1 + max((number for is_dimension, number in indices if is_dimension), default=-1)
    return AffineMapAttr(AffineMap(count, 0, tuple(results)))


def parse_indices(
    parser: Parser, parse_dim: Callable[[], object | None]
) -> tuple[AffineMap, list[object]]:
    """Parses `[d0, 3, 2 * d1 + 1]`: an affine map and what stands for its dimensions.

    `parse_dim` parses one dimension (a label or an SSA value) or gives None where there is none.
    A dimension that is named twice is one dimension.
    """
    dims: list[object] = []

    def dim() -> AffineExpr | None:
        found = parse_dim()
        if found is None:
            return None
        if found not in dims:
            dims.append(found)
        return AffineExpr.dimension(dims.index(found))

    def term() -> AffineExpr:
        number = parser.parse_optional_integer(allow_boolean=False)
        if number is None:
            found = dim()
            if found is None:
                parser.raise_error("expected an index")
            return found
        if parser.parse_optional_punctuation("*"):
            found = dim()
            if found is None:
                parser.raise_error("expected an index after '*'")
            return found * number
        return AffineExpr.constant(number)

    def expression() -> AffineExpr:
        result = term()
        while parser.parse_optional_punctuation("+"):
            result = result + term()
        return result

    results = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, expression)
    return AffineMap(len(dims), 0, tuple(results)), dims


def print_indices(printer: Printer, map: AffineMap, print_dim: Callable[[int], None]) -> None:
    """Prints an affine map with its dimensions as `print_dim` prints them."""

    def expression(expr: AffineExpr) -> None:
        match expr:
            case AffineConstantExpr():
                printer.print_string(str(expr.value))
            case AffineDimExpr():
                print_dim(expr.position)
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
                expression(expr.lhs)
                printer.print_string(" + ")
                expression(expr.rhs)
            case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul):
                expression(expr.rhs)
                printer.print_string(" * ")
                expression(expr.lhs)
            case _:
                raise AssertionError(f"no format for the index {expr}")

    printer.print_string("[")
    printer.print_list(map.results, expression)
    printer.print_string("]")


def linear_form(expr: AffineExpr) -> tuple[dict[int, int], int] | None:
    """An affine expression as coefficients of its dimensions and a constant.

    None if it is not linear (a division or a modulus).
    """
    match expr:
        case AffineConstantExpr():
            return {}, expr.value
        case AffineDimExpr():
            return {expr.position: 1}, 0
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
            left, right = linear_form(expr.lhs), linear_form(expr.rhs)
            if left is None or right is None:
                return None
            sums = dict(left[0])
            for dim, factor in right[0].items():
                sums[dim] = sums.get(dim, 0) + factor
            return sums, left[1] + right[1]
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul):
            left, right = linear_form(expr.lhs), linear_form(expr.rhs)
            if left is None or right is None or right[0]:
                return None
            return {dim: f * right[1] for dim, f in left[0].items()}, left[1] * right[1]
        case _:
            return None


MOST_INDEX = 2**62
"""The largest number that an axis may be indexed with; sizes and offsets have 64 bits."""


def is_supported_index(expr: AffineExpr) -> bool:
    """Returns whether lowering supports an index today: one dimension as it is, or a number."""
    form = linear_form(expr)
    if form is None:
        return False
    factors, constant = form
    if not factors:
        return 0 <= constant <= MOST_INDEX
    return constant == 0 and list(factors.values()) == [1]


def symbols_in(table: Operation) -> dict[str, Operation]:
    """The operations of a symbol table by their symbols."""
    found: dict[str, Operation] = {}
    for op in table.regions[0].block.ops if table.regions and table.regions[0].blocks else ():
        name = op.properties.get("sym_name")
        if isinstance(name, StringAttr):
            found.setdefault(name.data, op)
    return found


def symbol(attr: SymbolRefAttr) -> str:
    """The name of a flat symbol reference."""
    return attr.root_reference.data
