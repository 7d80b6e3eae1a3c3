"""Imported by the fork server of those that certify: does what all of them would.

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
for name in ("dt_mlir.frontend.emit", "dt_mlir.pipeline", "dt_mlir.certificates.making"):
    with suppress(Exception):
        importlib.import_module(name)
gc.freeze()
gc.enable()
