"""Builds the values of index expressions, and of boundary conditions on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineSymExpr

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.boundary_conditions import BOUNDARIES
from dt_mlir.builders.index import IndexBuilder
from dt_mlir.builders.values import ValueBuilder
from dt_mlir.dialects.index_ranges import is_never_negative
from dt_mlir.dialects.indices import fold


def build_index(
    builder: Builder, expr: AffineExpr, dims: Sequence[SSAValue], symbols: Sequence[SSAValue]
) -> SSAValue:
    """Builds the value of an index.

    Args:
        builder: where operations go.
        expr: the index.
        dims: a value of type `index` for each dimension.
        symbols: one for each symbol.
    """
    index = IndexBuilder(builder)

    def leaf(part: AffineExpr) -> SSAValue:
        match part:
            case AffineConstantExpr(value):
                return index.constant(value)
            case AffineDimExpr(position):
                return dims[position]
            case AffineSymExpr(position):
                return symbols[position]
            case _:
                raise AssertionError(f"no value of {part}")

    def combine(operator: str, a: SSAValue, b: SSAValue, left: AffineExpr) -> SSAValue:
        match operator:
            case "+":
                return index.add(a, b)
            case "-":
                return index.sub(a, b)
            case "*":
                return index.mul(a, b)
            case "//":
                plain = is_never_negative(left)
                return index.div(a, b) if plain else floored_quotient(index, a, b)
            case _:
                return index.rem(a, b) if is_never_negative(left) else floored_rest(index, a, b)

    return fold(expr, leaf, combine)


def floored_rest(index: IndexBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """Builds the rest of a division by a positive number, which is not negative."""
    return index.rem(index.add(index.rem(a, b), b), b)


def floored_quotient(index: IndexBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """Builds a quotient by a positive number, rounded down for either sign."""
    if constant_index(b) == 1:
        return a
    # What is left is a multiple, so that the division is exact for either sign.
    return index.div(index.sub(a, floored_rest(index, a, b)), b)


def delinearized(
    values: ValueBuilder, index: SSAValue, sizes: Sequence[SSAValue]
) -> list[SSAValue]:
    """Builds the indices of a point of a box from its number; the last axis is the fastest.

    Args:
        values: builds them for all elements of a tile.
        index: the number of the point, not negative.
        sizes: the extents of the box.
    """
    rest, found = index, list[SSAValue]()
    for size in sizes[:0:-1]:
        found.append(values.elementwise([rest, size], lambda b, v: IndexBuilder(b).rem(v[0], v[1])))
        rest = values.elementwise([rest, size], lambda b, v: IndexBuilder(b).div(v[0], v[1]))
    return [rest, *reversed(found)]


def index_in_bounds(builder: Builder, kind: str, value: SSAValue, size: SSAValue) -> SSAValue:
    """Builds the index of the element that a boundary condition reads in place of another.

    Args:
        builder: where operations go.
        kind: a condition that repeats or mirrors elements; `repeat_edge` is the nearest element.
        value: the index.
        size: the extent of the axis; where it is 0, the result means nothing.
    """
    index = IndexBuilder(builder)

    def at_least(value: SSAValue, bound: int) -> SSAValue:
        return builder.insert(arith.MaxSIOp(value, index.constant(bound))).result

    match kind:
        case "repeat_edge":
            last = index.sub(size, index.constant(1))
            return at_least(index.minimum(value, last), 0)
        case "repeat_image":
            return floored_rest(index, value, at_least(size, 1))
        case "mirror_image":
            period = index.mul(at_least(size, 1), index.constant(2))
            place = floored_rest(index, value, period)
            last = index.sub(period, index.constant(1))
            return index.minimum(place, index.sub(last, place))
        case "mirror_interior":
            whole = index.mul(index.sub(size, index.constant(1)), index.constant(2))
            place = floored_rest(index, value, at_least(whole, 1))
            return at_least(index.minimum(place, index.sub(whole, place)), 0)
        case _:
            place = BOUNDARIES[kind].place
            assert place is not None
            whole = at_least(size, 1)
            # A place may be a number.
            found = place(_Index(index, value), _Index(index, whole)) + _Index(
                index, index.constant(0)
            )
            return at_least(index.minimum(found.value, index.sub(whole, index.constant(1))), 0)


@dataclass(frozen=True)
class _Index:
    """An index that Python's operators compute with."""

    builder: IndexBuilder
    value: SSAValue

    def _with(self, other: _Index | int, build: Callable[[SSAValue, SSAValue], SSAValue]) -> _Index:
        value = self.builder.constant(other) if isinstance(other, int) else other.value
        return _Index(self.builder, build(self.value, value))

    def __add__(self, other: _Index | int) -> _Index:
        return self._with(other, self.builder.add)

    def __sub__(self, other: _Index | int) -> _Index:
        return self._with(other, self.builder.sub)

    def __rsub__(self, other: int) -> _Index:
        return self._with(other, lambda a, b: self.builder.sub(b, a))

    def __mul__(self, other: _Index | int) -> _Index:
        return self._with(other, self.builder.mul)

    def __floordiv__(self, other: _Index | int) -> _Index:
        return self._with(other, lambda a, b: floored_quotient(self.builder, a, b))

    def __mod__(self, other: _Index | int) -> _Index:
        return self._with(other, lambda a, b: floored_rest(self.builder, a, b))

    def smaller(self, other: _Index | int) -> _Index:
        """Returns the smaller of it and another one."""
        return self._with(other, self.builder.minimum)

    def larger(self, other: _Index | int) -> _Index:
        """Returns the larger of it and another one."""
        return self._with(other, self.builder.maximum)

    __radd__ = __add__
    __rmul__ = __mul__


def is_in_bounds(
    builder: Builder, value: SSAValue, size: SSAValue, never_negative: bool
) -> SSAValue:
    """Builds whether an index is in bounds, an i1.

    Args:
        builder: where operations go.
        value: the index.
        size: the extent of the axis.
        never_negative: whether the index is known not to be negative.
    """
    below = builder.insert(arith.CmpiOp(value, size, "slt")).result
    if never_negative:
        return below
    zero = IndexBuilder(builder).constant(0)
    above = builder.insert(arith.CmpiOp(value, zero, "sge")).result
    return builder.insert(arith.AndIOp(above, below)).result
