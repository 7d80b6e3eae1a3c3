"""Baselines of operators on images and signals, channels last."""

from __future__ import annotations

import torch.nn.functional as F

from baselines.ways import Function, ways


def _image(x):
    """A tensor whose channels are last in memory, as PyTorch's operators take it."""
    return x.movedim(-1, 1)


def conv2d(x, w):
    return F.conv2d(_image(x), _image(w), padding=1).movedim(1, -1)


def conv2d_first(x, w):
    return F.conv2d(_image(x), _image(w), stride=2, padding=3).movedim(1, -1)


def conv2d_strided(x, w):
    return F.conv2d(_image(x), _image(w), stride=2, padding=1).movedim(1, -1)


def conv2d_pointwise(x, w):
    return F.conv2d(_image(x), w[:, :, None, None]).movedim(1, -1)


def conv2d_depthwise(x, w):
    filters = w.movedim(-1, 0)[:, None]
    return F.conv2d(_image(x), filters, padding=1, groups=x.shape[-1]).movedim(1, -1)


def patch_embedding(x, w):
    return F.conv2d(_image(x), _image(w), stride=16).movedim(1, -1)


def conv1d_strided(x, w):
    return F.gelu(F.conv1d(_image(x), _image(w), stride=2, padding=1)).movedim(1, -1)


def conv1d_causal(x, w):
    padded = F.pad(_image(x), (3, 0))
    return F.silu(F.conv1d(padded, w.T[:, None], groups=x.shape[-1])).movedim(1, -1)


def max_pool2d(x):
    return F.max_pool2d(_image(x), 3, 2, 1).movedim(1, -1)


def global_average(x):
    return x.mean(1)


def batch_norm_relu(x, r, mean, var, weight, bias):
    return F.relu((x - mean) * (var + 1e-5).rsqrt() * weight + bias + r).to(x.dtype)


def group_norm(x):
    return F.group_norm(_image(x), 32, eps=1e-5).movedim(1, -1)


def group_norm_silu(x):
    return F.silu(F.group_norm(_image(x), 32, eps=1e-5)).movedim(1, -1)


def upsample_nearest(x):
    return F.interpolate(_image(x), scale_factor=2).movedim(1, -1)


def pixel_shuffle(x):
    return F.pixel_shuffle(x, 2)


FUNCTIONS: dict[str, Function] = ways(
    conv2d, conv2d_first, conv2d_strided, conv2d_pointwise, conv2d_depthwise, patch_embedding,
    conv1d_strided, conv1d_causal, max_pool2d, global_average, batch_norm_relu, group_norm,
    group_norm_silu, upsample_nearest, pixel_shuffle,
)
