"""How the interpreter is set while the compiler works."""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager

DEEPEST = 20000
"""How deep calls nest: an expression of a thousand terms is a tree of that depth."""


@contextmanager
def compiling() -> Generator[None]:
    """Lets calls nest deeply and keeps the garbage collector from running.

    IR is full of cycles (operations know their blocks, and blocks their operations), so that the
    collector walks over all of a module again and again and frees nothing, in a fifth of the time
    that compiling takes. It collects what a compilation leaves behind after it.

    Both settings belong to all threads of a process. Where two threads compile, the first that is
    done sets them back.
    """
    collects, depth = gc.isenabled(), sys.getrecursionlimit()
    gc.disable()
    sys.setrecursionlimit(max(depth, DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(depth)
        if collects:
            gc.enable()
