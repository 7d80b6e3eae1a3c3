"""Elementwise functions."""

from __future__ import annotations

from workloads.workload import Workload, against

_LARGE = {"x": 16384, "y": 16384}
_DYT = dict.fromkeys(("X", "weight", "bias", "dyt"), "bf16")

ELEMENTWISE = [
    *(
        Workload(
            "elementwise", program, _LARGE, dict.fromkeys(declared, "bf16"),
            against(program, "copy"),
        )
        for program, declared in (
            ("scaled_add", ("A", "B", "scaled_add")), ("relu", ("A", "relu_out")),
            ("swish", ("A", "swish")),
        )
    ),
    *(
        Workload("elementwise", "dyt", sizes, types, against("dyt", "dyt_liger", "copy"))
        for sizes, types in (
            ({"row": 16384, "col": 16384}, _DYT), ({"row": 128, "col": 65536}, {}),
        )
    ),
]  # fmt: skip
