"""Questions of certificates are text that any solver reads, and say what was to be shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from forms import programs
from test_attacks import edited, tiles
from test_faults import parsed
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.certificates.certify import certify
from dt_mlir.certificates.obligation import Verdict
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline

z3: Any = pytest.importorskip("z3")
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.dt"))


def answers(module: ModuleOp, verdict: Verdict, known: bool = False) -> list[str]:
    """Returns what the solver answers to the questions about obligations of a verdict.

    Args:
        module: the block programs.
        verdict: the verdict.
        known: whether only questions count in which the solver knows what everything means.
    """
    found: list[str] = []
    for item in certify(module, test=False).obligations:
        if item.verdict is not verdict:
            continue
        for question in item.questions:
            if "(assert" not in question:
                continue
            unknown = "declare-fun |" in question or "infinity" in question
            if known and unknown:
                continue
            solver = z3.Solver()
            solver.set("timeout", 2000)
            solver.from_string(question)
            found.append(str(solver.check()))
    return found


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_questions_of_examples_are_read(path: Path, tmp_path: Path) -> None:
    module = parsed(tiles(path.read_text(encoding="utf-8")), tmp_path)
    # Where functions are replaced by others, the solver does not know that they are the same.
    assert set(answers(module, Verdict.PROVED, known=True)) == {"unsat"}
    assert answers(module, Verdict.PROVED)


@pytest.mark.parametrize("name", programs("expressions", "types"))
def test_questions_of_all_verdicts_are_read(name: str) -> None:
    """Functions of any name and types, integers that are narrowed, numbers that are not finite."""
    module, _ = compile_text(programs("expressions", "types")[name], name)
    run_pipeline(module, default_pipeline("tile"))
    for item in certify(module, test=False).obligations:
        for question in filter(lambda text: "(assert" in text, item.questions):
            z3.Solver().from_string(question)
            assert len(question) < 20_000


def test_what_is_used_twice_is_written_once(tmp_path: Path) -> None:
    """The text of nested extremes, each of which is one of its operands, does not double."""
    value = "A[x]"
    for number in range(24):
        value = f"maximum({value}, B[x] * {number})"
    text = tiles(f"Func f; In A, B; Var x; f[x] = {value}; f.block(x:8); f.tensorize(x:8); f.compile();")
    found = certify(parsed(text, tmp_path), test=False).obligations
    assert max(len(question) for item in found for question in item.questions) < 5_000


def test_functions_of_other_types_have_other_names(tmp_path: Path) -> None:
    text = tiles(
        "Func f : f64; In B : i64; Var x; f[x] = cast(cast(cast(B[x], i16), i64), f64); "
        "f.block(x:8); f.tensorize(x:8); f.compile();"
    )
    wrong = edited(text, ("i64 to i16", "i64 to i8"), ("i16 to i64", "i8 to i64"))
    assert set(answers(parsed(text, tmp_path), Verdict.PROVED)) == {"unsat"}
    assert "sat" in answers(parsed(wrong, tmp_path), Verdict.TESTED)


@pytest.mark.parametrize(
    "value",
    [
        "A[x] * A[x] * 0.5 - A[x] / 3 + 1.25",
        "where(A[x] > 0.5, A[x], -A[x]) + where(B[x] == 3, 1.0, -2.0)",
        "maximum(minimum(A[x], 1), -1) * cast(B[x] + 3, f32)",
        "exp(A[x]) * exp(A[x]) + sqrt(exp(A[x]))",
        "where((A[x] >= 0) & (B[x] != 2), A[x], -inf)",
        "cast(where(B[x] < 2, 1, B[x]), f32) * s",
        "cast(B[x] // 3 + B[x] % 5, f32) + cast(x, f32) * A[x]",
    ],
)
def test_the_solver_agrees(value: str, tmp_path: Path) -> None:
    """Without functions that are replaced, a solver comes to the same answer."""
    text = tiles(
        f"Func f; In A, B : i32; SIn s : f32; Var x; f[x] = {value}; f.math(accurate); "
        "f.block(x:8); f.tensorize(x:8); f.compile();"
    )
    found = answers(parsed(text, tmp_path), Verdict.PROVED)
    assert found
    assert set(found) == {"unsat"}


def test_a_question_about_a_wrong_value_has_an_answer(tmp_path: Path) -> None:
    text = tiles(
        "Func f; In A; Var x; f[x] = A[x] * A[x] + 2.5; f.block(x:8); f.tensorize(x:8); f.compile();"
    )
    wrong = edited(text, ("arith.constant 2.500000e+00", "arith.constant 2.750000e+00"))
    module = parsed(wrong, tmp_path)
    assert "sat" in answers(module, Verdict.TESTED)
    assert certify(module).refuted
