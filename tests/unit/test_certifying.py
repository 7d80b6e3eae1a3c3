"""Certificates of what a search finds, made in other processes."""

from concurrent.futures import Future

import pytest
from pebble import ProcessExpired
from texts import text_of

from dt_mlir.tools.certifying import Certifier

PROGRAM = (
    "Func f; In A; Var x, y; f[x, y] = A[x, y] * 2; f.block(x:8, y:64); f.tensorize(x:8, y:64);"
    " f.compile();"
)


def test_a_certificate_is_the_same_wherever_it_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    certifier = Certifier()
    certifier.report(PROGRAM, "f.dt")
    here = capsys.readouterr().err
    certifier.begin([PROGRAM], "f.dt")
    # Of what was not begun when others are wanted, nothing is waited for.
    certifier.begin([text_of("largest_and_its_place")], "g.dt")
    certifier.begin([PROGRAM, text_of("largest_and_its_place")], "f.dt")
    certifier.report(PROGRAM, "f.dt")
    certifier.close()
    assert "certificate" in here
    assert capsys.readouterr().err == here


def test_a_process_that_ends_costs_no_result(capsys: pytest.CaptureFixture[str]) -> None:
    certifier = Certifier()
    ended: Future[object] = Future()
    ended.set_exception(ProcessExpired("abnormal termination"))
    certifier._begun[PROGRAM] = ended  # pyright: ignore
    certifier.report(PROGRAM, "f.dt")
    assert "certificate" in capsys.readouterr().err
