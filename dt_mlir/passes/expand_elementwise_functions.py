"""Elementwise functions that the target lacks, in terms of those that it has."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import math as pymath
from collections.abc import Callable
from typing import NamedTuple

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, f32, f64
from xdsl.ir import Attribute, Operation, SSAValue

from dt_mlir.builders.scalars import ScalarBuilder
from dt_mlir.dialects import elem
from dt_mlir.dialects.kernel import KernelOp


def _sign(e: ScalarBuilder, x: SSAValue) -> SSAValue:
    zero = e.constant(0)
    negative = e.select(e.compare(x, zero, "lt"), e.constant(-1), x if e.is_float else zero)
    # NaN and the zeros are their own sign.
    return e.select(e.compare(x, zero, "gt"), e.constant(1), negative)


def _gelu(e: ScalarBuilder, x: SSAValue) -> SSAValue:
    inner = e.call(math.ErfOp, e.mul(x, e.constant(pymath.sqrt(0.5))))
    return e.mul(e.mul(x, e.constant(0.5)), e.add(inner, e.constant(1)))


def _sigmoid(e: ScalarBuilder, x: SSAValue) -> SSAValue:
    one = e.constant(1)
    divisor = e.add(one, e.call(math.ExpOp, e.neg(x)))
    if e.type != f32 or in_accurate_kernel(e.op):
        return e.div(one, divisor)
    # `rsqrt` is one instruction; division is not.
    root = e.call(math.RsqrtOp, divisor)
    return e.mul(root, root)


def _silu(e: ScalarBuilder, x: SSAValue) -> SSAValue:
    return e.mul(x, e.insert(elem.ApplyOp("sigmoid", [x])))


def _softplus(e: ScalarBuilder, x: SSAValue) -> SSAValue:
    # log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)), which cannot overflow.
    tail = e.call(math.ExpOp, e.neg(e.call(math.AbsFOp, x)))
    return e.add(e.maximum(x, e.constant(0)), e.call(math.Log1pOp, tail))


def _clamp(e: ScalarBuilder, x: SSAValue, low: SSAValue, high: SSAValue) -> SSAValue:
    return e.minimum(e.maximum(x, low), high)


def _floor_div(e: ScalarBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    if e.is_float:
        return _floored(e, a, b)[0]
    # The target's quotient is rounded towards zero.
    divisor = _divisor(e, b)
    quotient = e.call(arith.DivSIOp, a, divisor)
    floored = e.sub(quotient, e.select(_off(e, a, divisor), e.constant(1), e.constant(0)))
    if divisor is b:
        return floored
    minus_one = e.compare(b, e.constant(-1), "eq")
    return e.select(minus_one, e.sub(e.constant(0), a), floored)


def _mod(e: ScalarBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    if e.is_float:
        return _floored(e, a, b)[1]
    divisor = _divisor(e, b)
    rest = e.call(arith.RemSIOp, a, divisor)
    return e.select(_off(e, a, divisor), e.add(rest, divisor), rest)


def _divisor(e: ScalarBuilder, b: SSAValue) -> SSAValue:
    """A divisor by which an integer can be divided: 1 in place of 0 and -1.

    Targets may trap where they divide by zero (masked elements too), and the compilers behind
    them may do anything; dividing the least number by -1 is no better.
    """
    if known_constant(b) not in (None, 0, -1):
        return b
    unsafe = e.call(
        arith.OrIOp, e.compare(b, e.constant(0), "eq"), e.compare(b, e.constant(-1), "eq")
    )
    return e.select(unsafe, e.constant(1), b)


def _floored(e: ScalarBuilder, a: SSAValue, b: SSAValue) -> tuple[SSAValue, SSAValue]:
    """a // b and a % b on floats, as Python and PyTorch define them.

    A quotient of two numbers of 24 bits that is not whole differs from the next whole number by
    more than f64 rounds off, up to 2^28; below that both are exact. In f64 itself the quotient
    may be off by one, which the sign of the rest tells.
    """
    narrow, wide = e.type, f64
    if narrow != wide:
        a, b = (e.insert(arith.ExtFOp(x, wide)) for x in (a, b))
    e = e.of_type(wide)
    quotient = e.call(math.FloorOp, e.div(a, b))
    rest = e.call(math.FmaOp, e.neg(quotient), b, a)
    zero, one, infinity = e.constant(0), e.constant(1), e.constant(pymath.inf)
    apart = e.call(arith.XOrIOp, e.compare(a, zero, "lt"), e.compare(b, zero, "lt"))
    if narrow == wide:
        low = e.call(
            arith.XOrIOp, e.compare(rest, zero, "lt"), e.compare(b, zero, "lt")
        )
        low = e.call(arith.AndIOp, low, e.compare(rest, zero, "ne"))
        quotient = e.select(low, e.sub(quotient, one), quotient)
        rest = e.select(low, e.add(rest, b), rest)
    # By an infinity the quotient is 0 or -1, and infinity times 0 is no rest.
    some = e.compare(e.call(math.AbsFOp, a), infinity, "lt")
    endless = e.call(arith.AndIOp, e.compare(e.call(math.AbsFOp, b), infinity, "eq"), some)
    down = e.call(arith.AndIOp, apart, e.compare(a, zero, "ne"))
    quotient = e.select(endless, e.select(down, e.constant(-1), zero), quotient)
    rest = e.select(endless, e.select(down, b, a), rest)
    # An infinity has no whole quotient (but by zero, as PyTorch has it).
    vague = e.call(
        arith.AndIOp,
        e.compare(e.call(math.AbsFOp, a), infinity, "eq"), e.compare(b, zero, "ne"),
    )
    quotient = e.select(vague, e.constant(pymath.nan), quotient)
    if narrow != wide:
        quotient, rest = (e.insert(arith.TruncFOp(x, narrow)) for x in (quotient, rest))
    return quotient, rest


def _off(e: ScalarBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """Returns whether truncated division differs from floored division."""
    zero = e.constant(0)
    inexact = e.compare(e.call(arith.RemSIOp, a, b), zero, "ne")
    signs = e.compare(e.call(arith.XOrIOp, a, b), zero, "lt")
    return e.call(arith.AndIOp, inexact, signs)


class _Rational(NamedTuple):
    """An odd function that tends to 1, as x p(x^2) / q(x^2), fitted for the least relative error.

    At the limit the quotient is more than 1 however its last places are rounded.
    """

    numerator: tuple[float, ...]
    denominator: tuple[float, ...]
    limit: float


_TANH = _Rational(
    (0.9999999970320708, 0.1347772793535439, 0.003611853605873093, 2.260225619797459e-05,
     1.634065752330863e-08),
    (1.0, 0.46811058308912074, 0.02631543012309004, 0.00034788572289276597, 8.946384568495946e-07),
    8.6,
)  # fmt: skip
"""Fitted on [0, 7.5], to 2^-28."""
_ERF = _Rational(
    (1.1283791408950663, 0.17967672982765737, 0.04797177517018823, 0.002911077895517689,
     0.00012898791108356482, -2.0648074236998034e-06, 2.331169307553585e-08),
    (1.0, 0.49256688903304585, 0.10670731845288342, 0.012691998399676555, 0.000783738259712039),
    3.85,
)  # fmt: skip
"""Fitted on [0, 3.7], to 2^-25."""


def _rational(e: ScalarBuilder, x: SSAValue, function: _Rational) -> SSAValue:
    """One special function and some 17 other instructions, where others take twice as many."""
    x = _clamp(e, x, e.constant(-function.limit), e.constant(function.limit))
    square = e.mul(x, x)
    top = e.mul(x, e.polynomial(square, function.numerator))
    bottom = e.polynomial(square, function.denominator)
    # The divisor lies between 1 and 500: the root of its square is itself, and one instruction.
    quotient = e.mul(top, e.call(math.RsqrtOp, e.mul(bottom, bottom)))
    # Beyond the limit it must be 1, not nearly: 1 + tanh(x) is to vanish where x is far below 0.
    return _clamp(e, quotient, e.constant(-1), e.constant(1))


def _tanh(e: ScalarBuilder, x: SSAValue) -> SSAValue:
    if e.type == f32:
        return _rational(e, x, _TANH)
    # (1 - t) / (1 + t) with t = exp(-2|x|) loses digits near 0; there the series is exact enough.
    magnitude = e.call(math.AbsFOp, x)
    t = e.call(math.ExpOp, e.mul(magnitude, e.constant(-2)))
    one = e.constant(1)
    large = e.div(e.sub(one, t), e.add(one, t))
    large = e.select(e.compare(x, e.constant(0), "lt"), e.neg(large), large)
    square = e.mul(x, x)
    series = e.polynomial(
        square,
        (-1 / 3, 2 / 15, -17 / 315, 62 / 2835, -1382 / 155925, 21844 / 6081075,
         -929569 / 638512875),
    )  # fmt: skip
    small = e.add(x, e.mul(e.mul(x, square), series))
    return e.select(e.compare(magnitude, e.constant(0.05), "lt"), small, large)


def _erf(e: ScalarBuilder, x: SSAValue) -> SSAValue:
    return _rational(e, x, _ERF)


def _exp(e: ScalarBuilder, x: SSAValue) -> SSAValue:
    """Expands to a power of 2, the target's instruction; constant factors of x join log2(e)."""
    log2_e = 1 / pymath.log(2)
    factors: list[float] = []
    while True:
        owner = x.owner
        if isinstance(owner, arith.NegfOp):
            x, known = owner.operand, -1.0
        elif isinstance(owner, arith.MulfOp) and (found := known_constant(owner.rhs)) is not None:
            x, known = owner.lhs, found
        elif isinstance(owner, arith.MulfOp) and (found := known_constant(owner.lhs)) is not None:
            x, known = owner.rhs, found
        else:
            break
        if not _may_join([*factors, known], log2_e, e.type):
            x = owner.results[0]
            break
        factors.append(known)
    return e.call(math.Exp2Op, e.mul(x, e.constant(pymath.prod(factors, start=log2_e))))


def _may_join(factors: list[float], last: float, type: Attribute) -> bool:
    """Returns whether multiplying by factors one after the other is multiplying by their product.

    Where all make a number larger, or all smaller, what a step makes infinite or zero the product
    does too, and the power of 2 of what is nearly zero is 1. The product must be a normal number.
    """
    sizes = [abs(factor) for factor in factors]
    product = pymath.prod(sizes, start=last)
    least, most = (2.0**-126, 2.0**127) if type == f32 else (2.0**-1022, 2.0**1023)
    one_way = all(size <= 1 for size in sizes) or all(size >= 1 for size in sizes)
    return one_way and least <= product <= most


def _expm1(e: ScalarBuilder, x: SSAValue) -> SSAValue:
    # exp(x) - 1 = tanh(x/2) * (exp(x) + 1)
    half = e.mul(x, e.constant(0.5))
    power = e.call(math.ExpOp, x)
    small = e.mul(_tanh(e, half), e.add(power, e.constant(1)))
    near = e.compare(e.call(math.AbsFOp, x), e.constant(0.5), "lt")
    return e.select(near, small, e.sub(power, e.constant(1)))


def _log1p(e: ScalarBuilder, x: SSAValue) -> SSAValue:
    # log(u) * x / (u - 1) with u = 1 + x corrects the rounding of u (Kahan).
    one = e.constant(1)
    u = e.add(x, one)
    rest = e.sub(u, one)
    exact = e.compare(rest, e.constant(0), "eq")
    infinite = e.compare(u, e.constant(pymath.inf), "eq")
    safe = e.select(exact, one, rest)
    corrected = e.mul(e.call(math.LogOp, u), e.div(x, safe))
    return e.select(exact, x, e.select(infinite, u, corrected))


def _tan(e: ScalarBuilder, x: SSAValue) -> SSAValue:
    return e.div(e.call(math.SinOp, x), e.call(math.CosOp, x))


def _log10(e: ScalarBuilder, x: SSAValue) -> SSAValue:
    return e.mul(e.call(math.Log2Op, x), e.constant(pymath.log10(2)))


def _trunc(e: ScalarBuilder, x: SSAValue) -> SSAValue:
    down, up = e.call(math.FloorOp, x), e.call(math.CeilOp, x)
    return e.select(e.compare(x, e.constant(0), "lt"), up, down)


def _round_even(e: ScalarBuilder, x: SSAValue) -> SSAValue:
    # Adding 1.5 * 2^(digits - 1) leaves no room for a fraction, and hardware rounds to even.
    digits = 52 if e.type == f64 else 23
    magic = e.constant(1.5 * 2.0**digits)
    rounded = e.sub(e.add(x, magic), magic)
    # The sum has lost the sign of a zero.
    zero = e.compare(rounded, e.constant(0), "eq")
    rounded = e.select(zero, e.mul(x, e.constant(0)), rounded)
    small = e.compare(e.call(math.AbsFOp, x), e.constant(2.0 ** (digits - 1)), "lt")
    return e.select(small, rounded, x)


def known_constant(value: SSAValue) -> float | None:
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, FloatAttr | IntegerAttr):
        return owner.value.value.data
    return None


def _power(e: ScalarBuilder, x: SSAValue, exponent: int) -> SSAValue:
    """x to a positive whole power, by repeated squaring."""
    result: SSAValue | None = None
    square = x
    while True:
        if exponent & 1:
            result = square if result is None else e.mul(result, square)
        exponent >>= 1
        if not exponent:
            assert result is not None
            return result
        square = e.mul(square, square)


def _powf(e: ScalarBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    known = known_constant(y)
    if known is not None and 0 < abs(known) <= 16 and known == int(known):
        power = _power(e, x, int(abs(known)))
        return power if known > 0 else e.div(e.constant(1), power)
    if known == 0:
        return e.constant(1)
    if known == 0.5:
        # Of minus infinity the power is infinite, the root is not a number.
        return e.call(math.SqrtOp, e.select(
            e.compare(x, e.constant(-pymath.inf), "eq"), e.constant(pymath.inf), x))
    zero, one = e.constant(0), e.constant(1)
    magnitude = e.call(math.AbsFOp, x)
    # All powers of 1 are 1, the infinite ones too.
    value = e.select(e.compare(magnitude, one, "eq"), one, _power_of_magnitude(e, magnitude, y))
    whole = e.compare(e.call(math.FloorOp, y), y, "eq")
    half = e.mul(y, e.constant(0.5))
    odd = e.call(arith.AndIOp, whole, e.compare(e.call(math.FloorOp, half), half, "ne"))
    signed = e.select(odd, e.neg(value), value)
    # A negative number has only whole powers; infinite ones count as whole.
    negative = e.select(whole, signed, e.constant(pymath.nan))
    finite = e.compare(magnitude, e.constant(pymath.inf), "ne")
    negative = e.select(finite, negative, signed)
    # The sign of a zero is that of its reciprocal.
    below = e.compare(e.div(one, x), zero, "lt")
    zeros = e.select(e.call(arith.AndIOp, odd, below), signed, value)
    result = e.select(e.compare(x, zero, "lt"), negative, zeros)
    return e.select(e.compare(y, zero, "eq"), one, result)


def _power_of_magnitude(e: ScalarBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """x ** y of x that is not negative; in an accurate kernel f32 goes through f64."""
    narrow = e.type
    widened = narrow != f64 and in_accurate_kernel(e.op)
    if widened:
        e = e.of_type(f64)
        x, y = (e.insert(arith.ExtFOp(v, f64)) for v in (x, y))
    value = e.call(math.Exp2Op, e.mul(y, e.call(math.Log2Op, x)))
    return e.insert(arith.TruncFOp(value, narrow)) if widened else value


def _powi(e: ScalarBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """x ** y of integers; of a negative exponent the truncated quotient, as of 1 by a power."""
    known = known_constant(y)
    one, zero = e.constant(1), e.constant(0)
    if known is not None and known > 0:
        return _power(e, x, int(known))
    if known == 0:
        return one
    # Of the negative powers only those of 1 and -1 are whole, and the lowest bit says which.
    # x * x may be 1 of others, too, as products wrap.
    unit = e.call(arith.OrIOp, e.compare(x, one, "eq"), e.compare(x, e.constant(-1), "eq"))
    if known is not None:
        return e.select(unit, x if int(known) & 1 else one, zero)
    result, square = one, x
    bits = _bits(y)
    for bit in range(bits):
        mask = e.constant(1 << bit)
        has = e.compare(e.call(arith.AndIOp, y, mask), zero, "ne")
        result = e.select(has, e.mul(result, square), result)
        if bit < bits - 1:
            square = e.mul(square, square)
    return e.select(e.compare(y, zero, "lt"), e.select(unit, result, zero), result)


def _bits(value: SSAValue) -> int:
    """Returns how many of the lowest bits of an integer say its value where it is not negative."""
    op = value.owner
    assert isinstance(value.type, IntegerType)
    if isinstance(op, arith.ExtUIOp) and isinstance(op.input.type, IntegerType):
        return op.input.type.width.data
    if isinstance(op, arith.ExtSIOp) and isinstance(op.input.type, IntegerType):
        return max(op.input.type.width.data - 1, 1)
    return value.type.width.data - 1


def in_accurate_kernel(op: Operation) -> bool:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, KernelOp):
        parent = parent.parent_op()
    return parent is not None and parent.is_accurate


APPLY_EXPANSIONS: dict[str, Callable[..., SSAValue]] = {
    "sign": _sign,
    "relu": lambda e, x: e.maximum(x, e.constant(0)),
    "gelu": _gelu,
    "silu": _silu,
    "softplus": _softplus,
    "clamp": _clamp,
    "floordiv": _floor_div,
    "mod": _mod,
    "sigmoid": _sigmoid,
}
"""Expansions of `elem.apply`."""

OP_EXPANSIONS: dict[str, Callable[..., SSAValue]] = {
    "arith.floordivsi": _floor_div,
    "math.exp": _exp,
    "math.erf": _erf,
    "math.tanh": _tanh,
    "math.expm1": _expm1,
    "math.log1p": _log1p,
    "math.tan": _tan,
    "math.log10": _log10,
    "math.trunc": _trunc,
    "math.roundeven": _round_even,
    "math.powf": _powf,
    "math.ipowi": _powi,
}
"""Expansions of upstream operations."""
