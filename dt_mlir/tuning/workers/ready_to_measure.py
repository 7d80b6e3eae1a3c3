"""Imported by the fork server of those that measure: does what all of them would.

Importing PyTorch takes longest, and partly waits for files; Triton is imported meanwhile. The rest
is left for the copies, which wait for their GPUs then. None of this package's threads is left when
the process is copied, and it asks for no GPU. What fails here fails again in a process that needs
it, which says so.
"""

import gc
import importlib
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

# Whoever interrupts a search means the process that started it.
signal.signal(signal.SIGINT, signal.SIG_IGN)
# What is imported stays: collecting it takes a tenth of the time.
gc.disable()
with ThreadPoolExecutor(1) as pool:
    pool.submit(importlib.import_module, "torch")
    for name in ("triton.testing", "dt_mlir.tuning.workers.starting"):
        with suppress(Exception):
            importlib.import_module(name)
    with suppress(Exception):
        # Triton compiles what asks CUDA's driver with the system's C compiler: for other GPUs, and
        # without a driver, that fails.
        importlib.import_module("triton.backends.nvidia.driver").CudaUtils()
gc.freeze()
gc.enable()
