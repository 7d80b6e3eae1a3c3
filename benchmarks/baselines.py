"""The baselines of the evaluation; each function takes the arguments of the program's wrapper.

Of every operation there are three ways of PyTorch's: eager, `torch.compile`, and `torch.compile`
with its autotuner (without CUDA graphs of its own, since all contenders are timed alike).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from expert_kernels import matmul_expert, softmax_expert

__all__ = ["copy", "matmul_expert", "softmax_expert"]

Function = Callable[..., Any]

# Products of f32 may take tf32, as those of the programs that they are compared with do.
torch.set_float32_matmul_precision("high")

# A function is compiled anew for each of its workloads' sizes; beyond a few PyTorch gives up.
torch._dynamo.config.recompile_limit = 64


def matmul(a, b):
    return a @ b


def matmul_sigmoid(a, b):
    return torch.sigmoid(a @ b)


def matmul_bias_gelu(a, b, bias):
    return F.gelu(a @ b + bias)


def softmax(a):
    return torch.softmax(a, dim=-1)


def layer_norm(x, gain, shift):
    return F.layer_norm(x, x.shape[-1:], gain, shift, 1e-5)


def rms_norm(x, gain):
    return F.rms_norm(x, x.shape[-1:], gain, 1e-5)


def dyt(x, weight, bias, alpha):
    return weight * torch.tanh(alpha * x) + bias


def scaled_add(a, b, alpha):
    return alpha * (a + b)


def relu(a):
    return torch.relu(a)


def swish(a, beta):
    return a * torch.sigmoid(beta * a)


def two_matmul(a, b, c):
    return (a @ b) @ c


def attention(q, k, v):
    weights = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
    return weights @ v


def attention_sdpa(q, k, v):
    return F.scaled_dot_product_attention(q[None, None], k[None, None], v[None, None])[0, 0]


def copy(a, *others):
    """Not the same, but a bound: reads and writes the first tensor."""
    return a.clone()


def softmax_liger(a):
    from liger_kernel.ops.softmax import LigerSoftmaxFunction

    return LigerSoftmaxFunction.apply(a)


def layer_norm_liger(x, gain, shift):
    from liger_kernel.ops.layer_norm import LigerLayerNormFunction

    return LigerLayerNormFunction.apply(x, gain, shift, 1e-5)


def rms_norm_liger(x, gain):
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction

    return LigerRMSNormFunction.apply(x, gain, 1e-5)


def dyt_liger(x, weight, bias, alpha):
    from liger_kernel.ops.dyt import LigerDyTFunction

    return LigerDyTFunction.apply(x, _scale(alpha, x.dtype, x.device), weight, bias)


@cache
def _scale(alpha, dtype, device):
    """Liger takes the factor from memory; bringing it there is no part of the operation."""
    return torch.tensor([alpha], dtype=dtype, device=device)


def _ways(function: Function) -> dict[str, Function]:
    return {
        f"{function.__name__}_eager": function,
        f"{function.__name__}_compile": torch.compile(function, dynamic=False),
        f"{function.__name__}_max_autotune": torch.compile(
            function, dynamic=False, mode="max-autotune-no-cudagraphs"
        ),
    }


for _function in (
    matmul, matmul_sigmoid, matmul_bias_gelu, softmax, layer_norm, rms_norm, dyt, scaled_add, relu,
    swish, two_matmul, attention,
):  # fmt: skip
    globals().update(_ways(_function))
