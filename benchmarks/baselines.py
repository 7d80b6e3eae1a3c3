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


def _image(x):
    """A tensor whose channels are last in memory, as PyTorch's operators take it."""
    return x.movedim(-1, 1)


def conv2d(x, w):
    return F.conv2d(_image(x), _image(w), padding=1).movedim(1, -1)


def conv2d_strided(x, w):
    return F.conv2d(_image(x), _image(w), stride=2, padding=1).movedim(1, -1)


def conv2d_pointwise(x, w):
    return F.conv2d(_image(x), w[:, :, None, None]).movedim(1, -1)


def conv2d_depthwise(x, w):
    filters = w.movedim(-1, 0)[:, None]
    return F.conv2d(_image(x), filters, padding=1, groups=x.shape[-1]).movedim(1, -1)


def max_pool2d(x):
    return F.max_pool2d(_image(x), 3, 2, 1).movedim(1, -1)


def group_norm(x):
    return F.group_norm(_image(x), 32, eps=1e-5).movedim(1, -1)


def cumulative_sum(a):
    return a.cumsum(-1)


def embedding(table, ids):
    return F.embedding(ids.clamp(0, len(table) - 1), table)


def cross_entropy(x, target):
    return F.cross_entropy(x.float(), target.clamp(0, x.shape[1] - 1), reduction="none")


def triangular_product(a, b):
    """The product of triangular matrices; of others, as they are measured, it is not the same."""
    return torch.tril(a @ b)


def _scaled(backend, **options):
    from torch.nn.attention import sdpa_kernel

    def function(q, k, v, scale):
        with sdpa_kernel(backend):
            batch = q[None], k[None], v[None]
            return F.scaled_dot_product_attention(*batch, scale=scale, **options)[0]

    return function


def _decoded(backend):
    from torch.nn.attention import sdpa_kernel

    def function(q, k, v, scale):
        heads = q.flatten(1, 2)[:, :, None]
        with sdpa_kernel(backend):
            found = F.scaled_dot_product_attention(heads, k, v, scale=scale, enable_gqa=True)
        return found.view(q.shape)

    return function


def _flex(mask=None):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    compiled = torch.compile(flex_attention, dynamic=False)

    @cache
    def blocks(length, device):
        return create_block_mask(mask, None, None, length, length, device=device)

    def function(q, k, v, scale):
        live = None if mask is None else blocks(q.shape[1], q.device)
        return compiled(q[None], k[None], v[None], scale=scale, block_mask=live)[0]

    return function


def _flex_alibi():
    from torch.nn.attention.flex_attention import flex_attention

    compiled = torch.compile(flex_attention, dynamic=False)

    def function(q, k, v, slope, scale):
        def biased(score, b, h, i, j):
            return score + slope[h] * (j - i)

        return compiled(q[None], k[None], v[None], score_mod=biased, scale=scale)[0]

    return function


def _flex_soft_cap():
    from torch.nn.attention.flex_attention import flex_attention

    compiled = torch.compile(flex_attention, dynamic=False)

    def capped(score, b, h, i, j):
        return 20 * torch.tanh(score / 20)

    def function(q, k, v, scale):
        return compiled(q[None], k[None], v[None], score_mod=capped, scale=scale)[0]

    return function


def _attentions() -> dict[str, Function]:
    from torch.nn.attention import SDPBackend

    flash, cudnn = SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION
    return {
        "attention_online_flash": _scaled(flash),
        "attention_online_cudnn": _scaled(cudnn),
        "attention_online_flex": _flex(),
        "attention_causal_flash": _scaled(flash, is_causal=True),
        "attention_causal_cudnn": _scaled(cudnn, is_causal=True),
        "attention_causal_flex": _flex(lambda b, h, i, j: i >= j),
        "attention_window_flex": _flex(lambda b, h, i, j: (i >= j) & (i - j < 1024)),
        "attention_alibi_flex": _flex_alibi(),
        "attention_soft_cap_flex": _flex_soft_cap(),
        "decoding_flash": _decoded(flash),
        "decoding_cudnn": _decoded(cudnn),
    }


def copy(a, *others):
    """Not the same, but a bound: reads and writes the first tensor."""
    return a.clone()


def softmax_liger(a):
    from liger_kernel.ops.softmax import LigerSoftmaxFunction

    return LigerSoftmaxFunction.apply(a)


def cross_entropy_liger(x, target):
    """Losses that are rounded to the type of the logits; without gradients these stay as they are.
    """
    from liger_kernel.ops.cross_entropy import LigerCrossEntropyFunction

    known = target.clamp(0, x.shape[1] - 1)
    return LigerCrossEntropyFunction.apply(x, known, None, -100, 0.0, 0.0, "none")[0]


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
    swish, two_matmul, attention, conv2d, conv2d_strided, conv2d_pointwise, conv2d_depthwise,
    max_pool2d, group_norm, cumulative_sum, embedding, cross_entropy, triangular_product,
):  # fmt: skip
    globals().update(_ways(_function))
globals().update(_attentions())
