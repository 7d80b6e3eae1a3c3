"""The protocol of buffers and barriers in shared memory, without what the buffers hold.

A state is what all groups of warps of a program instance see: the phases of barriers, how often
each buffer was filled, and what is under way. Each action of a group leads to another state, is
blocked, or is an error. Copies end by themselves, at any time after they have begun.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, TypeVar

from xdsl.ir import Operation

from dt_mlir.interpreters.memory import ExecutionError

T = TypeVar("T")


class Kind(Enum):
    """The kinds of actions."""

    WAIT = "waits for a barrier"
    ARRIVE = "arrives at a barrier"
    LOAD = "copies into a buffer"
    LOCAL_STORE = "stores into a buffer"
    FENCE = "orders its stores before copies and products"
    STORE = "copies a buffer to a tensor"
    STORE_WAIT = "waits for its copies to tensors"
    PRODUCT = "multiplies buffers"
    PRODUCT_WAIT = "waits for its products"


class Action(NamedTuple):
    """A step of a group that others may see."""

    kind: Kind
    op: Operation
    buffers: tuple[int, ...] = ()
    """The buffers that are read or filled."""
    barrier: int = -1
    """The barrier that is waited for or signalled."""
    number: int = 0
    """The parity that is waited for, the bytes that are expected or copied, or how much may still
    be under way."""


class Barrier(NamedTuple):
    """A barrier in a phase."""

    phase: int = 0
    """The number of phases that have ended."""
    missing: int = 1
    """The arrivals that the phase still counts."""
    bytes: int = 0
    """The bytes that are expected; negative where they came before they were."""


class Copy(NamedTuple):
    """A copy into a buffer that is under way."""

    buffer: int
    barrier: int
    bytes: int


class Group(NamedTuple):
    """The copies and products that a group of warps has under way."""

    products: tuple[tuple[int, ...], ...] = ()
    """The buffers that each of its products reads, the oldest first."""
    stores: tuple[int, ...] = ()
    """The buffers that its copies to tensors read, the oldest first."""
    unfenced: frozenset[int] = frozenset()
    """The buffers that it has stored to since its last fence."""


class State(NamedTuple):
    """The shared memory of a program instance, as its groups see it."""

    barriers: tuple[Barrier, ...]
    filled: tuple[int, ...]
    """The number of times that each buffer was filled."""
    copies: frozenset[Copy]
    """The copies into buffers that are under way."""
    groups: tuple[Group, ...]


class Protocol:
    """The rules by which actions change states.

    Args:
        groups: the names of the groups.
        buffers: the names of the buffers.
        barriers: the names of the barriers.
        arrivals: the arrivals that each barrier counts.
    """

    def __init__(
        self,
        groups: Sequence[str],
        buffers: Sequence[str],
        barriers: Sequence[str],
        arrivals: Sequence[int],
    ) -> None:
        self.groups, self.buffers, self.barriers = groups, buffers, barriers
        self.arrivals = arrivals
        self.start = State(
            tuple(Barrier(missing=count) for count in arrivals), (0,) * len(buffers), frozenset(),
            (Group(),) * len(groups),
        )  # fmt: skip

    def step(self, state: State, group: int, action: Action) -> State | None:
        """Returns the state after an action, or None where it has to wait.

        Args:
            state: the state before.
            group: the number of the group that acts.
            action: what it does.

        Raises:
            ExecutionError: where no order of what is under way makes it right.
        """
        own = state.groups[group]
        match action.kind:
            case Kind.WAIT:
                passes = state.barriers[action.barrier].phase % 2 != action.number
                return state if passes else None
            case Kind.ARRIVE:
                return self._arrive(state, group, action)
            case Kind.LOAD:
                self._check_free(state, group, action)
                copy = Copy(action.buffers[0], action.barrier, action.number)
                return state._replace(copies=state.copies | {copy})
            case Kind.LOCAL_STORE:
                self._check_free(state, group, action)
                (buffer,) = action.buffers
                own = own._replace(unfenced=own.unfenced | {buffer})
                return self._with(state._replace(filled=_fill(state.filled, buffer)), group, own)
            case Kind.FENCE:
                return self._with(state, group, own._replace(unfenced=frozenset()))
            case Kind.STORE:
                self._check_full(state, group, action)
                return self._with(state, group, own._replace(stores=own.stores + action.buffers))
            case Kind.STORE_WAIT:
                kept = _last(own.stores, action.number)
                return self._with(state, group, own._replace(stores=kept))
            case Kind.PRODUCT:
                self._check_full(state, group, action)
                products = (*own.products, action.buffers)
                return self._with(state, group, own._replace(products=products))
            case Kind.PRODUCT_WAIT:
                products = _last(own.products, action.number)
                return self._with(state, group, own._replace(products=products))

    def ended(self, state: State, copy: Copy) -> State:
        """Returns the state after a copy has ended, and its bytes have arrived."""
        barrier = state.barriers[copy.barrier]
        return state._replace(
            barriers=self._signalled(
                state.barriers, copy.barrier, barrier._replace(bytes=barrier.bytes - copy.bytes)
            ),
            filled=_fill(state.filled, copy.buffer),
            copies=state.copies - {copy},
        )

    def check_end(self, state: State, group: int, op: Operation) -> None:
        """Checks that a group leaves nothing behind when it ends.

        Raises:
            ExecutionError: where a copy or a product of it is still under way.
        """
        own = state.groups[group]
        for under_way, what in ((own.stores, "a copy"), (own.products, "a product")):
            if under_way:
                raise ExecutionError(
                    f"'{self.groups[group]}' ends while {what} of it still reads shared memory", op
                )

    def _with(self, state: State, group: int, own: Group) -> State:
        groups = (*state.groups[:group], own, *state.groups[group + 1 :])
        return state._replace(groups=groups)

    def _arrive(self, state: State, group: int, action: Action) -> State:
        barrier = state.barriers[action.barrier]
        if barrier.missing == 0:
            raise ExecutionError(
                f"'{self.groups[group]}' arrives at '{self.barriers[action.barrier]}', whose phase "
                f"has had the {self.arrivals[action.barrier]} arrivals that it counts", action.op,
            )  # fmt: skip
        changed = barrier._replace(
            missing=barrier.missing - 1, bytes=barrier.bytes + action.number
        )
        return state._replace(
            barriers=self._signalled(state.barriers, action.barrier, changed)
        )

    def _signalled(
        self, barriers: tuple[Barrier, ...], number: int, changed: Barrier
    ) -> tuple[Barrier, ...]:
        if changed.missing == 0 and changed.bytes == 0:
            changed = Barrier(changed.phase + 1, self.arrivals[number])
        return (*barriers[:number], changed, *barriers[number + 1 :])

    def _refused(self, group: int, action: Action, buffer: int, reason: str) -> ExecutionError:
        return ExecutionError(
            f"'{self.groups[group]}' {action.kind.value}, '{self.buffers[buffer]}', {reason}",
            action.op,
        )

    def _check_free(self, state: State, group: int, action: Action) -> None:
        """Checks that nothing that is under way uses a buffer that is filled."""
        for buffer in action.buffers:
            if any(copy.buffer == buffer for copy in state.copies):
                reason = "into which another copy is still under way"
                raise self._refused(group, action, buffer, reason)
            for number, other in enumerate(state.groups):
                if any(buffer in product for product in other.products):
                    reason = f"which a product of '{self.groups[number]}' still reads"
                    raise self._refused(group, action, buffer, reason)
                if buffer in other.stores:
                    reason = f"which a copy of '{self.groups[number]}' to a tensor still reads"
                    raise self._refused(group, action, buffer, reason)

    def _check_full(self, state: State, group: int, action: Action) -> None:
        """Checks that buffers that are read hold what they should."""
        for buffer in action.buffers:
            if any(copy.buffer == buffer for copy in state.copies):
                reason = "into which a copy is still under way"
                raise self._refused(group, action, buffer, reason)
            if not state.filled[buffer]:
                raise self._refused(group, action, buffer, "which nothing has filled yet")
            for number, other in enumerate(state.groups):
                if buffer in other.unfenced:
                    reason = (
                        f"to which '{self.groups[number]}' has stored without a fence behind it"
                    )
                    raise self._refused(group, action, buffer, reason)


def _fill(filled: tuple[int, ...], buffer: int) -> tuple[int, ...]:
    return (*filled[:buffer], filled[buffer] + 1, *filled[buffer + 1 :])


def _last(items: tuple[T, ...], count: int) -> tuple[T, ...]:
    return items[len(items) - count :] if count < len(items) else items
