"""Replays of CUDA graphs, through sets of tensors that no cache holds.

A graph's launches cost no time on the host, and its memory is there before it is replayed, for
functions that allocate their results as for kernels that are given theirs. A graph that goes from
one set of tensors to the next finds none of them in the L2 cache where the sets are together more
than twice as large.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dt_mlir.tuning.inputs import Prepared

Run = Callable[[], Any]

LEAST_SETS = 8
"""The sets of tensors that are wanted at least: how fast memory is depends on where they lie."""
MOST_SETS = 2000
"""The most sets of tensors."""
SHARE = 0.5
"""The part of the free memory that the sets may take."""
LENGTH = 2e-3
"""The seconds that a graph should take at least."""
MOST_CALLS = 200
"""The most calls of a graph, but for one on each set of tensors."""


def sets_of(inputs: Prepared, contenders: int = 1) -> list[tuple[Any, ...]]:
    """Returns sets of arguments, together more than twice as large as the L2 cache.

    The first is that of the program itself, the others are copies of it. There are eight at least,
    and fewer where memory does not hold so many.

    Args:
        inputs: the arguments, and the shapes of the results.
        contenders: how many functions have results of their own.
    """
    import torch

    cache = torch.cuda.get_device_properties(torch.cuda.current_device()).L2_cache_size
    free, _ = torch.cuda.mem_get_info()
    tensors = [item for item in inputs.arguments if isinstance(item, torch.Tensor)]
    taken = sum(item.nbytes for item in tensors)
    results = sum(torch.empty(shape, dtype=dtype, device="meta").nbytes
                  for shape, dtype in inputs.outputs)  # fmt: skip
    copies = [
        tuple(a.clone() if isinstance(a, torch.Tensor) else a for a in inputs.arguments)
        for _ in range(count_of_sets(taken, results, cache, free, contenders) - 1)
    ]
    return [tuple(inputs.arguments), *copies]


def count_of_sets(taken: int, results: int, cache: int, free: int, contenders: int = 1) -> int:
    """Returns how many sets of tensors are enough, and more than twice as large as a cache.

    Args:
        taken: the bytes of the arguments of a set.
        results: the bytes of its results.
        cache: the bytes of the cache.
        free: the bytes of memory that are free.
        contenders: how many functions have results of their own.
    """
    count = max(2 * cache // max(taken + results, 1) + 1, LEAST_SETS)
    room = int(SHARE * free / (taken + contenders * results + 1))
    return max(min(count, MOST_SETS, room), 1)


class Replays:
    """A graph of calls.

    Args:
        runs: the calls, each on a set of tensors of its own, all of which were made before.
        times: how often all of them are made; None for so often that a replay can be timed.
    """

    def __init__(self, runs: Sequence[Run], times: int | None = None) -> None:
        import torch

        if times is None:
            one = Replays(runs[:1], 1)
            calls = min(max(int(LENGTH / one.seconds(1)), 1), MOST_CALLS)
            times = -(-calls // len(runs))
        self._count = len(runs) * times
        self._graph = torch.cuda.CUDAGraph()
        results: list[Any] = [None] * len(runs)
        with torch.cuda.graph(self._graph):
            for place, run in [*enumerate(runs)] * times:
                # Each set has results of its own, which a call that allocates them takes over
                # from the one before on that set.
                results[place] = None
                results[place] = run()
        self._results = results
        self._graph.replay()
        torch.cuda.synchronize()

    def steady(self, length: float) -> float:
        """Returns the seconds of a call in replays that take about so many seconds."""
        once = self.seconds(1) * self._count
        return self.seconds(max(round(length / once), 1))

    def seconds(self, replays: int) -> float:
        """Returns the seconds of a call, the mean of all replays."""
        import torch

        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(replays):
            self._graph.replay()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1000 / replays / self._count
