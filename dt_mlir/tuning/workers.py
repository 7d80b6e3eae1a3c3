"""The processes of a search: several compile candidates, and one runs them.

What takes too long or ends its process costs only itself. A context of a GPU in which a kernel
failed is of no use to the next, so that the process that measures is then started anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeoutError
from concurrent.futures import as_completed
from types import TracebackType
from typing import Any, Self, TypeVar

from pebble import ProcessExpired, ProcessPool

from dt_mlir.diagnostics import CompileError
from dt_mlir.tuning.compilation import Built, build
from dt_mlir.tuning.measuring import Measured, prepare_process, warm
from dt_mlir.tuning.processes import FreshContext

PREPARATION = 600.0
"""The seconds after which making up inputs and what is expected of them is ended."""

Prepared = tuple[str, Mapping[str, int], str]
"""The key of made-up inputs: the algorithm, its sizes and the method."""


class _Pool(ProcessPool):
    """Processes of one kind."""

    def __init__(self, workers: int, load: list[str]) -> None:
        self.processes = FreshContext()
        context: Any = self.processes
        super().__init__(
            max_workers=workers, context=context, initializer=prepare_process, initargs=[load]
        )

    def end(self) -> None:
        """Ends all of them, those too that the pool starts while it is being stopped."""
        self.stop()
        self.processes.end()
        self.join()
        self.processes.end()


class Workers:
    """Processes that searches share, one search after another.

    Args:
        jobs: how many compile at once.
        load: Python files with directives that programs use.
        timeout: the seconds after which compiling or running one candidate is ended.
    """

    def __init__(self, jobs: int = 1, load: Sequence[str] = (), timeout: float = 120.0) -> None:
        self.jobs, self.load, self.timeout = jobs, list(load), timeout
        self._compilers: _Pool | None = None
        self._runner: _Pool | None = None
        self._ready: Prepared | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.stop()

    def stop(self) -> None:
        """Ends all processes, whatever they do."""
        if self._compilers is not None:
            self._compilers.end()
            self._compilers = None
        self._stop_runner()

    def _stop_runner(self) -> None:
        if self._runner is not None:
            self._runner.end()
            self._runner = None
        self._ready = None

    def build(
        self, texts: Sequence[str], sizes: Mapping[str, int], on_gpu: bool
    ) -> Iterator[tuple[str, Built]]:
        """Compiles candidates; yields each with what came of it, as they become ready.

        Args:
            texts: the programs with their schedules.
            sizes: a size for each label.
            on_gpu: see `compilation.build`.
        """
        if not texts:
            return
        if self._compilers is None:
            self._compilers = _Pool(self.jobs, self.load)
        futures: dict[Any, str] = {
            self._compilers.schedule(
                build, args=[text, "-", sizes, on_gpu], timeout=self.timeout
            ): text
            for text in texts
        }
        try:
            for future in as_completed(futures):
                yield futures[future], _result(future, Built)
        except BaseException:
            self.stop()
            raise

    def run(
        self, wanted: Prepared, function: Callable[..., Measured], *args: object
    ) -> Measured:
        """Runs something in the process that measures.

        Args:
            wanted: what its inputs are made up for.
            function: what runs.
            args: its arguments.

        Raises:
            CompileError: if inputs cannot be made up, or a result not be checked.
        """
        if self._runner is None:
            self._runner = _Pool(1, self.load)
        if self._ready != wanted:
            # Imports, inputs and the reference are no candidate's time.
            ready = _result(
                self._runner.schedule(warm, args=list(wanted), timeout=PREPARATION), Measured
            )
            if ready.status != "ok":
                self._stop_runner()
                raise CompileError(f"the program's inputs cannot be prepared: {ready.message}")
            self._ready = wanted
        future = self._runner.schedule(function, args=list(args), timeout=self.timeout)
        found = _result(future, Measured)
        if found.status in ("failed", "late"):
            self._stop_runner()
        return found


_Result = TypeVar("_Result", Built, Measured)


def _result(future: Any, kind: type[_Result]) -> _Result:
    """Returns the result of a process' task, or the failure of the process."""
    try:
        return future.result()
    except FutureTimeoutError:
        return kind("late", "it took too long")
    except ProcessExpired as error:
        return kind("failed", f"its process ended with status {error.exitcode}")
    except Exception as error:
        # What a process raises comes here as it is.
        return kind("failed", f"{type(error).__name__}: {error}")
