"""DT in Python: the same programs as in files, values for schedules, and errors at their line."""

import importlib.util
import inspect
import json
import math
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import torch

import dt_mlir as dt
from dt_mlir.compiler import compile_program
from dt_mlir.diagnostics import CompileError, SourceTexts, file_line_col
from dt_mlir.language.directives import Directives
from dt_mlir.registry import PASSES
from dt_mlir.runtime import cache
from dt_mlir.runtime.execute import prepare_triton
from dt_mlir.scheduling.directive import Directive

DEVICE = prepare_triton()
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.dt"))
SPACES = sorted(path.stem for path in (ROOT / "benchmarks" / "programs").glob("*.dt"))


def _embedded() -> Any:
    spec = importlib.util.spec_from_file_location("embedded", ROOT / "examples" / "embedded.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EMBEDDED = _embedded()


@pytest.mark.parametrize("name", EXAMPLES)
def test_python_and_dt_give_the_same_module(name: str) -> None:
    path = ROOT / "examples" / f"{name}.dt"
    want = compile_program(path.read_text(), path.name).source
    program = getattr(EMBEDDED, name)()
    assert program.compile().source == want
    again = dt.parse(program.to_dt())
    assert again.to_dt() == program.to_dt()
    assert again.compile().source == want


@pytest.mark.parametrize("name", SPACES)
def test_spaces_survive_the_way_through_text(name: str) -> None:
    program = dt.parse((ROOT / "benchmarks" / "programs" / f"{name}.dt").read_text())
    again = dt.parse(program.to_dt())
    assert again.to_dt() == program.to_dt()
    assert str(again.module()) == str(program.module())


def product() -> tuple[dt.Func, dt.Var, dt.Var, dt.RVar]:
    mm, A, B = dt.Func("mm"), dt.In("A"), dt.In("B")
    x, y, k = dt.Var("x"), dt.Var("y"), dt.RVar("k")
    mm[x, y] = dt.rdot(A[x, k], B[k, y], k)
    return mm, x, y, k


def test_a_space_in_python() -> None:
    mm, *_ = product()
    size = dt.Knob("BM", 64, 128)
    mm.block(x=size, y=64).tensorize(x=size, y=64, k=dt.one_of(32, 64)).math(dt.one_of("fast", "accurate"))
    text = dt.Program.of([mm]).to_dt()
    assert "BM = {64, 128};\nmm.block(x:BM, y:64);\nmm.tensorize(x:BM, y:64, k:{32, 64});\n" in text
    assert "mm.math({fast, accurate});" in text
    assert str(dt.Program.of([mm]).module()) == str(dt.parse(text).module())
    other = dt.Knob("BM", 1, 2)
    with pytest.raises(CompileError, match="there are two knobs 'BM'"):
        mm.num_warps(other)


def test_schedules_are_values(tmp_path: Path) -> None:
    schedule = dt.Schedule()
    schedule["mm"].block(x=64, y=64).tensorize(x=64, y=64, k=32)
    schedule["mm"].num_warps(4)
    text = "mm.block(x:64, y:64);\nmm.tensorize(x:64, y:64, k:32);\nmm.num_warps(4);\n"
    assert schedule.to_dt() == str(schedule) == text
    schedule.save(tmp_path / "mm.dt")
    assert dt.Schedule.load(tmp_path / "mm.dt") == schedule == dt.Schedule.parse(text)
    assert dt.Schedule().to_dt() == ""
    mm, *_ = product()
    bare = dt.Program.of([mm])
    mm.apply(schedule)
    scheduled = dt.Program.of([mm])
    assert scheduled.schedule == schedule
    assert bare.with_schedule(schedule).to_dt() == scheduled.to_dt()
    assert scheduled.with_schedule(dt.Schedule()).to_dt() == bare.to_dt()
    assert mm.compile().schedule == schedule
    with pytest.raises(CompileError, match="'compile' says what is compiled, and is not a part of a schedule"):
        dt.Schedule.parse("f.block(x:4); f.compile();")
    with pytest.raises(CompileError, match="a schedule declares and defines no functions"):
        dt.Schedule.parse("Var x;")


def test_every_operator_is_the_languages() -> None:
    f, A, B, C = dt.Func("f"), dt.In("A"), dt.In("B", torch.int32), dt.In("C", "i32")
    s, x = dt.SIn("s", "f64"), dt.Var("x")
    a, i, j = A[x], B[x], C[x]
    f[x] = dt.where(
        (a < 1) & (2 >= a) |  # noqa: SIM300
        ~(a == s) ^ (a != 0) & (a > -1) & (a <= 9),
        -a + (1 - a) * 2 / a - 3 / (a % 2) + (7 % a) + abs(a) + (+a) ** 2 + 2**a + (a // 2)
        + (9 // a)
        + float("inf") - float("-inf") + dt.cast(x, "f32") + dt.cast(a, torch.float16),
        dt.cast((i << 1) + (j >> 1) + (i & 3) + (4 & i) + (i | 1) + (1 | i) + (i ^ j) + (5 ^ i)
                + (1 << j) + (64 >> j) + dt.len(x), "f32"),
    )  # fmt: skip
    text = dt.Program.of([f]).to_dt()
    assert "f[x] = where((A[x] < 1) & (A[x] <= 2) | ~(A[x] == s) ^ (A[x] != 0) & (A[x] > -1)" in text
    for part in ("B[x] << 1", "64 >> C[x]", "len(x)", "inf", "cast(A[x], f16)", "9 // A[x]", "-A[x]"):
        assert part in text
    assert dt.parse(text).compile().source == dt.Program.of([f]).compile().source


def place_of(error: CompileError) -> tuple[str, str]:
    """The file and the line's text that an error points at."""
    place = file_line_col(error.location)
    assert place is not None
    line = SourceTexts().line(place[0], place[1])
    assert line is not None
    return Path(place[0]).name, line.strip()


def test_errors_point_at_the_line_in_python() -> None:
    mm, x, _y, k = product()
    mm.block(z=4)  # the mistake
    with pytest.raises(CompileError, match="there is no label 'z'") as found:
        mm.compile().ir()
    assert place_of(found.value) == ("test_python_language.py", "mm.block(z=4)  # the mistake")
    assert "mm.block(z=4)  # the mistake" in "".join(found.value.__notes__)
    f, A = dt.Func("f"), dt.In("A")
    f[x] = A[x] + A[x, k]  # the ranks differ
    with pytest.raises(CompileError) as found:
        f.compile().ir()
    assert place_of(found.value)[1].endswith("# the ranks differ")


def _undefined() -> None:
    dt.Program.of([dt.Func("f")])


def _twice() -> None:
    f, x = dt.Func("f"), dt.Var("x")
    f[x] = 1
    f[x] = 2


def _same_name() -> None:
    f, x = dt.Func("f"), dt.Var("x")
    f[x] = dt.In("A")[x] + dt.In("A")[x]
    dt.Program.of([f])


def _chain() -> None:
    x = dt.Var("x")
    assert 0 < x < 3


def _indexed() -> None:
    f = dt.Func("f")
    f[3] = 1


def _tensor() -> None:
    dt.Var("x") + torch.ones(3)  # type: ignore[operator]


def _directive() -> None:
    dt.Func("f").direct("blok", x=1)


def _output() -> None:
    dt.Schedule()["f"].direct("compile")


def _argument() -> None:
    dt.Func("f").block(x=1.5)  # type: ignore[arg-type]


def _truth() -> None:
    dt.Func("f").num_warps(True)


def _split() -> None:
    dt.Func("f").map("x:x1/y/2")


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (_undefined, "'f' is not defined"),
        (_twice, "'f' is defined twice"),
        (_same_name, "two different things are called 'A'"),
        (_chain, "an expression has no truth value while the program is written"),
        (_indexed, "'f' is defined for labels, and 3 is none"),
        (_tensor, "a Tensor cannot stand in an expression"),
        (_directive, "there is no directive 'blok'"),
        (_output, "there is no directive 'compile'"),
        (_argument, "a float is not an argument of a directive"),
        (_truth, "True is not an argument of a directive"),
        (_split, "'x:x1/y/2' is not an argument of a directive"),
        (lambda: dt.Var("no name"), "'no name' is not a name"),
        (lambda: dt.Var("inf"), "'inf' is a constant of the language"),
        (lambda: dt.In("A", "f17"), "'f17' is not an element type"),
        (lambda: dt.Var("x") + 2**63, "the number does not fit in 64 bits"),
        (lambda: dt.Func("f").block(x=2**63), "the number does not fit in 64 bits"),
        (lambda: dt.Func("f").num_warps(-(2**64)), "the number does not fit in 64 bits"),
        (lambda: dt.Func("f").block(x=dt.one_of(1, 2**70)), "the number does not fit in 64 bits"),
        (lambda: dt.one_of(), "a set of options needs at least one"),
        (lambda: dt.Knob("B", 1, 1), "the options of a set must be different"),
        (lambda: product()[0].compile().ir("ptx"), "there is no level 'ptx'"),
        (lambda: product()[0].compile().source_for(A="f17"), "'f17' is not an element type"),
    ],
)
def test_mistakes_are_refused(action: Any, message: str) -> None:
    with pytest.raises(CompileError) as found:
        action()
    assert found.value.message.startswith(message)
    if found.value.location is not None:
        assert place_of(found.value)[0] == "test_python_language.py"


def test_directives_are_methods_with_signatures_and_documentation() -> None:
    for load in PASSES.values():
        cls = load()
        if issubclass(cls, Directive):
            method = getattr(Directives, cls.directive_name())
            assert (inspect.getdoc(cls) or "").splitlines()[0] in (method.__doc__ or "")
            assert inspect.signature(method).return_annotation == "Self"
    assert "block" in dir(dt.Func("f"))
    with pytest.raises(AttributeError, match="there is no directive 'blok'.*block"):
        dt.Func("f").blok(x=1)  # type: ignore[operator]


def test_a_word_behind_its_name_is_a_keyword() -> None:
    f, A, x = dt.Func("f"), dt.In("A"), dt.Var("x")
    f[x] = A[x]
    f.persistent(2, rounds="alternating")
    assert f.directives.to_dt() == "f.persistent(2, rounds:alternating);\n"


def test_plugins_are_methods_too() -> None:
    code = """
import sys
from dt_mlir.loading import load_file
load_file(sys.argv[1])
import dt_mlir as dt
from dt_mlir.scheduling.directive import Directive
f, A, x, y = dt.Func("f"), dt.In("A"), dt.Var("x"), dt.Var("y")
f[x, y] = A[x, y]
name = sys.argv[2]
cls = Directive.registry[name]
getattr(f, name)("y")
f.apply(cls("f", "y"))
print(f.directives.to_dt(), getattr(f, name).__doc__ is not None, name in dir(f))
"""
    file = ROOT / "examples" / "plugin" / "dt_extras" / "no_multi_buffer.py"
    done = subprocess.run(
        [sys.executable, "-c", code, str(file), "no_multi_buffer"], capture_output=True, text=True, check=False
    )
    assert done.stdout == "f.no_multi_buffer(y);\nf.no_multi_buffer(y);\n True True\n", done.stderr


# Calling.


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DT_MLIR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def tiled() -> dt.Func:
    mm, *_ = product()
    return mm.block(x=16, y=16).tensorize(x=16, y=16, k=16)


def test_a_kernel_is_compiled_for_the_types_that_it_meets(folder: Path) -> None:
    kernel = tiled().compile()
    for dtype in (torch.float32, torch.float16, torch.float32):
        a, b = torch.rand(20, 9, dtype=dtype).to(DEVICE), torch.rand(9, 33, dtype=dtype).to(DEVICE)
        got = kernel(a, b)
        assert torch.allclose(got.double(), a.double() @ b.double(), rtol=2e-3)
    assert len(cache.entries()) == len(kernel._wrappers) == 2
    assert "tl.dot" in kernel.source
    assert "loop.kernel" in kernel.ir("loop")
    assert torch.equal(kernel(a, B=b), got)
    out = torch.empty_like(got)
    assert kernel(a, b, out=out) is out
    assert torch.equal(out, got)


def test_several_outputs(folder: Path) -> None:
    kernel = EMBEDDED.mean_and_spread().compile()
    given = torch.rand(20, 70).to(DEVICE)
    average, spread = kernel(given)
    assert torch.allclose(average, given.mean(1))
    assert torch.allclose(spread, given.std(1, correction=0), atol=1e-6)


@pytest.mark.parametrize("damage", ["", "x = 1\n", "\xff", "cut"])
def test_a_corrupt_entry_is_rebuilt(folder: Path, damage: str) -> None:
    a = torch.rand(4, 4).to(DEVICE)
    want = tiled().compile()(a, a)
    (entry,) = cache.entries()
    text = entry.read_text()
    entry.write_bytes(text[:-200].encode() if damage == "cut" else damage.encode("latin-1"))
    assert torch.equal(tiled().compile()(a, a), want)
    assert entry.read_text() == text
    assert cache.entries() == [entry]


def test_other_versions_make_other_entries(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = cache.key_of("a")
    assert cache.key_of("a") == known != cache.key_of("b")
    assert cache.key_of("a", "b") != cache.key_of("ab", "")
    monkeypatch.setattr(cache, "_versions", lambda: "others")
    assert cache.key_of("a") != known


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DT_MLIR_CACHE", str(tmp_path / "file"))
    with pytest.raises(CompileError, match="the cache of kernels cannot be written"):
        tiled().compile()(torch.ones(2, 2).to(DEVICE), torch.ones(2, 2).to(DEVICE))


def test_wrong_arguments_are_named() -> None:
    kernel = tiled().compile()
    a = torch.ones(2, 2).to(DEVICE)
    with pytest.raises(TypeError, match="mm: the tensor 'B' is missing"):
        kernel(a)
    with pytest.raises(TypeError, match="mm: 'B' must be a tensor, not list"):
        kernel(a, [1, 2])
    with pytest.raises(TypeError, match="mm: 'A' has elements of torch.complex64; there are torch.float64"):
        kernel(a.to(torch.complex64), a)


def test_two_threads_compile_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = tiled().compile()
    made: list[object] = []
    original = kernel._emit

    def emit(*given: Any) -> str:
        made.append(given)
        return original(*given)

    monkeypatch.setattr(kernel, "_emit", emit)
    a = torch.rand(8, 8).to(DEVICE)
    results: list[torch.Tensor] = []
    threads = [threading.Thread(target=lambda: results.append(kernel(a, a))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(results) == 2
    assert all(torch.allclose(result, a @ a, atol=1e-3) for result in results)


PROCESS = """
import json, sys
sys.path.insert(0, sys.argv[1])
import torch
import dt_mlir as dt
mm, A, B = dt.Func("mm"), dt.In("A"), dt.In("B")
x, y, k = dt.Var("x"), dt.Var("y"), dt.RVar("k")
mm[x, y] = dt.rdot(A[x, k], B[k, y], k)
kernel = mm.block(x=16, y=16).tensorize(x=16, y=16, k=16).compile()
a = torch.arange(48.0).reshape(6, 8).to(sys.argv[2])
print(json.dumps((kernel(a, a.T.contiguous()) - a @ a.T).abs().max().item()))
"""


def test_eight_processes_with_an_empty_cache(folder: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(ROOT), DEVICE], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=environment,
        )
        for _ in range(8)
    ]  # fmt: skip
    for process in running:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        assert json.loads(out) < 1
    assert len(cache.entries()) == 1
    assert not list(folder.rglob("*.part"))


def test_the_tools_do_without_kernels_in_python() -> None:
    code = "import sys, dt_mlir.tools.dt_opt; print('dt_mlir.kernels' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    assert "Func" in dir(dt)
    with pytest.raises(AttributeError, match="has no attribute 'Funk'"):
        dt.Funk  # type: ignore[attr-defined]  # noqa: B018


def test_habits_of_other_languages_are_told_what_to_write() -> None:
    f, A, x, k = dt.Func("f"), dt.In("A"), dt.Var("x"), dt.RVar("k")
    for name, form in (("sum", "rsum"), ("select", "where"), ("matmul", "rdot"), ("max", "rmax")):
        with pytest.raises(AttributeError, match=rf"has no attribute '{name}'; write dt_mlir.{form}\("):
            getattr(dt, name)
    with pytest.raises(dt.CompileError, match="'f' is defined by itself") as error:
        f[x] += A[x, k]
    assert error.value.hint is not None
    assert "f[x] = rsum(A[x, k], k)" in error.value.hint
    for function in (math.sqrt, math.exp, int, range):
        with pytest.raises(dt.CompileError, match="an expression is not a number"):
            function(dt.len(k))  # type: ignore[arg-type]
    with pytest.raises(dt.CompileError, match="labels are given by name"):
        f.block(x, 8)  # type: ignore[arg-type]


def test_assembly() -> None:
    code = (
        "import dt_mlir as dt\n"
        "f, A, x = dt.Func('f'), dt.In('A'), dt.Var('x')\n"
        "f[x] = A[x] + 1\n"
        "kernel = f.block(x=64).tensorize(x=64).compile()\n"
        "print('.target sm_80' in kernel.asm(arch='sm_80', x=100), 'f16' in kernel.asm('ttir', types={'A': 'f16'}))"
    )
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout == "True True\n", done.stderr


@pytest.mark.skipif(DEVICE != "cpu", reason="kernels are compiled")
def test_nothing_is_assembled_where_kernels_are_interpreted() -> None:
    with pytest.raises(CompileError, match="Triton interprets kernels in this process"):
        tiled().compile().asm()


def test_a_notebook_shows_program_picture_and_code() -> None:
    shown = tiled().compile()._repr_html_()
    assert "mm.block(x:16, y:16);" in shown
    assert "<svg" in shown
    assert "tl.dot(" in shown
    wrong = dt.Kernel(dt.Program.of([tiled().block(q=3)]))._repr_html_()
    assert "there is no label" in wrong
    assert "program instances" in tiled().compile().draw(x=20, y=20)


def test_interpreting_must_be_chosen_before_triton() -> None:
    code = (
        "import triton, dt_mlir as dt\ntry:\n    dt.interpret()\nexcept Exception as error:\n    print(error.message)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout == "Triton is imported already\n", done.stderr


def test_numbers_keep_all_their_digits(folder: Path) -> None:
    import numpy

    results: list[float] = []
    for factor in (0.1, float(numpy.float32(0.1)), numpy.float64(0.1)):
        f, A, x = dt.Func("f"), dt.In("A", "f64"), dt.Var("x")
        f[x] = numpy.int64(1) * A[x] * factor
        kernel = f.block(x=numpy.int64(16)).compile()
        assert dt.parse(kernel.program.to_dt()).to_dt() == kernel.program.to_dt()
        results.append(kernel(torch.ones(1, dtype=torch.float64, device=DEVICE)).item())
    assert results == [0.1, float(numpy.float32(0.1)), 0.1]


def test_inputs_by_name_are_checked_as_those_by_place(folder: Path) -> None:
    kernel = tiled().compile()
    a, b = torch.rand(4, 4).to(DEVICE), torch.rand(4, 4).to(DEVICE)
    assert torch.allclose(kernel(A=a, B=b), kernel(a, b))
    with pytest.raises(RuntimeError, match="'A' requires a gradient"):
        kernel(A=a.clone().requires_grad_(), B=b)
    with pytest.raises(RuntimeError, match="'out' requires a gradient"):
        kernel(a, b, out=torch.empty_like(a).requires_grad_())
    negative = torch.randn(4, 4, dtype=torch.cfloat).to(DEVICE).conj().imag
    with pytest.raises(ValueError, match="mm: 'A' is a negated view"):
        kernel(negative, b)


def test_kernels_are_copied_and_pickled(folder: Path) -> None:
    import copy
    import pickle

    kernel = tiled().compile()
    a = torch.rand(4, 4).to(DEVICE)
    want = kernel(a, a)
    for other in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert torch.equal(other(a, a), want)


def test_functions_as_targets_of_schedules() -> None:
    mm, x, *_ = product()
    schedule = dt.Schedule()
    schedule[mm].block(x=16, y=16)
    assert schedule.to_dt() == "mm.block(x:16, y:16);\n"
    for wrong in ("no name", 3):
        with pytest.raises(CompileError, match="is not a name of a function"):
            schedule[wrong]  # type: ignore[index]
    with pytest.raises(TypeError, match="'mm' is read at labels, and is not a sequence"):
        list(mm)  # type: ignore[call-overload]
    for name in ("def", "Var"):
        with pytest.raises(CompileError, match="is a word of the language or of Python"):
            dt.In(name)
    for name in ("self", "out"):
        with pytest.raises(CompileError, match="is a parameter of every kernel"):
            dt.Var(name)
    with pytest.raises(CompileError, match="is not a function to compile"):
        dt.compile(dt.In("A"))  # type: ignore[arg-type]
    with pytest.raises(CompileError, match=r"a list is not .*; give each of them, as in compile\(f, g\)"):
        dt.compile([mm])  # type: ignore[arg-type]
    with pytest.raises(CompileError, match=r"a program says itself .*; call its compile\(\)"):
        dt.compile(dt.Program.of([mm]))  # type: ignore[arg-type]
    with pytest.raises(CompileError, match="a NoneType is not the text of a schedule"):
        dt.Schedule.parse(None)  # type: ignore[arg-type]
    with pytest.raises(CompileError, match="there is nothing to compile"):
        dt.compile()
    with pytest.raises(CompileError, match=r"1\.5 is not an option"):
        dt.one_of(1.5)  # type: ignore[arg-type]
    with pytest.raises(CompileError, match="a str is neither a directive nor a schedule"):
        mm.apply("block")  # type: ignore[arg-type]


def test_places_do_not_depend_on_links(tmp_path: Path) -> None:
    (tmp_path / "dt_mlir").symlink_to(ROOT / "dt_mlir")
    script = tmp_path / "user.py"
    script.write_text("import dt_mlir as dt\n\nf = dt.Func('f')\nf[3] = 1\n")
    others = os.environ.get("PYTHONPATH", "")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), others])}
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, env=environment, check=False
    )
    assert f"{script}:4:1: note: written here" in done.stderr, done.stderr


def test_windows_gathers_and_domains() -> None:
    """Indices, boundary conditions, sizes and conditions emit what a `.dt` file does."""
    x, ids = dt.In("X"), dt.In("ids", "i64")
    r = dt.RVar("r", 3)
    p = dt.Var("p", dt.size(x, 0) - dt.len(r) + 1)
    f = dt.Func("f")
    padded = dt.constant_exterior(x[2 * p + r - 1], 0)
    f[p] = dt.rsum(padded * x[ids[p]], r, r <= p)
    text = """
    Func f; In X, ids : i64; RVar r = 3; Var p = size(X, 0) - len(r) + 1;
    f[p] = rsum(constant_exterior(X[2 * p + r - 1], 0) * X[ids[p]], r, r <= p);
    f.compile();
    """
    assert dt.parse(text).compile().source == dt.Program.of([f]).compile().source
    with pytest.raises(dt.CompileError, match="is not a tensor"):
        dt.size(p, 0)


@pytest.mark.parametrize(
    ("given", "sizes", "shown"), [((), {"k": 8}, "k:8"), (("k:k_in/64",), {}, "k:k_in/64")]
)
def test_a_function_that_a_directive_defines(
    given: tuple[str, ...], sizes: dict[str, int], shown: str
) -> None:
    """A function of parts takes directives by its name; the label is given as others are."""
    a, b, mm = dt.In("A"), dt.In("B"), dt.Func("mm")
    x, y, k = dt.Var("x"), dt.Var("y"), dt.RVar("k")
    mm[x, y] = dt.rdot(a[x, k], b[k, y], k)
    mm.rfactor("parts", *given, **sizes)
    mm.directives["parts"].tensorize(k=32)
    text = f"""
    Func mm; In A, B; Var x, y; RVar k;
    mm[x, y] = rdot(A[x, k], B[k, y], k);
    mm.rfactor({shown}, parts); parts.tensorize(k:32);
    mm.compile();
    """
    assert dt.parse(text).compile().source == dt.Program.of([mm]).compile().source
