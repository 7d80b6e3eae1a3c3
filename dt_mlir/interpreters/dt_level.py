"""Runs the `dt` level: each function on its whole index space, with NumPy.

This is what everything else is compared with, and it shares nothing with the lowering. Inside a
function's body a value has an axis for each label that is alive, the innermost first, so that
what depends on fewer broadcasts by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Attribute

from dt_mlir.dialects import dt
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.interpreters.arithmetic import (
    Arithmetic,
    Value,
    chosen,
    mapped,
    shape_of,
    spread,
    with_rank,
)
from dt_mlir.interpreters.boundaries import read_under
from dt_mlir.interpreters.level import LevelFunctions
from dt_mlir.interpreters.memory import Buffer


@register_impls
class DtFunctions(LevelFunctions):
    """Implementations of the `dt` dialect.

    Args:
        arithmetic: what elements are.
        sizes: the size of each label.
        inputs: the inputs, buffers and scalars, by name.
        sampled: the indices of labels of which only some are computed, ascending; the sizes and the
            inputs are those of the part.
    """

    def __init__(
        self,
        arithmetic: Arithmetic,
        sizes: Mapping[str, int],
        inputs: Mapping[str, Any],
        sampled: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(arithmetic, sizes)
        self.values: dict[str, Any] = dict(inputs)
        self.sampled = sampled or {}
        self.alive: list[str] = []
        self.domain: Any = None
        """The points of the reductions around that are in their domains; None if all are."""

    def evaluate(self, interpreter: Interpreter, op: dt.FuncOp) -> Buffer:
        """All elements of a function, computed once."""
        name = op.sym_name.data
        if name not in self.values:
            around, self.alive = self.alive, list(op.label_names)
            domain, self.domain = self.domain, None
            (value,) = interpreter.run_ssacfg_region(op.body, (), name)
            self.alive, self.domain = around, domain
            shape = [self.sizes[label] for label in reversed(op.label_names)]
            full = spread(mapped(np.asarray, value), shape)
            elements = mapped(np.transpose, self.arithmetic.stored(full, op.element))
            self.values[name] = Buffer.given(name, op.element, elements)
        return self.values[name]

    def _indices(self, label: str) -> Any:
        """The places of a label's indices in the tensors that have it."""
        # A label may be reduced over again inside; there it is the reduction's.
        depth = len(self.alive) - 1 - self.alive[::-1].index(label)
        return np.arange(self.sizes[label]).reshape(-1, *[1] * depth)

    def _numbers(self, label: str) -> Any:
        """A label's indices as numbers."""
        places = self._indices(label)
        return self.sampled[label][places] if label in self.sampled else places

    @impl(dt.ReadOp)
    def run_read(self, interpreter: Interpreter, op: dt.ReadOp, args: PythonValues) -> PythonValues:
        """The elements that the labels alive read."""
        name = op.source_name
        if name not in self.values:
            function = interpreter.get_op_for_symbol(name)
            assert isinstance(function, dt.FuncOp)
            self.evaluate(interpreter, function)
        source = self.values[name]
        if not isinstance(source, Buffer):
            return (source,)
        dims = [self._numbers(label) for label in op.used_labels]
        dims += [self.arithmetic.integers(value) for value in args]
        sizes = [self.sizes[label] for label in op.size_labels]
        places: list[Any] = []
        for axis, expr in enumerate(op.indices):
            # What a label indexes by itself is sampled as the label is; any other axis is whole.
            label = op.label_alone(axis)
            places.append(expr.eval(dims, sizes) if label is None else self._indices(label))
        if self.domain is None or op.boundary is not None:
            boundary, exterior = op.boundary, op.exterior
            return (read_under(self.arithmetic, op, source, places, boundary, exterior),)
        # Nothing is read outside of a domain.
        shape = np.broadcast_shapes(self.domain.shape, *(np.shape(place) for place in places))
        full = [np.broadcast_to(place, shape) for place in places]
        return (source.read(op, full, np.broadcast_to(self.domain, shape)),)

    @impl(dt.ClampOp)
    def run_clamp(
        self, interpreter: Interpreter, op: dt.ClampOp, args: PythonValues
    ) -> PythonValues:
        """The nearest index in bounds."""
        last = self.sizes[op.label.data] - 1
        index = np.maximum(np.minimum(self.arithmetic.integers(args[0]), last), 0)
        return (self.arithmetic.from_array(index, op.result.type),)

    @impl(dt.IndexOp)
    def run_index(
        self, interpreter: Interpreter, op: dt.IndexOp, args: PythonValues
    ) -> PythonValues:
        """A label as a value."""
        return (self.arithmetic.from_array(self._numbers(op.label.data), op.result.type),)

    @impl(dt.SizeOp)
    def run_size(self, interpreter: Interpreter, op: dt.SizeOp, args: PythonValues) -> PythonValues:
        """The size of a label."""
        size = np.asarray(self.sizes[op.label.data])
        return (self.arithmetic.from_array(size, op.result.type),)

    @impl(dt.ReduceOp)
    def run_reduce(
        self, interpreter: Interpreter, op: dt.ReduceOp, args: PythonValues
    ) -> PythonValues:
        """Reduces over labels."""
        before = len(self.alive)
        self.alive.extend(op.label_names)
        around, self.domain = self.domain, self._within(op, args)
        inside = self.domain
        yielded = interpreter.run_ssacfg_region(op.body, (), "reduce")
        self.domain = around
        rank = len(self.alive)
        del self.alive[before:]
        count = rank - before
        # The innermost label is the first axis.
        sizes = [self.sizes[label] for label in reversed(op.label_names)]
        values = [with_rank(mapped(np.asarray, value), rank) for value in yielded]
        kind, type, axes = op.kind.data, op.result.type, tuple(range(count))
        end = op.body.block.last_op
        assert end is not None
        operands = end.operands
        if op.domain is not None and inside is not None:
            values = [
                self._restricted(value, with_rank(inside, rank), operand.type, kind)
                for value, operand in zip(values, operands)
            ]
        if kind is ReductionKind.DOT:
            return (self.arithmetic.dot(values[0], values[1], axes, sizes, type),)
        full = spread(values[0], [*sizes, *shape_of(values[0])[count:]])
        if not kind.is_arg:
            return (self.arithmetic.reduce(kind, full, axes, type),)

        def flat(array: Any) -> Any:
            # An element counts by its place among all labels, the last of them the fastest.
            moved = np.moveaxis(array, axes, [array.ndim - 1 - axis for axis in axes])
            return moved.reshape(*moved.shape[: array.ndim - count], math.prod(sizes))

        value: Value = mapped(flat, full)
        places = self.arithmetic.from_array(np.arange(math.prod(sizes)), type)
        places = with_rank(places, rank - count + 1)
        _, position = self.arithmetic.arg_reduce(kind, value, places, operands[0].type)
        return (position,)

    def _within(self, op: dt.ReduceOp, values: PythonValues) -> Any:
        """Returns where the points of a reduction are in its domain, and in those around."""
        inside = self.domain
        dims = [self._numbers(label) for label in op.constrained_labels]
        # Beyond these a number bounds nothing, and what is added to it would wrap.
        wide = (np.asarray(self.arithmetic.integers(value)).astype(np.int64) for value in values)
        dims += [np.clip(value, -(2**62), 2**62) for value in wide]
        sizes = [self.sizes[label] for label in op.size_labels]
        for expr in op.constraints:
            holds = np.asarray(expr.eval(dims, sizes)) >= 0
            inside = holds if inside is None else inside & holds
        return inside

    def _restricted(
        self, value: Value, inside: Any, type: Attribute, kind: ReductionKind
    ) -> Value:
        """Returns values with the neutral element outside of a domain."""
        kind = ReductionKind.ADD if kind is ReductionKind.DOT else kind
        shape = np.broadcast_shapes(np.shape(inside), shape_of(value))
        neutral = self.arithmetic.constant(identity(kind, type))
        return chosen(inside, spread(value, shape), spread(neutral, shape))

    @impl_terminator(dt.YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: dt.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        """Ends a body."""
        return ReturnedValues(args), ()
