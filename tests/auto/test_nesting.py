"""Reductions that a pass over a label would compute again."""

import pytest
from scheduled import TWO_NORMS, algorithm, schedule, texts

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.nesting import is_made_too_often, most_copies, times_computed
from dt_mlir.autoscheduling.slices import MOST_READS, Algorithm


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


def chain(element: str, count: int) -> Algorithm:
    lines = [f"f{k}[i, j] = {element.format(f'f{k - 1}')};" for k in range(1, count)]
    names = ", ".join(f"f{k}" for k in range(count))
    text = f"Func {names}; In A, P : i32, Q : i32; Var i, j; RVar k; f0[i, j] = A[i, j] * 2;"
    module = algorithm("\n".join([text, *lines, f"f{count - 1}.compile();"]))
    return Algorithm(module, dict.fromkeys(Interface.of(module).labels, 64))


@pytest.mark.parametrize(
    ("element", "copies"),
    [
        # Other rows at each step, or the same ones.
        ("{0}[P[i], j] - rsum({0}[Q[i], k], k)", 2), ("{0}[P[i], j] - rsum({0}[P[i], k], k)", 1),
        ("{0}[P[i], j] * sigmoid({0}[P[i], j])", 1), ("{0}[i, j] - rsum({0}[i, k], k)", 1),
        ("repeat_edge({0}[i - 1, j]) + repeat_edge({0}[i + 1, j])", 2),
        ("{0}[P[i], j] + {0}[i, j]", 1),
    ],
)  # fmt: skip
def test_copies_of_a_function_in_a_pass(element: str, copies: int) -> None:
    for count in (4, 8):
        found = chain(element, count)
        members = [*reversed(found.functions)]
        assert most_copies(found, members) == copies ** (count - 1)
        often = copies ** (count - 1) > MOST_READS
        assert is_made_too_often(found, members, "k") == often
