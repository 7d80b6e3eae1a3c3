"""Explores all orders in which the groups of warps of a kernel may act.

What buffers hold is left out but for how often each was filled: control that others see does not
depend on data, so that each group has one sequence of actions. From each state every group may act
next, and copies that are under way may end; what cannot happen in any order is not an error. What
no other group can see or hinder happens at once. This is explicit state model checking with a
partial order reduction (as of SPIN, by ample sets), of a model that is the kernel itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation

from dt_mlir.dialects import tile, warp
from dt_mlir.dialects.tile.types import axes_of
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
from dt_mlir.interpreters.memory import ExecutionError
from dt_mlir.interpreters.scalars import ScalarFunctions
from dt_mlir.interpreters.tile_level import TileFunctions, number_of_programs
from dt_mlir.interpreters.warp_level import WarpFunctions, deadlock, shared_memory
from dt_mlir.interpreters.warp_partitions import Event
from dt_mlir.interpreters.warp_protocol import Action, Copy, Kind, Protocol, State

MOST_STATES = 2_000_000
"""The most states that are explored."""


class TooManyStatesError(ExecutionError):
    """An exploration that was given up, and decides nothing."""


READS = (Kind.PRODUCT, Kind.STORE)
"""The actions that read buffers."""
OF_RESULTS = (Kind.LOCAL_STORE, Kind.FENCE, Kind.STORE, Kind.STORE_WAIT)
"""The actions by which a group brings results to tensors; none of them waits for another group."""


@dataclass
class Exploration:
    """The extent of an exploration."""

    states: int
    """The number of states."""
    actions: int
    """The number of actions of all groups."""


def actions_of(
    module: ModuleOp,
    kernel: warp.KernelOp,
    sizes: Mapping[str, int],
    instance: int,
    programs: int | None = None,
) -> tuple[Protocol, list[list[Action]]]:
    """Returns the actions of each group of a program instance, and their protocol.

    Args:
        module: the module.
        kernel: the kernel.
        sizes: the size of each label.
        instance: the number of the instance.
        programs: the number of instances; None for as many as are launched.

    Raises:
        ExecutionError: where a group by itself does what it must not.
    """
    arithmetic = BoundedArithmetic(Accuracy.of(module))
    tiles = TileFunctions(arithmetic, sizes)
    launched = number_of_programs(kernel, sizes) if programs is None else programs
    tiles.instance, tiles.programs = instance, launched
    interpreter = Interpreter(module)
    for functions in (ScalarFunctions(arithmetic), tiles):
        interpreter.register_implementations(functions)

    def run(op: Operation, args: PythonValues) -> PythonValues:
        # Data, and what is computed of it, is left out.
        is_data = isinstance(op, tile.AccessOp) or any(argument is None for argument in args)
        if is_data or any(axes_of(result.type) for result in op.results):
            return (None,) * len(op.results)
        return interpreter.run_op(op, args)

    values: dict[Any, Any] = dict.fromkeys(kernel.body.block.args)
    holds = WarpFunctions(arithmetic, sizes, tiles).holds
    protocol, groups = shared_memory(kernel, values, run, holds)
    found: list[list[Action]] = []
    for group in groups:
        actions: list[Action] = []
        events = group.events()
        results: PythonValues | None = None
        while True:
            try:
                event: Event = next(events) if results is None else events.send(results)
            except StopIteration:
                break
            actions.append(event.action)
            results = (None,) * len(event.action.op.results)
        found.append(actions)
    return protocol, found


def explore(
    kernel: warp.KernelOp, protocol: Protocol, actions: Sequence[Sequence[Action]],
    reduced: bool = True,
) -> Exploration:  # fmt: skip
    """Explores all orders of actions.

    Args:
        kernel: the kernel that they are of.
        protocol: their protocol.
        actions: the actions of each group.
        reduced: whether one order stands for all in which others cannot tell them apart.

    Raises:
        ExecutionError: where in some order something is wrong; that all wait for each other
            only where there is nothing else.
    """
    start = (0,) * len(actions), protocol.start
    alone = _alone(actions) if reduced else set[int]()
    seen = {start}
    pending = [start]
    reads: dict[tuple[int, int], tuple[int, ...]] = {}
    ends = [len(group) for group in actions]
    stuck: ExecutionError | None = None
    while pending:
        places, state = pending.pop()
        moved = False
        for after in _successors(protocol, actions, places, state, reads, alone):
            moved = True
            if after not in seen:
                seen.add(after)
                pending.append(after)
        if len(seen) > MOST_STATES:
            raise TooManyStatesError(f"there are more than {MOST_STATES} states", kernel)
        if moved:
            continue
        ended = reduce(protocol.ended, state.copies, state)
        waiting = {g: actions[g][at] for g, at in enumerate(places) if at < ends[g]}
        if waiting:
            # In another order the cause may show.
            stuck = stuck or deadlock(protocol, ended, waiting)
        else:
            check_end(protocol, kernel, ended)
    if stuck is not None:
        raise stuck
    return Exploration(len(seen), sum(ends))


def _alone(actions: Sequence[Sequence[Action]]) -> set[int]:
    """Returns the groups whose results go through buffers that no other group uses."""
    users: defaultdict[int, set[int]] = defaultdict(set)
    for group, own in enumerate(actions):
        for action in own:
            for buffer in action.buffers:
                users[buffer].add(group)
    return {
        group for group, own in enumerate(actions)
        if all(
            len(users[buffer]) == 1
            for action in own if action.kind in OF_RESULTS for buffer in action.buffers
        )
    }  # fmt: skip


def _successors(
    protocol: Protocol,
    actions: Sequence[Sequence[Action]],
    places: tuple[int, ...],
    state: State,
    reads: dict[tuple[int, int], tuple[int, ...]],
    alone: set[int],
) -> list[tuple[tuple[int, ...], State]]:
    for group in alone:
        at = places[group]
        if at < len(actions[group]) and actions[group][at].kind in OF_RESULTS:
            # Others cannot tell when it happens, so that one order stands for all.
            after = protocol.step(state, group, actions[group][at])
            assert after is not None
            return [((*places[:group], at + 1, *places[group + 1 :]), after)]
    found: list[tuple[tuple[int, ...], State]] = []
    for group, at in enumerate(places):
        if at == len(actions[group]):
            continue
        action = actions[group][at]
        after = protocol.step(state, group, action)
        if after is None:
            continue
        if action.kind in READS:
            times = tuple(state.filled[buffer] for buffer in action.buffers)
            known = reads.setdefault((group, at), times)
            if known != times:
                raise _ambiguous(protocol, group, action, known, times)
        found.append(((*places[:group], at + 1, *places[group + 1 :]), after))
    found += [(places, after) for after in copies_ended(protocol, state)]
    return found


def copies_ended(protocol: Protocol, state: State) -> list[State]:
    """Returns the states after copies have ended that end the phase of a barrier.

    Nobody sees the end of any other copy, and a buffer is safe only when its copy has ended: the
    order in which the most can go wrong is that in which copies end as late as they can, all at
    once.
    """
    found: list[State] = []
    waiting: defaultdict[int, list[Copy]] = defaultdict(list)
    for copy in sorted(state.copies):
        waiting[copy.barrier].append(copy)
    for number, copies in waiting.items():
        barrier = state.barriers[number]
        for count in range(1, len(copies) + 1):
            for some in combinations(copies, count):
                if barrier.missing == 0 and sum(copy.bytes for copy in some) == barrier.bytes:
                    found.append(reduce(protocol.ended, some, state))
    return found


def _ambiguous(
    protocol: Protocol,
    group: int,
    action: Action,
    known: tuple[int, ...],
    times: tuple[int, ...],
) -> ExecutionError:
    number = next(i for i, (a, b) in enumerate(zip(known, times)) if a != b)
    name = protocol.buffers[action.buffers[number]]
    return ExecutionError(
        f"'{protocol.groups[group]}' {action.kind.value}, '{name}', which has been filled "
        f"{known[number]} or {times[number]} times, as the groups happen to be fast", action.op,
    )  # fmt: skip


def check_end(protocol: Protocol, kernel: warp.KernelOp, state: State) -> None:
    """Checks that nothing is left behind when all groups have ended.

    Raises:
        ExecutionError: where a copy or a product is under way, or a barrier expects bytes.
    """
    for group, partition in enumerate(
        p for p in kernel.specialize.partitions for _ in range(p.count)
    ):
        protocol.check_end(state, group, partition)
    for number, barrier in enumerate(state.barriers):
        if barrier.bytes:
            raise ExecutionError(
                f"'{protocol.barriers[number]}' expects {barrier.bytes} bytes that never come",
                kernel,
            )
