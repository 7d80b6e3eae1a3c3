"""Scales of what extremes are taken of: positive and moderate ones, and all others."""

from typing import Any

import pytest
import torch

import dt_mlir as dt
from dt_mlir.runtime.execute import prepare_triton

DEVICE = prepare_triton()
INF, NAN = float("inf"), float("nan")
SCALES = [0.125, -3.0, 0.0, -0.0, 1e-30, 1e30, INF, -INF, NAN, 2.0**-14, 2.0**15, 40000.0]
"""The first is moderate; one kernel is called with all of them in turn."""
ROWS = torch.tensor(
    [[1.0, -2.0, 0.5, 7.0, -7.0], [INF, 1.0, 0.0, 2.0, 3.0], [-INF, 1.0, 0.0, 2.0, 3.0],
     [-INF, -INF, -INF, -INF, -INF], [0.0, 0.0, -0.0, 0.0, 0.0]],
)  # fmt: skip


@pytest.fixture(autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DT_MLIR_CACHE", str(tmp_path_factory.getbasetemp() / "kernels"))


def extremes(**sizes: int) -> dt.Kernel:
    top, least, A, scale = dt.Func("top"), dt.Func("least"), dt.In("A"), dt.SIn("scale", "f32")
    x, k = dt.Var("x"), dt.RVar("k")
    top[x] = dt.rmax(A[x, k] * scale, k)
    least[x] = dt.rmin(A[x, k] * scale, k, k >= x - 3)
    for f in (top, least):
        f.block(x=4).tensorize(x=4, **sizes)
    return dt.compile(top, least)


def softmax() -> dt.Kernel:
    top, total, f, A = dt.Func("top"), dt.Func("total"), dt.Func("f"), dt.In("A")
    scale, x, k = dt.SIn("scale", "f32"), dt.Var("x"), dt.RVar("k")
    top[x] = dt.rmax(A[x, k] * scale, k, k <= x + 1)
    total[x] = dt.rsum(dt.exp(A[x, k] * scale - top[x]), k, k <= x + 1)
    f[x] = dt.log(total[x]) + top[x]
    return f.online(k).block(x=4).tensorize(x=4, k=2).compile()


def same(got: Any, wanted: torch.Tensor) -> bool:
    return torch.allclose(got.cpu(), wanted, rtol=1e-5, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("tile", [0, 2])
def test_extremes(tile: int) -> None:
    kernel = extremes(k=tile)
    assert "IS_MODERATE" in kernel.source or tile
    inside = torch.arange(5)[None] >= torch.arange(5)[:, None] - 3
    for scale in SCALES:
        # Triton's interpreter drops NaN from extremes.
        products = ROWS * torch.tensor(scale)
        rows = ~products.isnan().any(1) if DEVICE == "cpu" else torch.ones(5, dtype=torch.bool)
        top, least = kernel(ROWS.to(DEVICE), scale)
        assert same(top[rows], products.amax(1)[rows]), scale
        low = products.where(inside, torch.tensor(INF)).amin(1)
        assert same(least[rows], low[rows]), scale


def test_softmax() -> None:
    kernel = softmax()
    assert "IS_MODERATE" in kernel.source
    inside = torch.arange(5)[None] <= torch.arange(5)[:, None] + 1
    for scale in SCALES:
        products = (ROWS * torch.tensor(scale)).where(inside, torch.tensor(-INF))
        rows = ~products.isnan().any(1)
        top = products.amax(1)
        wanted = (products - top[:, None]).exp().where(inside, torch.tensor(0.0)).sum(1).log() + top
        got = kernel(ROWS.to(DEVICE), scale)
        assert same(got[rows], wanted[rows]), scale


def test_scale_of_a_narrow_type() -> None:
    top, f, A = dt.Func("top"), dt.Func("f"), dt.In("A")
    scale, x, y, k = dt.SIn("scale", "f16"), dt.Var("x"), dt.Var("y"), dt.RVar("k")
    top[x] = dt.rmax(A[x, k] * scale, k)
    f[x, y] = A[x, y] * scale - top[x]
    top.fuse_at(f, x)
    kernel = f.block(x=4).tensorize(x=4, k=0, y=0).compile()
    assert "tl.cast(scale, tl.float32)" in kernel.source
    rows = ROWS[[0, 4]].to(DEVICE)
    for factor in (0.5, -0.5):
        products = rows.cpu() * factor
        assert same(kernel(rows, factor), products - products.amax(1, keepdim=True))
