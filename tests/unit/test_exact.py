"""Exact arithmetic is a field with infinities, and what is random in it is decided."""

from fractions import Fraction

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, f32
from xdsl.utils.test_value import create_ssa_value

from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.interpreters import exact_codes as exact
from dt_mlir.interpreters.arithmetic import Character
from dt_mlir.interpreters.bounded import Bounded
from dt_mlir.interpreters.exact import ExactArithmetic
from dt_mlir.interpreters.exact_codes import (
    EXPONENTS,
    INFINITY,
    MINUS_INFINITY,
    NAN,
    PRIME,
    has_exponents,
    packed,
    residues,
)

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
    assert np.array_equal(residues(getattr(exact, name)(*GRID)), residues(exact.encoded(wanted)))


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
        assert residues(exact.encoded(np.array(value))) == wanted


def test_order_of_short_numbers_is_theirs() -> None:
    values = np.array([-np.inf, -3.0, -0.5, 0.0, 0.25, 2.5, 1000.0, np.inf])
    assert np.array_equal(exact.ordered(exact.encoded(values)), values)


def pairs(generator: np.random.Generator, *shape: int) -> np.ndarray:
    """Random codes with exponents."""
    return packed(generator.integers(0, PRIME, shape), generator.integers(0, EXPONENTS, shape))


def test_exponents_are_residues_of_the_same_number() -> None:
    for value in (0.0, 1.0, -2.5, 0.1, 3e-30, 1e30, -(2.0**-149)):
        ratio = Fraction(value)
        code = int(exact.encoded(np.array(value), exponents=True))
        wanted = [
            ratio.numerator * pow(ratio.denominator, -1, prime) % prime
            for prime in (PRIME, EXPONENTS)
        ]
        assert [code % 2**31, (code >> 31) % 2**30 - 1] == wanted


def test_ring_operations_act_on_both_residues() -> None:
    a, b = pairs(np.random.default_rng(3), 2, 100)
    minus = exact.add(exact.multiply(exact.add(a, b), exact.add(a, exact.negative(b))), b)
    squares = exact.add(
        exact.add(exact.multiply(a, a), exact.negative(exact.multiply(b, b))), b
    )
    assert np.array_equal(minus, squares)
    quotient = exact.multiply(exact.multiply(a, exact.inverse(b)), b)
    assert np.array_equal(quotient, a)


def test_exponentials_turn_sums_into_products() -> None:
    a, b = pairs(np.random.default_rng(4), 2, 100)
    whole = exact.exponential(exact.add(a, b))
    assert np.array_equal(whole, exact.multiply(exact.exponential(a), exact.exponential(b)))
    other = exact.exponential(exact.add(a, exact.add(b, b)))
    assert np.mean(whole == other) < 0.1
    assert not np.any(has_exponents(whole))
    half = exact.exponential(exact.multiply(a, exact.encoded(np.array(1.5), True)), 1.5)
    assert np.array_equal(half, exact.exponential(a)), "2^x is exp(x / c)"


def test_signs_of_products_with_infinities_are_those_of_the_factors() -> None:
    factors = np.array([1.44269502, -1e-6, 3.3e38, 0.1])
    for infinity in (np.inf, -np.inf):
        found = exact.multiply(exact.encoded(infinity), exact.encoded(factors))
        assert np.array_equal(found, exact.encoded(infinity * factors))
    places = np.arange(-50, 51, 7) * 10**7
    product = exact.multiply(exact.at_places(places, None), exact.encoded(factors[1]))
    found = exact.multiply(product, exact.encoded(np.inf))
    assert np.array_equal(found, np.where(places < 0, INFINITY, MINUS_INFINITY))


@pytest.mark.parametrize("name", [arith.MulfOp, arith.DivfOp])
def test_an_infinity_times_a_number_of_unknown_sign_is_undecided(name: type) -> None:
    arithmetic = ExactArithmetic()
    a, b = (create_ssa_value(f32) for _ in range(2))
    unknown = Bounded.exact(exact.symbol("f", [exact.encoded(np.asarray(3.0))]))
    for other, doubtful in ((np.inf, name is arith.MulfOp), (2.0, False), (np.nan, False)):
        known = Bounded.exact(exact.encoded(np.asarray(other)))
        assert (arithmetic.apply(name(a, b), [unknown, known]).error > 0) == doubtful
        assert arithmetic.apply(name(a, b), [known, known]).error == 0
    zero = Bounded.exact(exact.encoded(np.asarray(0.0)))
    found = arithmetic.apply(arith.DivfOp(a, b), [unknown, zero])
    assert found.error > 0
    pair = np.stack([unknown.value, exact.encoded(np.asarray(np.inf))])
    product = arithmetic.reduce(ReductionKind.MUL, Bounded.exact(pair), (0,), f32)
    assert product.error > 0
    sums = arithmetic.dot(
        Bounded.exact(pair[None]), Bounded.exact(pair[::-1][None]), (1,), [2], f32
    )
    assert np.all(sums.error > 0)


def test_exponentials_of_special_values() -> None:
    values = np.array([-np.inf, 0.0, np.inf, np.nan])
    found = exact.exponential(exact.encoded(values, exponents=True))
    assert residues(found).tolist() == [0, 1, INFINITY, NAN]


def test_exponentials_of_unknown_exponents_are_symbols() -> None:
    a, b = pairs(np.random.default_rng(5), 2, 100)
    power = exact.exponential(a)
    again = exact.exponential(power)
    assert np.array_equal(again, exact.exponential(exact.multiply(power, exact.encoded(1.0, True))))
    product = exact.multiply(again, exact.exponential(b))
    assert np.mean(product == exact.exponential(exact.add(power, b))) < 0.1


def test_extremes_keep_the_exponents_of_what_they_choose() -> None:
    a = pairs(np.random.default_rng(6), 5, 40)
    largest = exact.extreme(a, (1,), largest=True)
    places = exact.ordered(a)
    assert np.array_equal(exact.ordered(largest), places.max(axis=1))
    assert all(code in row for code, row in zip(largest, a))
    assert np.array_equal(exact.larger(a[0], a[1]), np.where(places[0] > places[1], a[0], a[1]))


def test_products_of_matrices_have_exponents_where_all_factors_have() -> None:
    generator = np.random.default_rng(7)
    a, b = pairs(generator, 3, 4), pairs(generator, 4, 2)
    a[1, 2] = residues(a[1, 2])
    found = exact.contract(a[:, :, None], b[None], (1,), (3, 4, 2))
    wanted = exact.total(exact.multiply(a[:, :, None], b[None]), (1,))
    assert np.array_equal(found, wanted)
    assert has_exponents(found).tolist() == [[True, True], [False, False], [True, True]]


@pytest.mark.parametrize("exponentials", [False, True])
def test_inputs_have_the_character_that_is_asked_for(exponentials: bool) -> None:
    arithmetic = ExactArithmetic(exponentials)
    views = {
        character: exact.ordered(
            arithmetic.random(f32, (5, 7), np.random.default_rng(8), character).value
        )
        for character in Character
    }
    assert np.all(views[Character.NEGATIVE] < 0)
    assert np.all(views[Character.POSITIVE] > 0)
    for axis in (0, 1):
        assert np.all(np.diff(views[Character.RISING], axis=axis) > 0)
        assert np.all(np.diff(views[Character.FALLING], axis=axis) < 0)
    assert np.any(views[Character.ANY] < 0)
    assert np.any(views[Character.ANY] > 0)


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
    assert residues(found.value).tolist() == [[NAN], [8]]


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


def test_tensors_without_elements_have_extremes_and_products() -> None:
    nothing = np.zeros((0, 3), dtype=np.int64)
    assert exact.larger(nothing, nothing).shape == (0, 3)
    assert exact.extreme(nothing, (1,), True).shape == (0,)
    assert exact.product(nothing, (1,)).shape == (0,)
