"""Names that NumPy, PyTorch and Halide have, each with what says it in DT."""

from __future__ import annotations

_REDUCTIONS = {
    name: f"r{name}(A[x, k], k), with the labels to reduce over"
    for name in ("sum", "prod", "mean", "any", "all", "argmax", "argmin")
}

_PRODUCT = "rdot(A[x, k], B[k, y], k), which names the label that it sums over"

ELSEWHERE = {
    **_REDUCTIONS,
    "max": "rmax(A[x, k], k) over a label, or maximum(a, b)",
    "min": "rmin(A[x, k], k) over a label, or minimum(a, b)",
    "dot": _PRODUCT,
    "matmul": _PRODUCT,
    "einsum": _PRODUCT,
    "select": "where(condition, a, b)",
    "pow": "a ** b, with an operator",
    "power": "a ** b, with an operator",
    "square": "a ** 2, with an operator",
    "arange": "the label itself: its value is its index",
}
"""Forms of DT by names that `dt_mlir` does not have."""
