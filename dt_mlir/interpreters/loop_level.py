"""Runs the `loop` level: program instances in the grid's order, and in each the loops in theirs.

A loop whose trips provably carry nothing to each other is run for all its indices at once, as one
axis of NumPy's arrays. Values have the axes of such loops from the right: the outermost is the
last, so that what was computed outside broadcasts by itself.
"""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType
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
from xdsl.ir import Attribute, Block, BlockArgument, SSAValue
from xdsl.ir.affine import AffineConstraintKind, AffineSet

from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.indices import simple_index
from dt_mlir.interpreters.arithmetic import (
    Arithmetic,
    Value,
    chosen,
    joined,
    mapped,
    spread,
    with_rank,
)
from dt_mlir.interpreters.boundaries import read_under
from dt_mlir.interpreters.level import LevelFunctions
from dt_mlir.interpreters.memory import Buffer, ExecutionError
from dt_mlir.traversal import operations, operations_of


def carries_nothing(op: loop.LoopLike) -> bool:
    """Returns whether no trip of a loop sees what another does.

    A step of a `loop.online` does. In other loops none does where every buffer that is written
    inside is indexed by the loop along one and the same axis, wherever it is written or read. Of a
    joined loop, all parts must index it.
    """
    if isinstance(op, loop.OnlineOp) or loop.prefixes_of(op):
        return False
    accesses: dict[SSAValue, list[loop.AccessOp]] = {}
    written: set[SSAValue] = set()
    for inner in operations(op):
        if isinstance(inner, loop.LoopLike) and inner.origin is op.iv:
            return False
        if isinstance(inner, loop.PartOp) and inner.index is op.iv:
            return False
        if isinstance(inner, loop.ReductionLoop) and not runs_anywhere(inner):
            # The indices that are reduced depend on those of the loops around.
            return False
        if isinstance(inner, loop.AccessOp):
            accesses.setdefault(inner.base, []).append(inner)
            if isinstance(inner, loop.WriteOp):
                written.add(inner.base)
    parts = [use.operation for use in op.iv.uses]
    wholes = [(op.iv,), *(p.indices for p in parts if isinstance(p, loop.DelinearizeOp))]
    for base in written:
        axes = list(zip(*(access.index_values() for access in accesses[base])))
        if not any(all(_is_fixed(part, axes) for part in parts) for parts in wholes):
            return False
    return True


def runs_anywhere(op: loop.ReductionLoop) -> bool:
    """Returns whether the body of a loop may run where its domain excludes it."""
    if op.domain is None:
        return True
    if isinstance(op, loop.ReduceOp) and (op.kind is None or op.named_kind.is_arg):
        return False
    return all(
        simple_index(expr) is not None
        for read in operations_of(op, loop.ReadOp)
        for expr in read.map.data.results
    )


def _is_fixed(value: SSAValue, axes: Sequence[Sequence[SSAValue | int | None]]) -> bool:
    """Returns whether a value indexes one and the same axis wherever a buffer is accessed."""
    return any(all(index is value for index in axis) for axis in axes)


@register_impls
class LoopFunctions(LevelFunctions):
    """Implementations of the `loop` dialect."""

    def __init__(self, arithmetic: Arithmetic, sizes: Mapping[str, int]) -> None:
        super().__init__(arithmetic, sizes)
        self.depth = 0
        self.instance = 0
        self.independent: dict[loop.LoopLike, bool] = {}
        self.bounds: dict[loop.ReductionLoop, PythonValues] = {}
        """The values that the domain of a reduction depends on, where it runs."""
        self.masked: dict[loop.ReductionLoop, bool] = {}
        """True for loops with a domain that run for all indices."""
        self.prefixes: dict[loop.PrefixOp, Value] = {}
        """The combinations up to the last trip of the loops that run."""
        self.running: dict[loop.RunningOp, PythonValues] = {}
        """The running values up to the last step of the loops that run."""
        self.before: dict[SSAValue, Value] = {}
        """The running values before the step that runs."""

    @impl_callable(loop.KernelOp)
    def run_kernel(
        self, interpreter: Interpreter, op: loop.KernelOp, args: tuple[Any, ...]
    ) -> PythonValues:
        """Runs all instances of a kernel."""
        return interpreter.run_ssacfg_region(op.body, args, op.sym_name.data)

    @impl(loop.GridOp)
    def run_grid(
        self, interpreter: Interpreter, op: loop.GridOp, args: PythonValues
    ) -> PythonValues:
        """Runs the body for each block, in the order of the walk."""
        for instance, origins in enumerate(grid_origins(op, self.sizes)):
            self.instance = instance
            interpreter.run_ssacfg_region(op.body, origins, "grid")
        return ()

    @impl(loop.ForOp)
    def run_for(self, interpreter: Interpreter, op: loop.ForOp, args: PythonValues) -> PythonValues:
        """Runs a loop's trips."""
        for prefix in loop.prefixes_of(op):
            self.prefixes.pop(prefix, None)
        self._trips(interpreter, op, args)
        return ()

    @impl(loop.PrefixOp)
    def run_prefix(
        self, interpreter: Interpreter, op: loop.PrefixOp, args: PythonValues
    ) -> PythonValues:
        """Combines the element of a trip with those of the trips before."""
        kind, type = op.kind.data, op.result.type
        before = self.prefixes.get(op)
        if before is None:
            before = self.arithmetic.constant(identity(kind, op.value.type))
        elif op.factor is not None:
            pair = joined([with_rank(item, self.depth + 1) for item in (before, args[1])], 0)
            before = self.arithmetic.reduce(ReductionKind.MUL, pair, (0,), type)
        both = joined([with_rank(item, self.depth + 1) for item in (before, args[0])], 0)
        found = self.arithmetic.reduce(kind, both, (0,), type)
        self.prefixes[op] = found
        return (found,)

    @impl(loop.ReduceOp)
    def run_reduce(
        self, interpreter: Interpreter, op: loop.ReduceOp, args: PythonValues
    ) -> PythonValues:
        """Runs a loop's trips and combines what they yield."""
        bounds, args = args[: len(op.bounds)], args[len(op.bounds) :]
        if op.domain is not None:
            self.bounds[op] = bounds
        count, trips = self._trips(interpreter, op, args)
        if op.combination is not None:
            return self._combined(interpreter, op, count, trips)
        rank = self.depth + 1
        if not trips:
            trips = [tuple(self._nothing(value.type) for value in op.yielded)]
        yielded: list[Value] = []
        for values in zip(*trips):
            together = joined([with_rank(value, rank) for value in values], 0)
            yielded.append(together)
        kind, type = op.named_kind, op.result.type
        if op.domain is not None and self._is_masked(op):
            yielded = self._masked(op, args, yielded)
        if kind is ReductionKind.DOT:
            return (self.arithmetic.dot(yielded[0], yielded[1], (0,), (count,), type),)

        def full(value: Value) -> Value:
            return spread(value, (count, *_shape(value)[1:]))

        if not count and not kind.is_arg:
            # A part of a label may have no index.
            return (self.arithmetic.constant(identity(kind, type)),)
        if not kind.is_arg:
            return (self.arithmetic.reduce(kind, full(yielded[0]), (0,), type),)
        if not count:
            first = self.arithmetic.from_array(np.zeros(()), type)
            extreme = self.arithmetic.constant(identity(kind, op.yielded[0].type))
            return (first,) if op.extreme is None else (first, extreme)
        if len(yielded) > 1:
            index = yielded[1]
        else:
            numbers = np.concatenate(
                [np.ravel(i) for i in self._indices(op, args)] or [np.zeros(0, int)]
            )
            index = self.arithmetic.from_array(numbers.reshape(-1, *[1] * self.depth), type)
        value, index = (
            mapped(lambda array: np.moveaxis(array, 0, -1), full(x)) for x in (yielded[0], index)
        )
        extreme, position = self.arithmetic.arg_reduce(kind, value, index, op.yielded[0].type)
        return (position,) if op.extreme is None else (position, extreme)

    def _is_masked(self, op: loop.ReductionLoop) -> bool:
        """Returns whether a loop with a domain runs for all indices."""
        if op not in self.masked:
            self.masked[op] = runs_anywhere(op)
        return self.masked[op]

    def _masked(
        self, op: loop.ReduceOp, args: PythonValues, yielded: Sequence[Value]
    ) -> list[Value]:
        """Elements with the neutral one where indices are not in the domain of a reduction."""
        assert op.domain is not None
        rank, parts = self.depth + 1, list[Any]()
        for index in self._indices(op, args):
            inside = np.asarray(_holds(op.domain.data, [index, *self.bounds[op]]))
            parts.append(inside.reshape((1,) * (rank - inside.ndim) + inside.shape))
        if not parts:
            return list(yielded)
        inside = joined(parts, 0)
        found: list[Value] = []
        for value in yielded:
            type = op.yielded[len(found)].type
            neutral = self.arithmetic.constant(identity(op.named_kind, type))
            found.append(chosen(inside, value, neutral))
        return found

    def _combined(
        self,
        interpreter: Interpreter,
        op: loop.ReduceOp,
        count: int,
        trips: Sequence[PythonValues],
    ) -> PythonValues:
        """Combines the states of trips, one after the other, with the neutral state."""
        assert op.init is not None
        assert op.combination is not None
        state: PythonValues = tuple(self.arithmetic.constant(number) for number in op.init)
        for trip in trips:
            # Trips that were run at once have a place along the first axis each.
            full = [with_rank(value, self.depth + 1) for value in trip]
            for i in range(count // len(trips)):
                one = [mapped(lambda array, i=i: array[i % len(array)], value) for value in full]
                state = interpreter.run_ssacfg_region(op.combination, (*state, *one), "combine")
        return state

    @impl(loop.OnlineOp)
    def run_online(
        self, interpreter: Interpreter, op: loop.OnlineOp, args: PythonValues
    ) -> PythonValues:
        """Runs a loop's steps one after the other."""
        bounds, args = args[: len(op.bounds)], args[len(op.bounds) :]
        running = op.running
        for inner in running:
            self.running[inner] = self._neutral(inner)
        for index in self._range(op, args):
            inside = True if op.domain is None else _holds(op.domain.data, [index, *bounds])
            if not np.any(inside):
                continue
            before = [self.running[inner] for inner in running]
            interpreter.run_ssacfg_region(op.body, (index,), op.label_name)
            if np.all(inside):
                continue
            for inner, old in zip(running, before):
                pairs = zip(self.running[inner], old)
                self.running[inner] = tuple(chosen(np.asarray(inside), *pair) for pair in pairs)
        return tuple(value for inner in running for value in self.running[inner])

    @impl(loop.RunningOp)
    def run_running(
        self, interpreter: Interpreter, op: loop.RunningOp, args: PythonValues
    ) -> PythonValues:
        """Combines a step's element with the repaired value of the steps before."""
        terms, (value, *rest) = args[: len(op.terms)], self.running[op]
        kind, type, rank = op.kind.data, op.result.type, self.depth + 1
        if op.repair is not None:
            before = [self.before[source] for source in op.sources]
            (value,) = interpreter.run_ssacfg_region(op.repair, (value, *before), "repair")
        if kind.is_arg:
            found = self._more_extreme(op, terms, (rest[0], value))
        elif kind is ReductionKind.DOT:
            one = [with_rank(term, rank) for term in terms]
            product = self.arithmetic.dot(one[0], one[1], (0,), (1,), type)
            found = (self.arithmetic.plus(value, product, type),)
        else:
            both = joined([with_rank(item, rank) for item in (value, terms[0])], 0)
            found = (self.arithmetic.reduce(kind, both, (0,), type),)
        for result, old in zip(op.results, self.running[op]):
            self.before[result] = old
        self.running[op] = found
        return found

    def _more_extreme(
        self, op: loop.RunningOp, new: PythonValues, old: PythonValues
    ) -> PythonValues:
        """The index of the more extreme of two elements, and the element.

        Args:
            op: an index reduction.
            new: a step's element and its index.
            old: the extreme element of the steps before, and its index.
        """
        values, places = (
            mapped(
                lambda array: np.moveaxis(array, 0, -1),
                joined([with_rank(item, self.depth + 1) for item in pair], 0),
            )
            for pair in zip(old, new)
        )
        type = op.terms[0].type
        found, place = self.arithmetic.arg_reduce(op.kind.data, values, places, type)
        return place, found

    def _neutral(self, op: loop.RunningOp) -> PythonValues:
        """Returns the neutral element of a running reduction."""
        kind = op.kind.data
        if kind.is_arg:
            types = [op.result.type, op.terms[0].type]
            first = self.arithmetic.from_array(np.zeros(()), types[0])
            return first, self.arithmetic.constant(identity(kind, types[1]))
        return (self.arithmetic.constant(identity(kind, op.result.type)),)

    @impl_terminator(loop.YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: loop.YieldOp, args: PythonValues
    ) -> tuple[TerminatorValue, PythonValues]:
        """Ends the body of a reduction."""
        return ReturnedValues(args), ()

    @impl(loop.SizeOp)
    def run_size(
        self, interpreter: Interpreter, op: loop.SizeOp, args: PythonValues
    ) -> PythonValues:
        """The size of a label."""
        return (self.sizes[op.label.data],)

    @impl(loop.PartOp)
    def run_part(
        self, interpreter: Interpreter, op: loop.PartOp, args: PythonValues
    ) -> PythonValues:
        """The first index of a part, and the one behind its last."""
        found = op.indices(int(args[0]), self.sizes[op.label.data])
        return found.start, found.stop

    @impl(loop.DelinearizeOp)
    def run_delinearize(
        self, interpreter: Interpreter, op: loop.DelinearizeOp, args: PythonValues
    ) -> PythonValues:
        """The indices of the loops that a loop joins."""
        rest, found = args[0], list[Any]()
        for label in op.label_names[:0:-1]:
            found.append(rest % self.sizes[label])
            rest = rest // self.sizes[label]
        return (rest, *reversed(found))

    @impl(loop.LocalOp)
    def run_local(
        self, interpreter: Interpreter, op: loop.LocalOp, args: PythonValues
    ) -> PythonValues:
        """A new local buffer."""
        assert isinstance(op.result.type, MemRefType)
        element = op.result.type.element_type
        shape = [self.sizes[label] for label in op.label_names]
        zero = self.arithmetic.from_array(np.zeros(()), element)
        return (Buffer.fresh(op.function.data, element, zero, shape),)

    @impl(loop.ReadOp)
    def run_read(
        self, interpreter: Interpreter, op: loop.ReadOp, args: PythonValues
    ) -> PythonValues:
        """Reads elements."""
        base, *indices = args
        assert isinstance(base, Buffer)
        alone = not isinstance(op.base.owner, Block)
        instance = None if alone else self.instance
        places = self._places(op, indices)
        found = read_under(
            self.arithmetic, op, base, places, op.boundary, op.exterior, instance,
            self._extents(op, base),
        )  # fmt: skip
        return (found,)

    @impl(loop.WriteOp)
    def run_write(
        self, interpreter: Interpreter, op: loop.WriteOp, args: PythonValues
    ) -> PythonValues:
        """Writes elements."""
        count = 1 + len(op.first)
        value, (base, *indices) = args[0], args[count:]
        assert isinstance(base, Buffer)
        if any(np.any(index) for index in args[1:count]):
            return ()
        # A local buffer is one instance's own; inside it may be written again.
        owner = op.base.owner
        kept = self.arithmetic.stored(value, base.element)
        places = self._places(op, indices)
        rank = max((np.ndim(place) for place in places), default=0)
        if np.ndim(_first(kept)) > rank:
            raise ExecutionError(
                f"what is written to '{base.name}' depends on a loop that its indices do not", op
            )
        base.write(op, places, kept, 0 if not isinstance(owner, Block) else self.instance)
        return ()

    def _extents(self, op: loop.ReadOp, base: Buffer) -> Sequence[int]:
        """Returns the sizes of a tensor's axes, which may be less than those of its storage."""
        if not isinstance(op.base, BlockArgument):
            return base.shape
        kernel = op.base.owner.parent_op()
        assert isinstance(kernel, loop.KernelOp)
        return [
            self.sizes.get(label, extent)
            for label, extent in zip(kernel.axes_of(op.base), base.shape)
        ]

    def _places(self, op: loop.AccessOp, indices: Sequence[Any]) -> list[Any]:
        sizes = [self.sizes[label] for label in op.size_labels]
        return [np.asarray(expr.eval(indices, sizes)) for expr in op.map.data.results]

    def _nothing(self, type: Attribute) -> Value:
        """Returns the value of a loop without a trip."""
        return self.arithmetic.from_array(np.zeros((0,) + (1,) * self.depth), type)

    def _range(self, op: loop.LoopLike, args: PythonValues) -> range:
        """The indices of a loop, whatever its domain and its steps are."""
        size = self.sizes[op.label_name]
        start = int(args[-1]) if args else 0
        if op.end is not None:
            return range(start, min(size, int(args[0])))
        return range(start, size if op.extent_size is None else min(size, start + op.extent_size))

    def _indices(self, op: loop.LoopLike, args: PythonValues) -> list[Any]:
        """The values of a loop's index, each for one trip or for all trips at once."""
        found = self._range(op, args)
        start, end = found.start, found.stop
        if op.is_outer:
            return list(range(start, end, op.step_size))
        if (
            isinstance(op, loop.ReductionLoop)
            and op.domain is not None
            and not self._is_masked(op)
        ):
            domain, others = op.domain.data, [int(value) for value in self.bounds[op]]
            return [i for i in range(start, end) if _holds(domain, [i, *others])]
        if op not in self.independent:
            self.independent[op] = carries_nothing(op)
        if self.independent[op] and start < end:
            return [np.arange(start, end).reshape(-1, *[1] * self.depth)]
        numbers = list(range(start, end))
        prefixes = loop.prefixes_of(op)
        return numbers[::-1] if prefixes and prefixes[0].descending is not None else numbers

    def _trips(
        self, interpreter: Interpreter, op: loop.LoopLike, args: PythonValues
    ) -> tuple[int, list[PythonValues]]:
        """Runs a loop; returns the number of its indices and what its trips yield."""
        results: list[PythonValues] = []
        count = 0
        for index in self._indices(op, args):
            at_once = not isinstance(index, int)
            count += len(index) if at_once else 1
            self.depth += at_once
            results.append(interpreter.run_ssacfg_region(op.body, (index,), op.label_name))
            self.depth -= at_once
        return count, results


def _holds(domain: AffineSet, values: Sequence[Any]) -> Any:
    """Returns whether values of its dimensions, then its symbols, satisfy a set's constraints.

    Args:
        domain: the set.
        values: numbers, or arrays of them; the result is an array then.
    """
    dims, symbols = values[: domain.num_dims], values[domain.num_dims :]
    holds: Any = True
    for constraint in domain.constraints:
        left, right = (side.eval(dims, symbols) for side in (constraint.lhs, constraint.rhs))
        match constraint.kind:
            case AffineConstraintKind.ge:
                holds = holds & (left >= right)
            case AffineConstraintKind.le:
                holds = holds & (left <= right)
            case AffineConstraintKind.eq:
                holds = holds & (left == right)
    return holds


def _shape(value: Value) -> tuple[int, ...]:
    return np.shape(_first(value))


def _first(value: Value) -> Any:
    return getattr(value, "value", value)


def grid_origins(grid: loop.GridOp, sizes: Mapping[str, int]) -> list[tuple[int, ...]]:
    """The origins of each program instance's block, in the order of the walk."""
    blocks = grid.block_sizes
    counts = {label: -(-sizes[label] // block) for label, block in blocks.items()}
    order = grid.walk_order or [loop.WalkAttr(label) for label in grid.label_names]
    found: list[dict[str, int]] = [{}]
    for walk in order:
        following: list[dict[str, int]] = []
        for known in found:
            count = counts[walk.label]
            match walk.part:
                case "whole":
                    numbers = range(count)
                case "descending":
                    numbers = range(count - 1, -1, -1)
                case "outer":
                    numbers = range(0, count, walk.factor)
                case _:
                    # Within the group that the outer part has come to.
                    numbers = range(walk.factor)
            following.extend({**known, f"{walk.label} {walk.part}": n} for n in numbers)
        found = following
    origins: list[tuple[int, ...]] = []
    for known in found:
        number: dict[str, int] = {}
        for label in grid.label_names:
            whole = known.get(f"{label} whole", known.get(f"{label} descending"))
            number[label] = (
                whole if whole is not None else known[f"{label} outer"] + known[f"{label} inner"]
            )
        if all(number[label] < counts[label] for label in grid.label_names):
            origins.append(tuple(number[label] * blocks[label] for label in grid.label_names))
    return origins
