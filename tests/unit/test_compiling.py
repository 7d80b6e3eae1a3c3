"""Settings of the interpreter while the compiler works."""

import gc
import sys

import dt_mlir as dt
from dt_mlir.compiling import compiling


def test_collector_is_paused_and_runs_again() -> None:
    assert gc.isenabled()
    with compiling():
        with compiling():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with compiling():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_sum_of_many_terms_compiles_without_settings_of_the_user() -> None:
    before = sys.getrecursionlimit()
    A, f, x = dt.In("A"), dt.Func("f"), dt.Var("x")
    total = A[x]
    for i in range(1, 1000):
        total = total + A[x] * i
    f[x] = total
    f.block(x=64)
    f.tensorize(x=64)
    assert "* 999" in f.compile().source
    assert sys.getrecursionlimit() == before
