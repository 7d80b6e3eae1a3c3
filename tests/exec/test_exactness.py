"""Results that a schedule, a fold of constants or a narrow index would change."""

import math
from typing import Any

import pytest
import torch
from texts import replaced, text_of

from dt_mlir.compiler import compile_program
from dt_mlir.runtime.execute import loaded, prepare_triton

DEVICE = prepare_triton()
SCHEDULES = {"scalar": "", "tiles": "f.block(x:8);\nf.tensorize(x:8);\n"}


def run(text: str, *args: Any) -> torch.Tensor:
    with loaded(compile_program(text, "exact").source) as module:
        given = [a.to(DEVICE) if isinstance(a, torch.Tensor) else a for a in args]
        return module.f(*given).cpu()


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=list(SCHEDULES))
@pytest.mark.parametrize(
    ("expression", "values", "wanted"),
    [
        ("1 / -A[x]", [0.0, -0.0, 2.0], [-math.inf, math.inf, -0.5]),
        ("1 / (A[x] * -0.0)", [1.0, -1.0], [-math.inf, math.inf]),
        # Factors whose product is zero or infinite do not join.
        ("exp(A[x] * 1e-30 * 1e-30)", [1e38, 0.0], [1.0, 1.0]),
        ("exp(A[x] * 3e38)", [0.0, 1e-38, -1.0], [1.0, math.exp(3.0), 0.0]),
        ("exp(-(A[x] * 1e30 * 1e-38))", [1.0, 1e30], [1.0, 0.0]),
        ("A[x] ** inf", [0.5, 1.0, 2.0], [0.0, 1.0, math.inf]),
        ("A[x] ** nan", [1.0, 2.0], [1.0, math.nan]),
        ("A[x] + 1e-44", [0.0], [1e-44]),
    ],
)
def test_values(expression: str, values: list[float], wanted: list[float], schedule: str) -> None:
    text = text_of("copy", ("A[x];", f"{expression};\n{schedule}"))
    got, want = run(text, torch.tensor(values)), torch.tensor(wanted)
    assert torch.allclose(got, want, rtol=1e-5, atol=0, equal_nan=True)


def test_fusing_changes_no_value() -> None:
    text = text_of("exponential_of_scaled_twice")
    values = torch.tensor([1.0, 1e9, -1e9, 1e30])
    fused = replaced(text, ("f.compile();", "g.fuse_at(f, x);\nf.tensorize(x:4);\nf.compile();"))
    assert torch.equal(run(text, values), run(fused, values))


def test_constants_fill_tiles_with_their_sign() -> None:
    assert torch.signbit(run(text_of("negative_zeros"), torch.ones(3))).all()


@pytest.mark.parametrize("type", ["f16", "f32"])
def test_scalars_are_rounded_to_their_type(type: str) -> None:
    text = text_of("scalar_everywhere", ("SIn s;", f"SIn s : {type};"))
    dtype = {"f16": torch.float16, "f32": torch.float32}[type]
    assert run(text, torch.ones(2), 0.1)[0] == torch.tensor(0.1, dtype=dtype).float()


def test_loops_are_as_wide_as_offsets() -> None:
    source = compile_program(text_of("total_by_thousands")).source
    assert "range(0, tl.cast(k_SIZE, INDEX), 1000)" in source
    assert "k_start + tl.arange(0, 1024).to(INDEX)" in source
    with loaded(source) as module:
        assert module._is_wide(2**31 - 1 + 1000)
        assert not module._is_wide(2**31 - 1001 + 1000)


@pytest.mark.parametrize("size", [1000, 2**24 + 10])
def test_differences_of_indices_are_rounded_once(size: int) -> None:
    # Beyond 2^24 an index itself is no float.
    zeros = torch.zeros(1)
    got = run(text_of("differences_of_indices"), zeros.expand(4), zeros.expand(size))
    assert torch.equal(got, (torch.arange(size) - torch.arange(4)[:, None]).float())
