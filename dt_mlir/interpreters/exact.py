"""Elements in exact arithmetic, in which the order of sums and products changes nothing.

A float is an element of the field of integers modulo a prime, or an infinity or not a number
(`exact_codes`): sums, products and quotients are the field's, rounding is none at all, and a
constant is the dyadic rational that it is. Functions that no ring has are abstract symbols: a hash
of their name and their operands, so that equal operands give equal results and nothing else does
(but for chance, 2^-31 for each element). At 0, 1, -1 and the infinities they take their true value
where it is a short one, since masks are built on `exp(-inf) = 0`. Order is that of representatives
around 0. Two programs that differ by reassociation alone agree exactly; two that differ by more
differ almost surely, which is the lemma of DeMillo, Lipton, Schwartz and Zippel on identity tests.

Exponentials are symbols, too, or turn sums into products, so that programs which rescale them
agree. Then exp(x) is exp2(c x) where c is log2(e) rounded to the type.

Integers and truth values are themselves. Each element has an error beside it, which is 0, or
infinite where the language says nothing of it (an integer divided by zero).
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from dt_mlir.dialects import elem, loop
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.element_types import is_float
from dt_mlir.interpreters import bounded
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.arithmetic import Arithmetic, Character, Value, arranged, shape_of
from dt_mlir.interpreters.bounded import Array, Bounded, nearest
from dt_mlir.interpreters.bounded_arithmetic import (
    MONOTONE,
    SMOOTH,
    BoundedArithmetic,
    comparison,
    random_array,
)
from dt_mlir.interpreters.exact_codes import (
    EXPONENTS,
    INFINITY,
    MINUS_INFINITY,
    NAN,
    PRIME,
    absolute,
    add,
    are_doubtful,
    at_places,
    contract,
    doubtful,
    encoded,
    exponential,
    extreme,
    inverse,
    larger,
    multiply,
    negative,
    of_integers,
    ordered,
    product,
    residues,
    symbol,
    total,
)
from dt_mlir.traversal import operations

_RING = {
    "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.negf", "arith.maximumf",
    "arith.minimumf", "arith.extf", "arith.truncf", "arith.select", "arith.cmpf",
    "arith.constant", "arith.sitofp", "arith.fptosi", "math.absf", "math.fma", "relu", "clamp",
    "sign",
}  # fmt: skip
"""The operations on floats that have a meaning here; all others are symbols."""


def symbol_uses(module: ModuleOp) -> Counter[str]:
    """Counts the uses of functions of floats in a module that exact arithmetic takes for symbols.
    """
    return Counter(name for _, name in _symbols(operations(module)))


def running_symbol_uses(module: ModuleOp) -> Counter[str]:
    """Counts those of the uses whose operands are running values of a loop.

    How often such a value changes depends on the steps of the loop, which another level may take
    otherwise.
    """
    running: set[SSAValue] = set()
    for op in operations(module):
        if isinstance(op, loop.RunningOp):
            running.update(op.results)
            running.update(() if op.repair is None else op.repair.block.args)
        elif _is_scalar(op) and not running.isdisjoint(op.operands):
            running.update(op.results)
    if not running:
        return Counter()
    found = _symbols(operations(module))
    return Counter(name for op, name in found if op.results[0] in running)


def parts_of(module: ModuleOp) -> Counter[tuple[str, int | None, int]]:
    """Counts the parts of labels in a module: the label, the number of parts, and their steps."""
    ops = operations(module)
    found = [op for op in ops if isinstance(op, loop.PartOp)]
    return Counter((op.label.data, op.parts, op.step_size) for op in found)


def _is_scalar(op: Operation) -> bool:
    return op.name.split(".")[0] in ("arith", "math", "elem")


def _symbols(ops: Iterable[Operation]) -> Iterator[tuple[Operation, str]]:
    """Yields the operations that are symbols, with the names of their functions."""
    for op in ops:
        name = op.function.data if isinstance(op, elem.ApplyOp) else op.name
        if _is_scalar(op) and name not in _RING and op.operands and is_float(op.operands[0].type):
            yield op, name


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


def _any_error(values: Sequence[Bounded], shape: tuple[int, ...]) -> Array:
    found = np.zeros(shape)
    for value in values:
        found = np.where(value.error > 0, np.inf, found)
    return found


def _doubt(name: str, x: Sequence[Array]) -> Array:
    """Returns where an operation multiplies an infinity by a number of unknown sign."""
    match name:
        case "arith.mulf" | "math.fma":
            return doubtful(x[0], x[1])
        case "arith.divf":
            value = residues(x[1])
            # Nothing is known of the inverse's sign where nothing is of the number's.
            return doubtful(x[0], np.where(value == 0, INFINITY, np.where(value < PRIME, x[1], 0)))
        case _:
            return np.zeros((), bool)


@dataclass
class ExactArithmetic(Arithmetic):
    """Floats as elements of a finite field, functions as symbols, integers as themselves.

    Args:
        exponentials: whether exp and exp2 turn sums into products, rather than be symbols.
    """

    keeps_order = False

    exponentials: bool = False
    whole: BoundedArithmetic = field(default_factory=lambda: BoundedArithmetic(Accuracy()))
    """The arithmetic of integers."""

    def constant(self, attr: FloatAttr[Any] | IntegerAttr[Any]) -> Bounded:
        if isinstance(attr.type, AnyFloat):
            return Bounded.exact(encoded(np.asarray(attr.value.data), self.exponentials))
        return self.whole.constant(attr)

    def from_array(self, array: Array, type: Attribute) -> Bounded:
        if isinstance(type, AnyFloat):
            return Bounded.exact(encoded(array, self.exponentials))
        return self.whole.from_array(array, type)

    def random(
        self, type: Attribute, shape: Sequence[int], generator: np.random.Generator,
        character: Character = Character.ANY,
    ) -> Bounded:  # fmt: skip
        if not isinstance(type, AnyFloat) or character is Character.SPECIAL:
            return self.from_array(random_array(type, shape, generator, character), type)
        extents = tuple(shape)
        half = PRIME // 2
        numbers = generator.integers(1, half, extents)
        if character not in (Character.RISING, Character.FALLING):
            # Half of them are small in magnitude, as bounds that programs compare with are.
            small = np.exp2(generator.uniform(0, np.log2(half), extents)).astype(np.int64)
            numbers = np.where(generator.random(extents) < 0.5, small, numbers)
        places = arranged(numbers, generator, character)
        exponents = generator.integers(0, EXPONENTS, extents) if self.exponentials else None
        return Bounded.exact(at_places(places, exponents))

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
            assert isinstance(op.result.type, IntegerType)
            result = bounded.wrapped(result, op.result.type)
            error = _any_error(operands, np.shape(result))
            return Bounded(result, np.where(outside, np.inf, error))
        if name == "arith.sitofp":
            result = of_integers(codes[0], self.exponentials)
        else:
            result = self._float(name, codes, target)
        error = _any_error(operands, np.shape(result))
        return Bounded(result, np.where(_doubt(name, codes), np.inf, error))

    def _float(self, name: str, x: Sequence[Array], type: Attribute) -> Array:
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
                return absolute(x[0])
            case "arith.maximumf" | "arith.minimumf":
                return larger(x[0], x[1], name == "arith.maximumf")
            case "relu":
                return larger(x[0], encoded(np.zeros(()), self.exponentials))
            case "clamp":
                return larger(larger(x[0], x[1]), x[2], largest=False)
            case "sign":
                return encoded(np.sign(ordered(x[0])), self.exponentials)
            case "elem.moderation":
                # Numbers are moderate.
                return encoded(np.ones(np.shape(x[0])), self.exponentials)
            case "math.exp" if self.exponentials:
                return exponential(x[0])
            case "math.exp2" if self.exponentials:
                # The base of exp2 is the one with which exp(x) is exp2(c x) for the rounded c.
                return exponential(x[0], float(nearest(np.asarray(np.log2(np.e)), type)))
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
                result = total(codes, axes)
            case ReductionKind.MUL:
                doubt = np.where(are_doubtful(codes, axes), np.inf, 0.0)
                error = np.where(np.any(value.error > 0, axis=axes), np.inf, doubt)
                return Bounded(product(codes, axes), error)
            case _ if codes.size == 0:
                shape = np.sum(codes, axis=axes).shape
                return Bounded(np.zeros(shape, np.int64), np.full(shape, np.inf))
            case _:
                result = extreme(codes, axes, kind is ReductionKind.MAXIMUM)
        return Bounded(result, np.where(np.any(value.error > 0, axis=axes), np.inf, 0.0))

    def arg_reduce(
        self, kind: ReductionKind, value: Value, index: Value, type: Attribute
    ) -> tuple[Bounded, Bounded]:
        if not isinstance(type, AnyFloat):
            return self.whole.arg_reduce(kind, value, index, type)
        view = Bounded(ordered(value.value), value.error)
        found, position = self.whole.arg_reduce(kind, view, index, type)
        if value.value.shape[-1] == 0:
            return Bounded(np.zeros(found.value.shape, np.int64), found.error), position
        codes = extreme(value.value, (value.value.ndim - 1,), kind is ReductionKind.ARGMAX)
        # The index may follow loops that the value does not follow.
        return Bounded(np.broadcast_to(codes, np.shape(found.error)), found.error), position

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
        doubt = doubtful(lhs.value, rhs.value)
        if doubt.any():
            doubt = np.any(np.broadcast_to(doubt, shape), axis=axes)
            error = np.where(doubt, np.inf, error)
        result = contract(lhs.value, rhs.value, axes, shape)
        return Bounded(result, np.broadcast_to(error, np.shape(result)))

    def plus(self, a: Value, b: Value, type: Attribute) -> Bounded:
        if not isinstance(type, AnyFloat):
            return self.whole.plus(a, b, type)
        result = add(a.value, b.value)
        return Bounded(result, _any_error([a, b], np.shape(result)))

    def result(self, value: Value, type: Attribute) -> Bounded:
        # A float's residue is all that two computations of it have to agree in.
        return Bounded(residues(value.value), value.error) if isinstance(type, AnyFloat) else value

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
    whole = np.where(small, np.where(small, view, 0).astype(np.int64), other)
    return whole, residues(codes) >= PRIME
