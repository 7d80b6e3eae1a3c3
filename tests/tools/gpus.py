"""The description of a GPU that need not be there, for scripts that run in processes of their own."""

H200 = """
from dt_mlir.tuning.gpu import Gpu

gpu = Gpu(
    "NVIDIA H200", "cuda", 90, 32, (9, 0),
    (("shared_memory_per_block_optin", 232448), ("max_threads_per_block", 1024),
     ("regs_per_multiprocessor", 65536), ("memory_clock_rate", 3201000),
     ("memory_bus_width", 6144), ("L2_cache_size", 52428800), ("multi_processor_count", 132)),
)
"""
