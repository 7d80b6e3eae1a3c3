"""Settings of the interpreter while the compiler works."""

import gc
import sys
import threading

import dt_mlir as dt
from dt_mlir.compiling import DEEPEST, compiling


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


def test_the_last_of_several_threads_restores_the_settings() -> None:
    before = sys.getrecursionlimit()
    entered, release = threading.Event(), threading.Event()

    def other() -> None:
        with compiling():
            entered.set()
            release.wait(10)

    thread = threading.Thread(target=other)
    with compiling():
        thread.start()
        assert entered.wait(10)
    assert not gc.isenabled()
    assert sys.getrecursionlimit() == DEEPEST
    release.set()
    thread.join()
    assert gc.isenabled()
    assert sys.getrecursionlimit() == before


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
