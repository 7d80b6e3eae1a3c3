"""Quotients by numbers and by what is made of sizes, which are products with a reciprocal."""

import pytest
import torch

from dt_mlir.compiler import compile_program
from dt_mlir.runtime.execute import loaded, prepare_triton

DEVICE = prepare_triton()
INF, NAN = float("inf"), float("nan")
VALUES = torch.cat([
    torch.tensor([0.0, -0.0, INF, -INF, NAN, 2.0**127, -(2.0**-126), 2.0**-149, 1.0, -3.0]),
    torch.randn(990, generator=torch.manual_seed(1)) * 1e3,
])  # fmt: skip


def run(text: str, *tensors: torch.Tensor) -> torch.Tensor:
    with loaded(compile_program(text, "quotient").source) as module:
        return module.f(*(tensor.to(DEVICE) for tensor in tensors)).cpu()


def quotient(divisor: str, type: str, size: int, more: str = "") -> torch.Tensor:
    """Returns the values divided by a scalar, which may be made of the size of a label `z`."""
    text = f"""
    Func f; In A : {type}, Z; Var x, z;
    f[x] = A[x] / {divisor} + rsum(Z[z], z) * 0;
    f.block(x:1024); f.tensorize(x:1024, z:8); {more}
    f.compile();
    """
    values = VALUES.to(torch.float64 if type == "f64" else torch.float32)
    return run(text, values, torch.zeros(size))


@pytest.mark.parametrize("number", [8.0, -0.25, 3.0, -11.3, 1e-38, 1e38, 2.0**126])
@pytest.mark.parametrize("more", ["", "f.math(accurate);"])
def test_numbers(number: float, more: str) -> None:
    got = quotient(f"({number!r})", "f32", 3, more)
    wanted = VALUES / number
    # A reciprocal that is a power of two is exact, and so are quotients in accurate kernels.
    exact = bool(more) or abs(number) in (8.0, 0.25, 2.0**126)
    bound, least = (0.0, 0.0) if exact else (2.4e-7, 2.0**-126)
    assert torch.allclose(got, wanted, rtol=bound, atol=least, equal_nan=True)


@pytest.mark.parametrize("size", [0, 1, 3, 64])
@pytest.mark.parametrize("type", ["f32", "f64"])
def test_sizes(size: int, type: str) -> None:
    got = quotient("sqrt(len(z))", type, size)
    wanted = VALUES.to(got.dtype) / torch.tensor(float(size), dtype=got.dtype).sqrt()
    bound, least = (1e-6, 0.0) if type == "f64" else (2.4e-7, 2.0**-126)
    assert torch.allclose(got, wanted, rtol=bound, atol=least, equal_nan=True)


@pytest.mark.parametrize("size", [0, 2])
def test_extremes_of_quotients(size: int) -> None:
    """By a size of 0 the largest quotient is not that of the largest number."""
    text = """
    Func f; In A, Z; Var x, k, z;
    f[x] = rmax(A[x, k] / len(z), k) + rsum(Z[z], z) * 0;
    f.block(x:2); f.tensorize(x:2, k:0, z:8);
    f.compile();
    """
    rows = torch.tensor([[1.0, -2.0, 3.0], [-1.0, INF, 4.0]])
    got = run(text, rows, torch.zeros(size))
    assert torch.equal(got, (rows / size).amax(1))


def test_quotients_by_integers() -> None:
    """Each element has a divisor of its own, and fast kernels divide as fast as they may."""
    text = """
    Func f; In A, B : i32; Var x;
    f[x] = A[x] / cast(B[x], f32) + sqrt(cast(x + 1, f32)) + 1 / cast(x - 7, f32);
    f.block(x:512); f.tensorize(x:512);
    f.compile();
    """
    assert "_rn(" not in compile_program(text, "quotient").source
    whole = torch.arange(-499, 501, dtype=torch.int32)
    indices = torch.arange(1000.0, dtype=torch.float64)
    terms = torch.stack([VALUES.double() / whole, (indices + 1).sqrt(), 1 / (indices - 7)])
    wanted, got = terms.sum(0), run(text, VALUES, whole).double()
    # Terms may nearly cancel: what is rounded off is a part of them, not of their sum.
    finite = wanted.isfinite()
    errors = (got - wanted).abs()[finite] / terms.abs().sum(0)[finite]
    assert errors.max() < 5e-7
    assert torch.equal(got[~finite].nan_to_num(), wanted[~finite].nan_to_num())
    assert torch.equal(got.isnan(), wanted.isnan())
