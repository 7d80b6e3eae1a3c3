"""Runs a function in a process in which Triton's interpreter is off."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Returns what a function returns in a process of its own.

    Triton's interpreter, where it is on, is on for good, and nothing is compiled then.
    """
    interpret = os.environ.pop("TRITON_INTERPRET", None)
    try:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            return pool.submit(function, *arguments).result()
    finally:
        if interpret is not None:
            os.environ["TRITON_INTERPRET"] = interpret
