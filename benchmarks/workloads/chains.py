"""Chains of products in one kernel."""

from __future__ import annotations

from workloads.workload import Workload, against

CHAINS = [
    *(
        Workload(
            "chains", "two_matmul_outer", {"m": m, "n": 2 * m, "k": 32, "l": 32}, {},
            against("two_matmul"),
        )
        for m in (64, 128, 256, 512, 8192)
    ),
    *(
        Workload(
            "chains", "two_matmul_inner", {"m": m, "n": m, "k": 64, "l": 64}, {},
            against("two_matmul"),
        )
        for m in (128, 256, 512, 1024, 8192)
    ),
    *(
        Workload(
            "chains", "attention", {"m": 4096, "n": 64, "k": 64, "l": length}, {},
            against("attention", "attention_sdpa"),
        )
        for length in (128, 256, 512, 1024)
    ),
]
