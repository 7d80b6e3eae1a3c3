"""Numbers of exact arithmetic: pairs of residues, infinities and not a number, in 64 bits each.

A float is an element of the field of integers modulo a prime p, or one of three codes. Beside it
stands, where it is known, the float's residue modulo q = (p - 1) / 2, which is a prime too: the
exponent that the float is, where it is one. The elements of the field that are squares form a
group of q elements, so that exp(e) = g^e for a generator g turns sums into products:
exp(a + b) = exp(a) exp(b). The construction is that of Mirage (Wu et al., Mirage: A
Multi-Level Superoptimizer for Tensor Programs, OSDI 2025).

A code's low 31 bits are the residue modulo p, or `INFINITY`, `MINUS_INFINITY` or `NAN`; the 30 bits
above are 1 + the residue modulo q, or 0 where it is unknown; the two bits above those are 1 for
a positive number, 2 for a negative one, and 0 where that is unknown. A result's exponent is
unknown where one of an operand is. The sign decides products with infinities alone: that of a
constant, an input, an exponential and of products of them is known, that of a sum never, whatever
the order of its terms; nobody knows a product of an infinity with a number of unknown sign.
"""

# pyright: reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from math import prod

import numpy as np

from dt_mlir.interpreters.bounded import Array

PRIME = 2147483579
"""The modulus of values: a safe prime, so that `EXPONENTS` is prime."""
EXPONENTS = (PRIME - 1) // 2
"""The modulus of exponents: a prime."""
INFINITY, MINUS_INFINITY, NAN = PRIME, PRIME + 1, PRIME + 2
"""The residues of what is not an element of the field."""
_BITS = 31
_MASK = 2**_BITS - 1
_SIGN = 61
_POSITIVE, _NEGATIVE = 1 << _SIGN, 2 << _SIGN
_BOTH = (1 << _SIGN) - 1
"""The bits of both residues."""
_SCALE = 2**8
"""The multiplier of numbers that are compared."""
_GENERATOR = 4
"""A square that is not 1, and thus of order q."""
_LEAST_POWER = -1130
"""The exponent of the least power of two that is a factor of a float's mantissa."""


def residues(codes: Array) -> Array:
    """Returns the residues modulo p, and codes of what has none."""
    return codes & _MASK


def has_exponents(codes: Array) -> Array:
    """Returns where the exponent is known."""
    return (codes & _BOTH) > _MASK


def packed(values: Array, exponents: Array, known: Array | bool = True) -> Array:
    """Returns codes of residues modulo p and modulo q.

    Args:
        values: the residues modulo p, or codes of what has none.
        exponents: the residues modulo q.
        known: where they are known.
    """
    return np.where(known & (values < PRIME), values | (exponents + 1) << _BITS, values)


def _exponents(codes: Array) -> Array:
    """Returns the residues modulo q, and -1 where they are unknown."""
    return ((codes & _BOTH) >> _BITS) - 1


def _signs(codes: Array) -> Array:
    """Returns the bits of the sign."""
    return codes & (_POSITIVE | _NEGATIVE)


def _opposite(signs: Array) -> Array:
    """Returns the bits of the other sign."""
    return np.where(signs == 0, 0, signs ^ (_POSITIVE | _NEGATIVE))


def _is_below(codes: Array) -> Array:
    """Returns where a number is negative; its place decides where its sign is unknown."""
    signs = _signs(codes)
    return np.where(signs == 0, ordered(codes) < 0, signs == _NEGATIVE)


def _with_signs(codes: Array, signs: Array) -> Array:
    """Returns codes with the bits of a sign, but for 0 and what is not a number."""
    values = residues(codes)
    return np.where((values < PRIME) & (values != 0), codes & _BOTH | signs, codes)


def _plain(*values: Array) -> bool:
    return all(bool(np.all(x < PRIME)) for x in values)


def _without(*codes: Array) -> bool:
    """Returns whether no exponent is known."""
    return not any(bool(np.any(has_exponents(x))) for x in codes)


@cache
def _powers(modulus: int) -> Array:
    """Returns the powers of two from the least."""
    found = [pow(2, _LEAST_POWER, modulus)]
    for _ in range(2200):
        found.append(found[-1] * 2 % modulus)
    return np.array(found, np.int64)


def encoded(values: Array, exponents: bool = False) -> Array:
    """Returns the codes of floats: m 2^e is the product of m and a power of two.

    Args:
        values: the floats.
        exponents: whether to give their exponents too.
    """
    x = np.asarray(values, np.float64)
    finite = np.isfinite(x)
    mantissa, exponent = np.frexp(np.where(finite, x, 0.0))
    whole = np.asarray(mantissa * 2.0**53).astype(np.int64)
    place = np.asarray(exponent, np.int64) - 53 - _LEAST_POWER
    special = np.where(np.isnan(x), NAN, np.where(x > 0, INFINITY, MINUS_INFINITY))
    values = np.where(finite, whole % PRIME * _powers(PRIME)[place] % PRIME, special)
    if exponents:
        values = packed(values, whole % EXPONENTS * _powers(EXPONENTS)[place] % EXPONENTS)
    return _with_signs(values, np.where(x > 0, _POSITIVE, _NEGATIVE))


def of_integers(values: Array, exponents: bool) -> Array:
    """Returns the codes of integers."""
    whole = np.asarray(values).astype(np.int64)
    codes = packed(whole % PRIME, whole % EXPONENTS, exponents)
    return _with_signs(codes, np.where(whole > 0, _POSITIVE, _NEGATIVE))


def ordered(codes: Array) -> Array:
    """Returns the floats by which codes are compared.

    Numbers with up to 8 binary places, as constants have them, are themselves; what is random
    has some place among them. Different residues have different places.
    """
    values = residues(codes)
    scaled = np.where(values < PRIME, values, 0) * _SCALE % PRIME
    signed = np.where(scaled > PRIME // 2, scaled - PRIME, scaled) / _SCALE
    result = np.where(values == INFINITY, np.inf, signed)
    result = np.where(values == MINUS_INFINITY, -np.inf, result)
    return np.where(values == NAN, np.nan, result)


def at_places(places: Array, exponents: Array | None) -> Array:
    """Returns the codes of numbers that have some places in the order.

    Args:
        places: integers of less than p / 2 in magnitude; the order of codes is theirs.
        exponents: the residues modulo q; None: unknown.
    """
    values = places % PRIME * pow(_SCALE, -1, PRIME) % PRIME
    codes = values if exponents is None else packed(values, exponents)
    return _with_signs(codes, np.where(places > 0, _POSITIVE, _NEGATIVE))


def add(a: Array, b: Array) -> Array:
    """Returns a + b."""
    x, y = residues(a), residues(b)
    total = (x + y) % PRIME
    if not _plain(x, y):
        up, down = (x == INFINITY) | (y == INFINITY), (x == MINUS_INFINITY) | (y == MINUS_INFINITY)
        nan = (x == NAN) | (y == NAN) | (up & down)
        infinite = np.where(down, MINUS_INFINITY, total)
        total = np.where(nan, NAN, np.where(up, INFINITY, infinite))
    if _without(a, b):
        return total
    known = has_exponents(a) & has_exponents(b)
    return packed(total, (_exponents(a) + _exponents(b)) % EXPONENTS, known)


def negative(a: Array) -> Array:
    """Returns -a."""
    x = residues(a)
    special = np.where(x == INFINITY, MINUS_INFINITY, np.where(x == MINUS_INFINITY, INFINITY, NAN))
    result = np.where(x < PRIME, (PRIME - x) % PRIME, special)
    if not _without(a):
        result = packed(result, -_exponents(a) % EXPONENTS, has_exponents(a))
    return _with_signs(result, _opposite(_signs(a)))


def absolute(a: Array) -> Array:
    """Returns |a|."""
    return _with_signs(np.where(_is_below(a), negative(a), a), np.asarray(_POSITIVE))


def multiply(a: Array, b: Array) -> Array:
    """Returns a * b."""
    x, y = residues(a), residues(b)
    if _plain(x, y):
        product = x * y % PRIME
    else:
        product = np.where(x < PRIME, x, 0) * np.where(y < PRIME, y, 0) % PRIME
        infinite = (x == INFINITY) | (x == MINUS_INFINITY) | (y == INFINITY) | (y == MINUS_INFINITY)
        nan = (x == NAN) | (y == NAN) | (infinite & ((x == 0) | (y == 0)))
        below = _is_below(a) ^ _is_below(b)
        special = np.where(below, MINUS_INFINITY, INFINITY)
        product = np.where(nan, NAN, np.where(infinite, special, product))
    if not _without(a, b):
        known = has_exponents(a) & has_exponents(b)
        product = packed(product, _exponents(a) * _exponents(b) % EXPONENTS, known)
    left, right = _signs(a), _signs(b)
    sign = np.where(left == right, _POSITIVE, _NEGATIVE)
    return _with_signs(product, np.where((left == 0) | (right == 0), 0, sign))


def doubtful(a: Array, b: Array) -> Array:
    """Returns where one factor is infinite and the sign of the other one, which is not 0, unknown.

    The sign of such a product is arbitrary.
    """
    x, y = residues(a), residues(b)
    if _plain(x, y):
        return np.zeros((), bool)
    left, right = (np.isin(z, (INFINITY, MINUS_INFINITY)) for z in (x, y))
    return left & _unsigned(b) | right & _unsigned(a)


def _unsigned(codes: Array) -> Array:
    """Returns where the sign of a number other than 0 is unknown."""
    values = residues(codes)
    return (values < PRIME) & (values != 0) & (_signs(codes) == 0)


def are_doubtful(codes: Array, axes: tuple[int, ...]) -> Array:
    """Returns where the sign of a product along axes is arbitrary."""
    infinite = np.isin(residues(codes), (INFINITY, MINUS_INFINITY))
    return np.any(infinite, axis=axes) & np.any(_unsigned(codes), axis=axes)


def _power(base: Array, exponent: Array | int, modulus: int) -> Array:
    """Returns powers of residues, by squaring."""
    base, exponent = np.broadcast_arrays(base, exponent)
    result = np.ones_like(base)
    while np.any(exponent):
        result = np.where(exponent & 1, result * base % modulus, result)
        base = base * base % modulus
        exponent = exponent >> 1
    return result


def inverse(a: Array) -> Array:
    """Returns 1 / a, by Fermat: a^(p-2); of 0 infinity."""
    x = residues(a)
    result = _power(np.where(x < PRIME, x, 0), PRIME - 2, PRIME)
    special = np.where(x == NAN, NAN, 0)
    result = np.where(x == 0, INFINITY, np.where(x < PRIME, result, special))
    if not _without(a):
        known = has_exponents(a) & (_exponents(a) != 0)
        exponents = _power(np.where(known, _exponents(a), 1), EXPONENTS - 2, EXPONENTS)
        result = packed(result, exponents, known)
    return _with_signs(result, _signs(a))


def exponential(a: Array, logarithm: float = 1.0) -> Array:
    """Returns exp(a / logarithm), whose exponents are unknown.

    Where the exponent of a is unknown the result is an abstract symbol.

    Args:
        a: the codes.
        logarithm: the constant c of b^x = exp(x / c) for a base b; 1 for e.
    """
    x = residues(a)
    divisor = int(_exponents(encoded(np.asarray(logarithm), exponents=True)))
    base = pow(_GENERATOR, pow(divisor, -1, EXPONENTS), PRIME)
    known = has_exponents(a)
    power = _power(np.asarray(base, np.int64), np.where(known, _exponents(a), 0), PRIME)
    result = np.where(known, power, symbol(f"exponential {logarithm}", [x]))
    result = np.where(x == MINUS_INFINITY, 0, np.where(x == INFINITY, INFINITY, result))
    return _with_signs(np.where(x == NAN, NAN, result), np.asarray(_POSITIVE))


def symbol(name: str, operands: Sequence[Array]) -> Array:
    """Returns an abstract function: a hash of its name and operands (the mixer of SplitMix64)."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    state = np.asarray(seed, np.uint64)
    with np.errstate(over="ignore"):
        for operand in operands:
            state = (state ^ residues(operand).astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
            for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
                state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
            state = state ^ (state >> np.uint64(31))
    return (state % np.uint64(PRIME)).astype(np.int64)


def total(codes: Array, axes: tuple[int, ...]) -> Array:
    """Returns sums along axes."""
    x = residues(codes)
    result = np.sum(np.where(x < PRIME, x, 0), axis=axes) % PRIME
    if not _plain(x):
        up, down = np.any(x == INFINITY, axis=axes), np.any(x == MINUS_INFINITY, axis=axes)
        nan = np.any(x == NAN, axis=axes)
        special = np.where(up, INFINITY, MINUS_INFINITY)
        infinite = np.where(np.logical_or(up, down), special, result)
        result = np.where(np.logical_or(nan, np.logical_and(up, down)), NAN, infinite)
    if codes.size and _without(codes):
        return result
    exponents = np.sum(np.where(has_exponents(codes), _exponents(codes), 0), axis=axes)
    return packed(result, exponents % EXPONENTS, np.all(has_exponents(codes), axis=axes))


def product(codes: Array, axes: tuple[int, ...]) -> Array:
    """Returns products along axes, by halves."""
    kept = [axis for axis in range(codes.ndim) if axis not in axes]
    rest = [codes.shape[axis] for axis in kept]
    count = prod(codes.shape[axis] for axis in axes)
    flat = np.transpose(codes, (*axes, *kept)).reshape(count, *rest)
    if not len(flat):
        return encoded(np.ones(rest), exponents=True)
    while len(flat) > 1:
        half = len(flat) // 2
        pairs = multiply(flat[:half], flat[half : 2 * half])
        flat = np.concatenate([pairs, flat[2 * half :]])
    return flat[0]


def extreme(codes: Array, axes: tuple[int, ...], largest: bool) -> Array:
    """Returns the largest or the least of codes along axes; not a number where one is.

    Of those that are equal but for what is known of their exponents, the one that is known best.
    """
    kept = [axis for axis in range(codes.ndim) if axis not in axes]
    count = prod(codes.shape[axis] for axis in axes)
    shape = *(codes.shape[axis] for axis in kept), count
    flat = np.transpose(codes, (*kept, *axes)).reshape(shape)
    places = ordered(flat)
    places = np.where(np.isnan(places), np.inf if largest else -np.inf, places)
    best = np.max(places, axis=-1) if largest else np.min(places, axis=-1)
    chosen = np.max(np.where(places == best[..., None], flat, 0), axis=-1)
    return np.where(np.any(residues(flat) == NAN, axis=-1), NAN, chosen)


def larger(a: Array, b: Array, largest: bool = True) -> Array:
    """Returns the larger of two codes, or the smaller; not a number where one is."""
    pairs = np.stack(np.broadcast_arrays(a, b), axis=-1)
    return extreme(pairs, (pairs.ndim - 1,), largest)


def contract(a: Array, b: Array, axes: tuple[int, ...], shape: Sequence[int]) -> Array:
    """Returns sums of products along axes.

    Args:
        a: one operand; axes of one element broadcast.
        b: the other.
        axes: the axes that are summed.
        shape: the extents of all axes of the products.
    """
    x, y = residues(a), residues(b)
    if not _plain(x, y):
        return total(np.broadcast_to(multiply(a, b), tuple(shape)), axes)
    result = _contracted(x, y, axes, shape, PRIME)
    if 0 not in shape and _without(a, b):
        return result
    known = has_exponents(a) & has_exponents(b)
    left, right = (np.where(has_exponents(z), _exponents(z), 0) for z in (a, b))
    all_known = np.all(np.broadcast_to(known, tuple(shape)), axis=axes)
    return packed(result, _contracted(left, right, axes, shape, EXPONENTS), all_known)


def _contracted(
    x: Array, y: Array, axes: tuple[int, ...], shape: Sequence[int], modulus: int
) -> Array:
    names = list(range(len(shape)))
    kept = [axis for axis in names if axis not in axes]
    missing = 1
    for axis in axes:
        if x.shape[axis] == y.shape[axis] == 1:
            missing *= shape[axis]
    # Halves of 16 bits, so that no sum of up to 2^16 products overflows.
    high, low = (
        np.einsum(part, names, y, names, kept) % modulus for part in (x >> 16, x & 0xFFFF)
    )
    return ((high << 16) + low) % modulus * (missing % modulus) % modulus
