"""Proofs of the solver do not depend on what it was asked before."""

from random import Random
from typing import Any

import pytest

z3 = pytest.importorskip("z3")

from dt_mlir.certificates import proving  # noqa: E402
from dt_mlir.certificates.proving import Prover, State  # noqa: E402
from dt_mlir.certificates.universe import Universe  # noqa: E402


def test_quotients_of_products_in_any_order() -> None:
    """A block of a walk has rows, in whatever order the solver meets what is known of it."""
    chosen, kept = Random(0), list[Any]()
    for number in range(100):
        universe = Universe()
        kept += [z3.Int(f"other{number}.{k}") + k for k in range(chosen.randrange(100))]
        x, y = (universe.size(f"{name}{number}") for name in "xy")
        first, trip = (universe.variable(name, lambda v: []) for name in ("first", "trip"))
        columns, rows = (-x) / 128, (-y) / 128
        facts = [
            y >= 0, y >= 1, x >= 0, x >= 1, first - trip <= 0, first >= 0,
            z3.Not(trip - columns * rows >= 0),
        ]  # fmt: skip
        chosen.shuffle(facts)
        begin = 128 * (trip / -columns)
        end = z3.If(y - begin >= 128, 128 + begin, y)
        assert Prover(universe, 0.2).ask(facts, begin < end).state is State.PROVED, number


def test_the_solver_starts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim is proved that the solver gives up twice."""
    answers = [z3.unknown, z3.unknown]
    asked = proving._checked

    def checked(solver: Any, seconds: float) -> Any:
        return answers.pop() if answers else asked(solver, seconds)

    monkeypatch.setattr(proving, "_checked", checked)
    universe = Universe()
    x = universe.size("x")
    universe.know(x, x >= 1)
    assert Prover(universe).ask([], x * x >= 1).state is State.PROVED
    assert not answers
