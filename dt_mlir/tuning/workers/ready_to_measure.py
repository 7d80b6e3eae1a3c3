"""Imported by the process of which those that measure are copies: does what all of them would.

Importing PyTorch takes longest, and mostly waits for files; the others are imported meanwhile. No
thread is left when the process is copied, and it asks for no GPU.
"""

import importlib
from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(1) as pool:
    torch = pool.submit(importlib.import_module, "torch")
    for name in ("triton.testing", "dt_mlir.tuning.measuring"):
        importlib.import_module(name)
    # Triton's cache is keyed by a digest of all of Triton.
    importlib.import_module("triton.runtime.cache").triton_key()
    torch.result()
