"""Imported by the process of which those that compile are copies: does what all of them would."""

import importlib

for name in ("triton.experimental.gluon", "dt_mlir.tuning.compilation"):
    importlib.import_module(name)

# Triton's cache is keyed by a digest of all of Triton, which takes a second to compute.
importlib.import_module("triton.runtime.cache").triton_key()
