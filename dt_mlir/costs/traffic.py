"""The data that the instances of a kernel move from memory and the shared cache, and wait for."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from functools import cached_property
from math import prod

from dt_mlir.costs.device import Device
from dt_mlir.costs.instance import Instance
from dt_mlir.costs.moving import Moved
from dt_mlir.costs.work import Loops, Order, Work

CACHE_SHARE = 0.8
"""The part of the shared cache that a kernel's elements stay in."""
NEXT_SHARE = 0.5
"""The part of that part which elements may take that instances find there after others."""
NARROW = 0.67
"""The exponent with which copies of fewer than 16 bytes take longer."""
RUNS_AHEAD = 4.0
"""The factor by which a group of warps that only copies hides more of the latency than a stage."""
SHORT = 64
"""The most trips of a loop that compilers unroll whole."""
LOADS_UNROLLED, LOADS_UNROLLED_WHOLE = 4.0, 16.0
"""The most trips whose loads are under way at once, of a loop that is unrolled, and of a short
one."""
ELEMENTS_UNDER_WAY, ELEMENTS_UNDER_WAY_WHOLE = 15.0, 32.0
"""The elements of such loads that a thread has registers for, in the same order."""
WHOLE = 0.07
"""The part of the room near a multiprocessor that a tensor takes of which all stays there."""
NEAR = 0.2
"""The time of a load of what a multiprocessor has loaded before, as with another place of a window,
over that of a load from the shared cache."""
IN_PIECES = 4.0
"""The time of a load of a matrix by specialized warps, whose threads take pairs of elements as a
product has them, over that of one in a layout of its own."""
LINE = 48.0
"""The bytes from the shared cache in the time of which a multiprocessor looks up a line."""
BOXES = 0.9
"""The time of a copy of boxes from the shared cache, over that of loads of as many bytes."""
TOGETHER = 1.65
"""The stages that an asynchronous product, which goes on while the next one begins, and a copy
take."""


def room_of(device: Device) -> float:
    """Returns the bytes of what was loaded that a multiprocessor has near."""
    return float(device.shared_memory)


class Traffic:
    """The data that the instances of a kernel with some tiles move, and wait for.

    Args:
        work: what the kernel does.
        device: the device.
        instance: one of its program instances.
    """

    def __init__(self, work: Work, device: Device, instance: Instance) -> None:
        self.work, self.device, self.instance = work, device, instance
        self.programs, self.blocks = instance.programs, instance.blocks
        self._room = room_of(device)
        self._spread: dict[Order, dict[str, float]] = {}
        self._memory: dict[Hashable, float] = {}
        self._loads: dict[Hashable, float] = {}
        self._waits: dict[Hashable, float] = {}

    def loads(self, consumers: int, room: float) -> float:
        """Returns an instance's bytes from the cache, narrow ones counted as what they cost.

        Args:
            consumers: the groups of warps that multiply in a specialized kernel; 0 elsewhere.
            room: the bytes that an instance has near.
        """
        key = consumers > 0, room
        found = self._loads.get(key)
        if found is None:
            found = self._loads[key] = self._all_loads(consumers > 0, room)
        return found

    def _all_loads(self, specialized: bool, room: float) -> float:
        found = 0.0
        for moved in self.instance.moved:
            item = moved.item
            if not item.feeds_product:
                anew = 0.0 if self._is_near(moved, room) else moved.anew
                narrow = anew * (1 - NEAR) + NEAR
                if specialized and not item.stores and len(item.depends) > 1:
                    narrow *= IN_PIECES
            else:
                narrow = (16 / moved.width) ** NARROW * (moved.left * (1 - NEAR) + NEAR)
                if specialized:
                    narrow *= BOXES / moved.wasted
            found += max(moved.bytes * narrow, moved.lines * LINE)
        return found

    def waits(
        self, consumers: int, stages: int, asynchronous: bool, room: float, threads: int
    ) -> float:
        """Returns how many loads an instance waits for one after the other.

        Args:
            consumers: as for `loads`.
            stages: those of a pipeline.
            asynchronous: whether products read shared memory while threads go on.
            room: the bytes that an instance has near.
            threads: those that share its loads.
        """
        if self.work.products:
            # Each thread has one of their loads under way.
            threads = 0
        key = consumers > 0, stages, asynchronous, room, threads
        found = self._waits.get(key)
        if found is None:
            found = self._waits[key] = self._all_waits(*key)
        return found

    def _all_waits(
        self, specialized: bool, stages: int, asynchronous: bool, room: float, threads: int
    ) -> float:
        found: dict[Loops, float] = {}
        for moved in self.instance.moved:
            item = moved.item
            if item.stores:
                continue
            # Copies of fewer than 4 bytes go through registers, and not ahead.
            pipelined = item.feeds_product and stages > 1 and moved.width >= 4
            if pipelined and specialized:
                # Copies run ahead by themselves; more stages even out what they take.
                ahead = RUNS_AHEAD * max(stages - 1.0, 0.25)
            elif pipelined:
                # An asynchronous product still reads its stage while the next one begins.
                ahead = stages - (TOGETHER if asynchronous else 1.0)
            elif item.feeds_product:
                # What goes through registers is stored to shared memory, and waited for again.
                ahead = 0.5 / (moved.left * (1 - NEAR) + NEAR)
            else:
                ahead = max(moved.under_way, self._unrolled(moved, threads), 1.0)
            phase = 1.0 + max(moved.times - 1.0, 0.0) / ahead
            if moved.again and self._is_near(moved, room) and not item.feeds_product:
                phase *= NEAR
            found[moved.around] = max(found.get(moved.around, 0.0), phase)
        return sum(found.values())

    def _unrolled(self, moved: Moved, threads: int) -> float:
        """Returns how many loads of an access are under way at once as compilers unroll loops.

        They unroll short ones whole, no other one with conditional loads, and move no load across
        a store.

        Args:
            moved: the access.
            threads: those that share its loads.
        """
        if self.work.products or not self.instance.storing.isdisjoint(moved.around):
            return 1.0
        return unrolled_loads(moved, threads)

    @cached_property
    def _addressed_again(self) -> float:
        """The bytes of tensors that an instance reads again."""
        found: dict[str, float] = {}
        for moved in self.instance.moved:
            if moved.again:
                known = found.get(moved.item.tensor, 0.0)
                found[moved.item.tensor] = max(known, moved.addressed)
        return sum(found.values())

    def _is_near(self, moved: Moved, room: float) -> bool:
        """Returns whether a multiprocessor has the elements of an access near.

        An instance, or one that ran there before, has loaded them.
        """
        if moved.again:
            # All that is read again has to be there.
            return self._addressed_again <= room
        item = moved.item
        if item.stores:
            return False
        if not item.feeds_product and self.work.tensors[item.tensor].bytes <= WHOLE * self._room:
            return True
        alike = not any(self.work.loops[place].label in self.blocks for place in item.depends)
        return alike and moved.addressed <= self._room / 2

    def memory(self, order: Order, at_once: int) -> float:
        """Returns the bytes that memory moves for all instances.

        Args:
            order: the walk over the grid.
            at_once: the number of instances that run at once.
        """
        key = order, at_once if self.instance.reads_again else 0
        found = self._memory.get(key)
        if found is None:
            found = self._memory[key] = self._all_memory(order, at_once)
        return found

    def _all_memory(self, order: Order, at_once: int) -> float:
        room = CACHE_SHARE * self.device.cache
        found = 0.0
        for moved in self.instance.moved:
            if not moved.again or moved.addressed * at_once >= room:
                found += self._from_memory(moved, order, room) * moved.wasted
        return found

    def _from_memory(self, moved: Moved, order: Order, room: float) -> float:
        """Returns the bytes that memory moves for an access of all instances."""
        item, loops = moved.item, self.work.loops
        whole = float(self.work.tensors[item.tensor].bytes)
        asked = moved.addressed * self.programs
        if item.stores:
            return min(asked, whole) if whole else asked
        if asked <= whole or whole <= room:
            return min(asked, whole)
        together = self._spread.get(order)
        if together is None:
            found = spread(order, self.blocks, self.programs, self.device)
            together = self._spread[order] = found
        labels = {loops[place].label for place in item.depends}
        again = read_again(whole, moved.addressed, labels, self.blocks, together, room)
        return min(again, asked)


def unrolled_loads(moved: Moved, threads: int) -> float:
    """Returns how many loads of an access are under way at once in a loop without stores.

    Compilers unroll short loops whole, and no other one with conditional loads.

    Args:
        moved: the access.
        threads: those that share its loads.
    """
    each = max(moved.elements / threads, 1.0)
    if moved.times <= SHORT:
        return min(LOADS_UNROLLED_WHOLE, ELEMENTS_UNDER_WAY_WHOLE / each)
    return 1.0 if moved.masked else min(LOADS_UNROLLED, ELEMENTS_UNDER_WAY / each)


def spread(
    order: Order, blocks: Mapping[str, int], programs: int, device: Device
) -> dict[str, float]:
    """Returns over how many blocks of each label the instances spread that run at once.

    Args:
        order: the walk over the grid.
        blocks: the number of blocks along each label of the grid.
        programs: the number of instances.
        device: the device.
    """
    left = float(min(programs, 2 * device.multiprocessors))
    found = dict.fromkeys(blocks, 1.0)
    walk = order or tuple((label, "whole", 0) for label in reversed(found))
    for label, part, factor in reversed(walk):
        if label not in found:
            continue
        most = factor if part == "inner" else -(-blocks[label] // found[label])
        taken = max(min(float(most), left), 1.0)
        found[label] *= taken
        left = max(left / taken, 1.0)
    return found


def read_again(
    whole: float, addressed: float, labels: Collection[str], blocks: Mapping[str, int],
    together: Mapping[str, float], room: float,
) -> float:
    """Returns the bytes that memory moves for an access of all instances to a tensor that the
    shared cache does not hold.

    Instances that run at once share what they read; the next ones read it again.

    Args:
        whole: the bytes of the tensor.
        addressed: the bytes that an instance addresses.
        labels: the labels that the access depends on.
        blocks: the number of blocks along each label of the grid.
        together: the blocks of each over which the instances spread that run at once.
        room: the bytes that the shared cache holds.
    """
    share = distinct = 1.0
    for label, count in blocks.items():
        if label in labels:
            share *= together[label] / count
            distinct *= together[label]
    if distinct * addressed <= NEXT_SHARE * room:
        # What the instances read that run at once is there for those that follow.
        return whole
    running = prod(together.values())
    return max(whole, whole * share * prod(blocks.values()) / max(running, 1))
