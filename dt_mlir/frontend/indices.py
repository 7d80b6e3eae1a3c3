"""Index expressions of the source: quasi-affine in labels, or data."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xdsl.ir.affine import AffineBinaryOpKind, AffineConstantExpr, AffineExpr

from dt_mlir.dialects.index_ranges import collected
from dt_mlir.dialects.indices import (
    add,
    binary,
    compacted,
    dimension,
    has_dimension,
    multiply,
    number,
    substitute,
    subtract,
    symbol,
)
from dt_mlir.frontend.syntax import Call, Expr, Infix, Name, Number, Position, Prefix

_DIVISIONS = {"//": AffineBinaryOpKind.FloorDiv, "%": AffineBinaryOpKind.Mod}


class Axis(NamedTuple):
    """An axis of an input, which the program need not have a label for."""

    tensor: str
    """The input."""
    number: int
    """The axis, from 0."""


Size = str | Axis
"""A size: of a label, or of an axis."""


class IndexForm(NamedTuple):
    """An index expression."""

    expr: AffineExpr
    """The expression."""
    dims: tuple[str, ...]
    """The labels that are its dimensions."""
    sizes: tuple[Size, ...]
    """The sizes that are its symbols."""
    values: tuple[Expr, ...] = ()
    """The data that are its dimensions behind the labels."""

    @property
    def label(self) -> str | None:
        """The label that the index is by itself; None for any other index."""
        return self.dims[0] if self.dims and self.expr == dimension(0) else None

    @property
    def constant(self) -> int | None:
        """The number that the index is; None for any other index."""
        return self.expr.value if isinstance(self.expr, AffineConstantExpr) else None

    def simplified(self) -> IndexForm:
        """Returns the index with like terms added, without what it then does not depend on."""
        found = compacted([collected(self.expr)])
        used, symbols = sorted(found.dims), sorted(found.symbols)
        dims = [dimension(used.index(i)) for i in found.dims]
        sizes = [symbol(symbols.index(i)) for i in found.symbols]
        count = len(self.dims)
        return IndexForm(
            substitute(found.results[0], dims, sizes),
            tuple(self.dims[i] for i in used if i < count),
            tuple(self.sizes[i] for i in symbols),
            tuple(self.values[i - count] for i in used if i >= count),
        )


class NotPositiveError(Exception):
    """An index divides by a number that is not positive."""

    def __init__(self, at: Position) -> None:
        super().__init__()
        self.at = at


class _Builder:
    def __init__(
        self,
        is_label: Callable[[str], bool],
        size_of: Callable[[Expr], Size | None],
        is_value: Callable[[Expr], bool],
    ) -> None:
        self.is_label = is_label
        self.size_of = size_of
        self.is_value = is_value
        self.dims: list[str | Expr] = []
        """Labels and data, in the order in which they occur."""
        self.sizes: list[Size] = []

    def build(self, expr: Expr) -> AffineExpr | None:
        if self.is_value(expr):
            self.dims.append(expr)
            return dimension(len(self.dims) - 1)
        match expr:
            case Number(int(value)):
                return number(value)
            case Name(name) if self.is_label(name):
                if name not in self.dims:
                    self.dims.append(name)
                return dimension(self.dims.index(name))
            case Prefix("-", operand):
                inner = self.build(operand)
                return None if inner is None else multiply(inner, number(-1))
            case Infix(operator, left, right) if operator in ("+", "-", "*", "//", "%"):
                a, b = self.build(left), self.build(right)
                return None if a is None or b is None else self._infix(operator, a, b, expr)
            case Call():
                found = self.size_of(expr)
                if found is None:
                    return None
                if found not in self.sizes:
                    self.sizes.append(found)
                return symbol(self.sizes.index(found))
            case _:
                return None

    def _infix(
        self, operator: str, left: AffineExpr, right: AffineExpr, expr: Infix
    ) -> AffineExpr | None:
        match operator:
            case "+":
                return add(left, right)
            case "-":
                return subtract(left, right)
            case "*":
                both = has_dimension(left) and has_dimension(right)
                return None if both else multiply(left, right)
            case _:
                if has_dimension(right):
                    return None
                if isinstance(right, AffineConstantExpr) and right.value <= 0:
                    raise NotPositiveError(expr.at)
                return binary(_DIVISIONS[operator], left, right)


def index_form(
    expr: Expr,
    is_label: Callable[[str], bool],
    size_of: Callable[[Expr], Size | None],
    is_value: Callable[[Expr], bool] = lambda _: False,
) -> IndexForm | None:
    """Returns an index expression as an affine one; None if it depends on data.

    Args:
        expr: the index.
        is_label: whether a name is a label.
        size_of: the size that a call of `len` or `size` is; None for any other call.
        is_value: whether an expression is data that may be a dimension; none is by default.

    Raises:
        NotPositiveError: if it divides by a number that is not positive.
    """
    builder = _Builder(is_label, size_of, is_value)
    found = builder.build(expr)
    if found is None:
        return None
    # What is simplified may depend on less than it names, and is printed so.
    used = compacted([found])
    kept = [builder.dims[place] for place in sorted(used.dims)]
    labels = [dim for dim in kept if isinstance(dim, str)]
    values = [dim for dim in kept if not isinstance(dim, str)]
    order: list[str | Expr] = [*labels, *values]
    dims = [dimension(order.index(builder.dims[place])) for place in used.dims]
    sizes = [builder.sizes[place] for place in used.symbols]
    symbols = [symbol(place) for place in range(len(sizes))]
    moved = substitute(used.results[0], dims, symbols)
    return IndexForm(moved, tuple(labels), tuple(sizes), tuple(values))
