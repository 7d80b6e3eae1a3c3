"""Chooses what compiles and measures the candidates of a search."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from dt_mlir.diagnostics import CompileError
from dt_mlir.tuning.tuner import Options
from dt_mlir.tuning.workers.local import LocalWorkers, visible_gpus
from dt_mlir.tuning.workers.workers import Workers


@contextmanager
def workers_for(
    options: Options, cpu: bool, gpus: str | None = None, ray: str | None = None
) -> Generator[Workers]:
    """Provides the processes of a search, and ends them.

    Args:
        options: how to search.
        cpu: whether Triton's interpreter is timed.
        gpus: the GPUs of this machine that measure; None for the present one.
        ray: the address of a Ray cluster, "local" for one that is started here; None for none.

    Raises:
        CompileError: if there is no such GPU, or no such cluster.
    """
    if ray is not None:
        try:
            from dt_mlir.tuning.workers.on_ray import RayWorkers
        except ImportError as error:
            raise CompileError(
                f"--ray needs {error.name}", None, "pip install 'dt-mlir[ray]'"
            ) from None
        with RayWorkers(ray, options.jobs, options.load, options.timeout, cpu) as found:
            yield found
        return
    names = visible_gpus(gpus) if gpus is not None else []
    with LocalWorkers(options.jobs, options.load, options.timeout, names) as found:
        yield found
