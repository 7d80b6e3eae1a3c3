"""Functions of other packages: what is refused where they are defined."""

from importlib import metadata
from types import SimpleNamespace
from typing import Any

import pytest
from texts import text_of
from xdsl.dialects import arith
from xdsl.dialects.builtin import f64

import dt_mlir as dt
from dt_mlir import callables
from dt_mlir.analysis.interface import Interface
from dt_mlir.boundary_conditions import BOUNDARIES, BoundaryCondition
from dt_mlir.callables import RESERVED, define, define_boundary
from dt_mlir.dialects import elem
from dt_mlir.elementwise import (
    APPLICABLE,
    FUNCTIONS,
    Domain,
    Function,
)
from dt_mlir.frontend.symbols import REDUCTIONS
from dt_mlir.interpreters.exact import ExactArithmetic
from dt_mlir.interpreters.run import random_inputs, run_module


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


def _edge(index: Any, size: Any) -> Any:
    return index


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (BoundaryCondition("exp", "x", _edge), "there is a function 'exp' already"),
        (BoundaryCondition("repeat_edge", "x", _edge), "there is a function 'repeat_edge' already"),
        (BoundaryCondition("a b", "x", _edge), "'a b' is not a name that a program can call"),
        (BoundaryCondition("other", "x"), "the boundary condition 'other' needs a place"),
    ],
)
def test_incomplete_boundary_conditions_are_refused(
    given: BoundaryCondition, message: str
) -> None:
    known = dict(BOUNDARIES)
    with pytest.raises(ValueError, match=message):
        define_boundary(given)
    assert known == BOUNDARIES


def test_all_reductions_are_reserved() -> None:
    assert REDUCTIONS.keys() <= RESERVED


def _returns_nothing(build: Any, x: Any) -> None:
    build.constant(1)


def _returns_another_type(build: Any, x: Any) -> Any:
    return build.insert(arith.ExtFOp(x, f64))


def _fails(build: Any, x: Any) -> Any:
    raise KeyError("x")


def _calls_itself(build: Any, x: Any) -> Any:
    return build.insert(elem.ApplyOp("faulty", [x]))


@pytest.mark.parametrize(
    ("expansion", "message"),
    [
        (_returns_nothing, "the expansion of 'faulty' returns a NoneType, not a value"),
        (_returns_another_type, "returns a value of type f64, not of f32"),
        (_fails, "the expansion of 'faulty' fails: KeyError: 'x'"),
        (_calls_itself, "the expansion of 'faulty' needs 'faulty' itself"),
        (lambda build: build, "the expansion of 'faulty' fails: TypeError"),
    ],
)
def test_faults_in_expansions_are_located(
    expansion: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = function("faulty", expansion=expansion)
    monkeypatch.setitem(FUNCTIONS, "faulty", row)
    monkeypatch.setitem(APPLICABLE, "faulty", row)
    program = dt.parse(text_of("faulty_function"))
    with pytest.raises(dt.CompileError, match=message) as caught:
        _ = program.compile().source
    assert caught.value.location is not None
    assert caught.value.hint is not None
    assert "test_elementwise.py:" in caught.value.hint
    module, arithmetic = program.module(), ExactArithmetic()
    inputs = random_inputs(Interface.of(module), {"x": 3}, arithmetic)
    with pytest.raises(dt.CompileError, match=message):
        run_module(module, inputs, {"x": 3}, arithmetic)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (ImportError("no such thing"), "the package 'extras' cannot be loaded: ImportError: no"),
        (3, "the package 'extras' defines 'row' as a int"),
        (function("exp"), "defines a function that cannot be used: there is a function 'exp'"),
    ],
)
def test_a_faulty_package_is_named(
    found: object, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load() -> object:
        if isinstance(found, Exception):
            raise found
        return found

    point = SimpleNamespace(
        value="extras:ROW", name="row", dist=SimpleNamespace(name="extras"), load=load
    )
    monkeypatch.setattr(metadata, "entry_points", lambda group: [point] if "functions" in group else [])
    callables.load_others.cache_clear()
    try:
        with pytest.raises(dt.CompileError, match=message):
            dt.parse(text_of("faulty_function")).compile()
    finally:
        callables.load_others.cache_clear()
