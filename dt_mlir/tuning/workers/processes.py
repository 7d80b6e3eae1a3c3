"""Processes that start without the main module of the program that starts them.

Python's spawned processes import it, so that a script which starts some at its top level would
start itself over and over. What searches run in processes is this package's alone.
"""

from __future__ import annotations

import threading
from multiprocessing import spawn
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

_LOCK = threading.Lock()


class _Process(SpawnProcess):
    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 - Python's name
        prepared = spawn.get_preparation_data

        def without_main(name: str) -> dict[str, object]:
            found = prepared(name)
            found.pop("init_main_from_name", None)
            found.pop("init_main_from_path", None)
            return found

        with _LOCK:
            spawn.get_preparation_data = without_main
            try:
                return SpawnProcess._Popen(process_obj)  # pyright: ignore
            finally:
                spawn.get_preparation_data = prepared


class FreshContext(SpawnContext):
    """A context as of `multiprocessing.get_context("spawn")` that leaves the main module out.

    It knows the processes that it has started, so that none outlives a search.
    """

    def __init__(self) -> None:
        super().__init__()
        self.started: list[SpawnProcess] = []

    def Process(  # noqa: N802  # pyright: ignore
        self, *arguments: Any, **options: Any
    ) -> Any:
        """A process that is not started yet."""
        process = _Process(*arguments, **options)
        self.started.append(process)
        return process

    def end(self) -> None:
        """Kill what still runs."""
        for process in self.started:
            if process.pid is not None and process.is_alive():
                process.kill()
