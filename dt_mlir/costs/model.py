"""The time of a kernel on a device, from what it does and the tiles that it takes.

The model bounds the time by each resource: the bytes that memory and the shared cache move, the
products, the arithmetic and the special functions of the multiprocessor with most program
instances, and the loads that instances wait for one after the other. Registers and shared memory
say how many instances a multiprocessor holds. The bounds meet in a norm, so that two resources that
are equally busy cost more than one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log2, prod

from dt_mlir.analysis.dot_plans import least_depth
from dt_mlir.analysis.shared_memory import PART, PARTS
from dt_mlir.analysis.tile_sizes import padded
from dt_mlir.costs.balance import lateness
from dt_mlir.costs.device import Device
from dt_mlir.costs.tiling import Cost, Tiling, streams
from dt_mlir.costs.work import Access, Loops, Product, Work

NORM = 2.5
"""The exponent of the norm in which bounds meet: two equal ones cost 32 % more than one."""
MOST_REGISTERS = 255
"""The most registers of a thread."""
CACHE_SHARE = 0.8
"""The part of the shared cache that a kernel's elements stay in."""
MOST_OVERLAP = 8.0
"""The most trips of a loop whose copies and products overlap."""
NARROW = 0.67
"""The exponent with which copies of fewer than 16 bytes take longer."""
COMPUTED = 1.2
"""The factor by which threads take longer to copy rows whose places they compute and compare with
the ends of a tensor, as those of windows."""
PAGE = 32.0
"""The bytes that a run of neighbours in memory costs beside its own."""
SPILLS = 8.0
"""The factor beyond 1 by which a kernel is slower that needs twice the registers of a thread."""
WIDTH = 4
"""The neighbours in memory that a thread takes."""
SCRATCH = 2048
"""The bytes of shared memory that layouts and reductions take beside the factors of products."""
ENOUGH_WARPS = 15.0
"""The warps of a multiprocessor that keep its units busy; fewer wait for their own results."""
INSTANCE = 6e-8
"""The least seconds between program instances that start on a multiprocessor."""
START_OF_A_WARP = 9e-9
"""The seconds between warps that start on a multiprocessor."""
SPREAD = 5e-8
"""The seconds for each warp in which warps that share a sum over slow elements wait for parts."""
EXCHANGED = 1e-9
"""The seconds for each value in which the warps of a multiprocessor exchange parts of sums over
slow elements."""
SPECIALIZED = 1.9e-6
"""The seconds that the first instance of a specialized kernel takes beside its work: barriers,
tensor descriptors, and groups of warps that are told their tasks."""
SPECIALIZED_AGAIN = 1.7e-6
"""The seconds that each further one on a multiprocessor takes, which copies nothing ahead."""
HELD_AGAIN = 0.5
"""The part of it that is left where instances walk blocks, of which one factor is held."""
UNROLLED = 4
"""The largest extent of a reduction whose loop is unrolled."""
UNDER_WAY = 0.65
"""The part of the loads of an unrolled loop that a thread holds at once."""
BESIDE = 16.0
"""The trips of a loop that overlap where a group of warps does nothing but copy."""
RUNS_AHEAD = 4.0
"""The factor by which a group of warps that only copies hides more of the latency than a stage."""
NEAR = 0.6
"""The time of a load of what an instance has loaded before, with another place of a window, over
that of a load from the shared cache."""
BOXES = 0.8
"""The time of a copy of boxes from the shared cache, over that of loads of as many bytes."""
FILLED = 0.44e-6
"""The seconds until a stage that is free again begins to be filled, and is known to be full."""
HELD = 1.89
"""The trips for which products hold a stage: the next product begins before it is free."""
TRIP = 1e-8
"""The seconds between the products of two trips."""
GROUP = 4
"""The warps of a group."""
CONSUMER_REGISTERS = 240
"""The registers of a thread that multiplies in a specialized kernel."""
PRODUCER_REGISTERS = 24
"""The registers of a thread that copies in one."""
CACHED = 0.8
"""The part of the latency that a load from the shared cache takes."""


@dataclass(frozen=True)
class _Sides:
    """The loops of a product, by what they are of a dot."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    batch: tuple[int, ...]
    depth: tuple[int, ...]
    joins_rows: bool
    """True if several tiled loops may be the rows of one dot."""
    joins_columns: bool


class Model:
    """The costs of a kernel on a device, at any tiles.

    Args:
        work: what the kernel does.
        device: the device.
    """

    def __init__(self, work: Work, device: Device) -> None:
        self.work, self.device = work, device
        self.near = {place for item in work.accesses for place in item.fastest[:1]}
        """The loops that count neighbours in memory."""
        self.sides = [self._sides(item) for item in work.products]

    def cost(self, tiling: Tiling) -> Cost:
        """Predicts what the kernel costs with some tiles."""
        return _Evaluation(self, tiling).cost()

    def _sides(self, item: Product) -> _Sides:
        left, right, depth = {*item.left}, {*item.right}, {*item.depth}
        return _Sides(
            tuple(left - right), tuple(right - left), tuple((left & right) - depth), tuple(depth),
            self._joins(left - right), self._joins(right - left),
        )  # fmt: skip

    def _joins(self, places: set[int]) -> bool:
        """Returns whether tiled loops are the rows of one dot: those of a grid, with no buffer."""
        sides = [{*side} for item in self.work.products for side in (item.left, item.right)]
        whole = all(places <= side or not places & side for side in sides)
        return whole and not self.work.buffers and places <= {*self.work.grid.values()}


class _Table(dict[Loops, float]):
    """The product of a number of each loop, for any loops."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self.numbers = numbers

    def __missing__(self, loops: Loops) -> float:
        found = 1
        for place in loops:
            found *= self.numbers[place]
        self[loops] = found
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
        lanes: list[int] = []
        trips: list[float] = []
        points: list[float] = []
        self.programs = 1
        grid = {work.grid[label] for label in tiling.blocked if label in work.grid}
        self.blocks: dict[str, int] = {}
        """The number of blocks along each label of the grid."""
        for place, walk in enumerate(work.loops):
            extent = walk.extent
            step = tiling.tiles.get(walk.label, 1) or extent
            block = walk.block or (step if place in grid else 0)
            if block:
                blocks = -(-extent // block)
                extent = min(block, extent)
                step = min(step, block)
                if walk.label not in self.blocks:
                    self.blocks[walk.label] = blocks
                    self.programs *= blocks
            lanes.append(padded(max(step, 1)))
            count = -(-extent // max(step, 1))
            trips.append(max(count * walk.share, 1.0 if extent else 0.0))
            each = walk.extent / -(-walk.extent // block) if block and walk.extent else extent
            points.append(each / max(count, 1))
        self.lanes, self.trips, self.points = lanes, trips, points
        self.chained = len(work.products) > 1
        self.count = _Table(trips)
        """The number of times that an instance carries an item out."""
        self.tile = _Table(lanes)
        """The number of elements of an item."""
        self.addressed = _Table(points)
        """The number of elements of an item that are no lanes out of bounds."""
        self.dots = [self._dot(item, sides) for item, sides in zip(work.products, model.sides)]
        """The rows, columns, depth and batch of each product that is a dot; None of others."""
        self.makes_dots = any(self.dots)

    def cost(self) -> Cost:
        work, device = self.work, self.device
        bounds: dict[str, float] = {}
        busiest = -(-self.programs // device.multiprocessors)
        each = device.multiprocessors
        registers, spilled = self._registers()
        shared = self._shared()
        resident = self._resident(registers, shared)
        loads, memory, waits = self._transfers(resident)
        arithmetic = special = 0.0
        for item in work.scalars:
            if item.again and all(self.trips[p] <= 1 for p in item.again):
                continue
            elements = max(self.tile[item.depends], self.threads) * self.count[item.around]
            arithmetic += item.arithmetic * elements
            special += item.special * elements
        rounds = exchanged = 0.0
        for item in work.reductions:
            count, elements = self.count[item.around], self.tile[item.depends]
            arithmetic += count * max(elements, self.threads)
            if self.lanes[item.over] > 1:
                # Threads exchange what they have, and warps by way of shared memory.
                left = elements // self.lanes[item.over]
                arithmetic += 5 * count * max(left, self.threads)
                if self.consumers:
                    # Four threads share a row, and the other group goes on meanwhile.
                    rounds += count * 4e-8 / self.consumers
                    continue
                rounds += count * (4e-8 + 3e-8 * log2(self.warps))
                if left < WIDTH * self.threads and item.over not in self.model.near:
                    # Warps have parts of the same sums. Those that multiply have rows of their own.
                    rounds += count * SPREAD * self.warps
                    if not self.makes_dots:
                        exchanged += count * min(left * (self.warps - 1), WIDTH * self.threads)
        products, multiplied = self._products()
        arithmetic += multiplied
        waves = -(-self.programs // (each * resident))
        bounds["memory"] = memory / device.memory_rate
        bounds["cache"] = busiest * loads * each / device.cache_rate
        bounds["products"] = busiest * each * products
        bounds["products"] *= self._late(each * products, resident)
        together = max(min(resident, busiest), 1)
        running = together * self.warps
        # Groups that multiply take turns: the products of one run beside the elements of another.
        idle = max(ENOUGH_WARPS / max(running, 1), 1.0) if self.consumers < 2 else 1.0
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

    def _overlap(self) -> float:
        """Returns how many trips of a loop overlap: those that copy factors of products ahead."""
        ahead = [
            self.count[item.around] for item in self.work.accesses
            if item.feeds_product and not item.stores
        ]  # fmt: skip
        if self.consumers:
            return BESIDE
        pipelined = self.tiling.stages > 1 and self.makes_dots
        return min(max([1.0, *ahead]), MOST_OVERLAP) if pipelined else 1.0

    def _late(self, products: float, resident: int) -> float:
        """Returns the factor by which products of specialized warps take longer.

        They wait for copies where a ring is short: a stage is filled, and read, before it is filled
        again, which takes the time of as many trips as there are stages.

        Args:
            products: the seconds of an instance's products.
            resident: the instances that take turns on a multiprocessor.
        """
        copied = [
            item for item in self.work.accesses if item.feeds_product and not item.stores
        ]  # fmt: skip
        trips = max([self.count[item.around] for item in copied], default=1.0)
        if not self.consumers or self.chained or not products:
            return 1.0
        step = resident * products / trips
        between = 1.0 + resident * TRIP / step
        if trips <= self.tiling.stages:
            return between
        bytes = resident * sum(self.tile[item.depends] * item.bits / 8 for item in copied)
        filled = FILLED + BOXES * bytes * self.device.multiprocessors / self.device.cache_rate
        return max(between, (filled + HELD * step) / (self.tiling.stages * step))

    def _transfers(self, resident: int) -> tuple[float, float, float]:
        """Returns an instance's bytes from the cache, memory's bytes, and the loads waited for."""
        work, device = self.work, self.device
        loads = memory = 0.0
        waits: dict[Loops, float] = {}
        seen: dict[tuple[str, tuple[object, ...]], Access] = {}
        room = CACHE_SHARE * device.cache
        for item in work.accesses:
            count, elements = self.count[item.around], self.addressed[item.depends]
            first = seen.setdefault((item.tensor, item.key), item)
            if first is not item and self._is_loaded(first, item):
                continue
            size = elements * item.bits / 8
            wasted = self._wasted(item)
            width = work.tensors[item.tensor].width
            narrow = (16 / width) ** NARROW if item.feeds_product else 1.0
            if item.feeds_product and self.consumers:
                narrow *= BOXES / wasted
            elif item.feeds_product and not all(item.axes):
                narrow *= COMPUTED
            moved = size * count * (1.0 if not item.fastest and elements == 1 else wasted)
            if not item.feeds_product:
                narrow *= self._anew(item) * (1 - NEAR) + NEAR
            loads += moved * narrow
            if not item.stores:
                where = tuple(p for p in item.around if self.trips[p] > 1)
                # Copies of fewer than 4 bytes go through registers, and not ahead.
                pipelined = item.feeds_product and self.tiling.stages > 1 and width >= 4
                ahead = 1.0
                if pipelined:
                    # An asynchronous product still reads its stage while the next one begins.
                    ahead = self.tiling.stages - (1.75 if device.asynchronous else 1.0)
                    if self.consumers:
                        # Copies run ahead by themselves; more stages even out what they take.
                        ahead = RUNS_AHEAD * max(self.tiling.stages - 1.0, 0.25)
                elif item.feeds_product:
                    # What goes through registers is stored to shared memory, and waited for again.
                    ahead = 0.5
                elif not item.feeds_product:
                    ahead = max(self._under_way(item), 1.0)
                phase = 1.0 + max(count - 1.0, 0.0) / ahead
                waits[where] = max(waits.get(where, 0.0), phase)
            if first is not item and self._instance_bytes(item, resident) < room:
                continue
            memory += self._from_memory(item, room) * wasted
        missed = min(memory / max(loads * self.programs, 1.0), 1.0)
        if not self.chained and self.programs <= resident * device.multiprocessors:
            # Instances that all run at once walk in step: none finds what another has read before.
            missed = 1.0
        return loads, memory, sum(waits.values()) * (CACHED + (1 - CACHED) * missed)

    def _anew(self, item: Access) -> float:
        """Returns which part of its loads an instance addresses for the first time.

        Windows at neighbouring places overlap.
        """
        part = 1.0
        for window in item.windows:
            extents = [(self.points[p] * self.trips[p], distance) for p, distance in window]
            reached = 1.0 + sum((extent - 1.0) * distance for extent, distance in extents)
            part *= min(reached / max(prod(extent for extent, _ in extents), 1.0), 1.0)
        return part

    def _is_loaded(self, first: Access, item: Access) -> bool:
        """Returns whether an instance has loaded an access's elements with another one's."""
        loops = self.work.loops
        apart = {*first.depends} ^ {*item.depends}
        labels = {loops[p].label for p in apart}
        # Two labels walk the same elements where neither is partitioned.
        whole = len(labels) < 2 or not labels.intersection(self.blocks)
        return whole and all(self.trips[p] <= 1 for p in apart)

    def _wasted(self, item: Access) -> float:
        """Returns how many bytes are moved for each that is wanted."""
        # Memory is read by sectors of 32 bytes, and pages of it that are left early cost time.
        run = 1.0
        for place, repeats in zip(item.fastest, item.repeats):
            run *= max(self.points[place] / repeats, 1.0)
            walk = self.work.loops[place]
            if self.lanes[place] < walk.extent or walk.in_part:
                break
        # A tensor without elements has no runs.
        bytes = max(run * item.bits / 8, 1.0)
        return min(max(32 / bytes, 1.0), 32 * 8 / item.bits) * (1 + PAGE / max(bytes, 32))

    def _instance_bytes(self, item: Access, resident: int) -> float:
        """Returns the bytes that the instances which run at once address by an access."""
        size = self.addressed[item.depends] * self.count[item.around] * item.bits / 8
        return size * min(self.programs, resident * self.device.multiprocessors)

    def _from_memory(self, item: Access, room: float) -> float:
        """Returns the bytes that memory moves for an access of all instances."""
        work = self.work
        whole = float(work.tensors[item.tensor].bytes)
        asked = self.addressed[item.depends] * self.count[item.around] * item.bits / 8
        asked *= self.programs
        if item.stores:
            return min(asked, whole) if whole else asked
        if asked <= whole or whole <= room:
            return min(asked, whole)
        # Instances that run at once share what they read; the next ones read it again.
        together = self._together()
        share = 1.0
        for label, blocks in self.blocks.items():
            if any(work.loops[place].label == label for place in item.depends):
                share *= together[label] / blocks
        running = prod(together.values())
        return min(max(whole, whole * share * self.programs / max(running, 1)), asked)

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
        for item, sides in zip(self.work.products, self.dots):
            count = self.count[item.around]
            if sides is None:
                shared = {*item.left, *item.right}
                elements += count * max(self.tile[tuple(shared)], self.threads)
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

    def _dot(self, item: Product, sides: _Sides) -> tuple[int, int, int, int] | None:
        """Returns the rows, columns, depth and batch of a dot; None if a product is not one."""
        lanes = self.lanes
        rows = [lanes[p] for p in sides.rows if lanes[p] > 1]
        columns = [lanes[p] for p in sides.columns if lanes[p] > 1]
        batch = [lanes[p] for p in sides.batch if lanes[p] > 1]
        deep = prod(lanes[p] for p in sides.depth)
        if (
            not rows or len(rows) > 1 and not sides.joins_rows
            or not columns or len(columns) > 1 and not sides.joins_columns
            or len(batch) > 1 or deep < least_depth(item.bits)
        ):
            return None
        return prod(rows), prod(columns), deep, prod(batch)

    def _under_way(self, item: Access) -> float:
        """Returns how many loads of an access a thread holds at once: those of unrolled loops.

        Of others, the elements of one take the registers of what is computed of them meanwhile.
        """
        if self.work.products:
            return 0.5
        inner = (
            p for p in item.around
            if p not in self.work.grid.values() and self.lanes[p] == 1
            and 1 < self.work.loops[p].extent <= UNROLLED
        )  # fmt: skip
        return max(UNDER_WAY * self.count[tuple(inner)], 0.5)

    def _registers(self) -> tuple[float, float]:
        """Returns the registers of a thread, and by how much spilling slows a kernel down."""
        work, threads = self.work, self.threads
        held = widest = 0.0
        for item, dot in zip(work.products, self.dots):
            outside = ({*item.left} | {*item.right}) - {*item.depth}
            if any(self.trips[p] > 1 for p in item.depth) or dot:
                # Steps at the edge of a domain are summed apart, and added to the others; where
                # groups of warps have tasks of their own, only if what they sum is not finite.
                apart = not self.consumers and any(work.loops[p].share < 1 for p in item.depth)
                held += self.tile[tuple(outside)] / threads * (1 + apart)
        # A buffer may hold what a product has accumulated.
        accumulated = held
        for item in work.reductions:
            if self.trips[item.over] > 1:
                held += self.tile[tuple(p for p in item.depends if p != item.over)] / threads
        loaded: dict[object, float] = {}
        for item in work.accesses:
            narrow = work.tensors[item.tensor].width < 4
            if not item.stores and (narrow or not item.feeds_product):
                size = self.tile[item.depends] * item.bits / 32 / threads
                # Each element that is copied by itself has an address.
                size += self.tile[item.depends] / threads if item.feeds_product else 0
                size *= 2 * self._under_way(item)
                loaded[item.tensor, item.key] = max(
                    loaded.get((item.tensor, item.key), 0.0), size
                )
        for item in work.scalars:
            widest = max(widest, self.tile[item.depends] / threads)
        buffers = 0.0
        for loops, bits in work.buffers:
            size = self.tile[loops] * bits / 32 / threads
            widest, buffers = max(widest, size), buffers + size
        if work.products:
            held += 0.5 * max(buffers - accumulated, 0.0)
            registers = 24 + held + sum(loaded.values()) + 0.5 * widest
        else:
            # Elements take registers of those that they are computed of.
            registers = 8 + held + 0.5 * sum(loaded.values()) + widest
        most = min(MOST_REGISTERS, self.device.registers // threads)
        if self.consumers:
            most = CONSUMER_REGISTERS
        return registers, max(0.0, registers / most - 1.0) * SPILLS

    def _shared(self) -> int:
        """Returns the bytes of shared memory of an instance: factors of products, in stages."""
        rings = largest = 0.0
        for item in self.work.accesses:
            if self.consumers and item.stores:
                # Results go through shared memory, those of wide rows in parts.
                row = prod(self.lanes[place] for place in item.fastest[:1]) * item.bits / 8
                held = min(row, PARTS * PART) / row
                largest += held * self.tile[item.depends] * item.bits / 8
            elif item.feeds_product and not item.stores:
                size = self.tile[item.depends] * item.bits / 8
                if any(self.trips[p] > 1 for p in item.depends if p in item.around):
                    rings += size * self.tiling.stages
                else:
                    # One that is copied once leaves its place to the next.
                    largest = largest + size if self.consumers else max(largest, size)
        return int(rings + largest) + SCRATCH if self.makes_dots else 0

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
