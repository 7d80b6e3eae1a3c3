"""The time of a kernel, from what its program instances do and the warps that carry them out.

The model bounds the time by each resource: the bytes that memory and the shared cache move, the
products, the arithmetic and the special functions of the multiprocessor with most program
instances, and the loads that instances wait for one after the other. Registers and shared memory
say how many instances a multiprocessor holds. The bounds meet in a norm, so that two resources that
are equally busy cost more than one.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from math import inf
from typing import NamedTuple

from dt_mlir.analysis.shared_memory import EXCHANGE
from dt_mlir.costs.balance import lateness
from dt_mlir.costs.combining import Combined, Combining, Threads
from dt_mlir.costs.device import Device
from dt_mlir.costs.instance import Instance
from dt_mlir.costs.registers import ROWS_OF_WARP, registers_of, warps_above
from dt_mlir.costs.tiling import Cost, Tiling, streams
from dt_mlir.costs.traffic import BOXES, Traffic, room_of
from dt_mlir.costs.work import Work

NORM = 2.0
"""The exponent of the norm in which bounds meet: two equal ones cost 41 % more than one."""
MOST_REGISTERS = 255
"""The most registers of a thread."""
MOST_WARPS = 32
"""The most warps of an instance."""
MOST_OVERLAP = 8.0
"""The most trips of a loop whose copies and products overlap."""
OVERLAPPING = 0.6
"""The part of the trips of a shorter loop that do."""
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
BETWEEN = 0.5
"""The part of the shorter one of a product of a chain and of what is computed between products that
hides behind nothing, for each instance of a multiprocessor."""
BESIDE = 16.0
"""The trips of a loop that overlap where a group of warps does nothing but copy."""
ACCESS = 8.0
"""The operations that a thread takes for the address and the condition of a load or a store."""
FOUND = 0.8
"""The part of the room near a multiprocessor that what instances find again may take."""
SHARED = 0.25
"""The time of a byte that warps read from shared memory, over that of one from the shared cache."""
FILLED = 0.68e-6
"""The seconds until a stage that is free again begins to be filled, and is known to be full."""
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


class _Taken(NamedTuple):
    """The figures of an instance that any stages and any walk over blocks leave as they are."""

    registers: float
    """The registers of a thread."""
    spilled: float
    """The part by which spilling slows the kernel down."""
    again: float
    """The bytes of shared memory that warps read for products."""
    arithmetic: float
    """The operations on the units for additions and multiplications."""
    special: float
    """The operations on the units for exponentials, roots and reciprocals."""
    products: float
    """The seconds of a multiprocessor's tensor cores, as a part of the device's."""
    exchanged: float
    """The values that warps exchange."""
    rounds: float
    """The seconds in which threads wait for each other."""


class Execution:
    """An instance of a kernel with some tiles, as some warps carry it out.

    Args:
        work: what the kernel does.
        device: the device.
        combining: the layout of the kernel's reductions.
        instance: the instance.
        traffic: what it moves.
        warps: the warps of an instance, those that multiply in a specialized kernel.
        consumers: the groups of warps that multiply in one; 0 elsewhere.
    """

    def __init__(
        self, work: Work, device: Device, combining: Combining, instance: Instance,
        traffic: Traffic, warps: int, consumers: int,
    ) -> None:  # fmt: skip
        self.work, self.device, self.combining = work, device, combining
        self.instance, self.traffic = instance, traffic
        self.warps, self.consumers = warps, consumers
        self.threads = warps * device.warp
        self.chained = combining.is_chained
        self.programs, self.blocks = instance.programs, instance.blocks
        self.busiest = -(-self.programs // device.multiprocessors)

    def cost(self, tiling: Tiling) -> Cost:
        """Predicts what the kernel costs with a tiling of these tiles and warps."""
        device, busiest = self.device, self.busiest
        each = device.multiprocessors
        taken = self._taken
        shared = self._shared(tiling.stages)
        resident = self._resident(taken.registers, shared, tiling.persistent)
        loads, memory, waits = self._transfers(tiling, resident)
        loads += SHARED * taken.again
        waves = -(-self.programs // (each * resident))
        together = max(min(resident, busiest), 1)
        idle = max(ENOUGH_WARPS / max(together * self.warps, 1), 1.0)
        # A block begins when the one before has ended, unless copies for it run ahead.
        walks = tiling.persistent > 0
        if self.consumers:
            walks = walks and streams(self.work, tiling.tiles)
        starts = 1.0 if walks else float(busiest)
        products = busiest * each * taken.products
        products *= self._late(each * taken.products, resident, tiling.stages)
        waiting = waves * (device.start + waits * device.latency + taken.rounds)
        bounds = {
            "memory": memory / device.memory_rate,
            "cache": busiest * loads * each / device.cache_rate,
            "products": products,
            "arithmetic": idle * busiest * each * taken.arithmetic / device.arithmetic_rate,
            "special": idle * busiest * each * taken.special / device.special_rate,
            "starting": starts * max(INSTANCE, START_OF_A_WARP * self.warps),
            "waiting": waiting + busiest * EXCHANGED * taken.exchanged,
        }  # fmt: skip
        # Products of loops before that of the exponentials hide behind those of other instances.
        before = products * self._products_before / together
        # Most of what a factor is computed by precedes its product.
        fed = bounds["arithmetic"] if self._is_fed else 0.0
        units = max(products + fed, bounds["arithmetic"], bounds["special"] + before)
        if self.chained and self._is_asynchronous and not self.consumers:
            # A product waits for what is computed of the one before it, unless other warps go on.
            scalar = max(bounds["arithmetic"], bounds["special"])
            between = BETWEEN * min(products, scalar) / together
            units = max(units, max(products, scalar) + between)
        local = bounds["cache"], units, max(bounds["waiting"], bounds["starting"])
        # In chains, one product runs beside the copies for another.
        shared_by = resident if self.chained else together
        longest = max(local)
        overlapping = 1.0 if self._is_turned else shared_by * self._overlap(tiling.stages)
        busy = longest + (sum(local) - longest) / overlapping
        seconds = (bounds["memory"] ** NORM + busy**NORM) ** (1 / NORM)
        running = each * resident
        late = lateness(self.work, tiling, self.blocks, running)
        seconds *= 1 + late / max(self.programs / running, 1.0)
        if shared > device.shared_memory:
            seconds = inf
        seconds *= 1 + taken.spilled
        if self.consumers:
            further = 0.0 if walks else -(-busiest // resident) - 1.0
            if tiling.persistent:
                further *= HELD_AGAIN
            seconds += SPECIALIZED + SPECIALIZED_AGAIN * max(further, 0)
        launch = device.launch - (device.overlap if tiling.dependent else 0.0)
        return Cost(
            seconds + launch, bounds, self.programs, resident, taken.registers, shared, memory,
            taken.spilled > 0,
        )

    @cached_property
    def _taken(self) -> _Taken:
        instance = self.instance
        threads = Threads(self.threads, self.warps, self.device.warp, self.consumers)
        combined = self.combining.of(instance, threads)
        registers, spilled = self._registers(combined, threads)
        arithmetic = special = 0.0
        for elements, arithmetic_each, special_each in instance.scalars:
            lanes = max(elements, self.threads)
            arithmetic += arithmetic_each * lanes
            special += special_each * lanes
        arithmetic += ACCESS * self._copies()
        arithmetic += combined.operations
        products, multiplied = self.products()
        rounds = combined.seconds
        if instance.makes_dots and not self.consumers:
            rounds += STEP * instance.steps
        return _Taken(
            registers, spilled, self._read_again(), arithmetic + multiplied, special, products,
            combined.exchanged + self._shared_rows(), rounds,
        )

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

    def _overlap(self, stages: int) -> float:
        """Returns how many trips of a loop overlap: those that copy factors of products ahead."""
        if self.consumers:
            return BESIDE
        pipelined = stages > 1 and self.instance.makes_dots and not self._loads_between
        if self._is_fed and stages == 2:
            # What it is computed of is loaded when its only buffer is free.
            pipelined = False
        overlapping = OVERLAPPING * self.instance.ahead if pipelined else 1.0
        return min(max(overlapping, 1.0), MOST_OVERLAP)

    @cached_property
    def _is_fed(self) -> bool:
        """True if factors are computed of what is loaded for them."""
        return not self.consumers and self.instance.loaded_ahead > 0

    @cached_property
    def _is_turned(self) -> bool:
        """True if threads transpose factors in each step, and nothing overlaps with that.

        Asynchronous products read factors of 32 bits along their depth alone.
        """
        wide = [item for item in self.work.products if item.kind == "tf32"]
        if not wide or self.consumers or not self._is_asynchronous:
            return False
        depths = {place for item in wide for place in item.depth}
        return any(
            item.feeds_product and not item.stores and item.bits == 32
            and depths.isdisjoint(item.fastest[:1]) for item in self.work.accesses
        )  # fmt: skip

    @cached_property
    def _loads_between(self) -> bool:
        """True if each trip waits, between two products, for a load that no stage copies ahead.

        What a single product is computed of, Triton loads ahead.
        """
        return len(self.work.products) > 1 and any(
            moved.times > 1 and not moved.item.feeds_product and not moved.item.stores
            and len(moved.item.depends) > 1 for moved in self.instance.moved
        )  # fmt: skip

    def _late(self, products: float, resident: int, stages: int) -> float:
        """Returns the factor by which products of specialized warps take longer.

        They wait for copies where a ring is short: a stage is filled, and read, before it is filled
        again, which takes the time of as many trips as there are stages.

        Args:
            products: the seconds of an instance's products.
            resident: the instances that take turns on a multiprocessor.
            stages: the stages of a ring.
        """
        if not self.consumers or self.chained or not products:
            return 1.0
        trips = self.instance.steps
        step = resident * products / trips
        between = 1.0 + resident * TRIP / step
        if trips <= stages:
            return between
        bytes = resident * self.instance.factors
        filled = FILLED + BOXES * bytes * self.device.multiprocessors / self.device.cache_rate
        return max(between, (filled + HELD * step) / (stages * step))

    def _transfers(self, tiling: Tiling, resident: int) -> tuple[float, float, float]:
        """Returns an instance's bytes from the cache, memory's bytes, and the loads waited for."""
        device, traffic = self.device, self.traffic
        # What instances have loaded stays near, where they are few.
        room = FOUND * room_of(device) / resident if self.instance.reads_again else 0.0
        loads = traffic.loads(self.consumers, room)
        waits = traffic.waits(
            self.consumers, tiling.stages, self._is_asynchronous, room, self.threads
        )
        at_once = min(self.programs, resident * device.multiprocessors)
        memory = traffic.memory(tiling.order, at_once)
        missed = min(memory / max(loads * self.programs, 1.0), 1.0)
        if not self.chained and self.programs <= resident * device.multiprocessors:
            # Instances that all run at once walk in step: none finds what another has read before.
            missed = 1.0
        return loads, memory, waits * (CACHED + (1 - CACHED) * missed)

    @cached_property
    def _products_before(self) -> float:
        """The part of the time of products that other loops take than those of special functions.

        It is 0 where no loop computes these: what follows products hides behind other instances.
        """
        grid = self.work.grid.values()
        around = {
            place for item in self.work.scalars if item.special
            for place in item.around if place not in grid and self.instance.trips[place] > 1
        }  # fmt: skip
        if not around:
            return 0.0
        every, _ = self.products()
        inside, _ = self.products(around)
        return (every - inside) / every if every else 0.0

    def products(self, among: Collection[int] = ()) -> tuple[float, float]:
        """Returns the seconds of a multiprocessor's tensor cores, as a part of the device's, and
        the multiplications that are done one by one.

        Args:
            among: loops of which one at least is a product's; none for all products.
        """
        seconds = elements = 0.0
        for item, dot in zip(self.work.products, self.instance.dots):
            if among and {*item.left, *item.right, *item.around}.isdisjoint(among):
                continue
            count = self.instance.count[item.around]
            if dot is None:
                shared = {*item.left, *item.right}
                elements += count * max(self.instance.tile[tuple(shared)], self.threads)
                continue
            seconds += count * dot.seconds(item.kind, self.device, self.warps, self.consumers)
        return seconds, elements

    def _registers(self, combined: Combined, threads: Threads) -> tuple[float, float]:
        """Returns the registers of a thread, and by how much spilling slows a kernel down."""
        registers = registers_of(self.instance, threads, combined, self._is_asynchronous)
        most = min(MOST_REGISTERS, self.device.registers // self.threads)
        if self.consumers:
            most = CONSUMER_REGISTERS
        return registers, max(0.0, registers / most - 1.0) * SPILLS

    @cached_property
    def _is_asynchronous(self) -> bool:
        """True if products read shared memory while threads go on: those of 64 rows or more."""
        dots = [dot for dot in self.instance.dots if dot is not None]
        return self.device.asynchronous and self.warps >= 4 and all(dot[0] >= 64 for dot in dots)

    def _shared(self, stages: int) -> int:
        """Returns the bytes of shared memory of an instance: factors of products, in stages."""
        instance = self.instance
        if not instance.makes_dots:
            return 0
        # What threads wait for leaves its stage to the next copy at once.
        waited = max(stages - 1, 1)
        copied = stages if self.consumers or self._is_asynchronous else waited
        rings = copied * (instance.streamed if self.consumers else instance.streamed_at_once)
        if self.consumers:
            # Results go through shared memory, those of wide rows in parts.
            exchanged = min(instance.stored_by_threads, self.consumers * EXCHANGE)
            return int(rings + instance.kept + instance.stored + exchanged) + SCRATCH
        rings += instance.loaded_ahead * (waited if stages > 1 else 0)
        computed = instance.computed_columns + instance.held_rows
        return int(rings + computed + instance.kept_at_once) + SCRATCH

    def _resident(self, registers: float, shared: int, persistent: int) -> int:
        """Returns how many instances a multiprocessor holds."""
        device = self.device
        taken = max(min(registers, MOST_REGISTERS), 16) * self.threads
        if self.consumers:
            taken = CONSUMER_REGISTERS * self.threads
            taken += PRODUCER_REGISTERS * GROUP * device.warp
        found = min(device.threads // self.threads, device.programs, int(device.registers // taken))
        found = min(found, persistent or found)
        if shared:
            found = min(found, device.shared_memory // (shared + 1024))
        return max(found, 1)
