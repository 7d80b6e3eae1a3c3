"""Runs functions in a process in which Triton's interpreter is off."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from typing import Any


@cache
def _process(module: str) -> ProcessPoolExecutor:
    """Returns the process for a module's functions.

    It is started once: to import Triton takes longer than to compile a kernel. Modules do not share
    it, as some choose Triton's interpreter when they are imported.
    """
    interpret = os.environ.pop("TRITON_INTERPRET", None)
    try:
        pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
        pool.submit(os.getpid).result()
    finally:
        if interpret is not None:
            os.environ["TRITON_INTERPRET"] = interpret
    return pool


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Returns what a function returns in a process of its own.

    Triton's interpreter, where it is on, is on for good, and nothing is compiled then.
    """
    try:
        return _process(function.__module__).submit(function, *arguments).result()
    except BrokenProcessPool:
        # The next function gets another one.
        _process.cache_clear()
        raise
