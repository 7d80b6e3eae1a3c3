"""Loops that carry something are run trip by trip, others at once; both give the same."""

import numpy as np
import pytest
from texts import text_of

from dt_mlir.analysis.interface import Interface
from dt_mlir.compiler import compile_program
from dt_mlir.dialects import loop
from dt_mlir.frontend.emit import compile_text
from dt_mlir.interpreters import loop_level
from dt_mlir.interpreters.exact import ExactArithmetic
from dt_mlir.interpreters.loop_level import carries_nothing, grid_origins
from dt_mlir.interpreters.run import random_inputs, run_module
from dt_mlir.pipeline import default_pipeline, run_pipeline


def loops(name: str) -> tuple[object, object]:
    module, _ = compile_text(text_of(name), f"{name}.dt")
    algorithm = module.clone()
    run_pipeline(module, default_pipeline("loop"))
    return algorithm, module


@pytest.mark.parametrize("name", ["scaled_rows", "places_of_extremes"])
def test_trip_by_trip_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    algorithm, module = loops(name)
    arithmetic = ExactArithmetic()
    sizes = {"x": 6, "y": 5}
    inputs = random_inputs(Interface.of(algorithm), sizes, arithmetic)
    wanted = run_module(algorithm, inputs, sizes, arithmetic)["f"]
    at_once = run_module(module, inputs, sizes, arithmetic)["f"]
    monkeypatch.setattr(loop_level, "carries_nothing", lambda _: False)
    one_by_one = run_module(module, inputs, sizes, arithmetic)["f"]
    assert np.array_equal(wanted.value, at_once.value)
    assert np.array_equal(wanted.value, one_by_one.value)


def test_what_carries_nothing() -> None:
    _, module = loops("scaled_rows")
    found = {
        (op.label_name, op.function_name, op.name): carries_nothing(op)
        for op in module.walk()
        if isinstance(op, loop.LoopLike)
    }
    # The loop around the buffer of 'g', which has no such axis, is none.
    assert not found["x", "f", "loop.for"]
    assert found["y", "g", "loop.for"]
    assert found["y", "f", "loop.for"]


def test_the_walk_of_the_grid_meets_each_block_once() -> None:
    _, module = loops("copy_in_grouped_blocks")
    grid = next(op for op in module.walk() if isinstance(op, loop.GridOp))
    origins = grid_origins(grid, {"x": 9, "y": 7})
    assert len(origins) == len(set(origins)) == 5 * 3
    # Groups of three blocks of x, in each all of y, the blocks of a group the fastest.
    assert origins[:4] == [(0, 0), (2, 0), (4, 0), (0, 3)]
    assert origins[9:12] == [(6, 0), (8, 0), (6, 3)]
    assert compile_program(text_of("copy_in_grouped_blocks")).source
