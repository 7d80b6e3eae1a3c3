"""Runs the `tile` level: each program instance by itself, with its masks and memory.

A tile is an array with an axis for each of its type's. An axis along which a tile is the same may
have one element. An axis that ends at a bound (before masks are placed) has as many elements as
there are; a physical one has all, and masks say which count.
"""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_callable,
    impl_terminator,
    register_impls,
)
from xdsl.ir import Attribute, Operation, SSAValue

from dt_mlir.dialects import tile
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.dialects.numbers import constant
from dt_mlir.dialects.tile.types import Axis, axes_of, axis_names, element_of
from dt_mlir.element_types import MODERATE
from dt_mlir.interpreters.arithmetic import (
    Arithmetic,
    Value,
    chosen,
    joined,
    mapped,
    shape_of,
    spread,
)
from dt_mlir.interpreters.boundaries import number_in
from dt_mlir.interpreters.bounded import Array
from dt_mlir.interpreters.events import Observer
from dt_mlir.interpreters.level import LevelFunctions
from dt_mlir.interpreters.memory import Buffer, ExecutionError

MULTIPROCESSORS = 2
"""The multiprocessors of the machine that is interpreted: so few that instances walk blocks."""


def alternated(number: int, blocks: int, programs: int) -> int:
    """Returns the block that `tile.alternate` gives for a number.

    Args:
        number: the number of the block in a walk that does not turn around.
        blocks: the number of blocks.
        programs: the number of program instances.
    """
    turns = (blocks // programs - number // programs) % 2
    return number + turns * (programs - 1 - 2 * (number % programs))


def number_of_programs(kernel: GridKernelOp, sizes: Mapping[str, int]) -> int:
    """The number of instances of a kernel.

    Args:
        kernel: the kernel.
        sizes: the size of each label.
    """
    blocks = prod(-(-sizes[label] // block) for label, block in kernel.grid)
    if kernel.programs is None:
        return blocks
    return min(blocks, MULTIPROCESSORS * kernel.programs.value.data)


def _is_dynamic(op: Operation) -> bool:
    """Returns whether an operation's kernel is compiled once for all sizes."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, GridKernelOp):
        parent = parent.parent_op()
    return parent is not None and parent.dynamic is not None


def aligned(value: Value, type: Attribute, axes: Sequence[str]) -> Value:
    """A tile with these axes in this order; those that it lacks have one element."""
    own = axis_names(type)
    order = [own.index(name) for name in axes if name in own]

    def move(array: Array) -> Array:
        array = np.asarray(array)
        extents = iter(array.shape[i] for i in order)
        shape = [next(extents) if name in own else 1 for name in axes]
        return np.transpose(array, order).reshape(shape)

    return mapped(move, value)


@register_impls
class TileFunctions(LevelFunctions):
    """Implementations of the `tile` dialect."""

    def __init__(
        self, arithmetic: Arithmetic, sizes: Mapping[str, int], observer: Observer | None = None
    ) -> None:
        super().__init__(arithmetic, sizes)
        self.observer = observer or Observer()
        self.instance, self.programs = 0, 0
        self.least: dict[str, int] = {}
        self.lengths: dict[str, int] = {}
        self.ranges: dict[str, tuple[Operation, list[int]]] | None = {}

    @impl_callable(tile.KernelOp)
    def run_kernel(
        self, interpreter: Interpreter, op: tile.KernelOp, args: tuple[Any, ...]
    ) -> PythonValues:
        """Runs all instances of a kernel."""
        self.least = op.least_extents
        self.programs = programs = number_of_programs(op, self.sizes)
        for self.instance in range(programs):
            self.lengths, self.ranges = {}, {}
            self.observer.starts(op, self.instance, programs)
            interpreter.run_ssacfg_region(op.body, args, op.sym_name.data)
        return ()

    def extent(self, axis: Axis) -> int:
        """The number of elements of a physical axis."""
        if isinstance(axis.extent, int):
            return axis.extent
        wanted = max(self.sizes[axis.extent], self.least.get(axis.extent, 1), 1)
        return 1 << (wanted - 1).bit_length()

    @impl(tile.ProgramIdOp)
    def run_program_id(
        self, interpreter: Interpreter, op: tile.ProgramIdOp, args: PythonValues
    ) -> PythonValues:
        """The number of the instance."""
        return (self.instance,)

    @impl(tile.NumProgramsOp)
    def run_num_programs(
        self, interpreter: Interpreter, op: tile.NumProgramsOp, args: PythonValues
    ) -> PythonValues:
        """The number of instances."""
        return (self.programs,)

    @impl(tile.AlternateOp)
    def run_alternate(
        self, interpreter: Interpreter, op: tile.AlternateOp, args: PythonValues
    ) -> PythonValues:
        """The block of a walk whose rounds alternate."""
        number, blocks, programs = map(int, args)
        if programs < 1 or not 0 <= number < blocks:
            raise ExecutionError(
                f"block {number} of {blocks} is walked by {programs} program instances", op
            )
        return (alternated(number, blocks, programs),)

    @impl(tile.SizeOp)
    def run_size(
        self, interpreter: Interpreter, op: tile.SizeOp, args: PythonValues
    ) -> PythonValues:
        """The size of a label."""
        return (self.sizes[op.label.data],)

    @impl(tile.FactorsOp)
    def run_factors(
        self, interpreter: Interpreter, op: tile.FactorsOp, args: PythonValues
    ) -> PythonValues:
        """The factors of a scalar, as the host decides; without an order it is that for before."""
        type = op.scalar.type
        holds: list[Array] = []
        for end, predicate in zip(MODERATE, ("oge", "ole")):
            number = constant(end, type)
            test = arith.CmpfOp(op.scalar, arith.ConstantOp(number), predicate)
            found = self.arithmetic.apply(test, [args[0], self.arithmetic.constant(number)])
            holds.append(self.arithmetic.truth(found))
            test.erase()
        scalar = args[0]
        if op.before.type != type:
            widened = arith.ExtFOp(op.scalar, op.before.type)
            scalar = self.arithmetic.apply(widened, [scalar])
            widened.erase()
        factors = (self.arithmetic.constant(constant(1.0, op.before.type)), scalar)
        ordered = self.arithmetic.keeps_order and all(holds)
        return factors if ordered else factors[::-1]

    @impl(tile.RangeOp)
    def run_range(
        self, interpreter: Interpreter, op: tile.RangeOp, args: PythonValues
    ) -> PythonValues:
        """The indices along an axis."""
        origin, *bound = indices = [int(value) for value in args]
        self._note_range(op, op.axis.name, indices)
        count, step = self.extent(op.axis), op.stride
        if bound:
            below = max(0, -((origin - bound[0]) // step))
            count = below if op.axis.is_symbolic else min(count, below)
        self.lengths[op.axis.name] = count
        return (np.arange(origin, origin + count * step, step),)

    @impl(tile.JoinedRangeOp)
    def run_joined_range(
        self, interpreter: Interpreter, op: tile.JoinedRangeOp, args: PythonValues
    ) -> PythonValues:
        """The indices along an axis of the points of a box that exist."""
        indices = [int(value) for value in args]
        self._note_range(op, op.axis.name, indices)
        origins, bounds = indices[: len(op.extents)], indices[len(op.extents) :]
        sides = op.extents
        if bounds:
            below = (max(0, end - start) for start, end in zip(origins, bounds))
            sides = [min(pair) for pair in zip(sides, below)]
        self.lengths[op.axis.name] = prod(sides)
        points = np.indices(sides).reshape(len(sides), -1)
        return tuple(origin + point for origin, point in zip(origins, points))

    def _note_range(self, op: Operation, name: str, indices: list[int]) -> None:
        """Notes where an axis runs, and that it runs there alone."""
        if self.ranges is None:
            return
        known = self.ranges.setdefault(name, (op, indices))
        block = known[0].parent
        if known[0] is op or block is None or not block.is_ancestor(op):
            self.ranges[name] = op, indices
        elif known[1] != indices:
            shown = [" to ".join(map(str, found)) for found in (known[1], indices)]
            raise ExecutionError(
                f"the axis '{name}' runs from {shown[0]} and from {shown[1]} at once", op
            )

    @impl(tile.MaskOp)
    def run_mask(
        self, interpreter: Interpreter, op: tile.MaskOp, args: PythonValues
    ) -> PythonValues:
        """Returns which indices are below a bound; all, where the mask is printed as none."""
        index, bound, *end = args
        below = np.asarray(index) < bound
        match op.shortcut(_is_dynamic(op)):
            case "divisor":
                assert op.divisor is not None
                whole = bound % op.divisor.value.data == 0
            case "whole":
                whole = self.extent(axes_of(op.index.type)[0]) == bound
            case "end":
                whole = bound >= end[0]
            case _:
                whole = False
        if whole:
            below = np.ones_like(below)
        below = self.masked(op, np.asarray(index), below)
        return (self.arithmetic.from_array(below, element_of(op.result.type)),)

    def masked(self, op: tile.MaskOp, index: Array, below: Array) -> Array:
        """Returns the elements of a mask; what derives from this class may change them.

        Args:
            op: the mask.
            index: the indices.
            below: for each of them whether the mask lets it through.
        """
        return below

    def _access(
        self, op: tile.AccessOp, axes: Sequence[str], indices: Sequence[Any], masks: Sequence[Value]
    ) -> tuple[list[Array], Array]:
        places = [aligned(np.asarray(i), v.type, axes) for i, v in zip(indices, op.indices)]
        return places, self._all_true(masks, op.masks, axes)

    def _all_true(
        self, values: Sequence[Value], operands: Sequence[SSAValue], axes: Sequence[str]
    ) -> Array:
        """Returns where all of some truth values hold, as an array of the axes of a tile."""
        found: Array = np.ones((1,) * len(axes), bool)
        for value, operand in zip(values, operands):
            found = found & self.arithmetic.truth(aligned(value, operand.type, axes))
        return found

    @impl(tile.LoadOp)
    def run_load(
        self, interpreter: Interpreter, op: tile.LoadOp, args: PythonValues
    ) -> PythonValues:
        """Loads a tile."""
        bounds, (base, *rest) = args[: len(op.inside)], args[len(op.inside) :]
        assert isinstance(base, Buffer)
        axes = axis_names(op.result.type)
        indices, masks = rest[: len(op.indices)], rest[len(op.indices) :]
        places, mask = self._access(op, axes, indices, masks)
        inside = self._all_true(bounds, op.inside, axes)
        self.observer.access(op, base, places, mask & inside)
        found = base.read(op, places, mask & inside, self.instance)
        shape = np.broadcast_shapes(
            np.shape(mask), np.shape(inside), *(p.shape for p in places)
        )
        for holds, other in ((inside, op.fill), (mask, op.pad)):
            if other is None:
                continue
            number = spread(number_in(self.arithmetic, base, other), shape)
            found = chosen(holds, spread(found, shape), number)
        return (found,)

    @impl(tile.StoreOp)
    def run_store(
        self, interpreter: Interpreter, op: tile.StoreOp, args: PythonValues
    ) -> PythonValues:
        """Stores a tile."""
        value, base, *rest = args
        assert isinstance(base, Buffer)
        axes = axis_names(op.value.type)
        count = len(op.indices)
        places, mask = self._access(op, axes, rest[:count], rest[count:])
        self.observer.access(op, base, places, mask)
        kept = self.arithmetic.stored(value, base.element)
        base.write(op, places, kept, self.instance, mask)
        return ()

    @impl(tile.MapOp)
    def run_map(self, interpreter: Interpreter, op: tile.MapOp, args: PythonValues) -> PythonValues:
        """Computes all elements of a tile at once."""
        axes = axis_names(op.result.type)
        inputs = [aligned(value, v.type, axes) for value, v in zip(args, op.inputs)]
        (result,) = interpreter.run_ssacfg_region(op.body, tuple(inputs), "map")
        result = mapped(np.asarray, result)
        shapes = [shape_of(value) for value in inputs]
        return (spread(result, np.broadcast_shapes((1,) * len(axes), shape_of(result), *shapes)),)

    @impl_terminator(tile.YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: tile.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        """Ends the body of a map."""
        return ReturnedValues(args), ()

    def _along(self, value: Value, type: Attribute, axis: str) -> tuple[Value, int]:
        """A tile that has all its elements along an axis, and where the axis is."""
        place = axis_names(type).index(axis)
        shape = list(shape_of(value))
        known = self.lengths.get(axis)
        if shape[place] == 1:
            shape[place] = self.extent(axes_of(type)[place]) if known is None else known
        return spread(value, shape), place

    @impl(tile.ReduceOp)
    def run_reduce(
        self, interpreter: Interpreter, op: tile.ReduceOp, args: PythonValues
    ) -> PythonValues:
        """Reduces along an axis."""
        value, place = self._along(args[0], op.value.type, op.axis.data)
        type = element_of(op.result.type)
        return (self.arithmetic.reduce(op.kind.data, value, (place,), type),)

    @impl(tile.ScanOp)
    def run_scan(
        self, interpreter: Interpreter, op: tile.ScanOp, args: PythonValues
    ) -> PythonValues:
        """Combines the elements along an axis up to each of them."""
        value, place = self._along(args[0], op.value.type, op.axis.data)
        kind = op.kind.data
        if op.factor is None:
            return (self._scanned(value, place, op, kind, None),)
        factor, _ = self._along(args[1], op.factor.type, op.axis.data)
        shape = np.broadcast_shapes(shape_of(value), shape_of(factor))
        value, factor = spread(value, shape), spread(factor, shape)
        sums = self._scanned(value, place, op, kind, factor)
        return sums, self._scanned(factor, place, op, ReductionKind.MUL, None)

    def _scanned(
        self, value: Value, place: int, op: tile.ScanOp, kind: ReductionKind, factor: Value | None
    ) -> Value:
        """Combines elements along an axis; sums are multiplied by factors before each."""
        type = element_of(op.result.type)
        count = shape_of(value)[place]
        order = range(count) if op.reverse is None else range(count - 1, -1, -1)
        found: list[Value] = []

        def taken(array: Value, at: int) -> Value:
            return mapped(lambda elements: elements.take([at], axis=place), array)

        def combined(kind: ReductionKind, a: Value, b: Value) -> Value:
            total = self.arithmetic.reduce(kind, joined([a, b], place), (place,), type)
            return mapped(lambda array: np.expand_dims(array, place), total)

        for number in order:
            one = taken(value, number)
            if found:
                before = found[-1]
                if factor is not None:
                    before = combined(ReductionKind.MUL, before, taken(factor, number))
                one = combined(kind, before, one)
            found.append(one)
        if not found:
            return value
        return joined(found if op.reverse is None else found[::-1], place)

    @impl(tile.ArgReduceOp)
    def run_arg_reduce(
        self, interpreter: Interpreter, op: tile.ArgReduceOp, args: PythonValues
    ) -> PythonValues:
        """Finds the extremes along an axis."""
        last: list[Value] = []
        for given, operand in zip(args, op.operands):
            value, place = self._along(given, operand.type, op.axis.data)
            last.append(mapped(lambda array, at=place: np.moveaxis(array, at, -1), value))
        return self.arithmetic.arg_reduce(op.kind.data, last[0], last[1], element_of(op.value.type))

    @impl(tile.DotOp)
    def run_dot(self, interpreter: Interpreter, op: tile.DotOp, args: PythonValues) -> PythonValues:
        """Multiply matrices, and add them up."""
        depth = axis_names(op.lhs.type)[-1]
        (lhs, _), (rhs, _) = (
            self._along(value, operand.type, depth)
            for value, operand in zip(args[:2], (op.lhs, op.rhs))
        )
        lhs = mapped(lambda array: array[..., None], lhs)
        rhs = mapped(lambda array: np.expand_dims(array, -3), rhs)
        place = len(shape_of(lhs)) - 2
        type = element_of(op.result.type)
        size = shape_of(lhs)[place]
        product = self.arithmetic.dot(lhs, rhs, (place,), (size,), type)
        if op.acc is None:
            return (product,)
        return (self.arithmetic.plus(args[2], product, type),)

    @impl(tile.FillOp)
    def run_fill(
        self, interpreter: Interpreter, op: tile.FillOp, args: PythonValues
    ) -> PythonValues:
        """A tile that is the same everywhere."""
        rank = len(axes_of(op.result.type))
        return (mapped(lambda array: np.reshape(array, (1,) * rank), args[0]),)

    @impl(tile.BroadcastOp)
    def run_broadcast(
        self, interpreter: Interpreter, op: tile.BroadcastOp, args: PythonValues
    ) -> PythonValues:
        """A tile with further axes."""
        return (aligned(args[0], op.value.type, axis_names(op.result.type)),)

    @impl(tile.TransposeOp)
    def run_transpose(
        self, interpreter: Interpreter, op: tile.TransposeOp, args: PythonValues
    ) -> PythonValues:
        """A tile with its axes in another order."""
        return (aligned(args[0], op.value.type, axis_names(op.result.type)),)

    @impl(tile.RenameOp)
    def run_rename(
        self, interpreter: Interpreter, op: tile.RenameOp, args: PythonValues
    ) -> PythonValues:
        """A tile whose axes have other names; they keep their places.

        What lies beyond the end of a new axis is gone.
        """
        value, *ranges = args
        shape = shape_of(value)
        ends: list[slice] = [slice(None)] * len(shape)
        names = axis_names(op.result.type)
        for index, operand in zip(ranges, op.ranges):
            place = names.index(axis_names(operand.type)[0])
            count = len(np.asarray(index))
            if shape[place] not in (1, count):
                ends[place] = slice(count)
        return (mapped(lambda array: np.asarray(array)[tuple(ends)], value),)
