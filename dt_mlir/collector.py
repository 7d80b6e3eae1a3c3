"""Python's garbage collector while the compiler works.

IR is full of cycles (operations know their blocks, and blocks their operations), so that the
collector walks over all of a module again and again and frees nothing: a fifth of the time that
compiling takes. What a compilation leaves behind is collected after it.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Generator[None]:
    """Keeps the collector from running; usable as a decorator too.

    The collector is one for all threads of a process. Where two threads pause it, it runs again
    as soon as the first is done, which costs time and nothing else.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
