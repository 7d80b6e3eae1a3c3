"""Factors of products whose elements something else in the loop takes, too."""

import pytest
import torch

from dt_mlir.compiler import compile_program
from dt_mlir.runtime.execute import loaded, prepare_triton

DEVICE = prepare_triton()
NORM = """
Func g, ms; In A : {type}, W : {type}; Var x, y; RVar k;
ms[x] = rsum(A[x, k] * A[x, k], k) / len(k);
g[x, y] = rdot(A[x, k], W[k, y], k) * rsqrt(ms[x] + 1e-6);
g.online(k); g.block(x:128, y:256); g.tensorize(x:128, y:256, k:64); g.num_warps(8);
g.num_stages(3); {more}
g.compile();
"""


@pytest.mark.parametrize("more", ["", "g.descriptor(A, W);"])
def test_norms_of_the_rows_of_a_product(more: str) -> None:
    """Thousands of trips in many instances show a copy that overwrites what is still read."""
    rows, depth = (4096, 4096) if DEVICE == "cuda" else (136, 200)
    # Triton's interpreter computes bf16 wrongly.
    kind = torch.bfloat16 if DEVICE == "cuda" else torch.float16
    text = NORM.format(type="bf16" if DEVICE == "cuda" else "f16", more=more)
    generator = torch.Generator().manual_seed(0)
    shape = (rows, depth), (depth, rows)
    a, w = (torch.randint(-2, 3, s, generator=generator).to(DEVICE, kind) for s in shape)
    wide = a.double()
    want = wide @ w.double() * torch.rsqrt((wide * wide).mean(1, keepdim=True) + 1e-6)
    with loaded(compile_program(text, "norms").source) as module:
        for _ in range(5):
            torch.testing.assert_close(module.g(a, w).double(), want, rtol=1e-3, atol=1e-2)


HEIGHTS = """
Func f; In A : f16, C : f16, V : f16; Var i, h, d; RVar j;
f[i, h, d] = rdot(A[i, j], V[j, d], j) + rdot(C[h, j], V[j, d], j);
f.online(j); f.block(i:64, h:16, d:{columns}); f.tensorize(i:64, h:16, d:{columns}, j:64);
f.num_stages({stages}); f.num_warps(4);
f.compile();
"""
"""Of two products with one factor, only one has the rows of an asynchronous one."""


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("columns", [16, 64])
def test_products_of_many_and_of_few_rows(columns: int, stages: int) -> None:
    rows, few, depth = (1024, 64, 8192) if DEVICE == "cuda" else (72, 20, 200)
    generator = torch.Generator().manual_seed(0)
    shapes = (rows, depth), (few, depth), (depth, 64)
    a, c, v = (
        torch.randint(-2, 3, shape, generator=generator).to(DEVICE, torch.float16)
        for shape in shapes
    )
    want = (a.double() @ v.double())[:, None] + (c.double() @ v.double())[None]
    program = compile_program(HEIGHTS.format(columns=columns, stages=stages), "heights")
    with loaded(program.source) as module:
        for _ in range(5):
            assert torch.equal(module.f(a, c, v).double(), want)
