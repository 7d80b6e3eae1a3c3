"""Reductions in parts: which numbers of parts are tried, and what is known of them."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from scheduled import ATTENTION, MATMUL, SOFTMAX, algorithm, schedule, texts

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling import variants
from dt_mlir.autoscheduling.clusters import Clusters
from dt_mlir.autoscheduling.decisions import Decision, plain
from dt_mlir.autoscheduling.evaluation import Evaluator
from dt_mlir.autoscheduling.nesting import nests_deeply
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.autoscheduling.variants import with_parts
from dt_mlir.compiler import compile_program
from dt_mlir.costs.bounds import least_of_any
from dt_mlir.costs.device import find_device
from dt_mlir.dialects.sched import Argument

H200 = find_device("h200")
SUMS = "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.compile();"
WINDOWS = """
Func f; In A : f32; Var x = size(A, 0) - 2; RVar k, r = 3;
f[x] = rsum(A[x + r, k] * A[x, k], r, k); f.compile();
"""


def program(text: str, **sizes: int) -> Algorithm:
    module = algorithm(text)
    return Algorithm(module, Interface.of(module).sizes(sizes))


def split(function: str, label: str, count: int, *more: str) -> Decision:
    arguments = (Argument(label, count), Argument(None, "p"), *(Argument(None, x) for x in more))
    return Decision(function, "rfactor", arguments)


@pytest.mark.parametrize(
    ("text", "sizes", "root", "before", "label", "more"),
    [
        (SUMS, {"x": 3, "k": 1000}, "f", [], "k", []),
        (SUMS, {"x": 3, "k": 1000}, "f", [], "k", ["atomic"]),
        (SOFTMAX, {"x": 3, "y": 999}, "f", [plain("f", "online", "y")], "y", []),
        (ATTENTION, {"h": 2, "i": 1, "j": 500, "c": 64, "d": 64}, "o",
         [plain("o", "online", "j")], "j", []),
        (WINDOWS, {"A_0": 12, "k": 4096}, "f", [], "k", []),
        (WINDOWS, {"A_0": 12, "k": 4096}, "f", [], "r", []),
    ],
)  # fmt: skip
def test_another_number_of_parts_is_another_schedule(
    text: str, sizes: dict[str, int], root: str, before: list[Decision], label: str,
    more: list[str],
) -> None:  # fmt: skip
    """A program in which the number changes does what one does that is scheduled with it."""
    known = program(text, **sizes)
    functions = [root, *(name for name in known.functions if name != root)]
    for count in (4, 16, 8, 2, 4):
        said = [*before, split(root, label, count, *more)]
        found = [work.signature() for work in known.works(functions, said)]
        fresh = program(text, **sizes).works(functions, said)
        assert found == [work.signature() for work in fresh]
        assert len(found) == 2


def test_scans_are_scheduled_anew() -> None:
    """The length of a chunk follows from their number."""
    text = "Func f; In A; Var x; RVar k; f[x] = rsum(A[k], k, k <= x); f.compile();"
    known = program(text, x=2**16)
    for count in (4, 8):
        said = [plain("f", "scan", "x"), split("f", "x", count)]
        found = [work.signature() for work in known.works(["f"], said)]
        assert found == [w.signature() for w in program(text, x=2**16).works(["f"], said)]


def test_the_search_begins_where_the_last_one_ended() -> None:
    text = (
        "Func s, t : f64; In A; In B : f64; Var x; RVar k; "
        "s[x] = rsum(A[x, k], k); t[x] = rsum(B[x, k], k); s.compile(); t.compile();"
    )
    evaluator = Evaluator(program(text, x=64, k=2**18), H200)
    numbers: list[list[int]] = []
    for name in ("s", "t"):
        alone = evaluator.single(name)
        assert alone is not None
        with_parts(evaluator, alone)
        tried = [
            int(str(item.arguments[0].value)) for known in evaluator.known(name, [])
            for item in known.decisions
        ]  # fmt: skip
        numbers.append(tried)
    first, second = numbers
    assert len(first) > 3
    assert first == sorted(first)
    # The last number was slower than the one before.
    assert second[:2] == first[-2:]
    assert second[2:] == sorted(second[2:], reverse=True)


def test_what_is_as_short_as_its_launches_is_not_split() -> None:
    evaluator = Evaluator(program(SUMS, x=64, k=256), H200)
    short = evaluator.single("f")
    assert short is not None
    assert short.seconds < 2 * least_of_any(H200)
    assert with_parts(evaluator, short) is short
    assert evaluator.known("f", []) == [short]


NORMED = """
Func ms, f; In A : bf16, B : bf16; Var x, y; RVar k;
ms[x] = rmean(A[x, k] ** 2, k);
f[x, y] = rdot(A[x, k], B[k, y], k) * rsqrt(ms[x]);
f.compile();
"""
GATED = """
Func ms, n, g, u, a; In X, G, U; Var i, e; RVar c;
ms[i] = rmean(X[i, c] ** 2, c);
n[i, c] = X[i, c] * rsqrt(ms[i] + 1e-5);
g[i, e] = rdot(n[i, c], G[c, e], c);
u[i, e] = rdot(n[i, c], U[c, e], c);
a[i, e] = g[i, e] * sigmoid(g[i, e]) * u[i, e];
a.compile();
"""


@pytest.mark.parametrize(
    ("text", "sizes", "before", "label"),
    [
        (SUMS, {"x": 64, "k": 2**18}, [], "k"),
        (SUMS, {"x": 2**16, "k": 2**10}, [], "k"),
        (MATMUL, {"x": 2048, "y": 2048, "k": 2048}, [], "k"),
        (MATMUL, {"x": 64, "y": 64, "k": 2**16}, [], "k"),
        (MATMUL.replace("f16", "f32"), {"x": 512, "y": 512, "k": 4096}, [], "k"),
        # Products that no tensor core carries out.
        ("Func f; In A, B; Var x, y, k; f[x, y] = rdot(A[x, k], B[y], k); f.compile();",
         dict.fromkeys("xyk", 1024), [], "k"),
        ("Func f; In A : f16, B : f16; Var x, y, k; f[x, y] = rdot(A[x, k], B[k], k) * A[x, y];"
         "f.compile();", dict.fromkeys("xyk", 1024), [], "k"),
        # What is reduced is the same at all indices of another sum, which is split.
        ("Func g, f; In A; Var x, y, k; g[x, y] = rsum(A[x, k], k);"
         "f[x, y] = rdot(g[x, y], g[x, y], k); f.compile();", dict.fromkeys("xyk", 1024),
         [plain("f", "online", "k")], "k"),
        # What is reduced does not depend on all labels.
        (SUMS.replace("f[x] =", "f[x, z] = B[z, x] *").replace("A; Var x", "A, B; Var x, z"),
         {"x": 64, "z": 64, "k": 2**14}, [], "k"),
        (NORMED, {"x": 256, "y": 4096, "k": 4096}, [plain("f", "online", "k")], "k"),
        (SOFTMAX, {"x": 64, "y": 2**16}, [plain("f", "online", "y")], "y"),
        (ATTENTION, {"h": 8, "i": 64, "j": 8192, "c": 64, "d": 64},
         [plain("o", "online", "j")], "j"),
        (GATED, {"i": 256, "e": 1024, "c": 4096}, [plain("a", "online", "c")], "c"),
        # All but a row of `B` is taken out of the sum.
        ("Func m, p, f; In A, B; Var x, y; RVar k; m[x] = rsum(A[x, k] * A[x, k], k);"
         "p[x, k] = exp(m[x]); f[x, y] = rsum(p[x, k] * B[k, y], k); f.compile();",
         {"x": 1024, "y": 1024, "k": 1024}, [plain("f", "online", "k")], "k"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("device", ["h200", "a100"])
def test_bounds_of_parts(
    text: str, sizes: dict[str, int], before: list[Decision], label: str, device: str
) -> None:
    """No number of parts takes less than the bound of the least number of them."""
    evaluator = Evaluator(program(text, **sizes), find_device(device))
    root, *others = reversed(evaluator.algorithm.functions)
    whole = evaluator.evaluated(root, others if before else (), before)
    assert whole is not None
    for count in (4, 8, 32):
        ways = [*before, split(root, label, count)]
        found = evaluator.evaluated(root, others if before else (), ways)
        assert found is not None
        least = variants.least_in_parts(evaluator, whole, label, count)
        assert 0 < least <= found.seconds


def test_parts_that_take_longer_to_move_are_not_tried() -> None:
    """256 tiles keep a device busy, and each part of the result is 64 MB."""
    evaluator = Evaluator(program(MATMUL, x=4096, y=4096, k=512), H200)
    whole = evaluator.single("mm")
    assert whole is not None
    assert with_parts(evaluator, whole) is whole
    assert evaluator.known("mm", []) == [whole]
    # It is the bound that says so.
    trial = evaluator.evaluated("mm", (), [split("mm", "k", 4)])
    assert trial is not None
    assert trial.seconds > whole.seconds


def test_more_parts_are_not_tried_once_a_bound_is_passed() -> None:
    """Two products of single precision keep a device busy, and each part of them is 8 MB."""
    evaluator = Evaluator(program(GATED, i=1024, e=1024, c=1024), H200)
    online = plain("a", "online", "c")
    whole = evaluator.evaluated("a", ["u", "g", "n", "ms"], [online])
    assert whole is not None
    wanted = 0.95 * whole.seconds
    assert with_parts(evaluator, whole, limit=wanted).seconds >= whole.seconds
    tried = [item.decisions[-1].text for item in evaluator.known("a", whole.members)]
    assert tried == ["a.online(c);", "a.rfactor(c:4, a_parts);"]
    # No number of parts takes so little.
    for count in (8, 16, 32):
        trial = evaluator.evaluated("a", whole.members, [online, split("a", "c", count)])
        assert trial is not None
        assert trial.seconds > wanted


def test_a_kernel_that_pays_in_some_parts_is_not_tried_in_others() -> None:
    evaluator = Evaluator(program(SUMS, x=64, k=2**18), H200)
    alone = evaluator.single("f")
    assert alone is not None
    evaluator.likely_parts["k"] = 16
    enough = with_parts(evaluator, alone, limit=alone.seconds)
    assert enough.seconds < alone.seconds
    assert len(evaluator.known("f", [])) == 2
    # Which number is best is looked for in the end, or where this one does not pay.
    for limit in (inf, enough.seconds):
        other = Evaluator(program(SUMS, x=64, k=2**18), H200)
        other.likely_parts["k"] = 16
        single = other.single("f")
        assert single is not None
        found = with_parts(other, single, limit)
        assert len(other.known("f", [])) > 3
        assert found.decisions == with_parts(evaluator, alone).decisions


def test_sums_that_are_fused_beside_parts_have_tiles() -> None:
    """The kernel that combines parts walks all of the label for sums that are fused into it."""
    text = """
    Func s, m, p, l, o : f16; In Q, K, V : f16; Var i, d, j; RVar e;
    s[i, j] = rdot(Q[i, e], K[j, e], e); m[i] = rmax(s[i, j], j); p[i, j] = exp(s[i, j] - m[i]);
    l[i] = rsum(p[i, j], j); o[i, d] = rdot(p[i, j], V[j, d], j) / l[i]; o.compile();
    """
    found = texts(schedule(text, dict.fromkeys("ijde", 256)))
    assert "l.fuse_at(o, i);" in found
    assert "o.rfactor(j:8, o_parts);" in found
    tiles = next(item for item in found if item.startswith("o.tensorize"))
    assert "j:" in tiles
    compile_program(text.replace("o.compile", " ".join((*found, "o.compile"))))


def test_parts_do_not_help_what_takes_long_by_itself() -> None:
    """No number of parts is tried further where the kernel that combines them takes too long."""
    text = """
    Func s, f; In A, B; Var x, y; RVar k;
    s[x] = rsum(A[x, k], k); f[x, y] = B[x, y] * s[x]; f.compile();
    """
    module = algorithm(text)
    sizes = Interface.of(module).sizes({"x": 8, "k": 2**18, "y": 2**22})
    evaluator = Evaluator(Algorithm(module, sizes), H200)
    alone = evaluator.single("s")
    assert alone is not None
    parts = with_parts(evaluator, alone)
    assert parts.seconds < alone.seconds
    known = len(evaluator.known("s", []))
    other = Evaluator(Algorithm(module, sizes), H200)
    single = other.single("s")
    assert single is not None
    hopeless = with_parts(other, single, limit=1e-7)
    assert len(other.known("s", [])) < known
    assert hopeless.seconds > 3e-7
    # What is wanted without a limit is looked for then.
    assert with_parts(other, single).seconds == parts.seconds


ALTERNATING = """
Func f0, f1, f2, f3; In A; Var x, y; RVar k;
f0[x, y] = A[x, y] - rsum(A[x, k], k);
f1[x, y] = f0[x, y] - rsum(f0[k, y], k);
f2[x, y] = f1[x, y] - rsum(f1[x, k], k);
f3[x, y] = f2[x, y] - rsum(f2[k, y], k);
f3.compile();
"""
WHOLE_ROWS = """
Func s, w, t, f; In A; Var x, l, y; RVar k;
s[x, l] = rdot(A[x, k], A[l, k], k);
w[x, l] = exp(s[x, l] - rmax(s[x, l], l));
t[x] = rsum(w[x, l], l);
f[x, y] = rdot(w[x, l], A[l, y], l) / t[x];
f.compile();
"""


@pytest.mark.parametrize(
    ("text", "label", "tries"),
    [
        # Rows and columns in turns: at each index of a row the columns' sums would be made again.
        (ALTERNATING, "k", False),
        (ALTERNATING.replace("[k, y]", "[x, k]"), "k", True),
        # A label of a function and one that it reduces over may have one name.
        (WHOLE_ROWS, "l", True),
        (SOFTMAX, "y", True),
    ],
)
def test_a_pass_does_not_nest(
    text: str, label: str, tries: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One pass is not tried where it would reduce over its label again and again."""
    found: set[str] = set()
    evaluated = Evaluator.evaluated

    def watched(self: Evaluator, root: str, members: Any, decisions: Any, **more: Any) -> Any:
        whole = {root, *members} == {*self.algorithm.functions}
        found.update(item.text for item in decisions if item.name == "online" and whole)
        return evaluated(self, root, members, decisions, **more)

    monkeypatch.setattr(Evaluator, "evaluated", watched)
    module = algorithm(text)
    sizes = dict.fromkeys(Interface.of(module).labels, 1024)
    root = Algorithm(module, sizes).outputs[0]
    Clusters(Evaluator(Algorithm(module, sizes), H200)).run()
    assert (f"{root}.online({label});" in found) == tries


def test_a_shallow_nest_of_few_indices_is_tried() -> None:
    """Launches take longer than to reduce over a few indices again."""
    names = ["f3", "f0", "f1", "f2"]
    sizes = {1024: True, 256: True, 64: False, 8: False}
    for size, deep in sizes.items():
        assert nests_deeply(program(ALTERNATING, x=size, y=size), names, "k") == deep


@pytest.mark.parametrize(
    ("sums", "sizes", "device"),
    [
        ("s0[x] = rsum(exp(C[k]), k); s1[x] = rmax(A[x, k] + C[k], k);",
         {"x": 32, "y": 8, "k": 300_000}, "h100"),
        ("s0[x] = rsum(E[k, x], k); s1[x] = rsum(A[x, k] * A[x, k], k);",
         {"x": 100, "y": 300, "k": 65536}, "b200"),
    ],
)  # fmt: skip
def test_the_order_of_operands_does_not_change_the_number(
    sums: str, sizes: dict[str, int], device: str
) -> None:
    """Whichever reduction is looked at first, the one that takes longest decides."""
    inputs = ", ".join(name for name in "ACE" if f"{name}[" in sums)
    found: list[set[str]] = []
    for terms in ("s0[x] + s1[x]", "s1[x] + s0[x]"):
        text = (
            f"Func s0, s1, h; In {inputs}; Var x, y; RVar k; {sums} "
            f"h[x, y] = {terms}; h.compile();"
        )
        said = schedule(text, sizes, device)
        found.append({str(item.arguments[0]) for item in said if item.name == "rfactor"})
    assert len(found[0]) == 1
    assert found[0] == found[1]


TWO_ARGMAXES = """
Func f0, f1, f2; In A; Var x, y; RVar k;
f0[x, y] = rmax(A[x, k], k) + rsum(A[k, k], k);
f1[x, y] = rargmax(f0[x, k], k) * 1.0;
f2[x, y] = rargmax(f1[x, k], k) * 1.0;
f2.compile();
"""


@pytest.mark.parametrize(
    ("text", "sizes", "device"),
    [
        # One block along each label: there is no order of blocks.
        (MATMUL, {"x": 4, "y": 1, "k": 1000}, "mi300x"),
        # A product that no row and no column has is no product of tiles.
        ("Func f; In C; Var z; RVar k, j; f[z] = rdot(C[j], C[k], k, j, k <= z); f.compile();",
         {"z": 4096, "k": 100}, "h200"),
        # Parts of argmax are two tensors.
        (TWO_ARGMAXES, {"x": 300, "y": 300}, "h200"),
        # An index is divided by a size of 0.
        ("Func f; In A, B, C; Var c, d; f[c, d] = A[c // len(d)] + B[d] + C[c]; f.compile();",
         {"c": 0, "d": 0}, "h200"),
    ],
)  # fmt: skip
def test_odd_programs_are_scheduled(text: str, sizes: dict[str, int], device: str) -> None:
    assert schedule(text, sizes, device)


@pytest.mark.parametrize("terms", ["rmin(A[x, k], x) + g[y, k]", "g[y, k] + rmin(A[x, k], x)"])
def test_parts_are_named_alike_whatever_the_order_of_operands(terms: str) -> None:
    """Two values that are carried have as many labels: one of them has the function's name."""
    text = (
        "Func f, g, h; In A; Var x, k, y; f[k] = A[k, k] + rmax(A[y, k], y); "
        f"g[x, k] = f[k + 2] + rmin(A[x, y], y); h[y, k] = {terms}; h.compile();"
    )
    said = texts(schedule(text, {"x": 512, "y": 512}))
    assert any(line.startswith("h.rfactor(") for line in said)
    compile_program(text.replace("h.compile();", "\n".join([*said, "h.compile();"])), "program")
