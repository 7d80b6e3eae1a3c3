"""Size expressions: sizes of labels in terms of others, `(len(h) - len(r)) floordiv 2 + 1`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, StringAttr
from xdsl.ir.affine import AffineMap
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.formats import name_array, names
from dt_mlir.dialects.indices import IndexParser, check_index, print_index

Labels = ArrayAttr[StringAttr]


def parse_size(parser: Parser) -> tuple[AffineMapAttr, Labels]:
    """Parses a size expression, or `min(…, …)` of several.

    Returns:
        The map from the sizes to the expressions, and the labels whose sizes its symbols are.
    """
    found = IndexParser(parser, lambda: None)
    if parser.parse_optional_keyword("min"):
        delimiter = parser.Delimiter.PAREN
        results = parser.parse_comma_separated_list(delimiter, found.expression)
    else:
        results = [found.expression()]
    return found.map(results), name_array(found.sizes)


def print_size(printer: Printer, map: AffineMap, sizes: Sequence[str]) -> None:
    """Prints a size expression, or `min(…, …)` of several."""

    def show(position: int) -> None:
        print_index(printer, map.results[position], _no_dimension, sizes)

    if len(map.results) == 1:
        show(0)
        return
    printer.print_string("min(")
    printer.print_list(range(len(map.results)), show)
    printer.print_string(")")


def _no_dimension(position: int) -> None:
    raise AssertionError("a size expression has no dimensions")


def check_size(map: AffineMap, sizes: Labels) -> None:
    """Checks a size expression.

    Raises:
        VerifyException: if it depends on anything but sizes, or is not quasi-affine in them.
    """
    if map.num_dims or map.num_symbols != len(sizes):
        raise VerifyException("a size is an expression of sizes: each symbol needs a label")
    if not map.results:
        raise VerifyException("a size is the least of one expression at least")
    if len(set(names(sizes))) != len(sizes):
        raise VerifyException("the labels of a size expression must differ")
    for expr in map.results:
        check_index(expr)
