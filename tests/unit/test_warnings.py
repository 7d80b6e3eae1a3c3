"""Warnings of the compiler, where Python calls it."""

import warnings

import pytest
from texts import text_of

from dt_mlir.compiler import compile_program
from dt_mlir.diagnostics import CompileWarning, Note, showing_warnings
from dt_mlir.tuning.compilation import build

DEEP = text_of("row_sums_fused_too_deep")


def test_a_warning_is_one_of_python_at_its_place() -> None:
    with pytest.warns(CompileWarning, match="'s' does not depend on the loop over 'y'") as found:
        compile_program(DEEP, "deep.dt")
    assert [(item.filename, item.lineno) for item in found] == [("deep.dt", 7)]


def test_warnings_are_given_to_a_function() -> None:
    shown: list[Note] = []
    with warnings.catch_warnings(), showing_warnings(shown.append):
        warnings.simplefilter("error")
        compile_program(text_of("unused_function"), "unused.dt")
    assert [note.message for note in shown] == ["function 'g' is never used"]


def test_a_search_does_not_warn_of_its_candidates() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert build(DEEP, "deep.dt", {"x": 3, "y": 4, "k": 5}, gpu=None).status == "ok"
