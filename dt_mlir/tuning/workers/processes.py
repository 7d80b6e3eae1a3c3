"""Processes that start without the main module of the program that starts them.

Python's started processes import it, so that a script which starts some at its top level would
start itself over and over. What searches run in processes is this package's alone.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
from contextlib import suppress
from multiprocessing import forkserver, spawn
from multiprocessing.context import (
    BaseContext,
    ForkServerContext,
    ForkServerProcess,
    SpawnContext,
    SpawnProcess,
)
from typing import Any

COMPILING, MEASURING, CERTIFYING = "ready_to_compile", "ready_to_measure", "ready_to_certify"
"""The modules of this package that the fork servers import; workers are copies of the servers."""
_SERVERS = {name: forkserver.ForkServer() for name in (COMPILING, MEASURING, CERTIFYING)}
"""These processes."""
_OWNER = os.getpid()
"""The process that starts them; one that is forked off it has them by name alone."""
_LOCK = threading.Lock()
"""Held while Python's functions are replaced."""


def _start(start: Any, process: Any, server: forkserver.ForkServer | None = None) -> Any:
    """Starts a process that does not import the main module.

    Args:
        start: what starts it.
        process: what is to be started.
        server: the process that it is a copy of; None for Python's.
    """
    with _LOCK:
        prepared, connect = spawn.get_preparation_data, forkserver.connect_to_new_process

        def without_main(name: str) -> dict[str, object]:
            found = prepared(name)
            found.pop("init_main_from_name", None)
            found.pop("init_main_from_path", None)
            return found

        spawn.get_preparation_data = without_main
        if server is not None:
            forkserver.connect_to_new_process = server.connect_to_new_process
        try:
            return start(process)
        finally:
            spawn.get_preparation_data = prepared
            forkserver.connect_to_new_process = connect


class _Spawned(SpawnProcess):
    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 - Python's name
        return _start(SpawnProcess._Popen, process_obj)  # pyright: ignore


class _Forked(ForkServerProcess):
    server = ""
    """The name of the process that it is a copy of."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 - Python's name
        popen = ForkServerProcess._Popen  # pyright: ignore
        return _start(popen, process_obj, _SERVERS[process_obj.server])


class Started(BaseContext):
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


class FreshContext(Started, SpawnContext):  # pyright: ignore[reportIncompatibleVariableOverride]
    """A context as of `multiprocessing.get_context("spawn")`."""

    kind = _Spawned


class PreparedContext(Started, ForkServerContext):  # pyright: ignore[reportIncompatibleVariableOverride]
    """A context whose processes are copies of one that has imported what they need.

    Args:
        server: `COMPILING`, `MEASURING` or `CERTIFYING`.
    """

    kind = _Forked

    def __init__(self, server: str) -> None:
        super().__init__()
        self._server = server
        _begin(server)

    def Process(  # noqa: N802  # pyright: ignore
        self, *arguments: Any, **options: Any
    ) -> Any:
        """See `Started`."""
        process = super().Process(*arguments, **options)
        process.server = self._server
        return process


def begin_imports() -> None:
    """Starts the processes that others are copies of; they import while the caller goes on.

    What certifies waits until there is a program: until then it would only be in the way.
    """
    for name in (COMPILING, MEASURING):
        _begin(name)


@atexit.register
def _end_imports() -> None:
    """Ends these processes: one that still imports would keep its caller's pipes open."""
    if os.getpid() != _OWNER:
        return
    for server in _SERVERS.values():
        pid: int | None = getattr(server, "_forkserver_pid", None)
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _begin(name: str) -> None:
    _SERVERS[name].set_forkserver_preload([f"{__package__}.{name}"])
    # Whoever interrupts a search means the process that started it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        _SERVERS[name].ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
