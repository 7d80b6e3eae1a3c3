"""Kernels with schedules that the compiler writes, from Python."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

import dt_mlir as dt
from dt_mlir.diagnostics import CompileError, CompileWarning
from dt_mlir.runtime.execute import prepare_triton

DEVICE = prepare_triton()


def softmax() -> dt.Func:
    f, total, A = dt.Func("f"), dt.Func("total"), dt.In("A")
    x, y = dt.Var("x"), dt.RVar("y")
    total[x] = dt.rsum(dt.exp(A[x, y]), y)
    f[x, y] = dt.exp(A[x, y]) / total[x]
    return f


def test_a_schedule_with_reasons() -> None:
    schedule = dt.auto(softmax(), sizes={"x": 4096, "y": 4096}, device="h200")
    lines = schedule.to_dt().splitlines()
    assert lines[0] == "total.fuse_at(f, x);"
    assert lines[-2].startswith("f.num_warps(")
    assert "# about" in lines[-2]
    assert lines[-1].startswith("f.dependent_launch();")
    assert "# its launch overlaps with the end of the kernel before" in lines[-1]
    # A schedule is read again; what is behind # is for its readers.
    again = dt.Schedule.parse(schedule.to_dt())
    assert again.to_dt().splitlines() == [line.split("  #")[0].strip() for line in lines]


def test_tensors_say_types_and_sizes() -> None:
    tensors = torch.empty(2048, 65536, dtype=torch.bfloat16, device="meta")
    said = dt.auto(softmax(), types={"A": "bf16"}, sizes={"x": 2048, "y": 65536}).to_dt()
    assert dt.auto(softmax(), tensors).to_dt() == said
    assert "f.tensorize(y:0);" not in said
    assert "f.tensorize(y:0);" in dt.auto(softmax(), tensors[:, :4096]).to_dt()
    assert dt.auto(softmax(), types={"A": "bf16"}, sizes={"x": 64, "y": 64}).to_dt()


def test_a_program_without_a_schedule_is_warned_of_once() -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for _ in range(2):
            dt.compile(softmax())
    assert [(item.category, Path(item.filename).name) for item in found] == [
        (CompileWarning, "test_automatic.py")
    ]
    assert str(found[0].message) == (
        "'f' has no schedule: a program instance computes a single element; schedule it, or let "
        "compile(schedule='auto') do it"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        softmax().compile(schedule="auto")
        softmax().block(x=1).compile()


@pytest.mark.parametrize("static", [False, True])
def test_a_kernel_that_schedules_itself(static: bool) -> None:
    kernel = softmax().compile(schedule="auto", static=static)
    assert isinstance(kernel, dt.Automatic)
    for shape in ((5, 33), (3, 70), (5, 33)):
        given = torch.rand(*shape, device=DEVICE)
        assert torch.allclose(kernel(given), torch.softmax(given, 1), atol=1e-6)
    assert len(kernel._kernels) == 2
    assert pickle.loads(pickle.dumps(kernel)).static == static


def test_rounding_stays() -> None:
    f = softmax()
    f.math("accurate").block(x=3)
    shown = dt.auto(f, sizes={"x": 64, "y": 64}).to_dt()
    assert "f.math(accurate);" in shown
    assert "x:3" not in shown


def test_other_schedules_are_refused() -> None:
    with pytest.raises(CompileError, match="'fast' is not a way to schedule a program"):
        softmax().compile(schedule="fast")
    with pytest.raises(CompileError, match="no figures of the device 'abacus'"):
        dt.auto(softmax(), device="abacus")
    with pytest.raises(CompileError, match="there is no label 'z'"):
        dt.auto(softmax(), sizes={"z": 1})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": {"x": "3"}}, "the size of 'x' is a number of 0 or more, not '3'"),
        ({"sizes": {"x": 2.5}}, "the size of 'x' is a number of 0 or more, not 2.5"),
        ({"sizes": [{"x": 3}]}, "sizes are a mapping of labels to numbers, not a list"),
        ({"sizes": {dt.Var("x"): 3}}, "sizes are given by the names of labels"),
        ({"types": ["f16"]}, "types are a mapping of inputs to element types, not a list"),
        ({"types": {dt.In("A"): "f16"}}, "types are given by the names of inputs"),
        ({"types": {"A": "f17"}}, "'f17' is not an element type"),
        ({"device": 3}, "a device has a name, as 'h200', and 3 is none"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CompileError, match=message):
        dt.auto(softmax(), **options)
    if "sizes" not in options:
        return
    with pytest.raises(CompileError, match=message):
        dt.best(softmax(), **options)


def test_tensors_are_checked() -> None:
    with pytest.raises(CompileError, match="auto: 'A' must be a tensor, not list"):
        dt.auto(softmax(), [1.0])
    with pytest.raises(CompileError, match="auto: there are 1 inputs, and 2 are given"):
        dt.auto(softmax(), torch.rand(2, 2), torch.rand(2, 2))


def test_types_of_pytorch_are_types() -> None:
    sizes = {"x": 64, "y": 64}
    said = dt.auto(softmax(), types={"A": "f16"}, sizes=sizes)
    assert dt.auto(softmax(), types={"A": torch.float16}, sizes=sizes) == said
    kernel = softmax().block(x=1).compile()
    assert kernel.source_for(A=torch.float16) == kernel.source_for(A="f16")


def test_assumed_sizes_are_told() -> None:
    with pytest.warns(CompileWarning, match="auto assumes y=4096; give the sizes, or tensors"):
        dt.auto(softmax(), sizes={"x": 64})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dt.auto(softmax(), sizes={"x": 64, "y": 64})
        dt.auto(softmax(), torch.rand(4, 4))


def test_reasons_are_no_part_of_what_a_schedule_says(tmp_path: Path) -> None:
    schedule = dt.auto(softmax(), sizes={"x": 64, "y": 64})
    assert "#" in schedule.to_dt()
    assert dt.Schedule.parse(schedule.to_dt()) == schedule
    schedule.save(tmp_path / "softmax.dt")
    assert dt.Schedule.load(tmp_path / "softmax.dt") == schedule
    assert dt.Schedule.parse("f.block(x:4);") != schedule


def test_a_kernel_shows_the_schedule_that_was_chosen() -> None:
    f = softmax()
    f.block(x=3)
    kernel = f.compile(schedule="auto")
    kernel(torch.rand(5, 33, device=DEVICE))
    assert "x:3" not in repr(kernel)
    assert "total.fuse_at(f, x);" in kernel.schedule.to_dt()


def test_mistakes_show_when_a_kernel_is_made() -> None:
    f, A, x = dt.Func("f"), dt.In("A"), dt.Var("x")
    g = dt.Func("g")
    f[x] = A[x] + g[x]
    with pytest.raises(CompileError):
        f.compile(schedule="auto")
