"""Workers of a Ray cluster: tasks compile on any machine, and an actor on each GPU measures.

What takes too long is ended by a signal that ends its process, for compilers and drivers do not
listen to Python. A worker that is lost loses its candidate; an actor is then started anew.
"""

from __future__ import annotations

import logging
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import ray
from ray.exceptions import RayError, RayTaskError

from dt_mlir.diagnostics import CompileError
from dt_mlir.tuning.compilation import Built, build, inspect
from dt_mlir.tuning.gpu import Files, Gpu, packed, present_gpu, unpack
from dt_mlir.tuning.measuring import Measured, prepare_process, versions, warm
from dt_mlir.tuning.workers.workers import PREPARATION, Wanted

CONNECTION = 10.0
"""The seconds after which an address that does not answer is given up."""
START = "start one with 'ray start --head'"
"""The help where there is no cluster."""


class RayWorkers:
    """Workers of a Ray cluster; see `Workers`.

    Args:
        address: the cluster's address, or "local" for one that is started here, and ended.
        jobs: how many candidates are compiled at once.
        load: Python files with directives that programs use; each machine has them.
        timeout: the seconds after which compiling or running one candidate is ended.
        cpu: whether Triton's interpreter is timed, by a single actor.

    Raises:
        CompileError: if there is no such cluster, or it has no GPU.
    """

    def __init__(
        self, address: str, jobs: int, load: Sequence[str] = (), timeout: float = 120.0,
        cpu: bool = False,
    ) -> None:
        self.jobs, self.load, self.timeout, self.cpu = jobs, tuple(load), timeout, cpu
        here = address == "local"
        _check_answers(address)
        options: Any = {"num_cpus": jobs + 1} if here else {}
        # Ray's handler would end a search that is terminated before it says what it found.
        terminated = signal.getsignal(signal.SIGTERM)
        try:
            ray.init(
                address=address, log_to_driver=False, logging_level=logging.ERROR,
                include_dashboard=False if here else None, **options,
            )  # fmt: skip
        except (RayError, ConnectionError, RuntimeError, ValueError) as error:
            text = str(error).strip().splitlines()
            raise CompileError(
                f"--ray: there is no cluster at {address}: {text[0] if text else ''}", None, START
            ) from None
        finally:
            is_main = threading.current_thread() is threading.main_thread()
            if is_main and terminated is not None:
                signal.signal(signal.SIGTERM, terminated)
        count = 1 if cpu else int(ray.cluster_resources().get("GPU", 0))
        if not count:
            ray.shutdown()
            raise CompileError("--ray: the cluster has no GPU")
        self._actors: list[Any] = [None] * count
        self._lost: set[int] = set()
        """The actors whose machines have left the cluster."""
        self._gpu: Gpu | None = None
        self._began: dict[Future[Any], float] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.stop()

    def begin(self, on_gpu: bool) -> None:
        """See `Workers`: actors start, each on its GPU."""
        for place in self.places():
            self._actor(place)

    def places(self) -> list[int]:
        """See `Workers`."""
        return [place for place in range(len(self._actors)) if place not in self._lost]

    def device_name(self) -> str:
        """See `Workers`."""
        return self._described().name

    def versions(self) -> str:
        """See `Workers`."""
        return ray.get(self._actor(self.places()[0]).versions.remote())

    def build(self, text: str, sizes: Mapping[str, int], on_gpu: bool) -> Future[Any]:
        """See `Workers`."""
        gpu = self._described() if on_gpu else None
        return self._future(_build.remote(text, dict(sizes), gpu, self.load, self.timeout))

    def inspect(self, code: Sequence[bytes]) -> Future[Any]:
        """See `Workers`."""
        return self._future(_inspect.remote(code, self.load, self.timeout))

    def built(self, future: Future[Any]) -> Built:
        """See `Workers`."""
        found = self._outcome(future)
        return found if isinstance(found, Built) else Built(*found)

    def prepare(self, place: int, wanted: Wanted) -> None:
        """See `Workers`."""
        self._actor(place).prepare.remote(_key(wanted))

    def start(
        self, place: int, wanted: Wanted, function: Callable[..., Measured], *args: object,
        cache: Files | None = None,
    ) -> Future[Any]:
        """See `Workers`."""
        actor = self._actor(place)
        return self._future(
            actor.run.remote(_key(wanted), function, list(args), cache or {}, self.timeout)
        )

    def measured(self, place: int, future: Future[Any]) -> Measured:
        """See `Workers`."""
        found = self._outcome(future)
        if isinstance(found, str):
            raise CompileError(f"the program's inputs cannot be prepared: {found}")
        result = found if isinstance(found, Measured) else Measured(*found)
        if result.status in ("failed", "late"):
            # Its GPU may be in a state that is of no use to the next.
            ray.kill(self._actors[place])
            self._actors[place] = None
            if not self.cpu and ray.cluster_resources().get("GPU", 0) < len(self.places()):
                self._lost.add(place)
        return result

    def stop(self) -> None:
        """See `Workers`; a cluster that was started here ends too."""
        ray.shutdown()

    def _described(self) -> Gpu:
        if self._gpu is None:
            self._gpu = ray.get(self._actor(self.places()[0]).gpu.remote())
        assert self._gpu is not None
        return self._gpu

    def _actor(self, place: int) -> Any:
        if self._actors[place] is None:
            options: Any = {"num_cpus": 1} if self.cpu else {"num_cpus": 0, "num_gpus": 1}
            self._actors[place] = _Measurer.options(**options).remote(self.load)
        return self._actors[place]

    def _future(self, reference: Any) -> Future[Any]:
        future: Future[Any] = reference.future()
        self._began[future] = time.monotonic()
        return future

    def _outcome(self, future: Future[Any]) -> Any:
        """Returns what a task returned, or the status and the message of its failure."""
        began = self._began.pop(future)
        try:
            return future.result()
        except RayTaskError as error:
            return "failed", f"{type(error.cause).__name__}: {error.cause}"
        except RayError as error:
            if time.monotonic() - began >= self.timeout:
                return "late", "it took too long"
            cause = str(error).strip().splitlines()
            return "failed", f"its worker was lost: {cause[0] if cause else type(error).__name__}"


def _check_answers(address: str) -> None:
    """Refuses an address at which nothing answers: Ray would try for a minute.

    Raises:
        CompileError: if nothing does.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), timeout=CONNECTION).close()
    except OSError as error:
        raise CompileError(
            f"--ray: there is no cluster at {address}: {error.strerror or error}", None, START
        ) from None


_Key = tuple[str, tuple[tuple[str, int], ...], str]
"""`Wanted` that can be compared after it was sent."""


def _key(wanted: Wanted) -> _Key:
    return wanted[0], tuple(wanted[1].items()), wanted[2]


@cache
def _prepare(load: tuple[str, ...]) -> None:
    prepare_process(list(load))
    # The default action ends the process, whatever it is doing.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


@contextmanager
def _ended_after(seconds: float) -> Generator[None]:
    """Ends this process where something takes longer."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _compile(
    text: str, sizes: Mapping[str, int], gpu: Gpu | None, load: tuple[str, ...], timeout: float
) -> Built:
    """Compiles a candidate; the files of Triton's cache go with the result."""
    _prepare(load)
    with _ended_after(timeout):
        if gpu is None:
            return build(text, "-", sizes, None)
        from triton import knobs

        with tempfile.TemporaryDirectory() as folder, knobs.cache.scope():
            knobs.cache.dir = folder
            return replace(build(text, "-", sizes, gpu), cache=packed(Path(folder)))


def _look_for_faults(code: Sequence[bytes], load: tuple[str, ...], timeout: float) -> Built:
    """Inspects machine code."""
    _prepare(load)
    with _ended_after(timeout):
        return inspect(code)


_build: Any = ray.remote(num_cpus=1, max_retries=0)(_compile)
_inspect: Any = ray.remote(num_cpus=1, max_retries=0)(_look_for_faults)


@ray.remote(max_restarts=0, max_task_retries=0)
class _Measurer:
    """Measures on a GPU of its own."""

    def __init__(self, load: tuple[str, ...]) -> None:
        _prepare(load)
        self.load = load
        self.ready: object = None

    def gpu(self) -> Gpu:
        return present_gpu()

    def versions(self) -> str:
        return versions(self.load)

    def prepare(self, wanted: _Key) -> str | None:
        """Makes up inputs; returns what is wrong with them if they cannot be made up."""
        if self.ready != wanted:
            try:
                with _ended_after(PREPARATION):
                    found = warm(wanted[0], dict(wanted[1]), wanted[2])
            except Exception as error:
                # Tensors that do not fit are PyTorch's error.
                return f"{type(error).__name__}: {error}"
            if found.status != "ok":
                return found.message
            self.ready = wanted
        return None

    def run(
        self, wanted: _Key,
        function: Callable[..., Measured], args: list[Any], cache: Files, timeout: float,
    ) -> Measured | str:
        """Runs something; returns what is wrong with the inputs if they cannot be made up."""
        unpack(cache)
        problem = self.prepare(wanted)
        if problem is not None:
            return problem
        with _ended_after(timeout):
            return function(*args)
