"""Products of matrices, plain and with epilogues."""

from __future__ import annotations

from workloads.workload import Workload, against

_COMPARED = against("matmul", "matmul_expert")
_HALF = dict.fromkeys(("A", "B", "mm"), "f16")
_RAGGED = {"x": 4095, "y": 4097, "k": 4093}
_SQUARE = {"x": 4096, "y": 4096, "k": 4096}

PRODUCTS = [
    *(
        Workload("products", "matmul", {"x": x, "y": y, "k": k}, {}, _COMPARED)
        for x, y, k in (
            (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192),
            (16384, 1024, 1024), (1024, 16384, 1024), (512, 512, 16384), (4100, 4100, 4100),
        )
    ),
    Workload("products", "matmul", _RAGGED, _HALF, against("matmul")),
    Workload(
        "products", "matmul_ragged", _RAGGED, {**_HALF, "A_copy": "f16", "B_copy": "f16"},
        against("matmul"),
    ),
    Workload(
        "products", "matmul_ragged", {"x": 4100, "y": 4100, "k": 4100}, {}, against("matmul")
    ),
    *(
        Workload("products", program, _SQUARE, {}, against(program))
        for program in ("matmul_sigmoid", "matmul_bias_gelu")
    ),
    Workload(
        "products", "batched_matmul", {"b": 32, "x": 1024, "y": 1024, "k": 1024}, {},
        against("matmul"),
    ),
    *(
        Workload("products", "matmul_split", {"x": x, "y": y, "k": k}, {}, against("matmul"))
        for x, y, k in (
            (512, 512, 16384), (256, 256, 32768), (16, 4096, 14336), (128, 4096, 4096),
        )
    ),
    Workload(
        "products", "triangular_product", _SQUARE, {},
        ("triangular_product_eager", "triangular_product_compile"),
    ),
]  # fmt: skip
