"""The pipeline can be cut anywhere: print, start a new process on the text, go on, same bytes."""

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from dt_mlir.backend.python_module import emit_module
from dt_mlir.dialects.sched import ScheduleOp
from dt_mlir.frontend.emit import compile_text
from dt_mlir.passes.apply_schedule import in_order
from dt_mlir.pipeline import default_pipeline, run_pipeline

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.dt"))
PASSES = default_pipeline()

REST = """
import json, os, sys
from dt_mlir.tools.dt_opt import DtOptMain
from dt_mlir.diagnostics import SourceTexts
for path, rest, output in json.load(sys.stdin):
    child = os.fork()
    if not child:
        DtOptMain(SourceTexts(), [path, "-p", rest, "-t", "triton", "-o", output]).run()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
"""Goes on from each text in a process of its own, in which nothing was compiled before."""


def show(module: ModuleOp) -> str:
    stream = StringIO()
    Printer(stream=stream, print_debuginfo=True).print_op(module)
    return stream.getvalue()


def whole(path: Path) -> str:
    module, _ = compile_text(path.read_text(), str(path))
    run_pipeline(module, PASSES)
    return emit_module(module)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_boundary(path: Path, tmp_path: Path) -> None:
    expected = whole(path)
    jobs: list[tuple[str, str, str]] = []
    for cut in range(len(PASSES) + 1):
        module, _ = compile_text(path.read_text(), str(path))
        run_pipeline(module, PASSES[:cut])
        text = tmp_path / f"{cut}.mlir"
        text.write_text(show(module))
        jobs.append((str(text), ",".join(PASSES[cut:]), str(tmp_path / f"{cut}.py")))
    subprocess.run(
        [sys.executable, "-c", REST], input=json.dumps(jobs), text=True, check=True, timeout=300
    )
    for cut, (_, _, output) in enumerate(jobs):
        assert Path(output).read_text() == expected, f"cut before {PASSES[cut:cut + 1]}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_schedule_as_passes(path: Path) -> None:
    """The directives as passes on a program without a schedule give the same bytes."""
    scheduled, _ = compile_text(path.read_text(), str(path))
    run_pipeline(scheduled, PASSES[: PASSES.index("apply-schedule")])
    directives = [str(directive) for _, directive in in_order(scheduled)]
    plain, _ = compile_text(path.read_text(), str(path))
    for op in list(plain.ops):
        if isinstance(op, ScheduleOp):
            op.detach()
            op.erase()
    at = PASSES.index("apply-schedule")
    run_pipeline(plain, [*PASSES[:at], *directives, *PASSES[at + 1 :]])
    assert emit_module(plain) == whole(path)


def test_with_the_tool_itself(tmp_path: Path) -> None:
    path = ROOT / "examples" / "attention.dt"
    expected = whole(path)
    tool = Path(sys.executable).with_name("dt-opt")
    for cut in range(0, len(PASSES) + 1, 5):
        first, rest = ",".join(PASSES[:cut]), ",".join(PASSES[cut:])
        text = subprocess.run(
            [tool, path, "-p", first, "--print-debuginfo"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        done = subprocess.run(
            [tool, "-p", rest, "-t", "triton"], input=text, capture_output=True, text=True, check=True
        )
        assert done.stdout == expected
