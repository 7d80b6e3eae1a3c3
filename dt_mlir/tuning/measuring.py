"""Runs, checks and times candidates, all in one process that may be ended at any time.

Kernels are timed as `triton.testing.do_bench` does: 25 ms of warm-up, then for 100 ms launches
between events, the L2 cache cleared before each; the mean of one such round is one measurement.
Kernels that are too short for that are timed as replays of a CUDA graph.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from dt_mlir.compiling import DEEPEST
from dt_mlir.diagnostics import CompileError
from dt_mlir.frontend.emit import compile_text
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.loading import load_file
from dt_mlir.runtime.cache import compiler_digest
from dt_mlir.runtime.execute import loaded, prepare_on_cpu, wrapper_name
from dt_mlir.tuning.inputs import Prepared, prepare

METHODS = ("events", "graph", "interpreter")
"""The methods of timing: events around launches, replays of a CUDA graph, or, on Triton's
interpreter, by the clock."""
WARMUP_MS = 25
REPETITION_MS = 100
LOOK_MS = 20
"""The time of a candidate that was never timed, which decides whether it is timed again."""
_OTHERS = (
    "autoscheduling", "certificates", "costs", "drawing", "editor", "explorer", "interpreters",
    "kernels", "language", "reducer", "tools", "tuning", "verification",
)  # fmt: skip
"""The settings that no kernel's code depends on."""
GRAPH_BELOW_MS = 0.05
"""Kernels that are shorter are timed as graphs."""


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

    import torch

    found = [f"{name} {version(name)}" for name in ("triton", "torch")]
    cuda = getattr(torch.version, "cuda", None)
    return ", ".join([f"dt-mlir {_compiler(tuple(load))}", *found, f"cuda {cuda}"])


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
    for path in load:
        load_file(path)


def import_for_gpu() -> None:
    """Imports what measuring on a GPU needs, which takes seconds, and asks for the GPU."""
    import torch

    importlib.import_module("triton.testing")
    torch.cuda.init()


def warm(algorithm: str, sizes: Mapping[str, int], method: str) -> Measured:
    """Import what measuring needs, and make up the inputs; see `measure`."""
    try:
        prepared(algorithm, tuple(sizes.items()), method)
    except CompileError as error:
        return Measured("failed", error.message)
    return Measured("ok")


def measure(
    algorithm: str,
    source: str,
    sizes: Mapping[str, int],
    method: str,
    check: Accuracy | None,
    repetition: int = REPETITION_MS,
    repeatable: bool = True,
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
    """
    import torch

    from dt_mlir.runtime import launch

    inputs = prepared(algorithm, tuple(sizes.items()), method)
    with loaded(source) as emitted:
        wrapper = getattr(emitted, wrapper_name(source))

        try:
            # Memory that is used again may hold another candidate's right result.
            out = inputs.poisoned()

            arguments, options = tuple(inputs.arguments), {"out": out, **inputs.labels}
            _, plan = launch.record(wrapper, arguments, options)
            known = launch.key_of(arguments, options)

            def run() -> Any:
                # As kernels are called from Python: a wrapper's checks may take longer than a
                # kernel, and would be timed where the GPU waits for them.
                if plan is None or known is None or plan(arguments, known[1], out) is launch.MISSED:
                    wrapper(*arguments, **options)

            run()
            if check is not None:
                inputs.check(out, check)
            first = _bits(out) if check is not None and repeatable else []
            milliseconds = timed(run, method, repetition)
            if first and not all(map(torch.equal, first, _bits(out, copied=False))):
                return Measured("wrong", "it computes something else in another run")
            return Measured("ok", "", milliseconds)
        except CompileError as error:
            return Measured("wrong", error.message)
        except (Exception, SystemExit) as error:
            # What a launch can raise is Triton's, PyTorch's or the driver's.
            lines = [line for line in str(error).splitlines() if line.strip()]
            return Measured("failed", lines[0] if lines else type(error).__name__)


def _bits(results: Any, copied: bool = True) -> list[Any]:
    """Returns the bytes of results, in which a NaN is like itself."""
    import torch

    tensors = results if isinstance(results, tuple) else (results,)
    found = [tensor.reshape(-1).view(torch.uint8) for tensor in tensors]
    return [item.clone() for item in found] if copied else found


def timed(run: Callable[[], Any], method: str, repetition: int = REPETITION_MS) -> float:
    """The mean time of a function in milliseconds.

    Args:
        run: what is timed.
        method: one of `METHODS`.
        repetition: for how many milliseconds to repeat it; the interpreter runs it once.
    """
    if method == "interpreter":
        import time

        started = time.perf_counter()
        run()
        return (time.perf_counter() - started) * 1000
    from triton import testing as triton_testing

    testing: Any = triton_testing
    if method == "graph":
        import torch

        with torch.cuda.stream(torch.cuda.Stream()):
            # It replays the graph ten times, for as long as this each time.
            return float(testing.do_bench_cudagraph(run, rep=repetition // 10))
    return float(testing.do_bench(run, warmup=min(WARMUP_MS, repetition), rep=repetition))
