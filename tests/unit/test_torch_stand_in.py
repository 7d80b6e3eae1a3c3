"""The part of PyTorch that emitted wrappers see where kernels are compiled, beside PyTorch."""

import os
import subprocess
import sys
from pathlib import Path

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


BUILDING = """
import sys
from dt_mlir.tuning.compilation import build
from dt_mlir.tuning.gpu import Gpu

gpu = Gpu(
    "NVIDIA H200", "cuda", 90, 32, (9, 0),
    (("shared_memory_per_block_optin", 232448), ("max_threads_per_block", 1024),
     ("regs_per_multiprocessor", 65536), ("multi_processor_count", 132)),
)
sizes = {"a": 2, "b": 20, "i": 24, "k": 16, "c": 24, "s": 3}
built = build(sys.argv[1], "-", {x: sizes[x] for x in sys.argv[2]}, gpu)
assert "torch" not in sys.modules
print(built.status, built.message, *sorted(built.resources))
"""
PADDED = """
Func g : bf16, f : bf16; In X : bf16, W : bf16, V : bf16; Var a, b, i; RVar k, c, s = 3;
g[a, b, i] = rdot(X[a, b, k], W[k, i], k) + 1;
f[a, b, i] = rdot(constant_exterior(g[a, b + s - 1, c], 0), V[s, c, i], s, c);
g.align_storage(b:64); g.block(a:8, b:16, i:64); g.tensorize(a:8, b:16, i:64, k:32);
g.warp_specialize(); f.block(a:8, b:16, i:64); f.tensorize(a:8, b:16, i:64, c:32);
f.warp_specialize(); f.compile();
"""
ADDED = "Func f; In A; Var a; RVar k; f[a] = rsum(A[a, k], k); f.rfactor(k:64, p, atomic); f.compile();"


@pytest.mark.parametrize(
    ("text", "labels", "kernels"),
    [
        # A wrapper describes a part of what it allocates.
        (PADDED, "abikcs", "f_kernel_warp g_kernel_warp"),
        # What clears a result is launched beside the program's kernels.
        (ADDED, "ak", "_clear f_kernel p_kernel"),
    ],
)
def test_wrappers_that_do_more_than_launch_kernels(
    text: str, labels: str, kernels: str, tmp_path: Path
) -> None:
    script = tmp_path / "building.py"
    script.write_text(BUILDING)
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, script, text, labels], capture_output=True, text=True, env=environment,
        cwd=tmp_path, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["ok", *kernels.split()]
