"""Kernels whose groups of warps have tasks of their own: assumed first, and lowered if chosen."""

from __future__ import annotations

from typing import Any

import pytest
from scheduled import ATTENTION, MATMUL, algorithm, texts

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling import auto
from dt_mlir.autoscheduling.auto import auto_schedule, evaluator_of
from dt_mlir.autoscheduling.clusters import Clusters
from dt_mlir.autoscheduling.variants import all_finished
from dt_mlir.costs.device import find_device
from dt_mlir.pipeline import default_pipeline, run_pipeline

H200 = find_device("h200")
STRIDED = """
Func f : f16; In X : f16, W : f16; Var n, p, q, o; RVar r = 3, c;
f[n, p, q, o] = rdot(X[n, 2 * p + r, q, c], W[o, r, c], r, c);
f.compile();
"""
PROJECTED = """
Func q : f16, k : f16, s : f16, b : f16, f : f16; In X : f16, Wq : f16, Wk : f16, Wo : f16;
Var i, j, e, z; RVar c, d;
q[i, e] = rdot(X[i, c], Wq[c, e], c);
k[j, e] = rdot(X[j, c], Wk[c, e], c);
s[i, j] = rdot(q[i, d], k[j, d], d);
b[i, j] = s[i, j] * sigmoid(s[i, j]);
f[i, z] = rdot(b[i, j], Wo[j, z], j);
f.compile();
"""
CASES = [
    (MATMUL, {"x": 4096, "y": 4096, "k": 4096}),
    # What the copy engine would have to move is no box of its tensor.
    (STRIDED, {"n": 32, "X_1": 57, "q": 56, "c": 256, "o": 256}),
    # The head size is open.
    (ATTENTION, {"h": 64, "i": 4096, "j": 4096, "c": 64, "d": 64}),
    (PROJECTED, {"i": 4096, "c": 4096, "e": 1024, "z": 1024}),
    (PROJECTED, {"i": 512, "c": 512, "e": 512, "z": 256}),
]


@pytest.mark.parametrize(("text", "sizes"), CASES)
def test_assumptions_decide_nothing(
    text: str, sizes: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A schedule is the one that is found where each kernel is lowered when it is looked at."""
    module = algorithm(text)
    sizes = Interface.of(module).sizes(sizes)
    assumed = texts(auto_schedule(module, sizes, H200))

    def certain(*arguments: Any, assumes: bool) -> auto.Evaluator:
        assert assumes
        return evaluator_of(*arguments)

    monkeypatch.setattr(auto, "evaluator_of", certain)
    assert texts(auto_schedule(module, sizes, H200)) == assumed


@pytest.mark.parametrize(("text", "sizes", "refuted"), [(*CASES[0], False), (*CASES[1], True)])
def test_what_was_assumed_is_refuted(text: str, sizes: dict[str, int], refuted: bool) -> None:
    """Kernels that cannot be specialized are known then, and clusters are found without them."""
    module = algorithm(text)
    evaluator = evaluator_of(module, Interface.of(module).sizes(sizes), H200, assumes=True)

    def is_specialized() -> bool:
        clusters = all_finished(evaluator, Clusters(evaluator).run())
        found = any(kernel.tiling.consumers for c in clusters for kernel in c.kernels)
        again = evaluator.refutes(clusters)
        assert found or not again
        return is_specialized() if again else found

    assert is_specialized() is not refuted


def test_heads_of_one_tensor_have_one_size() -> None:
    """A schedule for queries, keys and values of one tensor compiles as it is printed."""
    text = ATTENTION.replace("Q : f16, K : f16, V : f16", "X : f16")
    for name in "QKV":
        text = text.replace(f"{name}[", "X[")
    module = algorithm(text)
    sizes = Interface.of(module).sizes({"h": 16, "i": 4096, "d": 128})
    found = auto_schedule(module, sizes, H200)
    assert "warp_specialize" in " ".join(texts(found))
    run_pipeline(auto.with_schedule(module, found), default_pipeline("warp"))
