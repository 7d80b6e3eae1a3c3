"""What emitted wrappers see where kernels are compiled, and what PyTorch shows them."""

import sys

import pytest
import torch

from dt_mlir.element_types import TORCH_TYPES
from dt_mlir.tuning.gpu import Gpu
from dt_mlir.tuning.torch_stand_in import in_place_of_torch


@pytest.mark.parametrize("shape", [(4, 5), (1, 7), (3, 1), (0, 4), (5,), (2, 3, 4)])
def test_tensors_that_compilers_see_are_like_pytorchs(shape: tuple[int, ...]) -> None:
    gpu = Gpu("some GPU", "cuda", 90, 32, (9, 0), (("multi_processor_count", 132),))
    with in_place_of_torch(gpu) as stand_in:
        made = stand_in.empty(shape, dtype=stand_in.bfloat16, device=stand_in.device("cuda", 0))
    real = torch.empty(shape, dtype=torch.bfloat16, device="meta")
    pairs = [(made, real)]
    pairs.append((made.permute(*range(len(shape))[::-1]), real.permute(*range(len(shape))[::-1])))
    if shape[0] == 1:
        views = [one.expand(6, *[-1] * (len(shape) - 1)) for one in (made, real)]
        pairs.append((views[0], views[1]))
    for ours, theirs in pairs:
        assert ours.shape == tuple(theirs.shape)
        assert ours.stride() == theirs.stride()
        assert ours.stride(-1) == theirs.stride(-1)
        assert ours.dim() == theirs.dim()
        assert ours.numel() == theirs.numel()
        assert ours.element_size() == theirs.element_size()
        assert str(ours.dtype) == str(theirs.dtype)
        assert ours.data_ptr() == theirs.data_ptr()
        assert ours.is_neg() == theirs.is_neg()


def test_element_types_that_compilers_see_have_pytorchs_sizes() -> None:
    gpu = Gpu("some GPU", "hip", "gfx942", 64, (9, 4), ())
    with in_place_of_torch(gpu) as stand_in:
        assert sys.modules["torch"] is stand_in
        assert stand_in.version.hip is not None
        for name in TORCH_TYPES.values():
            assert getattr(stand_in, name).itemsize == getattr(torch, name).itemsize
    assert sys.modules["torch"] is torch
