"""Arithmetic on indices: what is rewritten keeps its value, and ranges hold all values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir.affine import AffineBinaryOpKind, AffineExpr

from dt_mlir.dialects.index_ranges import Range, collected, index_range
from dt_mlir.dialects.indices import add, binary, dimension, multiply, number, symbol

LEAVES = st.sampled_from([dimension(0), dimension(1), symbol(0), number(3), number(-1)])
DIVISORS = st.sampled_from([number(1), number(2), number(3), symbol(0)])
FACTORS = st.sampled_from([-2, -1, 1, 2])


def _larger(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
    quotient, remainder = AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod
    return st.one_of(
        st.builds(add, inner, inner),
        st.builds(lambda e, f: multiply(e, number(f)), inner, FACTORS),
        st.builds(lambda e, c: binary(quotient, e, c), inner, DIVISORS),
        st.builds(lambda e, c: binary(remainder, e, c), inner, DIVISORS),
        st.builds(_split, inner, DIVISORS, FACTORS, FACTORS),
    )


def _split(expr: AffineExpr, divisor: AffineExpr, most: int, rest: int) -> AffineExpr:
    whole = multiply(binary(AffineBinaryOpKind.FloorDiv, expr, divisor), divisor)
    remainder = binary(AffineBinaryOpKind.Mod, expr, divisor)
    first = whole if most > 0 else expr
    return add(multiply(first, number(most)), multiply(remainder, number(rest)))


EXPRESSIONS = st.recursive(LEAVES, _larger, max_leaves=6)


@given(EXPRESSIONS, st.integers(0, 9), st.integers(0, 9), st.integers(1, 6))
def test_collected_terms_have_the_value_of_the_sum(
    expr: AffineExpr, x: int, y: int, size: int
) -> None:
    assert collected(expr).eval([x, y], [size]) == expr.eval([x, y], [size])


@given(EXPRESSIONS, st.integers(0, 9), st.integers(0, 9), st.integers(1, 6))
def test_range_holds_all_values(expr: AffineExpr, x: int, y: int, size: int) -> None:
    least, most = index_range(expr, [Range(0, 9), Range(0, 9)], [size])
    assert least <= expr.eval([x, y], [size]) <= most


@pytest.mark.parametrize("size", [1, 4, 7])
def test_range_of_what_a_remainder_leaves_is_exact(size: int) -> None:
    x, four = dimension(0), number(4)
    rest = binary(AffineBinaryOpKind.Mod, x, four)
    expr = add(x, multiply(rest, number(-1)))
    values = [expr.eval([i], []) for i in range(size)]
    assert index_range(expr, [Range(0, size - 1)], []) == (min(values), max(values))
