"""Imported by the fork server of those that compile: does what all of them would.

What fails here fails again in a process that needs it, which says so.
"""

import gc
import importlib
import signal
from contextlib import suppress

# Whoever interrupts a search means the process that started it.
signal.signal(signal.SIGINT, signal.SIG_IGN)
# What is imported stays: collecting it takes a tenth of the time.
gc.disable()
for name in ("triton.experimental.gluon", "dt_mlir.tuning.compilation"):
    with suppress(Exception):
        importlib.import_module(name)
with suppress(Exception):
    # Triton's cache is keyed by a digest of all of Triton, which takes a second to compute.
    importlib.import_module("triton.runtime.cache").triton_key()
gc.freeze()
gc.enable()
