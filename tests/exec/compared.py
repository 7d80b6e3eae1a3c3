"""Programs whose results are compared with what PyTorch computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F

Tensors = list[torch.Tensor]


class Program(NamedTuple):
    """A program, the shapes of its inputs at some sizes, and what it computes."""

    text: str
    shapes: Callable[[int], list[tuple[int, ...]]]
    expected: Callable[[Tensors], torch.Tensor]

    def inputs(self, size: int) -> Tensors:
        """Returns inputs of small whole numbers, as f16."""
        generator = torch.Generator().manual_seed(0)
        return [
            torch.randint(-2, 3, shape, generator=generator).half() for shape in self.shapes(size)
        ]


def convolved(a: Tensors) -> torch.Tensor:
    """Returns a convolution with windows of 3 by 3 of images and weights, channels last."""
    x, w = a[0].permute(0, 3, 1, 2), a[1].permute(0, 3, 1, 2)
    return F.conv2d(x, w, padding=1).permute(0, 2, 3, 1)
