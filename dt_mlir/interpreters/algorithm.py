"""Evaluates the `dt` level with NumPy on whole arrays.

This is what compiled programs are compared with. It shares nothing with the lowering: each value
is an array with an axis for each label that it depends on, floats are computed in float64 with a
bound on the error that a legal computation may have, and a function is rounded to its element
type where it is defined.
"""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import math as pymath
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from dt_mlir.dialects import dt, elem
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.interpreters import bounded
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.bounded import Array, Bounded

_PREDICATES: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal,
}  # fmt: skip
_FLOAT = "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split()
_INT = "eq ne slt sle sgt sge ult ule ugt uge".split()


def _erf(x: Array) -> Array:
    return np.vectorize(pymath.erf, otypes=[np.float64])(x)


def _erfc(x: Array) -> Array:
    return np.vectorize(pymath.erfc, otypes=[np.float64])(x)


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


@np.errstate(all="ignore")
def _power(x: Array, y: Array) -> Array:
    """Integer powers: of a negative exponent the truncated quotient, as of 1 by a power."""
    base = np.where(y < 0, np.where(np.abs(x) == 1, x, 0), x)
    return np.power(base, np.abs(y))


_MONOTONE: dict[str, Callable[..., Array]] = {
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

_SMOOTH: dict[str, tuple[Callable[..., Array], float]] = {
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


def _shifted(function: Callable[..., Array]) -> Callable[..., Array]:
    return lambda x, y: function(x, y & (8 * x.dtype.itemsize - 1))


_BITWISE: dict[str, Callable[..., Array]] = {
    "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor,
    "arith.shli": _shifted(np.left_shift), "arith.shrsi": _shifted(np.right_shift),
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


@dataclass
class Labelled:
    """An array with a label for each of its axes."""

    labels: tuple[str, ...]
    data: Bounded

    def spread(self, labels: tuple[str, ...]) -> Bounded:
        """The array with axes of one element for the labels that it lacks."""
        order = [self.labels.index(label) for label in labels if label in self.labels]
        value, error = self.data.value, self.data.error
        shape = [
            value.shape[self.labels.index(label)] if label in self.labels else 1
            for label in labels
        ]
        return Bounded(*(np.transpose(array, order).reshape(shape) for array in (value, error)))


def _full(data: Bounded, shape: list[int]) -> Bounded:
    return Bounded(np.broadcast_to(data.value, shape), np.broadcast_to(data.error, shape))


@dataclass
class AlgorithmInterpreter:
    """Evaluates a module of the `dt` level.

    Args:
        module: the module.
        inputs: the inputs by name, arrays and numbers.
        sizes: sizes of labels that no input has.
    """

    module: ModuleOp
    inputs: Mapping[str, Array]
    sizes: dict[str, int] = field(default_factory=dict[str, int])

    def run(self) -> dict[str, Bounded]:
        """The outputs by name, floats as float64, each with the error that it may have."""
        self.functions = {
            op.sym_name.data: op for op in self.module.ops if isinstance(op, dt.FuncOp)
        }
        self.accuracy = Accuracy.of(self.module)
        self.values: dict[str, Bounded] = {}
        for op in self.module.ops:
            if isinstance(op, dt.InputOp):
                value = np.asarray(self.inputs[op.sym_name.data])
                if isinstance(op.element, AnyFloat):
                    value = value.astype(np.float64)
                elif isinstance(op.element, IntegerType):
                    value = round_to(value, op.element)
                self.values[op.sym_name.data] = Bounded.exact(value)
        self._infer_sizes()
        outputs = [op for op in self.module.ops if isinstance(op, dt.OutputOp)]
        with np.errstate(all="ignore"):
            return {
                name: self._function(name)
                for name in (op.function.root_reference.data for op in outputs)
            }

    def _infer_sizes(self) -> None:
        """The sizes of labels from the arrays that they index, and from each other."""
        same: dict[tuple[str, int], set[str]] = {}
        for op in self.module.walk():
            if not isinstance(op, dt.ReadOp):
                continue
            for axis, expr in enumerate(op.map.data.results):
                if isinstance(expr, AffineDimExpr):
                    found = same.setdefault((op.source_name, axis), set())
                    found.add(op.used_labels[expr.position])
        for name, function in self.functions.items():
            for axis, label in enumerate(function.label_names):
                same.setdefault((name, axis), set()).add(label)
        changed = True
        while changed:
            changed = False
            for (name, axis), labels in same.items():
                known = [self.sizes[x] for x in labels if x in self.sizes]
                if name in self.values:
                    known.append(self.values[name].value.shape[axis])
                for label in labels:
                    if known and label not in self.sizes:
                        self.sizes[label] = known[0]
                        changed = True

    def _function(self, name: str) -> Bounded:
        if name not in self.values:
            op = self.functions[name]
            value = self._value(op.value, {})
            shape = [self.sizes[label] for label in op.label_names]
            full = _full(value.spread(op.label_names), shape)
            if isinstance(op.element, AnyFloat):
                self.values[name] = bounded.narrowed(full, op.element)
            else:
                self.values[name] = Bounded(round_to(full.value, op.element), full.error)
        return self.values[name]

    def _value(self, value: SSAValue, known: dict[SSAValue, Labelled]) -> Labelled:
        if value not in known:
            op = value.owner
            assert not isinstance(op, Block)
            known[value] = self._op(op, known)
        return known[value]

    def _op(self, op: Operation, known: dict[SSAValue, Labelled]) -> Labelled:
        match op:
            case dt.ReadOp():
                return self._read(op)
            case dt.IndexOp():
                label = op.label.data
                indices = np.arange(self.sizes[label], dtype=_dtype(op.result.type))
                return Labelled((label,), Bounded.exact(indices))
            case dt.SizeOp():
                size = np.asarray(self.sizes[op.label.data], dtype=_dtype(op.result.type))
                return Labelled((), Bounded.exact(size))
            case dt.ReduceOp():
                return self._reduce(op)
            case arith.ConstantOp():
                attr = op.value
                assert isinstance(attr, FloatAttr | IntegerAttr)
                data = round_to(attr.value.data, attr.type)
                return Labelled((), Bounded.exact(data))
            case _:
                operands = [self._value(v, known) for v in op.operands]
                labels = tuple(dict.fromkeys(x for v in operands for x in v.labels))
                data = self._elementwise(op, [v.spread(labels) for v in operands])
                return Labelled(labels, data)

    def _read(self, op: dt.ReadOp) -> Labelled:
        source = op.source_name
        data = self._function(source) if source in self.functions else self.values[source]
        index: list[Array] = []
        labels = op.used_labels
        for expr in op.map.data.results:
            if isinstance(expr, AffineConstantExpr):
                index.append(np.asarray(expr.value))
                continue
            assert isinstance(expr, AffineDimExpr)
            size = self.sizes[labels[expr.position]]
            shape = [1] * len(labels)
            shape[expr.position] = size
            index.append(np.arange(size).reshape(shape))
        chosen = tuple(index) if index else ...
        return Labelled(
            labels, Bounded(np.asarray(data.value[chosen]), np.asarray(data.error[chosen]))
        )

    def _reduce(self, op: dt.ReduceOp) -> Labelled:
        last = op.body.block.last_op
        assert isinstance(last, dt.YieldOp)
        known: dict[SSAValue, Labelled] = {}
        operands = [self._value(v, known) for v in last.values]
        reduced = op.label_names
        kept = tuple(dict.fromkeys(x for v in operands for x in v.labels if x not in reduced))
        full = (*kept, *reduced)
        type = op.result.type
        sizes = [self.sizes[label] for label in reduced]
        axes = tuple(range(len(kept), len(full)))
        spread = [v.spread(full) for v in operands]
        if op.kind.data is ReductionKind.DOT:
            return Labelled(kept, self._dot(spread, len(kept), sizes, type))
        shape = [*spread[0].value.shape[: len(kept)], *sizes]
        data = _full(spread[0], shape)
        match op.kind.data:
            case ReductionKind.ADD:
                result = bounded.summed(data, axes, type)
            case ReductionKind.MUL:
                result = bounded.multiplied(data, axes, type)
            case ReductionKind.MAXIMUM:
                result = bounded.extreme(np.max, data, axes)
            case ReductionKind.MINIMUM:
                result = bounded.extreme(np.min, data, axes)
            case ReductionKind.AND:
                result = bounded.decided(np.all, data, axes)
            case ReductionKind.OR:
                result = bounded.decided(np.any, data, axes)
            case kind:
                # Over several labels an element counts by its place among all of them.
                shape = [*shape[: len(kept)], pymath.prod(sizes)]
                flat = Bounded(data.value.reshape(shape), data.error.reshape(shape))
                result = bounded.extreme_index(kind is ReductionKind.ARGMAX, flat)
        return Labelled(kept, result)

    def _dot(
        self, operands: list[Bounded], kept: int, sizes: list[int], type: Attribute
    ) -> Bounded:
        """A sum of products; both operands have the same axes, the reduced ones last."""
        a, b = operands
        names = list(range(a.value.ndim))
        missing = 1
        for axis, size in enumerate(sizes, kept):
            if a.value.shape[axis] == b.value.shape[axis] == 1:
                missing *= size
        shape = [*np.broadcast_shapes(a.value.shape, b.value.shape)[:kept], *sizes]
        count = pymath.prod(sizes)

        def product(x: Array, y: Array) -> Array:
            if not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
                # einsum factors out what does not vary, where infinities of both signs meet.
                terms = np.broadcast_to(x * y, shape)
                return np.sum(terms, axis=tuple(range(kept, len(shape))))
            return np.einsum(x, names, y, names, names[:kept]) * missing

        if not isinstance(type, AnyFloat):
            exact = product(a.value.astype(np.int64), b.value.astype(np.int64))
            wide = [np.abs(x.value.astype(np.float64)) for x in operands]
            error = product(wide[0], b.error) + product(a.error, wide[1] + b.error)
            # Infinity times zero is still undecided.
            error = np.where(np.isnan(error), np.inf, error)
            return bounded.integer(exact, error, type)
        value = product(a.value, b.value)
        undecided = _undecided(a, b, product)
        a, b = (Bounded(x.value, np.where(np.isinf(x.error), 0.0, x.error)) for x in (a, b))
        sizes_ = [np.abs(np.nan_to_num(x.value, posinf=0.0, neginf=0.0)) for x in operands]
        magnitude = product(sizes_[0] + a.error, sizes_[1] + b.error)
        error = magnitude - product(*sizes_)
        unit = 2.0 ** -bounded.float_format(type).digits
        exact = not error.any() and not undecided.any() and not self.accuracy.product
        if exact and _is_short(operands, magnitude, type):
            return bounded.rounded(value, error, type)
        # Tensor cores cut off where they add up.
        error = error + (2 * count + 10 + self.accuracy.product) * unit * magnitude
        error = np.where(np.isfinite(value), error, 0.0)
        undecided |= magnitude >= bounded.float_format(type).largest
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
                table = _FLOAT if isinstance(op, arith.CmpfOp) else _INT
                predicate = table[op.predicate.value.data]
                return bounded.compared(_PREDICATES[predicate[-2:]], *values)
            case arith.SelectOp():
                return bounded.selected(*values)
            case arith.FPToSIOp():
                return _truncated(values[0], target)
            case _ if name in ("arith.extsi", "arith.trunci", "arith.extui"):
                wide = values[0].value
                wide = _unsigned(wide) if name == "arith.extui" else wide
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
        if name == "arith.divf":
            low, high = values[1].corners()
            value, error = bounded.by_corners(np.divide, values)
            # The order of a sum decides the sign of a zero, and that of the quotient's infinity.
            sign = np.isfinite(values[0].value) & (values[0].value != 0) & (values[1].value == 0)
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
        if name in _SMOOTH:
            function, slope = _SMOOTH[name]
            value = function(values[0].value)
            return bounded.rounded(value, slope * values[0].error, type, ulps)
        value, error = bounded.by_corners(_MONOTONE[name], values)
        if name == "math.rsqrt":
            error = np.where(values[0].value == 0, np.inf, error)
        return bounded.rounded(value, error, type, ulps)


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
    if name in ("floordiv", "mod", "arith.floordivsi"):
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
    """Which sums of products hold one that is undecided."""
    ones = [np.ones(x.value.shape) for x in (a, b)]
    found = product(np.isinf(a.error) * 1.0, ones[1]) + product(ones[0], np.isinf(b.error) * 1.0)
    for x, y in ((a, b), (b, a)):
        # An infinity times what may be zero or of either sign.
        crossing = (y.error > 0) & (np.abs(y.value) <= y.error)
        pair = (~np.isfinite(x.value) * 1.0, crossing * 1.0)
        found = found + (product(*pair) if x is a else product(*reversed(pair)))
    return found > 0


def _is_short(operands: list[Bounded], magnitude: Array, type: Attribute) -> bool:
    """Whether no partial sum of products needs more digits than there are."""
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


def _unsigned(value: Array) -> Array:
    return value if value.dtype == bool else value.astype(f"uint{value.dtype.itemsize * 8}")
