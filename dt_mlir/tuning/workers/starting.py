"""Starts a process of a search: begins what takes longest before it imports the rest."""

from __future__ import annotations

import os
from threading import Thread

from dt_mlir.tuning.cuda_driver import begin_context


def start(load: list[str], gpu: str | None, on_gpu: bool) -> None:
    """Makes a process ready to compile, or to measure.

    Args:
        load: Python files with directives that programs use.
        gpu: the only GPU that it sees, by the driver's name; None for all.
        on_gpu: whether it runs kernels on a GPU.
    """
    if gpu is not None:
        # The driver reads it when it is first asked for a GPU.
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    if on_gpu:
        # The driver is ready when all is imported.
        Thread(target=begin_context, daemon=True).start()
    from dt_mlir.tuning.measuring import prepare_process

    prepare_process(load)
