"""The order in which a run of groups of warps must happen: what each of them knows of the others.

A group has a clock with an entry for each group and each barrier (Lamport 1978; Fidge 1988; Mattern
1989). It learns of others where it passes a barrier: all that they had done when they arrived. If
all that must not be swapped is ordered so in one run, then every other run of the same actions is
the same up to the order of what may be swapped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from dt_mlir.certificates.trip_bounds import UnprovedError
from dt_mlir.interpreters.warp_protocol import Action, Kind, Protocol

T = TypeVar("T")
Clock = tuple[int, ...]
"""The time of each group that is known, then the phases of each barrier that are known to be over.
"""
UNDER_WAY = -1
"""The time at which something ends that is under way."""
LONG_AGO = -(2**60)
"""The phase of a barrier of which nobody knows, or all know that it is over."""


class Barrier(NamedTuple):
    """A barrier in a phase."""

    phase: int
    """The number of phases that are over."""
    missing: int
    """The arrivals that the phase still counts."""
    bytes: int
    """The bytes that are expected."""
    coming: Clock
    """All that is known by those who have arrived in this phase."""
    known: Clock
    """All that was known by those who had arrived in the phase before."""
    passed: tuple[int, ...]
    """The time at which each group passed last; 0 if all know of that."""


class Fill(NamedTuple):
    """The last filling of a buffer."""

    barrier: int
    """The barrier that a copy signals; below 0 where a group has stored by itself."""
    number: int
    """The phase that ends with the copy, or the group that has stored."""
    time: int = 0
    """The time of a store, if not all know of it."""
    fenced: int = UNDER_WAY
    """The time of the fence behind a store."""


class Buffer(NamedTuple):
    """A buffer of shared memory."""

    fill: Fill | None
    """Its last filling."""
    reads: frozenset[tuple[int, int]]
    """The groups that have read it since, and when each read was over."""


class Shared(NamedTuple):
    """The shared memory of a program instance, and what its groups know."""

    clocks: tuple[Clock, ...]
    barriers: tuple[Barrier, ...]
    buffers: tuple[Buffer, ...]
    products: tuple[tuple[tuple[int, ...], ...], ...]
    """The buffers that each product under way of each group reads, the oldest first."""
    stores: tuple[tuple[int, ...], ...]
    """The buffers that the copies to tensors of each group read, the oldest first."""


class Rules:
    """The steps of a run, each checked to be in an order with those that it must not swap with.

    Args:
        protocol: names the groups, buffers and barriers, and says what barriers count.
    """

    def __init__(self, protocol: Protocol) -> None:
        self.groups, self.buffers = protocol.groups, protocol.buffers
        self.barriers, self.arrivals = protocol.barriers, protocol.arrivals
        count = len(self.groups)
        never = (0,) * count
        self._nothing = (*never, *((LONG_AGO,) * len(self.barriers)))
        self.start = Shared(
            ((0,) * len(self._nothing),) * count,
            tuple(Barrier(0, n, 0, self._nothing, self._nothing, never) for n in self.arrivals),
            (Buffer(None, frozenset()),) * len(self.buffers),
            ((),) * count,
            ((),) * count,
        )

    def step(self, shared: Shared, group: int, action: Action) -> Shared | None:
        """Returns the state after an action, or None where it has to wait.

        Args:
            shared: the state before.
            group: the number of the group that acts.
            action: what it does.

        Raises:
            UnprovedError: where the action may be swapped with one that it must not be.
        """
        if action.kind is Kind.WAIT:
            return self._wait(shared, group, action)
        clock = _set(shared.clocks[group], group, shared.clocks[group][group] + 1)
        after = shared._replace(clocks=_put(shared.clocks, group, clock))
        match action.kind:
            case Kind.ARRIVE:
                return self._arrive(after, group, action)
            case Kind.LOAD:
                return self._load(after, group, action)
            case Kind.LOCAL_STORE:
                self._check_free(after, group, action)
                fill = Fill(-1, group, clock[group])
                return self._filled(after, action, fill)
            case Kind.FENCE:
                return self._fence(after, group)
            case Kind.STORE:
                after = self._read(after, group, action)
                return after._replace(
                    stores=_put(after.stores, group, after.stores[group] + action.buffers)
                )
            case Kind.PRODUCT:
                after = self._read(after, group, action)
                products = (*after.products[group], action.buffers)
                return after._replace(products=_put(after.products, group, products))
            case Kind.STORE_WAIT:
                own = after.stores[group]
                count = max(len(own) - action.number, 0)
                after = after._replace(stores=_put(after.stores, group, own[count:]))
                return self._over(after, group, own[:count])
            case Kind.PRODUCT_WAIT:
                under_way = after.products[group]
                count = max(len(under_way) - action.number, 0)
                ended = [buffer for buffers in under_way[:count] for buffer in buffers]
                products = _put(after.products, group, under_way[count:])
                return self._over(after._replace(products=products), group, ended)

    def check_end(self, shared: Shared) -> None:
        """Checks that nothing is left behind when all groups have ended.

        Raises:
            UnprovedError: where something is under way.
        """
        for group, name in enumerate(self.groups):
            if shared.products[group] or shared.stores[group]:
                raise UnprovedError(f"'{name}' ends while shared memory is read for it")
        for barrier, name in zip(shared.barriers, self.barriers, strict=True):
            if barrier.bytes:
                raise UnprovedError(f"'{name}' expects {barrier.bytes} bytes that never come")
        for (fill, _), name in zip(shared.buffers, self.buffers, strict=True):
            if fill is not None and not any(self._is_over(own, fill) for own in shared.clocks):
                raise UnprovedError(f"'{name}' may still be filled when all groups have ended")

    def _wait(self, shared: Shared, group: int, action: Action) -> Shared | None:
        number = action.barrier
        barrier, clock = shared.barriers[number], shared.clocks[group]
        if barrier.phase % 2 == action.number:
            return None
        place = len(self.groups) + number
        if clock[place] < barrier.phase - 1:
            # It would have been let through two phases earlier, too.
            raise self._refused(group, action, f"'{self.barriers[number]}', whose phases it misses")
        clock = _set(clock, group, clock[group] + 1)
        known = _set(_join(clock, barrier.known), place, barrier.phase)
        passed = _put(barrier.passed, group, clock[group])
        return shared._replace(
            clocks=_put(shared.clocks, group, known),
            barriers=_put(shared.barriers, number, barrier._replace(passed=passed)),
        )

    def _arrive(self, shared: Shared, group: int, action: Action) -> Shared:
        barrier = shared.barriers[action.barrier]
        self._check_phase(shared, group, action)
        if barrier.missing == 0:
            name = self.barriers[action.barrier]
            raise self._refused(group, action, f"'{name}', whose phase has had its arrivals")
        changed = barrier._replace(
            missing=barrier.missing - 1, bytes=barrier.bytes + action.number,
            coming=_join(barrier.coming, shared.clocks[group]),
        )  # fmt: skip
        return self._signalled(shared, action.barrier, changed)

    def _load(self, shared: Shared, group: int, action: Action) -> Shared:
        barrier = shared.barriers[action.barrier]
        self._check_phase(shared, group, action)
        self._check_free(shared, group, action)
        if action.number > barrier.bytes:
            name = self.barriers[action.barrier]
            raise self._refused(group, action, f"more bytes than '{name}' expects by then")
        changed = barrier._replace(
            bytes=barrier.bytes - action.number, coming=_join(barrier.coming, shared.clocks[group])
        )
        filled = self._filled(shared, action, Fill(action.barrier, barrier.phase + 1))
        return self._signalled(filled, action.barrier, changed)

    def _check_phase(self, shared: Shared, group: int, action: Action) -> None:
        """Checks that a group knows which phase it arrives in."""
        barrier = shared.barriers[action.barrier]
        if shared.clocks[group][len(self.groups) + action.barrier] < barrier.phase:
            name = self.barriers[action.barrier]
            raise self._refused(group, action, f"'{name}', of which another phase may be under way")

    def _signalled(self, shared: Shared, number: int, changed: Barrier) -> Shared:
        if changed.missing == 0 and changed.bytes == 0:
            for group, time in enumerate(changed.passed):
                if changed.coming[group] < time:
                    raise UnprovedError(
                        f"a phase of '{self.barriers[number]}' may be over before "
                        f"'{self.groups[group]}' has passed the one before"
                    )
            changed = Barrier(
                changed.phase + 1, self.arrivals[number], 0, self._nothing, changed.coming,
                changed.passed,
            )  # fmt: skip
        return shared._replace(barriers=_put(shared.barriers, number, changed))

    def _filled(self, shared: Shared, action: Action, fill: Fill) -> Shared:
        (buffer,) = action.buffers
        return shared._replace(
            buffers=_put(shared.buffers, buffer, Buffer(fill, frozenset()))
        )

    def _is_over(self, clock: Clock, fill: Fill) -> bool:
        """Returns whether somebody knows that a buffer has been filled."""
        if fill.barrier >= 0:
            return clock[len(self.groups) + fill.barrier] >= fill.number
        return clock[fill.number] >= fill.time

    def _check_free(self, shared: Shared, group: int, action: Action) -> None:
        """Checks that all that uses a buffer is over when it is filled."""
        clock = shared.clocks[group]
        for number in action.buffers:
            fill, reads = shared.buffers[number]
            if fill is not None and not self._is_over(clock, fill):
                reason = "which may still be filled"
                raise self._refused(group, action, f"'{self.buffers[number]}', {reason}")
            if fill is not None and action.kind is Kind.LOAD:
                self._check_fenced(clock, group, action, number, fill)
            for reader, time in reads:
                if time == UNDER_WAY or clock[reader] < time:
                    reason = f"which '{self.groups[reader]}' may still read"
                    raise self._refused(group, action, f"'{self.buffers[number]}', {reason}")

    def _check_fenced(
        self, clock: Clock, group: int, action: Action, number: int, fill: Fill
    ) -> None:
        """Checks that a store of threads is in an order with what the copy engine does."""
        if fill.barrier < 0 and (fill.fenced == UNDER_WAY or clock[fill.number] < fill.fenced):
            reason = f"to which '{self.groups[fill.number]}' has stored without a fence"
            raise self._refused(group, action, f"'{self.buffers[number]}', {reason}")

    def _read(self, shared: Shared, group: int, action: Action) -> Shared:
        """Notes reads of buffers, which must hold what they should."""
        clock, buffers = shared.clocks[group], shared.buffers
        for number in action.buffers:
            fill, reads = buffers[number]
            if fill is None or not self._is_over(clock, fill):
                reason = "which may not be filled yet"
                raise self._refused(group, action, f"'{self.buffers[number]}', {reason}")
            self._check_fenced(clock, group, action, number, fill)
            own = frozenset(read for read in reads if read[0] != group)
            buffers = _put(buffers, number, Buffer(fill, own | {(group, UNDER_WAY)}))
        return shared._replace(buffers=buffers)

    def _fence(self, shared: Shared, group: int) -> Shared:
        time = shared.clocks[group][group]
        buffers = tuple(
            Buffer(fill._replace(fenced=time), reads)
            if fill is not None and fill.barrier < 0 and fill.number == group
            and fill.fenced == UNDER_WAY
            else Buffer(fill, reads)
            for fill, reads in shared.buffers
        )
        return shared._replace(buffers=buffers)

    def _over(self, shared: Shared, group: int, ended: Iterable[int]) -> Shared:
        """Notes that a group's reads of buffers are over, but for what it has under way."""
        buffers, time = shared.buffers, shared.clocks[group][group]
        others = {*shared.stores[group], *(b for p in shared.products[group] for b in p)}
        for number in set(ended) - others:
            fill, reads = buffers[number]
            if (group, UNDER_WAY) in reads:
                own = reads - {(group, UNDER_WAY)} | {(group, time)}
                buffers = _put(buffers, number, Buffer(fill, own))
        return shared._replace(buffers=buffers)

    def _refused(self, group: int, action: Action, text: str) -> UnprovedError:
        return UnprovedError(f"'{self.groups[group]}' {action.kind.value}, {text}")

    def normalised(self, shared: Shared) -> Shared:
        """Returns a state with the smallest times that say the same.

        Times that all groups know are forgotten, and others are numbered anew. Of phases pairs are
        taken that are over, as parities say which one is meant.
        """
        count = len(self.groups)
        known = tuple(map(min, *shared.clocks)) if count > 1 else shared.clocks[0]
        live: list[set[int]] = [set(times) for times in zip(*(b.passed for b in shared.barriers))]
        live = live or [set() for _ in self.groups]
        shifts = [b.phase - b.phase % 2 for b in shared.barriers]
        lowest = [b.phase - 2 for b in shared.barriers]
        for fill, reads in shared.buffers:
            for reader, time in reads:
                live[reader].add(time)
            if fill is None:
                continue
            if fill.barrier < 0:
                live[fill.number].update((fill.time, fill.fenced))
            elif not self._is_over(known, fill):
                lowest[fill.barrier] = min(lowest[fill.barrier], fill.number - 1)
        lives = [sorted(t for t in own if t > told) for own, told in zip(live, known)]
        times = [{time: place + 1 for place, time in enumerate(own)} for own in lives]
        for own in times:
            own[UNDER_WAY] = UNDER_WAY

        def numbered(old: Clock) -> list[int]:
            return [bisect_right(own, time) for own, time in zip(lives, old)]

        # What all know already tells nobody anything.
        telling = [*map(max, known[count:], lowest)]
        phases = [*zip(telling, lowest, shifts)]
        told: dict[Clock, Clock] = {}

        def clock(old: Clock) -> Clock:
            new = told.get(old)
            if new is None:
                kept = [
                    (phase if phase > most else least) - shift
                    for phase, (most, least, shift) in zip(old[count:], phases)
                ]
                new = told[old] = (*numbered(old), *kept)
            return new

        barriers = tuple(
            Barrier(
                b.phase - shift, b.missing, b.bytes, clock(b.coming), clock(b.known),
                tuple(own.get(time, 0) for own, time in zip(times, b.passed)),
            ) for b, shift in zip(shared.barriers, shifts)
        )  # fmt: skip
        buffers: list[Buffer] = []
        for fill, reads in shared.buffers:
            if fill is not None and fill.barrier >= 0:
                over = self._is_over(known, fill)
                fill = Fill(fill.barrier, LONG_AGO if over else fill.number - shifts[fill.barrier])
            elif fill is not None:
                own = times[fill.number]
                fill = Fill(-1, fill.number, own.get(fill.time, 0), own.get(fill.fenced, 0))
            if reads:
                # A read that all know to be over is none.
                kept = ((reader, times[reader].get(time, 0)) for reader, time in reads)
                reads = frozenset(read for read in kept if read[1])
            buffers.append(Buffer(fill, reads))
        clocks = tuple(
            (*numbered(old), *(max(p, low) - s for p, low, s in zip(old[count:], lowest, shifts)))
            for old in shared.clocks
        )
        return Shared(clocks, barriers, tuple(buffers), shared.products, shared.stores)


def _set(clock: Clock, place: int, time: int) -> Clock:
    return (*clock[:place], time, *clock[place + 1 :])


def _put(items: tuple[T, ...], place: int, item: T) -> tuple[T, ...]:
    return (*items[:place], item, *items[place + 1 :])


def _join(a: Clock, b: Clock) -> Clock:
    return tuple(map(max, a, b))
