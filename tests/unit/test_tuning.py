"""The tuner's processes, its database, and what it checks."""

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from texts import text_of

from dt_mlir.analysis.interface import Interface
from dt_mlir.compiler import compile_program
from dt_mlir.diagnostics import CompileError
from dt_mlir.frontend.emit import compile_text
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
from dt_mlir.interpreters.run import random_inputs, run_module
from dt_mlir.runtime.ahead_of_time import launches
from dt_mlir.runtime.execute import loaded, prepare_on_cpu
from dt_mlir.tuning.best import recorded_best
from dt_mlir.tuning.bounds import Traffic
from dt_mlir.tuning.compilation import build, replace_kernels
from dt_mlir.tuning.database import Database, Record, Setting
from dt_mlir.tuning.inputs import Prepared, prepare
from dt_mlir.tuning.measuring import Measured, measure, prepared, timed, warm
from dt_mlir.tuning.outcome import BEST, Outcome
from dt_mlir.tuning.progress import Silent
from dt_mlir.tuning.replays import Run
from dt_mlir.tuning.report import table
from dt_mlir.tuning.task import Prediction, Task
from dt_mlir.tuning.tuner import Options, Tuner
from dt_mlir.tuning.workers.local import LocalWorkers
from dt_mlir.verification.sampling import sample

SPACE = text_of("space_of_eight_schedules")


def task(text: str = SPACE, **sizes: int) -> Task:
    module, _ = compile_text(text, "-")
    return Task(module, sizes or {"x": 9, "y": 17, "k": 17})


def tuner(found: Task, database: Database, **options: Any) -> Tuner:
    setting = Setting(found.algorithm, found.sizes, "cpu", "1")
    return Tuner(found, setting, database, Options(**options), Silent())


def test_a_space_has_each_schedule_once() -> None:
    found = task()
    assert len(found.space) == 8
    texts = [candidate.text for candidate in found.candidates()]
    assert len(set(texts)) == len(texts) == 8
    assert all("{" not in text and "|" not in text for text in texts)
    assert "fuse_at" not in found.algorithm
    for text in texts:
        compile_text(text, "-")


def test_what_occurs_in_no_taken_branch_is_no_dimension() -> None:
    assert len(task(text_of("space_of_two_branches"), x=8).space) == 5


def test_a_process_that_ends_or_hangs_costs_only_its_candidate() -> None:
    found = task()
    wanted = (found.algorithm, found.sizes, "interpreter")
    with LocalWorkers(timeout=1.0) as workers:

        def run(function: Any, *args: object) -> Measured:
            return workers.measured(0, workers.start(0, wanted, function, *args))

        assert run(os._exit, 3).message == "its process ended with status 3"
        started = time.monotonic()
        assert run(time.sleep, 60).status == "late"
        assert time.monotonic() - started < 30
        # The next finds a process that works.
        assert run(warm, *wanted).status == "ok"


def test_everything_late_is_said() -> None:
    with Database(":memory:") as database:
        outcome = tuner(task(), database, timeout=0.001, jobs=2).run()
        assert outcome.best is None
        # What is refused may come before the first look at the clock.
        assert set(outcome.statuses()) <= {"late", "refused"}
        assert f"{outcome.statuses()['late']} took too long: it took too long" in table(outcome)


def test_a_wrong_result_and_a_launch_that_fails_are_seen() -> None:
    found = task()
    candidate = found.candidates()[0]
    built = build(candidate.text, "-", found.sizes, None)
    assert built.status == "ok"

    def tried(source: str) -> tuple[str, str]:
        result = measure(found.algorithm, source, found.sizes, "interpreter", Accuracy())
        return result.status, result.message

    assert tried(built.source) == ("ok", "")
    assert "tl.sum(" in built.source
    status, message = tried(built.source.replace("tl.sum(", "tl.max("))
    assert status == "wrong"
    assert message.startswith("'f' is wrong: element [")
    status, message = tried(built.source.replace("def _check_tensor", "def _gone"))
    assert status == "failed"
    assert "_check_tensor" in message
    unchecked = measure(
        found.algorithm, built.source.replace("tl.sum(", "tl.max("), found.sizes, "interpreter", None
    )
    assert unchecked.status == "ok"
    assert unchecked.milliseconds is not None


def test_a_result_that_changes_between_runs_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    found = task()
    built = build(found.candidates()[0].text, "-", found.sizes, None)
    assert built.repeatable
    inputs = prepared(found.algorithm, tuple(found.sizes.items()), "interpreter")

    def in_a_race(runs: Sequence[Run], method: str, repetition: int) -> float:
        inputs.arguments[0][-1] += 1
        runs[0]()
        inputs.arguments[0][-1] -= 1
        return 1.0

    monkeypatch.setattr("dt_mlir.tuning.measuring.timed", in_a_race)

    def tried(check: Accuracy | None, repeatable: bool) -> tuple[str, str]:
        result = measure(
            found.algorithm, built.source, found.sizes, "interpreter", check, 1, repeatable
        )
        return result.status, result.message

    assert tried(Accuracy(), True) == ("wrong", "it computes something else in another run")
    # Sums in memory have no order, and what was checked before is not checked again.
    assert tried(Accuracy(), False) == ("ok", "")
    assert tried(None, True) == ("ok", "")


def test_sums_in_memory_are_not_repeatable() -> None:
    text = text_of("product", ("f.compile", "f.rfactor(k:2, parts, atomic); f.compile"))
    assert not build(text, "-", {"x": 16, "y": 16, "k": 16}, None).repeatable


def test_results_are_held_to_the_precision_of_their_schedule() -> None:
    found = task(text_of("space_of_precisions"), x=16, y=16, k=16)
    coarse, exact = (build(c.text, "-", found.sizes, None).accuracy for c in found.candidates())
    assert (coarse.product, exact.product) == (2.0**13, 0.0)
    inputs = prepared(found.algorithm, tuple(found.sizes.items()), "interpreter")
    a, b = inputs.arguments
    near = ((a.double() @ b.double()) * (1 + 1e-4)).float()
    inputs.check(near, coarse)
    with pytest.raises(CompileError, match="'f' is wrong"):
        inputs.check(near, exact)


def test_results_may_have_padded_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    found = task(text_of("product"), x=16, y=20, k=16)
    built = build(found.candidates()[0].text, "-", found.sizes, None)
    written: list[tuple[int, ...]] = []
    check = Prepared.check

    def watched(self: Prepared, results: Any, accuracy: Accuracy) -> None:
        written.append(results.stride())
        check(self, results, accuracy)

    monkeypatch.setattr(Prepared, "check", watched)
    for strides in ((), ((24, 1),)):
        result = measure(
            found.algorithm, built.source, found.sizes, "interpreter", Accuracy(), 1, True, strides
        )
        assert (result.status, result.message) == ("ok", "")
    assert written == [(20, 1), (24, 1)]


def test_candidates_with_padded_results_are_kept_apart(tmp_path: Path) -> None:
    plain = Setting("f", {"x": 3}, "gpu", "1")
    padded = replace(plain, strides=((8, 1),))
    with Database(tmp_path / "known.sqlite") as database:
        for setting, time in ((plain, 2.0), (padded, 1.0)):
            database.save(setting, Record("f.block(x:3);", "ok"))
            database.add_time(setting, "f.block(x:3);", "cold", time)
        for setting, time in ((plain, 2.0), (padded, 1.0)):
            (record,) = database.ranked(setting)
            assert record.times == [time]
        assert database.settings("f") == [padded, plain]


def test_what_nothing_writes_is_wrong() -> None:
    found = task(text_of("doubled"), x=700)
    built = build(found.candidates()[0].text, "-", found.sizes, None)

    def tried(source: str) -> str:
        return measure(found.algorithm, source, found.sizes, "interpreter", Accuracy()).status

    assert "mask=x_mask)" in built.source
    for _ in range(3):
        assert tried(built.source) == "ok"
        assert tried(built.source.replace("mask=x_mask)", "mask=x_mask & (x < 3))")) == "wrong"


def test_bad_luck_is_forgotten_and_takes_nothing_away(tmp_path: Path) -> None:
    found = task(SPACE.replace("{0, 16}", "0"))
    with Database(tmp_path / "db") as database:
        assert tuner(found, database, timeout=0.001).run().best is None
        better = tuner(found, database, rounds=1, jobs=2).run()
        assert len(better.ranked()) == 4
        worse = tuner(found, database, rounds=2, keep=1e9, timeout=0.001).run()
        assert len(worse.ranked()) == 4


def test_an_interrupted_search_ends_at_once_and_leaves_nothing_running(tmp_path: Path) -> None:
    (tmp_path / "f.dt").write_text(text_of("space_of_blocks"))
    (tmp_path / "slow.py").write_text("import time\ndef slow(A):\n    open('begun', 'w').close()\n    time.sleep(300)\n")
    command = [Path(sys.executable).with_name("dt-tune"), "f.dt", "x=8", "--cpu", "--rounds", "1",
               "--database", "db", "--baseline", "slow=slow.py:slow", "--timeout", "200"]  # fmt: skip
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True, start_new_session=True,
                               # A shell's background jobs ignore it.
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # fmt: skip
    for _ in range(600):
        if (tmp_path / "begun").exists():
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "2 schedules, 2 tried, 2 timed (interpreter), then interrupted" in out
    assert errors.strip().endswith("interrupted")
    for _ in range(100):
        if not _is_running(process.pid):
            break
        time.sleep(0.1)
    assert not _is_running(process.pid)


@pytest.mark.parametrize(("rounds", "more"), [("1", []), ("30", []), ("1", ["--ray"])])
def test_a_search_that_is_terminated_says_what_it_found(
    rounds: str, more: list[str], tmp_path: Path
) -> None:
    if more:
        pytest.importorskip("ray")
    (tmp_path / "f.dt").write_text(text_of("product"))
    command = [Path(sys.executable).with_name("dt-tune"), "f.dt", "--auto", "x=64", "y=64", "k=64",
               "--cpu", "--rounds", rounds, "--jobs", "1", "--database", "db", "--trials", "1000",
               "--baseline", "slow=slow.py:slow", "-o", "best.dt", *more]  # fmt: skip
    (tmp_path / "slow.py").write_text("import time\ndef slow(A, B): time.sleep(300)\n")
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True,
                               stdout=subprocess.PIPE, start_new_session=True)  # fmt: skip
    for _ in range(600):
        if (tmp_path / "db").exists():
            with Database(tmp_path / "db") as database:
                setting = database.settings(task(text_of("product"), x=64, y=64, k=64).algorithm)
                if setting and database.methods(setting[0]):
                    break
        time.sleep(0.1)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 143
    assert "leaked" not in errors
    assert "Traceback" not in errors
    assert "then interrupted" in out
    assert " ms  of best  rounds" in out
    won = (tmp_path / "best.dt").exists()
    # Only what was measured in all rounds wins.
    assert won == (rounds == "1")
    assert ("so that none has won" in out) == (not won)
    for _ in range(100):
        if not _is_running(process.pid):
            break
        time.sleep(0.1)
    assert not _is_running(process.pid)


def test_times_of_other_programs_are_ratios_to_predictions(tmp_path: Path) -> None:
    found = task()
    mine = Setting(found.algorithm, found.sizes, "gpu", "1")
    other = Setting("other", {"x": 1}, "gpu", "1")
    with Database(tmp_path / "db") as database:
        for setting, text, seconds, milliseconds in (
            (other, "a", 1.0, 1000.0), (other, "b", 1.0, 4000.0), (mine, "c", 1.0, 9000.0),
            (Setting("other", {"x": 1}, "cpu", "1"), "d", 1.0, 9.0),
        ):  # fmt: skip
            database.save(setting, Record(text, "ok"))
            database.add_prediction(setting, text, Prediction(seconds, (seconds,), "model"))
            database.add_time(setting, text, "events", milliseconds)
        ratios = [ratio for _, ratio in database.ratios(mine, "model")]
        assert ratios == pytest.approx([math.log(2), -math.log(2)])
        assert database.ratios(mine, "another") == []


def _is_running(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_what_is_illegal_or_fails_is_told_apart() -> None:
    refused = build(SPACE, "-", {"x": 4}, None)
    assert refused.status == "refused"
    assert "the schedule is a space of 8 schedules" in refused.message


def test_a_search_goes_on_where_it_was(tmp_path: Path) -> None:
    found = task()
    with Database(tmp_path / "db") as database:
        first = tuner(found, database, rounds=1, trials=3, jobs=2).run()
        assert len(first.records) == 3
    with Database(tmp_path / "db") as database:
        second = tuner(found, database, rounds=2, keep=1e9, jobs=2)
        outcome = second.run()
        assert len(outcome.records) == 8
        assert [len(record.times) for record in outcome.ranked()] == [2] * 6
        # What was known was compiled for its second round alone, and not timed a third time.
        method = outcome.method
        loaded = database.load(second.setting, method)
        assert sorted(len(record.times) for record in loaded.values()) == [0, 0] + [2] * 6


def test_a_record_counts_in_every_space_that_has_the_schedule(tmp_path: Path) -> None:
    found = task()
    setting = Setting(found.algorithm, found.sizes, "gpu", "1")
    texts = [candidate.text for candidate in found.candidates()]
    with Database(tmp_path / "db") as database:
        for number, text in enumerate(texts):
            database.save(setting, Record(text, "ok"))
            database.add_time(setting, text, "events", 10.0 - number)
        assert [record.program for record in database.ranked(setting)] == texts[::-1]
        assert database.ranked(Setting(found.algorithm, {}, "gpu", "1")) == []
        # The order of directives and the names of knobs mean nothing.
        other = SPACE.replace("B = {4, 8};", "").replace("f.block(x:B);", "").replace("x:B", "x:ROWS")
        other = other.replace("f.compile();", "ROWS = {16, 4}; f.block(x:ROWS); f.compile();")
        module, _ = compile_text(other, "-")
        database.save(replace(setting, strides=((8, 1),)), Record(texts[0], "ok"))
        database.add_time(replace(setting, strides=((8, 1),)), texts[0], "events", 0.1)
        best, where = recorded_best(module, tmp_path / "db", {"x": 9}, None)
        assert where == setting
        assert best.point["ROWS"] == 4
        assert best.text in texts
        # A status that changes keeps the times.
        database.save(setting, Record(texts[0], "wrong", "no"))
        assert database.load(setting, "events")[texts[0]].times == [10.0]


def test_a_record_is_found_where_equal_sizes_do_not_go_together(tmp_path: Path) -> None:
    text = "Func f; In A, B; Var x; f[x] = A[x + 1] * B[x]; f.block(x:{8, 16}); f.compile();"
    module, _ = compile_text(text, "-")
    found = Task(module, {"x": 20, "A_0": 21})
    setting = Setting(found.algorithm, found.sizes, "gpu", "1")
    first = found.candidates()[0].text
    with Database(tmp_path / "db") as database:
        database.save(setting, Record(first, "ok"))
        database.add_time(setting, first, "events", 1.0)
    for given in ({}, {"x": 20}, {"A_0": 21}):
        assert recorded_best(module, tmp_path / "db", given, None)[0].text == first
    with pytest.raises(CompileError, match="has been measured"):
        recorded_best(module, tmp_path / "db", {"x": 21}, None)


@pytest.mark.parametrize(
    ("definition", "sampled"),
    [
        ("f[x, y] = rdot(A[x, k], A[k, y], k);", []),
        ("f[x, y] = rdot(A[x, k], B[k, y], k);", ["x", "y"]),
        ("f[x, y] = A[x, y] * B[y, x];", ["x", "y"]),
        ("f[x, y] = A[x, y] + x;", ["x", "y"]),
        ("f[x, y] = A[x, y] * (x - 2 * y);", ["x", "y"]),
        ("f[x, y] = rsum(A[x, k] * B[k, y], k, k <= x, 2 * k >= y - 3);", ["x", "y"]),
        ("f[x, y] = rsum(A[x, k] * B[k, y], k, k < len(x));", ["y"]),
        ("f[x, y] = A[x, y] + len(y);", ["x"]),
        ("f[x, y] = A[x, y] + A[0, y];", ["y"]),
        ("f[x, y] = A[x, y] / rsum(A[x, k], k);", ["x"]),
        ("f[x, y] = A[x, y] + A[y, x];", ["x", "y"]),
    ],
)
def test_sampled_results_are_those_of_the_whole(definition: str, sampled: list[str]) -> None:
    text = text_of("product", ("f[x, y] = rdot(A[x, k], B[k, y], k);", definition))
    module, _ = compile_text(text, "-")
    interface = Interface.of(module)
    one_size = any("y" in group for group in interface.groups if "x" in group)
    sizes = interface.sizes({"x": 40} if one_size else {"x": 40, "y": 30})
    chosen = sample(module, sizes, most=100)
    assert sorted(chosen.indices) == sampled
    arithmetic = BoundedArithmetic(Accuracy.of(module))
    inputs = random_inputs(interface, sizes, arithmetic)
    whole = run_module(module, inputs, sizes, arithmetic)["f"]
    parts = {
        item.name: arithmetic.from_array(
            _taken(inputs[item.name].value, chosen.input_places(item)), item.element
        )
        for item in interface.inputs
    }
    part = run_module(module, parts, chosen.sizes, arithmetic, sampled=chosen.indices)["f"]
    wanted = _taken(whole.value, chosen.places(["x", "y"]))
    assert np.allclose(part.value, wanted)


def _taken(array: Any, places: list[tuple[int, Any]]) -> Any:
    for axis, indices in places:
        array = np.take(array, indices, axis)
    return array


def test_places_along_an_axis_are_drawn_from_all_of_it() -> None:
    module, _ = compile_text(
        "Func f; In T, ids : i64, n : i32; Var t, c; f[t, c] = T[ids[t], c] * cast(n[t], f32);"
        "f.compile();", "-",
    )  # fmt: skip
    sizes = {"T_0": 5000, "t": 600, "c": 4}
    _, ids, n = prepare(module, sizes, "cpu").arguments
    assert 0 <= int(ids.min()) < 100
    assert 4900 < int(ids.max()) < 5000
    assert (int(n.min()), int(n.max())) == (-9, 9)


def test_places_of_what_no_output_reads_are_left_aside() -> None:
    module, _ = compile_text(
        "Func h, g, f; In ids : i64, A; Var z, t, i; h[z] = 0.5; g[t] = h[ids[t]]; f[i] = A[i];"
        "f.compile();", "-",
    )  # fmt: skip
    # `z` has no size.
    found = prepare(module, Interface.of(module).sizes({"i": 9}), "cpu")
    assert [shape for shape, _ in found.outputs] == [(9,)]


def test_bytes_moved() -> None:
    program = compile_program(text_of("matrix_and_scaled_vector"))
    traffic = Traffic.of(program.module, {"x": 10, "y": 20}, program.algorithm)
    assert traffic == Traffic(10 * 20 * 2 + 10 * 4, 10 * 20 * 2 + 10 * 4)


@pytest.mark.parametrize(
    ("algorithm", "inputs"),
    [
        ("f[x, y] = A[x, y] + B[y, x];", 2 * 10 * 20 * 4),
        # Of a table no more than some rows may be read, and of what is read at sums or in a
        # triangle not all.
        ("f[x, y] = A[ids[x], y];", 10 * 8),
        ("f[x, y] = A[x, y] + B[y + 1, x];", 10 * 20 * 4),
        ("f[x, y] = A[x, 2 * y];", 0),
        ("f[x, y] = A[x, x] * B[0, y];", 0),
        ("f[x, y] = A[x, y] + rsum(B[z, x], z, z <= y);", 10 * 20 * 4),
        ("f[x, y] = A[x, y] + rsum(B[z, x], z);", 10 * 20 * 4 + 30 * 10 * 4),
        # What is read in part is computed in part.
        ("g[x, y] = A[x, y]; f[x, y] = g[ids[x], y];", 10 * 8),
        ("g[x, y] = A[x, y]; f[x, y] = g[x, y];", 10 * 20 * 4),
    ],
)  # fmt: skip
def test_bytes_of_inputs_that_are_read_in_whole(algorithm: str, inputs: int) -> None:
    functions = "g, f" if "g[" in algorithm else "f"
    given = ", ".join(
        f"{name}{' : i64' if name == 'ids' else ''}"
        for name in ("A", "B", "ids") if f"{name}[" in algorithm
    )  # fmt: skip
    labels = "Var x, y; RVar z;" if "z]" in algorithm or "[z" in algorithm else "Var x, y;"
    program = compile_program(
        f"Func {functions}; In {given}; {labels} {algorithm} f.block(x:1); f.compile();", "-"
    )
    traffic = Traffic.of(program.module, {"x": 10, "y": 20, "z": 30}, program.algorithm)
    assert traffic.inputs == inputs


def test_launches_of_kernels_alone_are_recorded() -> None:
    program = compile_program(text_of("largest_and_its_place"))
    names = [launch.name for launch in launches(program.module, {"x": 4, "k": 8})]
    assert names == ["f_kernel"]
    prepare_on_cpu()  # Tests that run behind this one in its process may launch.
    with loaded(program.source) as emitted:
        before = dict(vars(emitted))
        replace_kernels(emitted, names, {}, ThreadPoolExecutor())
        changed = {name for name, value in vars(emitted).items() if value is not before[name]}
        # The functions that reductions combine elements by are no kernels.
        assert changed == {"f_kernel"}


def test_a_label_without_a_size_is_refused() -> None:
    with pytest.raises(CompileError, match="there is no size of 'y'"):
        task(x=4)


def test_sizes_that_follow_from_others_need_not_be_given() -> None:
    text = "Func f; In X; Var p = size(X, 0) // 2;\nf[p] = X[2 * p] + X[2 * p + 1];\nf.compile();\n"
    found = Task(compile_text(text, "halves.dt")[0], {"X_0": 10})
    assert found.sizes["p"] == 5


def test_time_on_the_interpreter() -> None:
    assert timed([lambda: time.sleep(0.01)], "interpreter") >= 9


def test_baselines_stand_in_the_table() -> None:
    found = task()
    candidates = found.candidates()
    records = {c.text: Record(c.text, "ok", "", {}, [1.0 + i]) for i, c in enumerate(candidates)}
    outcome = Outcome(
        records, {c.text: c for c in candidates}, 8, "events",
        {BEST: [1.0, 1.0], "eager": [2.0, 4.0]}, {}, {"other"},
    )  # fmt: skip
    shown = table(outcome, 3)
    assert "3.0000    3.000       2" in shown
    assert "… and 5 slower ones" in shown
    assert "1 cannot be faster (bytes moved over bandwidth)" in shown
