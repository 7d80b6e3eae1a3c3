"""Processes of this machine: several compile candidates, and one on each GPU runs them.

A context of a GPU in which a kernel failed is of no use to the next, so that the process that
measures is then started anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from types import TracebackType
from typing import Any, Self, TypeVar

from pebble import ProcessExpired, ProcessPool

from dt_mlir.diagnostics import CompileError
from dt_mlir.tuning.compilation import Built, build, inspect
from dt_mlir.tuning.cuda_driver import count_of_gpus, described
from dt_mlir.tuning.gpu import Files, Gpu, present_gpu
from dt_mlir.tuning.measuring import Measured, cuda_of_torch, prepare_process, versions, warm
from dt_mlir.tuning.workers.processes import (
    COMPILING,
    MEASURING,
    FreshContext,
    PreparedContext,
    Started,
    begin_imports,
)
from dt_mlir.tuning.workers.workers import PREPARATION, Wanted


class Pool(ProcessPool):
    """Processes of one kind.

    Args:
        workers: how many there are.
        load: Python files with directives that programs use.
        processes: what starts them.
        gpu: the only GPU that they see; None for all.
    """

    def __init__(
        self, workers: int, load: Sequence[str], processes: Started, gpu: str | None = None
    ) -> None:
        self.processes = processes
        context: Any = processes
        super().__init__(
            max_workers=workers, context=context, initializer=prepare_process,
            initargs=[[*load], gpu],
        )  # fmt: skip

    def end(self) -> None:
        """Ends all of them, those too that the pool starts while it is being stopped."""
        self.stop()
        self.processes.end()
        self.join()
        self.processes.end()


class _Measurer:
    """A process that measures, started when it is needed."""

    def __init__(self, load: list[str], gpu: str | None, timeout: float) -> None:
        self.load, self.gpu, self.timeout = load, gpu, timeout
        self._pool: Pool | None = None
        self._ready: Wanted | None = None
        self._preparing: Future[Any] | None = None

    def start(
        self, wanted: Wanted, function: Callable[..., Measured], *args: object
    ) -> Future[Any]:
        """See `Workers.start`."""
        return self.prepared(wanted).schedule(function, args=list(args), timeout=self.timeout)

    def describe(self) -> Gpu:
        """Lets the process describe its GPU."""
        return self._started(on_gpu=True).schedule(present_gpu, timeout=PREPARATION).result()

    def prepared(self, wanted: Wanted) -> Pool:
        """Lets the process make up inputs, and returns it; see `Workers.prepare`."""
        pool = self._started(on_gpu=wanted[2] != "interpreter")
        if self._ready != wanted:
            # Imports, inputs and the reference are no candidate's time.
            self._preparing = pool.schedule(warm, args=list(wanted), timeout=PREPARATION)
            self._ready = wanted
        return pool

    def _started(self, on_gpu: bool) -> Pool:
        """Returns the process, which is started if there is none."""
        if self._pool is None:
            # Triton's interpreter has to be chosen before Triton is imported.
            context = PreparedContext(MEASURING) if on_gpu else FreshContext()
            self._pool = Pool(1, self.load, context, self.gpu)
        return self._pool

    def measured(self, future: Future[Any]) -> Measured:
        """See `Workers.measured`."""
        if self._preparing is not None:
            ready = _result(self._preparing, Measured)
            self._preparing = None
            if ready.status != "ok":
                self.stop()
                raise CompileError(f"the program's inputs cannot be prepared: {ready.message}")
        found = _result(future, Measured)
        if found.status in ("failed", "late"):
            self.stop()
        return found

    def stop(self) -> None:
        """Ends the process."""
        if self._pool is not None:
            self._pool.end()
            self._pool = None
        self._ready = None


class LocalWorkers:
    """Processes that searches share, one search after another; see `Workers`.

    Args:
        jobs: how many compile at once.
        load: Python files with directives that programs use.
        timeout: the seconds after which compiling or running one candidate is ended.
        gpus: the GPUs that measure, by the driver's names; none for the one that is present, or
            Triton's interpreter.
    """

    def __init__(
        self, jobs: int = 1, load: Sequence[str] = (), timeout: float = 120.0,
        gpus: Sequence[str] = (),
    ) -> None:
        self.jobs, self.load, self.timeout = jobs, list(load), timeout
        places: list[str | None] = [*gpus] or [None]
        self._measurers = [_Measurer(self.load, gpu, timeout) for gpu in places]
        self._first = places[0]
        self._compilers: Pool | None = None
        self._gpu: Gpu | None = None

    def places(self) -> list[int]:
        """See `Workers`."""
        return list(range(len(self._measurers)))

    def device_name(self) -> str:
        """See `Workers`."""
        return self._described().name

    def versions(self) -> str:
        """See `Workers`."""
        return versions(self.load)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.stop()

    def stop(self) -> None:
        """See `Workers`."""
        if self._compilers is not None:
            self._compilers.end()
            self._compilers = None
        for measurer in self._measurers:
            measurer.stop()

    def begin(self, on_gpu: bool) -> None:
        """See `Workers`."""
        if on_gpu:
            begin_imports()

    def _described(self) -> Gpu:
        """The first GPU, for which kernels are compiled."""
        if self._gpu is None:
            names = visible()
            if cuda_of_torch() is not None:
                self._gpu = described(0 if self._first is None else names.index(self._first))
        if self._gpu is None:
            # It is none of NVIDIA's.
            self._gpu = self._measurers[0].describe()
        return self._gpu

    def build(self, text: str, sizes: Mapping[str, int], on_gpu: bool) -> Future[Any]:
        """See `Workers`."""
        arguments = [text, "-", sizes, self._described() if on_gpu else None]
        return self._compiling(on_gpu).schedule(build, args=arguments, timeout=self.timeout)

    def inspect(self, code: Sequence[bytes]) -> Future[Any]:
        """See `Workers`."""
        return self._compiling(True).schedule(inspect, args=[code], timeout=self.timeout)

    def _compiling(self, on_gpu: bool) -> Pool:
        """Returns the processes that compile, which are started if there are none."""
        if self._compilers is None:
            context = PreparedContext(COMPILING) if on_gpu else FreshContext()
            self._compilers = Pool(self.jobs, self.load, context)
        return self._compilers

    def built(self, future: Future[Any]) -> Built:
        """See `Workers`."""
        return _result(future, Built)

    def prepare(self, place: int, wanted: Wanted) -> None:
        """See `Workers`."""
        self._measurers[place].prepared(wanted)

    def start(
        self, place: int, wanted: Wanted, function: Callable[..., Measured], *args: object,
        cache: Files | None = None,
    ) -> Future[Any]:
        """See `Workers`: compilers share their cache with what measures."""
        return self._measurers[place].start(wanted, function, *args)

    def measured(self, place: int, future: Future[Any]) -> Measured:
        """See `Workers`."""
        return self._measurers[place].measured(future)


def visible() -> list[str]:
    """Returns all visible GPUs by the driver's names."""
    # What measures goes through PyTorch, which may be for the CPU alone, or for others' GPUs.
    count = count_of_gpus() if cuda_of_torch() is not None else 0
    if not count:
        import torch

        count = torch.cuda.device_count()
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    return [str(place) for place in range(count)] if named is None else named.split(",")[:count]


def visible_gpus(wanted: str) -> list[str]:
    """Returns GPUs by the driver's names.

    Args:
        wanted: "all", or numbers of visible ones, as in "0,1".

    Raises:
        CompileError: if there is none of a number.
    """
    names = visible()
    if wanted == "all":
        return names
    found: list[str] = []
    for part in wanted.split(","):
        if not part.isdecimal() or int(part) >= len(names):
            raise CompileError(
                f"there is no GPU '{part}'", None,
                f"there are {len(names)}, which are numbered from 0" if names else "there is none",
            )  # fmt: skip
        found.append(names[int(part)])
    return list(dict.fromkeys(found))


_Result = TypeVar("_Result", Built, Measured)


def _result(future: Future[Any], kind: type[_Result]) -> _Result:
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
