"""Baselines of elementwise functions, and of functions of rows."""

from __future__ import annotations

from functools import cache

import torch
import torch.nn.functional as F

from baselines.ways import Function, ways


def softmax(a):
    return torch.softmax(a, dim=-1)


def layer_norm(x, gain, shift):
    return F.layer_norm(x, x.shape[-1:], gain, shift, 1e-5)


def rms_norm(x, gain):
    return F.rms_norm(x, x.shape[-1:], gain, 1e-5)


def add_rms_norm(x, r, gain):
    total = x + r
    return F.rms_norm(total, total.shape[-1:], gain, 1e-5), total


def gated_rms_norm(x, z, gain):
    return F.rms_norm(x * F.silu(z), x.shape[-1:], gain, 1e-5)


def normalize(x):
    return F.normalize(x, eps=1e-6)


def log_sum_exp(x):
    return torch.logsumexp(x.float(), -1)


def quantize_rows(x):
    scale = x.float().abs().amax(-1).clamp_min(1e-12) / 127
    return torch.floor(x / scale[:, None] + 0.5).to(torch.int8), scale


def dyt(x, weight, bias, alpha):
    return weight * torch.tanh(alpha * x) + bias


def scaled_add(a, b, alpha):
    return alpha * (a + b)


def relu(a):
    return torch.relu(a)


def swish(a, beta):
    return a * torch.sigmoid(beta * a)


def swiglu(a, b):
    return F.silu(a) * b


def gelu(a):
    return F.gelu(a)


def rotary(x, c, s):
    turned = torch.cat((-x[..., 64:], x[..., :64]), -1)
    return x * c[:, None] + turned * s[:, None]


def cumulative_sum(a):
    return a.cumsum(-1)


def embedding(table, ids):
    return F.embedding(ids.clamp(0, len(table) - 1), table)


def embedding_sum(table, positions, ids):
    return F.embedding(ids.clamp(0, len(table) - 1), table) + positions


def cross_entropy(x, target):
    return F.cross_entropy(x.float(), target.clamp(0, x.shape[1] - 1), reduction="none")


def linear_recurrence(a, b):
    """A scan by an associative operator, which PyTorch compiles; eager it is a loop."""
    if torch.compiler.is_compiling():
        from torch._higher_order_ops.associative_scan import associative_scan

        def combine(left, right):
            return left[0] * right[0], left[1] * right[0] + right[1]

        return associative_scan(combine, (a, b), 1)[1]
    steps = [b[:, 0]]
    for t in range(1, a.shape[1]):
        steps.append(torch.addcmul(b[:, t], a[:, t], steps[-1]))
    return torch.stack(steps, 1)


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
    """Returns the factor in memory, where Liger takes it from; it is brought there once."""
    return torch.tensor([alpha], dtype=dtype, device=device)


FUNCTIONS: dict[str, Function] = {
    **ways(
        softmax, layer_norm, rms_norm, add_rms_norm, gated_rms_norm, normalize, log_sum_exp,
        quantize_rows, dyt, scaled_add, relu, swish, swiglu, gelu, rotary, cumulative_sum,
        embedding, embedding_sum, cross_entropy, linear_recurrence,
    ),
    **{
        function.__name__: function
        for function in (
            copy, softmax_liger, cross_entropy_liger, layer_norm_liger, rms_norm_liger, dyt_liger,
        )
    },
}
