"""The places in kernels where functions may be computed."""

import time
from math import inf
from typing import Any

import pytest
from long_programs import less_sums, less_their_sums, softmax_of_softmax
from scheduled import TWO_NORMS, algorithm, as_written, schedule, texts

from dt_mlir.autoscheduling import clusters
from dt_mlir.autoscheduling.decisions import plain
from dt_mlir.autoscheduling.evaluation import Cluster, Evaluator
from dt_mlir.autoscheduling.joining import ways_within
from dt_mlir.autoscheduling.nests import Nests
from dt_mlir.autoscheduling.places import Places
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.autoscheduling.tilings import least_blocks
from dt_mlir.costs.device import find_device
from dt_mlir.pipeline import default_pipeline, run_pipeline

H200 = find_device("h200")
NORMALIZED = """
Func total, g, f; In A, B; Var i, j, a, b; RVar k;
total[i] = rsum(A[i, k], k);
g[a, b] = A[a, b] / total[a];
f[i, j] = g[i, j] * B[i, j];
f.compile();
"""


@pytest.mark.parametrize("labels", ["a, b", "i, j", "j, i"])
def test_labels_of_inlined_functions_have_any_names(labels: str) -> None:
    """A function that they read is computed where they are."""
    text = NORMALIZED.replace("[a, b]", f"[{labels}]").replace("[a]", f"[{labels[0]}]")
    found = texts(schedule(text, dict.fromkeys("ijkab", 2048)))
    assert [item for item in found if ".rename(" not in item][:2] == ["g.inline();", "total.fuse_at(f, i);"]


NESTED = """
Func w, v, f; In A, B; Var i, j; RVar k, l;
w[i] = rsum(B[i, l], l);
v[j] = rsum(A[j, k] * w[j], k);
f[i, j] = A[i, j] * v[i];
f.compile();
"""


@pytest.mark.parametrize("label", ["i", "j"])
def test_labels_of_fused_functions_have_any_names(label: str) -> None:
    """The loop of a function is that at whose index it is read, not one of the same name."""
    program = Algorithm(algorithm(NESTED.replace("[j", f"[{label}")), dict.fromkeys("ijkl", 64))
    fused = plain("v", "fuse_at", "f", "i", reason="")
    cluster = Evaluator(program, H200).evaluated("f", ["v"], [fused])
    assert cluster is not None
    places = Places(program, program.readers)
    assert [d.text for d in places.ways("w", cluster, False)] == ["w.fuse_at(f, i);"]


def test_functions_that_read_the_two_before_are_placed_in_time() -> None:
    """Reads on many ways are followed once: there are more ways than can be walked."""
    count, lines = 30, ["f0[i] = rsum(A[i, j], j);", "f1[i] = rsum(A[i, j] * f0[i], j);"]
    lines += [f"f{k}[i] = rsum(A[i, j] * f{k - 1}[i] * f{k - 2}[i], j);" for k in range(2, count)]
    names = ", ".join(f"f{k}" for k in range(count))
    text = "\n".join([f"Func {names}; In A; Var i; RVar j;", *lines, f"f{count - 1}.compile();"])
    found = texts(schedule(text, {"i": 4096, "j": 4096}))
    assert sum(".fuse_at(" in line for line in found) == count - 1


@pytest.mark.parametrize(
    ("element", "inlined"),
    [
        ("{0}[i, j] * sigmoid({0}[i, j])", 12), ("{0}[i, j] * sigmoid({0}[j, i])", 0),
        ("{0}[P[i], j] * {0}[Q[i], j]", 0), ("{0}[P[i], j] * {0}[i, j]", 0),
    ],
)  # fmt: skip
def test_functions_that_read_one_twice_are_placed_in_time(element: str, inlined: int) -> None:
    """There are as many paths to the first one as a power of two says."""
    count = 30
    lines = [f"f{k}[i, j] = {element.format(f'f{k - 1}')};" for k in range(1, count)]
    names = ", ".join(f"f{k}" for k in range(count))
    lines = ["f0[i, j] = A[i, j] * 2;", *lines, f"f{count - 1}.compile();"]
    text = "\n".join([f"Func {names}; In A, P : i32, Q : i32; Var i, j;", *lines])
    started = time.thread_time()
    found = texts(schedule(text, {"i": 4096, "j": 4096}))
    assert time.thread_time() - started < 8
    assert sum(".inline(" in line for line in found) >= inlined


def test_sums_of_what_reads_the_two_before_are_decomposed_in_time() -> None:
    """In one pass each element is a sum of terms, which is the same on all ways to it."""
    count = 34
    lines = [f"f{k}[i, j] = f{k - 1}[i, j] * {k} + f{max(0, k - 2)}[i, j];" for k in range(1, count)]
    names = ", ".join(f"f{k}" for k in range(count))
    lines = [
        "total[i] = rsum(A[i, j], j);", "f0[i, j] = A[i, j] - total[i];", *lines,
        f"g[i] = rsum(f{count - 1}[i, j], j);",
    ]  # fmt: skip
    text = "\n".join([f"Func {names}, total, g; In A; Var i, j;", *lines, "g.compile();"])
    started = time.thread_time()
    found = texts(schedule(text, {"i": 100, "j": 64}))
    assert time.thread_time() - started < 5
    assert any(".fuse_at(g, i" in line for line in found)
    module = algorithm(text.replace("g.compile", "g.online(j); g.compile"))
    started = time.thread_time()
    run_pipeline(module, default_pipeline("loop"))
    assert time.thread_time() - started < 5


ATTENTION = """
Func q, k, v, s, top, p, total, o; In X, Q, K, V; Var h, i, j, d, e, c;
q[h, i, d] = rdot(X[i, c], Q[h, c, d], c);
k[h, j, d] = rdot(X[j, c], K[h, c, d], c);
v[h, j, d] = rdot(X[j, c], V[h, c, d], c);
s[h, i, j] = rdot(q[h, i, e], k[h, j, e], e);
top[h, i] = rmax(s[h, i, j], j);
p[h, i, j] = exp(s[h, i, j] - top[h, i]);
total[h, i] = rsum(p[h, i, j], j);
o[h, i, d] = rdot(p[h, i, j], v[h, j, d], j) / total[h, i];
o.compile();
"""
SIZES = {"h": 16, "i": 4096, "j": 4096, "d": 64, "e": 64, "c": 1024}


def one_pass(
    sizes: dict[str, int], text: str = ATTENTION
) -> tuple[Evaluator, Places, Cluster]:
    """Returns attention in one pass, and the places in it."""
    program = Algorithm(algorithm(text), sizes)
    evaluator = Evaluator(program, H200)
    online = plain("o", "online", "j", reason="")
    cluster = evaluator.evaluated("o", ["s", "top", "p", "total"], [online])
    assert cluster is not None
    return evaluator, Places(program, program.readers), cluster


@pytest.mark.parametrize("label", ["e", "d"])
def test_what_functions_of_a_pass_reduce_is_no_place_of_its_root(label: str) -> None:
    """The scores are sums over `d`, which the root has, too: that is another loop."""
    line = "s[h, i, j] = rdot(q[h, i, e], k[h, j, e], e);"
    _, places, cluster = one_pass(SIZES, ATTENTION.replace(line, line.replace("e", label)))
    found = {name: [d.text for d in places.ways(name, cluster, False)] for name in "qkv"}
    assert found == {
        "q": ["q.fuse_at(o, i);", "q.fuse_at(o, h);"],
        "k": ["k.fuse_at(o, j);", "k.fuse_at(o, h);"],
        "v": ["v.fuse_at(o, j);", "v.fuse_at(o, d);", "v.fuse_at(o, h);"],
    }


def test_a_kernel_holds_what_functions_of_its_pass_walk() -> None:
    _, places, cluster = one_pass(SIZES)
    ways = {d.text: d for name in "qkv" for d in places.ways(name, cluster, False)}
    held = {text: places.held(decision, cluster) for text, decision in ways.items()}
    assert held == {
        "q.fuse_at(o, i);": {"d"}, "q.fuse_at(o, h);": {"i", "d"},
        "k.fuse_at(o, j);": {"d"}, "k.fuse_at(o, h);": {"j", "d"},
        "v.fuse_at(o, j);": set(), "v.fuse_at(o, d);": {"j"}, "v.fuse_at(o, h);": {"j", "d"},
    }  # fmt: skip


def test_blocks_compute_again_what_does_not_depend_on_them() -> None:
    evaluator, places, cluster = one_pass(SIZES)
    ways = {d.text: d for name in "qkv" for d in places.ways(name, cluster, False)}
    times = {text: places.times(decision, cluster, least_blocks) for text, decision in ways.items()}
    # The keys and values of a head are the same for its 4096 queries, in 32 blocks.
    assert times["k.fuse_at(o, j);"] == times["v.fuse_at(o, j);"] == 32
    assert times["q.fuse_at(o, i);"] == times["q.fuse_at(o, h);"] == times["v.fuse_at(o, h);"] == 1
    single = evaluator.single("k")
    assert single is not None
    before = cluster.seconds + single.seconds
    assert len(ways_within(evaluator, places, "k", cluster, False, inf)) == 1
    assert not ways_within(evaluator, places, "k", cluster, False, before)
    assert ways_within(evaluator, places, "q", cluster, False, before)


def test_few_rows_are_one_block() -> None:
    _, places, cluster = one_pass({**SIZES, "i": 256})
    decision = plain("k", "fuse_at", "o", "j", reason="")
    assert places.times(decision, cluster, least_blocks) == 1


@pytest.mark.parametrize(
    "line",
    [
        "s[h, i, j] = rdot(q[h, i, e], k[h, e, e], e) * X[i, j];",
        "s[h, i, j] = rdot(q[h, i, e], k[h, j, e], e, e <= i);",
    ],
    ids=["a diagonal", "a condition"],
)
def test_what_is_read_in_parts_is_not_computed_as_a_whole(line: str) -> None:
    sizes = dict.fromkeys("hijdec", 1024)
    lines = ATTENTION.splitlines()
    assert lines[5].startswith("s[")
    lines[5] = line
    _, places, cluster = one_pass(sizes, "\n".join(lines))
    decision = plain("k", "fuse_at", "o", "j", reason="")
    assert places.times(decision, cluster, least_blocks) == 0


DIAGONAL = """
Func f0 : bf16, f1, f2 : bf16, f3 : bf16, f4; In A : f16, C : bf16, D : bf16; Var i, j, c;
f0[c, j] = A[j, j] * sigmoid(A[j, c]);
f1[i, j] = f0[j, j] * sigmoid(C[i, i]);
f2[i, c] = rdot(f1[i, j], D[c, j], j) / f1[i, i];
f3[j] = exp(f2[j, j] - f0[j, j]);
f4[c] = rmax(f3[c], i);
f4.compile();
"""


@pytest.mark.parametrize("text", [ATTENTION, DIAGONAL], ids=["attention", "diagonal"])
def test_bounds_leave_out_what_is_not_chosen(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = SIZES if text == ATTENTION else dict.fromkeys("ijc", 4096)
    lowered: list[Any] = []
    works = Algorithm.works

    def watched(self: Algorithm, functions: Any, decisions: Any) -> Any:
        lowered.append(functions)
        return works(self, functions, decisions)

    monkeypatch.setattr(Algorithm, "works", watched)
    found = texts(as_written(text, sizes))
    fewer = len(lowered)
    monkeypatch.setattr(
        clusters, "ways_within", lambda *args: ways_within(*args[:-1], limit=inf)
    )
    assert texts(as_written(text, sizes)) == found
    assert len(lowered) - fewer >= fewer + (4 if text == ATTENTION else 0)


def test_passes_are_made_from_those_with_fewer_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that mean nothing to a pass are put beside it; the program is the same."""
    directives = [plain("o", "online", "j", reason="")]
    made: list[bool] = []
    before = Algorithm._gathered_before

    def watched(self: Algorithm, key: Any, directives: Any) -> Any:
        found = before(self, key, directives)
        made.append(found is not None)
        return found

    monkeypatch.setattr(Algorithm, "_gathered_before", watched)
    names = ["o", "s", "top", "p", "total"]
    for other, sure in (("q", True), ("k", False), ("v", False)):
        program, fresh = (Algorithm(algorithm(ATTENTION), SIZES) for _ in range(2))
        program.works(names, directives)
        made.clear()
        known = str(program.scheduled([*names, other], directives))
        assert made == [sure]
        assert known == str(fresh.scheduled([*names, other], directives))


@pytest.mark.parametrize("labels", ["h, i", "g, t"])
def test_names_of_fused_functions_refute_nothing(labels: str) -> None:
    """Loops of a function between may be those of the root, whatever they are called."""
    text = f"""
    Func s, m, f; In A, B; Var g, t, u, c, h, i;
    s[g, t, u] = rdot(A[g, t, c], B[g, u, c], c); m[g, t] = rmax(s[g, t, u], u);
    f[{labels}] = m[{labels}] * 2; f.compile();
    """
    sizes = {"g": 16, "h": 16, "t": 1024, "i": 1024, "u": 1024, "c": 64}
    found = texts(schedule(text, sizes))
    assert found[:2] == [f"m.fuse_at(f, {labels[-1]});", "s.fuse_at(m, u);"]


def test_a_label_of_two_loops_is_not_in_the_grid() -> None:
    """The product is computed once, for all of `l`."""
    text = """
    Func g, f : bf16; In B : bf16, P : bf16, Q : bf16; Var n, l, m, c;
    g[n, l] = rdot(P[n, c], Q[c, l], c); f[l, n] = B[l, n] * rsum(g[n, m], m); f.compile();
    """
    found = as_written(text, {"n": 16384, "l": 512, "m": 512, "c": 16384})
    assert texts(found)[0] == "g.fuse_at(f, n);"


def test_diamonds_of_other_names_take_no_longer() -> None:
    def diamonds(count: int) -> str:
        lines, names = list[str](), ["x0"]
        for level in range(count):
            labels = ("j, d", "i, c")[level % 2]
            x = names[-1]
            lines += [
                f"a{level}[{labels}] = exp({x}[{labels}]);", f"b{level}[{labels}] = {x}[{labels}] * 2;",
                f"x{level + 1}[{labels}] = a{level}[{labels}] + b{level}[{labels}];",
            ]  # fmt: skip
            names += [f"a{level}", f"b{level}", f"x{level + 1}"]
        last = names[-1]
        return (
            f"Func {', '.join(names)}, f; In A; Var i, c, j, d; RVar m;\n"
            "x0[i, c] = rsum(A[i, c, m], m);\n" + "\n".join(lines)
            + f"\nf[i, c] = {last}[i, c] * 3;\nf.compile();"
        )

    sizes = {"i": 256, "c": 256, "j": 256, "d": 256, "m": 8}
    tried: list[int] = []
    for count in (5, 10):
        calls: list[Any] = []
        works = Algorithm.works

        def watched(
            self: Algorithm, functions: Any, decisions: Any, calls: list[Any] = calls,
            works: Any = works,
        ) -> Any:  # fmt: skip
            calls.append(functions)
            return works(self, functions, decisions)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Algorithm, "works", watched)
            schedule(diamonds(count), sizes)
        tried.append(len(calls))
    assert tried[1] < 4 * tried[0]


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (less_sums(8), {"x": 4096, "y": 1024}),
        (less_their_sums(14, 5), {"x": 1024, "y": 1024}),
        (softmax_of_softmax(3), {"x": 128, "y": 256}),
        (TWO_NORMS, dict.fromkeys("ice", 1024)),
        (ATTENTION, SIZES),
    ],
    ids=["sums", "crossing", "softmax", "norms", "attention"],
)
def test_loops_are_known_while_functions_join(
    text: str, sizes: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    grown: list[bool] = []
    grow = Nests.grow

    def watched(self: Nests, cluster: Any) -> bool:
        grown.append(grow(self, cluster) and self._cluster is cluster)
        return grown[-1]

    monkeypatch.setattr(Nests, "grow", watched)
    found = texts(schedule(text, sizes))
    assert sum(grown) > len(grown) / 2
    monkeypatch.setattr(Nests, "grow", lambda *args: False)
    assert texts(schedule(text, sizes)) == found


def test_kernels_whose_functions_read_others_of_them_are_looked_at_anew() -> None:
    """The loops that are known of a kernel may be others where a function reads one of them."""
    text = """
    Func g, h, f; In A; Var x, y;
    g[x] = rsum(A[x, y], y); h[x] = rmax(A[x, y] * g[x], y); f[x, y] = A[x, y] * h[x] + g[x];
    f.compile();
    """
    program = Algorithm(algorithm(text), {"x": 64, "y": 64})
    ways = {name: plain(name, "fuse_at", "f", "x") for name in "gh"}
    single = Cluster("f", ("f",), ())
    first, second = (Cluster("f", ("f", name), (ways[name],)) for name in "gh")
    both = [
        Cluster("f", ("f", *order), tuple(ways[name] for name in order)) for order in ("gh", "hg")
    ]
    for before, after, grows in [
        (single, first, True), (single, single, True), (second, both[1], True),
        # `h` reads what is there.
        (first, both[0], False),
        # Another kernel, and one with fewer functions.
        (first, second, False), (both[1], second, False),
        (single, Cluster("f", ("f",), (plain("f", "online", "y"),)), False),
    ]:  # fmt: skip
        nests = Nests(program, program.readers, before)
        assert nests.grow(after) is grows
        assert nests.members == {*(after if grows else before).members}


def test_eighty_functions_of_one_kernel_take_seconds() -> None:
    started = time.thread_time()
    found = texts(schedule(less_sums(40), {"x": 4096, "y": 1024}))
    assert sum(".inline(" in item or ".fuse_at(" in item for item in found) == 80
    # About 2 on an idle machine; 10 where loops were looked for anew at each place.
    assert time.thread_time() - started < 7
