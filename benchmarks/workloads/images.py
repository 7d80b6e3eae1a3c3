"""Operators on images, channels last."""

from __future__ import annotations

from workloads.workload import Workload, against


def _windows(n: int, size: int, c: int, o: int) -> dict[str, int]:
    return {"n": n, "X_1": size, "X_2": size, "X_3": c, "o": o, "c": c}


IMAGES = [
    Workload("images", "conv2d", _windows(32, 56, 256, 256), {}, against("conv2d")),
    Workload("images", "conv2d", _windows(64, 28, 512, 512), {}, against("conv2d")),
    Workload(
        "images", "conv2d_strided", _windows(32, 112, 64, 128), {}, against("conv2d_strided")
    ),
    Workload(
        "images", "conv2d_pointwise", {"n": 32, "p": 56, "q": 56, "o": 64, "c": 256}, {},
        against("conv2d_pointwise"),
    ),
    Workload(
        "images", "conv2d_depthwise", {"n": 64, "X_1": 112, "X_2": 112, "X_3": 128, "c": 128}, {},
        against("conv2d_depthwise"),
    ),
    Workload(
        "images", "max_pool2d", {"n": 64, "X_1": 112, "X_2": 112, "c": 128}, {},
        against("max_pool2d"),
    ),
    Workload(
        "images", "group_norm", {"n": 32, "y": 3136, "j": 3136, "c": 256}, {},
        against("group_norm"),
    ),
]
