"""Runs, checks and times candidates, all in one process that may be ended at any time.

Kernels are timed as replays of a CUDA graph: 10 ms of warm-up, then 50 ms, of which the mean is
one measurement. Each call of a graph takes another set of tensors, and all of them together are
more than twice as large as the L2 cache: what a program is given it seldom finds there.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import runpy
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from dt_mlir.compiling import DEEPEST
from dt_mlir.diagnostics import CompileError
from dt_mlir.frontend.emit import compile_text
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.loading import load_file
from dt_mlir.runtime.cache import compiler_digest
from dt_mlir.runtime.execute import loaded, prepare_on_cpu, size_options, wrapper_name
from dt_mlir.tuning.inputs import Prepared, prepare
from dt_mlir.tuning.replays import Replays, Run, sets_of

METHODS = ("cold", "hot", "events", "interpreter")
"""The methods of timing: replays of a CUDA graph that goes through sets of tensors which no cache
holds; replays on the same tensors; events around launches, the L2 cache cleared before each; or, on
Triton's interpreter, by the clock."""
WARMUP_MS = 10
REPETITION_MS = 50
LOOK_MS = 20
"""The time of a candidate that was never timed, which decides whether it is timed again."""
MOST_LOADED = 32
"""The most emitted modules that stay loaded, for those that are timed again."""
_LOADED: dict[str, Callable[..., Any]] = {}
"""The functions of emitted modules that have run, by text, the last one that ran at the end."""
_OTHERS = (
    "autoscheduling", "certificates", "costs", "drawing", "editor", "explorer", "interpreters",
    "kernels", "language", "reducer", "tools", "tuning", "verification",
)  # fmt: skip
"""The settings that no kernel's code depends on."""


@dataclass(frozen=True)
class Measured:
    """The outcome of running a candidate."""

    status: str
    """`ok`, `failed`, or `wrong`."""
    message: str = ""
    milliseconds: float | None = None


def device_name() -> str:
    """Returns the name of the device in the database."""
    import torch

    if torch.cuda.is_available():
        return torch.cuda.get_device_name(torch.cuda.current_device())
    return "cpu"


def versions(load: Sequence[str] = ()) -> str:
    """The versions that a measurement depends on; of this compiler what its text is.

    Args:
        load: Python files with directives that programs use.
    """
    from importlib.metadata import version

    found = [f"{name} {version(name)}" for name in ("triton", "torch")]
    return ", ".join([f"dt-mlir {_compiler(tuple(load))}", *found, f"cuda {cuda_of_torch()}"])


@lru_cache
def cuda_of_torch() -> str | None:
    """Returns the version of CUDA that PyTorch was built for, None if for none.

    It is read from a file, as importing PyTorch takes seconds.
    """
    spec = importlib.util.find_spec("torch")
    assert spec is not None, "its version is known"
    assert spec.origin is not None
    return runpy.run_path(str(Path(spec.origin).with_name("version.py"))).get("cuda")


@lru_cache
def _compiler(load: tuple[str, ...]) -> str:
    """A digest of what makes kernels of programs: another compiler may make other ones."""
    digest = hashlib.sha256(compiler_digest(_OTHERS).encode())
    for name in load:
        digest.update(Path(name).read_bytes())
    return digest.hexdigest()[:12]


@lru_cache(maxsize=1)
def prepared(algorithm: str, sizes: tuple[tuple[str, int], ...], method: str) -> Prepared:
    """The inputs of a program, made once in a process.

    Args:
        algorithm: the program without its schedule.
        sizes: a size for each label.
        method: one of `METHODS`.
    """
    if method == "interpreter":
        prepare_on_cpu()
    module, _ = compile_text(algorithm, "-")
    return prepare(module, dict(sizes), "cpu" if method == "interpreter" else "cuda")


@lru_cache(maxsize=1)
def rotation(algorithm: str, sizes: tuple[tuple[str, int], ...]) -> list[tuple[Any, ...]]:
    """Returns sets of a program's inputs that no cache holds, made once in a process.

    Args:
        algorithm: the program without its schedule.
        sizes: a size for each label.
    """
    return sets_of(prepared(algorithm, sizes, "cold"))


def prepare_process(load: list[str], gpu: str | None = None) -> None:
    """Makes a process ready to compile and to measure.

    Args:
        load: Python files with directives that programs use.
        gpu: the only GPU that it sees, by the driver's name; None for all.
    """
    if gpu is not None:
        # The driver reads it when PyTorch first asks for a GPU.
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    sys.setrecursionlimit(DEEPEST)
    _share_no_bars()
    for path in load:
        load_file(path)


def _share_no_bars() -> None:
    """Gives progress bars a lock of this process alone.

    PyTorch's compiler shows bars. Their usual lock is a semaphore of the system, which stays behind
    where a process is ended, as those that measure are.
    """
    try:
        from tqdm import tqdm
    except ImportError:
        return
    tqdm.set_lock(threading.RLock())


def warm(algorithm: str, sizes: Mapping[str, int], method: str) -> Measured:
    """Import what measuring needs, and make up the inputs; see `measure`."""
    with ThreadPoolExecutor(1) as pool:
        if method != "interpreter":
            pool.submit(_digest_triton)
            # Triton compiles what it asks the driver with; the first candidate would wait for it.
            importlib.import_module("triton.runtime").driver.active.get_current_target()
        try:
            prepared(algorithm, tuple(sizes.items()), method)
        except CompileError as error:
            return Measured("failed", error.message)
    return Measured("ok")


def _digest_triton() -> None:
    """Computes the digest of all of Triton that keys its cache, which Triton then remembers.

    It takes about as long as CUDA does to start. What fails here fails again where it is needed.
    """
    importlib.import_module("triton.runtime.cache").triton_key()


def measure(
    algorithm: str,
    source: str,
    sizes: Mapping[str, int],
    method: str,
    check: Accuracy | None,
    repetition: int = REPETITION_MS,
    repeatable: bool = True,
    strides: tuple[tuple[int, ...], ...] = (),
) -> Measured:
    """Runs an emitted module, check its result if that is wanted, and time it.

    Of a result that is checked a part is compared with the algorithm, and all of it with that of
    the last run: kernels whose groups of warps race, or read what nothing wrote, differ somewhere.

    Args:
        algorithm: the program without its schedule.
        source: the emitted module.
        sizes: a size for each label.
        method: one of `METHODS`.
        check: how accurately its kernels compute, to compare its result with the algorithm; None
            for no comparison.
        repetition: for how many milliseconds to repeat it.
        repeatable: whether it computes the same bits in each run.
        strides: the strides of tensors for its results, if these are not contiguous.
    """
    import torch

    inputs = replace(prepared(algorithm, tuple(sizes.items()), method), strides=strides)

    def run(wrapper: Callable[..., Any]) -> Measured:
        try:
            # Memory that is used again may hold another candidate's right result.
            out = inputs.poisoned()

            given = rotation(algorithm, tuple(sizes.items())) if method == "cold" else None
            # What may win is inspected where it was compiled.
            runs = calls(wrapper, inputs, given or [tuple(inputs.arguments)], out, inspects=False)
            runs[0]()
            if check is not None:
                inputs.check(out, check)
            first = _bits(out) if check is not None and repeatable else []
            milliseconds = timed(runs, method, repetition)
            if first and not all(map(torch.equal, first, _bits(out, copied=False))):
                return Measured("wrong", "it computes something else in another run")
            return Measured("ok", "", milliseconds)
        except CompileError as error:
            return Measured("wrong", error.message)
        except (Exception, SystemExit) as error:
            # What a launch can raise is Triton's, PyTorch's or the driver's.
            lines = [line for line in str(error).splitlines() if line.strip()]
            return Measured("failed", lines[0] if lines else type(error).__name__)

    if source in _LOADED:
        _LOADED[source] = _LOADED.pop(source)
        return run(_LOADED[source])
    # Triton reads the text of a kernel when it is first launched, and not again.
    with loaded(source) as emitted:
        wrapper = getattr(emitted, wrapper_name(source))
        found = run(wrapper)
    if found.status == "ok":
        while len(_LOADED) >= MOST_LOADED:
            del _LOADED[next(iter(_LOADED))]
        _LOADED[source] = wrapper
    return found


def _bits(results: Any, copied: bool = True) -> list[Any]:
    """Returns the bytes of results, in which a NaN is like itself."""
    import torch

    tensors = results if isinstance(results, tuple) else (results,)
    found = [tensor.reshape(-1).view(torch.uint8) for tensor in tensors]
    return [item.clone() for item in found] if copied else found


def calls(
    wrapper: Callable[..., Any], inputs: Prepared, sets: Sequence[tuple[Any, ...]], out: Any,
    inspects: bool = True,
) -> list[Run]:  # fmt: skip
    """Returns the calls of a program on sets of its tensors, as they are made from Python.

    Args:
        wrapper: the emitted function.
        inputs: the shapes of the results, and the sizes of labels.
        sets: the arguments of each call.
        out: the results of the first call; the others have results of their own.
        inspects: whether kernels whose machine code has a fault are refused.
    """
    from dt_mlir.runtime import launch

    found: list[Run] = []
    plans: dict[tuple[Any, ...], Any] = {}
    sizes = size_options(wrapper, inputs.labels)
    for given in sets:
        options = {"out": inputs.poisoned() if found else out, **sizes}
        known = launch.key_of(given, options)
        again = None
        if known is not None:
            key, pointers = known
            if key not in plans:
                _, plans[key] = launch.record(wrapper, given, options, inspects)
            again = None if plans[key] is None else partial(plans[key], given, pointers)

        def run(given: Any = given, options: Any = options, again: Any = again) -> None:
            # A wrapper's checks may take longer than a kernel, and would be timed where the GPU
            # waits for them.
            if again is None or again(options["out"]) is launch.MISSED:
                wrapper(*given, **options)

        found.append(run)
    return found


def timed(runs: Sequence[Run], method: str, repetition: int = REPETITION_MS) -> float:
    """Returns the mean time of a function in milliseconds.

    Args:
        runs: what is timed, on each set of tensors; all but `cold` time the first alone.
        method: one of `METHODS`.
        repetition: for how many milliseconds to repeat it; the interpreter runs it once.
    """
    if method == "interpreter":
        import time

        started = time.perf_counter()
        runs[0]()
        return (time.perf_counter() - started) * 1000
    if method == "events":
        from triton import testing as triton_testing

        testing: Any = triton_testing
        warmup = min(WARMUP_MS, repetition)
        return float(testing.do_bench(runs[0], warmup=warmup, rep=repetition))
    graph = Replays(runs if method == "cold" else runs[:1])
    graph.steady(min(WARMUP_MS, repetition) / 1000)
    return 1000 * graph.steady(repetition / 1000)
