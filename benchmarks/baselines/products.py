"""Baselines of products."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from baselines.ways import Function, ways


def matmul(a, b):
    return a @ b


def matmul_bias(a, b, bias):
    return torch.addmm(bias, a, b)


def matmul_sigmoid(a, b):
    return torch.sigmoid(a @ b)


def matmul_bias_gelu(a, b, bias):
    return F.gelu(torch.addmm(bias, a, b))


def matmul_residual(a, b, bias, r):
    return torch.addmm(bias, a, b) + r


def swiglu_product(x, g, u):
    return F.silu(x @ g) * (x @ u)


def low_rank_product(x, w, a, b):
    return torch.addmm(x @ w, x @ a, b)


def two_matmul(a, b, c):
    return (a @ b) @ c


def triangular_product(a, b):
    """The product of triangular matrices; of others, as they are measured, it is not the same."""
    return torch.tril(a @ b)


FUNCTIONS: dict[str, Function] = ways(
    matmul, matmul_bias, matmul_sigmoid, matmul_bias_gelu, matmul_residual, swiglu_product,
    low_rank_product, two_matmul, triangular_product,
)
