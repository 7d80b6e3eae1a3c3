"""Reductions in one pass or up to each index, and rows that data choose."""

from __future__ import annotations

from workloads.workload import Workload, against

REDUCTIONS = [
    Workload(
        "reductions", "cross_entropy", {"i": 8192, "j": 128256}, {},
        ("cross_entropy_eager", "cross_entropy_compile", "cross_entropy_liger"),
    ),
    Workload(
        "reductions", "cumulative_sum", {"i": 4096, "j": 16384}, {},
        against("cumulative_sum", "copy"),
    ),
    Workload(
        "reductions", "embedding", {"T_0": 128256, "t": 16384, "c": 4096}, {},
        ("embedding_eager", "embedding_compile"),
    ),
]
