"""What notebooks show, and the example notebook itself."""

import sys
from pathlib import Path
from typing import Any

import pytest

import dt_mlir as dt
from dt_mlir.kernels.programs import Program, Tuned
from dt_mlir.tuning.database import Record
from dt_mlir.tuning.outcome import Outcome
from dt_mlir.tuning.task import Candidate

ROOT = Path(__file__).parents[2]


def _product() -> Any:
    x, y, k = dt.Var("x"), dt.Var("y"), dt.RVar("k")
    A, B = dt.In("A"), dt.In("B")
    mm = dt.Func("mm")
    mm[x, y] = dt.rdot(A[x, k], B[k, y], k)
    return mm.block(x=32, y=32).tensorize(x=32, y=32, k=16)


def test_a_function_shows_algorithm_and_schedule() -> None:
    html = _product()._repr_html_()
    assert "mm[x, y] = rdot(A[x, k], B[k, y], k);" in html
    assert "mm.block(x:32, y:32);" in html
    assert html.index("algorithm") < html.index("mm[x, y]") < html.index("mm.block(")


def test_a_function_that_is_not_defined_says_so() -> None:
    html = dt.Func("f")._repr_html_()
    assert "is not defined" in html


def test_a_schedule_says_what_its_directives_do() -> None:
    schedule = _product().directives
    assert repr(schedule).splitlines() == ["mm.block(x:32, y:32);", "mm.tensorize(x:32, y:32, k:16);"]
    assert "Partitions the output" in schedule._repr_html_()
    assert repr(dt.Schedule()) == "Schedule()"


def test_a_kernel_shows_itself_with_picture_costs_and_code() -> None:
    html = _product().compile()._repr_html_()
    for part in ("<svg", "predicted for", "@triton.jit", "mm.tensorize"):
        assert part in html, part


def test_ir_is_text_that_shows_its_lines() -> None:
    found = _product().compile().ir("tile")
    assert isinstance(found, str)
    assert found.startswith("builtin.module")
    html = found._repr_html_()  # type: ignore[attr-defined]
    assert html.startswith("<pre>")
    assert "&lt;" in html
    assert "!tile.of<" not in html


def test_an_exploration_is_a_frame_and_a_text() -> None:
    page = _product().compile().explore(beside=dt.Schedule.parse("mm.block(x:16, y:16);"), compiled=False)
    html = page._repr_html_()
    assert html.startswith("<iframe srcdoc=")
    assert "<script" not in html
    assert 'sandbox="allow-scripts"' in html
    assert "tile-place-masks" in repr(page)
    assert [item.name for item in page.programs] == ["mm.dt", "mm-beside.dt"]


def test_a_search_shows_its_table() -> None:
    program = Program.of([_product()])
    text = program.to_dt()
    record = Record(text, "ok", times=[0.5, 0.5], point={"BM<": 64})
    outcome = Outcome({text: record}, {text: Candidate(record.point, text)}, 1, "events", rounds=2)
    found = Tuned(program, 0.5, outcome)
    html = found._repr_html_()
    assert "0.5000" in html
    assert "BM&lt;" in html
    assert "mm.block" in html
    assert repr(found).startswith("0.5000 ms\n1 schedules")


def test_the_example_runs_and_shows_what_is_kept() -> None:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        from notebook import NOTEBOOK, executed
    finally:
        sys.path.pop(0)
    import nbformat

    kept, now = nbformat.read(NOTEBOOK, as_version=4), executed(NOTEBOOK)
    assert len(kept.cells) == len(now.cells)
    compared = 0
    for before, after in zip(kept.cells, now.cells):
        outputs, others = before.get("outputs", []), after.get("outputs", [])
        assert [o["output_type"] for o in outputs] == [o["output_type"] for o in others]
        for output, other in zip(outputs, others):
            shown = output["data"]["text/plain"]
            if " ms" not in shown:
                assert shown == other["data"]["text/plain"]
                compared += 1
            assert output["data"].keys() == other["data"].keys()
    assert compared >= 5
