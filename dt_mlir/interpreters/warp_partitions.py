"""Runs partitions as coroutines, which give away what other groups of warps may see."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, NamedTuple

from xdsl.dialects import scf
from xdsl.interpreter import PythonValues
from xdsl.ir import Block, Operation, SSAValue

from dt_mlir.dialects import warp
from dt_mlir.interpreters.memory import ExecutionError
from dt_mlir.interpreters.warp_protocol import Action, Kind
from dt_mlir.traversal import operations


class Ring(NamedTuple):
    """Buffers of shared memory."""

    name: str
    first: int
    """The number of the first of them among all buffers."""
    depth: int


class Place(NamedTuple):
    """A buffer of shared memory."""

    buffer: int
    """Its number among all buffers."""
    transposed: bool = False


class Barriers(NamedTuple):
    """Barriers."""

    name: str
    first: int
    """The number of the first of them among all barriers."""
    depth: int


@dataclass
class Sum:
    """The result of a product, which may still be under way."""

    value: Any
    ended: bool = False


class Event(NamedTuple):
    """An action with the operands of its operation; what it gives is sent back."""

    action: Action
    args: PythonValues


Events = Generator[Event, PythonValues, PythonValues]
Run = Callable[[Operation, PythonValues], PythonValues]
"""Runs an operation that no other group sees."""


class GroupRun:
    """A run of one group of warps.

    Args:
        partition: what it does.
        number: the number of the group among those of the partition.
        values: what the values from around the partition are.
        run: runs what no other group sees.
        holds: decides whether a condition holds.
    """

    def __init__(
        self,
        partition: warp.PartitionOp,
        number: int,
        values: dict[SSAValue, Any],
        run: Run,
        holds: Callable[[Any], bool],
    ) -> None:
        self.name = partition.sym_name.data + (f" {number}" if partition.replicas else "")
        self.partition, self.number = partition, number
        self.values = dict(values)
        self.run = run
        self.holds = holds
        self.sums: list[Sum] = []
        """The sums of products that are under way, the oldest first."""
        for arg in partition.body.block.args:
            self.values[arg] = number

    def events(self) -> Events:
        """Returns the coroutine of its actions."""
        return self._block(self.partition.body.block)

    def _block(self, block: Block) -> Events:
        for op in block.ops:
            args = tuple(self.values[value] for value in op.operands)
            match op:
                case scf.YieldOp():
                    return args
                case scf.ForOp():
                    results = yield from self._for(op, args)
                case scf.IfOp():
                    region = op.true_region if self.holds(args[0]) else op.false_region
                    results = (yield from self._block(region.block)) if region.blocks else ()
                case warp.IndexOp():
                    results = (buffer_of(op, *args),)
                case warp.TransposeOp():
                    results = (Place(args[0].buffer, not args[0].transposed),)
                case warp.ConvertLayoutOp():
                    self._check_ended(op, args)
                    results = args
                case warp.MmaOp():
                    results = yield from self._product(op, args)
                case warp.MmaWaitOp():
                    results = yield from self._wait(op, args)
                case _:
                    self._check_ended(op, args)
                    action = action_of(op, args)
                    results = self.run(op, args) if action is None else (yield Event(action, args))
            self.values.update(zip(op.results, results))
        return ()

    def _for(self, op: scf.ForOp, args: PythonValues) -> Events:
        start, end, step, *rest = args
        if end is None:
            end = self._end_of_one_trip(op, start)
        if int(step) < 1:
            raise ExecutionError(f"a loop has the step {step}, and would not end", op)
        carried = tuple(rest)
        for index in range(int(start), int(end), int(step)):
            self.values.update(zip(op.body.block.args, (index, *carried)))
            carried = yield from self._block(op.body.block)
        return carried

    def _end_of_one_trip(self, op: scf.ForOp, start: int) -> int:
        """Returns where a loop ends that data says how often to repeat, without the data.

        Other groups must see nothing of it, so that one trip shows what any number does.
        """
        for inner in operations(op):
            unseen = isinstance(inner, warp.ConvertLayoutOp | warp.HalveOp)
            if inner.name.startswith("warp.") and not unseen:
                raise ExecutionError(
                    f"'{self.name}' repeats '{inner.name}' as often as data says, and others may "
                    "wait for it", op,
                )  # fmt: skip
        return int(start) + 1

    def _product(self, op: warp.MmaOp, args: PythonValues) -> Events:
        lhs, rhs, *acc = args
        # A product may add to the sum of one before that is still under way.
        given = [item.value if isinstance(item, Sum) else item for item in acc]
        self._check_ended(op, (lhs,))
        buffers = tuple(item.buffer for item in (lhs, rhs) if isinstance(item, Place))
        (value,) = yield Event(Action(Kind.PRODUCT, op, buffers), (lhs, rhs, *given))
        found = Sum(value)
        self.sums.append(found)
        return (found,)

    def _wait(self, op: warp.MmaWaitOp, args: PythonValues) -> Events:
        pending = op.pending.value.data
        yield Event(Action(Kind.PRODUCT_WAIT, op, number=pending), args)
        while len(self.sums) > pending:
            self.sums.pop(0).ended = True
        return tuple(
            item.value if isinstance(item, Sum) and item.ended else item for item in args
        )

    def _check_ended(self, op: Operation, args: PythonValues) -> None:
        if any(isinstance(item, Sum) for item in args):
            raise ExecutionError(
                f"'{self.name}' uses the result of a product that is still under way", op
            )


def buffer_of(op: warp.IndexOp, ring: Ring, index: int) -> Place:
    """Returns a buffer of a ring.

    Raises:
        ExecutionError: if there is none of that number.
    """
    if not 0 <= index < ring.depth:
        raise ExecutionError(
            f"'{ring.name}' has {ring.depth} buffers, and none of the number {index}", op
        )
    return Place(ring.first + int(index))


def _barrier(op: Operation, barriers: Barriers, index: int) -> int:
    if not 0 <= index < barriers.depth:
        raise ExecutionError(
            f"'{barriers.name}' has {barriers.depth} barriers, and none of the number {index}", op
        )
    return barriers.first + int(index)


def action_of(op: Operation, args: PythonValues) -> Action | None:
    """Returns what others see of an operation; None if that is nothing.

    Args:
        op: the operation; products are actions of their own.
        args: its operands.

    Raises:
        ExecutionError: if there is no such barrier, or no such parity.
    """
    match op:
        case warp.MBarrierWaitOp():
            parity, barriers, index = args
            barrier = _barrier(op, barriers, index)
            if parity not in (0, 1):
                raise ExecutionError(f"a barrier's parity is 0 or 1, and not {parity}", op)
            return Action(Kind.WAIT, op, barrier=barrier, number=int(parity))
        case warp.MBarrierArriveOp():
            return Action(Kind.ARRIVE, op, barrier=_barrier(op, *args))
        case warp.MBarrierExpectOp():
            barrier = _barrier(op, *args)
            return Action(Kind.ARRIVE, op, barrier=barrier, number=op.bytes.value.data)
        case warp.TmaLoadOp():
            place, barriers, index = args[-3:]
            type = op.buffer.type
            assert isinstance(type, warp.BufferType)
            barrier = _barrier(op, barriers, index)
            return Action(Kind.LOAD, op, (place.buffer,), barrier, type.bytes)
        case warp.TmaStoreOp():
            return Action(Kind.STORE, op, (args[0].buffer,))
        case warp.TmaStoreWaitOp():
            return Action(Kind.STORE_WAIT, op, number=op.pending.value.data)
        case warp.FenceAsyncOp():
            return Action(Kind.FENCE, op)
        case warp.LocalStoreOp():
            return Action(Kind.LOCAL_STORE, op, (args[1].buffer,))
        case _:
            return None
