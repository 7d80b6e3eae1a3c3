"""Attention whose scores are small, large, or beyond what exponents can be computed of."""

import pytest
import torch

import dt_mlir as dt
from dt_mlir.runtime.execute import prepare_triton

DEVICE = prepare_triton()
MAGNITUDES = [0.0, 1.0, 30.0, 1e4, 2.0**24, 2.0**26, 1e10, 1e20, 1e37, 1.5e38]
LEAST = torch.finfo(torch.float32).min
TOLERANCE = 3e-3
"""The error of weights and values that are rounded to f16."""


@pytest.fixture(autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DT_MLIR_CACHE", str(tmp_path_factory.getbasetemp() / "kernels"))


def attention(biased: bool = False, keys: int = 16, scale: float = 0.25) -> dt.Kernel:
    s, top, p, total, o = (dt.Func(name) for name in ("s", "top", "p", "total", "o"))
    Q, K, V, bias = dt.In("Q"), dt.In("K"), dt.In("V", "f16"), dt.In("B")
    i, d, j, c = dt.Var("i"), dt.Var("d", 16), dt.RVar("j"), dt.RVar("c", 16)
    scores = dt.rdot(Q[i, c], K[j, c], c) * scale
    s[i, j] = scores + bias[i, j] if biased else scores
    top[i] = dt.rmax(s[i, j], j)
    p[i, j] = dt.exp(s[i, j] - top[i])
    total[i] = dt.rsum(p[i, j], j)
    o[i, d] = dt.rdot(p[i, j], V[j, d], j) / total[i]
    # Weights are rounded to the type of the values.
    o.online(j).block(i=16).tensorize(i=16, d=0, j=keys, c=0).precision("narrow")
    return o.compile()


def expected(scores: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return (scores.double().softmax(1) @ values.double()).float()


def checked(kernel: dt.Kernel, scores: torch.Tensor, scale: float, *bias: torch.Tensor) -> None:
    """Checks attention whose products are some scores over a scale, exactly."""
    values = torch.randn(scores.shape[1], 16).half()
    ones = torch.eye(16)
    queries = torch.nn.functional.pad(scores / scale, (0, 16 - scores.shape[1]))
    keys = ones[: scores.shape[1]]
    got = kernel(*(tensor.to(DEVICE) for tensor in (queries, keys, values, *bias))).cpu()
    scores = sum(bias, scores)
    assert torch.allclose(got, expected(scores, values), rtol=TOLERANCE, atol=TOLERANCE)


def test_scores_are_combined() -> None:
    assert "bitcast=True" in attention().source


@pytest.mark.parametrize("magnitude", MAGNITUDES)
@pytest.mark.parametrize("sign", [1, -1])
def test_magnitudes(magnitude: float, sign: int) -> None:
    generator = torch.Generator().manual_seed(0)
    order = torch.stack([torch.randperm(16, generator=generator) for _ in range(20)])
    # Neighbours are apart by a sixteenth of the largest one.
    scores = sign * magnitude * (0.0625 * order - 0.5)
    for keys in (16, 4 if DEVICE == "cpu" else 16):
        checked(attention(keys=keys), scores, 0.25)


@pytest.mark.parametrize(("base", "error"), [(0.0, 1e-3), (1e4, 1e-3), (2.0**17, 2e-3), (2.0**20, 1e-2)])
def test_large_scores_that_are_exact(base: float, error: float) -> None:
    """Combined exponents change weights no more than rounding large scores does."""
    values = torch.eye(16).half()
    scores = base + torch.arange(16.0).expand(3, 16)
    for keys in (16, 4 if DEVICE == "cpu" else 16):
        kernel = attention(keys=keys)
        given = (scores * 4, torch.eye(16), values)
        got = kernel(*(tensor.to(DEVICE) for tensor in given)).cpu()
        assert torch.allclose(got, expected(scores, values), rtol=0.0, atol=error)


@pytest.mark.parametrize("precision", ["ieee", "tf32x3"])
def test_exact_products_have_exact_exponents(precision: str) -> None:
    f, g, A, B, C = dt.Func("f"), dt.Func("g"), dt.In("A"), dt.In("B"), dt.In("C")
    x, y, z, k = dt.Var("x"), dt.RVar("y"), dt.Var("z", 16), dt.RVar("k", 16)
    s, top = dt.Func("s"), dt.Func("top")
    s[x, y] = dt.rdot(A[x, k], B[y, k], k)
    top[x] = dt.rmax(s[x, y], y)
    g[x, y] = dt.exp(s[x, y] - top[x])
    f[x, z] = dt.rdot(g[x, y], C[y, z], y) / dt.rsum(g[x, y], y)
    f.online(y).block(x=16).tensorize(x=16, y=16, k=0, z=0).precision(precision)
    assert "bitcast" not in f.compile().source


@pytest.mark.parametrize("magnitude", [-1e9, LEAST, -1e30, 1e9, 3e38])
def test_equal_scores(magnitude: float) -> None:
    # So are those of a row that a bias switches off as a whole.
    checked(attention(), torch.full((5, 13), magnitude / 4), 0.25)
    bias = torch.full((5, 13), magnitude)
    bias[0] = 0.0
    bias[1, 3:] = 0.0
    scores = torch.randn(5, 13).where(bias == 0, torch.tensor(0.0))
    checked(attention(biased=True), scores, 0.25, bias)


def test_infinite_scores() -> None:
    kernel = attention(biased=True)
    queries, keys, values = torch.randn(5, 16), torch.randn(13, 16), torch.randn(13, 16).half()
    bias = torch.zeros(5, 13)
    bias[0, 4:] = -torch.inf
    bias[1] = -torch.inf
    bias[2, 7] = torch.inf
    bias[3, 2] = torch.nan
    scores = queries @ keys.T * 0.25 + bias
    got = kernel(*(x.to(DEVICE) for x in (queries, keys, values, bias))).cpu()
    # Triton's interpreter drops NaN from extremes.
    rows = [0, 1, 2, 4] if DEVICE == "cpu" else [0, 1, 2, 3, 4]
    wanted = expected(scores, values)
    assert torch.allclose(got[rows], wanted[rows], rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
