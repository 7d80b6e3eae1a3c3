"""Arrays with a bound on how far a correct program may be from each element.

Floating-point results depend on the order of sums, on contraction and on how elementary functions
are approximated, none of which a schedule has to keep. Each value is therefore evaluated in
float64 together with a bound on the error that any legal computation of it may have: the running
error analysis of Wilkinson (Higham, Accuracy and Stability of Numerical Algorithms, ch. 3). What
jumps (a comparison, `floor`, an index) is followed to both sides where the bound reaches across.
An element whose bound is infinite is undecided: nothing is claimed about it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    IntegerType,
)
from xdsl.ir import Attribute

Array = Any
"""A NumPy array; its element type is not known to the type checker."""


@dataclass(frozen=True)
class Format:
    """A binary floating-point format."""

    digits: int
    """The digits of the significand, the leading one included."""
    least: int
    """The exponent of the least normal number."""
    largest: float
    saturates: bool = False
    """True if it depends on the target what becomes of what is too large."""


def float_format(type: Attribute) -> Format:
    """The format of a floating-point type."""
    match type:
        case Float32Type():
            return Format(24, -126, 3.4028234663852886e38)
        case Float16Type():
            return Format(11, -14, 65504.0)
        case BFloat16Type():
            return Format(8, -126, 3.3895313892515355e38)
        case Float8E4M3FNType():
            return Format(4, -6, 448.0, saturates=True)
        case Float8E5M2Type():
            return Format(3, -14, 57344.0, saturates=True)
        case _:
            return Format(53, -1022, 1.7976931348623157e308)


@dataclass
class Bounded:
    """Values, and for each a bound on the error of a computed one; infinite: undecided."""

    value: Array
    error: Array
    signed: Array = None
    """True where a zero has the sign of `value` in every computation; None: nowhere."""

    def __post_init__(self) -> None:
        if self.signed is None:
            self.signed = np.zeros(np.shape(self.value), bool)

    @staticmethod
    def exact(value: Array) -> Bounded:
        """Values that every computation has exactly, with the signs of zeros."""
        array = np.asarray(value)
        return Bounded(array, np.zeros(array.shape), np.ones(array.shape, bool))

    @property
    def has_sign(self) -> Array:
        """Returns where the sign is decided: of zeros that have one, and of exact numbers."""
        return self.signed | ((self.error == 0) & (self.value != 0))

    @property
    def is_exact(self) -> Array:
        """Returns where elements have no error."""
        return self.error == 0

    def corners(self) -> tuple[Array, Array]:
        """The least and the largest that an element may be."""
        return self.value - self.error, self.value + self.error


def distance(a: Array, b: Array) -> Array:
    """|a - b|, 0 where both are the same infinity or both are not a number, else infinite."""
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    apart = np.abs(np.where(same, 0.0, a) - np.where(same, 0.0, b))
    return np.where(np.isnan(apart), np.inf, apart)


def signs_differ(a: Bounded, b: Bounded) -> Array:
    """Returns where two values are zeros of different signs, both of them decided."""
    zeros = (a.value == 0) & (b.value == 0) & (a.error == 0) & (b.error == 0)
    if not (np.any(zeros) and a.value.dtype.kind == "f" and b.value.dtype.kind == "f"):
        return np.zeros(np.shape(zeros), bool)
    return zeros & a.signed & b.signed & (np.signbit(a.value) != np.signbit(b.value))


def spacing(magnitude: Array, form: Format) -> Array:
    """The distance of neighbouring numbers of a format at a magnitude."""
    _, exponent = np.frexp(np.where(np.isfinite(magnitude), magnitude, 0.0))
    return np.exp2(np.maximum(exponent, form.least + 1) - float(form.digits))


def nearest(value: Array, type: Attribute) -> Array:
    """Floats rounded to a type; too large ones are infinite."""
    x = np.asarray(value, np.float64)
    form = float_format(type)
    if form.digits == 53:
        return x
    unit = spacing(np.abs(x), form)
    rounded = np.round(x / unit) * unit
    overflown = np.abs(rounded) > form.largest
    return np.where(np.isfinite(x), np.where(overflown, np.copysign(np.inf, x), rounded), x)


def rounded(value: Array, error: Array, type: Attribute, ulps: Array | float = 0.5) -> Bounded:
    """Returns the result of an operation in a floating-point type.

    Args:
        value: its result as computed in float64.
        error: the error that its operands bring in.
        type: the type of the result.
        ulps: how far the operation's result may be from that of its own operands, in units of
            the last place; one half if it is correctly rounded, and then exact where the result
            has the type.
    """
    form = float_format(type)
    value = np.asarray(value, np.float64)
    error = np.where(np.isnan(error), np.inf, error)
    finite = np.isfinite(value)
    reach = np.where(finite, np.abs(value), 0.0) + error
    unit = spacing(reach, form)
    own = np.asarray(ulps * unit)
    if np.ndim(ulps) == 0 and ulps == 0.5:
        # In float64 itself there is no telling but for short numbers.
        held = value * 2.0**20 == np.round(value * 2.0**20) if form.digits == 53 else (
            nearest(value, type) == value
        )
        own = np.where(held & (error == 0), 0.0, own)
    if form.digits == 53:
        # What it is compared with is rounded too.
        own = 2.0 * own
    # Targets may flush what is below the least normal number.
    own = np.where((reach < 2.0 ** (form.least + 1)) & (reach > 0), own + 2.0**form.least, own)
    own = np.where(value == 0, np.where(error == 0, 0.0, own), own)
    total = np.where(finite, error + own, error)
    limit = form.largest + spacing(form.largest, form) / 2
    beyond = finite & (np.abs(value) >= limit)
    unsure = finite & (np.abs(value) + total >= limit)
    unsure &= ~(np.abs(value) - total >= limit)
    if form.saturates:
        unsure |= beyond | ~finite
    value = np.where(beyond, np.copysign(np.inf, value), value)
    total = np.where(beyond, 0.0, total)
    return Bounded(value, np.where(unsure, np.inf, total))


def narrowed(x: Bounded, type: Attribute) -> Bounded:
    """Floats as a type stores them; where no error reaches another number of it, exactly."""
    form = float_format(type)
    if form.digits == 53:
        return x
    small = (np.abs(x.value) < 2.0 ** (form.least + 1)) & (x.error > 0)
    # What is below the least normal number may have been flushed.
    error = np.where(small, x.error + 2.0**form.least, x.error)
    value, low, high = (nearest(v, type) for v in (x.value, x.value - error, x.value + error))
    result = np.maximum(distance(low, value), distance(high, value))
    if form.saturates:
        limit = form.largest + spacing(form.largest, form) / 2
        beyond = ~(np.abs(x.value) + error < limit) & ~np.isnan(x.value)
        result = np.where(beyond, np.inf, result)
    return Bounded(value, np.where(np.isinf(x.error), np.inf, result))


def by_corners(
    function: Callable[..., Array], operands: Sequence[Bounded]
) -> tuple[Array, Array]:
    """A function that is monotone in each operand, and the error that its operands bring in."""
    value = function(*(x.value for x in operands))
    error = np.zeros(np.shape(value))
    if all(not x.error.any() for x in operands):
        return value, error
    choices = [x.corners() if x.error.any() else (x.value,) for x in operands]
    for corner in itertools.product(*choices):
        error = np.maximum(error, distance(function(*corner), value))
    undecided = np.zeros(np.shape(value), bool)
    for x in operands:
        undecided = undecided | np.isinf(x.error)
    return value, np.where(undecided, np.inf, error)


def any_error(operands: Sequence[Bounded]) -> Array:
    """Returns where some operand has an error."""
    result: Array = np.asarray(False)
    for x in operands:
        result = result | (x.error > 0)
    return result


def compared(function: Callable[[Array, Array], Array], a: Bounded, b: Bounded) -> Bounded:
    """A comparison; undecided where the operands may be on either side."""
    total = a.error + b.error
    gap = np.abs(np.asarray(a.value, np.float64) - np.asarray(b.value, np.float64))
    unsure = (total > 0) & ((gap <= total) | np.isinf(total))
    return Bounded(function(a.value, b.value), np.where(unsure, np.inf, 0.0))


def selected(condition: Bounded, a: Bounded, b: Bounded) -> Bounded:
    """One of two values; where the condition is undecided, either."""
    value = np.where(condition.value, a.value, b.value)
    error = np.where(condition.value, a.error, b.error)
    apart = distance(np.asarray(a.value, np.float64), np.asarray(b.value, np.float64))
    either = np.maximum(a.error, b.error) + apart
    return Bounded(value, np.where(condition.error > 0, either, error))


def truth(op: str, a: Bounded, b: Bounded) -> Bounded:
    """`and`, `or` and exclusive `or` of truth values; one side may decide alone."""
    unsure = any_error([a, b])
    if op == "arith.andi":
        value = a.value & b.value
        settled = ((a.error == 0) & ~a.value) | ((b.error == 0) & ~b.value)
    elif op == "arith.ori":
        value = a.value | b.value
        settled = ((a.error == 0) & a.value) | ((b.error == 0) & b.value)
    else:
        return Bounded(a.value ^ b.value, np.where(unsure, np.inf, 0.0))
    return Bounded(value, np.where(unsure & ~settled, np.inf, 0.0))


def integer(value: Array, error: Array, type: Attribute) -> Bounded:
    """An integer result; undecided where it may wrap but is not exact.

    Args:
        value: the result in a wide type, before it wraps.
        error: the error that its operands bring in.
        type: the integer type.
    """
    assert isinstance(type, IntegerType)
    width = type.width.data
    limit = 2.0 ** (width - 1)
    wraps = (np.abs(np.asarray(value, np.float64)) + error >= limit) & (error > 0)
    return Bounded(wrapped(value, type), np.where(wraps, np.inf, error))


def wrapped(value: Array, type: IntegerType) -> Array:
    """Integers modulo the width of a type."""
    return np.asarray(value).astype(f"int{type.width.data}")


def is_exact_sum(values: Array, errors: Array, axes: tuple[int, ...], type: Attribute) -> Array:
    """Returns where sums along axes are exact in every order: no partial sum needs more digits."""
    digits = float_format(type).digits
    total = np.sum(np.abs(values), axis=axes)
    exact = np.all(errors == 0, axis=axes)
    found = np.zeros(total.shape, bool)
    for fraction in (0, 4, 8, 12):
        scaled = values * 2.0**fraction
        whole = np.all(scaled == np.round(scaled), axis=axes)
        found |= whole & (total * 2.0**fraction <= 2.0**digits)
    return exact & found


def summed(x: Bounded, axes: tuple[int, ...], type: Attribute) -> Bounded:
    """A sum along axes, in any order."""
    if not isinstance(type, AnyFloat):
        assert isinstance(type, IntegerType)
        return integer(np.sum(x.value, axis=axes), np.sum(x.error, axis=axes), type)
    value = np.sum(x.value, axis=axes)
    count = int(np.prod([x.value.shape[i] for i in axes]))
    unit = 2.0 ** -float_format(type).digits
    size = np.where(np.isfinite(x.value), np.abs(x.value), 0.0)
    magnitude = np.sum(size + x.error, axis=axes)
    error = np.sum(x.error, axis=axes) + (count + 2) * unit * magnitude
    error = np.where(is_exact_sum(x.value, x.error, axes, type), 0.0, error)
    error = np.where(np.isfinite(value), error, np.where(np.isfinite(error), 0.0, np.inf))
    # Where a partial sum may overflow, the order decides.
    risky = magnitude >= float_format(type).largest
    return rounded(value, np.where(risky, np.inf, error), type)


def multiplied(x: Bounded, axes: tuple[int, ...], type: Attribute) -> Bounded:
    """A product along axes, in any order."""
    value = np.prod(x.value, axis=axes)
    if not isinstance(type, AnyFloat):
        assert isinstance(type, IntegerType)
        unsure = np.any(x.error > 0, axis=axes)
        return Bounded(wrapped(value, type), np.where(unsure, np.inf, 0.0))
    form = float_format(type)
    count = int(np.prod([x.value.shape[i] for i in axes]))
    magnitude = np.abs(x.value)
    above = np.prod(magnitude + x.error, axis=axes)
    largest = np.prod(np.maximum(magnitude + x.error, 1.0), axis=axes)
    least = np.prod(np.minimum(np.where(magnitude == 0, 1.0, magnitude), 1.0), axis=axes)
    error = above - np.abs(value) + count * 2.0**-form.digits * above
    whole = np.all((x.value == np.round(x.value)) & (x.error == 0), axis=axes)
    error = np.where(whole & (largest <= 2.0**form.digits), 0.0, error)
    risky = (largest >= form.largest) | (least <= 2.0 ** (form.least + form.digits))
    risky |= ~np.isfinite(value)
    special = np.any(~np.isfinite(x.value) | (magnitude == 0), axis=axes)
    # A zero or an infinity decides alone, but for what else may be there.
    plain = special & np.all(x.error == 0, axis=axes) & (
        np.all(np.where(np.isfinite(x.value), magnitude, 1.0) <= 2.0**20, axis=axes)
    )
    error = np.where(plain, 0.0, np.where(risky, np.inf, error))
    return rounded(value, error, type)


def extreme(function: Callable[..., Array], x: Bounded, axes: tuple[int, ...]) -> Bounded:
    """A maximum or a minimum along axes (by NumPy's function, which propagates NaN)."""
    value = function(x.value, axis=axes)
    low, high = x.corners()
    wide = np.asarray(value, np.float64)
    error = np.maximum(
        distance(np.asarray(function(low, axis=axes), np.float64), wide),
        distance(np.asarray(function(high, axis=axes), np.float64), wide),
    )
    undecided = np.any(np.isinf(x.error), axis=axes)
    exact = np.all(x.error == 0, axis=axes)
    return Bounded(value, np.where(exact, 0.0, np.where(undecided, np.inf, error)))


def decided(function: Callable[..., Array], x: Bounded, axes: tuple[int, ...]) -> Bounded:
    """A conjunction or disjunction along axes; undecided where an undecided element matters."""
    for_true = function(x.value | (x.error > 0), axis=axes)
    for_false = function(x.value & (x.error == 0), axis=axes)
    value = function(x.value, axis=axes)
    return Bounded(value, np.where(for_true != for_false, np.inf, 0.0))


def extreme_index(largest: bool, x: Bounded) -> Bounded:
    """The first index of the extreme along the last axis; NaN is the extreme."""
    value = np.argmax(x.value, axis=-1) if largest else np.argmin(x.value, axis=-1)
    best = np.take_along_axis(x.value, value[..., None], -1)
    slack = np.take_along_axis(x.error, value[..., None], -1)
    with np.errstate(invalid="ignore"):
        gap = np.abs(np.asarray(best, np.float64) - np.asarray(x.value, np.float64))
    # Equal elements without error are told apart by their index, which is exact.
    total = slack + x.error
    rival = (total > 0) & ~(gap > total)
    rival[np.arange(x.value.shape[-1]) == value[..., None]] = False
    undecided = np.any(rival, axis=-1) | np.any(np.isinf(x.error), axis=-1)
    return Bounded(value.astype(np.int64), np.where(undecided, np.inf, 0.0))


def floored_quotient(a: Bounded, b: Bounded) -> tuple[Array, Array]:
    """a // b on floats, with the error that the operands bring in."""
    value, error = by_corners(np.floor_divide, [a, b])
    low, high = b.corners()
    through_zero = (low <= 0) & (high >= 0) & (b.error > 0)
    return value, np.where(through_zero, np.inf, error)


def floored_rest(a: Bounded, b: Bounded) -> tuple[Array, Array]:
    """a % b on floats, with the error that the operands bring in."""
    value = np.mod(a.value, b.value)
    quotient, jump = floored_quotient(a, b)
    smooth = a.error + np.abs(quotient) * b.error
    error = np.where(any_error([a, b]), np.where(jump == 0, smooth, np.abs(b.value) + b.error), 0.0)
    return value, np.where(np.isinf(a.error) | np.isinf(b.error), np.inf, error)


def _power(x: Array, y: Array) -> Array:
    """x ** y; NumPy takes the root of minus infinity for exponents of a half."""
    return np.where(np.isneginf(x) & (y == 0.5), np.inf, np.power(x, y))


def powered(a: Bounded, b: Bounded) -> tuple[Array, Array]:
    """a ** b on floats, with the error that the operands bring in."""
    value, error = by_corners(_power, [a, b])
    low, _ = a.corners()
    # From 0 down it is monotone only where the exponent is a whole number of known sign.
    _, high = a.corners()
    whole = (b.error == 0) & (b.value == np.round(b.value)) & (b.value > 0)
    largest = np.maximum(np.abs(low), np.abs(high))
    around = np.power(largest, np.where(whole, b.value, 1.0)) + np.abs(value)
    crosses = (low <= 0) & (a.error > 0) | (low < 0) & (b.error > 0)
    error = np.where(crosses, np.where(whole, np.where(high < 0, error, around), np.inf), error)
    return value, error
