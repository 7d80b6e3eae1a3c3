"""Searching spaces from Python."""

from pathlib import Path
from typing import Any

import pytest
import torch

import dt_mlir as dt
from dt_mlir.diagnostics import CompileError
from dt_mlir.runtime.execute import prepare_triton

DEVICE = prepare_triton()


def doubled() -> dt.Func:
    f, A, s, x = dt.Func("f"), dt.In("A"), dt.SIn("s"), dt.Var("x")
    f[x] = A[x] * s
    size = dt.Knob("B", 16, 32)
    return f.block(x=size).tensorize(x=size)


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("DT_MLIR_CACHE", str(tmp_path / "kernels"))
    return {"database": tmp_path / "tuning.sqlite", "jobs": 1, "rounds": 2, "progress": False}


def test_a_search_gives_the_fastest_program(options: dict[str, Any]) -> None:
    given = torch.rand(50, device=DEVICE)
    found = dt.tune(doubled(), given, **options)
    assert found.outcome.statuses() == {"ok": 2}
    assert found.schedule.to_dt() in (
        "f.block(x:16);\nf.tensorize(x:16);\n", "f.block(x:32);\nf.tensorize(x:32);\n"
    )  # fmt: skip
    assert f"{found.milliseconds:.4f}" in found.table()
    assert torch.allclose(found.compile()(given, 2.0), given * 2)
    # All is known by now: no process is started.
    again = dt.tune(doubled().compile(), given, **options)
    times = {text: len(record.times) for text, record in again.outcome.records.items()}
    assert times == {text: len(record.times) for text, record in found.outcome.records.items()}
    bare = dt.Program.of([doubled()]).with_schedule(dt.Schedule())
    space = dt.Schedule.parse("f.block(x:{16, 32});\nf.tensorize(x:0);")
    assert len(dt.tune(bare, given, space=space, **options).outcome.records) == 2


def test_a_kernel_that_tunes_itself(options: dict[str, Any]) -> None:
    kernel = doubled().autotuned(**options)
    for size in (50, 20, 50):
        given = torch.rand(size, device=DEVICE)
        assert torch.allclose(kernel(given, 3.0), given * 3)
    assert [tuple(shape) for ((_, shape),) in kernel.found] == [(50,), (20,)]


def test_what_cannot_be_tuned(options: dict[str, Any]) -> None:
    with pytest.raises(CompileError, match="tuning needs a tensor for 'A'"):
        dt.tune(doubled(), **options)
    with pytest.raises(CompileError, match="'A' must have 1 axes, not 2"):
        dt.tune(doubled(), torch.rand(2, 2), **options)
    with pytest.raises(CompileError, match="'A' has elements of torch.complex64"):
        dt.tune(doubled(), torch.rand(2, dtype=torch.complex64), **options)
    wrong = doubled().num_warps(3)
    with pytest.raises(CompileError, match="no power of two"):
        dt.tune(wrong, torch.rand(4), **options)
