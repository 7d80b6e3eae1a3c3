"""Ways that are left out before they are lowered, as bounds tell that they take too long."""

from math import inf

import pytest
from scheduled import ATTENTION, TWO_NORMS, algorithm, schedule

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling import joining
from dt_mlir.autoscheduling.decisions import Decision, plain
from dt_mlir.autoscheduling.evaluation import Cluster, Evaluator
from dt_mlir.autoscheduling.joining import least_for_elements
from dt_mlir.autoscheduling.nesting import computed_for_elements
from dt_mlir.autoscheduling.places import Places
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.costs.device import devices, find_device

GATED = """
Func ms, n, g, u, a, y; In X, G, U, D; Var i, c, e;
ms[i] = rsum(X[i, c] ** 2, c);
n[i, c] = X[i, c] * rsqrt(ms[i] + 1e-5);
g[i, e] = rdot(n[i, c], G[c, e], c);
u[i, e] = rdot(n[i, c], U[c, e], c);
a[i, e] = g[i, e] * sigmoid(g[i, e]) * u[i, e];
y[i, c] = rdot(a[i, e], D[e, c], e);
y.compile();
"""
CHAIN = """
Func p, q, m, f; In A : {0}, B : {0}, C : {0}; Var i, j, k, l;
p[i, k] = rdot(A[i, l], B[l, k], l);
q[i, j] = rdot(p[i, k], C[k, j], k);
m[i] = rmax(q[i, j], j);
f[i, j] = q[i, j] / m[i];
f.compile();
"""


def _refused(monkeypatch: pytest.MonkeyPatch, name: str, factor: float) -> set[str]:
    """Has ways that a bound leaves out lowered, and checked: they have no tiles, or take that many
    times as long as the kernels apart; returns them as they are met."""
    found: set[str] = set()
    holds = getattr(joining, name)

    def watched(
        evaluator: Evaluator, places: Places, cluster: Cluster, decision: Decision
    ) -> bool:
        if not holds(evaluator, places, cluster, decision):
            found.add(decision.text)
            members = (*cluster.members, decision.function)
            trial = evaluator.evaluated(cluster.root, members, [*cluster.decisions, decision])
            single = evaluator.single(decision.function)
            assert single is not None
            assert trial is None or trial.seconds > factor * (cluster.seconds + single.seconds)
        return True

    monkeypatch.setattr(joining, name, watched)
    return found


@pytest.mark.parametrize(
    ("text", "size", "seen"),
    [
        (CHAIN.format("f32"), 256, 1), (CHAIN.format("bf16"), 256, 0),
        (CHAIN.format("bf16"), 1024, 1), (CHAIN.format("f32"), 4096, 1), (GATED, 512, 1),
        (GATED, 1024, 2), (TWO_NORMS, 1024, 2), (ATTENTION, 2048, 1),
    ],
)  # fmt: skip
@pytest.mark.parametrize("device", ["h200", "a100"])
def test_factors_that_do_not_fit_are_seen(
    text: str, size: int, seen: int, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ways that are left out take longer than the kernels apart, if they have tiles at all."""
    found = _refused(monkeypatch, "_fits", 2)
    labels = Interface.of(algorithm(text)).labels
    everything = schedule(text, dict.fromkeys(labels, size), device)
    assert len(found) >= seen
    monkeypatch.undo()
    assert schedule(text, dict.fromkeys(labels, size), device) == everything


@pytest.mark.parametrize("device", ["h200", "a100", "mi300x"])
def test_what_no_tile_holds_is_seen(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ways that are left out have no tiles: a sum for each row of a head is held for all rows."""
    found = _refused(monkeypatch, "_holds_few", 100)
    sizes = {"h": 16, "i": 2048, "j": 2048, "c": 64, "d": 64}
    everything = schedule(ATTENTION, sizes, device)
    assert "total.fuse_at(o, h);" in found
    assert len(found) >= 2
    monkeypatch.undo()
    assert schedule(ATTENTION, sizes, device) == everything


def program(text: str, size: int) -> Algorithm:
    module = algorithm(text)
    return Algorithm(module, dict.fromkeys(Interface.of(module).labels, size))


@pytest.mark.parametrize("size", [512, 1024, 4096])
@pytest.mark.parametrize("device", devices())
def test_products_for_each_tile_of_a_root(size: int, device: str) -> None:
    """The second product has the label of the norm, and takes the first ones for each tile."""
    found = program(GATED, size)
    members = ["y", "ms", "n", "g", "u", "a"]
    assert computed_for_elements(found, members, "c") == {"g", "u"}
    evaluator = Evaluator(found, find_device(device))
    online = plain("y", "online", "c", reason="")
    cluster = evaluator.evaluated("y", members[1:], [online])
    assert cluster is not None
    assert 0 < least_for_elements(evaluator, members, "c") < cluster.seconds


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # The root does not have the label, or what it needs follows its index.
        ("y[i, c] = rdot(a[i, e], D[e, c], e)", "y[i, e] = a[i, e]"),
        ("y[i, c] = rdot(a[i, e], D[e, c], e)", "y[i, c] = rdot(a[c, e], D[e, i], e)"),
        # It reads what data say, or a sum along the label, which may be held.
        ("D[e, c]", "D[K[c], e]"),
        ("ms[i] = rsum(X[i, c] ** 2, c)", "ms[c] = rsum(X[i, c] ** 2, i)"),
    ],
)
def test_products_that_tiles_may_share(old: str, new: str) -> None:
    text = GATED.replace(old, new).replace("In X,", "In K : i32, X,")
    text = text.replace("rsqrt(ms[i]", "rsqrt(ms[c]") if "ms[c]" in new else text
    members = ["y", "ms", "n", "g", "u", "a"]
    assert computed_for_elements(program(text, 1024), members, "c") == set()


def test_all_ways_are_known_where_no_time_is_wanted() -> None:
    evaluator = Evaluator(program(GATED, 1024), find_device("h200"))
    places = Places(evaluator.algorithm, evaluator.algorithm.readers)
    root = evaluator.single("a")
    assert root is not None
    every = joining.ways_within(evaluator, places, "u", root, False, inf)
    fewer = joining.ways_within(evaluator, places, "u", root, False, 1.0)
    assert [item.text for item in every] == ["u.fuse_at(a, e);", "u.fuse_at(a, i);"]
    assert fewer == every[:1]
