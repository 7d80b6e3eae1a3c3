"""References for the operators of this folder: PyTorch in double precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn import functional as F

Sizes = Mapping[str, int]


def _softmax(scores: Tensor, values: Tensor) -> Tensor:
    return torch.softmax(scores, -1) @ values


def _causal(q: Tensor, k: Tensor, v: Tensor, window: int | None = None) -> Tensor:
    i, j = torch.arange(len(q))[:, None], torch.arange(len(k))[None, :]
    inside = (j <= i) if window is None else (j <= i) & (j > i - window)
    return _softmax((q @ k.T).masked_fill(~inside, -torch.inf), v)


def _paged(q: Tensor, k: Tensor, v: Tensor, pages: Tensor, lengths: Tensor) -> Tensor:
    """Attention over pages of 4 keys; what is behind a sequence's length has no weight."""
    blocks = pages.clamp(0, len(k) - 1)
    keys, values = k[blocks].flatten(1, 2), v[blocks].flatten(1, 2)
    scores = torch.einsum("bc,bjc->bj", q, keys)
    outside = torch.arange(scores.shape[1])[None, :] >= lengths[:, None]
    weights = torch.softmax(scores.masked_fill(outside, -torch.inf), -1)
    return torch.einsum("bj,bjd->bd", weights, values)


def _rotated(x: Tensor, c: Tensor, s: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    sign = torch.where(torch.arange(x.shape[-1]) < half, -1.0, 1.0).double()
    return x * c[:, None] + sign * x.roll(-half, -1) * s[:, None]


def _recurrence(a: Tensor, b: Tensor) -> Tensor:
    steps = [b[:, 0]]
    for t in range(1, a.shape[1]):
        steps.append(a[:, t] * steps[-1] + b[:, t])
    return torch.stack(steps, 1)


def _grouped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    keys, values = (x.repeat_interleave(3, 0)[: len(q)] for x in (k, v))
    return _softmax(q @ keys.transpose(1, 2), values)


def _soft_capped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return _softmax(20 * torch.tanh(q @ k.T / 20), v)


def _alibi(q: Tensor, k: Tensor, v: Tensor, slope: Tensor) -> Tensor:
    i, j = torch.arange(q.shape[1])[:, None], torch.arange(k.shape[1])[None, :]
    return _softmax(q @ k.transpose(1, 2) + slope[:, None, None] * (j - i), v)


def _decoding(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    scores = torch.einsum("bc,bjc->bj", q, k)
    outside = torch.arange(scores.shape[1])[None, :] >= lengths[:, None]
    weights = torch.softmax(scores.masked_fill(outside, -torch.inf), -1)
    return torch.einsum("bj,bjd->bd", weights, v)


def _decoding_heads(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor) -> Tensor:
    heads = [_decoding(q[:, h], k, v, lengths) for h in range(q.shape[1])]
    return torch.stack(heads, 1)


def _stencil(x: Tensor) -> Tensor:
    across = (x[:-2] + x[1:-1] + x[2:]) / 3
    return (across[:, :-2] + across[:, 1:-1] + across[:, 2:]) / 3


REFERENCES: dict[str, tuple[Sizes, Callable[..., Tensor]]] = {
    "conv1d_valid": ({"n": 2, "o": 11, "c": 6, "r": 4, "X_2": 23}, lambda x, w: F.conv1d(x, w)),
    "conv1d_causal": (
        {"n": 2, "o": 5, "c": 6, "r": 4, "X_2": 23},
        lambda x, w: F.conv1d(F.pad(x, (w.shape[2] - 1, 0)), w.flip(2)),
    ),
    "conv1d_strided_dilated": (
        {"n": 2, "o": 5, "c": 6, "r": 3, "X_1": 6, "X_2": 23},
        lambda x, w: F.conv1d(x, w, stride=2, padding=2, dilation=3),
    ),
    "conv2d_padded": (
        {"n": 2, "o": 5, "c": 6, "X_1": 6, "r": 3, "s": 3, "X_2": 9, "X_3": 19},
        lambda x, w: F.conv2d(x, w, stride=2, padding=1),
    ),
    "conv2d_channels_last": (
        {"n": 2, "o": 17, "c": 19, "X_1": 6, "X_2": 7, "X_3": 19},
        lambda x, w: F.conv2d(
            x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2), stride=2, padding=1
        ).permute(0, 2, 3, 1),
    ),
    "conv2d_first_layer": (
        {"n": 2, "o": 18, "c": 3, "r": 3, "s": 5, "X_2": 7, "X_3": 12},
        lambda x, w: F.conv2d(x, w).permute(0, 2, 3, 1),
    ),
    "conv2d_grouped": (
        {"n": 2, "o": 6, "c": 2, "X_1": 6, "r": 3, "s": 2, "X_2": 6, "X_3": 12},
        lambda x, w: F.conv2d(x, w, groups=3),
    ),
    "conv2d_depthwise": (
        {"n": 2, "c": 3, "r": 3, "s": 3, "X_2": 8, "X_3": 13},
        lambda x, w: F.conv2d(x, w[:, None], groups=len(w)),
    ),
    "conv2d_depthwise_padded": (
        {"n": 2, "c": 9, "p": 5, "q": 11, "X_3": 9},
        lambda x, w: F.conv2d(
            x.permute(0, 3, 1, 2), w.permute(2, 0, 1)[:, None], padding=1, groups=x.shape[3]
        ).permute(0, 2, 3, 1),
    ),
    "conv2d_pointwise": (
        {"n": 1, "o": 19, "c": 18, "p": 2, "q": 21},
        lambda x, w: F.conv2d(x, w[:, :, None, None]),
    ),
    "conv3d": (
        {"o": 5, "c": 2, "t": 2, "r": 2, "s": 3, "X_1": 4, "X_2": 5, "X_3": 12},
        lambda x, w: F.conv3d(x, w),
    ),
    "conv_transposed": (
        {"n": 2, "o": 3, "c": 4, "X_1": 4, "r": 5, "X_2": 7},
        lambda x, w: F.conv_transpose1d(x, w, stride=3, padding=2, output_padding=1),
    ),
    "max_pool2d": (
        {"n": 1, "c": 2, "X_2": 11, "X_3": 18},
        lambda x: F.max_pool2d(x, 3, stride=2, padding=1),
    ),
    "max_pool1d_ceiling": (
        {"c": 3, "X_1": 18}, lambda x: F.max_pool1d(x, 3, stride=2, ceil_mode=True)
    ),
    "max_pool3d": (
        {"X_0": 5, "X_1": 6, "X_2": 19}, lambda x: F.max_pool3d(x[None], 2, stride=2)[0]
    ),
    "avg_pool2d": (
        {"n": 2, "X_1": 7, "X_2": 18},
        lambda x: F.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False),
    ),
    "group_norm": ({"n": 2, "c": 9, "j": 19}, lambda x: F.group_norm(x, 3)),
    "group_norm_split": ({"n": 2, "c": 9, "j": 19}, lambda x: F.group_norm(x, 3)),
    "batch_norm": (
        {"n": 3, "c": 5, "j": 19}, lambda x: F.batch_norm(x, None, None, training=True)
    ),
    "instance_norm": ({"n": 2, "c": 5, "j": 19}, lambda x: F.instance_norm(x)),
    "triangular_product": (
        {"x": 21, "k": 21, "y": 21}, lambda a, b: torch.tril(a) @ torch.tril(b)
    ),
    "prefix_sum": ({"n": 2, "x": 19}, lambda x: x.cumsum(1)),
    "prefix_product": ({"n": 2, "x": 11}, lambda x: x.cumprod(1)),
    "prefix_sum_scanned": ({"i": 5, "x": 19}, lambda x: x.cumsum(1)),
    "prefix_sum_in_chunks": ({"i": 5, "x": 19}, lambda x: x.cumsum(1)),
    "linear_recurrence": ({"n": 2, "t": 21, "d": 19}, _recurrence),
    "suffix_maximum": ({"i": 5, "x": 19}, lambda x: x.flip(1).cummax(1).values.flip(1)),
    "embedding": ({"T_0": 7, "t": 9, "c": 18}, lambda t, ids: t[ids.clamp(0, len(t) - 1)]),
    "cross_entropy": (
        {"i": 9, "j": 19},
        lambda x, target: F.cross_entropy(
            x, target.clamp(0, x.shape[1] - 1), reduction="none"
        ),
    ),
    "rotary": ({"t": 5, "h": 3, "d": 10}, _rotated),
    "grouped_query_attention": ({"h": 6, "K_0": 2, "i": 9, "j": 11, "c": 6, "d": 7}, _grouped),
    "causal_attention": ({"i": 13, "j": 13, "c": 6, "d": 7}, _causal),
    "sliding_window_attention": (
        {"i": 13, "j": 13, "c": 6, "d": 7}, lambda q, k, v: _causal(q, k, v, 5)
    ),
    "attention_online": (
        {"h": 2, "i": 19, "j": 21, "c": 6, "d": 7}, F.scaled_dot_product_attention
    ),
    "causal_attention_online": ({"i": 37, "j": 37, "c": 6, "d": 7}, _causal),
    "sliding_window_attention_online": (
        {"i": 37, "j": 37, "c": 6, "d": 7}, lambda q, k, v: _causal(q, k, v, 5)
    ),
    "attention_soft_cap": ({"i": 19, "j": 21, "c": 6, "d": 7}, _soft_capped),
    "attention_alibi": ({"h": 2, "i": 19, "j": 21, "c": 6, "d": 7}, _alibi),
    "attention_mask": (
        {"i": 19, "j": 21, "c": 6, "d": 7}, lambda q, k, v, m: _softmax(q @ k.T + m, v)
    ),
    "grouped_query_attention_online": (
        {"h": 6, "K_0": 2, "V_0": 2, "i": 9, "j": 21, "c": 6, "d": 7}, _grouped
    ),
    "decoding_online": ({"b": 3, "j": 11, "c": 6, "d": 7}, _decoding),
    "decoding_split": ({"b": 3, "h": 4, "j": 40, "c": 6, "d": 7}, _decoding_heads),
    "matmul_split": (
        {"x": 19, "y": 21, "k": 70}, lambda a, b, bias: F.gelu(a @ b + bias)
    ),
    "log_sum_exp": ({"i": 9, "j": 19}, lambda x: torch.logsumexp(x, 1)),
    "cross_entropy_online": (
        {"i": 9, "j": 19},
        lambda x, target: F.cross_entropy(
            x, target.clamp(0, x.shape[1] - 1), reduction="none"
        ),
    ),
    "softmax_online": ({"i": 5, "j": 19}, lambda x: torch.softmax(x, 1)),
    "layer_norm_online": (
        {"i": 5, "j": 19}, lambda x, g, b: F.layer_norm(x, x.shape[1:], g, b)
    ),
    "rms_norm_product_online": (
        {"i": 9, "o": 7, "j": 21}, lambda x, g, w: F.rms_norm(x, x.shape[1:], g, 1e-5) @ w.T
    ),
    "cosine_similarity": ({"i": 5, "j": 19}, lambda a, b: F.cosine_similarity(a, b)),
    "softmax_argmax": (
        {"i": 5, "j": 19}, lambda x: x.argmax(1) + torch.softmax(x, 1).amax(1)
    ),
    "paged_decoding": ({"b": 3, "d": 7, "c": 6, "pages_1": 3, "K_0": 5, "V_0": 5, "K_1": 4, "V_1": 4}, _paged),
    "bilinear_upsampling": (
        {"c": 3, "X_1": 9},
        lambda x: F.interpolate(x[None, :, :, None], scale_factor=(2, 1), mode="bilinear")[0, ..., 0],
    ),
    "pixel_shuffle": ({"n": 2, "X_1": 8, "X_2": 3, "X_3": 7}, lambda x: F.pixel_shuffle(x, 2)),
    "im2col": (
        {"c": 2, "X_1": 6, "X_2": 11},
        lambda x: F.unfold(x[None], (3, 2)).reshape(2, 3, 2, 4, 10),
    ),
    "stencil": ({"X_0": 14, "across_y": 19}, _stencil),
    "stencil_fused": ({"X_0": 14, "across_y": 19}, _stencil),
    "histogram": ({"i": 41}, lambda x: torch.bincount(x.remainder(7), minlength=7)),
}
"""For each operator sizes of labels and axes, and a function of its inputs in declared order."""
