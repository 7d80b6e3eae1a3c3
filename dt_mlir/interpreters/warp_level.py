"""Runs the `warp` level: the groups of warps of each program instance as coroutines."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    impl,
    impl_callable,
    register_impls,
)
from xdsl.ir import Operation, SSAValue

from dt_mlir.dialects import warp
from dt_mlir.dialects.tile.types import axes_of, element_of
from dt_mlir.interpreters.arithmetic import (
    Arithmetic,
    Value,
    chosen,
    mapped,
    shape_of,
    spread,
)
from dt_mlir.interpreters.level import LevelFunctions
from dt_mlir.interpreters.memory import Buffer, ExecutionError
from dt_mlir.interpreters.tile_level import TileFunctions, number_of_programs
from dt_mlir.interpreters.warp_partitions import (
    Barriers,
    Event,
    Events,
    GroupRun,
    Place,
    Ring,
    Run,
)
from dt_mlir.interpreters.warp_protocol import (
    Action,
    Barrier,
    Copy,
    Kind,
    Protocol,
    State,
)


class Shared(NamedTuple):
    """The shared memory of a program instance, and the groups that use it."""

    protocol: Protocol
    groups: list[GroupRun]


def shared_memory(
    kernel: warp.KernelOp, values: dict[SSAValue, Any], run: Run, holds: Callable[[Any], bool]
) -> Shared:
    """Allocates what the groups of a kernel share.

    Args:
        kernel: the kernel.
        values: what its arguments are.
        run: runs operations that no other group sees.
        holds: decides whether a condition holds.

    Raises:
        ExecutionError: if barriers are used before a fence, or by no group.
    """
    buffers: list[str] = []
    barriers: list[str] = []
    arrivals: list[int] = []
    unfenced: Operation | None = None
    for op in kernel.body.block.ops:
        match op:
            case warp.AllocOp():
                type = op.result.type
                assert isinstance(type, warp.RingType)
                name, depth = op.result.name_hint or "buffers", type.depth.data
                values[op.result] = Ring(name, len(buffers), depth)
                buffers += [f"{name}[{number}]" for number in range(depth)]
            case warp.MBarrierCreateOp():
                name = op.result.name_hint or "barriers"
                values[op.result] = Barriers(name, len(barriers), op.depth)
                barriers += [f"{name}[{number}]" for number in range(op.depth)]
                arrivals += [op.arrivals.value.data] * op.depth
                unfenced = op
            case warp.FenceAsyncOp():
                unfenced = None
            case warp.TmaDescriptorOp():
                values[op.result] = values[op.base]
            case warp.SpecializeOp() | warp.GridWaitOp():
                # Here kernels run one after the other.
                pass
            case _ if any(inner.name.startswith("warp.") for inner in op.walk()):
                raise ExecutionError(
                    f"'{op.name}' stands in front of the groups of warps, and none carries it out",
                    op, "move it into a partition of 'warp.specialize'",
                )  # fmt: skip
            case _:
                args = tuple(values[value] for value in op.operands)
                values.update(zip(op.results, run(op, args)))
    if unfenced is not None:
        raise ExecutionError("barriers are initialised without a fence behind it", unfenced)
    groups = [
        GroupRun(partition, number, values, run, holds)
        for partition in kernel.specialize.partitions for number in range(partition.count)
    ]  # fmt: skip
    names = [group.name for group in groups]
    return Shared(Protocol(names, buffers, barriers, arrivals), groups)


@register_impls
class WarpFunctions(LevelFunctions):
    """Implementations of the `warp` dialect.

    Args:
        arithmetic: what elements are.
        sizes: the size of each label.
        tiles: runs what the groups compute on tiles.
    """

    def __init__(
        self, arithmetic: Arithmetic, sizes: Mapping[str, int], tiles: TileFunctions
    ) -> None:
        super().__init__(arithmetic, sizes)
        self.tiles = tiles

    def holds(self, condition: Value) -> bool:
        """Returns whether a condition holds."""
        return bool(np.all(self.arithmetic.truth(condition)))

    @impl(warp.HalveOp)
    def run_halve(
        self, interpreter: Interpreter, op: warp.HalveOp, args: tuple[Any, ...]
    ) -> PythonValues:
        """Takes a tile apart."""
        rows, columns = (axis.extent for axis in axes_of(op.value.type))
        assert isinstance(rows, int)
        assert isinstance(columns, int)
        whole, half = spread(args[0], (rows, columns)), columns // 2
        return (
            mapped(lambda array: array[:, :half], whole),
            mapped(lambda array: array[:, half:], whole),
        )

    @impl_callable(warp.KernelOp)
    def run_kernel(
        self, interpreter: Interpreter, op: warp.KernelOp, args: tuple[Any, ...]
    ) -> PythonValues:
        """Runs all instances of a kernel."""
        self.tiles.least = op.least_extents
        self.tiles.programs = programs = number_of_programs(op, self.sizes)
        for self.tiles.instance in range(programs):
            # A trip may use tiles of the one before, of which an axis runs elsewhere.
            self.tiles.lengths, self.tiles.ranges = {}, None
            self.tiles.observer.starts(op, self.tiles.instance, programs)
            values: dict[SSAValue, Any] = dict(zip(op.body.block.args, args))
            shared = shared_memory(op, values, interpreter.run_op, self.holds)
            _Instance(self, shared).run()
        return ()


class _Instance:
    """A program instance."""

    def __init__(self, functions: WarpFunctions, shared: Shared) -> None:
        self.arithmetic, self.sizes = functions.arithmetic, functions.sizes
        self.instance = functions.tiles.instance
        self.protocol, self.groups = shared
        self.state = self.protocol.start
        self.observer = functions.tiles.observer
        self.observer.shares(self.protocol)
        self.held: dict[int, Value] = {}
        """The elements of each buffer."""
        self.coming: dict[Copy, Value] = {}
        """The elements that copies under way bring."""

    def run(self) -> None:
        """Runs all groups, each as far as it comes, and ends copies when none comes further."""
        running: dict[int, tuple[Events, Event]] = {}
        for number, group in enumerate(self.groups):
            self._resume(running, number, group.events(), None)
        while running:
            moved = [self._advance(running, number) for number in list(running)]
            if any(moved):
                continue
            if not self.state.copies:
                waiting = {number: event.action for number, (_, event) in running.items()}
                raise deadlock(self.protocol, self.state, waiting)
            copy = next(copy for copy in self.coming if copy in self.state.copies)
            self.state = self.protocol.ended(self.state, copy)
            self.held[copy.buffer] = self.coming.pop(copy)
            self.observer.ends_copy(copy)

    def _advance(self, running: dict[int, tuple[Events, Event]], number: int) -> bool:
        """Runs a group as far as it comes; returns whether it did anything."""
        moved = False
        while number in running:
            events, event = running[number]
            after = self.protocol.step(self.state, number, event.action)
            if after is None:
                break
            self.state, moved = after, True
            self.observer.acts(number, event.action)
            self._resume(running, number, events, self._carry_out(event.action, event.args))
        return moved

    def _resume(
        self,
        running: dict[int, tuple[Events, Event]],
        number: int,
        events: Events,
        results: PythonValues | None,
    ) -> None:
        running.pop(number, None)
        try:
            event = next(events) if results is None else events.send(results)
        except StopIteration:
            self.protocol.check_end(self.state, number, self.groups[number].partition)
            return
        running[number] = events, event

    def _carry_out(self, action: Action, args: PythonValues) -> PythonValues:
        op = action.op
        match op:
            case warp.TmaLoadOp():
                tensor, *origin = args[: 1 + len(op.origin)]
                copy = Copy(action.buffers[0], action.barrier, action.number)
                self.coming[copy] = self._box(op, tensor, origin)
            case warp.TmaStoreOp():
                _, tensor, *origin = args
                self._write(op, tensor, origin, self.held[action.buffers[0]])
            case warp.LocalStoreOp():
                type = op.buffer.type
                assert isinstance(type, warp.BufferType)
                stored = self.arithmetic.stored(args[0], type.element_type)
                self.held[action.buffers[0]] = spread(stored, type.extents)
            case warp.MmaOp():
                return (self._product(op, args),)
            case _:
                pass
        return args if action.kind is Kind.PRODUCT_WAIT else ()

    def _places(
        self, descriptor: SSAValue, buffer: Buffer, origin: list[int]
    ) -> tuple[list[Any], Any]:
        """The indices of a box along each axis, and which of its elements are in the tensor."""
        box, described = descriptor.type, descriptor.owner
        assert isinstance(box, warp.DescriptorType)
        extents = box.extents
        rank, ends = len(extents), list(buffer.shape)
        order, labels = tuple(range(rank)), tuple[str, ...]()
        if isinstance(described, warp.TmaDescriptorOp):
            order, labels = described.permutation, described.end_labels
        for axis, label in enumerate(labels):
            ends[axis] = self.sizes[label] if label else ends[axis]
        places: list[Any] = []
        inside: Any = np.ones((1,) * rank, bool)
        for axis, (first, extent) in enumerate(zip(origin, extents)):
            shape = [extent if other == axis else 1 for other in range(rank)]
            place = (int(first) + np.arange(extent)).reshape(shape)
            places.append(place)
            inside = inside & (place >= 0) & (place < ends[order[axis]])
        return [places[order.index(axis)] for axis in range(rank)], np.broadcast_to(inside, extents)

    def _box(self, op: warp.TmaLoadOp, buffer: Buffer, origin: list[int]) -> Value:
        type, box = op.buffer.type, op.descriptor.type
        assert isinstance(type, warp.BufferType)
        assert isinstance(box, warp.DescriptorType)
        places, inside = self._places(op.descriptor, buffer, origin)
        self.observer.access(op, buffer, places, inside)
        found = buffer.read(op, places, inside, self.instance)
        zero = self.arithmetic.from_array(np.zeros(()), type.element_type)
        if shape_of(found) != box.extents:
            return spread(zero, type.extents)
        copied = chosen(inside, found, spread(zero, box.extents))
        panels = warp.panel_axes(type, box) or 0
        return mapped(
            lambda array: np.moveaxis(array, range(panels), range(-1 - panels, -1))
            .reshape(type.extents), copied,
        )  # fmt: skip

    def _write(
        self, op: warp.TmaStoreOp, buffer: Buffer, origin: list[int], value: Value
    ) -> None:
        type, box = op.buffer.type, op.descriptor.type
        assert isinstance(type, warp.BufferType)
        assert isinstance(box, warp.DescriptorType)
        places, inside = self._places(op.descriptor, buffer, origin)
        self.observer.access(op, buffer, places, inside)
        panels = warp.panel_axes(type, box) or 0
        rows = *box.extents[panels:-1], *box.extents[:panels], box.extents[-1]
        written = mapped(
            lambda array: np.moveaxis(array.reshape(rows), range(-1 - panels, -1), range(panels)),
            value,
        )
        buffer.write(op, places, written, self.instance, inside)

    def _factor(self, item: Any) -> Value:
        if not isinstance(item, Place):
            return item
        found = self.held[item.buffer]
        return mapped(np.transpose, found) if item.transposed else found

    def _product(self, op: warp.MmaOp, args: PythonValues) -> Value:
        lhs, rhs = self._factor(args[0]), self._factor(args[1])
        depth, type = shape_of(rhs)[0], element_of(op.result.type)
        lhs = mapped(lambda array: array[:, :, None], lhs)
        rhs = mapped(lambda array: array[None], rhs)
        product = self.arithmetic.dot(lhs, rhs, (1,), (depth,), type)
        return product if op.acc is None else self.arithmetic.plus(args[2], product, type)


def deadlock(protocol: Protocol, state: State, waiting: dict[int, Action]) -> ExecutionError:
    """Returns the error of groups that all wait.

    Args:
        protocol: names what they wait for.
        state: the state in which they wait.
        waiting: what each group waits for.
    """
    shown = "; ".join(
        f"'{protocol.groups[group]}' for the phase of parity {action.number} of "
        f"'{protocol.barriers[action.barrier]}', which {_lacks(state.barriers[action.barrier])}"
        for group, action in sorted(waiting.items())
    )
    return ExecutionError(
        f"all wait, and nothing is under way: {shown}", next(iter(waiting.values())).op
    )


def _lacks(barrier: Barrier) -> str:
    """Says why a phase does not end."""
    arrivals = "an arrival" if barrier.missing == 1 else f"{barrier.missing} arrivals"
    lacks = [arrivals] if barrier.missing else []
    if barrier.bytes > 0:
        lacks.append(f"{barrier.bytes} bytes")
    if not lacks and barrier.bytes < 0:
        return f"was brought {-barrier.bytes} bytes more than it expects"
    return f"lacks {' and '.join(lacks)}"
