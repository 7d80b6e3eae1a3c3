"""Reductions that a pass over a label would compute again."""

from scheduled import TWO_NORMS, algorithm, schedule, texts

from dt_mlir.analysis.interface import Interface
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


def test_functions_of_a_pass_have_to_do_with_its_label() -> None:
    """The queries read rows that are called as those of keys, and reduce over nothing of them."""
    text = """
    Func ms, n, q, k, s, top, p, o; In X, Q, K, V; Var i, j, c, d, e;
    ms[j] = rsum(X[j, c] ** 2, c);
    n[j, c] = X[j, c] * rsqrt(ms[j]);
    q[i, d] = rdot(n[i, c], Q[c, d], c);
    k[j, d] = rdot(n[j, c], K[c, d], c);
    s[i, j] = rdot(q[i, d], k[j, d], d);
    top[i] = rmax(s[i, j], j);
    p[i, j] = exp(s[i, j] - top[i]);
    o[i, e] = rdot(p[i, j], V[j, e], j);
    o.compile();
    """
    module = algorithm(text)
    found = Algorithm(module, Interface.of(module).sizes({}))

    def following(label: str) -> list[str]:
        return [name for name in found.functions if found.is_along(name, label)]

    assert [name for name in found.functions if name not in following("j")] == ["q"]
    assert following("i") == ["q", "s", "top", "p", "o"]
    # What reads a sum over a label needs all of it.
    assert following("c") == [*found.functions]
    # By names, the queries are among them.
    assert all(found.needs(name, "j") for name in found.functions)


def test_passes_may_gather_by_names() -> None:
    """The queries are elementwise, so that the pass of the whole program computes them."""
    text = """
    Func ms, n, q, k, v, s, top, p, o; In X, Q, K, V;
    Var i, j, c, d, e;
    ms[j] = rsum(X[j, c] ** 2, c);
    n[j, c] = X[j, c] * rsqrt(ms[j] + 1);
    q[i, d] = n[i, d] * Q[i, d];
    k[j, d] = rdot(X[j, c], K[c, d], c);
    v[j, e] = n[j, e] * V[j, e];
    s[i, j] = rdot(q[i, d], k[j, d], d);
    top[i] = rmax(s[i, j], j);
    p[i, j] = exp(s[i, j] - top[i]);
    o[i, e] = rdot(p[i, j], v[j, e], j);
    o.compile();
    """
    found = texts(schedule(text, {"i": 4096, "j": 4096, "c": 64, "d": 64, "e": 64}))
    assert sum(".online(" in item for item in found) == 1
