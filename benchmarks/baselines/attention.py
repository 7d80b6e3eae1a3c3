"""Baselines of attention: each backend of PyTorch's SDPA by itself, and FlexAttention."""

from __future__ import annotations

from functools import cache

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from baselines.ways import Function, ways

_BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
WINDOW = 1024
"""The keys that a query of the window sees."""


def attention(q, k, v):
    weights = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, dim=-1)
    return weights @ v


def attention_sdpa(q, k, v):
    return F.scaled_dot_product_attention(q[None, None], k[None, None], v[None, None])[0, 0]


def attention_bias_sdpa(q, k, v, bias):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=bias[None], scale=1.0)


def _backend(backend, **options):
    def function(q, k, v):
        with sdpa_kernel(backend):
            batch = q[None], k[None], v[None]
            return F.scaled_dot_product_attention(*batch, **options)[0]

    return function


def _decoding(backend):
    def function(q, k, v):
        heads = q.flatten(1, 2)[:, :, None]
        with sdpa_kernel(backend):
            found = F.scaled_dot_product_attention(heads, k, v, enable_gqa=True)
        return found.view(q.shape)

    return function


@cache
def _blocks(mask, length, device):
    return create_block_mask(mask, None, None, length, length, device=device)


def _causal(b, h, i, j):
    return i >= j


def _window(b, h, i, j):
    return (i >= j) & (i - j < WINDOW)


def _flex(mask=None, **options):
    compiled = torch.compile(flex_attention, dynamic=False)

    def function(q, k, v):
        live = None if mask is None else _blocks(mask, q.shape[1], q.device)
        batch = q[None], k[None], v[None]
        return compiled(*batch, block_mask=live, **options)[0]

    return function


def _flex_alibi():
    compiled = torch.compile(flex_attention, dynamic=False)

    def function(q, k, v, slope):
        def biased(score, b, h, i, j):
            return score + slope[h] * (j - i)

        return compiled(q[None], k[None], v[None], score_mod=biased)[0]

    return function


def _flex_bias():
    compiled = torch.compile(flex_attention, dynamic=False)

    def function(q, k, v, bias):
        def biased(score, b, h, i, j):
            return score + bias[h, i, j]

        return compiled(q, k, v, score_mod=biased, scale=1.0)

    return function


def _flex_soft_cap():
    compiled = torch.compile(flex_attention, dynamic=False)

    def capped(score, b, h, i, j):
        return 20 * torch.tanh(score / 20)

    def function(q, k, v):
        return compiled(q[None], k[None], v[None], score_mod=capped)[0]

    return function


def _forms() -> dict[str, Function]:
    found: dict[str, Function] = {}
    for name, mask, options in (
        ("attention_online", None, {}), ("attention_causal", _causal, {}),
        ("attention_online_64", None, {}), ("attention_causal_64", _causal, {}),
        ("attention_grouped", _causal, {"enable_gqa": True}),
    ):  # fmt: skip
        causal = {"is_causal": True} if mask is _causal else {}
        for way, backend in _BACKENDS.items():
            found[f"{name}_{way}"] = _backend(backend, **causal, **options)
        found[f"{name}_flex"] = _flex(mask, **options)
    return found


FUNCTIONS: dict[str, Function] = {
    **ways(attention),
    **_forms(),
    **{f"decoding_{way}": _decoding(backend) for way, backend in _BACKENDS.items()},
    "attention_sdpa": attention_sdpa,
    "attention_window_flex": _flex(_window),
    "attention_alibi_flex": _flex_alibi(),
    "attention_soft_cap_flex": _flex_soft_cap(),
    "attention_bias_sdpa": attention_bias_sdpa,
    "attention_bias_flex": _flex_bias(),
}
