"""Parts of results: labels beside windows, prefixes and groups are sampled, and computed the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dt_mlir.analysis.interface import Interface
from dt_mlir.dialects import dt
from dt_mlir.frontend.emit import compile_text
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
from dt_mlir.interpreters.run import random_inputs, run_module
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.verification.sampling import sample

WINDOW = """
Func f; In X, W; Var n, p = size(X, 1), o; RVar r = 3, c;
f[n, p, o] = rsum(constant_exterior(X[n, p + r - 1, c], 0) * W[o, r, c], r, c); f.compile();
"""
STRIDED = """
Func f; In X; Var n, p = size(X, 1) // 2, c; RVar r = 2;
f[n, p, c] = rmax(X[n, 2 * p + r, c], r); f.compile();
"""
PREFIX = """
Func f; In A; Var i, x = size(A, 1); RVar j;
f[i, x] = rsum(A[i, j], j, j <= x); f.compile();
"""
UNNEEDED = """
Func g, f; In A; Var z, i; g[z] = A[z]; f[i] = A[i] * 2; f.compile();
"""
PAIRS = """
Func f; In A; Var i, x; f[i, x] = A[i, x] + A[i // 2, x]; f.compile();
"""
RECURRENCE = """
Func h; In A, B; Var n, t = size(A, 1); RVar j = len(t), i;
h[n, t] = rsum(B[n, j] * rprod(A[n, i], i, i > j, i <= t), j, j <= t); h.compile();
"""
NEIGHBOURS = """
Func f, g; In A; Var i, x;
f[i, x] = A[i, x] * 2; g[i, x] = f[i, x] + repeat_edge(f[i, x - 1]) + x; g.compile();
"""


@pytest.mark.parametrize(
    ("text", "given", "sampled"),
    [
        (WINDOW, {"n": 9, "X_1": 20, "o": 8, "c": 3}, ["n", "o", "p"]),
        (STRIDED, {"n": 9, "X_1": 40, "c": 7}, ["c", "n", "p"]),
        (PREFIX, {"i": 9, "j": 40}, ["i", "x"]),
        # What no output reads has no sizes.
        (UNNEEDED, {"i": 40}, ["i"]),
        (PAIRS, {"i": 20, "x": 30}, ["x"]),
        (RECURRENCE, {"n": 9, "i": 11}, ["n", "t"]),
        (NEIGHBOURS, {"i": 20, "x": 30}, ["i"]),
    ],
)
def test_a_part_is_that_of_the_whole(
    text: str, given: dict[str, int], sampled: list[str]
) -> None:
    module, _ = compile_text(text, "-")
    run_pipeline(module, default_pipeline("dt"))
    interface = Interface.of(module)
    sizes = interface.sizes(given)
    chosen = sample(module, sizes, most=20)
    assert sorted(chosen.indices) == sampled
    arithmetic = BoundedArithmetic(Accuracy.of(module))
    inputs = random_inputs(interface, sizes, arithmetic)
    parts = {
        item.name: arithmetic.from_array(
            _taken(inputs[item.name].value, chosen.input_places(item)), item.element
        ) for item in interface.inputs
    }  # fmt: skip
    ((name, whole),) = run_module(module, inputs, sizes, arithmetic).items()
    part = run_module(module, parts, chosen.sizes, arithmetic, sampled=chosen.indices)[name]
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, dt.FuncOp)}
    places = chosen.places([*functions[name].label_names])
    assert np.array_equal(part.value, _taken(whole.value, places))
    assert np.array_equal(part.error, _taken(whole.error, places))


def test_reductions_beside_each_other_are_counted_one_by_one() -> None:
    module, _ = compile_text(
        "Func f; In A, B; Var i; RVar j, k; f[i] = rsum(A[i, j], j) + rsum(B[i, k], k); f.compile();",
        "-",
    )
    size = 65536
    assert sample(module, {"i": size, "j": size, "k": size}).sizes["i"] == 4


def test_labels_are_sampled_that_save_most() -> None:
    module, _ = compile_text(
        "Func s, f; In A, B; Var i, d; RVar j, c; s[i, j] = rsum(A[i, c] * B[j, c], c);"
        "f[i, d] = rsum(s[i, j] * B[j, d], j); f.compile();", "-",
    )  # fmt: skip
    found = sample(module, Interface.of(module).sizes({"i": 4096, "j": 256, "c": 64, "d": 64}))
    # A place along `d` saves half of what a row does.
    assert found.sizes == {"i": 16, "j": 256, "c": 64, "d": 64}


def _taken(array: Any, places: list[tuple[int, Any]]) -> Any:
    for axis, indices in places:
        array = np.take(array, indices, axis)
    return array
