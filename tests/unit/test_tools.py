"""Behaviour of the tools that their output does not show."""

import subprocess
import sys
from pathlib import Path

import pytest
from texts import text_of

from dt_mlir.diagnostics import CompileError
from dt_mlir.runtime.execute import prepare_on_cpu

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


@pytest.mark.parametrize("tool", ["dt_opt", "dtc"])
def test_torch_is_not_imported(tool: str) -> None:
    code = (
        f"import sys; from dt_mlir.tools.{tool} import main\n"
        f"sys.argv = ['{tool}', r'{ROOT}/examples/matmul.dt', '-o', '/dev/null']\n"
        "try: main()\n"
        "except SystemExit as done: assert not done.code\n"
        "assert 'torch' not in sys.modules and 'triton' not in sys.modules and 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_stock_xdsl_opt_has_the_passes() -> None:
    text = subprocess.run(
        [BIN / "dt-opt", ROOT / "examples" / "matmul.dt"], capture_output=True, text=True, check=True
    ).stdout
    done = subprocess.run(
        [BIN / "xdsl-opt", "-p", "convert-dt-to-loop,apply-schedule"],
        input=text, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "loop.grid" in done.stdout


def test_output_is_not_touched_by_a_failure(tmp_path: Path) -> None:
    source, output = tmp_path / "f.dt", tmp_path / "f.py"
    source.write_text(text_of("block_of_another_label"))
    output.write_text("as it was")
    done = subprocess.run([BIN / "dtc", source, "-o", output], capture_output=True, text=True)
    assert done.returncode == 1
    assert "f.dt:5:3: error: f.block: there is no label 'y'" in done.stderr
    assert output.read_text() == "as it was"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f.dt", "f.py"]


def test_same_input_gives_the_same_bytes() -> None:
    command = [BIN / "dtc", ROOT / "examples" / "attention.dt"]
    outputs = set()
    for seed in ("0", "1", "2"):
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1


def test_run_says_what_it_did() -> None:
    command = [BIN / "dtc", ROOT / "examples" / "matmul.dt", "--run", "x=20,y=33,k=5"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "matmul.dt: right on the" in done.stdout
    assert "mm: 20 x 33, largest difference" in done.stdout
    wrong = subprocess.run([*command[:-1], "z=3"], capture_output=True, text=True)
    assert wrong.returncode == 1
    assert "there is no label 'z' to give a size" in wrong.stderr


def test_run_finds_a_wrong_result() -> None:
    from dt_mlir.compiler import compile_program
    from dt_mlir.diagnostics import CompileError
    from dt_mlir.runtime.execute import run_and_check

    program = compile_program(text_of("doubled"))
    broken = program.source.replace("A * 2.0", "A * 2.001")
    assert broken != program.source
    with pytest.raises(CompileError, match="'f' is wrong"):
        run_and_check(program.algorithm, broken, {"x": 9}, seed=0)


def test_a_pipe_that_closes_is_no_fault() -> None:
    done = subprocess.run(
        f"{BIN}/dt-opt --list-passes | head -n 1", shell=True, capture_output=True, text=True
    )
    assert "Traceback" not in done.stderr


def test_a_program_that_is_nested_too_deeply(tmp_path: Path) -> None:
    source = tmp_path / "deep.dt"
    source.write_text(text_of("copy", ("A[x]", f"{'-(' * 9000}A[x]{')' * 9000}")))
    done = subprocess.run([BIN / "dtc", source], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "nested too deeply" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("name", "most"), [("f.dt", 2**20), ("f.mlir", 2**21)])
def test_text_that_is_too_long_is_refused_at_once(tmp_path: Path, name: str, most: int) -> None:
    path = tmp_path / name
    path.write_text("// a line\n" * (most // 10 + 1))
    done = subprocess.run([BIN / "dt-opt", path], capture_output=True, text=True, timeout=20)
    assert done.returncode == 1
    assert f"and a {'program' if name == 'f.dt' else 'module'} has {most} at most" in done.stderr


def test_kernels_do_not_run_where_triton_has_neither_interpreter_nor_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "triton", sys)
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(CompileError, match="kernels cannot run here: Triton is imported") as caught:
        prepare_on_cpu()
    assert caught.value.hint == "run in a process of its own, or with TRITON_INTERPRET=1"
