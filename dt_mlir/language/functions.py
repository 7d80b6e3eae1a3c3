"""The functions of DT in Python.

Written by docs/generate.py from the definitions; not to be edited.
"""

from __future__ import annotations

from dt_mlir.language.declarations import Label
from dt_mlir.language.expressions import Expr, call

__all__ = [
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sin", "cos",
    "tan", "tanh", "erf", "floor", "ceil", "trunc", "round", "abs", "sign", "sigmoid", "relu",
    "gelu", "silu", "softplus", "maximum", "minimum", "pow", "fma", "clamp",
    "constant_exterior", "repeat_edge", "repeat_image", "mirror_image", "mirror_interior",
    "rsum", "rprod", "rmax", "rmin", "rmean", "rany", "rall", "rargmax", "rargmin", "rdot",
]  # fmt: skip

Value = Expr | int | float
"""The operands of expressions; numbers have no type of their own."""


def exp(x: Value) -> Expr:
    """Returns e to the power x."""
    return call("exp", x)


def exp2(x: Value) -> Expr:
    """Returns 2 to the power x."""
    return call("exp2", x)


def expm1(x: Value) -> Expr:
    """Returns exp(x) - 1, exact for small x."""
    return call("expm1", x)


def log(x: Value) -> Expr:
    """Returns the natural logarithm."""
    return call("log", x)


def log2(x: Value) -> Expr:
    """Returns the logarithm to base 2."""
    return call("log2", x)


def log10(x: Value) -> Expr:
    """Returns the logarithm to base 10."""
    return call("log10", x)


def log1p(x: Value) -> Expr:
    """Returns log(1 + x), exact for small x."""
    return call("log1p", x)


def sqrt(x: Value) -> Expr:
    """Returns the square root."""
    return call("sqrt", x)


def rsqrt(x: Value) -> Expr:
    """Returns one over the square root."""
    return call("rsqrt", x)


def sin(x: Value) -> Expr:
    """Returns the sine."""
    return call("sin", x)


def cos(x: Value) -> Expr:
    """Returns the cosine."""
    return call("cos", x)


def tan(x: Value) -> Expr:
    """Returns the tangent."""
    return call("tan", x)


def tanh(x: Value) -> Expr:
    """Returns the hyperbolic tangent."""
    return call("tanh", x)


def erf(x: Value) -> Expr:
    """Returns the error function."""
    return call("erf", x)


def floor(x: Value) -> Expr:
    """Returns the largest whole number not above x."""
    return call("floor", x)


def ceil(x: Value) -> Expr:
    """Returns the smallest whole number not below x."""
    return call("ceil", x)


def trunc(x: Value) -> Expr:
    """Returns x without its fraction."""
    return call("trunc", x)


def round(x: Value) -> Expr:
    """Returns the nearest whole number, halves to even."""
    return call("round", x)


def abs(x: Value) -> Expr:
    """Returns the absolute value."""
    return call("abs", x)


def sign(x: Value) -> Expr:
    """Returns -1, 0 or 1."""
    return call("sign", x)


def sigmoid(x: Value) -> Expr:
    """Returns 1 / (1 + exp(-x))."""
    return call("sigmoid", x)


def relu(x: Value) -> Expr:
    """Returns maximum(x, 0)."""
    return call("relu", x)


def gelu(x: Value) -> Expr:
    """Returns x times the normal distribution function of x (exact)."""
    return call("gelu", x)


def silu(x: Value) -> Expr:
    """Returns x * sigmoid(x)."""
    return call("silu", x)


def softplus(x: Value) -> Expr:
    """Returns log(1 + exp(x))."""
    return call("softplus", x)


def maximum(x: Value, y: Value) -> Expr:
    """Returns the larger; NaN wins."""
    return call("maximum", x, y)


def minimum(x: Value, y: Value) -> Expr:
    """Returns the smaller; NaN wins."""
    return call("minimum", x, y)


def pow(x: Value, y: Value) -> Expr:
    """Returns x to the power y, as x ** y."""
    return call("pow", x, y)


def fma(x: Value, y: Value, z: Value) -> Expr:
    """Returns x * y + z, rounded once."""
    return call("fma", x, y, z)


def clamp(x: Value, low: Value, high: Value) -> Expr:
    """Returns minimum(maximum(x, low), high)."""
    return call("clamp", x, low, high)


def constant_exterior(read: Expr, value: Value) -> Expr:
    """Returns an element of a tensor; out of bounds it is the given value."""
    return call("constant_exterior", read, value)


def repeat_edge(read: Expr) -> Expr:
    """Returns an element of a tensor; out of bounds it is the nearest element."""
    return call("repeat_edge", read)


def repeat_image(read: Expr) -> Expr:
    """Returns an element of a tensor; out of bounds it is the element of the tensor repeated
    without end.
    """
    return call("repeat_image", read)


def mirror_image(read: Expr) -> Expr:
    """Returns an element of a tensor; out of bounds it is the element of the tensor mirrored at
    its edges, which occur twice.
    """
    return call("mirror_image", read)


def mirror_interior(read: Expr) -> Expr:
    """Returns an element of a tensor; out of bounds it is the element of the tensor mirrored at
    its edges, which occur once.
    """
    return call("mirror_interior", read)


def rsum(value: Value, *domain: Label | Expr) -> Expr:
    """Returns the sum over the labels, at the points where the conditions behind them hold."""
    return call("rsum", value, *domain)


def rprod(value: Value, *domain: Label | Expr) -> Expr:
    """Returns the product over the labels, at the points where the conditions behind them hold."""
    return call("rprod", value, *domain)


def rmax(value: Value, *domain: Label | Expr) -> Expr:
    """Returns the maximum over the labels, at the points where the conditions behind them hold."""
    return call("rmax", value, *domain)


def rmin(value: Value, *domain: Label | Expr) -> Expr:
    """Returns the minimum over the labels, at the points where the conditions behind them hold."""
    return call("rmin", value, *domain)


def rmean(value: Value, *domain: Label | Expr) -> Expr:
    """Returns the mean over the labels, at the points where the conditions behind them hold."""
    return call("rmean", value, *domain)


def rany(value: Value, *domain: Label | Expr) -> Expr:
    """Returns the disjunction over the labels, at the points where the conditions behind them
    hold.
    """
    return call("rany", value, *domain)


def rall(value: Value, *domain: Label | Expr) -> Expr:
    """Returns the conjunction over the labels, at the points where the conditions behind them
    hold.
    """
    return call("rall", value, *domain)


def rargmax(value: Value, *domain: Label | Expr) -> Expr:
    """Returns the index of the first maximum over the labels, at the points where the conditions
    behind them hold.
    """
    return call("rargmax", value, *domain)


def rargmin(value: Value, *domain: Label | Expr) -> Expr:
    """Returns the index of the first minimum over the labels, at the points where the conditions
    behind them hold.
    """
    return call("rargmin", value, *domain)


def rdot(a: Value, b: Value, *domain: Label | Expr) -> Expr:
    """Returns the sum of the products of two operands over the labels, at the points where the
    conditions behind them hold.
    """
    return call("rdot", a, b, *domain)
