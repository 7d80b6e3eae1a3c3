"""The functions that kernels compute, and the ways that are tried to put them together."""

import time
from typing import Any

import pytest
from long_programs import (
    elementwise,
    less_sums,
    less_their_sums,
    softmax_of_softmax,
    sums_of_inputs,
)
from scheduled import TWO_NORMS, algorithm, as_written, schedule, texts

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling import clusters
from dt_mlir.autoscheduling.auto import assumed_sizes, auto_schedule, with_schedule
from dt_mlir.autoscheduling.decisions import plain, sized
from dt_mlir.autoscheduling.evaluation import Cluster, Evaluator
from dt_mlir.autoscheduling.places import Places
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.costs.device import find_device
from dt_mlir.diagnostics import CompileError
from dt_mlir.pipeline import default_pipeline, run_pipeline


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of functions of each part that is lowered."""
    found: list[int] = []
    works = Algorithm.works

    def counted(self: Algorithm, functions: Any, decisions: Any) -> Any:
        found.append(len(functions))
        return works(self, functions, decisions)

    monkeypatch.setattr(Algorithm, "works", counted)
    return found


def test_a_chain_of_elementwise_functions_joins_a_kernel_at_once(
    lowered: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"x": 4096, "y": 1024}
    found = texts(schedule(elementwise(30), sizes))
    assert sum("inline" in text for text in found) == 29
    at_once = len(lowered)
    # One by one they are lowered as often as there are functions once more, and no better.
    monkeypatch.setattr(clusters, "LONG", 1000)
    assert texts(schedule(elementwise(30), sizes)) == found
    assert len(lowered) - at_once > at_once + 20


@pytest.mark.parametrize(
    "last", ["f[x, y] = rsum(d[x, k] * B[k, y] + 1, k);", "f[x, y] = d[y, x] + d[x, y];"]
)
def test_what_may_be_computed_again_joins_by_its_cost(
    last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each element of `d` is read for several ones of `f`: each function is looked at by itself."""
    text = f"""
    Func a, b, c, d, f; In A{", B" if "rsum" in last else ""}; Var x, y;{" RVar k;" if "rsum" in last else ""}
    a[x, y] = A[x, y] * 2; b[x, y] = exp(a[x, y]); c[x, y] = b[x, y] + 1; d[x, y] = sin(c[x, y]);
    {last} f.compile();
    """
    joined: list[bool] = []
    join = clusters.Clusters._joins_with_others

    def watched(self: clusters.Clusters, name: str, homes: set[str]) -> bool:
        joined.append(join(self, name, homes))
        return joined[-1]

    monkeypatch.setattr(clusters.Clusters, "_joins_with_others", watched)
    schedule(text, {"x": 512, "y": 512} | ({"k": 512} if "rsum" in last else {}))
    assert joined
    assert not any(joined)


def test_values_that_share_many_others_are_compared_in_time() -> None:
    """Each function reads the one before twice, so that its tree has 2^24 leaves."""
    count = 24
    names = ", ".join(f"f{i}" for i in range(count))
    lines = ["f0[x] = A[x] * 2;"]
    lines += [f"f{i}[x] = f{i - 1}[x] - f{i - 1}[x] * {i};" for i in range(1, count)]
    text = f"Func {names}; In A; Var x;\n" + "\n".join([*lines, f"f{count - 1}.compile();"])
    started = time.thread_time()
    schedule(text, {"x": 65536})
    assert time.thread_time() - started < 20


@pytest.mark.parametrize("crossing", [0, 10, 15])
def test_functions_join_a_kernel_as_many_before_them_did(
    crossing: int, lowered: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"x": 1024, "y": 1024}
    found = texts(schedule(less_their_sums(24, crossing), sizes))
    together = sum(lowered)
    lowered.clear()
    monkeypatch.setattr(clusters, "STEADY", 1000)
    assert texts(schedule(less_their_sums(24, crossing), sizes)) == found
    assert sum("fuse_at" in text for text in found) >= 21
    assert crossing or sum(lowered) > 2 * together


def test_what_does_not_pay_together_joins_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"x": 1024, "y": 1024}
    found = texts(schedule(less_their_sums(20), sizes))
    accepted, refused = {1}, list[int]()
    evaluated = Evaluator.evaluated

    def watched(self: Evaluator, root: str, members: Any, *rest: Any, **others: Any) -> Any:
        members = tuple(dict.fromkeys((root, *members)))
        if root == "f19" and len(members) > max(accepted) + 1:
            refused.append(len(members))
            return None
        accepted.add(len(members))
        return evaluated(self, root, members, *rest, **others)

    monkeypatch.setattr(Evaluator, "evaluated", watched)
    assert texts(schedule(less_their_sums(20), sizes)) == found
    # Eight functions, four, and two, beside nine that are there; no more are tried together then.
    assert refused == [9 + 8, 9 + 4, 9 + 2]


@pytest.mark.parametrize(
    ("text", "x", "y"),
    [
        (softmax_of_softmax(6), 128, 256),
        (less_sums(14), 65536, 64),
        (less_sums(14), 128, 256),
        (less_their_sums(24), 65536, 64),
        (less_their_sums(24, 12), 1024, 1024),
    ],
    ids=["softmax", "tall", "small", "their own", "crossing"],
)
def test_joining_together_is_no_slower_than_one_by_one(
    text: str, x: int, y: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Functions are inlined where that is better, and the end of a run pays, too."""
    seconds: list[float] = []
    run = clusters.Clusters.run

    def watched(self: clusters.Clusters) -> Any:
        found = run(self)
        if self.passes:
            seconds.append(sum(map(self._time, found)))
        return found

    monkeypatch.setattr(clusters.Clusters, "run", watched)
    schedule(text, {"x": x, "y": y})
    monkeypatch.setattr(clusters, "STEADY", 1000)
    schedule(text, {"x": x, "y": y})
    together, one_by_one = seconds
    assert together <= 1.001 * one_by_one


def test_long_chains_of_reductions_take_seconds() -> None:
    started = time.thread_time()
    found = texts(schedule(less_their_sums(80), {"x": 4096, "y": 4096}))
    assert sum("fuse_at" in text for text in found) == 79
    assert time.thread_time() - started < 8  # About 0.7 on an idle machine, and 17 one by one.


def test_functions_that_are_alike_are_refused_once(
    lowered: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the sums join the kernel of what reads them, and the others no more than the next."""
    sizes = {"x": 1024, "k": 4096}
    found = texts(schedule(sums_of_inputs(80), sizes))
    apart = 80 - sum("fuse_at" in text for text in found)
    assert apart > 10
    once = len(lowered)
    monkeypatch.setattr(clusters.Clusters, "_refusal", lambda *_: object())
    assert texts(schedule(sums_of_inputs(80), sizes)) == found
    assert len(lowered) - once > once + apart // 2


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (
            """
            Func g0, g1, g2, g3, g4, g5, g6, g7, g8, f; In A0, A1, A2, A3, A4; Var x; RVar k;
            g0[x] = rsum(exp(A1[k, x]), k); g1[x] = rsum(exp(A4[k, x]), k);
            g2[x] = rsum(exp(A2[k, x]), k); g3[x] = rsum(exp(A0[k, x]), k);
            g4[x] = rsum(exp(A3[k, x]), k); g5[x] = rsum(exp(A4[k, x]), k);
            g6[x] = rsum(exp(A2[k, x]), k); g7[x] = rsum(exp(A2[k, x]), k);
            g8[x] = rsum(exp(A1[k, x]), k);
            f[x] = g0[x] + g1[x] + g2[x] + g3[x] + g4[x] + g5[x] + g6[x] + g7[x] + g8[x];
            f.compile();
            """, {"x": 16384, "k": 64},
        ),
        (
            """
            Func g0, g1, g2, g3, f; In A0, A2, A4, A6, M1, v2; Var x, y; RVar k;
            g0[x] = rmax(A4[x, k], k); g1[x] = rmax(A6[x, k], k); g2[x] = rmax(A0[x, k], k);
            g3[x] = exp(v2[x]);
            f[x, y] = g0[x] + rsum(A4[x, k] * g1[x], k) + rsum(A2[x, k] * g2[x], k) + g3[y]
                + A0[x, y] + M1[x, y];
            f.compile();
            """, {"x": 8192, "y": 8192, "k": 8192},
        ),
    ],
    ids=["of tensors that are read already", "in other reductions"],
)  # fmt: skip
def test_what_is_refused_once_is_what_is_read_alike(
    text: str, sizes: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = texts(schedule(text, sizes))
    monkeypatch.setattr(clusters.Clusters, "_refusal", lambda *_: object())
    assert texts(schedule(text, sizes)) == found


STORED = """
Func f2, f3, f4, f5, f6, f7, f8, f9, f12; In B, f0, f1, w; Var x, y; RVar k;
f2[x] = rmax(f1[x, k] * f1[x, k], k) * 0.5;
f3[x, y] = f1[x, y] - rsum(f1[x, k], k);
f4[x] = rmean(f3[x, k] - f0[x], k) * f2[x];
f5[x] = rsum(f1[x, k] * f1[k, x], k) * f4[x];
f6[x, y] = B[x, y] - rmax(f3[x, k], k);
f7[x] = rmean(f6[x, k] - f2[x], k) * f0[x];
f8[x] = rmax(f1[x, k], k) + f5[x];
f9[x, y] = f6[x, y] * w[x];
f12[x, y] = f1[x, y] * f8[x] * f1[y, x];
f7.compile(); f9.compile(); f12.compile();
"""


def test_what_is_stored_with_others_may_have_a_kernel_of_its_own() -> None:
    """Then one pass does not store it."""
    assert schedule(STORED, {"x": 512, "y": 512, "k": 512})


@pytest.mark.parametrize("count", [4, 12])
def test_many_reductions_are_not_tried_in_one_pass(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []
    gather = clusters.Clusters._gathered

    def watched(self: clusters.Clusters, name: str, members: Any, decision: Any) -> Any:
        tried.append(len(members))
        return gather(self, name, members, decision)

    monkeypatch.setattr(clusters.Clusters, "_gathered", watched)
    schedule(less_their_sums(count), {"x": 4096, "y": 1024})
    assert bool(tried) == (count - 1 <= clusters.MOST_REDUCTIONS)


PROJECTED = """
Func q, k, v, s, top, p, total, o : bf16; In X : bf16, Q : bf16, K : bf16, V : bf16;
Var h, i, j, d; RVar c;
q[h, i, d] = rdot(X[i, c], Q[h, c, d], c);
k[h, j, d] = rdot(X[j, c], K[h, c, d], c);
v[h, j, d] = rdot(X[j, c], V[h, c, d], c);
s[h, i, j] = rdot(q[h, i, d], k[h, j, d], d) / 8;
top[h, i] = rmax(s[h, i, j], j);
p[h, i, j] = exp(s[h, i, j] - top[h, i]);
total[h, i] = rsum(p[h, i, j], j);
o[h, i, d] = rdot(p[h, i, j], v[h, j, d], j) / total[h, i];
o.precision(narrow); o.compile();
""".replace("q, k, v,", "q : bf16, k : bf16, v : bf16,")


def test_attention_reads_the_keys_and_values_that_a_program_computes() -> None:
    found = texts(schedule(PROJECTED, {"h": 16, "i": 4096, "j": 4096, "d": 64, "c": 1024}))
    assert "o.online(j);" in found
    assert {"k", "v"} <= {text.partition(".block")[0] for text in found if ".block(" in text}


PERCEPTRON = """
Func ms, n, g, u, a, y, t, v, w, f; In X, W, U, D, B, G; Var i, c, e, z;
ms[i] = rsum(X[i, c] * X[i, c], c) / size(X, 1);
n[i, c] = X[i, c] * rsqrt(ms[i] + 0.00001) * G[c];
g[i, e] = rdot(n[i, c], W[c, e], c);
u[i, e] = rdot(n[i, c], U[c, e], c);
a[i, e] = g[i, e] * sigmoid(g[i, e]) * u[i, e];
y[i, z] = rdot(a[i, e], D[e, z], e);
t[i, z] = y[i, z] + B[z];
v[i] = rmax(abs(t[i, z]), z);
w[i, z] = t[i, z] / v[i];
f[i, z] = w[i, z] * 2 + X[i, z];
f.compile();
"""
NORMS = """
Func s, ms, n, y, mu, z, f; In X, R, W; Var i, c, e;
s[i, c] = X[i, c] + R[i, c];
ms[i] = rsum(s[i, c] * s[i, c], c) / size(X, 1);
n[i, c] = s[i, c] * rsqrt(ms[i] + 0.00001);
y[i, e] = rdot(n[i, c], W[c, e], c);
mu[i] = rsum(y[i, e], e) / size(W, 1);
z[i, e] = y[i, e] - mu[i];
f[i, e] = z[i, e] * s[i, e];
f.compile();
"""


@pytest.mark.parametrize("text", [PERCEPTRON, NORMS])
@pytest.mark.parametrize("size", [4096, 256])
def test_ways_that_are_never_legal_are_not_lowered(
    text: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []
    works = Algorithm.works

    def watched(self: Algorithm, functions: Any, decisions: Any) -> Any:
        try:
            return works(self, functions, decisions)
        except CompileError as error:
            refused.append(str(error))
            raise

    monkeypatch.setattr(Algorithm, "works", watched)
    as_written(text, assumed_sizes(algorithm(text), {}, size))
    assert not refused


BLOCK = """
Func q, s, m, p, l, o, f; In X, W, K, V, P; Var i, c, e, d, j, z;
q[i, e] = rdot(X[i, c], W[c, e], c);
s[i, j] = rdot(q[i, e], K[j, e], e);
m[i] = rmax(s[i, j], j);
p[i, j] = exp(s[i, j] - m[i]);
l[i] = rsum(p[i, j], j);
o[i, d] = rdot(p[i, j], V[j, d], j) / l[i];
f[i, z] = rdot(o[i, d], P[d, z], d) + X[i, z];
f.compile();
"""


@pytest.mark.parametrize(
    ("text", "labels", "size", "owner", "name", "usual"),
    [
        # One pass with the next product.
        (BLOCK, "icedjz", 1024, clusters.Clusters, "_least_of_chains", 0.0),
        # The activation of a normalized row, which no law separates.
        (TWO_NORMS, "ice", 256, clusters, "has_no_law", False),
    ],
)
def test_passes_that_are_surely_not_chosen_are_not_lowered(
    text: str, labels: str, size: int, owner: Any, name: str, usual: float | bool,
    lowered: list[int], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    sizes = dict.fromkeys(labels, size)
    found = texts(schedule(text, sizes))
    fewer = len(lowered)
    # They are lowered otherwise, and compared.
    monkeypatch.setattr(owner, name, lambda *_: usual)
    assert texts(schedule(text, sizes)) == found
    assert len(lowered) - fewer > fewer


TWO_NAMES = """
Func f0, f1, f2; In A, B, C, D; Var i, j, c, d;
f0[c] = rdot(B[d, d], B[d, d], d) / A[c, c];
f1[i] = rdot(f0[c], f0[c], c) / f0[i];
f2[d, j] = rdot(C[j], f0[j], c) / f1[j];
f2.compile();
"""
NESTED = """
Func f0, f1, f2, f3, f4, f5, f6, f7, f8; In A, B, C, D; Var i,j,c,d;
f0[i, j] = B[j, j] + C[j];
f1[] = rsum(C[d] * D[d, d], d) + B[0, 0];
f2[i, d] = rdot(f1[], f0[i, c], c) / f0[d, d];
f3[j] = rsum(f2[j, j] * f0[j, j], c) + f1[];
f4[] = rsum(D[d, d] * f3[d], d) + f1[];
f5[j] = exp(B[j, j] - A[j, j]);
f6[c] = rmax(f5[j] , j);
f7[] = rdot(f4[], f6[c], c) / f4[];
f8[i, j] = rdot(f7[], f4[], c) / A[i, j];
f8.compile(); f1.compile(); f4.compile(); f5.compile();
"""
BETWEEN = """
Func f0, f1, f2; In A, B, C; Var x, y; RVar k;
f0[x, y] = A[x, y] * rsum(B[x, k], k);
f1[x, y] = f0[x, y] - C[x, y];
f2[x, y] = f1[x, y] * rsum(C[x, k], k);
f2.compile();
"""


@pytest.mark.parametrize("text", [TWO_NAMES, BETWEEN, PERCEPTRON, NORMS, PROJECTED, NESTED])
@pytest.mark.parametrize("size", [4096, 64])
def test_schedules_are_legal_in_the_whole_program(text: str, size: int) -> None:
    module = algorithm(text)
    sizes = assumed_sizes(module, {}, size)
    found = auto_schedule(module, sizes, find_device("h200"))
    assert Algorithm(module, sizes).is_legal(found)
    run_pipeline(with_schedule(module, found), default_pipeline("tile"))


@pytest.mark.parametrize(("text", "checked"), [(PERCEPTRON, 0), (STORED, 1)])
def test_kernels_that_compute_nothing_of_each_other_are_not_checked_together(
    text: str, checked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[int] = []
    legal = Algorithm.is_legal

    def watched(self: Algorithm, directives: Any, others: Any = ()) -> bool:
        found.append(len(directives))
        return legal(self, directives, others)

    monkeypatch.setattr(Algorithm, "is_legal", watched)
    module = algorithm(text)
    auto_schedule(module, assumed_sizes(module, {}, 1024), find_device("h200"))
    assert len(found) == checked


SOFTMAX = """
Func m, e, s, y, f; In X, W; Var i, j, c;
m[i] = rmax(X[i, j], j);
e[i, j] = exp(X[i, j] - m[i]);
s[i] = rsum(e[i, j], j);
y[i, j] = e[i, j] / s[i];
f[i, c] = rdot(y[i, j], W[j, c], j);
f.compile();
"""


@pytest.mark.parametrize(
    ("others", "is_legal"), [((), True), (("f",), True), (("f", "s"), False), (("y",), True)]
)
def test_a_pass_must_not_compute_what_other_kernels_do(
    others: tuple[str, ...], is_legal: bool
) -> None:
    module = algorithm(SOFTMAX)
    whole = Algorithm(module, assumed_sizes(module, {}, 1024))
    assert whole.is_legal([plain("y", "online", "j")], others) is is_legal


@pytest.mark.parametrize("size", [256, 4096])
def test_passes_that_multiply_again_are_not_lowered(
    size: int, lowered: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pass over `c` would multiply thrice: for the mean, the variance, and the next product."""
    sizes = dict.fromkeys("ice", size)
    found = texts(schedule(TWO_NORMS, sizes))
    fewer = sum(lowered)
    lowered.clear()
    monkeypatch.setattr(clusters.Clusters, "_least_again", lambda *_: 0.0)
    assert texts(schedule(TWO_NORMS, sizes)) == found
    assert sum(lowered) > fewer



def test_kernels_do_not_hold_more_than_a_tile_has(
    lowered: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of `q` at once, for the loop over `h`, has no tiling."""
    text = """
    Func q, s, m, p; In X, W, K; Var h, i, j, d; RVar c;
    q[h, i, d] = rdot(X[i, c], W[h, c, d], c);
    s[h, i, j] = rdot(q[h, i, d], K[h, j, d], d);
    m[h, i] = rmax(s[h, i, j], j);
    p[h, i, j] = exp(s[h, i, j] - m[h, i]);
    p.compile();
    """
    sizes = {"h": 8, "i": 4096, "j": 4096, "d": 64, "c": 512}
    found = texts(schedule(text, sizes))
    fewer = len(lowered)
    monkeypatch.setattr(Places, "held", lambda *_: set[str]())
    assert texts(schedule(text, sizes)) == found
    assert len(lowered) - fewer > fewer


def test_what_does_not_depend_on_a_reduced_label_is_a_tile_along_it() -> None:
    """Each element of `g` is summed as often as there are indices `j`, in tiles of all three."""
    text = """
    Func g, f; In A, B; Var i, j, d;
    g[i, d] = rsum(A[d, i] * 2, j);
    f[j, d] = exp(g[j, d] - B[d, j]);
    f.compile();
    """
    module = algorithm(text)
    found = auto_schedule(module, assumed_sizes(module, {}, 4096), find_device("h200"))
    run_pipeline(with_schedule(module, found), default_pipeline("tile"))


@pytest.mark.parametrize(
    ("read", "place", "held"),
    [
        ("f[x, y, z]", "z", ""),
        ("f[x, y, z]", "y", "z"),
        ("f[x, y, z]", "x", "yz"),
        ("f[x, y, 0]", "y", ""),
        ("f[x, 2 * y, z]", "x", "z"),
        ("f[x, y, z] + f[x, y, 0]", "y", "z"),
        ("rsum(f[x, k, z], k)", "z", "y"),
    ],
)
def test_elements_that_a_kernel_holds(read: str, place: str, held: str) -> None:
    """An index that is not a label by itself may be of a single element."""
    k = ", k" if "k" in read else ""
    text = f"""
    Func f, g; In A; Var x, y, z{k};
    f[x, y, z] = A[x, y, z] * 2; g[x, y, z] = {read}; g.compile();
    """
    sizes = {"x": 8, "y": 16, "z": 32} | ({"k": 16} if k else {})
    program = Algorithm(algorithm(text), sizes)
    places = Places(program, program.readers)
    decision = plain("f", "fuse_at", "g", place)
    assert places.held(decision, Cluster("g", ("g",), ())) == {*held}


INLINED_TWICE = """
Func f0, f1, f2, t1; In A, B, E; Var i, j, c, d, x; RVar e;
f0[c, d, x] = rsum(B[x, d] * A[x, d], e) + B[c, d];
f1[i] = B[i, i] * 2 + i;
f2[x, i] = rdot(f0[j, j, i], E[i, x, x], j) / f1[i];
t1[j] = f1[j] + f1[j];
t1.compile(); f2.compile();
"""
CALLERS = """
Func P : f16, o : f16; In S : f16, V : f16; Var i, j, d;
P[i, j] = exp(S[i, j]); o[i, d] = rdot(P[i, j], V[j, d], j);
o.compile_to_kernel();
"""
TAKEN = """
Func g, k, o; In A, B, e_part; Var d; RVar c, e;
g[d] = rsum(A[c, d], c); k[d] = rsum(B[e, d], e); o[d] = e_part[d] * 2;
g.compile(); k.compile(); o.compile();
"""
TAKEN_BY_A_FUNCTION = """
Func g, e_part; In A; Var d; RVar e;
g[d] = rsum(A[e, d], e); e_part[d] = g[d] * 2;
g.compile(); e_part.compile();
"""
DYNAMIC = """
Func h : f16, f : f16; In A : f16, B : f16, C : f16; Var x, y, z; RVar k;
h[x, y] = rdot(A[x, k], B[k, y], k); f[x, z] = rdot(h[x, y], C[y, z], y);
f.compile(dynamic:1);
"""


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (INLINED_TWICE, {**dict.fromkeys("icdxj", 64), "e": 500}),
        (CALLERS, dict.fromkeys("ijd", 4095)),
        (TAKEN, {"c": 2**20, "e": 2**20, "d": 16}),
        (TAKEN.replace("e_part", "c_part"), {"c": 2**20, "e": 2**20, "d": 16}),
        (TAKEN_BY_A_FUNCTION, {"e": 2**20, "d": 16}),
        (DYNAMIC, dict.fromkeys("xyzk", 4096)),
    ],
    ids=[
        "inlined twice", "only a kernel", "a name", "another name", "a function's name", "open sizes",
    ],
)
def test_what_is_legal_by_itself_may_not_be_in_the_program(
    text: str, sizes: dict[str, int]
) -> None:
    module = algorithm(text)
    known = Interface.of(module).sizes(sizes)
    found = auto_schedule(module, known, find_device("h200"))
    run_pipeline(with_schedule(module, found), default_pipeline("warp"))


def test_whole_programs_are_refused() -> None:
    """A directive on the tiles of what is inlined; storage of what the caller owns."""
    program = Algorithm(algorithm(INLINED_TWICE), {**dict.fromkeys("icdxj", 64), "e": 500})
    inlined, blocked = plain("f1", "inline"), sized("f1", "block", {"i": 8})
    assert program.is_legal([inlined])
    assert program.is_legal([blocked])
    assert not program.is_legal([inlined, blocked])
    for text, legal in ((CALLERS, False), (CALLERS.replace("_to_kernel", ""), True)):
        program = Algorithm(algorithm(text), dict.fromkeys("ijd", 4095))
        assert program.is_legal([sized("P", "align_storage", {"j": 8})]) == legal


def test_laws_are_looked_for_in_each_pass() -> None:
    """There are none for a pass of `o`, whose sum goes over `i`; `t` has some."""
    text = """
    Func m, t, o; In X; Var i, j;
    m[i] = rmax(X[i, j], j); t[i] = rsum(exp(X[i, j] - m[i]), j);
    o[] = rsum(t[i] + m[i], i); o.compile();
    """
    found = texts(schedule(text, {"i": 4096, "j": 65536}))
    assert "t.online(j, together);" in found
