"""The baselines of the evaluation; each function takes the arguments of the program's wrapper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from baselines import attention, images, products, rows
from baselines.expert_kernels import EXPERTS, Winner

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **products.FUNCTIONS, **rows.FUNCTIONS, **images.FUNCTIONS, **attention.FUNCTIONS,
}  # fmt: skip
"""The functions by name; each takes the arguments of the program's wrapper."""

UNCHECKED = ("copy", "triangular_product", "cross_entropy_liger")
"""The beginnings of the names of those that compute something else on random inputs, or to the
precision of another type."""

__all__ = ["EXPERTS", "FUNCTIONS", "UNCHECKED", "Winner"]
