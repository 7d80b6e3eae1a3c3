"""Every pass boundary of every example, run before and after."""

from pathlib import Path

import pytest
from corpus import kernels

from dt_mlir.diagnostics import CompileError, SourceTexts
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.tools.parsing import read_module
from dt_mlir.verification.semantics import Mode, Recorder, Report, verify_semantics
from dt_mlir.verifier import verify_module

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.dt"))
REGRESSIONS = sorted((ROOT / "tests" / "regressions").glob("*.dt"))
KERNELS = kernels()
FILECHECK = {
    f"{path.stem}-{part}" if part else path.stem: (path, text)
    for path in sorted((ROOT / "tests" / "filecheck").rglob("*.dt"))
    if "# SEMANTICS:" in path.read_text()
    for part, text in enumerate(path.read_text().split("# // -----"))
}
"""Programs of FileCheck tests that ask for it, each part by itself."""

UNDECIDED = {
    "halo_along_labels_of_its_own": "no sizes were found",
    "index_of_a_fused_function_beyond_i32": "there is too much to run",
    # Sums that wrap have no bounds, and what is computed from them is rewritten.
    "wrapped_sum": "all 15 elements are undecided",
}
"""Regressions of the compiler that cannot be run for this, and why."""


def verified(path: Path, mode: Mode, kernel: bool = True, text: str | None = None) -> Report:
    module, _ = compile_text(path.read_text() if text is None else text, str(path))
    verify_module(module)
    recorder = Recorder(module)
    run_pipeline(module, default_pipeline("tile"), recorder.after)
    return verify_semantics(recorder.stages, mode, kernel=kernel)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    report = verified(path, Mode.EXACT)
    assert report.changes >= 4
    exactly = report.modes[Mode.EXACT]
    assert exactly >= report.changes - 1, "only rewritten functions are not decided exactly"
    assert report.near_steps >= 4 or "tensorize" not in path.read_text()
    assert report.kernel == "agrees, on Triton's interpreter"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_within_bounds(path: Path) -> None:
    report = verified(path, Mode.BOUNDED, kernel=False)
    assert report.modes == {Mode.BOUNDED: report.changes}


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_regressions(path: Path) -> None:
    reason = UNDECIDED.get(path.stem)
    if reason is not None:
        with pytest.raises(CompileError, match=reason):
            verified(path, Mode.EXACT, kernel=False)
        return
    verified(path, Mode.EXACT, kernel=False)


@pytest.mark.parametrize("name", FILECHECK)
def test_programs_of_filecheck_tests(name: str) -> None:
    path, text = FILECHECK[name]
    assert verified(path, Mode.EXACT, text=text).kernel


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
@pytest.mark.parametrize("mode", list(Mode))
def test_kernels_alone(path: Path, mode: Mode) -> None:
    """Kernels without a host function: what the passes may meet, but the compiler does not make."""
    module = read_module(str(path), SourceTexts(), [])
    recorder = Recorder(module)
    run_pipeline(module, KERNELS[path], recorder.after)
    assert verify_semantics(recorder.stages, mode).cases
