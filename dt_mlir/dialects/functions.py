"""The text of operations that are functions: the host part and kernels, as MLIR prints `func.func`.

A header that does not fit in a line has its arguments and its attributes on lines of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from itertools import zip_longest
from typing import TypeVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, StringAttr
from xdsl.dialects.utils import parse_func_op_like
from xdsl.ir import Attribute, BlockArgument, Operation, Region
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import CallableOpInterface

WIDTH = 100
"""The columns that a line has at most."""

_INDENT = 2
"""The columns that a module indents its operations by."""

OWN = ("sym_name", "function_type", "arg_attrs")
"""The properties that the header writes in a form of their own."""

FunctionT = TypeVar("FunctionT", bound=IRDLOperation)


class BodyIsCallable(CallableOpInterface):
    """An operation whose one region runs when it is called, on the region's arguments."""

    @classmethod
    def get_callable_region(cls, op: Operation) -> Region:
        return op.regions[0]

    @classmethod
    def get_argument_types(cls, op: Operation) -> tuple[Attribute, ...]:
        return tuple(arg.type for arg in op.regions[0].block.args)

    @classmethod
    def get_result_types(cls, op: Operation) -> tuple[Attribute, ...]:
        return ()


def parse_function(parser: Parser, cls: type[FunctionT]) -> FunctionT:
    """Parses the name, the arguments, the attributes and the body of a function.

    Attributes of the names of properties are those.
    """
    place = parser.pos
    name, inputs, outputs, body, extra, arg_attrs, _ = parse_func_op_like(
        parser, reserved_attr_names=OWN
    )
    if not body.blocks:
        parser.raise_error("a function needs a body", place)
    declared = cls.get_irdl_definition().properties.keys()
    attributes: dict[str, Attribute] = dict(extra.data) if extra else {}
    return cls.create(
        properties={
            "sym_name": StringAttr(name),
            "function_type": FunctionType.from_lists(inputs, outputs),
            "arg_attrs": arg_attrs or ArrayAttr([]),
            **{n: a for n, a in attributes.items() if n in declared},
        },
        attributes={n: a for n, a in attributes.items() if n not in declared},
        regions=[body],
    )


def print_function(
    printer: Printer,
    op: IRDLOperation,
    type: FunctionType,
    arg_attrs: ArrayAttr[DictionaryAttr],
    body: Region,
) -> None:
    """Prints what `parse_function` parses."""
    name = op.properties["sym_name"]
    assert isinstance(name, StringAttr)
    args = [
        _text(printer, lambda pair=pair: _print_argument(printer, *pair))
        for pair in zip_longest(body.block.args, arg_attrs.data[: len(body.block.args)])
    ]
    defaults = {n: p.default_value for n, p in op.get_irdl_definition().properties.items()}
    shown = {n: a for n, a in sorted(op.properties.items()) if n not in OWN and a != defaults[n]}
    shown |= op.attributes
    # Braces are those of a dictionary of one attribute.
    attributes = [
        _text(printer, lambda item=item: printer.print_attr_dict(dict([item])))[1:-1]
        for item in shown.items()
    ]
    outputs = ", ".join(map(str, type.outputs))
    result = f" -> {outputs}" if len(type.outputs) == 1 else f" -> ({outputs})"
    result = f"){result if type.outputs else ''}"
    start = _text(printer, lambda: printer.print_symbol_name(name.data))
    line = f" {start}({', '.join(args)}{result}"
    if attributes:
        line += f" attributes {{{', '.join(attributes)}}}"
    if _INDENT + len(op.name) + len(line) + len(" {") <= WIDTH:
        printer.print_string(line)
    else:
        printer.print_string(f" {start}(")
        _print_lines(printer, args)
        printer.print_string(result)
        if attributes:
            printer.print_string(" attributes {")
            _print_lines(printer, attributes, shown)
            printer.print_string("}")
    printer.print_string(" ")
    printer.print_region(body, print_entry_block_args=False, print_empty_block=False)


def _text(printer: Printer, print: Callable[[], object]) -> str:
    """Returns what is printed."""
    stream, printer.stream = printer.stream, StringIO()
    try:
        print()
        return printer.stream.getvalue()
    finally:
        printer.stream = stream


def _print_argument(
    printer: Printer, argument: BlockArgument, attributes: DictionaryAttr | None
) -> None:
    printer.print_ssa_value(argument)
    printer.print_string(": ")
    printer.print_attribute(argument.type)
    if attributes is not None and attributes.data:
        printer.print_string(" ")
        printer.print_attr_dict(attributes.data)
    if printer.print_debuginfo:
        printer.print_string(" ")
        printer.print_attribute(argument.location)


def _print_lines(
    printer: Printer, items: Sequence[str], attributes: Mapping[str, Attribute] | None = None
) -> None:
    """Prints items, each on a line of its own, and arrays that are too long on several."""
    values = [None] * len(items) if attributes is None else list(attributes.values())
    with printer.indented(2):
        for i, (item, value) in enumerate(zip(items, values)):
            printer.print_string(",\n" if i else "\n")
            if isinstance(value, ArrayAttr) and len(item) > WIDTH - 4 * _INDENT:
                printer.print_string(item[: item.index("[") + 1])
                with printer.indented():
                    printer.print_string("\n")
                    printer.print_list(value.data, printer.print_attribute, ",\n")
                printer.print_string("\n]")
            else:
                printer.print_string(item)
    with printer.indented():
        printer.print_string("\n")
