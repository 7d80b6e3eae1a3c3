"""Pieces of assembly format that several dialects share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from xdsl.dialects.builtin import (
    ArrayAttr,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation
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
from xdsl.utils.hints import isa

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
        assert isa(attr, ArrayAttr[StringAttr])
        print_names(printer, attr)
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


def symbols_in(table: Operation) -> dict[str, Operation]:
    """The operations of a symbol table by their symbols."""
    found: dict[str, Operation] = {}
    for op in table.regions[0].block.ops if table.regions and table.regions[0].blocks else ():
        name = op.properties.get("sym_name")
        if isinstance(name, StringAttr):
            found.setdefault(name.data, op)
    return found


def symbol_name(attr: SymbolRefAttr) -> str:
    """The name of a flat symbol reference."""
    return attr.root_reference.data
