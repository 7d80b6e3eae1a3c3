"""Elements in float64 with a bound on the error that a legal computation may have.

A value stands for every result that some order of sums and products, one rounding for each
operation in its type and the documented error of each function can lead to. Two programs agree
where their bounds meet. This is what compiled programs are compared with, too.
"""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import math as pymath
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation

from dt_mlir.dialects import elem
from dt_mlir.dialects.comparisons import predicate_of
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.element_types import type_name
from dt_mlir.interpreters import bounded
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.arithmetic import (
    Arithmetic,
    Character,
    Value,
    arranged,
    mapped,
    spread,
)
from dt_mlir.interpreters.bounded import Array, Bounded

PREDICATES: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal,
}  # fmt: skip


GROUP = 32
"""The products of 8-bit floats that tensor cores add up at once."""
CUT = 2.0**-13
"""The part of the largest summand below which they cut each one off."""


def _erf(x: Array) -> Array:
    return np.vectorize(pymath.erf, otypes=[np.float64])(x)


def _erfc(x: Array) -> Array:
    return np.vectorize(pymath.erfc, otypes=[np.float64])(x)


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _moderation(magnitude: Array) -> Array:
    exponent = np.where(np.isfinite(magnitude), np.frexp(magnitude)[1] - 1, 128)
    return np.exp2(elem.MODERATE - np.maximum(exponent, elem.MODERATE).astype(np.float64))


@np.errstate(all="ignore")
def _power(x: Array, y: Array) -> Array:
    """Integer powers: of a negative exponent the truncated quotient, as of 1 by a power."""
    negative = y < 0
    base = np.where(negative & (x != 1) & (x != -1), 0, x)
    # Of a negative exponent only the lowest bit matters; the least one has no absolute value.
    return np.power(base, np.where(negative, 2 - (y & 1), y))


MONOTONE: dict[str, Callable[..., Array]] = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply,
    "arith.negf": np.negative, "arith.maximumf": np.maximum, "arith.minimumf": np.minimum,
    "math.exp": np.exp, "math.exp2": np.exp2, "math.expm1": np.expm1, "math.log": np.log,
    "math.log2": np.log2, "math.log10": np.log10, "math.log1p": np.log1p, "math.sqrt": np.sqrt,
    "math.rsqrt": lambda x: 1 / np.sqrt(x), "math.tanh": np.tanh, "math.erf": _erf,
    "math.floor": np.floor, "math.ceil": np.ceil, "math.trunc": np.trunc,
    "math.roundeven": np.round,
    "sign": np.sign, "sigmoid": _sigmoid, "relu": lambda x: np.maximum(x, 0),
    "softplus": lambda x: np.logaddexp(x, 0),
    "clamp": lambda x, low, high: np.minimum(np.maximum(x, low), high),
}  # fmt: skip
"""Functions of floats that are monotone in each operand."""

SMOOTH: dict[str, tuple[Callable[..., Array], float]] = {
    "math.sin": (np.sin, 1.0), "math.cos": (np.cos, 1.0), "math.absf": (np.abs, 1.0),
    "gelu": (lambda x: 0.5 * x * _erfc(-x / np.sqrt(2)), 1.2),
    "silu": (lambda x: x * _sigmoid(x), 1.2),
}  # fmt: skip
"""Functions of one float, with a bound on their slope."""

_INTEGER: dict[str, Callable[..., Array]] = {
    "arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply,
    "arith.maxsi": np.maximum, "arith.minsi": np.minimum, "math.absi": np.abs, "sign": np.sign,
    "relu": lambda x: np.maximum(x, 0),
    "clamp": lambda x, low, high: np.minimum(np.maximum(x, low), high),
}  # fmt: skip
"""Functions of integers through which an error can be followed."""


SIGNED = frozenset(
    f"arith.{name}" for name in "negf mulf divf addf subf extf truncf select".split()
) | {"math.absf"}
"""Functions that give zeros of decided signs for operands of decided signs."""


def _shifted(function: Callable[..., Array]) -> Callable[..., Array]:
    return lambda x, y: function(x, y & (8 * x.dtype.itemsize - 1))


def _quotient(x: Array, y: Array) -> Array:
    """A quotient that is rounded towards zero."""
    y = np.where(y == 0, 1, y)
    # The least integer has no absolute value in its type.
    inexact = np.remainder(x, y) != 0
    return np.floor_divide(x, y) + (inexact & ((x < 0) ^ (y < 0)))


_BITWISE: dict[str, Callable[..., Array]] = {
    "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor,
    "arith.shli": _shifted(np.left_shift), "arith.shrsi": _shifted(np.right_shift),
    "arith.divsi": _quotient, "arith.remsi": lambda x, y: x - _quotient(x, y) * y,
    "arith.floordivsi": lambda x, y: np.floor_divide(x, np.where(y == 0, 1, y)),
    "floordiv": lambda x, y: np.floor_divide(x, np.where(y == 0, 1, y)),
    "mod": lambda x, y: np.mod(x, np.where(y == 0, 1, y)), "math.ipowi": _power,
}  # fmt: skip
"""Functions of integers that are decided only for exact operands."""


def round_to(value: Array, type: Attribute) -> Array:
    """Values as an element type holds them; floats stay float64."""
    if isinstance(type, IntegerType):
        if type.width.data == 1:
            return np.asarray(value).astype(bool)
        sign = "u" if type.signedness.data.name == "UNSIGNED" else ""
        return np.asarray(value).astype(f"{sign}int{type.width.data}")
    return bounded.nearest(value, type)


def comparison(op: arith.CmpfOp | arith.CmpiOp) -> Callable[[Array, Array], Array]:
    """Returns the function of a comparison; unordered ones hold where an operand is NaN."""
    name = predicate_of(op)
    if isinstance(op, arith.CmpiOp):
        function = PREDICATES[name[-2:]]
        if name[0] == "u":
            return lambda a, b: function(_unsigned(a), _unsigned(b))
        return function

    def compare(a: Array, b: Array) -> Array:
        unordered = np.isnan(a) | np.isnan(b)
        match name:
            case "false" | "true":
                return np.full(unordered.shape, name == "true")
            case "ord":
                return ~unordered
            case "uno":
                return unordered
            case _:
                found = PREDICATES[name[1:]](a, b)
                return found & ~unordered if name[0] == "o" else found | unordered

    return compare


def random_array(
    type: Attribute,
    shape: Sequence[int],
    generator: np.random.Generator,
    character: Character = Character.ANY,
) -> Array:
    """Returns random numbers that an element type holds: small ones, as bounds grow with
    magnitudes.

    Args:
        type: the element type.
        shape: the extents of the axes.
        generator: where they come from.
        character: what they have in common.
    """
    extents = tuple(shape)
    if isinstance(type, AnyFloat):
        if character is Character.SPECIAL:
            few = generator.choice([-2.0, -1.0, 0.0, 1.0], extents)
            return np.where(generator.random(extents) < 1 / 64, np.nan, few)
        if character is Character.ANY:
            return bounded.nearest(generator.uniform(-1.0, 1.0, extents), type)
        numbers = arranged(generator.uniform(0.0, 1.0, extents), generator, character)
        return bounded.nearest(numbers, type)
    assert isinstance(type, IntegerType)
    if type.width.data == 1:
        return generator.random(extents) < 0.5
    least = 0 if type_name(type) == "u8" else -9
    match character:
        case Character.SPECIAL:
            few = generator.integers(1, 4, extents)
            half = 2 ** (type.width.data - 1)
            ends = [2 * half - 1, half] if least == 0 else [half - 1, -half, 1 - half]
            extremes = generator.choice(np.array(ends), extents)
            return np.where(generator.random(extents) < 1 / 4, extremes, -few if least else few)
        case Character.ANY:
            return generator.integers(least, 10, extents)
        case _:
            numbers = arranged(generator.integers(1, 10, extents), generator, character)
            return np.abs(numbers) if least == 0 else numbers


@dataclass
class BoundedArithmetic(Arithmetic):
    """Floats as float64 with bounds of their error, integers as themselves.

    Args:
        accuracy: how accurately functions are computed.
    """

    accuracy: Accuracy

    def constant(self, attr: FloatAttr[Any] | IntegerAttr[Any]) -> Bounded:
        return Bounded.exact(round_to(attr.value.data, attr.type))

    def from_array(self, array: Array, type: Attribute) -> Bounded:
        array = np.asarray(array)
        if isinstance(type, AnyFloat):
            array = array.astype(np.float64)
        # A number of the caller's may have more digits than a scalar's type.
        return Bounded.exact(round_to(array, type))

    def random(
        self, type: Attribute, shape: Sequence[int], generator: np.random.Generator,
        character: Character = Character.ANY,
    ) -> Bounded:  # fmt: skip
        return self.from_array(random_array(type, shape, generator, character), type)

    def stored(self, value: Value, type: Attribute) -> Bounded:
        if isinstance(type, AnyFloat):
            with np.errstate(all="ignore"):
                result = bounded.narrowed(value, type)
                return Bounded(result.value, result.error, value.has_sign & (result.error == 0))
        return Bounded(round_to(value.value, type), value.error)

    def apply(self, op: Operation, operands: Sequence[Value]) -> Bounded:
        with np.errstate(all="ignore"):
            result = self._elementwise(op, list(operands))
            if op.name in SIGNED:
                known = np.broadcast_arrays(*(x.has_sign for x in operands), result.value)[:-1]
                result.signed = np.all(known, axis=0) & (result.error == 0)
            return result

    def reduce(
        self, kind: ReductionKind, value: Value, axes: tuple[int, ...], type: Attribute
    ) -> Bounded:
        with np.errstate(all="ignore"):
            match kind:
                case ReductionKind.ADD:
                    return bounded.summed(value, axes, type)
                case ReductionKind.MUL:
                    return bounded.multiplied(value, axes, type)
                case ReductionKind.MAXIMUM | ReductionKind.MINIMUM if value.value.size == 0:
                    # Nothing says what the extreme of nothing is.
                    shape = np.sum(value.value, axis=axes).shape
                    return Bounded(np.zeros(shape, value.value.dtype), np.full(shape, np.inf))
                case ReductionKind.MAXIMUM:
                    return bounded.extreme(np.max, value, axes)
                case ReductionKind.MINIMUM:
                    return bounded.extreme(np.min, value, axes)
                case ReductionKind.AND:
                    return bounded.decided(np.all, value, axes)
                case _:
                    return bounded.decided(np.any, value, axes)

    def arg_reduce(
        self, kind: ReductionKind, value: Value, index: Value, type: Attribute
    ) -> tuple[Bounded, Bounded]:
        largest = kind is ReductionKind.ARGMAX
        shape = np.broadcast_shapes(value.value.shape, index.value.shape)
        value, index = spread(value, shape), spread(index, shape)
        if shape[-1] == 0:
            empty = np.full(shape[:-1], np.inf)
            first, second = (np.zeros(shape[:-1], x.value.dtype) for x in (value, index))
            return Bounded(first, empty), Bounded(second, empty)
        place = bounded.extreme_index(largest, value)
        chosen = mapped(
            lambda array: np.take_along_axis(array, place.value[..., None], -1)[..., 0], index
        )
        position = Bounded(chosen.value, chosen.error + place.error)
        axes = (len(shape) - 1,)
        return bounded.extreme(np.max if largest else np.min, value, axes), position

    def dot(
        self, lhs: Value, rhs: Value, axes: tuple[int, ...], sizes: Sequence[int], type: Attribute
    ) -> Bounded:
        with np.errstate(all="ignore"):
            return self._dot(lhs, rhs, axes, sizes, type)

    def plus(self, a: Value, b: Value, type: Attribute) -> Bounded:
        with np.errstate(all="ignore"):
            if not isinstance(type, AnyFloat):
                return bounded.integer(a.value + b.value, a.error + b.error, type)
            return bounded.rounded(*bounded.by_corners(np.add, [a, b]), type)

    def truth(self, value: Value) -> Array:
        return value.value

    def integers(self, value: Value) -> Array:
        return value.value

    def differ(self, a: Value, b: Value) -> Array:
        gap = bounded.distance(*(np.asarray(x.value, np.float64) for x in (a, b)))
        apart = gap > a.error + b.error
        if a.value.dtype.kind != "f":
            # Integers of 64 bits are more exact than floats.
            apart |= (a.error + b.error == 0) & (a.value != b.value)
        return apart | bounded.signs_differ(a, b)

    def undecided(self, a: Value, b: Value) -> Array:
        return np.isinf(a.error) | np.isinf(b.error)

    def show(self, value: Value, place: tuple[int, ...]) -> str:
        found, error = value.value[place], value.error[place]
        shown = f"{found:.9g}" if value.value.dtype.kind == "f" else str(found)
        return f"{shown} within {error:.3g}" if error else shown

    def _dot(
        self, lhs: Bounded, rhs: Bounded, axes: tuple[int, ...], sizes: Sequence[int],
        type: Attribute,
    ) -> Bounded:  # fmt: skip
        operands = [lhs, rhs]
        rank = lhs.value.ndim
        names = list(range(rank))
        kept = [axis for axis in names if axis not in axes]
        missing = 1
        shape = list(np.broadcast_shapes(lhs.value.shape, rhs.value.shape))
        for axis, size in zip(axes, sizes):
            if lhs.value.shape[axis] == rhs.value.shape[axis] == 1:
                missing *= size
            shape[axis] = size
        count = pymath.prod(sizes)

        def product(x: Array, y: Array) -> Array:
            if not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
                # einsum factors out what does not vary, where infinities of both signs meet.
                return np.sum(np.broadcast_to(x * y, shape), axis=axes)
            return np.einsum(x, names, y, names, kept) * missing

        if not isinstance(type, AnyFloat):
            exact = product(lhs.value.astype(np.int64), rhs.value.astype(np.int64))
            wide = [np.abs(x.value.astype(np.float64)) for x in operands]
            error = product(wide[0], rhs.error) + product(lhs.error, wide[1] + rhs.error)
            # Infinity times zero is still undecided.
            error = np.where(np.isnan(error), np.inf, error)
            return bounded.integer(exact, error, type)
        value = product(lhs.value, rhs.value)
        exactly = not lhs.error.any() and not rhs.error.any()
        a, b = (Bounded(x.value, np.where(np.isinf(x.error), 0.0, x.error)) for x in operands)
        magnitudes = [np.abs(np.nan_to_num(x.value, posinf=0.0, neginf=0.0)) for x in operands]
        magnitude = product(magnitudes[0] + a.error, magnitudes[1] + b.error)
        if exactly:
            # What is exact has no doubtful infinities either.
            undecided = np.zeros(value.shape, bool)
            error = np.zeros(value.shape)
            rounded = self.accuracy.product or self.accuracy.cut
            if not rounded and _is_short(operands, magnitude, type):
                return bounded.rounded(value, error, type)
        else:
            undecided = _undecided(lhs, rhs, product)
            error = magnitude - product(*magnitudes)
        unit = 2.0 ** -bounded.float_format(type).digits
        # Tensor cores cut off where they add up.
        error = error + (2 * count + 10 + self.accuracy.product) * unit * magnitude
        if self.accuracy.cut:
            error = error + (GROUP + count / GROUP) * CUT * magnitude
        error = np.where(np.isfinite(value), error, 0.0)
        undecided = undecided | (magnitude >= bounded.float_format(type).largest)
        return bounded.rounded(value, np.where(undecided, np.inf, error), type)

    def _elementwise(self, op: Operation, values: list[Bounded]) -> Bounded:
        target = op.results[0].type
        name = op.function.data if isinstance(op, elem.ApplyOp) else op.name
        if name in ("arith.andi", "arith.ori", "arith.xori") and _dtype(target) == "bool":
            return bounded.truth(name, *values)
        if isinstance(target, AnyFloat) and isinstance(op.operands[-1].type, AnyFloat):
            match op:
                case arith.SelectOp():
                    return bounded.selected(*values)
                case arith.ExtFOp():
                    return values[0]
                case arith.TruncFOp():
                    return bounded.narrowed(values[0], target)
                case _:
                    return self._float_function(name, values, target)
        match op:
            case arith.CmpfOp() | arith.CmpiOp():
                if op.lhs is op.rhs:
                    # Within its bound it is one number, or it is none.
                    known = np.where(np.isinf(values[0].error), np.inf, 0.0)
                    return Bounded(comparison(op)(values[0].value, values[0].value), known)
                return bounded.compared(comparison(op), *values)
            case arith.SelectOp():
                return bounded.selected(*values)
            case arith.FPToSIOp():
                return _truncated(values[0], target)
            case _ if name in ("arith.extsi", "arith.trunci", "arith.extui"):
                wide = values[0].value
                wide = _unsigned(wide) if name == "arith.extui" else _signed(wide)
                if _dtype(target) == "bool":
                    return Bounded(wide & 1 != 0, np.where(values[0].error > 0, np.inf, 0.0))
                jumps = name == "arith.extui" and values[0].value.dtype != bool
                error = values[0].error
                error = np.where(jumps & (error > 0), np.inf, error)
                return bounded.integer(wide.astype(np.int64), error, target)
            case _ if name == "arith.sitofp":
                wide = values[0].value.astype(np.float64)
                return bounded.rounded(wide, values[0].error, target)
            case _:
                return _integer_function(name, values, target)

    def _float_function(self, name: str, values: list[Bounded], type: Attribute) -> Bounded:
        if name in ("floordiv", "mod"):
            function = bounded.floored_quotient if name == "floordiv" else bounded.floored_rest
            value, error = function(*values)
            quotient = np.abs(values[0].value / values[1].value)
            # Beyond so many digits the quotient has no digit of ones left.
            vague = np.isfinite(quotient) & (quotient >= 2.0**26) | (values[1].value == 0)
            if bounded.float_format(type).digits == 53:
                # Without a fused multiply-add the rest does not tell on which side it is.
                near = np.abs(quotient - np.round(quotient)) <= quotient * 2.0**-48
                jump = np.ones(()) if name == "floordiv" else np.abs(values[1].value)
                error = error + np.where(near, jump, np.abs(values[0].value) * 2.0**-50)
            return bounded.rounded(value, np.where(vague, np.inf, error), type)
        ulps = self.accuracy.ulps(name, [x.value for x in values])
        if name in _FLUSHED:
            # Instructions take a subnormal operand for zero, but on Triton's interpreter.
            least = 2.0**-1022 if bounded.float_format(type).digits == 53 else 2.0**-126
            operand = values[0]
            tiny = (operand.value != 0) & (np.abs(operand.value) < least)
            if np.any(tiny):
                error = np.where(tiny, np.inf, operand.error)
                values = [replace(operand, error=error), *values[1:]]
        if name == "arith.divf":
            low, high = values[1].corners()
            value, error = bounded.by_corners(np.divide, values)
            # The order of a sum decides the sign of a zero, and that of the quotient's infinity.
            sign = np.isfinite(values[0].value) & (values[0].value != 0) & (values[1].value == 0)
            sign &= ~values[1].signed
            crosses = (values[1].error > 0) & (low <= 0) & (high >= 0)
            error = np.where(crosses | sign, np.inf, error)
            return bounded.rounded(value, error, type, ulps)
        if name == "math.powf":
            value, error = bounded.powered(*values)
            error = np.where((values[0].value == 0) & (values[1].value < 0), np.inf, error)
            return bounded.rounded(value, error, type, ulps)
        if name == "math.tan":
            value, error = bounded.by_corners(np.tan, values)
            low, high = (np.floor(x / np.pi + 0.5) for x in values[0].corners())
            return bounded.rounded(value, np.where(low != high, np.inf, error), type, ulps)
        if name == "math.fma":
            # Triton's interpreter rounds the product too.
            product = bounded.rounded(*bounded.by_corners(np.multiply, values[:2]), type)
            operands = [product, values[2]]
            return bounded.rounded(*bounded.by_corners(np.add, operands), type)
        if name == "elem.moderation":
            magnitude = replace(values[0], value=np.abs(values[0].value))
            return bounded.rounded(*bounded.by_corners(_moderation, [magnitude]), type)
        if name in SMOOTH:
            function, slope = SMOOTH[name]
            value = function(values[0].value)
            return bounded.rounded(value, slope * values[0].error, type, ulps)
        value, error = bounded.by_corners(MONOTONE[name], values)
        if name == "math.rsqrt":
            error = np.where(values[0].value == 0, np.inf, error)
        return bounded.rounded(value, error, type, ulps)


_FLUSHED = frozenset(
    f"math.{name}" for name in ("sqrt", "rsqrt", "log", "log2", "log10", "powf")
)
"""The functions that differ where a subnormal operand is taken for zero."""


def _integer_function(name: str, values: list[Bounded], type: Attribute) -> Bounded:
    if name in _INTEGER:
        if name == "arith.muli":
            _, error = bounded.by_corners(
                np.multiply, [Bounded(x.value.astype(np.float64), x.error) for x in values]
            )
        elif name in ("arith.addi", "arith.subi"):
            error = values[0].error + values[1].error
        else:
            error = np.max(np.broadcast_arrays(*(x.error for x in values)), axis=0)
        result = _INTEGER[name](*(x.value for x in values))
        return bounded.integer(result, error, type)
    undecided = bounded.any_error(values)
    if name in ("floordiv", "mod", "arith.floordivsi", "arith.divsi", "arith.remsi"):
        # What an integer divided by zero is, nothing says.
        undecided = undecided | (values[1].value == 0)
    if name in ("arith.shli", "arith.shrsi"):
        bits = 8 * values[0].value.dtype.itemsize
        undecided = undecided | (values[1].value < 0) | (values[1].value >= bits)
    result = _BITWISE[name](*(x.value for x in values))
    return Bounded(result, np.where(undecided, np.inf, 0.0) + np.zeros(result.shape))


def _truncated(x: Bounded, type: Attribute) -> Bounded:
    """A float as an integer; what the integers do not hold is undecided."""
    assert isinstance(type, IntegerType)
    value, error = bounded.by_corners(np.trunc, [x])
    limit = 2.0 ** (type.width.data - 1)
    outside = ~(np.abs(value) + error < limit)
    inside = np.where(outside, 0.0, value)
    return Bounded(inside.astype(_dtype(type)), np.where(outside, np.inf, error))


def _undecided(a: Bounded, b: Bounded, product: Callable[[Array, Array], Array]) -> Array:
    """Returns where sums of products contain one that is undecided."""
    ones = [np.ones(x.value.shape) for x in (a, b)]
    found = product(np.isinf(a.error) * 1.0, ones[1]) + product(ones[0], np.isinf(b.error) * 1.0)
    for x, y in ((a, b), (b, a)):
        # An infinity times what may be zero or of either sign.
        crossing = (y.error > 0) & (np.abs(y.value) <= y.error)
        pair = (~np.isfinite(x.value) * 1.0, crossing * 1.0)
        found = found + (product(*pair) if x is a else product(*reversed(pair)))
    return found > 0


def _is_short(operands: list[Bounded], magnitude: Array, type: Attribute) -> bool:
    """Returns whether no partial sum of products needs more digits than there are."""
    limit = 2.0 ** bounded.float_format(type).digits
    for fraction in (0, 4):
        scaled = [x.value * 2.0**fraction for x in operands]
        if all(np.array_equal(x, np.round(x)) for x in scaled):
            return bool(np.all(magnitude * 4.0**fraction <= limit))
    return False


def _dtype(type: Attribute) -> str:
    if isinstance(type, IntegerType):
        return "bool" if type.width.data == 1 else f"int{type.width.data}"
    return "float64"


def _signed(value: Array) -> Array:
    """Integers as IR without signs takes them; from memory they come with those of the source."""
    return value.astype(f"int{value.dtype.itemsize * 8}") if value.dtype.kind == "u" else value


def _unsigned(value: Array) -> Array:
    return value if value.dtype == bool else value.astype(f"uint{value.dtype.itemsize * 8}")
