"""Times of contenders on a GPU, all of them taken alike: replays of CUDA graphs.

A graph's memory is there before it is replayed, for baselines that allocate their results as for
kernels that are given theirs. *Hot* is one call after the other on the same tensors. *Cold* goes
through sets of tensors that are together more than twice as large as the L2 cache. *Single* is one
call after a pause and a flush of the cache, before the GPU reaches its power limit, and *sustained*
calls without a pause for 400 ms.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache
from statistics import median
from typing import Any

import torch

Run = Callable[[], Any]

LENGTH = 2e-3
"""The seconds that a graph should take at least."""
MOST_CALLS = 200
"""The most calls of a graph, but for one on each set of tensors."""
MEASURED = 0.025
"""The seconds for which replays are timed."""
SUSTAINED = 0.4
"""The seconds for which a GPU is kept busy to see what it sustains."""
SINGLES = 9
"""The number of single calls of which the median counts."""
PAUSE = 2e-3
"""The seconds before a single call."""
FLUSHED = 2**28
"""The bytes that are written to flush the cache."""


class Clock:
    """The times of one contender.

    Args:
        runs: the call on each set of tensors.
        singly: whether single and sustained calls are timed too.
    """

    def __init__(self, runs: Sequence[Run], singly: bool) -> None:
        # Graphs know tensors by their addresses alone.
        self._runs = runs
        runs[0]()
        torch.cuda.synchronize()
        self._one = _Graph(runs[:1], 1)
        seconds = self._one.seconds(1)
        calls = min(max(int(LENGTH / seconds), 1), MOST_CALLS)
        self._hot = _Graph(runs[:1], calls)
        self._cold = _Graph(runs, -(-calls // len(runs)))
        self.kinds = ("hot", "cold", "single", "sustained") if singly else ("hot", "cold")

    def milliseconds(self, kind: str) -> float:
        """Returns the time of a call.

        Args:
            kind: one of `kinds`.
        """
        match kind:
            case "hot":
                return 1000 * self._hot.steady(MEASURED)
            case "cold":
                return 1000 * self._cold.steady(MEASURED)
            case "single":
                return 1000 * self._single()
            case _:
                return 1000 * self._hot.steady(SUSTAINED)

    def _single(self) -> float:
        found: list[float] = []
        for _ in range(SINGLES):
            torch.cuda.synchronize()
            time.sleep(PAUSE)
            # The call is launched while the cache is flushed, so that nothing waits for the host.
            _flushed().zero_()
            found.append(self._one.seconds(1))
        return median(found)


@cache
def _flushed() -> torch.Tensor:
    return torch.empty(FLUSHED, dtype=torch.uint8, device="cuda")


class _Graph:
    """A graph of calls.

    Args:
        runs: the calls.
        times: how often all of them are made.
    """

    def __init__(self, runs: Sequence[Run], times: int) -> None:
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
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(replays):
            self._graph.replay()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1000 / replays / self._count
