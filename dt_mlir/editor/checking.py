"""Runs what takes long in a process of its own, for the text as it was last changed.

A text that is changed meanwhile ends what is running for it, and its results are dropped.
"""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from pebble import ProcessPool

from dt_mlir.editor.deep_check import Costs, compile_deeply, predict, prepare
from dt_mlir.editor.problems import Problem
from dt_mlir.editor.settings import Settings

T = TypeVar("T")

COMPILING = 60.0
"""The seconds after which compiling a program is given up."""
PREDICTING = 30.0
"""The seconds after which predicting its costs is given up."""


class DeepChecks:
    """The process that compiles programs to their ends.

    Args:
        settings: what the client configures.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._running: dict[str, Future[Any]] = {}
        self._pool = ProcessPool(
            max_workers=1, context=multiprocessing.get_context("spawn"), initializer=prepare,
            initargs=[list(settings.load)],
        )  # fmt: skip

    def compile(self, uri: str, text: str, done: Callable[[list[Problem]], None]) -> None:
        """Compiles a program.

        Args:
            uri: the name of the program; what runs for it already ends.
            text: the program.
            done: called with the mistakes and warnings, in the loop that runs now.
        """
        self._start(uri, done, COMPILING, compile_deeply, text, uri)

    def predict(self, uri: str, text: str, done: Callable[[Costs | None], None]) -> None:
        """Predicts the costs of a program; arguments as for `compile`."""
        settings = self.settings
        sizes = dict(settings.sizes)
        self._start(uri, done, PREDICTING, predict, text, uri, sizes, settings.device)

    def _start(
        self, uri: str, done: Callable[[T], None], seconds: float,
        function: Callable[..., T], *arguments: object,
    ) -> None:
        self.cancel(uri)
        loop = asyncio.get_running_loop()
        future = self._pool.schedule(function, args=list(arguments), timeout=seconds)
        self._running[uri] = future

        def finished(future: Future[T]) -> None:
            if future.cancelled() or future.exception() is not None:
                return
            result = future.result()
            if not loop.is_closed():
                loop.call_soon_threadsafe(lambda: self._deliver(uri, future, done, result))

        future.add_done_callback(finished)

    def _deliver(
        self, uri: str, future: Future[T], done: Callable[[T], None], result: T
    ) -> None:
        if self._running.get(uri) is future:
            del self._running[uri]
            done(result)

    def cancel(self, uri: str) -> None:
        """Ends what runs for a program."""
        future = self._running.pop(uri, None)
        if future is not None:
            future.cancel()

    def close(self) -> None:
        """Ends the process."""
        self._pool.stop()
        self._pool.join()
