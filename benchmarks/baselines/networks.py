"""Parts of networks in PyTorch, as `torch.nn` would compute them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention, silu

from baselines.ways import ways


def _normalized(x: Tensor, gain: Tensor) -> Tensor:
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(1, keepdim=True) + 1e-5) * gain).to(x.dtype)


def attention_block(
    x: Tensor, gain: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor
) -> Tensor:
    """Attention over projections of normalized rows, with its output's projection.

    Args:
        x: the rows, `[i, c]`.
        gain: the factors of the norm, `[c]`.
        q: the weights of queries, `[h, c, d]`.
        k: the weights of keys, `[h, c, d]`.
        v: the weights of values, `[h, c, d]`.
        out: the weights of the output, `[h, d, c]`.
    """
    rows = _normalized(x, gain)
    queries, keys, values = (torch.einsum("ic,hcd->hid", rows, w)[None] for w in (q, k, v))
    found = scaled_dot_product_attention(queries, keys, values)[0]
    return torch.einsum("hid,hdc->ic", found, out) + x


def gated_perceptron(x: Tensor, gain: Tensor, gate: Tensor, up: Tensor, down: Tensor) -> Tensor:
    """A gated perceptron of normalized rows.

    Args:
        x: the rows, `[i, c]`.
        gain: the factors of the norm, `[c]`.
        gate: the weights of the gate, `[c, e]`.
        up: the weights of what it scales, `[c, e]`.
        down: the weights of the output, `[e, c]`.
    """
    rows = _normalized(x, gain)
    return (silu(rows @ gate) * (rows @ up)) @ down + x


def transformer_layer(
    x: Tensor, gain: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor,
    gain2: Tensor, gate: Tensor, up: Tensor, down: Tensor,
) -> Tensor:  # fmt: skip
    """Attention and a gated perceptron; arguments as for these."""
    return gated_perceptron(attention_block(x, gain, q, k, v, out), gain2, gate, up, down)


FUNCTIONS = ways(attention_block, gated_perceptron, transformer_layer)
