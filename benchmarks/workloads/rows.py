"""Softmax and norms of rows."""

from __future__ import annotations

from workloads.workload import Workload, against

ROWS = [
    *(
        Workload(
            "softmax", "softmax_stable", {"x": x, "y": y}, {},
            against("softmax", "softmax_liger", "softmax_expert", "copy"),
        )
        for x, y in ((4096, 1024), (4096, 4096), (4096, 5000), (4096, 16384), (2048, 65536))
    ),
    Workload("softmax", "softmax", {"x": 4096, "y": 16384}, {}, against("softmax", "copy")),
    *(
        Workload(
            "norms", program, {"row": 4096, "col": y}, {}, against(program, f"{program}_liger")
        )
        for program in ("layer_norm", "rms_norm")
        for y in (1024, 2048, 4096, 8192, 16384)
    ),
]  # fmt: skip
