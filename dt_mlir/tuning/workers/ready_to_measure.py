"""Imported by the fork server of those that measure: does what all of them would.

Importing PyTorch takes longest, and partly waits for files; the others are imported meanwhile.
None of this package's threads is left when the process is copied, and it asks for no GPU. What
fails here fails again in a process that needs it, which says so.
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
with ThreadPoolExecutor() as pool:
    pool.submit(importlib.import_module, "torch")
    with suppress(Exception):
        # Others import meanwhile: what reads and digests all of Triton releases Python's lock.
        pool.submit(importlib.import_module("triton.runtime.cache").triton_key)
    for name in ("triton.testing", "dt_mlir.tuning.measuring"):
        with suppress(Exception):
            importlib.import_module(name)
    with suppress(Exception):
        # Triton compiles what asks CUDA's driver with the system's C compiler: for other GPUs, and
        # without a driver, that fails.
        importlib.import_module("triton.backends.nvidia.driver").CudaUtils()
gc.freeze()
gc.enable()
