"""The elementwise functions of DT: one row each, from which every level takes what it needs.

The frontend takes the name, the number of operands and the types, `elem.apply` what it may name,
and the documentation the sentence. How a function is carried out on the target is the business of
`expand-elementwise` and of the emitter.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Any, NamedTuple


class Domain(Enum):
    """The types in which a function is computed."""

    FLOAT = auto()
    """Floating point; integers are converted to f32 first."""
    NUMBER = auto()
    """The common type of its operands, floating point or integer."""


class Function(NamedTuple):
    """An elementwise function."""

    name: str
    arity: int
    domain: Domain
    summary: str
    float_op: str | None
    """The upstream operation for floating point, or None: `elem.apply` then."""
    int_op: str | None = None
    """The upstream operation for integers, or None: `elem.apply` then."""
    expansion: Callable[..., Any] | None = None
    """The function in terms of others, if it is not this package's: takes a
    `builders.scalars.ScalarBuilder` and the operands, and returns the result. Interpreters run it,
    and `expand-elementwise` puts it in the function's place."""


_F, _N = Domain.FLOAT, Domain.NUMBER

FUNCTIONS: dict[str, Function] = {
    f.name: f
    for f in (
        Function("exp", 1, _F, "e to the power x", "math.exp"),
        Function("exp2", 1, _F, "2 to the power x", "math.exp2"),
        Function("expm1", 1, _F, "exp(x) - 1, exact for small x", "math.expm1"),
        Function("log", 1, _F, "the natural logarithm", "math.log"),
        Function("log2", 1, _F, "the logarithm to base 2", "math.log2"),
        Function("log10", 1, _F, "the logarithm to base 10", "math.log10"),
        Function("log1p", 1, _F, "log(1 + x), exact for small x", "math.log1p"),
        Function("sqrt", 1, _F, "the square root", "math.sqrt"),
        Function("rsqrt", 1, _F, "one over the square root", "math.rsqrt"),
        Function("sin", 1, _F, "the sine", "math.sin"),
        Function("cos", 1, _F, "the cosine", "math.cos"),
        Function("tan", 1, _F, "the tangent", "math.tan"),
        Function("tanh", 1, _F, "the hyperbolic tangent", "math.tanh"),
        Function("erf", 1, _F, "the error function", "math.erf"),
        Function("floor", 1, _F, "the largest whole number not above x", "math.floor"),
        Function("ceil", 1, _F, "the smallest whole number not below x", "math.ceil"),
        Function("trunc", 1, _F, "x without its fraction", "math.trunc"),
        Function("round", 1, _F, "the nearest whole number, halves to even", "math.roundeven"),
        Function("abs", 1, _N, "the absolute value", "math.absf", "math.absi"),
        Function("sign", 1, _N, "-1, 0 or 1", None),
        Function("sigmoid", 1, _F, "1 / (1 + exp(-x))", None),
        Function("relu", 1, _N, "maximum(x, 0)", None),
        Function("gelu", 1, _F, "x times the normal distribution function of x (exact)", None),
        Function("silu", 1, _F, "x * sigmoid(x)", None),
        Function("softplus", 1, _F, "log(1 + exp(x))", None),
        Function("maximum", 2, _N, "the larger; NaN wins", "arith.maximumf", "arith.maxsi"),
        Function("minimum", 2, _N, "the smaller; NaN wins", "arith.minimumf", "arith.minsi"),
        Function("pow", 2, _N, "x to the power y, as x ** y", "math.powf", "math.ipowi"),
        Function("fma", 3, _F, "x * y + z, rounded once", "math.fma"),
        Function("clamp", 3, _N, "minimum(maximum(x, low), high)", None),
    )
}
"""The functions that a program may call, by name."""

OPERATORS: dict[str, Function] = {
    f.name: f
    for f in (
        Function("floordiv", 2, _N, "x // y: the quotient rounded down", None, "arith.floordivsi"),
        Function("mod", 2, _N, "x % y: the rest, with the sign of y", None, None),
    )
}
"""Operators of the language for which there is no upstream operation on every type."""

APPLICABLE: dict[str, Function] = {
    f.name: f for f in (*FUNCTIONS.values(), *OPERATORS.values()) if None in (f.float_op, f.int_op)
}
"""The functions that `elem.apply` may name."""
