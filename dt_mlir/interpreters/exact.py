"""Elements in exact arithmetic, in which the order of sums and products changes nothing.

A float is an element of the field of integers modulo the prime 2^31 - 1, or an infinity or not a
number: sums, products and quotients are the field's, rounding is none at all, and a constant is
the dyadic rational that it is. Functions that no ring has are abstract symbols: a hash of their
name and their operands, so that equal operands give equal results and nothing else does (but for
chance, 2^-31 for each element). At 0, 1, -1 and the infinities they take their true value where
it is a short one, since masks are built on `exp(-inf) = 0`. Order is that of representatives
around 0. Two programs that differ by reassociation alone agree exactly; two that differ by more
differ almost surely, which is the lemma of DeMillo, Lipton, Schwartz and Zippel on identity tests.

Integers and truth values are themselves. Each element has an error beside it, which is 0, or
infinite where the language says nothing of it (an integer divided by zero).
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Operation

from dt_mlir.dialects import elem
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.element_types import is_float
from dt_mlir.interpreters import bounded
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.arithmetic import Arithmetic, Value, shape_of
from dt_mlir.interpreters.bounded import Array, Bounded
from dt_mlir.interpreters.bounded_arithmetic import (
    MONOTONE,
    SMOOTH,
    BoundedArithmetic,
    comparison,
    random_array,
)
from dt_mlir.traversal import operations

PRIME = 2**31 - 1
INFINITY, MINUS_INFINITY, NAN = PRIME, PRIME + 1, PRIME + 2
"""The codes of what is no element of the field."""
_SCALE = 2**8
"""What numbers are multiplied by where they are ordered."""

_RING = {
    "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.negf", "arith.maximumf",
    "arith.minimumf", "arith.extf", "arith.truncf", "arith.select", "arith.cmpf",
    "arith.constant", "arith.sitofp", "arith.fptosi", "math.absf", "math.fma", "relu", "clamp",
    "sign",
}  # fmt: skip
"""The operations on floats that have a meaning here; all others are symbols."""


def symbol_uses(module: ModuleOp) -> list[str]:
    """The uses of functions of floats in a module that exact arithmetic takes for symbols."""
    found: list[str] = []
    for op in operations(module):
        name = op.function.data if isinstance(op, elem.ApplyOp) else op.name
        scalar = op.name.split(".")[0] in ("arith", "math", "elem")
        if scalar and name not in _RING and op.operands and is_float(op.operands[0].type):
            found.append(name)
    return found


def encoded(values: Array) -> Array:
    """Floats as elements of the field: m 2^e as the product of m and a power of two."""
    x = np.asarray(values, np.float64)
    finite = np.isfinite(x)
    mantissa, exponent = np.frexp(np.where(finite, x, 0.0))
    whole = np.asarray(mantissa * 2.0**53).astype(np.int64) % PRIME
    # 2^31 is 1 modulo the prime.
    power = np.left_shift(np.int64(1), np.asarray((exponent - 53) % 31, np.int64))
    code = whole * power % PRIME
    special = np.where(np.isnan(x), NAN, np.where(x > 0, INFINITY, MINUS_INFINITY))
    return np.where(finite, code, special)


def ordered(codes: Array) -> Array:
    """Elements as the floats by which they are compared: numbers with up to 8 binary places, as
    constants have them, are themselves; what is random has some place among them."""
    scaled = np.where(codes < PRIME, codes, 0) * _SCALE % PRIME
    signed = np.where(scaled > PRIME // 2, scaled - PRIME, scaled) / _SCALE
    result = np.where(codes == INFINITY, np.inf, signed)
    result = np.where(codes == MINUS_INFINITY, -np.inf, result)
    return np.where(codes == NAN, np.nan, result)


def _plain(*codes: Array) -> bool:
    return all(bool(np.all(x < PRIME)) for x in codes)


def add(a: Array, b: Array) -> Array:
    """a + b"""
    total = (a + b) % PRIME
    if _plain(a, b):
        return total
    up, down = (a == INFINITY) | (b == INFINITY), (a == MINUS_INFINITY) | (b == MINUS_INFINITY)
    nan = (a == NAN) | (b == NAN) | (up & down)
    return np.where(nan, NAN, np.where(up, INFINITY, np.where(down, MINUS_INFINITY, total)))


def negative(a: Array) -> Array:
    """-a"""
    result = np.where(a == INFINITY, MINUS_INFINITY, np.where(a == MINUS_INFINITY, INFINITY, NAN))
    return np.where(a < PRIME, (PRIME - a) % PRIME, result)


def multiply(a: Array, b: Array) -> Array:
    """a * b"""
    if _plain(a, b):
        return a * b % PRIME
    product = np.where(a < PRIME, a, 0) * np.where(b < PRIME, b, 0) % PRIME
    infinite = (a == INFINITY) | (a == MINUS_INFINITY) | (b == INFINITY) | (b == MINUS_INFINITY)
    nan = (a == NAN) | (b == NAN) | (infinite & ((a == 0) | (b == 0)))
    below = (ordered(a) < 0) ^ (ordered(b) < 0)
    special = np.where(below, MINUS_INFINITY, INFINITY)
    return np.where(nan, NAN, np.where(infinite, special, product))


def inverse(a: Array) -> Array:
    """1 / a, by Fermat: a^(p-2); of 0 infinity."""
    base = np.where(a < PRIME, a, 0)
    result = np.ones_like(base)
    exponent = PRIME - 2
    while exponent:
        if exponent & 1:
            result = result * base % PRIME
        base = base * base % PRIME
        exponent >>= 1
    special = np.where(a == NAN, NAN, 0)
    return np.where(a == 0, INFINITY, np.where(a < PRIME, result, special))


def symbol(name: str, operands: Sequence[Array]) -> Array:
    """An abstract function: a hash of its name and operands (the mixer of SplitMix64)."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    state = np.asarray(seed, np.uint64)
    with np.errstate(over="ignore"):
        for operand in operands:
            state = (state ^ operand.astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
            for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
                state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
            state = state ^ (state >> np.uint64(31))
    return (state % np.uint64(PRIME)).astype(np.int64)


def _function(name: str, operands: Sequence[Array]) -> Array:
    """A function of floats: a symbol, but for the points where it has a short true value."""
    result = symbol(name, operands)
    known: Callable[..., Array] | None = MONOTONE.get(name)
    if known is None and name in SMOOTH:
        known = SMOOTH[name][0]
    points = [ordered(x) for x in operands]
    simple = np.ones(np.shape(result), bool)
    for x in points:
        simple = simple & ((np.abs(x) <= 1) | np.isinf(x) | np.isnan(x))
    if known is None or not np.any(simple):
        return result
    with np.errstate(all="ignore"):
        true = known(*(np.where(simple, x, 0.0) for x in points))
    short = ~np.isfinite(true) | ((true * 1024 == np.round(true * 1024)) & (np.abs(true) < 1024))
    return np.where(simple & short, encoded(true), result)


def _total(codes: Array, axes: tuple[int, ...]) -> Array:
    """A sum along axes."""
    total = np.sum(np.where(codes < PRIME, codes, 0), axis=axes) % PRIME
    if _plain(codes):
        return total
    up = np.any(codes == INFINITY, axis=axes)
    down = np.any(codes == MINUS_INFINITY, axis=axes)
    nan = np.any(codes == NAN, axis=axes)
    special = np.where(up, INFINITY, MINUS_INFINITY)
    infinite = np.where(np.logical_or(up, down), special, total)
    return np.where(np.logical_or(nan, np.logical_and(up, down)), NAN, infinite)


def _product(codes: Array, axes: tuple[int, ...]) -> Array:
    """A product along axes, by halves."""
    kept = [axis for axis in range(codes.ndim) if axis not in axes]
    rest = [codes.shape[axis] for axis in kept]
    flat = np.transpose(codes, (*axes, *kept)).reshape(-1, *rest)
    if not len(flat):
        return np.ones(rest, np.int64)
    while len(flat) > 1:
        half = len(flat) // 2
        pairs = multiply(flat[:half], flat[half : 2 * half])
        flat = np.concatenate([pairs, flat[2 * half :]])
    return flat[0]


def _any_error(values: Sequence[Bounded], shape: tuple[int, ...]) -> Array:
    found = np.zeros(shape)
    for value in values:
        found = np.where(value.error > 0, np.inf, found)
    return found


@dataclass
class ExactArithmetic(Arithmetic):
    """Floats as elements of a finite field, functions as symbols, integers as themselves."""

    whole: BoundedArithmetic = field(default_factory=lambda: BoundedArithmetic(Accuracy()))
    """What integers are computed with."""

    def constant(self, attr: FloatAttr[Any] | IntegerAttr[Any]) -> Bounded:
        if isinstance(attr.type, AnyFloat):
            return Bounded.exact(encoded(np.asarray(attr.value.data)))
        return self.whole.constant(attr)

    def from_array(self, array: Array, type: Attribute) -> Bounded:
        if isinstance(type, AnyFloat):
            return Bounded.exact(encoded(array))
        return self.whole.from_array(array, type)

    def random(
        self, type: Attribute, shape: Sequence[int], generator: np.random.Generator,
        special: bool = False,
    ) -> Bounded:  # fmt: skip
        if isinstance(type, AnyFloat) and not special:
            return Bounded.exact(generator.integers(0, PRIME, tuple(shape)))
        return self.from_array(random_array(type, shape, generator, special), type)

    def stored(self, value: Value, type: Attribute) -> Bounded:
        return value if isinstance(type, AnyFloat) else self.whole.stored(value, type)

    def apply(self, op: Operation, operands: Sequence[Value]) -> Bounded:
        floats = [is_float(operand.type) for operand in op.operands]
        target = op.results[0].type
        if not any(floats) and not is_float(target):
            return self.whole.apply(op, operands)
        name = op.function.data if isinstance(op, elem.ApplyOp) else op.name
        if isinstance(op, arith.SelectOp):
            condition, a, b = operands
            apart: Array = np.not_equal(a.value, b.value)
            either = np.where(apart, condition.error, 0.0)
            error = np.where(condition.value, a.error, b.error)
            chosen = np.where(condition.value, a.value, b.value)
            return Bounded(chosen, np.maximum(error, either))
        if isinstance(op, arith.CmpfOp):
            result = comparison(op)(*(ordered(x.value) for x in operands))
            return Bounded(result, _any_error(operands, np.shape(result)))
        codes = [x.value for x in operands]
        if isinstance(op, arith.FPToSIOp):
            result, outside = _truncated(codes[0])
            result = bounded.wrapped(result, op.result.type)  # pyright: ignore
            error = _any_error(operands, np.shape(result))
            return Bounded(result, np.where(outside, np.inf, error))
        if name == "arith.sitofp":
            result = codes[0].astype(np.int64) % PRIME
        else:
            result = self._float(name, codes)
        return Bounded(result, _any_error(operands, np.shape(result)))

    def _float(self, name: str, x: Sequence[Array]) -> Array:
        match name:
            case "arith.addf":
                return add(x[0], x[1])
            case "arith.subf":
                return add(x[0], negative(x[1]))
            case "arith.mulf":
                return multiply(x[0], x[1])
            case "arith.divf":
                return multiply(x[0], inverse(x[1]))
            case "arith.negf":
                return negative(x[0])
            case "arith.extf" | "arith.truncf":
                return x[0]
            case "math.fma":
                return add(multiply(x[0], x[1]), x[2])
            case "math.absf":
                return np.where(ordered(x[0]) < 0, negative(x[0]), x[0])
            case "arith.maximumf" | "arith.minimumf" | "relu" | "clamp" | "sign":
                return encoded(MONOTONE[name](*map(ordered, x)))
            case _:
                return _function(name, x)

    def reduce(
        self, kind: ReductionKind, value: Value, axes: tuple[int, ...], type: Attribute
    ) -> Bounded:
        if not isinstance(type, AnyFloat):
            return self.whole.reduce(kind, value, axes, type)
        codes = value.value
        match kind:
            case ReductionKind.ADD:
                result = _total(codes, axes)
            case ReductionKind.MUL:
                result = _product(codes, axes)
            case _ if codes.size == 0:
                shape = np.sum(codes, axis=axes).shape
                return Bounded(np.zeros(shape, np.int64), np.full(shape, np.inf))
            case _:
                function = np.max if kind is ReductionKind.MAXIMUM else np.min
                result = encoded(function(ordered(codes), axis=axes))
        return Bounded(result, np.where(np.any(value.error > 0, axis=axes), np.inf, 0.0))

    def arg_reduce(
        self, kind: ReductionKind, value: Value, index: Value, type: Attribute
    ) -> tuple[Bounded, Bounded]:
        if not isinstance(type, AnyFloat):
            return self.whole.arg_reduce(kind, value, index, type)
        view = Bounded(ordered(value.value), value.error)
        extreme, position = self.whole.arg_reduce(kind, view, index, type)
        return Bounded(encoded(extreme.value), extreme.error), position

    def dot(
        self, lhs: Value, rhs: Value, axes: tuple[int, ...], sizes: Sequence[int], type: Attribute
    ) -> Bounded:
        if not isinstance(type, AnyFloat):
            return self.whole.dot(lhs, rhs, axes, sizes, type)
        shape = list(np.broadcast_shapes(shape_of(lhs), shape_of(rhs)))
        for axis, size in zip(axes, sizes):
            shape[axis] = size
        error: Array = np.zeros(())
        if lhs.error.any() or rhs.error.any():
            doubt = np.broadcast_to((lhs.error > 0) | (rhs.error > 0), shape)
            error = np.where(np.any(doubt, axis=axes), np.inf, 0.0)
        a, b = lhs.value, rhs.value
        if not _plain(a, b):
            result = _total(np.broadcast_to(multiply(a, b), shape), axes)
        else:
            names = list(range(len(shape)))
            kept = [axis for axis in names if axis not in axes]
            missing = 1
            for axis, size in zip(axes, sizes):
                if a.shape[axis] == b.shape[axis] == 1:
                    missing *= size
            # Halves of 16 bits, so that no sum of up to 2^16 products overflows.
            high, low = (
                np.einsum(part, names, b, names, kept) % PRIME for part in (a >> 16, a & 0xFFFF)
            )
            result = ((high << 16) + low) % PRIME * (missing % PRIME) % PRIME
        return Bounded(result, np.broadcast_to(error, np.shape(result)))

    def plus(self, a: Value, b: Value, type: Attribute) -> Bounded:
        if not isinstance(type, AnyFloat):
            return self.whole.plus(a, b, type)
        result = add(a.value, b.value)
        return Bounded(result, _any_error([a, b], np.shape(result)))

    def truth(self, value: Value) -> Array:
        return value.value

    def integers(self, value: Value) -> Array:
        return value.value

    def differ(self, a: Value, b: Value) -> Array:
        return (a.value != b.value) & (a.error == 0) & (b.error == 0)

    def undecided(self, a: Value, b: Value) -> Array:
        return (a.error > 0) | (b.error > 0)

    def show(self, value: Value, place: tuple[int, ...]) -> str:
        found = value.value[place]
        names = {INFINITY: "inf", MINUS_INFINITY: "-inf", NAN: "nan"}
        if value.error[place]:
            return "undecided"
        return names.get(int(found), str(found))


def _truncated(codes: Array) -> tuple[Array, Array]:
    """A float as an integer: small ones are themselves, others some number; and what is none."""
    view = ordered(codes)
    small = np.abs(view) < 2**20
    other = symbol("arith.fptosi", [codes]) % 100
    return np.where(small, np.where(small, view, 0).astype(np.int64), other), codes >= PRIME
