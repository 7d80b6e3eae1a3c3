"""Searching spaces from Python."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import dt_mlir as dt
from dt_mlir.diagnostics import CompileError
from dt_mlir.runtime.execute import prepare_triton
from dt_mlir.tuning.dispatch import Leaf, Split

DEVICE = prepare_triton()


def doubled() -> dt.Func:
    f, A, s, x = dt.Func("f"), dt.In("A"), dt.SIn("s"), dt.Var("x")
    f[x] = A[x] * s
    size = dt.Knob("B", 16, 32)
    return f.block(x=size).tensorize(x=size)


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("DT_MLIR_CACHE", str(tmp_path / "kernels"))
    return {"database": tmp_path / "tuning.sqlite", "jobs": 1, "rounds": 2, "keep": 1000.0, "progress": False}


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


def test_a_kernel_that_tunes_itself_is_a_kernel(options: dict[str, Any]) -> None:
    kernel = doubled().autotuned(**options)
    given = torch.rand(30, device=DEVICE)
    compiled = torch.compile(lambda t: kernel(t, 3.0) + 1, fullgraph=True, backend="aot_eager")
    for size in (30, 20):
        torch.testing.assert_close(compiled(given[:size]), given[:size] * 3 + 1)
    assert len(kernel.found) == 2
    assert kernel(given.to("meta"), 2.0).device.type == "meta"
    with pytest.raises(TypeError, match="f: the number 's' is missing"):
        kernel(given)
    with pytest.raises(RuntimeError, match="f: 'A' requires a gradient, and the kernel has no backward"):
        kernel(given.clone().requires_grad_(), 2.0)
    assert torch.allclose(kernel(s=4.0, A=given), given * 4)
    # What is shown is what was found last; the schedule is still the space.
    assert "@triton.jit" in kernel.source
    assert "{16, 32}" in kernel.schedule.to_dt()
    count = len(kernel.found)
    for wrong, error, message in (
        ((torch.rand(7, device=DEVICE), "a"), TypeError, "f: 's' must be a real number, not a str"),
        ((torch.rand(7, 2, device=DEVICE), 2.0), ValueError, r"f: 'A\[x\]' has 1 axes"),
    ):
        with pytest.raises(error, match=message):
            kernel(*wrong)
    assert len(kernel.found) == count
    with pytest.raises(CompileError, match="'round' is not an option of a search") as found:
        doubled().autotuned(round=3)
    assert found.value.hint == "did you mean 'rounds'?"
    again = pickle.loads(pickle.dumps(kernel))
    assert torch.allclose(again(given, 2.0), given * 2)


def test_sizes_that_no_tensor_has_are_searched_for(options: dict[str, Any]) -> None:
    f, A, x, copy = dt.Func("f"), dt.In("A", "f16"), dt.Var("x"), dt.Var("copy")
    f[copy, x] = A[x] + copy
    kernel = f.block(x=dt.one_of(16, 32)).autotuned(**options)
    given = torch.rand(20, device=DEVICE).half()
    for count in (3, 2, 3):
        assert kernel(given, copy=count).shape == (count, 20)
    assert len(kernel.found) == 2
    with pytest.raises(TypeError, match="f: 'A' must have elements of torch.float16, not torch.float32"):
        kernel(given.float(), copy=5)
    assert len(kernel.found) == 2


def test_what_was_found_is_looked_up(options: dict[str, Any]) -> None:
    given, path = torch.rand(50, device=DEVICE), options["database"]
    space = doubled()
    with pytest.raises(CompileError, match="there is no database"):
        dt.best(space, given, database=path)
    found = dt.tune(space, given, **options)
    assert dt.best(space, given, database=path).schedule == found.schedule
    assert dt.best(space, sizes={"x": 50}, types={"A": "f32"}, database=path).schedule == found.schedule
    with pytest.raises(CompileError, match=r"has been measured for these sizes; .* records for x=50 on"):
        dt.best(space, torch.rand(51), database=path)
    with pytest.raises(CompileError, match="cannot be used as a database: a database is a file"):
        dt.best(space, given, database=path.parent)
    with pytest.raises(CompileError, match="no schedule of the space has been measured"):
        dt.best(space, given.half(), database=path)
    with pytest.raises(CompileError, match="no schedule of the space has been measured"):
        dt.best(space, given, database=path, device="another")
    dt.tune(space, given[:20], **options)
    with pytest.raises(CompileError, match=r"there are records for .*; say which.*in Python: sizes="):
        dt.best(space, database=path)
    other = dt.Schedule.parse("f.block(x:{16, 32});\nf.tensorize(x:0);")
    with pytest.raises(CompileError, match="no schedule of the space has been measured"):
        dt.best(space, given, space=other, database=path)


def test_a_script_tunes_at_its_top_level(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""
import torch, dt_mlir as dt
print("once")
if not torch.cuda.is_available():
    dt.interpret()
f, A, x = dt.Func("f"), dt.In("A"), dt.Var("x")
f[x] = A[x] + 1
given = torch.rand(20, device="cuda" if torch.cuda.is_available() else "cpu")
dt.tune(f.block(x=dt.one_of(8, 16)), given, rounds=1, progress=False, database="found.sqlite")
""")
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "once\n"


PLUGIN = """
import sys, torch, dt_mlir as dt
if not torch.cuda.is_available():
    dt.interpret()
exec(sys.argv[1])
f, A, x, y = dt.Func("f"), dt.In("A"), dt.Var("x"), dt.Var("y")
f[x, y] = A[x, y] + 1
f.block(x=dt.one_of(4, 8)).no_multi_buffer(y)
given = torch.rand(5, 6, device="cuda" if torch.cuda.is_available() else "cpu")
print(dt.tune(f, given, rounds=1, progress=False, database="found.sqlite").outcome.statuses())
"""


@pytest.mark.parametrize("how", ["module", "main"])
def test_directives_of_plugins_are_found_by_a_search(how: str, tmp_path: Path) -> None:
    folder = Path(__file__).parents[2] / "examples" / "plugin" / "dt_extras"
    load = "from no_multi_buffer import NoMultiBufferPass" if how == "module" else (folder / "no_multi_buffer.py").read_text()
    script = tmp_path / "script.py"
    script.write_text(PLUGIN)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, script, load], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    if how == "module":
        assert done.stdout == "Counter({'ok': 2})\n", done.stderr
    else:
        assert "the processes of a search do not find the directive 'no_multi_buffer'" in done.stderr


def test_what_cannot_be_tuned(options: dict[str, Any]) -> None:
    with pytest.raises(CompileError, match="tune: there is no tensor for 'A'"):
        dt.tune(doubled(), **options)
    with pytest.raises(ValueError, match=r"tune: 'A\[x\]' has 1 axes, but the tensor given has 2"):
        dt.tune(doubled(), torch.rand(2, 2), **options)
    with pytest.raises(CompileError, match="'A' has elements of torch.complex64"):
        dt.tune(doubled(), torch.rand(2, dtype=torch.complex64), **options)
    with pytest.raises(CompileError, match="tune: there are 2 inputs, and 3 are given"):
        dt.tune(doubled(), torch.rand(4), 2.0, 3.0, **options)
    with pytest.raises(CompileError, match="a str is neither a function, nor a program, nor a kernel"):
        dt.tune("f", torch.rand(4), **options)
    with pytest.raises(CompileError, match="a str is not a schedule"):
        dt.best(doubled(), torch.rand(4), space="f.block(x:4);", database=options["database"])
    wrong = doubled().num_warps(3)
    with pytest.raises(CompileError, match="not a power of two"):
        dt.tune(wrong, torch.rand(4), **options)


def test_sizes_choose_among_schedules(options: dict[str, Any], tmp_path: Path) -> None:
    given = torch.rand(50, device=DEVICE)
    several = [{"x": 8}, {"x": 3000}]
    found = dt.tune(doubled(), given, sizes=several, **options)
    assert isinstance(found, dt.TunedForSizes)
    assert [dict(sizes) for sizes in found.sizes] == several
    assert len(found.best) == 2
    assert 1 <= len(found.programs) <= 2
    assert "return 0\n" in found.text
    kernel = found.compile()
    for size in (8, 100, 3000):
        given = torch.rand(size, device=DEVICE)
        assert torch.equal(kernel(given, 2.0), given * 2)
        assert found.choose({"x": size}) in range(len(found.programs))
    again = pickle.loads(pickle.dumps(kernel))
    assert torch.equal(again(given, 2.0), given * 2)
    found.save(tmp_path / "doubled")
    code = (
        "import sys, torch, doubled; A = torch.rand(70, device=sys.argv[1]);"
        "assert torch.equal(doubled.f(A, 2.0), 2 * A); assert 'dt_mlir' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, DEVICE], cwd=tmp_path, check=True)
    names = {path.name for path in (tmp_path / "doubled").iterdir()} - {"__pycache__"}
    count = range(len(found.programs))
    assert names == {"__init__.py", *(f"schedule_{n}{end}" for n in count for end in (".py", ".dt"))}
    with pytest.raises(CompileError, match="'no name' is not the name of a Python package"):
        found.save(tmp_path / "no name")
    with pytest.raises(CompileError, match="there are no sizes to tune for"):
        dt.tune(doubled(), given, sizes=[], **options)
    with pytest.raises(CompileError, match="there is no label 'z' to give a size"):
        dt.tune(doubled(), given, sizes=[{"z": 3}], **options)


def test_a_derived_space_is_searched_from_python(options: dict[str, Any]) -> None:
    given = torch.rand(50, device=DEVICE)
    found = dt.tune(doubled(), given, space="auto", trials=3, **options)
    # There are no more.
    assert found.outcome.statuses() == {"ok": 2}
    assert torch.equal(found.compile()(given, 2.0), given * 2)
    with pytest.raises(CompileError, match="'all' is not a space"):
        dt.tune(doubled(), given, space="all", **options)
    kernel = doubled().autotuned("auto", trials=2, **options)
    assert torch.equal(pickle.loads(pickle.dumps(kernel))(given, 2.0), given * 2)
    with pytest.raises(CompileError, match="'all' is not a space"):
        doubled().autotuned("all")


def test_limits_of_a_search_do_not_limit_the_comparison(options: dict[str, Any]) -> None:
    given = torch.rand(50, device=DEVICE)
    several = [{"x": x} for x in (8, 40, 500, 3000)]
    found = dt.tune(doubled(), given, sizes=several, trials=1, **options)
    assert isinstance(found, dt.TunedForSizes)
    assert repr(found) == f"<{len(found.programs)} schedules for 4 sizes>\n{found.text}"
    assert all(time is not None for row in found.milliseconds for time in row)
    assert all(best <= min(filter(None, row)) for best, row in zip(found.best, found.milliseconds))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([{"x": -3}], "the size of 'x' is a number of 0 or more, not -3"),
        ([{"x": 8.0}], "the size of 'x' is a number of 0 or more, not 8.0"),
        (["x"], "sizes is a mapping of labels to sizes, or a list of such"),
        (5, "sizes is a mapping of labels to sizes, or a list of such"),
    ],
)
def test_sizes_that_are_none_are_refused(
    sizes: Any, message: str, options: dict[str, Any]
) -> None:
    with pytest.raises(CompileError, match=message):
        dt.tune(doubled(), torch.rand(50, device=DEVICE), sizes=sizes, **options)


def test_a_label_that_no_tensor_has_needs_a_size(options: dict[str, Any]) -> None:
    program = dt.parse("Func f; In A; Var c, x; f[c, x] = A[x] + c; f.block(c:{1, 2}); f.compile();")
    given = torch.rand(8, device=DEVICE)
    with pytest.raises(CompileError, match="there is no size of 'c'"):
        dt.tune(program, given, sizes=[{"x": 8}], **options)


def test_kernels_that_tune_themselves_take_no_list_of_sizes() -> None:
    with pytest.raises(CompileError, match="searches at the sizes that it meets"):
        doubled().autotuned(sizes=[{"x": 8}])


def test_a_package_takes_any_names(options: dict[str, Any], tmp_path: Path) -> None:
    text = (
        "Func choose; In schedule_0, class; SIn _choose; Var lambda, c;\n"
        "choose[c, lambda] = schedule_0[lambda] * _choose + class[lambda] + c;\n"
        "choose.block(lambda:{1, 8}); choose.compile();\n"
    )
    A, B = torch.rand(9, device=DEVICE), torch.rand(9, device=DEVICE)
    several = [{"lambda": 9, "c": 3}, {"lambda": 600, "c": 3}]
    found = dt.tune(dt.parse(text), A, B, sizes=several, **options)
    assert isinstance(found, dt.TunedForSizes)
    (tmp_path / "named").mkdir()
    (tmp_path / "named" / "schedule_9.py").write_text("stale")
    found.save(tmp_path / "named")
    assert not (tmp_path / "named" / "schedule_9.py").exists()
    code = (
        "import sys, torch, named; A, B = torch.rand(2, 40, device=sys.argv[1]);"
        "R = named.choose(A, B, 2.0, c=5);"
        "assert torch.allclose(R, 2 * A + B + torch.arange(5, device=A.device)[:, None])"
    )
    subprocess.run([sys.executable, "-c", code, DEVICE], cwd=tmp_path, check=True)
    with pytest.raises(CompileError, match="'class' is not the name of a Python package"):
        found.save(tmp_path / "class")


def test_a_package_refuses_what_has_no_sizes(tmp_path: Path) -> None:
    text = "Func f; In A; Var x, c; f[x, c] = A[x] * c; f.block(x:{}); f.compile();"
    several = ({"x": 8, "c": 2}, {"x": 3000, "c": 2})
    tree = Split(("x",), 100, Leaf(0), Split(("c",), 9, Leaf(1), Leaf(0)))
    programs = tuple(dt.parse(text.format(rows)) for rows in (4, 8))
    found = dt.TunedForSizes(programs, tree, several, ((1.0, 2.0), (2.0, 1.0)), (1.0, 1.0))
    found.save(tmp_path / "saved")
    code = """
import sys, torch, saved
a = torch.arange(5.0, device=sys.argv[1])
assert torch.equal(saved.f(a, c=3), torch.outer(a, torch.arange(3.0, device=a.device)))
for given, size, error, message in (
    (a[None], 3, ValueError, "has 1 axes"), (3.0, 3, TypeError, "must be a tensor"),
    (None, 3, TypeError, "must be a tensor"), (a, "3", TypeError, "must be a size"),
    (a[:1], torch.tensor([3, 4]), TypeError, "must be a size"),
):
    try:
        saved.f(given, c=size)
    except error as found:
        assert message in str(found), found
    else:
        raise AssertionError(message)
"""
    subprocess.run([sys.executable, "-c", code, DEVICE], cwd=tmp_path, check=True)
    found.save(tmp_path / "saved")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "__init__.py").write_text("mine = 1\n")
    with pytest.raises(CompileError, match=r"other is another package.*would be lost"):
        found.save(tmp_path / "other")
    assert (tmp_path / "other" / "__init__.py").read_text() == "mine = 1\n"
    (tmp_path / "file").write_text("")
    with pytest.raises(CompileError, match="file cannot be made"):
        found.save(tmp_path / "file")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"jobs": -1}, "jobs is a number of 1 or more, not -1"),
        ({"trials": 1.5}, "trials is a number of 1 or more, not 1.5"),
        ({"rounds": 0}, "rounds is a number of 1 or more, not 0"),
        ({"keep": 0.5}, "keep is at least 1, not 0.5"),
        ({"budget": 0}, "budget is more than 0, not 0"),
        ({"gpus": "7"}, "there is no GPU '7'"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    given: dict[str, Any], message: str, options: dict[str, Any]
) -> None:
    with pytest.raises(CompileError, match=message):
        dt.tune(doubled(), torch.rand(50, device=DEVICE), **{**options, **given})
