"""Settings of Python's interpreter while the compiler works."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

DEEPEST = 20000
"""The limit of nested calls: an expression of a thousand terms is a tree of that depth."""


class _Settings:
    """The settings that are changed, which belong to all threads of a process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.collects = True
        self.depth = DEEPEST

    def enter(self) -> None:
        with self.lock:
            if not self.users:
                self.collects, self.depth = gc.isenabled(), sys.getrecursionlimit()
                gc.disable()
                sys.setrecursionlimit(max(self.depth, DEEPEST))
            self.users += 1

    def leave(self) -> None:
        with self.lock:
            self.users -= 1
            if not self.users:
                sys.setrecursionlimit(self.depth)
                if self.collects:
                    gc.enable()


_SETTINGS = _Settings()


@contextmanager
def compiling() -> Generator[None]:
    """Lets calls nest deeply and keeps the garbage collector from running.

    IR is full of cycles (operations know their blocks, and blocks their operations), so that the
    collector walks over all of a module again and again and frees nothing, in a fifth of the time
    that compiling takes. It collects what a compilation leaves behind after it.

    The settings are restored when the last of nested or concurrent uses ends.
    """
    _SETTINGS.enter()
    try:
        yield
    finally:
        _SETTINGS.leave()
