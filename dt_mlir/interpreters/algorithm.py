"""Evaluates the `dt` level with NumPy on whole arrays.

This is what compiled programs are compared with. It shares nothing with the lowering: each value
is an array with an axis for each label that it depends on, floats are computed in float64, and a
function is rounded to its element type where it is defined.
"""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import math as pymath
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr

from dt_mlir.dialects import dt, elem
from dt_mlir.dialects.elem import ReductionKind

Array = Any
"""A NumPy array; its element type is not known to the type checker."""

_PREDICATES: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal,
}  # fmt: skip
_FLOAT = "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split()
_INT = "eq ne slt sle sgt sge ult ule ugt uge".split()


def _erf(x: Array) -> Array:
    return np.vectorize(pymath.erf, otypes=[np.float64])(x)


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "arith.addf": np.add, "arith.addi": np.add, "arith.subf": np.subtract,
    "arith.subi": np.subtract, "arith.mulf": np.multiply, "arith.muli": np.multiply,
    "arith.divf": np.divide, "arith.floordivsi": np.floor_divide, "arith.negf": np.negative,
    "arith.maximumf": np.maximum, "arith.minimumf": np.minimum, "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum, "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor, "arith.shli": np.left_shift, "arith.shrsi": np.right_shift,
    "math.exp": np.exp, "math.exp2": np.exp2, "math.expm1": np.expm1, "math.log": np.log,
    "math.log2": np.log2, "math.log10": np.log10, "math.log1p": np.log1p, "math.sqrt": np.sqrt,
    "math.rsqrt": lambda x: 1 / np.sqrt(x), "math.sin": np.sin, "math.cos": np.cos,
    "math.tan": np.tan, "math.tanh": np.tanh, "math.erf": _erf, "math.floor": np.floor,
    "math.ceil": np.ceil, "math.trunc": np.trunc, "math.roundeven": np.round,
    "math.absf": np.abs, "math.absi": np.abs, "math.powf": np.power,
    "math.fma": lambda x, y, z: x * y + z,
    "sign": np.sign, "sigmoid": _sigmoid, "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: 0.5 * x * (1 + _erf(x / np.sqrt(2))), "silu": lambda x: x * _sigmoid(x),
    "softplus": lambda x: np.logaddexp(x, 0),
    "clamp": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "floordiv": np.floor_divide, "mod": np.mod,
}  # fmt: skip


def _power(x: Array, y: Array) -> Array:
    """Integer powers: of a negative exponent the truncated quotient, as of 1 by a power."""
    base = np.where(y < 0, np.where(np.abs(x) == 1, x, 0), x)
    return np.power(base, np.abs(y))


def round_to(value: Array, type: Attribute) -> Array:
    """Values as an element type holds them; floats stay float64."""
    if isinstance(type, IntegerType):
        if type.width.data == 1:
            return np.asarray(value).astype(bool)
        sign = "u" if type.signedness.data.name == "UNSIGNED" else ""
        return np.asarray(value).astype(f"{sign}int{type.width.data}")
    match type:
        case Float16Type():
            return np.asarray(value, np.float64).astype(np.float16).astype(np.float64)
        case Float32Type():
            return np.asarray(value, np.float64).astype(np.float32).astype(np.float64)
        case BFloat16Type():
            return _round_bits(value, 8, -126, 3.3895313892515355e38)
        case Float8E4M3FNType():
            return _round_bits(value, 4, -6, 448.0)
        case Float8E5M2Type():
            return _round_bits(value, 3, -14, 57344.0)
        case _:
            return np.asarray(value, np.float64)


def _round_bits(value: Array, digits: int, least: int, largest: float) -> Array:
    """Round to so many significant bits, with subnormals; what is too large becomes infinite."""
    x = np.asarray(value, np.float64)
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(x)
        unit = np.exp2(np.maximum(exponent, least + 1) - digits)
        rounded = np.round(x / unit) * unit
        overflow = np.copysign(np.inf, x)
        return np.where(np.isfinite(x), np.where(np.abs(rounded) > largest, overflow, rounded), x)


@dataclass
class Labelled:
    """An array with a label for each of its axes."""

    labels: tuple[str, ...]
    data: Array

    def spread(self, labels: tuple[str, ...]) -> Array:
        """The array with axes of one element for the labels that it lacks."""
        order = [self.labels.index(label) for label in labels if label in self.labels]
        shape = [
            self.data.shape[self.labels.index(label)] if label in self.labels else 1
            for label in labels
        ]
        return np.transpose(self.data, order).reshape(shape)


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

    def run(self) -> dict[str, Array]:
        """The outputs by name, floats as float64."""
        self.functions = {
            op.sym_name.data: op for op in self.module.ops if isinstance(op, dt.FuncOp)
        }
        self.values: dict[str, Array] = {}
        for op in self.module.ops:
            if isinstance(op, dt.InputOp):
                value = np.asarray(self.inputs[op.sym_name.data])
                if isinstance(op.element, AnyFloat):
                    value = value.astype(np.float64)
                self.values[op.sym_name.data] = value
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
                    known.append(self.values[name].shape[axis])
                for label in labels:
                    if known and label not in self.sizes:
                        self.sizes[label] = known[0]
                        changed = True

    def _function(self, name: str) -> Array:
        if name not in self.values:
            op = self.functions[name]
            value = self._value(op.value, {})
            shape = [self.sizes[label] for label in op.label_names]
            full = np.broadcast_to(value.spread(op.label_names), shape)
            self.values[name] = round_to(full, op.element)
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
                return Labelled((label,), np.arange(self.sizes[label], dtype=_integer(op)))
            case dt.SizeOp():
                return Labelled((), np.asarray(self.sizes[op.label.data], dtype=_integer(op)))
            case dt.ReduceOp():
                return self._reduce(op)
            case arith.ConstantOp():
                attr = op.value
                assert isinstance(attr, FloatAttr | IntegerAttr)
                data = round_to(attr.value.data, attr.type)
                return Labelled((), np.asarray(data))
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
        return Labelled(labels, np.asarray(data[tuple(index)] if index else data))

    def _reduce(self, op: dt.ReduceOp) -> Labelled:
        last = op.body.block.last_op
        assert isinstance(last, dt.YieldOp)
        known: dict[SSAValue, Labelled] = {}
        operands = [self._value(v, known) for v in last.values]
        reduced = op.label_names
        kept = tuple(dict.fromkeys(x for v in operands for x in v.labels if x not in reduced))
        full = (*kept, *reduced)
        if op.kind.data is ReductionKind.DOT:
            return Labelled(kept, self._dot(operands, kept, reduced))
        sizes = [self.sizes[label] for label in reduced]
        arrays = [v.spread(full) for v in operands]
        shape = [*arrays[0].shape[: len(kept)], *sizes]
        data = np.broadcast_to(arrays[0], shape)
        axes = tuple(range(len(kept), len(full)))
        function: dict[ReductionKind, Callable[..., Array]] = {
            ReductionKind.ADD: np.sum,
            ReductionKind.MUL: np.prod,
            ReductionKind.MAXIMUM: np.max,
            ReductionKind.MINIMUM: np.min,
            ReductionKind.AND: np.all,
            ReductionKind.OR: np.any,
        }
        kind = op.kind.data
        if kind.is_arg:
            arg = np.argmax if kind is ReductionKind.ARGMAX else np.argmin
            return Labelled(kept, arg(data, axis=axes[0]))
        result = function[kind](data, axis=axes)
        return Labelled(kept, result.astype(data.dtype))

    def _dot(
        self, operands: list[Labelled], kept: tuple[str, ...], reduced: tuple[str, ...]
    ) -> Array:
        names = {label: i for i, label in enumerate((*kept, *reduced))}
        arguments: list[Any] = []
        missing = 1
        for value in operands:
            arguments += [_widened(value.data), [names[label] for label in value.labels]]
        for label in reduced:
            if all(label not in value.labels for value in operands):
                missing *= self.sizes[label]
        return np.einsum(*arguments, [names[label] for label in kept]) * missing

    def _elementwise(self, op: Operation, values: list[Array]) -> Array:
        target = op.results[0].type
        name = op.function.data if isinstance(op, elem.ApplyOp) else op.name
        if name in _FUNCTIONS:
            return _keep(_FUNCTIONS[name](*values), target)
        match op:
            case arith.CmpfOp() | arith.CmpiOp():
                table = _FLOAT if isinstance(op, arith.CmpfOp) else _INT
                predicate = table[op.predicate.value.data]
                return _PREDICATES[predicate[-2:]](*values)
            case arith.SelectOp():
                return np.where(*values)
            case arith.ExtUIOp():
                return _unsigned(values[0]).astype(_dtype(target))
            case arith.FPToSIOp():
                return np.trunc(values[0]).astype(_dtype(target))
            case arith.TruncFOp():
                return round_to(values[0], target)
            case arith.ExtFOp():
                return values[0]
            case _ if name in ("arith.extsi", "arith.trunci", "arith.sitofp"):
                return values[0].astype(_dtype(target))
            case _ if name == "math.ipowi":
                return _keep(_power(*values), target)
            case _:
                raise AssertionError(f"no evaluation of '{op.name}'")


def _dtype(type: Attribute) -> str:
    if isinstance(type, IntegerType):
        return "bool" if type.width.data == 1 else f"int{type.width.data}"
    return "float64"


def _integer(op: dt.IndexOp | dt.SizeOp) -> str:
    return _dtype(op.result.type)


def _keep(value: Array, type: Attribute) -> Array:
    return np.asarray(value).astype(_dtype(type))


def _widened(value: Array) -> Array:
    return value if value.dtype == np.float64 else value.astype(np.int64)


def _unsigned(value: Array) -> Array:
    return value if value.dtype == bool else value.astype(f"uint{value.dtype.itemsize * 8}")
