"""What a process of its own finds out about a program."""

from __future__ import annotations

import re

import pytest
from editor_texts import ROOT

from dt_mlir.autoscheduling.auto import assumed_sizes
from dt_mlir.costs.device import find_device
from dt_mlir.costs.report import cost_report
from dt_mlir.editor import deep_check
from dt_mlir.editor.deep_check import compile_deeply, predict
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline

SPACE = """Func f;
In A;
Var x;
f[x] = A[x];
BM = {64, 128};
f.block(x:BM);
f.compile();
"""


@pytest.mark.parametrize("example", ["matmul", "softmax", "two_matmul_inner"])
def test_costs_are_those_that_dtc_prints(example: str) -> None:
    text = (ROOT / "examples" / f"{example}.dt").read_text()
    module, _ = compile_text(text, "p")
    run_pipeline(module, default_pipeline("dt"))
    report = cost_report(module, assumed_sizes(module, {}), find_device(None))
    found = predict(text, "p", {}, None)
    assert found is not None
    assert report.startswith(f"predicted for {found.circumstances}")
    rows = [re.split(r"  +", line) for line in report.splitlines() if line.endswith("B")]
    kernels = [row for row in rows if len(row) == 8]
    assert [row[0] for row in kernels] == list(found.kernels)
    for row in kernels:
        assert found.kernels[row[0]].startswith(f"{row[1]} (busiest: {row[2]}), {row[3]} moved")
    steps = {row[0]: row for row in rows if row[0].endswith(";")}
    assert steps.keys() == found.directives.keys()
    for name, row in steps.items():
        assert f"→ {row[1]}" in found.directives[name]
        assert found.directives[name].endswith(f"{row[-1]} moved")


def test_costs_of_a_space_are_those_of_its_first_schedule() -> None:
    found = predict(SPACE, "p", {"x": 1024}, "h200")
    first = predict(SPACE.replace("BM = {64, 128};\n", "").replace("BM", "64"), "p", {"x": 1024}, "h200")
    assert found is not None
    assert first is not None
    assert found.kernels == first.kernels
    assert list(found.directives) == ["f.block(x:BM);"]


@pytest.mark.parametrize(
    ("text", "device"),
    [(SPACE.replace("A[x]", "B[x]"), None), (SPACE, "abacus"), (SPACE.replace("x:BM", "y:BM"), None)],
)
def test_nothing_is_predicted_of_what_cannot_be(text: str, device: str | None) -> None:
    assert predict(text, "p", {}, device) is None


def test_a_program_is_compiled_to_its_end() -> None:
    text = "Func f;\nIn A, B;\nVar x, y; RVar k;\nf[x, y] = rsum(A[x, k] * B[k, y], k);\nf.block(x:1024, y:1024);\nf.tensorize(x:1024, y:1024, k:64);\nf.compile();\n"
    found = compile_deeply(text, "p")
    assert found
    assert all(problem.place is not None for problem in found)
    assert compile_deeply(SPACE, "p") == []
    (problem,) = compile_deeply(SPACE.replace("A[x]", "C[x]"), "p")
    assert (problem.message, problem.place, problem.hint) == (
        "'C' is not declared", (4, 8), "add 'In C;'",
    )  # fmt: skip


def test_a_fault_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a fault")

    monkeypatch.setattr(deep_check, "emit_module", fail)
    text = (ROOT / "examples" / "matmul.dt").read_text()
    (problem,) = compile_deeply(text, "p")
    assert problem.message == "internal fault of the compiler: AssertionError: a fault"
    assert problem.hint == "please report it"
