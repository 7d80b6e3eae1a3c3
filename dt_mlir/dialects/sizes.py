"""Size expressions, `(len(h) - len(r)) floordiv 2 + 1`, and what they say of labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, StringAttr
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.formats import name_array, names
from dt_mlir.dialects.index_ranges import Range, index_range
from dt_mlir.dialects.indices import (
    IndexParser,
    add,
    check_index,
    number,
    print_index,
    subtract,
)

Labels = ArrayAttr[StringAttr]


class Definition(NamedTuple):
    """The size of a label in terms of others."""

    label: str
    """The label."""
    map: AffineMap
    """The expressions, of which the least is the size."""
    sizes: tuple[str, ...]
    """The labels whose sizes are the symbols."""
    inferred: bool
    """True if it follows from reads, and is 0 where the expression is negative."""

    def value(self, known: Mapping[str, int]) -> int:
        """Returns the size.

        Args:
            known: the sizes that it depends on.

        Raises:
            ZeroDivisionError: where a divisor is 0.
        """
        symbols = [known[label] for label in self.sizes]
        found = min(expr.eval([], symbols) for expr in self.map.results)
        return max(found, 0) if self.inferred else found


class Bound(NamedTuple):
    """An index that must not leave an axis."""

    expr: AffineExpr
    """The index."""
    over: tuple[str, ...]
    """The labels for whose indices it is evaluated, its dimensions."""
    sizes: tuple[str, ...]
    """The labels whose sizes are its symbols."""
    label: str
    """The label of the axis."""
    reason: str
    """The access, in words."""
    constraints: tuple[AffineExpr, ...] = ()
    """Expressions that are not negative wherever the index is evaluated."""

    def range(self, sizes: Mapping[str, int]) -> Range | None:
        """Returns the interval of the index; None where it is evaluated nowhere.

        Raises:
            ZeroDivisionError: where a divisor is 0.
        """
        if any(sizes[label] < 1 for label in self.over):
            return None
        dims = [Range(0, sizes[label] - 1) for label in self.over]
        symbols = [sizes[label] for label in self.sizes]
        least, most = index_range(self.expr, dims, symbols)
        for constraint in self.constraints:
            # What is not negative may be taken away, or added, to bound the index.
            below, above = subtract(self.expr, constraint), add(self.expr, constraint)
            least = max(least, index_range(below, dims, symbols).least)
            most = min(most, index_range(above, dims, symbols).most)
        return Range(least, most)

    def is_implied(self, size_of: Callable[[str], str]) -> bool:
        """Returns whether it holds because labels have the same size.

        Args:
            size_of: gives one of the labels that have the size of a label.
        """
        if self.expr != number(0):
            return False
        return size_of(self.label) in map(size_of, self.over)

    def problem(self, sizes: Mapping[str, int]) -> str | None:
        """Returns what is wrong at some sizes, or None."""
        try:
            found = self.range(sizes)
        except ZeroDivisionError:
            return f"{self.reason} divides by a size that is 0"
        if found is None or (found.least >= 0 and found.most < sizes[self.label]):
            return None
        place = found.least if found.least < 0 else found.most
        return f"{self.reason} may need an index of {place}, but there are {sizes[self.label]}"


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
