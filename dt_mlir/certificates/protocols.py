"""The barriers of specialized kernels, for any number of trips of every loop.

One run is followed, in which each group of warps acts as soon as it may, for each way to answer how
often loops make trips. States that differ by whole turns or by rotations of the rings are taken for
one, so that there are finitely many, and what holds of the steps from each to the next holds after
any number of steps by induction. `happens_before` says why one run stands for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, lcm
from time import thread_time
from typing import Any, NamedTuple

from dt_mlir.certificates.group_steps import Bound, Decided, Group, Known, Local, Trip
from dt_mlir.certificates.happens_before import Rules, Shared
from dt_mlir.certificates.rotations import Rotations
from dt_mlir.certificates.trip_bounds import Bounds, Compared, UnprovedError
from dt_mlir.dialects import warp
from dt_mlir.interpreters.memory import ExecutionError
from dt_mlir.interpreters.warp_level import shared_memory
from dt_mlir.interpreters.warp_protocol import Action
from dt_mlir.traversal import operations_of

MOST_STATES = 100_000
"""The states after which a proof is given up."""
MOST_ACTIONS = 24
"""The actions behind a decision after which a state is compared with those before anyway."""


@dataclass(frozen=True)
class Proof:
    """The outcome of an exploration."""

    states: int
    """The number of states that were compared, up to turns and rotations of the rings."""
    actions: int
    """The number of actions between them."""
    reason: str = ""
    """The reason for which nothing is proved; empty if all is."""


Answers = frozenset[tuple[Bound, Known]]
"""The decisions so far about how often loops make trips."""


class _Places(NamedTuple):
    """The states of groups between their actions."""

    groups: tuple[Local, ...]
    decided: Answers
    """The decisions that led there."""
    turns: tuple[int, ...]
    """The rotations of each set of rings."""


class _State(NamedTuple):
    """The state of a program instance."""

    groups: tuple[Local, ...]
    decided: Answers
    shared: Shared


def proof_of(kernel: warp.KernelOp, seconds: float) -> Proof:
    """Explores a kernel's states for any number of trips.

    Args:
        kernel: the kernel.
        seconds: the processor's time that it may take.
    """
    explorer = None
    try:
        explorer = _Explorer(kernel, seconds)
        explorer.run()
    except (UnprovedError, ExecutionError) as error:
        reason = error.message if isinstance(error, ExecutionError) else str(error)
        if explorer is None:
            return Proof(0, 0, reason)
        return Proof(explorer.count + len(explorer.states), explorer.actions, reason)
    return Proof(explorer.count, explorer.actions)


class _Explorer:
    def __init__(self, kernel: warp.KernelOp, seconds: float) -> None:
        self.end = thread_time() + seconds
        values: dict[Any, Any] = dict.fromkeys(kernel.body.block.args)
        protocol, runs = shared_memory(
            kernel, values, lambda op, args: (None,) * len(op.results), lambda condition: False
        )
        known = {value: item for value, item in values.items() if item is not None}
        depths = [op.depth for op in operations_of(kernel, warp.MBarrierCreateOp)]
        bounds = Bounds(kernel)
        self.rules = Rules(protocol)
        self.groups = [Group(run.partition, run.number, known, bounds) for run in runs]
        self.cases = self._cases(bounds, max(depths, default=1))
        self.count = self.actions = 0
        self.states: set[_State] = set()
        self._actions: dict[tuple[int, Local], Action] = {}
        self._after: dict[tuple[int, tuple[Local, ...], Answers], list[_Places]] = {}
        self.rotations = Rotations(self.groups, len(protocol.barriers), len(protocol.buffers))

    def _cases(self, bounds: Bounds, trips: int) -> list[dict[int, Known]]:
        """Returns cases of the bounds that last: each small number of trips, and all others.

        Where a loop makes many trips whenever it is entered, groups are in few trips of the loop
        around at once.
        """
        claims: dict[int, list[Compared]] = {}
        for group in self.groups:
            for claim in group.claims:
                claims.setdefault(claim.bound, []).append(claim)
        found: list[dict[int, Known]] = [{}]
        for bound, own in claims.items():
            if not bounds.is_lasting(bound):
                continue
            step = gcd(*(c.step for c in own), *(c.place - own[0].place for c in own)) or 1
            first = min(c.place for c in own)
            lowest = bounds.sign(bound)[0]
            most = max(c.place + trips * c.step for c in own)
            places = [p for p in range(first, most, step) if lowest is None or p >= lowest]
            ways = [Known(p, p) for p in places] + [Known(most, None)]
            found = [{**case, bound: known} for case in found for known in ways]
        return found

    def run(self) -> None:
        """Explores all states.

        Raises:
            UnprovedError: if there are too many, or something is not in an order.
            ExecutionError: where a buffer or a barrier is not there.
        """
        for case in self.cases:
            for group in self.groups:
                group.assumed = case
            self.states.clear()
            self._after.clear()
            self._explore()
            self.count += len(self.states)

    def _explore(self) -> None:
        """Explores the states of one case."""
        starts: list[tuple[tuple[Local, ...], Decided]] = [((), {})]
        for group in self.groups:
            starts = [
                ((*before, local), after)
                for before, decided in starts for local, after in group.start(decided)
            ]  # fmt: skip
        pending = [self._state(self._turned(*start), self.rules.start) for start in starts]
        self.states.update(pending)
        while pending:
            for after in self._successors(pending.pop()):
                if after not in self.states:
                    self.states.add(after)
                    pending.append(after)
            if len(self.states) > MOST_STATES:
                raise UnprovedError(f"there are more than {MOST_STATES} states")
            if thread_time() > self.end:
                raise UnprovedError("it takes too long")

    def _successors(self, state: _State) -> list[_State]:
        """Returns the states after a decision, up to which one group after the other acts."""
        groups, decided, shared = state
        for _ in range(MOST_ACTIONS):
            step = self._step(groups, shared)
            if step is None:
                return []
            number, shared = step
            behind = self._behind(number, groups, decided)
            if len(behind) != 1 or behind[0].decided != decided:
                return [self._state(places, shared) for places in behind]
            groups, decided, turns = behind[0]
            shared = self._rotated(turns, shared)
        return [_State(groups, decided, self.rules.normalised(shared))]

    def _step(self, groups: tuple[Local, ...], shared: Shared) -> tuple[int, Shared] | None:
        """Returns the first group that may act, and the shared memory after it has done so."""
        for number, local in enumerate(groups):
            if local.op is not None:
                after = self.rules.step(shared, number, self._action(number, local))
                if after is not None:
                    self.actions += 1
                    return number, after
        if any(local.op is not None for local in groups):
            raise UnprovedError("all groups may wait for each other")
        self.rules.check_end(shared)
        return None

    def _rotated(self, turns: tuple[int, ...], shared: Shared) -> Shared:
        return self.rotations.moved(turns).shared(shared) if any(turns) else shared

    def _state(self, places: _Places, shared: Shared) -> _State:
        """Returns a state, with the rings rotated as the groups were."""
        shared = self.rules.normalised(self._rotated(places.turns, shared))
        return _State(places.groups, places.decided, shared)

    def _action(self, number: int, local: Local) -> Action:
        """Returns the next action of a group, which it is asked for once."""
        key = number, local
        if key not in self._actions:
            self._actions[key] = self.groups[number].action(local)
        return self._actions[key]

    def _behind(self, number: int, groups: tuple[Local, ...], decided: Answers) -> list[_Places]:
        """Returns where groups may be behind the next action of one, less whole turns."""
        key = number, groups, decided
        if key not in self._after:
            self._after[key] = [
                self._turned((*groups[:number], own, *groups[number + 1 :]), after)
                for own, after in self.groups[number].after(groups[number], dict(decided))
            ]
        return self._after[key]

    def _turned(self, groups: tuple[Local, ...], decided: Decided) -> _Places:
        turns = _Turns(self.groups, groups, decided)
        rotated = self.rotations.of(turns.groups)
        if not any(rotated):
            return _Places(turns.groups, turns.decided, rotated)
        found = tuple(
            own._replace(values=frozenset(self.rotations.values(dict(own.values), rotated).items()))
            for own in turns.groups
        )
        return _Places(found, turns.decided, rotated)


class _Turns:
    """Numbers of trips from which whole turns are taken.

    Args:
        groups: the groups.
        local: their states.
        decided: what is known of bounds.
    """

    def __init__(
        self, groups: Sequence[Group], local: Sequence[Local], decided: Decided
    ) -> None:
        self._groups, self._local = groups, local
        self._values = [dict(own.values) for own in local]
        self._decided = decided
        self._less: dict[Bound, int] = {}
        bounds = {b for b in decided if not self._is_over(b)}
        for bound in sorted(bounds, key=_depth):
            self._less[bound] = self._turns(bound)
        self.decided = frozenset(
            (self._named(b), _moved(decided[b], self._less[b])) for b in bounds
        )
        self.groups = tuple(
            own._replace(values=frozenset((v, self._known(k)) for v, k in values.items()))
            for own, values in zip(local, self._values)
        )

    def _is_past(self, group: int, bound: Bound) -> bool:
        """Returns whether a group has ended the loop that asks for a bound."""
        return self._has_left(group, bound) or bound in self._values[group].values()

    def _has_left(self, group: int, bound: Bound) -> bool:
        """Returns whether a group asks no more for a bound."""
        if self._local[group].op is None:
            return True
        if bound.around is None:
            return False
        outer, place = bound.around
        if self._has_left(group, outer) or outer in self._values[group].values():
            return True
        return any(
            isinstance(k, Trip) and k.bound == outer and k.place > place
            for k in self._values[group].values()
        )

    def _is_over(self, bound: Bound) -> bool:
        return all(
            self._has_left(number, bound)
            for number, group in enumerate(self._groups) if bound.number in group.asked
        )

    def _turns(self, bound: Bound) -> int:
        """Returns what is taken from all numbers that are compared with a bound."""
        places: list[int] = []
        for number, group in enumerate(self._groups):
            if bound.number not in group.looped:
                continue
            own = [
                k.place for k in self._values[number].values()
                if isinstance(k, Trip) and k.bound == bound
            ]
            if not own and not self._is_past(number, bound):
                # It begins with its first trip.
                return 0
            places += own
        least = self._decided[bound].least
        if not places and least is None:
            # Nothing says how many trips are left behind.
            return 0
        lowest = min(places, default=least if least is not None else 0)
        claims = [c for group in self._groups for c in group.claims if c.bound == bound.number]
        step = lcm(*(c.step for c in claims if c.step))
        # What is left is a trip of each loop, its first one at least. Conditions compare numbers
        # that do not grow, and stay true: these are below all trips.
        above = min(lowest - c.place - (0 if c.step else 1) for c in claims)
        return max(above // step * step, 0)

    def _named(self, bound: Bound) -> Bound:
        if bound.around is None:
            return bound
        outer, place = bound.around
        return Bound(bound.number, (self._named(outer), place - self._less.get(outer, 0)))

    def _known(self, known: Any) -> Any:
        if isinstance(known, Trip):
            place = known.place - self._less.get(known.bound, 0)
            return Trip(self._named(known.bound), place, known.first)
        return self._named(known) if isinstance(known, Bound) else known


def _depth(bound: Bound) -> int:
    return 0 if bound.around is None else 1 + _depth(bound.around[0])


def _moved(known: Known, less: int) -> Known:
    return Known(*(None if x is None else x - less for x in known))
