"""Times of contenders on a GPU, all of them taken alike: replays of CUDA graphs.

A graph's memory is there before it is replayed, for baselines that allocate their results as for
kernels that are given theirs. *Hot* is one call after the other on the same tensors. *Cold* goes
through sets of tensors that are together more than twice as large as the L2 cache. *Single* is one
call after a pause and a flush of the cache, before the GPU reaches its power limit, and *sustained*
calls without a pause for 400 ms.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from statistics import median

import torch

from dt_mlir.tuning.replays import Replays, Run

MEASURED = 0.025
"""The seconds for which replays are timed."""
SETTLED = 0.2
"""The seconds for which it is busy before, until its clock has settled."""
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
        self._one = Replays(runs[:1], 1)
        self._hot = Replays(runs[:1])
        self._cold = Replays(runs)
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
                # What ran before leaves the GPU at a clock of its own.
                self._hot.steady(SETTLED)
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
