"""The search for a smaller case: greedy, from large steps to small ones."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
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
        """Returns the smallest case found.

        A case that is being tried when time is up counts as one that does not fail. Where the
        platform cannot interrupt it, the search ends behind it.
        """
        deadline = time.monotonic() + self.seconds
        seen = {self.key(state)}
        found = True
        try:
            with _interrupted(self.seconds):
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
        except _TimeIsUp:
            return state
        self.finished = True
        return state


class _TimeIsUp(BaseException):
    """Ends a search; handlers of `Exception` leave it alone."""


@contextmanager
def _interrupted(seconds: float) -> Generator[None]:
    """Raises `_TimeIsUp` in the body after some seconds; signals reach the main thread alone."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() != threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TimeIsUp

    before = signal.signal(signal.SIGALRM, stop)
    # Again each second: an exception in a destructor is printed and lost.
    signal.setitimer(signal.ITIMER_REAL, min(seconds, threading.TIMEOUT_MAX), 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
