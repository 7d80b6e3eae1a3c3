"""The search for a smaller case: greedy, from large steps to small ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

State = TypeVar("State")


@dataclass
class Reducer(Generic[State]):
    """Takes the first smaller case that still fails, until none does or time is up.

    This is the greedy loop of test-case reducers (Regehr and others, "Test-case reduction for C
    compiler bugs", PLDI 2012): what is tried next depends on what the case has become.

    Args:
        candidates: for a case smaller ones, the most promising first.
        fails: whether a case fails as the first one did.
        key: what makes two cases the same; none is tried twice.
        seconds: the time after which the smallest case so far is taken.
    """

    candidates: Callable[[State], Iterable[State]]
    fails: Callable[[State], bool]
    key: Callable[[State], object]
    seconds: float = 120.0
    tries: int = 0
    """The number of cases that were tried."""
    finished: bool = False
    """True if no smaller candidate fails."""

    def reduce(self, state: State) -> State:
        """The smallest case found."""
        deadline = time.monotonic() + self.seconds
        seen = {self.key(state)}
        found = True
        while found:
            found = False
            for candidate in self.candidates(state):
                if time.monotonic() > deadline:
                    return state
                key = self.key(candidate)
                if key in seen:
                    continue
                seen.add(key)
                self.tries += 1
                if self.fails(candidate):
                    state, found = candidate, True
                    break
        self.finished = True
        return state
