"""Schedules in Python: directives as methods, and mistakes in what is read from text."""

import pytest

import dt_mlir as dt
from dt_mlir.diagnostics import CompileError


def test_mistakes_of_a_schedule_are_shown_in_it() -> None:
    f, A, x = dt.Func("f"), dt.In("A"), dt.Var("x")
    f[x] = A[x]
    schedule = dt.Schedule.parse("f.block(x:4);\nf.tensorize(z:4);", "mine.dt")
    with pytest.raises(CompileError) as caught:
        dt.Program.of([f]).with_schedule(schedule).compile()
    assert str(caught.value.__notes__[0]).startswith("mine.dt:2:")


def test_labels_are_renamed_by_name() -> None:
    f, A, x = dt.Func("f"), dt.In("A"), dt.Var("x")
    f[x] = A[x]
    assert f.rename(x="q").block(q=4).compile().schedule.to_dt() == "f.rename(x:q);\nf.block(q:4);\n"
    with pytest.raises(CompileError, match=r"rename: labels are given by name, as x=…; write 'rename\(x=q\)'"):
        f.rename("x", "q")  # type: ignore[call-arg]
