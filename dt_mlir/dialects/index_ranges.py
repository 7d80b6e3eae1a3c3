"""Ranges of indices by interval arithmetic, as in Halide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from dt_mlir.dialects.indices import (
    add,
    binary,
    dimension,
    has_dimension,
    multiply,
    number,
    subtract,
)


class Range(NamedTuple):
    """An interval of indices, both ends included."""

    least: int
    most: int


def index_range(expr: AffineExpr, dims: Sequence[Range], symbols: Sequence[int]) -> Range:
    """Returns an interval that holds all values of an index.

    It is exact where each dimension occurs in one term.

    Args:
        expr: the index.
        dims: the interval of each dimension; none is empty.
        symbols: the value of each symbol.

    Raises:
        ZeroDivisionError: where a divisor is not positive.
    """
    match collected(expr):
        case AffineConstantExpr(value):
            return Range(value, value)
        case AffineDimExpr(position):
            return dims[position]
        case AffineSymExpr(position):
            return Range(symbols[position], symbols[position])
        case AffineBinaryOpExpr(kind, left, right):
            a = index_range(left, dims, symbols)
            b = index_range(right, dims, symbols)
            return _combined(kind, a, b)
        case _:
            raise AssertionError(f"no range of {expr}")


def _combined(kind: AffineBinaryOpKind, a: Range, b: Range) -> Range:
    match kind:
        case AffineBinaryOpKind.Add:
            return Range(a.least + b.least, a.most + b.most)
        case AffineBinaryOpKind.Mul:
            ends = [x * y for x in a for y in b]
            return Range(min(ends), max(ends))
        case _:
            pass
    divisor = b.least
    if divisor <= 0:
        raise ZeroDivisionError
    if kind is AffineBinaryOpKind.FloorDiv:
        return Range(a.least // divisor, a.most // divisor)
    if kind is AffineBinaryOpKind.CeilDiv:
        return Range(-(-a.least // divisor), -(-a.most // divisor))
    if a.least // divisor == a.most // divisor:
        return Range(a.least % divisor, a.most % divisor)
    return Range(0, divisor - 1)


def collected(expr: AffineExpr) -> AffineExpr:
    """Returns a sum with the multiples of each term collected; other expressions as they are.

    What is left of `x - x % c` is `x // c * c`, and of `x // c * c + x % c` it is `x`, so that
    intervals of such indices are exact.
    """
    if not (isinstance(expr, AffineBinaryOpExpr) and expr.kind is AffineBinaryOpKind.Add):
        return expr
    factors: dict[AffineExpr, int] = {}
    for term, factor in terms_of(expr):
        factors[term] = factors.get(term, 0) + factor
    for term in list(factors):
        _join_remainder(term, factors)
    constant = factors.pop(number(1), 0)
    result = number(0)
    for term, factor in factors.items():
        result = add(result, multiply(term, number(factor)))
    return add(result, number(constant))


def _join_remainder(term: AffineExpr, factors: dict[AffineExpr, int]) -> None:
    """Replaces a multiple of `e % c` in a sum where `e` or the multiple of `e // c` cancels out.

    Args:
        term: a term of the sum.
        factors: the terms of the sum with their factors, which change.
    """
    factor = factors[term]
    if not (isinstance(term, AffineBinaryOpExpr) and term.kind is AffineBinaryOpKind.Mod):
        return
    dividend, divisor = term.lhs, term.rhs
    whole = terms_of(multiply(binary(AffineBinaryOpKind.FloorDiv, dividend, divisor), divisor))
    parts = terms_of(dividend)
    # e % c is e - e // c * c.
    cancels = all(factors.get(part, 0) == -factor * times for part, times in parts)
    if factor and (cancels or all(factors.get(p, 0) == factor * times for p, times in whole)):
        del factors[term]
        for part, times in (*parts, *((part, -times) for part, times in whole)):
            factors[part] = factors.get(part, 0) + factor * times


def terms_of(expr: AffineExpr) -> list[tuple[AffineExpr, int]]:
    """Returns the terms of a sum, each with its factor; a constant is a multiple of 1."""
    match expr:
        case AffineConstantExpr(value):
            return [(number(1), value)]
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, left, right):
            return [*terms_of(left), *terms_of(right)]
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, left, AffineConstantExpr(value)):
            return [(term, factor * value) for term, factor in terms_of(left)]
        case _:
            return [(expr, 1)]


def factor_of(expr: AffineExpr, position: int) -> int:
    """Returns the factor of a dimension in an index; 0 where it is in a quotient or a remainder."""
    terms = terms_of(collected(expr))
    return sum(factor for term, factor in terms if term == dimension(position))


def split_dimension(expr: AffineExpr, position: int) -> tuple[int, AffineExpr]:
    """Returns the factor of a dimension in a sum, and the rest of the sum.

    The factor is 0 where the dimension occurs in a quotient or a remainder.
    """
    factor, rest = 0, number(0)
    for term, times in terms_of(expr):
        if term == dimension(position):
            factor += times
        elif position in term.used_dims():
            return 0, expr
        else:
            rest = add(rest, multiply(term, number(times)))
    return factor, rest


def is_in_sum(expr: AffineExpr, position: int) -> bool:
    """Returns whether a dimension is added to multiples of dimensions and sizes, or taken away."""
    terms = terms_of(collected(expr))
    factors = [factor for term, factor in terms if term == dimension(position)]
    plain = all(isinstance(term, AffineDimExpr) or not has_dimension(term) for term, _ in terms)
    return plain and factors in ([1], [-1])


def is_never_negative(expr: AffineExpr) -> bool:
    """Returns whether an index is at least 0 for all dimensions and sizes, which are not negative.
    """
    match expr:
        case AffineConstantExpr(value):
            return value >= 0
        case AffineDimExpr() | AffineSymExpr():
            return True
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod):
            return True
        case AffineBinaryOpExpr(_, left, right):
            return is_never_negative(left) and is_never_negative(right)
        case _:
            return False


def largest(expr: AffineExpr, ends: Sequence[AffineExpr]) -> AffineExpr | None:
    """Returns the largest value of an index as an expression of sizes; None if it is not simple.

    Args:
        expr: the index.
        ends: the last value of each dimension, whose first one is 0.
    """
    match expr:
        case AffineConstantExpr() | AffineSymExpr():
            return expr
        case AffineDimExpr(position):
            return ends[position]
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, left, right):
            a, b = largest(left, ends), largest(right, ends)
            return None if a is None or b is None else add(a, b)
        case AffineBinaryOpExpr(kind, left, right):
            if kind is AffineBinaryOpKind.Mod:
                # Its end is the number before the modulus, or lies before that.
                return add(right, number(-1)) if not has_dimension(right) else None
            negative = isinstance(right, AffineConstantExpr) and right.value < 0
            if negative:
                zeros = [number(0)] * len(ends)
                smallest = largest(left, zeros) if is_increasing(left) else None
                if isinstance(left, AffineBinaryOpExpr) and left.kind is AffineBinaryOpKind.Mod:
                    smallest = number(0)
                return None if smallest is None else binary(kind, smallest, right)
            if has_dimension(right) or not is_never_negative(right):
                return None
            end = largest(left, ends)
            return None if end is None else binary(kind, end, right)
        case _:
            return None


def is_increasing(expr: AffineExpr) -> bool:
    """Returns whether an index never decreases where a dimension increases."""
    match expr:
        case AffineConstantExpr() | AffineDimExpr() | AffineSymExpr():
            return True
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, left, _):
            return not has_dimension(left)
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, left, right):
            return is_increasing(left) and is_increasing(right)
        case AffineBinaryOpExpr(_, left, right):
            if not has_dimension(left):
                return not has_dimension(right) or is_increasing(right)
            return is_increasing(left) and not has_dimension(right) and is_never_negative(right)
        case _:
            return False


def solve_at_most(expr: AffineExpr, position: int, bound: AffineExpr, ends: Sequence[AffineExpr]
                  ) -> AffineExpr | None:
    """Returns the largest value of a dimension for which an index is at most a bound.

    Args:
        expr: the index.
        position: the dimension.
        bound: the bound, an expression of sizes.
        ends: the last values of the other dimensions.

    Returns:
        An expression of sizes; None if the index does not grow with the dimension by sums, positive
        factors and quotients by sizes or positive numbers, or has it in several of its terms.
    """
    expr, bound = collected(expr), collected(bound)
    if expr == dimension(position):
        return bound
    if not isinstance(expr, AffineBinaryOpExpr):
        return None
    left, right = expr.lhs, expr.rhs
    inside = [position in side.used_dims() for side in (left, right)]
    if inside == [True, True]:
        return None
    if inside == [False, True]:
        left, right = right, left
    match expr.kind:
        case AffineBinaryOpKind.Add:
            other = largest(right, ends)
            rest = None if other is None else collected(subtract(bound, other))
            return None if rest is None else solve_at_most(left, position, rest, ends)
        case AffineBinaryOpKind.Mul if not has_dimension(right) and is_never_negative(right):
            if right == number(0):
                return None
            inner = binary(AffineBinaryOpKind.FloorDiv, bound, right)
            return solve_at_most(left, position, inner, ends)
        case AffineBinaryOpKind.FloorDiv if (
            inside[0] and not has_dimension(right) and is_never_negative(right)
        ):
            # floor(e / d) <= b where e <= b * d + d - 1.
            inner = add(add(multiply(bound, right), right), number(-1))
            return solve_at_most(left, position, inner, ends)
        case _:
            return None
