"""The tiles of a kernel that the model of costs predicts to be fastest.

The candidates are few: powers of two for labels that matter, by the part that they have in the
kernel. Rows, columns and depths of products take tiles that tensor cores like; the label whose
elements are neighbours in memory takes long ones; labels that fused functions are held along are
taken whole; others take single elements or a few.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import groupby
from itertools import product as combinations
from math import inf, log2, prod

from dt_mlir.analysis.dot_plans import least_depth
from dt_mlir.analysis.tile_sizes import padded
from dt_mlir.autoscheduling.boxes import Boxes
from dt_mlir.costs.balance import rise
from dt_mlir.costs.device import Device
from dt_mlir.costs.execution import GROUP
from dt_mlir.costs.least_times import LeastTimes
from dt_mlir.costs.model import Model
from dt_mlir.costs.moving import UNROLLED
from dt_mlir.costs.tiling import Cost, Tiling, streams
from dt_mlir.costs.work import Access, Order, Work

MOST_LANES = 2**16
"""The most elements of a tile."""
MOST_PARTS = 1024
"""The largest number of parts whose values a tile holds."""
FEW = 64
"""The largest extent that a reduction which strides through memory takes whole."""
MOST_CANDIDATES = 600
"""The number of sizes of tiles beyond which coarse ones are enough."""
ALIKE = 1.01
"""Predictions within this factor are alike."""
ELEMENTS = 12
"""The elements of a thread to which tilings that are alike should be close."""
MOST_OF_A_THREAD = 256
"""The most elements of a thread."""
MOST_OF_PRODUCTS = 160
"""The most elements of a thread that accumulates products."""
WHOLE_DEPTH = 256
"""The largest extent that a product beside others takes whole."""
COARSE_SIDES = (16, 64, 128)
"""The tiles of rows and columns of products where few are enough."""
COARSE_DEPTH = 64
"""The tile of their depths."""
STAGES = 3
"""The stages of a pipeline with which tiles are compared."""
OTHER_STAGES = (2, 4, 6)
"""The other numbers of stages: what comes from memory wants more, what shares a multiprocessor
fewer."""
PROMISING = 2.0
"""The factor by which tiles may be slower than the best ones to be tried with other stages."""
WARPS = 8
"""The warps of a kernel of Triton beside a specialized one."""
WARPS_OF_PRODUCTS = (4, WARPS)
"""The numbers of warps that products are tried with."""
CONSUMERS = 2
"""The groups of warps that multiply in a specialized kernel."""
FAR_MORE = 2.0
"""The factor by which more is loaded along a label than along another one for tiles to be long
along either."""
TOGETHER = 8
"""The blocks along a label that are walked as a group."""
ROWS_OF_CONSUMER = 64
"""The rows that an instruction multiplies, of which a group takes a multiple."""


class Choices:
    """The tilings of a kernel among which the model decides.

    Args:
        work: what the kernel does.
        device: the device.
        coarse: whether few candidates are enough, to compare ways to fuse.
    """

    def __init__(self, work: Work, device: Device, coarse: bool = False) -> None:
        self.work, self.device, self.coarse = work, device, coarse
        self.extents = {
            label: max(work.loops[p].extent for p in places)
            for label, places in work.labels().items()
        }
        self.rows, self.columns, self.depths = self._sides()
        self.in_product = bool(self.rows and self.columns)
        self.boxes = Boxes(work, self.extents, self.rows[:1], self.columns[:1])
        self.shallow = self._shallow()
        self.specializes = not coarse and self.in_product and self._may_specialize()
        sizes = self._weights(lambda item: self.work.tensors[item.tensor].bytes)
        self.fastest = sorted(sizes, key=lambda label: (-sizes[label], -self.extents[label]))
        """The labels whose elements are neighbours in memory, by the sizes of tensors."""
        loaded = self._weights(
            lambda item: item.bits * prod(work.loops[place].extent for place in item.around)
        )
        most = max(self.fastest, key=lambda label: loaded[label], default="")
        self.leading = {*self.fastest[:1]}
        """The labels along which tiles may be long: the first, and one along which far more is
        loaded."""
        if self.fastest and loaded[most] > FAR_MORE * loaded[self.fastest[0]]:
            self.leading.add(most)
        held = [({*i.left} | {*i.right}) - {*i.depth} for i in work.products]
        if not self.in_product:
            held += [{*item.depends} for item in work.accesses]
        # What is reduced is there at each index, whether or not it depends on it.
        held += [{*item.depends, item.over} for item in work.reductions]
        self._wholes = [(walk.label, padded(max(walk.extent, 1))) for walk in work.loops]
        """The label of each loop, and the elements of a tile of its whole extent."""
        self._held = {tuple(sorted(places)) for places in held}
        """The loops of each tile that is held."""

    def _sides(self) -> tuple[list[str], list[str], list[str]]:
        """Returns the labels of rows, columns and depths of products, the longest of each."""
        rows: dict[str, None] = {}
        columns: dict[str, None] = {}
        depths: dict[str, None] = {}
        loops = self.work.loops
        for item in self.work.products:
            left, right, depth = {*item.left}, {*item.right}, {*item.depth}

            def longest(places: set[int]) -> str | None:
                order = sorted(places, key=lambda p: (self.work.loops[p].extent, p))
                return loops[order[-1]].label if order else None

            found = longest(left - right), longest(right - left), self._deepest(depth)
            if None in found:
                continue
            for into, label in zip((rows, columns, depths), found):
                assert label is not None
                into[label] = None
        return list(rows), list(columns), list(depths)

    def _shallow(self) -> set[str]:
        """Returns labels along the depths of products that are less deep than an instruction.

        Tiles along several of them make a deeper one.
        """
        found: set[str] = set()
        for item in self.work.products:
            labels = {self.work.loops[p].label for p in item.depth}
            least = least_depth(item.bits)
            if len(labels) > 1 and all(self.extents[x] < least for x in labels & {*self.depths}):
                found |= {label for label in labels if self.extents[label] < least}
        return found

    def _deepest(self, depth: set[int]) -> str | None:
        """Returns the label along a product's depth whose elements are neighbours in memory."""
        near = [
            p for item in self.work.accesses if item.feeds_product for p in item.fastest
            if p in depth
        ]  # fmt: skip
        order = sorted(depth, key=lambda p: (p in near, self.work.loops[p].extent, p))
        return self.work.loops[order[-1]].label if order else None

    def _weights(self, weight: Callable[[Access], float]) -> dict[str, float]:
        """Returns the labels whose elements are neighbours in memory, with the weights of accesses.
        """
        found: dict[str, float] = {}
        for item in self.work.accesses:
            for place in item.fastest[:1]:
                label = self.work.loops[place].label
                found[label] = found.get(label, 0.0) + weight(item)
        return found

    def options(self, label: str) -> list[int]:
        """Returns the tiles of a label among which the model decides; 0 is its whole extent."""
        extent = self.extents[label]
        places = self.work.labels()[label]
        in_grid = label in self.work.grid
        if any(p in self.work.single for p in places):
            # Its blocks are single indices; what else walks the label may take it whole.
            return [0] if len(places) > 1 and extent <= MOST_PARTS else [1]
        if any(p in self.work.whole for p in places) and not in_grid:
            return [0]
        if self.in_product:
            return self._of_product(label, extent, in_grid)
        if label not in self.leading and not self._is_twin(label):
            return self._short(label, extent, in_grid)
        long = self._long(label, extent, in_grid)
        if len(self.leading) == 1 or label not in self.fastest:
            return long
        # Along which of two labels tiles should be long, only their times tell.
        both = {*long, *self._short(label, extent, in_grid)}
        return sorted(both, key=lambda size: size or inf)

    def _long(self, label: str, extent: int, in_grid: bool) -> list[int]:
        """Returns the tiles of a label whose elements are neighbours in memory."""
        room = padded(max(extent, 1))
        least, most = min(32, room), min(4096 if in_grid else 32768, room)
        sizes = [s for s in _powers(least, most) if s >= most or s >= 128 or in_grid]
        chunks = any(self.work.loops[p].in_chunks for p in self.work.labels()[label])
        if (not in_grid or self._is_twin(label)) and extent <= 2**16 and not chunks:
            sizes = [s for s in sizes if s < extent] + [0]
        return sizes[-4:] if self.coarse else sizes

    def _short(self, label: str, extent: int, in_grid: bool) -> list[int]:
        """Returns the tiles of a label beside another one whose elements are neighbours."""
        room = padded(max(extent, 1))
        if in_grid:
            if label in self.fastest and len(self.fastest) > 1:
                return [s for s in (1, 8, 32, 64) if s <= room]
            return [s for s in ((1, 4) if self.coarse else (1, 2, 4, 8, 16)) if s <= room]
        if extent <= UNROLLED:
            # Its loop is unrolled instead: a tile would hold elements that there are not.
            return [1]
        few = (1, 8) if self.coarse else (1, 4, 16)
        # A reduction over a label that is not the fastest one takes a few rows at once, or all.
        whole = [0] if 1 < extent <= FEW else []
        return [s for s in few if s < extent or s == 1] + whole

    def _is_twin(self, label: str) -> bool:
        """Returns whether another label walks the same neighbours in memory.

        What both take whole is loaded once.
        """
        others = self.work.twins.get(label, set())
        return bool(others) and not others.isdisjoint(self.fastest)

    def _of_product(self, label: str, extent: int, in_grid: bool) -> list[int]:
        room = padded(max(extent, 1))
        depth = label in self.depths
        side = label in self.rows or label in self.columns
        if not depth and not side:
            return [1, 0] if label in self.shallow and extent > 1 else [1]
        held = len(self.work.products) > 1 and not (label in self.work.grid and label in self.rows)
        if held and (in_grid or depth) and extent <= WHOLE_DEPTH and not (depth and side):
            return [0]
        least = max(least_depth(item.bits) for item in self.work.products)
        if label in self.boxes.labels:
            room = padded(prod(self.extents[other] for other in self.boxes.side([label])))
        top = max(room, least)
        if depth:
            sizes = (32, 64, 128) if side else (16, 32, 64, 128)
            sizes = (COARSE_DEPTH,) if self.coarse else sizes
        else:
            sizes = COARSE_SIDES if self.coarse else (16, 32, 64, 128, 256)
        whole = [0] if label in self.shallow and not side else []
        return ([size for size in sizes if least <= size <= top] or [least]) + whole

    def tilings(self) -> Iterator[Tiling]:
        """Yields the candidates with the usual number of stages."""
        labels, dependent = list(self.extents), self.device.overlap > 0
        if prod(len(self.options(label)) for label in labels) > MOST_CANDIDATES:
            self.coarse = True
        most = MOST_OF_PRODUCTS if self.in_product else MOST_OF_A_THREAD
        warps = WARPS_OF_PRODUCTS
        if not self.in_product:
            warps = (1, 4, 8, 16) if self.coarse else (1, 2, 4, 8, 16, 32)
        orders: dict[frozenset[str], Order] = {}
        singles = (dict(zip(labels, sizes)) for sizes in combinations(*map(self.options, labels)))
        every = not self.coarse
        for tiles in (tiles for single in singles for tiles in self.boxes.tiles(single, every)):
            lanes = self.lanes(tiles)
            if lanes > MOST_LANES:
                continue
            blocked = frozenset(
                label for label, place in self.work.grid.items()
                if tiles[label] and not self.work.loops[place].block
            )  # fmt: skip
            order = orders.get(blocked)
            if order is None:
                order = orders[blocked] = self.order(blocked)
            for count in warps:
                each = lanes / (count * self.device.warp)
                if count > 1 and each < 2 or count < 32 and each > most:
                    continue
                yield Tiling(tiles, blocked, count, STAGES, order, dependent=dependent)
            if self.specializes and self._divides(tiles) and self.boxes.are_copied(tiles):
                # What need not wait for the block before walks blocks; measuring tells of the rest.
                walking = [(1, False)] if streams(self.work, tiles) else [(0, False), (1, False)]
                if rise(self.work) > 1:
                    walking.append((1, True))
                for walk in dict.fromkeys(self._specialized_orders(order, tiles)):
                    for persistent, alternating in walking:
                        yield Tiling(
                            tiles, blocked, WARPS, STAGES, walk, CONSUMERS, persistent,
                            alternating, dependent,
                        )

    def _may_specialize(self) -> bool:
        """Returns whether groups of warps may have tasks of their own.

        What the copy engine moves are factors as they are in memory, of 8 or 16 bits, whose rows
        start at multiples of 16 bytes. Others are results of products.
        """
        work = self.work
        factors = [item for item in work.accesses if item.feeds_product and not item.stores]
        return (
            self.device.specializes and work.specializes
            and len(self.rows) == 1 and bool(factors)
            and all(item.kind in ("f8", "f16") for item in work.products)
            and not any(map(work.is_fed, work.products))
            and all(work.tensors[item.tensor].is_described for item in factors)
        )

    def _divides(self, tiles: Mapping[str, int]) -> bool:
        """Returns whether each group of warps that multiplies can have a part of the rows."""
        rows = prod(tiles[label] for label in self.boxes.side(self.rows))
        each = self.lanes(tiles) / (CONSUMERS * GROUP * self.device.warp)
        columns = [
            prod(tiles[other] for other in self.boxes.side([label])) for label in self.columns
        ]
        return (
            rows >= CONSUMERS * ROWS_OF_CONSUMER and each <= MOST_OF_PRODUCTS
            and max(columns) >= ROWS_OF_CONSUMER
        )

    def lanes(self, tiles: Mapping[str, int]) -> int:
        """Returns the elements of the largest tile that is held."""
        sizes = [padded(tile) if (tile := tiles[x]) else whole for x, whole in self._wholes]
        return max((prod([sizes[p] for p in places]) for places in self._held), default=1)

    def _specialized_orders(self, order: Order, tiles: Mapping[str, int]) -> Iterator[Order]:
        """Yields the walks over blocks among which a specialized kernel decides.

        If rows begin with those that conditions keep most of, others take all rows of one batch
        before those of the next, which share its columns, or those of several batches, so that long
        blocks are not among the last.
        """
        yield order
        rows = [item for item in order if item[1] == "descending"]
        rest = [item for item in order if item[1] != "descending"]
        if not rows or not rest:
            return
        yield (*rest, *rows)
        first, *others = rest
        blocks = -(-self.extents[first[0]] // max(tiles[first[0]], 1))
        if blocks > TOGETHER:
            yield (
                (first[0], "outer", TOGETHER), *rows, *others, (first[0], "inner", TOGETHER)
            )  # fmt: skip

    def order(self, blocked: frozenset[str]) -> Order:
        """Returns the walk over the blocks of the labels that are partitioned, slowest first.

        One side of products is walked in groups of 8 blocks, so that programs that run at once
        share both factors. Blocks of rows that conditions keep most of start first.
        """
        grid = [label for label in self.work.grid if label in blocked]
        if not self.in_product:
            return tuple((label, "whole", 0) for label in grid)
        rows = [label for label in grid if label in self.boxes.side(self.rows)]
        columns = [*self.columns, *self.boxes.side(self.columns)]
        columns = [label for label in grid if label in columns and label not in rows]
        rest = [label for label in grid if label not in rows and label not in columns]
        if any(walk.share < 1 for walk in self.work.loops):
            return tuple((label, "descending", 0) for label in rows) + tuple(
                (label, "whole", 0) for label in (*rest, *columns)
            )
        whole = [(label, "whole", 0) for label in rest]
        if self.rows[0] in self.boxes.labels:
            # Boxes that follow each other share what windows of both read.
            whole += [(label, "whole", 0) for label in (*rows, *columns)]
        elif rows and columns:
            first, *others = rows[0], *columns
            whole += [(first, "outer", TOGETHER), *((label, "whole", 0) for label in others)]
            whole += [(first, "inner", TOGETHER)]
        else:
            whole += [(label, "whole", 0) for label in (*columns, *rows)]
        return tuple(whole)


def _powers(least: int, most: int) -> list[int]:
    return [1 << k for k in range(least.bit_length() - 1, most.bit_length())]


def best_tiling(work: Work, device: Device, coarse: bool = False) -> tuple[Tiling, Cost]:
    """Returns the tiling of least predicted time, and what it costs.

    Args:
        work: what the kernel does.
        device: the device.
        coarse: whether few candidates are enough.
    """
    return ranked_tilings(work, device, 1, coarse)[0]


def all_tilings(work: Work, device: Device) -> list[tuple[Tiling, Cost]]:
    """Returns all candidates, with what they cost, that of least predicted time first."""
    return _costs(Choices(work, device))


def most_held(device: Device, multiplies: bool) -> int:
    """Returns the most elements of a tile of a function that a kernel can hold with any tiling.

    Args:
        device: the device.
        multiplies: whether they are sums of products, which threads accumulate.
    """
    threads = max(WARPS_OF_PRODUCTS) * device.warp
    return min(MOST_LANES, MOST_OF_PRODUCTS * threads) if multiplies else MOST_LANES


def least_blocks(extent: int) -> int:
    """Returns the least number of blocks of a label in the grid of a kernel of products, whose
    tiles are chosen coarsely.

    Args:
        extent: the extent of the label.
    """
    return 1 if extent <= WHOLE_DEPTH else -(-extent // COARSE_SIDES[-1])


def least_of_factors(own: Work, other: Work, held: Collection[str], device: Device) -> float:
    """Returns the bytes of shared memory that a factor of a function's products takes at least in a
    kernel that holds the function, whose tiles are chosen coarsely.

    Args:
        own: what the function does by itself.
        other: what the kernel does before the function joins it.
        held: the labels of the function along which the kernel holds all of its elements.
        device: the device.
    """
    choices, beside = (Choices(work, device, coarse=True) for work in (own, other))
    if not choices.in_product or own.single or other.single:
        return 0.0
    sides = {*choices.rows, *choices.columns, *beside.rows, *beside.columns}
    labels = {other.loops[place].label for place in other.whole}.difference(other.grid)
    held = labels.union(held)
    found = 0.0
    for item in own.accesses:
        if item.stores or not item.feeds_product:
            continue
        size, copies = item.bits / 8, 1
        for label in {own.loops[place].label for place in item.depends}:
            extent = choices.extents[label]
            is_whole = label not in sides and other.products and extent <= WHOLE_DEPTH
            if label in held or label in choices.depths and is_whole:
                size *= padded(extent)
            elif label in choices.depths:
                size *= min(padded(extent), COARSE_DEPTH)
                # A loop copies the next one while threads wait for a product.
                copies = STAGES - 1 if extent > COARSE_DEPTH else 1
        found = max(found, size * copies)
    return found


def holds_few(own: Work, other: Work, held: Collection[str], device: Device) -> bool:
    """Returns whether a kernel that a function joins perhaps has tiles that hold what the function
    reduces, chosen coarsely.

    Args:
        own: what the function does by itself.
        other: what the kernel does before the function joins it.
        held: the labels of the function along which the kernel holds all of its elements.
        device: the device.
    """
    choices, alone = (Choices(work, device, coarse=True) for work in (other, own))
    if not choices.in_product and (alone.in_product or alone.leading != choices.leading):
        return True
    most = most_held(device, choices.in_product)
    for item in own.reductions:
        label = own.loops[item.over].label
        if choices.in_product:
            taken = label in choices.depths and label not in {*choices.rows, *choices.columns}
        else:
            taken = choices.leading == {label} and label not in other.grid
        if not taken:
            continue
        room = padded(max(choices.extents.get(label, 1), 1))
        size = min(each or room for each in choices.options(label))
        for place in {*item.depends} - {item.over}:
            walk = own.loops[place]
            size *= padded(max(walk.extent, 1)) if walk.label in held else 1
        if size > most:
            return False
    return True


def has_rows_and_columns(work: Work, device: Device) -> bool:
    """Returns whether tiles of a kernel are chosen by the rows and columns of its products."""
    return Choices(work, device, coarse=True).in_product


def may_specialize(work: Work, device: Device) -> bool:
    """Returns whether groups of warps of a kernel may have tasks of their own with some tiles."""
    return Choices(work, device).specializes


def specialized_tilings(work: Work, device: Device, count: int) -> list[tuple[Tiling, Cost]]:
    """Returns so many candidates whose groups of warps have tasks of their own, as `all_tilings`.

    Args:
        work: what the kernel does.
        device: the device.
        count: the most tilings to return.
    """
    choices = Choices(work, device)
    return _costs(choices, count, specialized=True)[:count] if choices.specializes else []


def _costs(
    choices: Choices, count: float = inf, specialized: bool = False
) -> list[tuple[Tiling, Cost]]:
    """Returns candidates with what they cost, that of least predicted time first.

    Args:
        choices: the candidates.
        count: how many of the fastest are wanted, beside those that are alike the best one; others
            may be left out.
        specialized: whether only those are wanted whose groups of warps have tasks of their own.
    """
    work = choices.work
    tilings = [item for item in choices.tilings() if item.consumers or not specialized]
    bounded = count < inf
    if not tilings and not specialized:
        bounded = False
        tilings = [Tiling(dict.fromkeys(work.labels(), 1), frozenset(work.grid), 1, 1)]
    model = Model(work, choices.device)

    # One of several products leaves less shared memory to stages.
    single = len(work.products) == 1
    others = [n for n in OTHER_STAGES if single or n < 6]
    others = others if choices.in_product and not choices.coarse else []
    bound = LeastTimes(
        model.outline, choices.device, max([STAGES, *others]), choices.specializes
    )
    # Tilings of the same tiles follow each other, and differ in their warps, fewer first.
    same = [list(group) for _, group in groupby(tilings, lambda tiling: id(tiling.tiles))]
    bounds = {
        id(group[0].tiles): bound.of(min(group, key=lambda t: t.warps)) if bounded else 0.0
        for group in same
    }
    fastest: list[float] = []
    known: dict[int, list[Cost]] = {}
    for group in sorted(same, key=lambda group: bounds[id(group[0].tiles)]):
        tiles = id(group[0].tiles)
        if len(fastest) >= count and bounds[tiles] > ALIKE * fastest[-1]:
            break
        known[tiles] = [model.cost(tiling) for tiling in group]
        fastest = _least([*fastest, *(cost.seconds for cost in known[tiles])], count)
    found = [
        item for group in same if id(group[0].tiles) in known
        for item in zip(group, known[id(group[0].tiles)])
    ]  # fmt: skip
    if others:
        promising = PROMISING * min(fastest, default=inf)
        for tiling, cost in tuple(found):
            # What needs more shared memory than there is may fit with fewer stages.
            fits = cost.seconds < inf
            if cost.seconds > promising and fits:
                continue
            if len(fastest) >= count and bounds[id(tiling.tiles)] > ALIKE * fastest[-1]:
                continue
            stages = [n for n in others if fits or n < tiling.stages]
            staged = [tiling._replace(stages=n) for n in stages]
            costs = [model.cost(item) for item in staged]
            found += zip(staged, costs)
            fastest = _least([*fastest, *(cost.seconds for cost in costs)], count)
    return sorted(found, key=lambda item: (item[1].seconds, item[0].stages))


def _least(times: list[float], count: float) -> list[float]:
    """Returns so many of the least times, that of the fastest first; it alone where all are wanted.
    """
    return sorted(times)[: 1 if count == inf else int(count)]


def ranked_tilings(
    work: Work, device: Device, count: int, coarse: bool = False
) -> list[tuple[Tiling, Cost]]:
    """Returns the tilings of least predicted times, with what they cost, the best one first.

    Of those that are alike, one comes first that gives threads a few elements each.

    Args:
        work: what the kernel does.
        device: the device.
        count: the most tilings to return.
        coarse: whether few candidates are enough.
    """
    choices = Choices(work, device, coarse)
    found = _costs(choices, count)
    least = found[0][1].seconds
    alike = [item for item in found if item[1].seconds <= ALIKE * least]

    def distance(item: tuple[Tiling, Cost]) -> float:
        tiling, cost = item
        if choices.in_product:
            return cost.seconds
        each = choices.lanes(tiling.tiles) / (tiling.warps * device.warp)
        few = cost.programs < 2 * device.multiprocessors * cost.resident
        return abs(log2(each / ELEMENTS)) + 0.3 * abs(log2(tiling.warps / 4)) + few

    return [*sorted(alike, key=distance), *found[len(alike):]][:count]
