"""A wrong pass from outside is named, at the program's line, with a reproducer that fails again."""

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from texts import text_of
from wrong_passes import ExchangeOperandsPass, UseBeforeDefinitionPass
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from dt_mlir.frontend.emit import compile_text
from dt_mlir.interpreters.run import run_module
from dt_mlir.passes import expand_elementwise_functions
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.verification import semantics
from dt_mlir.verification.semantics import Recorder, SemanticsError, verify_semantics

BIN = Path(sys.executable).parent
PASSES = Path(__file__).with_name("wrong_passes.py")
EXAMPLES = Path(__file__).parents[2] / "examples"

LOOPS = "convert-dt-to-loop,apply-schedule"
TILES = "convert-loop-to-tile,tile-merge-axes,cse"
MASKS = "tile-place-masks,tile-elide-masks"

CASES = {
    "never written": (
        "difference", f"{LOOPS},schedule-halve-tiles,{TILES}", "schedule-halve-tiles",
        "breaks the program: 'f'[0, 4] is never written, with x = ",
    ),
    "another value": (
        "difference", f"{LOOPS},loop-exchange-operands,{TILES}", "loop-exchange-operands",
        "changes what is computed: 'f'[0, 0] is ",
    ),
    "less than any tolerance": (
        "squares", f"{LOOPS},{TILES},{MASKS},tile-leak,dce", "tile-leak",
        "changes what is computed: 'f'[0] is ",
    ),
    "unseen by exact arithmetic": (
        "tripled", f"{LOOPS},loop-scale-constants,{TILES},{MASKS}", "loop-scale-constants",
        "changes what is computed: 'f'[0] is ",
    ),
    "out of bounds": (
        "difference", f"{LOOPS},{TILES},{MASKS},tile-drop-masks", "tile-drop-masks",
        "breaks the program: 'tile.store' writes 'f'[",
    ),
    "unrolled beyond the end": (
        "largest_of_rows", f"{LOOPS},{TILES},{MASKS},tile-unrolled-masks", "tile-unrolled-masks",
        "breaks the program: 'tile.load' reads 'A'[0, ",
    ),
    "a maximum without its first element": (
        "largest_of_rows", f"{LOOPS},{TILES},{MASKS},tile-shift-extremes", "tile-shift-extremes",
        "breaks the program: 'tile.load' reads 'A'[0, ",
    ),
    "a maximum's identity": (
        "largest_of_rows", f"{LOOPS},{TILES},{MASKS},tile-zero-identity", "tile-zero-identity",
        "changes what is computed: 'f'[0] is 0, and was ",
    ),
    "the identity in softmax": (
        "softmax_stable", f"{LOOPS},{TILES},{MASKS},tile-zero-identity", "tile-zero-identity",
        "changes what is computed: 'softmax'[0, 0] is ",
    ),
    "the identity in attention": (
        "attention", f"{LOOPS},{TILES},{MASKS},tile-zero-identity", "tile-zero-identity",
        "changes what is computed: ",
    ),
    "a maximum's mask": (
        "largest_of_rows", f"{LOOPS},{TILES},{MASKS},tile-halve-divisors", "tile-halve-divisors",
        "breaks the program: 'tile.load' reads 'A'[",
    ),
    "a mask in attention": (
        "attention", f"{LOOPS},{TILES},{MASKS},tile-halve-divisors", "tile-halve-divisors",
        "breaks the program: 'tile.load' reads ",
    ),
}  # fmt: skip


def dt_opt(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([BIN / "dt-opt", *args], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("name", list(CASES))
def test_is_named_and_reproduced(name: str, tmp_path: Path) -> None:
    program, pipeline, guilty, message = CASES[name]
    file = f"{program}.dt"
    example = EXAMPLES / file
    (tmp_path / file).write_text(example.read_text() if example.exists() else text_of(program))
    done = dt_opt(
        tmp_path, file, "--load", str(PASSES), "-p", pipeline, "--verify-semantics",
        "--reproducer", "again.mlir", "-o", "out.mlir",
    )  # fmt: skip
    assert done.returncode == 1
    assert f"'{guilty}' {message}" in done.stderr
    assert "Traceback" not in done.stderr
    assert file in done.stderr.splitlines()[0], "the program's line is named"
    assert not (tmp_path / "out.mlir").exists()
    (again,) = [line for line in done.stderr.splitlines() if "to see it again: " in line]
    words = shlex.split(again.split("to see it again: ")[1])
    assert words[:2] == ["dt-opt", "again.mlir"]
    assert words[words.index("-p") + 1].startswith(guilty)
    repeated = dt_opt(tmp_path, *words[1:], "--reproducer", "third.mlir")
    assert repeated.returncode == 1
    assert f"'{guilty}' {message}" in repeated.stderr
    # The same element with the same values: the inputs are those that were saved.
    first, second = (
        next(line for line in text.splitlines() if guilty in line).split("error: ")[1]
        for text in (done.stderr, repeated.stderr)
    )
    assert first == second


def test_right_passes_are_not_named(tmp_path: Path) -> None:
    (tmp_path / "f.dt").write_text(text_of("difference"))
    done = dt_opt(tmp_path, "f.dt", "-p", f"{LOOPS},{TILES},{MASKS}", "--verify-semantics")
    assert done.returncode == 0, done.stderr
    assert "semantics verified: 9 passes ran" in done.stderr
    assert not list(tmp_path.glob("reproducer*"))


def stages_with(item: ModulePass) -> Recorder:
    """The stages of a pipeline that ends with a pass."""
    module, _ = compile_text(text_of("difference"), "difference.dt")
    recorder = Recorder(module)
    run_pipeline(module, LOOPS.split(","), recorder.after)
    item.apply(Context(), module)
    recorder.after(item, module)
    return recorder


def test_malformed_stages_are_named() -> None:
    """A pipeline verifies the IR at its end; what is malformed in between has a pass, too."""
    recorder = stages_with(UseBeforeDefinitionPass())
    message = "'loop-use-before-definition' makes malformed IR: 'loop.write' is malformed: the def"
    with pytest.raises(SemanticsError, match=message):
        verify_semantics(recorder.stages, kernel=False)


def test_ends_of_the_range_of_integers_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few bits of an exponent are enough for small ones."""
    monkeypatch.setattr(expand_elementwise_functions, "_bits", lambda value: 6)
    text = "Func f; In A : i32, B : i32; Var x; f[x] = A[x] ** B[x]; f.compile();"
    module, _ = compile_text(text, "powers")
    recorder = Recorder(module)
    run_pipeline(module, default_pipeline("tile"), recorder.after)
    with pytest.raises(SemanticsError, match="'expand-elementwise' changes what is computed"):
        verify_semantics(recorder.stages, sizes={"x": 64}, kernel=False)


@pytest.mark.parametrize(
    ("fault", "why"),
    [(KeyError("j"), "nothing gives 'j' a value"), (IndexError("no such axis"), "IndexError")],
)
def test_stages_that_crash_the_interpreters_are_named(
    fault: Exception, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = stages_with(ExchangeOperandsPass())
    last = recorder.stages[-1].module

    def run(module: ModuleOp, *args: Any) -> Any:
        if module is last:
            raise fault
        return run_module(module, *args)

    monkeypatch.setattr(semantics, "run_module", run)
    message = rf"'loop-exchange-operands' makes IR that cannot run \({why}\), with x = "
    with pytest.raises(SemanticsError, match=message):
        verify_semantics(recorder.stages, kernel=False)
