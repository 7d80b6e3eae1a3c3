"""Index expressions: quasi-affine in dimensions, with sizes of labels as symbols.

An index is a sum of products, quotients and remainders. A factor, a divisor and a modulus are
numbers or expressions of sizes. xDSL's affine expressions hold them; its own operators make none
with a symbol as a factor or a divisor (semi-affine ones), so that those here are used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from io import StringIO
from typing import NamedTuple, TypeVar

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

MOST_INDEX = 2**62
"""The largest number that an axis may be indexed with; sizes and offsets have 64 bits."""

DIVISIONS = (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.CeilDiv, AffineBinaryOpKind.Mod)
"""The operations that divide."""


def number(value: int) -> AffineExpr:
    """Returns a constant."""
    return AffineConstantExpr(value)


def dimension(position: int) -> AffineExpr:
    """Returns a dimension of a map."""
    return AffineDimExpr(position)


def symbol(position: int) -> AffineExpr:
    """Returns a symbol of a map."""
    return AffineSymExpr(position)


def binary(kind: AffineBinaryOpKind, left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Returns an operation on two expressions, folded where it is known.

    Raises:
        ZeroDivisionError: for a quotient by the number 0.
    """
    a = left.value if isinstance(left, AffineConstantExpr) else None
    b = right.value if isinstance(right, AffineConstantExpr) else None
    if a is not None and b is not None:
        return number(AffineBinaryOpExpr(kind, left, right).eval([], []))
    match kind:
        case AffineBinaryOpKind.Add:
            if a is not None:
                left, right, a, b = right, left, b, a
            if b == 0:
                return left
            if isinstance(right, AffineBinaryOpExpr) and right.kind is kind:
                # Sums are left-associative, as their text is.
                return add(add(left, right.lhs), right.rhs)
            if (
                b is not None
                and isinstance(left, AffineBinaryOpExpr)
                and left.kind is AffineBinaryOpKind.Add
                and isinstance(left.rhs, AffineConstantExpr)
            ):
                return binary(kind, left.lhs, number(left.rhs.value + b))
            if b is None and negated_term(left) is not None and negated_term(right) is None:
                return AffineBinaryOpExpr(kind, right, left)
        case AffineBinaryOpKind.Mul:
            if a is not None:
                left, right, a, b = right, left, b, a
            if b == 0:
                return number(0)
            if b == 1:
                return left
            if b is not None and isinstance(left, AffineBinaryOpExpr):
                if left.kind is AffineBinaryOpKind.Add:
                    return add(binary(kind, left.lhs, right), binary(kind, left.rhs, right))
                if left.kind is kind and isinstance(left.rhs, AffineConstantExpr):
                    return binary(kind, left.lhs, number(left.rhs.value * b))
        case AffineBinaryOpKind.FloorDiv | AffineBinaryOpKind.CeilDiv if b == 1:
            return left
        case AffineBinaryOpKind.Mod if b == 1:
            return number(0)
        case _:
            pass
    return AffineBinaryOpExpr(kind, left, right)


def add(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Returns a sum."""
    return binary(AffineBinaryOpKind.Add, left, right)


def multiply(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Returns a product."""
    return binary(AffineBinaryOpKind.Mul, left, right)


def subtract(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Returns a difference."""
    return add(left, multiply(right, number(-1)))


def quotient(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Returns a quotient, rounded down."""
    return binary(AffineBinaryOpKind.FloorDiv, left, right)


def remainder(left: AffineExpr, right: AffineExpr) -> AffineExpr:
    """Returns a remainder, which has the sign of the divisor."""
    return binary(AffineBinaryOpKind.Mod, left, right)


def substitute(
    expr: AffineExpr, dims: Sequence[AffineExpr], symbols: Sequence[AffineExpr]
) -> AffineExpr:
    """Returns an expression with others in place of its dimensions and its symbols."""
    match expr:
        case AffineDimExpr():
            return dims[expr.position]
        case AffineSymExpr():
            return symbols[expr.position]
        case AffineBinaryOpExpr():
            left, right = (substitute(side, dims, symbols) for side in (expr.lhs, expr.rhs))
            return binary(expr.kind, left, right)
        case _:
            return expr


Value = TypeVar("Value")

_OPERATORS = {
    AffineBinaryOpKind.Mul: "*",
    AffineBinaryOpKind.FloorDiv: "//",
    AffineBinaryOpKind.Mod: "%",
}


def fold(
    expr: AffineExpr,
    leaf: Callable[[AffineExpr], Value],
    combine: Callable[[str, Value, Value, AffineExpr], Value],
) -> Value:
    """Returns an expression in another form, from its parts.

    Args:
        expr: the expression.
        leaf: gives the form of a number, a dimension or a symbol.
        combine: gives the form of `+`, `-`, `*`, `//` or `%` from those of the two sides, and the
            left side. A term that is added and starts with a minus sign is subtracted.
    """
    if not isinstance(expr, AffineBinaryOpExpr):
        return leaf(expr)
    operator, left, right = _sides(expr)
    return combine(operator, fold(left, leaf, combine), fold(right, leaf, combine), left)


def _sides(expr: AffineBinaryOpExpr) -> tuple[str, AffineExpr, AffineExpr]:
    """Returns the operator and the two sides of an expression; a term may be subtracted."""
    left, right = expr.lhs, expr.rhs
    if expr.kind is not AffineBinaryOpKind.Add:
        return _OPERATORS[expr.kind], left, right
    if (negated := negated_term(right)) is not None:
        return "-", left, negated
    if (negated := negated_term(left)) is not None:
        return "-", right, negated
    return "+", left, right


class Compact(NamedTuple):
    """Expressions of those dimensions and symbols alone that occur in them."""

    results: tuple[AffineExpr, ...]
    """The expressions."""
    dims: list[int]
    """The former position of each dimension, in the order in which they occur."""
    symbols: list[int]
    """The former position of each symbol."""

    @property
    def map(self) -> AffineMap:
        """The expressions as a map."""
        return AffineMap(len(self.dims), len(self.symbols), self.results)


def compacted(results: Sequence[AffineExpr]) -> Compact:
    """Returns expressions without the dimensions and symbols that none of them uses."""
    parts = [part for expr in results for part in expr.dfs()]
    dims = list(dict.fromkeys(p.position for p in parts if isinstance(p, AffineDimExpr)))
    symbols = list(dict.fromkeys(p.position for p in parts if isinstance(p, AffineSymExpr)))
    new_dims, new_symbols = _places(dims, dimension), _places(symbols, symbol)
    found = tuple(substitute(expr, new_dims, new_symbols) for expr in results)
    return Compact(found, dims, symbols)


def _places(
    positions: Sequence[int], make: Callable[[int], AffineExpr]
) -> list[AffineExpr]:
    places = [number(0)] * (1 + max(positions, default=-1))
    for new, old in enumerate(positions):
        places[old] = make(new)
    return places


def has_dimension(expr: AffineExpr) -> bool:
    """Returns whether an expression depends on a dimension, and not only on sizes."""
    return any(isinstance(part, AffineDimExpr) for part in expr.dfs())


def has_size_factor(expr: AffineExpr) -> bool:
    """Returns whether an expression is multiplied, or divided, by an expression of sizes."""
    return any(
        isinstance(part, AffineBinaryOpExpr)
        and part.kind is not AffineBinaryOpKind.Add
        and not isinstance(part.rhs, AffineConstantExpr)
        for part in expr.dfs()
    )


def check_index(expr: AffineExpr, guarded: bool = False) -> None:
    """Checks that an expression is an index.

    Args:
        expr: the expression.
        guarded: whether a boundary condition holds for it.

    Raises:
        VerifyException: if dimensions are multiplied, or it divides by one or by a number that is
            not positive, or a number in it is too large.
    """
    for part in expr.dfs():
        if isinstance(part, AffineConstantExpr) and abs(part.value) > MOST_INDEX:
            raise VerifyException(f"a number in an index is at most {MOST_INDEX}")
        if not isinstance(part, AffineBinaryOpExpr):
            continue
        if part.kind is AffineBinaryOpKind.Mul:
            if has_dimension(part.lhs) and has_dimension(part.rhs):
                raise VerifyException("an index is multiplied by a number or by sizes")
        elif part.kind in DIVISIONS:
            if has_dimension(part.rhs):
                raise VerifyException("an index is divided by a number or by sizes")
            if isinstance(part.rhs, AffineConstantExpr) and part.rhs.value <= 0:
                raise VerifyException(f"an index divides by a positive number, not by {part.rhs}")
    if isinstance(expr, AffineConstantExpr) and expr.value < 0 and not guarded:
        raise VerifyException("an index must not be a negative number")


def shifted_dims(index: AffineExpr) -> set[int]:
    """Returns the dimensions that occur in an index plus or times something.

    One that is the whole index does not, and what is under `//` and `%` does not.
    """
    found: set[int] = set()
    pending = [] if isinstance(index, AffineDimExpr) else [index]
    while pending:
        expr = pending.pop()
        if isinstance(expr, AffineDimExpr):
            found.add(expr.position)
        elif isinstance(expr, AffineBinaryOpExpr) and expr.kind.get_token() in "+*":
            pending += [expr.lhs, expr.rhs]
    return found


def simple_index(expr: AffineExpr) -> int | AffineDimExpr | None:
    """Returns an index that is a number or one dimension; None for any other."""
    if isinstance(expr, AffineConstantExpr):
        return expr.value
    return expr if isinstance(expr, AffineDimExpr) else None


@lru_cache(maxsize=4096)
def index_map(indices: tuple[tuple[bool, int], ...]) -> AffineMapAttr:
    """Returns the map of an access; most accesses of a program share a few maps.

    Args:
        indices: for each axis whether its index is a dimension of the map, and the dimension's
            position or the constant that the index is.
    """
    results = [dimension(n) if is_dimension else number(n) for is_dimension, n in indices]
    count = 1 + max((n for is_dimension, n in indices if is_dimension), default=-1)
    return AffineMapAttr(AffineMap(count, 0, tuple(results)))


class IndexParser:
    """Parses index expressions: `2 * p + r floordiv 2 - 1`, `c floordiv len(i)`.

    Args:
        parser: the parser of the text.
        parse_dim: parses one dimension (a label or an SSA value), or gives None where there is
            none. A dimension that is named twice is one dimension.
    """

    def __init__(self, parser: Parser, parse_dim: Callable[[], object | None]) -> None:
        self.parser = parser
        self.parse_dim = parse_dim
        self.dims: list[object] = []
        """The dimensions in the order in which they occur."""
        self.sizes: list[str] = []
        """The labels whose sizes are symbols, in the order in which they occur."""

    def size(self, label: str) -> AffineExpr:
        """Returns the symbol that is the size of a label."""
        if label not in self.sizes:
            self.sizes.append(label)
        return symbol(self.sizes.index(label))

    def map(self, results: Sequence[AffineExpr]) -> AffineMapAttr:
        """Returns the map of expressions that were parsed."""
        return AffineMapAttr(AffineMap(len(self.dims), len(self.sizes), tuple(results)))

    def labels_first(self) -> tuple[list[str], list[SSAValue], list[AffineExpr]]:
        """Returns the labels and the values among the dimensions, and the order with labels first.

        The order gives each dimension as one of those that are the labels, then the values.
        """
        labels = [dim for dim in self.dims if isinstance(dim, str)]
        values = [dim for dim in self.dims if isinstance(dim, SSAValue)]
        order: list[object] = [*labels, *values]
        return labels, values, [dimension(order.index(dim)) for dim in self.dims]

    def bracketed(self) -> AffineMapAttr:
        """Parses `[x, 2 * p + r, 0]`."""
        delimiter = self.parser.Delimiter.SQUARE
        return self.map(self.parser.parse_comma_separated_list(delimiter, self.expression))

    def not_negative(self) -> AffineExpr:
        """Parses `x - k >= 0`; returns the left side."""
        result = self.expression()
        self.parser.parse_punctuation(">")
        self.parser.parse_punctuation("=")
        if self.parser.parse_integer(allow_boolean=False) != 0:
            self.parser.raise_error("an expression of a domain is compared with 0")
        return result

    def expression(self) -> AffineExpr:
        """Parses an index."""
        result = self._term()
        while True:
            if self.parser.parse_optional_punctuation("+"):
                result = add(result, self._term())
            elif self.parser.parse_optional_punctuation("-"):
                result = subtract(result, self._term())
            else:
                return result

    def _term(self) -> AffineExpr:
        result = self._factor()
        while True:
            place = self.parser.pos
            if self.parser.parse_optional_punctuation("*"):
                result = multiply(result, self._factor())
            elif self.parser.parse_optional_keyword("floordiv"):
                result = self._divided(AffineBinaryOpKind.FloorDiv, result, place)
            elif self.parser.parse_optional_keyword("mod"):
                result = self._divided(AffineBinaryOpKind.Mod, result, place)
            else:
                return result

    def _divided(self, kind: AffineBinaryOpKind, left: AffineExpr, place: int) -> AffineExpr:
        try:
            return binary(kind, left, self._factor())
        except ZeroDivisionError:
            self.parser.raise_error("an index is not divided by 0", place, self.parser.pos)

    def _factor(self) -> AffineExpr:
        parser = self.parser
        value = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
        if value is not None:
            return number(value)
        if parser.parse_optional_punctuation("-"):
            return multiply(self._factor(), number(-1))
        if parser.parse_optional_punctuation("("):
            inner = self.expression()
            parser.parse_punctuation(")")
            return inner
        found = self.parse_dim()
        # A label that is named 'len' is a dimension like any other.
        if found == "len" or (found is None and parser.parse_optional_keyword("len")):
            if found is None:
                parser.parse_punctuation("(")
            if found is None or parser.parse_optional_punctuation("("):
                label = parser.parse_identifier("a label")
                parser.parse_punctuation(")")
                return self.size(label)
        if found is None:
            parser.raise_error("expected an index")
        if found not in self.dims:
            self.dims.append(found)
        return dimension(self.dims.index(found))


def print_indices(
    printer: Printer,
    map: AffineMap,
    print_dim: Callable[[int], None],
    sizes: Sequence[str] = (),
) -> None:
    """Prints `[x, 2 * p + r, 0]`, with dimensions as `print_dim` prints them."""
    printer.print_string("[")
    printer.print_list(map.results, lambda e: print_index(printer, e, print_dim, sizes))
    printer.print_string("]")


def print_index(
    printer: Printer,
    expr: AffineExpr,
    print_dim: Callable[[int], None],
    sizes: Sequence[str] = (),
    level: int = 0,
    source: bool = False,
) -> None:
    """Prints an index; in parentheses if it binds less than a level (1: products, 2: factors).

    Args:
        printer: the printer.
        expr: the index.
        print_dim: prints a dimension.
        sizes: the labels of symbols.
        level: the level.
        source: whether to write `//` and `%` as programs do, not `floordiv` and `mod`.
    """

    def inner(part: AffineExpr, least: int) -> None:
        print_index(printer, part, print_dim, sizes, least, source)

    own = _level(expr)
    if own < level:
        printer.print_string("(")
    match expr:
        case AffineConstantExpr():
            printer.print_string(str(expr.value))
        case AffineDimExpr():
            print_dim(expr.position)
        case AffineSymExpr():
            printer.print_string(f"len({sizes[expr.position]})")
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Add):
            operator, left, right = _sides(expr)
            inner(left, 0)
            printer.print_string(f" {operator} ")
            inner(right, int(operator == "-"))
        case AffineBinaryOpExpr(kind=AffineBinaryOpKind.Mul):
            # Numbers come first, as in mathematics.
            first, second = expr.lhs, expr.rhs
            if isinstance(second, AffineConstantExpr):
                first, second = second, first
            inner(first, 1)
            printer.print_string(" * ")
            inner(second, 2)
        case AffineBinaryOpExpr():
            inner(expr.lhs, 1)
            operator = _OPERATORS[expr.kind] if source else expr.kind.get_token()
            printer.print_string(f" {operator} ")
            inner(expr.rhs, 2)
        case _:
            raise AssertionError(f"no format for the index {expr}")
    if own < level:
        printer.print_string(")")


def _level(expr: AffineExpr) -> int:
    if isinstance(expr, AffineBinaryOpExpr):
        return 0 if expr.kind is AffineBinaryOpKind.Add else 1
    return 1 if isinstance(expr, AffineConstantExpr) and expr.value < 0 else 2


def negated_term(expr: AffineExpr) -> AffineExpr | None:
    """Returns the negative of a term that starts with a minus sign; None for any other."""
    if isinstance(expr, AffineConstantExpr) and expr.value < 0:
        return number(-expr.value)
    if (
        isinstance(expr, AffineBinaryOpExpr)
        and expr.kind is AffineBinaryOpKind.Mul
        and isinstance(expr.rhs, AffineConstantExpr)
        and expr.rhs.value < 0
    ):
        return multiply(expr.lhs, number(-expr.rhs.value))
    return None


def print_index_text(expr: AffineExpr, dims: Sequence[str], sizes: Sequence[str]) -> str:
    """Returns the text of an index as programs write it, its dimensions and sizes by name."""
    output = StringIO()
    printer = Printer(output)
    print_index(printer, expr, lambda i: printer.print_string(dims[i]), sizes, source=True)
    return output.getvalue()
