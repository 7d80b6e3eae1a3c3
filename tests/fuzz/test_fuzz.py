"""A fixed share of what the fuzzer draws, and everything that it ever found."""

from pathlib import Path

import pytest
from automatic import check_automatic
from cases import Case
from check import check
from fuzz import REGRESSIONS, run_batch

from dt_mlir.compiler import compile_program
from dt_mlir.diagnostics import CompileError
from dt_mlir.runtime.execute import prepare_triton

prepare_triton()
SEEDS = range(12)


def test_a_few_drawn_programs() -> None:
    draw(9_001, cases=60)


@pytest.mark.parametrize("seed", SEEDS)
def test_drawn_programs(seed: int) -> None:
    draw(20_000 + seed, cases=80)


def test_a_few_programs_under_schedules_of_auto() -> None:
    draw(5, cases=25, way="auto")


def draw(seed: int, cases: int, way: str = "check") -> None:
    # What a case's time limit interrupts while it is imported stays broken.
    import torch  # noqa: F401
    import triton.language  # noqa: F401

    tally, found = run_batch(seed, gpu=False, cases=cases, way=way)
    assert found is None, found
    # Most of what is drawn is legal, runs, and is decided.
    assert tally.kinds["right"] > 0.3 * cases
    assert tally.decided > 0.8 * tally.kinds["right"]


@pytest.mark.parametrize("path", sorted(REGRESSIONS.glob("*.dt")), ids=lambda p: p.stem)
def test_regression(path: Path) -> None:
    # `test_boundaries.py` runs them at every pass boundary.
    case = Case.from_file(path.read_text(encoding="utf-8"))
    if case.automatic:
        assert check_automatic(case, limit=120).kind != "slow"
        return
    assert check(case, limit=120, boundaries=False).kind != "slow"


@pytest.mark.parametrize("path", sorted(REGRESSIONS.glob("refused/*.dt")), ids=lambda p: p.stem)
def test_refusal(path: Path) -> None:
    """Programs that were internal faults are refused with the message of their first line."""
    text = path.read_text(encoding="utf-8")
    first = text.partition("\n")[0]
    with pytest.raises(CompileError) as caught:
        compile_program(text, path.name)
    assert caught.value.message == first.removeprefix("# refused: ")
