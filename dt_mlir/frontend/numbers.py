"""The arithmetic of the numbers of a program: operators and functions of them, in f64.

A number has no type until it meets a value, so that `A[x] * sqrt(2)` of an `f64` has all digits.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction

from dt_mlir.elementwise import FUNCTIONS, Domain

Numeric = int | float


def _ieee(function: Callable[..., float], pole: float = math.nan) -> Callable[..., float]:
    """Returns a function of Python as IEEE 754 has it: it gives NaN, and infinities at poles.

    Args:
        function: the function; it raises `ValueError` where its value is not a finite number.
        pole: its value at 0, where it raises `ValueError` there.
    """

    def apply(*values: float) -> float:
        try:
            return function(*values)
        except ValueError:
            return pole if values[0] == 0 else math.nan

    return apply


def _log1p(x: float) -> float:
    return -math.inf if x == -1 else _ieee(math.log1p)(x)


def _rsqrt(x: float) -> float:
    return math.copysign(math.inf, x) if x == 0 else 1 / _ieee(math.sqrt)(x)


def _whole(function: Callable[[float], int]) -> Callable[[float], float]:
    """Returns a function to whole numbers that leaves infinities, NaN and the zeros' signs."""

    def apply(x: float) -> float:
        return math.copysign(function(x), x) if math.isfinite(x) else x

    return apply


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _silu(x: float) -> float:
    return x * _sigmoid(x)


def _gelu(x: float) -> float:
    return x * 0.5 * math.erfc(-x / math.sqrt(2))


def _softplus(x: float) -> float:
    return max(x, 0.0) + math.log1p(math.exp(-abs(x))) if x == x else x


def _fma(x: float, y: float, z: float) -> float:
    if not (math.isfinite(x) and math.isfinite(y)):
        return x * y + z
    if not math.isfinite(z):
        # The product is finite, however large.
        return z
    total = Fraction(x) * Fraction(y) + Fraction(z)
    return float(total) if total else x * y + z


def _sign(x: Numeric) -> Numeric:
    if x == 0 or x != x:
        return x
    return 1 if x > 0 else -1


def _maximum(x: Numeric, y: Numeric) -> Numeric:
    return x if x != x or (x >= y and y == y) else y


def _relu(x: Numeric) -> Numeric:
    return _maximum(x, 0)


def _clamp(x: Numeric, low: Numeric, high: Numeric) -> Numeric:
    return _minimum(_maximum(x, low), high)


def _minimum(x: Numeric, y: Numeric) -> Numeric:
    return x if x != x or (x <= y and y == y) else y


def _power(x: Numeric, y: Numeric) -> Numeric:
    if isinstance(x, int) and isinstance(y, int) and y >= 0:
        # More than 64 bits are too many, and Python would compute them all.
        return x ** (min(y, 64) if abs(x) > 1 else y)
    if x == 0 and y < 0 and isinstance(x, int):
        raise ZeroDivisionError
    try:
        return math.pow(x, y)
    except ValueError:
        if x == 0:
            return math.copysign(math.inf, x) if y % 2 == 1 else math.inf
        return math.nan


_VALUES: dict[str, Callable[..., Numeric]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": _power,
    "exp": math.exp, "exp2": math.exp2, "expm1": math.expm1,
    "log": _ieee(math.log, -math.inf), "log2": _ieee(math.log2, -math.inf),
    "log10": _ieee(math.log10, -math.inf), "log1p": _log1p,
    "sqrt": _ieee(math.sqrt), "rsqrt": _rsqrt,
    "sin": _ieee(math.sin), "cos": _ieee(math.cos), "tan": _ieee(math.tan),
    "tanh": math.tanh, "erf": math.erf,
    "floor": _whole(math.floor), "ceil": _whole(math.ceil), "trunc": _whole(math.trunc),
    "round": _whole(round),
    "abs": abs, "pow": _power, "sign": _sign, "sigmoid": _sigmoid, "relu": _relu,
    "gelu": _gelu, "silu": _silu, "softplus": _softplus,
    "maximum": _maximum, "minimum": _minimum, "fma": _fma, "clamp": _clamp,
}  # fmt: skip
"""Operators and functions by name; those of a float domain take floats."""


def has_value(name: str) -> bool:
    """Returns whether an operator or a function of numbers is a number."""
    return name in _VALUES


def value_of(name: str, operands: Sequence[Numeric]) -> Numeric:
    """Returns the number that an operator or a function makes of numbers.

    Args:
        name: an operator (`+ - * / // % **`) or a function's name.
        operands: its operands. Whole ones are integers, unless one of them is a float or the
            function is one of floats.

    Raises:
        ZeroDivisionError: where a number is divided by zero.
        OverflowError: where finite numbers make one that is too large for f64.
    """
    function = FUNCTIONS.get(name)
    in_floats = function is not None and function.domain is Domain.FLOAT
    if in_floats or any(isinstance(operand, float) for operand in operands):
        found = float(_VALUES[name](*map(float, operands)))
        if name in ("+", "-", "*") and math.isinf(found) and all(map(math.isfinite, operands)):
            raise OverflowError
        return found
    return _VALUES[name](*operands)
