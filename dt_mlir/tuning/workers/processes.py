"""Processes that start without the main module of the program that starts them.

Python's started processes import it, so that a script which starts some at its top level would
start itself over and over. What searches run in processes is this package's alone.
"""

from __future__ import annotations

import threading
from multiprocessing import forkserver, spawn
from multiprocessing.context import (
    BaseContext,
    ForkServerContext,
    ForkServerProcess,
    SpawnContext,
    SpawnProcess,
)
from typing import Any

IMPORTED = ("torch", "triton", "dt_mlir.tuning.compilation", "dt_mlir.tuning.measuring")
"""The modules that take long to import, of what compiles for a GPU and measures on one; none of
them starts threads or asks for a GPU."""
_LOCK = threading.Lock()


def _without_main(start: Any, process: Any) -> Any:
    """Starts a process that does not import the main module."""
    prepared = spawn.get_preparation_data

    def without_main(name: str) -> dict[str, object]:
        found = prepared(name)
        found.pop("init_main_from_name", None)
        found.pop("init_main_from_path", None)
        return found

    with _LOCK:
        spawn.get_preparation_data = without_main
        try:
            return start(process)
        finally:
            spawn.get_preparation_data = prepared


class _Spawned(SpawnProcess):
    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 - Python's name
        return _without_main(SpawnProcess._Popen, process_obj)  # pyright: ignore


class _Forked(ForkServerProcess):
    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 - Python's name
        return _without_main(ForkServerProcess._Popen, process_obj)  # pyright: ignore


class _Started(BaseContext):
    """A context that knows the processes that it has started, so that none outlives a search."""

    kind: Any

    def __init__(self) -> None:
        super().__init__()
        self.started: list[Any] = []

    def Process(  # noqa: N802  # pyright: ignore
        self, *arguments: Any, **options: Any
    ) -> Any:
        """A process that is not started yet."""
        process = self.kind(*arguments, **options)
        self.started.append(process)
        return process

    def end(self) -> None:
        """Kill what still runs."""
        for process in self.started:
            if process.pid is not None and process.is_alive():
                process.kill()


class FreshContext(_Started, SpawnContext):  # pyright: ignore[reportIncompatibleVariableOverride]
    """A context as of `multiprocessing.get_context("spawn")`."""

    kind = _Spawned


class PreparedContext(_Started, ForkServerContext):  # pyright: ignore[reportIncompatibleVariableOverride]
    """A context whose processes are copies of one that has imported what they need."""

    kind = _Forked

    def __init__(self) -> None:
        super().__init__()
        begin_imports()


def begin_imports() -> None:
    """Starts the process that others are copies of; it imports while the caller goes on."""
    forkserver.set_forkserver_preload([*IMPORTED])
    forkserver.ensure_running()
