"""The time of a kernel on a device, from what it does and the tiles that it takes.

The model bounds the time by each resource: the bytes that memory and the shared cache move, the
products, the arithmetic and the special functions of the multiprocessor with most program
instances, and the loads that instances wait for one after the other. Registers and shared memory
say how many instances a multiprocessor holds. The bounds meet in a norm, so that two resources that
are equally busy cost more than one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from math import inf, prod

from dt_mlir.analysis.shared_memory import EXCHANGE
from dt_mlir.costs.balance import lateness
from dt_mlir.costs.combining import Combined, Combining, Threads
from dt_mlir.costs.device import Device
from dt_mlir.costs.instance import Instance, Outline
from dt_mlir.costs.moving import Moved
from dt_mlir.costs.registers import ROWS_OF_WARP, registers_of, warps_above
from dt_mlir.costs.tiling import Cost, Tiling, streams
from dt_mlir.costs.work import Loops, Work

NORM = 2.0
"""The exponent of the norm in which bounds meet: two equal ones cost 41 % more than one."""
MOST_REGISTERS = 255
"""The most registers of a thread."""
MOST_WARPS = 32
"""The most warps of an instance."""
CACHE_SHARE = 0.8
"""The part of the shared cache that a kernel's elements stay in."""
NEXT_SHARE = 0.5
"""The part of that part which elements may take that instances find there after others."""
MOST_OVERLAP = 8.0
"""The most trips of a loop whose copies and products overlap."""
OVERLAPPING = 0.6
"""The part of the trips of a shorter loop that do."""
NARROW = 0.67
"""The exponent with which copies of fewer than 16 bytes take longer."""
SPILLS = 3.0
"""The factor beyond 1 by which a kernel is slower that needs twice the registers of a thread."""
SCRATCH = 2048
"""The bytes of shared memory that layouts and reductions take beside the factors of products."""
ENOUGH_WARPS = 12.0
"""The warps of a multiprocessor that keep its units busy; fewer wait for their own results."""
INSTANCE = 8e-8
"""The least seconds between program instances that start on a multiprocessor."""
START_OF_A_WARP = 1.4e-8
"""The seconds between warps that start on a multiprocessor."""
EXCHANGED = 1e-9
"""The seconds for each value in which the warps of a multiprocessor exchange parts of sums."""
FACTOR = 0.27
"""The part of the time of such a value that an element of a factor takes which warps exchange."""
SPECIALIZED = 1.7e-6
"""The seconds that the first instance of a specialized kernel takes beside its work: barriers,
tensor descriptors, and groups of warps that are told their tasks."""
SPECIALIZED_AGAIN = 1.4e-6
"""The seconds that each further one on a multiprocessor takes, which copies nothing ahead."""
HELD_AGAIN = 0.5
"""The part of it that is left where instances walk blocks, of which one factor is held."""
BESIDE = 16.0
"""The trips of a loop that overlap where a group of warps does nothing but copy."""
RUNS_AHEAD = 4.0
"""The factor by which a group of warps that only copies hides more of the latency than a stage."""
ACCESS = 8.0
"""The operations that a thread takes for the address and the condition of a load or a store."""
SHORT = 64
"""The most trips of a loop that compilers unroll whole."""
UNROLLED, UNROLLED_WHOLE = 4.0, 16.0
"""The most trips whose loads are under way at once, of a loop that is unrolled, and of a short
one."""
UNDER_WAY, UNDER_WAY_WHOLE = 15.0, 32.0
"""The elements of such loads that a thread has registers for, in the same order."""
FOUND = 0.8
"""The part of the room near a multiprocessor that what instances find again may take."""
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
SHARED = 0.25
"""The time of a byte that warps read from shared memory, over that of one from the shared cache."""
BOXES = 0.9
"""The time of a copy of boxes from the shared cache, over that of loads of as many bytes."""
FILLED = 0.68e-6
"""The seconds until a stage that is free again begins to be filled, and is known to be full."""
TOGETHER = 1.65
"""The stages that an asynchronous product, which goes on while the next one begins, and a copy
take."""
HELD = 2.3
"""The trips for which products hold a stage: the next product begins before it is free."""
TRIP = 1e-8
"""The seconds between the products of two trips of specialized warps."""
STEP = 5e-8
"""The same where all warps copy and multiply."""
GROUP = 4
"""The warps of a group."""
CONSUMER_REGISTERS = 240
"""The registers of a thread that multiplies in a specialized kernel."""
PRODUCER_REGISTERS = 24
"""The registers of a thread that copies in one."""
CACHED = 0.8
"""The part of the latency that a load from the shared cache takes."""


class Model:
    """The costs of a kernel on a device, at any tiles.

    Args:
        work: what the kernel does.
        device: the device.
    """

    def __init__(self, work: Work, device: Device) -> None:
        self.work, self.device = work, device
        self.combining = Combining(work)
        self.outline = Outline(work)
        self.is_chained = work.is_chained
        self._instances: dict[Hashable, Instance] = {}
        """The program instances, by their tiles and the labels that the grid partitions."""
        self._known: dict[Hashable, float] = {}
        """The numbers that tilings share, by what they depend on."""

    def cost(self, tiling: Tiling) -> Cost:
        """Predicts what the kernel costs with some tiles."""
        return _Evaluation(self, tiling).cost()

    def least(self, tiling: Tiling) -> float:
        """Returns a bound of the times of a kernel without dots, with these warps or more."""
        return _Evaluation(self, tiling).least()

    def once(self, key: Hashable, made: Callable[[], float]) -> float:
        """Returns a number that tilings share, which the first of them computes.

        Args:
            key: what the number depends on.
            made: computes it.
        """
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = made()
        return found

    def instance(self, tiling: Tiling) -> Instance:
        """Returns a program instance with some tiles."""
        key = tuple(tiling.tiles.items()), tiling.blocked
        found = self._instances.get(key)
        if found is None:
            found = Instance(self.outline, tiling.tiles, tiling.blocked)
            self._instances[key] = found
        return found


class _Evaluation:
    """One kernel at one tiling."""

    def __init__(self, model: Model, tiling: Tiling) -> None:
        work, device = model.work, model.device
        self.model, self.tiling = model, tiling
        self.work, self.device = work, device
        # A device that does not specialize runs Triton's kernel of the same tiles.
        self.consumers = tiling.consumers if device.specializes else 0
        self.warps = GROUP * self.consumers or tiling.warps
        self.threads = self.warps * device.warp
        self.chained = model.is_chained
        self.instance = model.instance(tiling)
        self.programs, self.blocks = self.instance.programs, self.instance.blocks

    def cost(self) -> Cost:
        work, device, instance = self.work, self.device, self.instance
        bounds: dict[str, float] = {}
        busiest = -(-self.programs // device.multiprocessors)
        each = device.multiprocessors
        combined = self.model.combining.of(instance, self._threads)
        registers, spilled = self._registers(combined)
        shared = self._shared()
        resident = self._resident(registers, shared)
        loads, memory, waits = self._transfers(resident)
        loads += SHARED * self._read_again()
        arithmetic = special = 0.0
        for elements, arithmetic_each, special_each in instance.scalars:
            lanes = max(elements, self.threads)
            arithmetic += arithmetic_each * lanes
            special += special_each * lanes
        arithmetic += ACCESS * self._copies()
        arithmetic += combined.operations
        exchanged = combined.exchanged + self._shared_rows()
        products, multiplied = self._products()
        arithmetic += multiplied
        rounds = combined.seconds
        if instance.makes_dots and not self.consumers:
            rounds += STEP * instance.steps
        waves = -(-self.programs // (each * resident))
        bounds["memory"] = memory / device.memory_rate
        bounds["cache"] = busiest * loads * each / device.cache_rate
        bounds["products"] = busiest * each * products
        bounds["products"] *= self._late(each * products, resident)
        together = max(min(resident, busiest), 1)
        running = together * self.warps
        idle = max(ENOUGH_WARPS / max(running, 1), 1.0)
        bounds["arithmetic"] = idle * busiest * each * arithmetic / device.arithmetic_rate
        bounds["special"] = idle * busiest * each * special / device.special_rate
        # A block begins when the one before has ended, unless copies for it run ahead.
        walks = self.tiling.persistent > 0
        if self.consumers:
            walks = walks and streams(work, self.tiling.tiles)
        starts = 1.0 if walks else float(busiest)
        bounds["starting"] = starts * max(INSTANCE, START_OF_A_WARP * self.warps)
        bounds["waiting"] = waves * (device.start + waits * device.latency + rounds)
        bounds["waiting"] += busiest * EXCHANGED * exchanged
        units = [bounds[name] for name in ("products", "arithmetic", "special")]
        local = [bounds["cache"], max(units), max(bounds["waiting"], bounds["starting"])]
        # In chains, one product runs beside the copies for another.
        shared_by = resident if self.chained else together
        busy = max(local) + (sum(local) - max(local)) / (shared_by * self._overlap())
        seconds = (bounds["memory"] ** NORM + busy**NORM) ** (1 / NORM)
        running = each * resident
        late = lateness(work, self.tiling, self.blocks, running)
        seconds *= 1 + late / max(self.programs / running, 1.0)
        if shared > device.shared_memory:
            seconds = inf
        seconds *= 1 + spilled
        if self.consumers:
            further = 0.0 if walks else -(-busiest // resident) - 1.0
            if self.tiling.persistent:
                further *= HELD_AGAIN
            seconds += SPECIALIZED + SPECIALIZED_AGAIN * max(further, 0)
        launch = device.launch - (device.overlap if self.tiling.dependent else 0.0)
        return Cost(
            seconds + launch, bounds, self.programs, resident, registers, shared, memory,
            spilled > 0,
        )

    def least(self) -> float:
        """Returns a bound of the time with these warps or more, as `Model.least`."""
        device, work = self.device, self.instance.operations
        # An instance that is alone on a multiprocessor finds most of what it has loaded.
        memory = self._memory(min(self.programs, device.multiprocessors)) / device.memory_rate
        busiest = -(-self.programs // device.multiprocessors)
        most = min(device.programs, device.threads // device.warp)
        waves = -(-self.programs // (device.multiprocessors * max(most, 1)))
        room = FOUND * self._room if self.instance.reads_again else 0.0
        waits = CACHED * self._waits(room, MOST_WARPS * device.warp)
        waiting = waves * (device.start + waits * device.latency)
        moving = busiest * self._loads(room) * device.multiprocessors / device.cache_rate
        arithmetic = (work.arithmetic + ACCESS * work.copies) / device.arithmetic_rate
        units = device.multiprocessors * max(arithmetic, work.special / device.special_rate)
        local = [moving, busiest * units, max(waiting, busiest * INSTANCE)]
        most = min(most, device.threads // self.threads)
        together = max(most if self.chained else min(most, busiest), 1)
        busy = max(local) + (sum(local) - max(local)) / together
        launch = device.launch - (device.overlap if self.tiling.dependent else 0.0)
        return (memory**NORM + busy**NORM) ** (1 / NORM) + launch

    @property
    def _threads(self) -> Threads:
        return Threads(self.threads, self.warps, self.device.warp, self.consumers)

    def _copies(self) -> float:
        """Returns the loads and stores of all threads of an instance, but those of factors that
        are copied ahead."""
        found = 0.0
        for times, pieces, is_factor in self.instance.pieces:
            if not (is_factor and self.consumers):
                found += times * max(pieces, self.threads)
        return found

    def _shared_rows(self) -> float:
        """Returns the factors that warps exchange, as they multiply what others have computed.

        A warp has sixteen rows of a product. Where there are more warps than that, they share rows,
        and a product that another one takes goes through shared memory. They are counted as values
        of sums over slow elements.
        """
        if not self.chained or self.consumers:
            return 0.0
        found = 0.0
        for item, dot in zip(self.work.products, self.instance.dots):
            if item.computed and dot is not None and dot[0] < ROWS_OF_WARP * self.warps:
                found += FACTOR * self.instance.count[item.around] * dot[0] * dot[2]
        return found

    def _read_again(self) -> float:
        """Returns the bytes of shared memory that the warps of an instance read for products.

        They take them into registers, each what its part of the tile needs, so that several read
        the same. Asynchronous products read shared memory by themselves.
        """
        if self.consumers or self._is_asynchronous:
            return 0.0
        found = 0.0
        for item, dot in zip(self.work.products, self.instance.dots):
            if dot is not None:
                rows, columns, depth, batch = dot
                above = warps_above(rows, self.warps)
                beside = self.warps / above
                elements = batch * depth * (max(rows, 16) * beside + max(columns, 8) * above)
                found += self.instance.count[item.around] * elements * item.bits / 8
        return found

    def _overlap(self) -> float:
        """Returns how many trips of a loop overlap: those that copy factors of products ahead."""
        if self.consumers:
            return BESIDE
        pipelined = self.tiling.stages > 1 and self.instance.makes_dots and not self._loads_between
        overlapping = OVERLAPPING * self.instance.ahead if pipelined else 1.0
        return min(max(overlapping, 1.0), MOST_OVERLAP)

    @cached_property
    def _loads_between(self) -> bool:
        """True if each trip waits, between two products, for a load that no stage copies ahead.

        What a single product is computed of, Triton loads ahead.
        """
        return len(self.work.products) > 1 and any(
            moved.times > 1 and not moved.item.feeds_product and not moved.item.stores
            and len(moved.item.depends) > 1 for moved in self.instance.moved
        )  # fmt: skip

    def _late(self, products: float, resident: int) -> float:
        """Returns the factor by which products of specialized warps take longer.

        They wait for copies where a ring is short: a stage is filled, and read, before it is filled
        again, which takes the time of as many trips as there are stages.

        Args:
            products: the seconds of an instance's products.
            resident: the instances that take turns on a multiprocessor.
        """
        if not self.consumers or self.chained or not products:
            return 1.0
        trips = self.instance.steps
        step = resident * products / trips
        between = 1.0 + resident * TRIP / step
        if trips <= self.tiling.stages:
            return between
        bytes = resident * self.instance.factors
        filled = FILLED + BOXES * bytes * self.device.multiprocessors / self.device.cache_rate
        return max(between, (filled + HELD * step) / (self.tiling.stages * step))

    def _transfers(self, resident: int) -> tuple[float, float, float]:
        """Returns an instance's bytes from the cache, memory's bytes, and the loads waited for."""
        device, instance = self.device, self.instance
        # What instances have loaded stays near, where they are few.
        room = FOUND * self._room / resident if instance.reads_again else 0.0
        loads = self._loads(room)
        waits = self._waits(room, self.threads)
        at_once = min(self.programs, resident * device.multiprocessors)
        memory = self._memory(at_once)
        missed = min(memory / max(loads * self.programs, 1.0), 1.0)
        if not self.chained and self.programs <= resident * device.multiprocessors:
            # Instances that all run at once walk in step: none finds what another has read before.
            missed = 1.0
        return loads, memory, waits * (CACHED + (1 - CACHED) * missed)

    def _loads(self, room: float) -> float:
        """Returns an instance's bytes from the cache, narrow ones counted as what they cost.

        Args:
            room: the bytes that an instance has near.
        """
        key = "loads", self.instance, self.consumers > 0, room
        return self.model.once(key, lambda: self._all_loads(room))

    def _all_loads(self, room: float) -> float:
        found = 0.0
        for moved in self.instance.moved:
            item = moved.item
            if not item.feeds_product:
                anew = 0.0 if self._is_near(moved, room) else moved.anew
                narrow = anew * (1 - NEAR) + NEAR
                if self.consumers and not item.stores and len(item.depends) > 1:
                    narrow *= IN_PIECES
            else:
                narrow = (16 / moved.width) ** NARROW * (moved.left * (1 - NEAR) + NEAR)
                if self.consumers:
                    narrow *= BOXES / moved.wasted
            found += max(moved.bytes * narrow, moved.lines * LINE)
        return found

    def _waits(self, room: float, threads: int) -> float:
        """Returns how many loads an instance waits for one after the other.

        Args:
            room: the bytes that an instance has near.
            threads: those that share its loads.
        """
        stages, asynchronous = self.tiling.stages, self._is_asynchronous
        if self.work.products:
            # Each thread has one of their loads under way.
            threads = 0
        key = "waits", self.instance, self.consumers > 0, stages, asynchronous, room, threads
        return self.model.once(key, lambda: self._all_waits(stages, room, threads))

    def _all_waits(self, stages: int, room: float, threads: int) -> float:
        found: dict[Loops, float] = {}
        for moved in self.instance.moved:
            item = moved.item
            if item.stores:
                continue
            # Copies of fewer than 4 bytes go through registers, and not ahead.
            pipelined = item.feeds_product and stages > 1 and moved.width >= 4
            if pipelined and self.consumers:
                # Copies run ahead by themselves; more stages even out what they take.
                ahead = RUNS_AHEAD * max(stages - 1.0, 0.25)
            elif pipelined:
                # An asynchronous product still reads its stage while the next one begins.
                ahead = stages - (TOGETHER if self._is_asynchronous else 1.0)
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
        each = max(moved.elements / threads, 1.0)
        if moved.times <= SHORT:
            return min(UNROLLED_WHOLE, UNDER_WAY_WHOLE / each)
        if moved.masked:
            return 1.0
        return min(UNROLLED, UNDER_WAY / each)

    def _is_near(self, moved: Moved, room: float) -> bool:
        """Returns whether a multiprocessor has the elements of an access near.

        An instance, or one that ran there before, has loaded them.
        """
        if moved.again:
            return moved.addressed <= room
        item = moved.item
        if item.stores:
            return False
        if not item.feeds_product and self.work.tensors[item.tensor].bytes <= WHOLE * self._room:
            return True
        alike = not any(self.work.loops[place].label in self.blocks for place in item.depends)
        return alike and moved.addressed <= self._room / 2

    def _memory(self, at_once: int) -> float:
        """Returns the bytes that memory moves for all instances, so many of which run at once."""
        kept = at_once if self.instance.reads_again else 0
        key = "memory", self.instance, self.tiling.order, kept
        return self.model.once(key, lambda: self._all_memory(at_once))

    def _all_memory(self, at_once: int) -> float:
        room = CACHE_SHARE * self.device.cache
        found = 0.0
        for moved in self.instance.moved:
            if not moved.again or moved.addressed * at_once >= room:
                found += self._from_memory(moved, room) * moved.wasted
        return found

    def _from_memory(self, moved: Moved, room: float) -> float:
        """Returns the bytes that memory moves for an access of all instances."""
        item, loops = moved.item, self.work.loops
        whole = float(self.work.tensors[item.tensor].bytes)
        asked = moved.addressed * self.programs
        if item.stores:
            return min(asked, whole) if whole else asked
        if asked <= whole or whole <= room:
            return min(asked, whole)
        # Instances that run at once share what they read; the next ones read it again.
        together = self._together
        share = distinct = 1.0
        for label, blocks in self.blocks.items():
            if any(loops[place].label == label for place in item.depends):
                share *= together[label] / blocks
                distinct *= together[label]
        if distinct * moved.addressed <= NEXT_SHARE * room:
            # What the instances read that run at once is there for those that follow.
            return whole
        running = prod(together.values())
        return min(max(whole, whole * share * self.programs / max(running, 1)), asked)

    @cached_property
    def _together(self) -> dict[str, float]:
        """Returns over how many blocks of each label the instances spread that run at once."""
        left = float(min(self.programs, 2 * self.device.multiprocessors))
        found = dict.fromkeys(self.blocks, 1.0)
        order = self.tiling.order or tuple((label, "whole", 0) for label in reversed(found))
        for label, part, factor in reversed(order):
            if label not in found:
                continue
            most = factor if part == "inner" else -(-self.blocks[label] // found[label])
            taken = max(min(float(most), left), 1.0)
            found[label] *= taken
            left = max(left / taken, 1.0)
        return found

    def _products(self) -> tuple[float, float]:
        """Returns the seconds of a multiprocessor's tensor cores, as a part of the device's, and
        the multiplications that are done one by one."""
        seconds = elements = 0.0
        for item, sides in zip(self.work.products, self.instance.dots):
            count = self.instance.count[item.around]
            if sides is None:
                shared = {*item.left, *item.right}
                elements += count * max(self.instance.tile[tuple(shared)], self.threads)
                continue
            rows, columns, depth, batch = sides
            rate = self.device.product_rates[item.kind]
            if item.kind == "f32":
                # Threads multiply elements of shared memory, each of which they use as often as
                # their part of the tile is wide.
                wide = (rows * columns / self.threads) ** 0.5
                rate *= 0.6 * min(wide / 8, 1.0)
            elif self.device.asynchronous and (max(rows, columns) < 64 or self.warps < 4):
                # Products of few rows take the instruction that reads registers.
                rate *= 0.6
            # Warps beyond the least products of a tile repeat those of others.
            again = max(self.warps / (max(rows, 16) / 16 * max(columns, 8) / 8), 1.0)
            work = again * 2.0 * batch * max(rows, 16) * max(columns, 8) * max(depth, 16)
            if self.device.asynchronous and max(rows, columns) >= 64 and rows < 64:
                work *= 64 / max(rows, 16) if rows < columns else 1.0
            seconds += count * work / rate
        return seconds, elements

    def _registers(self, combined: Combined) -> tuple[float, float]:
        """Returns the registers of a thread, and by how much spilling slows a kernel down."""
        registers = registers_of(self.instance, self._threads, combined, self._is_asynchronous)
        most = min(MOST_REGISTERS, self.device.registers // self.threads)
        if self.consumers:
            most = CONSUMER_REGISTERS
        return registers, max(0.0, registers / most - 1.0) * SPILLS

    @property
    def _room(self) -> float:
        """The bytes of what was loaded that a multiprocessor has near."""
        return float(self.device.shared_memory)

    @cached_property
    def _is_asynchronous(self) -> bool:
        """True if products read shared memory while threads go on: those of 64 rows or more."""
        dots = [dot for dot in self.instance.dots if dot is not None]
        return self.device.asynchronous and self.warps >= 4 and all(dot[0] >= 64 for dot in dots)

    def _shared(self) -> int:
        """Returns the bytes of shared memory of an instance: factors of products, in stages."""
        instance = self.instance
        if not instance.makes_dots:
            return 0
        stages = self.tiling.stages
        if not self.consumers and not self._is_asynchronous:
            # A product that threads wait for leaves its stage to the next copy at once.
            stages = max(stages - 1, 1)
        rings = instance.streamed * stages
        if self.consumers:
            # Results go through shared memory, those of wide rows in parts.
            exchanged = min(instance.stored_by_threads, self.consumers * EXCHANGE)
            return int(rings + sum(instance.kept) + instance.stored + exchanged) + SCRATCH
        # One that is copied once leaves its place to the next.
        return int(rings + max(instance.kept, default=0.0)) + SCRATCH

    def _resident(self, registers: float, shared: int) -> int:
        """Returns how many instances a multiprocessor holds."""
        device = self.device
        taken = max(min(registers, MOST_REGISTERS), 16) * self.threads
        if self.consumers:
            taken = CONSUMER_REGISTERS * self.threads
            taken += PRODUCER_REGISTERS * GROUP * device.warp
        found = min(device.threads // self.threads, device.programs, int(device.registers // taken))
        found = min(found, self.tiling.persistent or found)
        if shared:
            found = min(found, device.shared_memory // (shared + 1024))
        return max(found, 1)


def cost_of(work: Work, tiling: Tiling, device: Device) -> Cost:
    """Predicts what a kernel costs.

    Args:
        work: what the kernel does.
        tiling: the tiles that it takes.
        device: the device.
    """
    return Model(work, device).cost(tiling)
