"""Parts of a program that differ in names alone."""

from dataclasses import replace
from typing import Any

import pytest
from scheduled import algorithm, as_written, texts

from dt_mlir.autoscheduling import likeness
from dt_mlir.autoscheduling.decisions import Decision, plain, sized
from dt_mlir.autoscheduling.likeness import Likeness, renamed
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.costs.work import Access, Work
from dt_mlir.dialects.sched import Argument

PROJECTIONS = """
Func q, k, s, m, p; In X, Wq, Wk; Var h, i, j, d, e, c;
q[h, i, d] = rdot(X[i, c], Wq[h, c, d], c);
k[h, j, e] = rdot(X[j, c], Wk[h, c, e], c);
s[h, i, j] = rdot(q[h, i, d], k[h, j, d], d);
m[h, i] = rmax(s[h, i, j], j);
p[h, i, j] = exp(s[h, i, j] - m[h, i]);
p.compile();
"""
SIZES = {"h": 8, "i": 512, "j": 512, "d": 64, "e": 64, "c": 256}


def split(name: str) -> Decision:
    """Returns the decision to compute a product over `c` in four parts."""
    return Decision(name, "rfactor", (Argument("c", 4), Argument(None, f"{name}_parts")))


def keys(text: str, *functions: str, **sizes: int) -> list[Any]:
    """Returns what is equal for single functions that are alike."""
    found = Likeness(Algorithm(algorithm(text), {**SIZES, **sizes}))
    made = [found.key([name], ()) for name in functions]
    return [key[0] for key in made if key is not None]


def test_functions_are_alike_up_to_the_names_of_labels() -> None:
    q, k = keys(PROJECTIONS, "q", "k")
    assert q == k


@pytest.mark.parametrize(
    "other",
    [
        "k[h, j, e] = rdot(X[c, j], Wk[h, c, e], c);",
        "k[h, e, j] = rdot(X[j, c], Wk[h, c, e], c);",
        "k[h, j, e] = rdot(X[j, c], Wk[h, c, e], c) + 1;",
        "k[h, j, e] = rdot(X[j, c], Wk[h, c, h], c);",
        "k[h, j, e] = rdot(X[j, c], Wk[h, c, e], c, c <= j);",
    ],
)
def test_what_is_computed_otherwise_is_not_alike(other: str) -> None:
    text = PROJECTIONS.replace("k[h, j, e] = rdot(X[j, c], Wk[h, c, e], c);", other)
    q, k = keys(text.replace("k[h, j, d]", "k[h, d, j]" if "[h, e, j]" in other else "k[h, j, d]"),
                "q", "k")  # fmt: skip
    assert q != k


GUARDED = """
Func g, k, h, u; In A, B, W, V; Var i, x, y, j, d; RVar c, e;
k[j, d] = rdot(repeat_edge(B[j, e]), V[e, d], e); u[j, e] = B[j, e] * 3;
g[i, d] = rdot(repeat_edge(A[i, c]), W[c, d], c); h[x, y] = A[x, y] * 2;
k.compile(); u.compile(); g.compile(); h.compile();
"""


@pytest.mark.parametrize("guard", ["repeat_edge", "mirror_image", ""])
def test_an_axis_is_walked_where_nothing_guards_it(guard: str) -> None:
    """The size of an axis whose reads are guarded may be another one than that of their label."""
    text = GUARDED
    if not guard:
        text = text.replace("repeat_edge(B[j, e])", "B[j, e]")
        text = text.replace("repeat_edge(A[i, c])", "A[i, c]")
    text = text.replace("repeat_edge", guard)
    g, k = keys(text, "g", "k", **dict.fromkeys("ixyjdce", 64))
    assert (g == k) == (not guard)


@pytest.mark.parametrize("name", ["e_part", "e1"])
@pytest.mark.parametrize("kind", ["In", "Func"])
def test_names_that_directives_would_make(name: str, kind: str) -> None:
    """Parts of `e` cannot have the name of something else, and those of `c` can."""
    defined = f"{name}[d] = C[d];" if kind == "Func" else ""
    funcs, inputs = ("", f", {name}") if kind == "In" else (f", {name}", ", C")
    text = f"""
    Func g, k, o{funcs}; In A, B{inputs}; Var d; RVar c, e;
    g[d] = rsum(A[c, d], c); k[d] = rsum(B[e, d], e); {defined} o[d] = {name}[d] * 2;
    g.compile(); k.compile(); o.compile();
    """
    g, k = keys(text, "g", "k", **dict.fromkeys("dce", 64))
    assert g != k
    g, k = keys(text.replace(name, "other"), "g", "k", **dict.fromkeys("dce", 64))
    assert g == k


@pytest.mark.parametrize("condition", ["k <= {0}", "k < len({0})"])
def test_domains_are_of_labels(condition: str) -> None:
    text = f"""
    Func g, h; In A, B; Var x, y; RVar k;
    g[x, y] = rsum(A[x, y, k], k, {condition.format("x")});
    h[x, y] = rsum(B[x, y, k], k, {condition.format("y")});
    g.compile(); h.compile();
    """
    g, h = keys(text, "g", "h", x=8, y=8, k=8)
    assert g != h


def test_other_sizes_are_not_alike() -> None:
    q, k = keys(PROJECTIONS.replace("k[h, j, d]", "k[h, j, 0]"), "q", "k", e=32)
    assert q != k


def test_labels_with_sizes_of_their_own_are_not_exchanged() -> None:
    """The size of `o` follows from that of `p`, which no other label stands for."""
    text = """
    Func f, g; In A, B; Var p, u, v; Var o = len(p) // 2;
    f[o] = A[2 * o]; g[u] = rsum(A[p] + B[v], p, v) + f[u];
    g.compile();
    """
    found = Likeness(Algorithm(algorithm(text), {"p": 64, "u": 32, "v": 64}))
    known = found.key(["f"], ())
    assert known is not None
    assert known[1].labels == ()


def test_directives_name_labels_too() -> None:
    found = Likeness(Algorithm(algorithm(PROJECTIONS), SIZES))

    def key(name: str, rows: str, columns: str, depth: str) -> Any:
        made = found.key([name], [
            split(name), sized(f"{name}_parts", "block", {rows: 64, columns: 64}),
            sized(name, "tensorize", {rows: 64, f"{depth}_part": 2}),
        ])  # fmt: skip
        assert made is not None
        return made[0]

    assert key("q", "i", "d", "c") == key("k", "j", "e", "c")
    assert key("q", "i", "d", "c") != key("k", "e", "j", "c")


def test_work_is_renamed_as_it_would_be_read() -> None:
    """Parts of reductions, whose labels directives make, included."""
    program = Algorithm(algorithm(PROJECTIONS), SIZES)
    found = Likeness(program)

    for said in ([], ["rfactor"]):
        q = found.key(["q"], [split("q") for _ in said])
        k = found.key(["k"], [split("k") for _ in said])
        assert q is not None
        assert k is not None
        assert q[0] == k[0]
        works = program.works(["q"], [split("q") for _ in said])
        others = program.works(["k"], [split("k") for _ in said])
        for work, other in zip(works, others, strict=True):
            made = renamed(work, q[1], k[1])
            assert work.signature() == made.signature() == other.signature()
            # Keys of elements are equal or not, and are called nothing.
            assert replace(made, accesses=_without_keys(made)) == replace(
                other, accesses=_without_keys(other)
            )


def _without_keys(work: Work) -> list[Access]:
    return [replace(item, key=()) for item in work.accesses]


def test_projections_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that are alike are lowered once, which changes nothing but the time."""
    lowered: list[Any] = []
    works = Algorithm.works

    def counted(self: Algorithm, functions: Any, decisions: Any) -> Any:
        lowered.append(functions)
        return works(self, functions, decisions)

    monkeypatch.setattr(Algorithm, "works", counted)
    found = texts(as_written(PROJECTIONS, SIZES))
    fewer = len(lowered)
    monkeypatch.setattr(likeness, "exchangeable", lambda declared: set[str]())
    assert texts(as_written(PROJECTIONS, SIZES)) == found
    assert len(lowered) - fewer > fewer


SHARED = """
Func n, q, k, s; In X, gain, Wq, Wk; Var h, i, j, d, e, c;
n[i, c] = exp(X[i, c]) * gain[c];
q[h, i, d] = rdot(n[i, c], Wq[h, c, d], c);
k[h, j, e] = rdot(n[j, c], Wk[h, c, e], c);
s[h, i, j] = rdot(q[h, i, d], k[h, j, d], d);
s.compile();
"""


@pytest.mark.parametrize(
    ("line", "alike"),
    [
        ("", True),
        # An axis of `n` is walked by two labels, by none alone, or by one that walks another, too.
        ("k[h, j, e] = rdot(n[j, c] + n[e, c], Wk[h, c, e], c);", False),
        ("k[h, j, e] = rdot(n[j + 1, c], Wk[h, c, e], c);", False),
        ("k[h, j, e] = rdot(n[c, c], Wk[h, c, e], c);", False),
    ],
)
def test_what_is_inlined_has_the_labels_that_walk_it(line: str, alike: bool) -> None:
    usual = "k[h, j, e] = rdot(n[j, c], Wk[h, c, e], c);"
    sizes = dict.fromkeys("hijdec", 64)
    program = Algorithm(algorithm(SHARED.replace(usual, line or usual)), sizes)
    found = Likeness(program)
    inlined = [plain("n", "inline", reason="")]
    q, k = (found.key([name, "n"], inlined) for name in ("q", "k"))
    assert q is not None
    assert k is not None
    assert (q[0] == k[0]) is alike
    if alike:
        # Where it has a loop, its own labels name it.
        assert found.key(["q", "n"], ()) != found.key(["k", "n"], ())
        (work,), (other,) = (program.works([name, "n"], inlined) for name in ("q", "k"))
        made = renamed(work, q[1], k[1])
        assert replace(made, accesses=_without_keys(made)) == replace(
            other, accesses=_without_keys(other)
        )


def test_conditions_hold_for_what_is_inlined_below() -> None:
    """They clamp indices by the sizes of the labels of each function that is read."""
    text = """
    Func n, m, q, u, v, w; In A, B; Var i, c, d;
    n[i, c] = exp(A[i, c]); m[i, c] = n[i, c] * 2; q[c, i] = constant_exterior(m[i - 1, c], 0);
    u[i, c] = exp(B[i, c]); v[i, d] = u[i, d] * 2; w[d, i] = constant_exterior(v[i - 1, d], 0);
    q.compile(); w.compile();
    """
    found = Likeness(Algorithm(algorithm(text), {"i": 4096, "c": 64, "d": 64}))
    keys = [
        found.key(names, [plain(name, "inline", reason="") for name in names[1:]])
        for names in (["q", "m", "n"], ["w", "v", "u"])
    ]
    assert keys[0] is not None
    assert keys[1] is not None
    assert keys[0][0] != keys[1][0]
