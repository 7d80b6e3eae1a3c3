"""The combine functions of reductions that Triton has none for, as text of the emitted module.

Triton's own `tl.max` drops NaN on a GPU; PyTorch's propagates it, and so does DT.
"""

from __future__ import annotations

COMBINE: dict[str, str] = {
    "_maximum": """
@triton.jit
def _maximum(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)
""",
    "_minimum": """
@triton.jit
def _minimum(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)
""",
    "_mul": """
@triton.jit
def _mul(a, b):
    return a * b
""",
    "_linear": """
@triton.jit
def _linear(a, b, c, d):
    # First b, then times c plus d: from x it leads to (a * x + b) * c + d.
    return a * c, b * c + d
""",
    "_argmax": """
@triton.jit
def _argmax(a, i, b, j):
    # The larger wins, NaN over numbers, the first of equals.
    left = (a > b) | ((a != a) & (b == b)) | (((a == b) | ((a != a) & (b != b))) & (i < j))
    return tl.where(left, a, b), tl.where(left, i, j)
""",
    "_argmin": """
@triton.jit
def _argmin(a, i, b, j):
    # The smaller wins, NaN over numbers, the first of equals.
    left = (a < b) | ((a != a) & (b == b)) | (((a == b) | ((a != a) & (b != b))) & (i < j))
    return tl.where(left, a, b), tl.where(left, i, j)
""",
}
"""The text of each combine function by name."""
