"""Functions of other packages: what is refused where they are defined."""

from typing import Any

import pytest

from dt_mlir.elementwise import FUNCTIONS, RESERVED, Domain, Function, define
from dt_mlir.frontend.analysis import REDUCTIONS


def function(name: str, **changes: Any) -> Function:
    given = Function(name, 1, Domain.FLOAT, "x", None, expansion=lambda build, x: x)
    return given._replace(**changes)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (function("exp"), "there is a function 'exp' already"),
        (function("rsum"), "there is a function 'rsum' already"),
        (function("a b"), "'a b' is not a name that a program can call"),
        (function("same", expansion=None), "'same' needs an expansion, and no upstream operation"),
        (function("same", float_op="math.exp"), "'same' needs an expansion, and no upstream"),
    ],
)
def test_incomplete_definitions_are_refused(given: Function, message: str) -> None:
    known = dict(FUNCTIONS)
    with pytest.raises(ValueError, match=message):
        define(given)
    assert known == FUNCTIONS


def test_all_reductions_are_reserved() -> None:
    assert REDUCTIONS.keys() <= RESERVED
