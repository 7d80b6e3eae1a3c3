"""Exact arithmetic is a field with infinities, and what is random in it is decided."""

from fractions import Fraction

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, f32
from xdsl.utils.test_value import create_ssa_value

from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.interpreters import exact
from dt_mlir.interpreters.bounded import Bounded
from dt_mlir.interpreters.exact import INFINITY, MINUS_INFINITY, NAN, PRIME, ExactArithmetic

VALUES = [0, 1, 2, PRIME - 1, 12345, INFINITY, MINUS_INFINITY, NAN]
GRID = np.meshgrid(VALUES, VALUES)


def real(code: int) -> float:
    """A code as a float with the same special behaviour."""
    special = {INFINITY: np.inf, MINUS_INFINITY: -np.inf, NAN: np.nan}
    signed = code - PRIME if code > PRIME // 2 else code
    return float(special.get(code, signed))


@pytest.mark.parametrize("name", ["add", "multiply"])
def test_small_numbers_and_infinities_are_as_in_floats(name: str) -> None:
    function = {"add": np.add, "multiply": np.multiply}[name]
    with np.errstate(all="ignore"):
        wanted = function(*(np.vectorize(real)(x) for x in GRID))
    assert np.array_equal(getattr(exact, name)(*GRID), exact.encoded(wanted))


def test_quotients_are_exact() -> None:
    a = np.array([1, 5, 7, 0, 3])
    b = np.array([3, PRIME - 2, 11, 9, 0])
    quotient = exact.multiply(a, exact.inverse(b))
    assert np.array_equal(exact.multiply(quotient[:4], b[:4]), a[:4])
    assert quotient[4] == INFINITY


def test_constants_are_the_dyadic_rationals_that_they_are() -> None:
    for value in (0.0, 1.0, -2.5, 0.1, 3e-30, 1e30, -(2.0**-149)):
        ratio = Fraction(value)
        wanted = ratio.numerator * pow(ratio.denominator, -1, PRIME) % PRIME
        assert exact.encoded(np.array(value)) == wanted


def test_order_of_short_numbers_is_theirs() -> None:
    values = np.array([-np.inf, -3.0, -0.5, 0.0, 0.25, 2.5, 1000.0, np.inf])
    assert np.array_equal(exact.ordered(exact.encoded(values)), values)


def test_symbols_depend_on_their_operands_alone() -> None:
    generator = np.random.default_rng(0)
    x, y = generator.integers(0, PRIME, (2, 1000))
    assert np.array_equal(exact.symbol("f", [x, y]), exact.symbol("f", [x, y]))
    for other in (exact.symbol("g", [x, y]), exact.symbol("f", [y, x]), exact.symbol("f", [x])):
        assert np.mean(exact.symbol("f", [x, y]) == other) < 0.01


@pytest.mark.parametrize("kind", [ReductionKind.ADD, ReductionKind.MUL, ReductionKind.MAXIMUM])
def test_reductions_do_not_depend_on_the_order(kind: ReductionKind) -> None:
    generator = np.random.default_rng(1)
    arithmetic = ExactArithmetic()
    values = generator.integers(0, PRIME, (7, 13))
    whole = arithmetic.reduce(kind, Bounded.exact(values), (0, 1), f32)
    rows = arithmetic.reduce(kind, Bounded.exact(values[:, ::-1]), (1,), f32)
    again = arithmetic.reduce(kind, rows, (0,), f32)
    assert whole.value == again.value


def test_products_of_matrices_are_exact() -> None:
    generator = np.random.default_rng(2)
    a, b = generator.integers(0, PRIME, (2, 6, 6))
    found = ExactArithmetic().dot(
        Bounded.exact(a[:, :, None]), Bounded.exact(b[None]), (1,), (6,), f32
    )
    wanted = (a.astype(object) @ b.astype(object)) % PRIME
    assert np.array_equal(found.value, wanted.astype(np.int64))
    repeated = ExactArithmetic().dot(
        Bounded.exact(a[:, :1]), Bounded.exact(a[:, :1]), (1,), (5,), f32
    )
    assert np.array_equal(repeated.value, a[:, 0].astype(object) ** 2 * 5 % PRIME)


def test_specials_reach_products_of_matrices() -> None:
    a = np.array([[1, INFINITY], [2, 3]])
    b = np.array([[4], [0]])
    found = ExactArithmetic().dot(
        Bounded.exact(a[:, :, None]), Bounded.exact(b[None]), (1,), (2,), f32
    )
    assert found.value.tolist() == [[NAN], [8]]


@pytest.mark.parametrize("width", [8, 32, 64])
def test_integer_quotients_of_extremes_are_rounded_towards_zero(width: int) -> None:
    least = -(2 ** (width - 1))
    values = [least, least + 1, -7, -1, 1, 7, -least - 1]
    pairs = [(a, b) for a in values for b in values if (a, b) != (least, -1)]
    operands = [create_ssa_value(IntegerType(width)) for _ in range(2)]
    columns = [
        Bounded.exact(np.array(column, dtype=f"int{width}")) for column in zip(*pairs, strict=True)
    ]
    arithmetic = ExactArithmetic()
    quotient = arithmetic.apply(arith.DivSIOp(*operands), columns).value.tolist()
    rest = arithmetic.apply(arith.RemSIOp(*operands), columns).value.tolist()
    for (a, b), q, r in zip(pairs, quotient, rest, strict=True):
        wanted = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        assert (q, r) == (wanted, a - wanted * b)
