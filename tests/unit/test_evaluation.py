"""The evaluation: its workloads can be compiled and checked, and its page says what was measured."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from dt_mlir.autoscheduling.auto import auto_schedule, with_schedule
from dt_mlir.compiler import compile_program
from dt_mlir.costs.device import find_device
from dt_mlir.diagnostics import CompileError
from dt_mlir.frontend.emit import compile_text
from dt_mlir.runtime.execute import prepare_triton
from dt_mlir.tuning.inputs import Prepared
from dt_mlir.tuning.strategies.predicted import Predicted
from dt_mlir.tuning.task import canonical
from dt_mlir.verification.sampling import Sample, sample

prepare_triton()

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True, scope="module")
def benchmarks() -> Iterator[None]:
    sys.path.insert(0, str(BENCHMARKS))
    yield
    sys.path.remove(str(BENCHMARKS))


def module_of(name: str) -> ModuleType:
    return importlib.import_module(name)


def names_of_workloads() -> list[str]:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        return [workload.name for workload in module_of("workloads").WORKLOADS]
    finally:
        sys.path.remove(str(BENCHMARKS))


NAMES = names_of_workloads()


def test_names_are_unique() -> None:
    workloads = module_of("workloads").WORKLOADS
    assert len({w.name for w in workloads}) == len(workloads)
    programs = {path.stem for path in (BENCHMARKS / "programs").glob("*.dt")}
    assert programs == {workload.program for workload in workloads}


def test_models_have_forty_operators() -> None:
    assert sum(w.group == "models" for w in module_of("workloads").WORKLOADS) >= 40


FIRST = {name.partition("-")[0]: name for name in reversed(NAMES)}
OTHERS = sorted({*NAMES} - {*FIRST.values()})


def check(name: str) -> None:
    workload = next(w for w in module_of("workloads").WORKLOADS if w.name == name)
    task = module_of("evaluate").task_of(workload)
    schedule = auto_schedule(task.module, task.sizes, find_device("h200"))
    assert compile_program(canonical(with_schedule(task.module, schedule)), name).source
    algorithm, _ = compile_text(task.algorithm, name)
    # What is too large to be checked is refused.
    sample(algorithm, task.sizes)


@pytest.mark.parametrize("name", FIRST.values())
def test_a_program_is_scheduled_and_can_be_checked(name: str) -> None:
    check(name)


@pytest.mark.parametrize("name", OTHERS)
def test_other_sizes_are_scheduled_and_can_be_checked(name: str) -> None:
    check(name)


def test_every_baseline_is_there() -> None:
    wanted = {name for w in module_of("workloads").WORKLOADS for name in w.baselines}
    baselines = module_of("baselines")
    assert wanted <= {*baselines.FUNCTIONS, *baselines.EXPERTS}


def test_experts_take_the_parameters_of_the_winner() -> None:
    winner = module_of("baselines").Winner.of("""
    Func mm : f16; In A : f16, B : f16; Var x, y; RVar k;
    mm[x, y] = rdot(A[x, k], B[k, y], k);
    mm.block(x:64, y:256); mm.tensorize(x:64, y:256, k:32); mm.map(x:x1/16, y, x1);
    mm.num_warps(8); mm.num_stages(4);
    mm.compile();
    """)
    assert dict(winner.tiles) == {"x": 64, "y": 256, "k": 32}
    assert (winner.warps, winner.stages, winner.group) == (8, 4, 16)


def measured(name: str, tuned: float, auto: float, **baselines: float) -> dict[str, Any]:
    """Returns a result as `evaluate.py` writes it."""
    times = {"tuned": tuned, "auto": auto, **baselines}
    return {
        "workload": name, "device": "NVIDIA H200", "versions": "dt-mlir 1", "date": "2026-11-25",
        "rounds": 3, "times": {n: {"cold": [t, t * 1.1, t], "hot": [t / 2] * 3}
                               for n, t in times.items()},
        "missing": {"softmax_liger": "liger_kernel is not installed"},
        "least": {"milliseconds": tuned / 2, "limit": "memory", "bytes": 3e7, "operations": 0.0},
        "search": {"autoscheduler": "0a1b", "seconds": 9.0, "size": 77, "pruned": {"spill registers": 5},
                   "statuses": {"ok": 6, "wrong": 1}, "milliseconds": [tuned], "problems": []},
        "auto": "", "program": "", "resources": {}, "sets": 3, "sizes": {},
    }  # fmt: skip


def test_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = {
        "softmax_stable-4096x1024": measured(
            "softmax_stable-4096x1024", 0.01, 0.0125, softmax_eager=0.02, softmax_compile=0.009
        ),
        "softmax_stable-4096x4096": measured(
            "softmax_stable-4096x4096", 0.04, 0.04, softmax_eager=0.05, softmax_compile=0.044
        ),
        # Another compiler's.
        "softmax-4096x16384": measured("softmax-4096x16384", 1, 1) | {"versions": "dt-mlir 0"},
    }
    for name, data in results.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    rows, left = module_of("row").load(tmp_path)
    assert [row.name for row in rows] == [*results][:2]
    assert {"softmax-4096x16384", "matmul-1024x1024x1024"} < {w.name for w in left}
    rows[0].data["measured_by"] = "dt-mlir 0"
    ranks = {"softmax-4096x1024": 0.9, "softmax-4096x4096": 0.4, "gelu-4096x4096": 0.8}
    text = module_of("tables").page(rows, left, ranks)
    assert "whose code is this one's, too: dt-mlir 0 (1 of them)." in text.replace("\n", " ")
    assert "NVIDIA H200, dt-mlir 1, 2026-11-25; 2 workloads, 3 rounds" in text
    assert "searched by autoscheduler 0a1b (2 of them)" in text.replace("\n", " ")
    assert "another schedule today than it was measured with: softmax_stable-4096x1024" in text
    assert "| `auto` / tuned, geometric mean | ≥ 0.9 | 0.89 (2 rows) | missed |" in text
    assert (
        "| `auto` / tuned, least | ≥ 0.7 | 0.80 (softmax_stable-4096x1024) | reached |" in text
    )
    assert "as fast as the best baseline, a part of all | ≥ 0.8 | 0.50 (2 rows) | missed |" in text
    assert "time (Spearman), median | ≥ 0.8 | 0.80 (3 workloads) | reached |" in text
    assert "| the same, least | ≥ 0.5 | 0.40 (softmax-4096x4096) | missed |" in text
    assert (
        "| softmax_stable-4096x1024 | 10.00 | 5.00 | 10.0 % | 3000 GB/s (hot 6000: L2) | 0.50 | "
        "0.80 / 0.80 | 2.00 / 2.00 | 0.90 / 0.90 | 7 of 77 | 5 |"
    ) in text
    assert "| softmax_stable-4096x1024 | 0.90 (compile) | 0.50 | not explained yet |" in text
    assert "- softmax_stable-4096x1024: softmax_liger: liger_kernel is not installed" in text
    module_of("plots").draw(rows, tmp_path / "softmax")
    assert (tmp_path / "softmax.svg").stat().st_size > 1000


def test_results_with_padded_rows_have_a_table(tmp_path: Path) -> None:
    name = "matmul-4095x4097x4093-f16"
    found = measured(
        name, 0.2, 0.25, matmul_eager=0.9, matmul_compile=0.22, tuned_contiguous=0.24
    )
    (tmp_path / f"{name}.json").write_text(json.dumps(found))
    rows, left = module_of("row").load(tmp_path)
    assert rows[0].baselines == ["matmul_eager", "matmul_compile"]
    text = module_of("tables").page(rows, left, {})
    assert "## Results with padded rows" in text
    assert f"| {name} | 1.10 | 1.10 |  |  | 0.92 | 0.92 |  |  |" in text


def test_schedules_write_results_as_torch_compile_pads_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, wide = torch.empty(6, 8)[:, :5], torch.empty(5, 6).T
    inputs = Prepared([], {}, Sample({}, {}), lambda _: {}, {}, [((6, 5), torch.float32)], "cpu")
    functions: dict[str, Any] = {}
    monkeypatch.setattr(module_of("baselines"), "FUNCTIONS", functions)
    padding = module_of("contest").padding

    def found(result: Any) -> Any:
        functions["f_compile"] = lambda: result
        return padding(inputs, ["f_eager", "f_compile"])

    assert found(rows) == ((8, 1),)
    # Results that have no gaps, another order of axes, another shape or type are not followed.
    assert found(torch.empty(6, 5)) == ()
    assert found(wide) == ()
    assert found(rows[:3]) == ()
    assert found(rows.double()) == ()
    assert found((rows, rows)) == ()
    assert padding(inputs, ["f_eager"]) == ()
    del functions["f_compile"]
    assert padding(inputs, ["f_compile"]) == ()
    result = replace(inputs, strides=((8, 1),)).poisoned()
    assert (result.shape, result.stride()) == ((6, 5), (8, 1))
    assert result.isnan().all()


def test_what_was_measured_otherwise_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate = module_of("evaluate")
    (workload,) = evaluate.chosen(None, ["softmax_stable-4096x1024"])
    assert not evaluate.is_known(tmp_path, workload)
    known = measured(workload.name, 0.01, 0.01) | {
        "device": "cpu", "versions": evaluate.measuring.versions(),
        "measure": evaluate.measure_of(workload),
    }  # fmt: skip
    known["search"]["autoscheduler"] = evaluate.autoscheduler()
    path = tmp_path / f"{workload.name}.json"
    path.write_text(json.dumps(known))
    assert evaluate.is_known(tmp_path, workload)
    for changed in ({"versions": "dt-mlir 0"}, {"device": "NVIDIA H200"}, {"measure": "else"}):
        path.write_text(json.dumps(known | changed))
        assert not evaluate.is_known(tmp_path, workload)
    # Another autoscheduler's measurements stay while the schedule of `auto` is the same.
    known["search"]["autoscheduler"] = "another"
    for auto, stays in ((evaluate.schedule_of_auto(workload, evaluate.present_device()), True), ("another", False)):
        path.write_text(json.dumps(known | {"auto": auto}))
        assert evaluate.is_known(tmp_path, workload) == stays
    (other,) = evaluate.chosen(None, ["softmax_stable-4096x4096"])
    assert evaluate.measure_of(workload) != evaluate.measure_of(other)


def test_rows_of_a_compiler_that_wrote_the_same_code_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    confirm = module_of("confirm")
    assert module_of("evaluate").measuring.versions().partition(", ")[0] == confirm.COMPILER
    text = "Func f; In A; Var x; f[x] = exp(A[x]); f.block(x:128); f.tensorize(x:128); f.compile();"
    row = {
        "workload": "same", "auto": text, "program": text.replace("128", "256"),
        "versions": "dt-mlir 0, triton 3.6.0",
    }  # fmt: skip
    codes = confirm.codes_of(row)
    assert codes["auto"] != codes["program"]
    other = {**codes, "auto": codes["program"]}
    rows = {
        "same": row | {"codes": codes}, "other": row | {"codes": other}, "unknown": row,
        "refused": row | {"codes": codes, "auto": text.replace("x:128", "q:128")},
        "today": row | {"versions": f"{confirm.COMPILER}, triton 3.6.0"},
    }  # fmt: skip
    for name, data in rows.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(data | {"workload": name}))
    monkeypatch.setattr("sys.argv", ["confirm.py", "--results", str(tmp_path)])
    assert confirm.main() == 1
    left = "its code is not the same, or was not kept"
    said = capsys.readouterr().out.splitlines()
    assert said == [f"{name}: {left}" for name in ("other", "refused", "unknown")]
    found = {name: json.loads((tmp_path / f"{name}.json").read_text()) for name in rows}
    versions = f"{confirm.COMPILER}, triton 3.6.0"
    assert found["same"] == rows["same"] | {"versions": versions, "measured_by": "dt-mlir 0"}
    assert "measured_by" not in found["today"]
    assert found["other"]["versions"] == row["versions"]
    # The next compiler keeps the name of the one that measured.
    monkeypatch.setattr(confirm, "COMPILER", "dt-mlir 2")
    again = confirm.confirmed(found["same"])
    assert again["versions"].startswith("dt-mlir 2, ")
    assert again["measured_by"] == "dt-mlir 0"


def test_schedules_are_added_to_what_this_compiler_has_timed(tmp_path: Path) -> None:
    ranking = module_of("ranking")
    path = tmp_path / "softmax.json"
    assert ranking.kept_times(path) == {}
    kept = {"device": "cpu", "versions": ranking.measuring.versions(), "microseconds": {"f": 2.5}}
    path.write_text(json.dumps(kept))
    assert ranking.kept_times(path) == {"f": 2.5}
    for other in ({"device": "NVIDIA H200"}, {"versions": "dt-mlir 0"}):
        path.write_text(json.dumps(kept | other))
        assert ranking.kept_times(path) == {}


def test_a_workload_that_fails_does_not_end_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate = module_of("evaluate")
    tried: list[str] = []

    def known(_: Path, workload: Any) -> bool:
        tried.append(workload.name)
        raise CompileError("no schedule", None)

    monkeypatch.setattr(evaluate, "is_known", known)
    monkeypatch.setattr(evaluate.measuring, "device_name", lambda: "NVIDIA H200")
    monkeypatch.setattr(evaluate, "end_in_order", lambda: None)
    monkeypatch.setenv("PYTHONPATH", "")
    arguments = ["evaluate.py", "--only", "softmax_stable", "--results", str(tmp_path), "--jobs", "1"]
    monkeypatch.setattr("sys.argv", arguments)
    assert evaluate.main() == 1
    assert len(tried) > 1
    assert "softmax_stable-4096x4096: failed: no schedule" in capsys.readouterr().out


def test_the_winner_before_is_tried_again(tmp_path: Path) -> None:
    evaluate, seeded = module_of("evaluate"), module_of("seeded")
    (workload,) = evaluate.chosen(None, ["softmax_stable-4096x1024"])
    task = evaluate.task_of(workload)
    assert evaluate.known_winners(workload, task, tmp_path) == []
    schedule = "softmax.tensorize(y:0); softmax.num_warps(2);"
    text = task.algorithm.replace("softmax.compile", f"{schedule} softmax.compile")
    path = tmp_path / f"{workload.name}.json"
    path.write_text(json.dumps({"program": text}))
    known = evaluate.known_winners(workload, task, tmp_path)
    assert [candidate.text for candidate in known] == [text]
    # One of another algorithm is none of this one's.
    path.write_text(json.dumps({"program": text.replace("exp(", "exp2(")}))
    assert evaluate.known_winners(workload, task, tmp_path) == []
    derived = Predicted(task.module, task.sizes, find_device("h200"), patient=True)
    strategy = seeded.Seeded(known, derived)
    asked = strategy.ask(4)
    assert asked[0].text == strategy.first.text
    assert asked[1].text == text
    assert len({candidate.text for candidate in asked}) == 4


def test_gpus_are_not_shared_out_again() -> None:
    command = [sys.executable, "benchmarks/evaluate.py", "--gpu", "all"]
    root = BENCHMARKS.parent
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
    assert done.returncode == 2
    assert "unrecognized arguments: --gpu all" in done.stderr


def test_ranks_of_equal_numbers_are_shared() -> None:
    spearman = module_of("ranks").spearman
    assert spearman([1, 2, 3, 4], [10, 20, 30, 40]) == pytest.approx(1)
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)
    # Ranks 0.5, 0.5, 2, 3 and 0, 1, 2, 3.
    assert spearman([1, 1, 2, 3], [5, 6, 7, 8]) == pytest.approx(4.5 / (4.5 * 5) ** 0.5)
    assert spearman([1, 1], [1, 2]) == 0


def test_kept_schedules_are_ranked(tmp_path: Path) -> None:
    # All of them take minutes.
    for path in sorted((BENCHMARKS / "rankings").glob("*.json"))[::10]:
        shutil.copy(path, tmp_path)
    found = module_of("ranks").rankings(tmp_path)
    assert len(found) >= 10
    assert all(-1 <= value <= 1 for value in found.values())
