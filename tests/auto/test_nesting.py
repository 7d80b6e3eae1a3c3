"""Reductions that a pass over a label would compute again."""

from scheduled import TWO_NORMS, algorithm

from dt_mlir.autoscheduling.nesting import times_computed
from dt_mlir.autoscheduling.slices import Algorithm


def test_products_of_a_pass_are_computed_for_each_reduction_of_them() -> None:
    program = Algorithm(algorithm(TWO_NORMS), dict.fromkeys("ice", 64))
    functions = list(program.functions)
    # By the mean, the variance, and the second product; `ms` is computed once for all of them.
    assert times_computed(program, functions, "c") == {"y": 3}
    assert times_computed(program, functions, "e") == {}
    assert times_computed(program, ["h", "g", "z", "y"], "c") == {"y": 1}
    assert times_computed(program, ["h", "g", "z"], "c") == {}
    # For the sums of a row, and for its elements; the sums alone need no second time.
    assert times_computed(program, ["g", "z", "va", "mu", "y"], "e") == {"y": 2}
    assert times_computed(program, ["va", "mu", "y"], "e") == {}


def test_a_sum_that_is_no_product_is_near_when_it_is_read_again() -> None:
    text = """
Func y, m, f; In X; Var i, c, e;
y[i, e] = rsum(X[i, e, c], c); m[i] = rmax(y[i, e], e); f[i, e] = y[i, e] - m[i];
f.compile();
"""
    program = Algorithm(algorithm(text), dict.fromkeys("ice", 64))
    assert times_computed(program, ["f", "m", "y"], "e") == {}
