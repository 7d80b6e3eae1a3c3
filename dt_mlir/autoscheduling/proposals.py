"""The schedules among which a search looks for the fastest, by their predicted times.

Each kernel that `auto` would make is a slot, with the ways to compute its functions and the tiles
of each as options. What cannot win by the model is left out before anything is compiled.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil, inf, prod

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.autoscheduling.alternatives import SLOWER, Way, alternatives
from dt_mlir.autoscheduling.auto import auto_schedule, evaluator_of
from dt_mlir.autoscheduling.clusters import Clusters
from dt_mlir.autoscheduling.decisions import Decision, copies
from dt_mlir.autoscheduling.evaluation import Cluster, Kernel
from dt_mlir.autoscheduling.storage import aligned
from dt_mlir.autoscheduling.tilings import all_tilings
from dt_mlir.autoscheduling.variants import all_finished
from dt_mlir.autoscheduling.writing import Part
from dt_mlir.compiling import compiling
from dt_mlir.costs.device import Device
from dt_mlir.costs.features import combined, features
from dt_mlir.costs.work import Work

MOST_OPTIONS = 2000
"""The most options of a slot."""
MOST_TILINGS = 400
"""The most tilings of a way of computing a slot, for all of its kernels."""
FEW = 3
"""The number of tilings of a kernel that takes little time."""
IDLE = 1.25
"""A kernel with fewer instances than multiprocessors is left out if it is predicted to be this much
slower than the best."""

Choice = tuple[int, ...]
"""An option for each slot."""


@dataclass(frozen=True)
class Option:
    """A way to compute the functions of a slot, with tiles."""

    way: Way
    """The clusters, their kernels with tiles."""
    seconds: float
    """The predicted time."""

    @property
    def kernels(self) -> list[Kernel]:
        """The kernels."""
        return [kernel for cluster in self.way for kernel in cluster.kernels]


class Proposals:
    """The schedules of a program that may be the fastest.

    Args:
        module: a program at the `dt` level; it is not changed.
        sizes: a size for each label.
        device: the device that schedules are for.

    Raises:
        CompileError: where the program itself cannot be compiled.
    """

    @compiling()
    def __init__(self, module: ModuleOp, sizes: Mapping[str, int], device: Device) -> None:
        self.device = device
        self.first = auto_schedule(module, sizes, device)
        """The schedule that `auto` gives."""
        self.pruned: Counter[str] = Counter()
        """The number of tilings that were left out, by the reason."""
        self._evaluator = evaluator_of(module, sizes, device)
        clusters = all_finished(self._evaluator, Clusters(self._evaluator).run())
        self._tilings: dict[int, list[Kernel]] = {}
        self._features: dict[tuple[int, int], list[tuple[float, dict[str, float]]]] = {}
        self._combined: dict[Choice, tuple[float, ...]] = {}
        self.ways = [alternatives(self._evaluator, cluster) for cluster in clusters]
        """The ways to compute each slot, with the tiles that are predicted to be fastest."""
        self.decided = [known.decided for known in aligned(self._evaluator, clusters)]
        """True for each slot whose tiles follow from those of what reads it, and are no choice."""
        self.slots = [
            self._options(ways)[: 1 if decided else None]
            for ways, decided in zip(self.ways, self.decided)
        ]
        """The options of each slot, those that are predicted to be fastest first."""

    def __len__(self) -> int:
        return prod(map(len, self.slots))

    @property
    def best(self) -> Choice:
        """The choice that is predicted to be fastest."""
        return (0,) * len(self.slots)

    def seconds(self, choice: Choice) -> float:
        """Returns the predicted time of a choice."""
        return sum(slot[number].seconds for slot, number in zip(self.slots, choice))

    def features(self, choice: Choice) -> tuple[float, ...]:
        """Returns the features of a choice, on which its measured time may depend."""
        known = self._combined.get(choice)
        if known is not None:
            return known
        found: list[tuple[float, dict[str, float]]] = []
        for key in enumerate(choice):
            if key not in self._features:
                kernels = self.slots[key[0]][key[1]].kernels
                self._features[key] = [
                    (k.cost.seconds, features(k.work, k.tiling, k.cost, self.device))
                    for k in kernels
                ]
            found += self._features[key]
        self._combined[choice] = combined(found)
        return self._combined[choice]

    def neighbours(self, choice: Choice) -> Iterator[Choice]:
        """Yields the choices that differ from one in a single slot."""
        for place, slot in enumerate(self.slots):
            for number in range(len(slot)):
                if number != choice[place]:
                    yield (*choice[:place], number, *choice[place + 1 :])

    def directives(self, place: int, number: int) -> list[str]:
        """Returns the directives of an option, legal or not, as DT.

        Args:
            place: the number of the slot.
            number: the number of the option.
        """
        way = self.slots[place][number].way
        parts = [(cluster.members, self._evaluator.directives(cluster)) for cluster in way]
        found = dict.fromkeys(chain(*self._evaluator.written(parts)))
        return [item.text for item in found]

    @compiling()
    def schedule(self, choice: Choice) -> list[Decision]:
        """Returns the directives of a choice.

        That they are legal together is left to who compiles them: ways are legal with their best
        tiles, and with others nearly always.
        """
        ways = [slot[number].way for slot, number in zip(self.slots, choice)]
        parts = [
            (cluster.members, [*self._evaluator.directives(cluster), *cluster.storage])
            for cluster in self._aligned(ways)
        ]
        # What several kernels inline is inlined once.
        return list(dict.fromkeys(chain(*self._evaluator.written(parts))))

    @compiling()
    def schedule_of(self, ways: Sequence[Way]) -> list[Decision] | None:
        """Returns the directives of a way for each slot; None where they are not legal together."""
        parts: list[Part] = []
        for cluster in self._aligned(ways):
            schedule = self._evaluator.schedule(cluster)
            if schedule is None:
                return None
            parts.append((cluster.members, schedule))
        found = list(dict.fromkeys(chain(*self._evaluator.written(parts))))
        return found if self._evaluator.is_legal(found) else None

    def _aligned(self, ways: Sequence[Way]) -> list[Cluster]:
        """Returns the clusters of a way for each slot, tiles of copies as of what reads them."""
        return aligned(self._evaluator, [cluster for way in ways for cluster in way])

    def _options(self, ways: Sequence[Way]) -> list[Option]:
        """Returns the options of a slot."""
        streams = [self._of_way(way) for way in ways]
        # Functions that are fused at places which come to the same give the same kernels.
        found: dict[object, Option] = {}
        least = inf
        for option in heapq.merge(*streams, key=lambda item: item.seconds):
            least = min(least, option.seconds)
            if option.seconds > SLOWER * least or len(found) == MOST_OPTIONS:
                break
            found.setdefault(_signature(option), option)
        # Sums of the same numbers may differ by rounding.
        return sorted(found.values(), key=lambda option: option.seconds)

    def tilings(self, way: Way) -> list[list[Kernel]]:
        """Returns each kernel of a way with each of its tilings that can win, the fastest first."""
        # The tiles of copies are those of what reads them.
        copied = {name for cluster in way for name in copies(cluster.decisions)}
        lists = [(k, self._of_kernel(k.work)) for cluster in way for k in cluster.kernels]
        return [found[: 1 if kernel.work.root in copied else None] for kernel, found in lists]

    def _of_way(self, way: Way) -> Iterator[Option]:
        """Yields a way with its tiles, the fastest first."""
        lists = self.tilings(way)
        # Kernels that take little of the time are not worth many trials.
        total = sum(found[0].cost.seconds for found in lists)
        lists = [
            found[: max(FEW, ceil(MOST_TILINGS * found[0].cost.seconds / total))] for found in lists
        ]
        for seconds, numbers in _in_order([[k.cost.seconds for k in found] for found in lists]):
            yield Option(tiled(way, [found[n] for found, n in zip(lists, numbers)]), seconds)

    def _of_kernel(self, work: Work) -> list[Kernel]:
        """Returns a kernel with each of its tilings that can win, the fastest first."""
        known = self._tilings.get(id(work))
        if known is not None:
            return known
        ranked = all_tilings(work, self.device)
        fits = [item for item in ranked if item[1].seconds < inf]
        self.pruned["need more shared memory than there is"] += len(ranked) - len(fits)
        least = fits[0][1].seconds if fits else inf
        most = max((cost.programs for _, cost in fits), default=0)
        found: list[Kernel] = []
        for tiling, cost in fits:
            reason = ""
            if cost.spilled:
                reason = "spill registers"
            elif cost.seconds > SLOWER * least:
                reason = f"take over {SLOWER:g} times as long as the best"
            elif (
                cost.programs < min(self.device.multiprocessors, most)
                and cost.seconds > IDLE * least
            ):
                reason = "leave multiprocessors idle"
            if reason and found:
                self.pruned[reason] += 1
            else:
                found.append(Kernel(work, tiling, cost))
        found = found or [Kernel(work, *ranked[0])]
        self._tilings[id(work)] = found
        return found


def tiled(way: Way, kernels: Sequence[Kernel]) -> Way:
    """Returns a way whose kernels have other tiles.

    Args:
        way: a way to compute the functions of a slot.
        kernels: its kernels with these tiles, in their order.
    """
    each = iter(kernels)
    return tuple(replace(c, kernels=tuple(next(each) for _ in c.kernels)) for c in way)


def _signature(option: Option) -> object:
    """Returns what is equal for options that make the same kernels."""
    return tuple(
        (
            kernel.work.root, tuple(sorted(kernel.tiling.tiles.items())), kernel.tiling.warps,
            kernel.tiling.stages, kernel.tiling.order, kernel.tiling.consumers,
            kernel.tiling.persistent, kernel.tiling.alternating, kernel.cost.seconds,
            kernel.cost.registers,
        ) for kernel in option.kernels
    )  # fmt: skip


def _in_order(lists: Sequence[Sequence[float]]) -> Iterator[tuple[float, Choice]]:
    """Yields the sums of a number of each of some sorted lists, the least first."""
    start: Choice = (0,) * len(lists)
    heap: list[tuple[float, Choice]] = [(sum(found[0] for found in lists), start)]
    seen: set[Choice] = {start}
    while heap:
        total, numbers = heapq.heappop(heap)
        yield total, numbers
        for place, found in enumerate(lists):
            after = numbers[place] + 1
            if after < len(found):
                following = (*numbers[:place], after, *numbers[place + 1 :])
                if following not in seen:
                    seen.add(following)
                    heapq.heappush(heap, (total + found[after] - found[after - 1], following))
