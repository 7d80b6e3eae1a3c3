"""Conditions on whole numbers that are known at the launch only: none is too large or too small."""

from itertools import product

import pytest
import torch
from texts import text_of

from dt_mlir.compiler import compile_program
from dt_mlir.runtime.execute import loaded, prepare_triton

DEVICE = prepare_triton()
LEAST_32, MOST_32, LEAST_64, MOST_64 = -(2**31), 2**31 - 1, -(2**63), 2**63 - 1


def _program(name: str, schedule: str) -> str:
    text = text_of(name, ("f.compile();", f"{schedule}\nf.compile();"))
    return compile_program(text, name).source


def _range(count: int, *after: None) -> torch.Tensor:
    return torch.arange(count)[(slice(None), *after)]


@pytest.mark.parametrize("schedule", ["", "f.block(i:8); f.tensorize(i:8, j:4);"], ids=["scalar", "tiles"])
def test_windows_of_any_width(schedule: str) -> None:
    values = torch.randint(-9, 9, (19,)).float()
    i, j = _range(19, None), _range(19)
    with loaded(_program("window_by_scalars", schedule)) as module:
        for w, v in product((0, 1, 18, 19, -1, -3, MOST_32, LEAST_32), (0, 1, 18, 20, -5, MOST_64, LEAST_64)):
            inside = (j <= i) & (j >= i - w) & (j < v)
            got = module.f(values.to(DEVICE), w, v, i=19)
            assert got.tolist() == (values * inside).sum(1).tolist(), (w, v)


@pytest.mark.parametrize(
    "schedule",
    ["", "f.block(b:1, c:8); f.tensorize(c:8, j:4);", "f.block(b:4, c:4); f.tensorize(b:4, c:4, j:4);"],
    ids=["scalar", "of_one_row", "of_several_rows"],
)
def test_lengths_that_are_data(schedule: str) -> None:
    lengths = torch.tensor([0, 1, 5, 11, 12, 13, -3, MOST_32, LEAST_32], dtype=torch.int32)
    values = torch.randn(9, 12, 5)
    j, c, ends = _range(12, None), _range(5), lengths.long()[:, None, None]
    inside = (j < ends) & (2 * j + c >= ends - 9)
    with loaded(_program("maximum_to_lengths", schedule)) as module:
        got = module.f(values.to(DEVICE), lengths.to(DEVICE)).cpu()
    assert torch.equal(got, torch.where(inside, values, -torch.inf).amax(1))


@pytest.mark.parametrize("depth", [16, 0], ids=["in_steps", "whole"])
def test_products_in_a_band(depth: int) -> None:
    a, b = torch.randn(18, 35), torch.randn(35, 17)
    a[3, 7], b[30, 2] = torch.inf, torch.nan
    x, k, y = _range(18, None, None), _range(35, None), _range(17)
    terms = a[:, :, None] * b
    schedule = f"f.block(x:16, y:16); f.tensorize(x:16, y:16, k:{depth});"
    with loaded(_program("product_in_a_band", schedule)) as module:
        for w in (0, 3, -7, 100, -100, LEAST_64, MOST_64):
            # Sums with the largest numbers would wrap here; no label is beyond 1000.
            near = min(max(w, -1000), 1000)
            inside = (k <= x + near) & (k >= y - near)
            expected = torch.where(inside, terms, 0).sum(1)
            got = module.f(a.to(DEVICE), b.to(DEVICE), w).cpu()
            assert torch.allclose(got, expected, atol=1e-4, equal_nan=True), w


@pytest.mark.parametrize("schedule", ["", "f.block(x:4); f.tensorize(x:4);", "f.tensorize(j:8);"], ids=["scalar", "rows", "steps"])
@pytest.mark.parametrize(
    ("condition", "w"),
    [("1000000 * j < w", 2500000000), ("j + 3000000000 > w", 3000000005), ("w - j >= 2147483640", 2147483650)],
)  # fmt: skip
def test_numbers_beyond_32_bits(condition: str, w: int, schedule: str) -> None:
    values = torch.randint(-9, 9, (3, 3000)).float()
    text = f"Func f; In A; SIn w : i64; Var x; RVar j; f[x] = rsum(A[x, j], j, {condition}); {schedule} f.compile();"
    inside = eval(condition, {"j": _range(3000), "w": w})
    with loaded(compile_program(text, "large").source) as module:
        got = module.f(values.to(DEVICE), w)
    assert got.tolist() == (values * inside).sum(1).tolist()
