"""The shared memory that the model predicts for products of computed factors, against Triton's."""

import multiprocessing
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec

import pytest
from scheduled import cost

from dt_mlir.compiler import compile_program
from dt_mlir.costs.execution import SCRATCH
from dt_mlir.runtime.ahead_of_time import compile_for

SCHEDULE = """
y.block(i:128, e:64); y.tensorize(i:128, e:64, c:{depth}); y.num_warps(8); y.num_stages({stages});
y.compile();
"""
NORM = """
Func n : bf16, y : bf16; In X : bf16, W : bf16, G : bf16, ms; Var i, e; RVar c;
n[i, c] = X[i, c] * rsqrt(ms[i] + 0.00001) * G[c];
y[i, e] = rdot(n[i, c], W[c, e], c);
n.inline();
"""
WIDE = NORM.replace("In X : bf16", "In X : f32")
GATED = """
Func n : bf16, y : bf16; In X : bf16, Z : bf16, W : bf16; Var i, e; RVar c;
n[i, c] = X[i, c] * sigmoid(Z[i, c]) * X[i, c];
y[i, e] = rdot(n[i, c], W[c, e], c);
n.inline();
"""
SECOND = """
Func n : bf16, y : bf16; In X : bf16, W : bf16, S : bf16; Var i, e; RVar c;
n[c, e] = W[c, e] * S[e];
y[i, e] = rdot(X[i, c], n[c, e], c);
n.inline();
"""
BESIDE = """
Func g, u, y : bf16; In X : bf16, W : bf16, U : bf16; Var i, e; RVar c;
g[i, e] = rdot(X[i, c], W[c, e], c);
u[i, e] = rdot(X[i, c], U[c, e], c);
y[i, e] = g[i, e] * sigmoid(g[i, e]) * u[i, e];
u.fuse_at(y, e); g.fuse_at(y, e);
"""
HELD = """
Func ms, n : bf16, g, u, y : bf16; In X : bf16, W : bf16, U : bf16; Var i, e; RVar c;
ms[i] = rsum(X[i, c] * X[i, c], c);
n[i, c] = X[i, c] * rsqrt(ms[i] + 0.00001);
g[i, e] = rdot(n[i, c], W[c, e], c);
u[i, e] = rdot(n[i, c], U[c, e], c);
y[i, e] = g[i, e] * sigmoid(g[i, e]) * u[i, e];
u.fuse_at(y, e); g.fuse_at(y, e); n.fuse_at(y, i); ms.fuse_at(y, i);
"""
SIZES = {"i": 1024, "e": 1024, "c": 256}
KERNELS = {
    # Rows of a factor that is computed are loaded in a stage less than columns, which products read.
    "norm": (NORM + SCHEDULE.format(depth=64, stages=3), 3 * 64 * 64 * 2 + 2 * 128 * 64 * 2),
    "norm of f32": (WIDE + SCHEDULE.format(depth=64, stages=3), 3 * 64 * 64 * 2 + 2 * 128 * 64 * 4),
    "two stages": (NORM + SCHEDULE.format(depth=128, stages=2), 2 * 128 * 64 * 2 + 128 * 128 * 2),
    # What is read twice is loaded once.
    "gated": (GATED + SCHEDULE.format(depth=64, stages=3), 3 * 64 * 64 * 2 + 2 * 2 * 128 * 64 * 2),
    # Columns that are computed have a place of their own.
    "columns": (
        SECOND + SCHEDULE.format(depth=64, stages=3),
        3 * 128 * 64 * 2 + 2 * 64 * 64 * 2 + 64 * 64 * 2,
    ),
    # One loop follows the other, and takes its place.
    "side by side": (BESIDE + SCHEDULE.format(depth=64, stages=3), 3 * (128 + 64) * 64 * 2),
    # Factors that are copied whole are there at once, the rows once.
    "side by side, whole": (
        BESIDE + SCHEDULE.format(depth=0, stages=3), (128 + 2 * 64) * 256 * 2
    ),
    "whole rows that are computed": (
        HELD + SCHEDULE.format(depth=0, stages=3), (128 + 2 * 64) * 256 * 2
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(KERNELS))
def test_predicted(name: str) -> None:
    text, bytes = KERNELS[name]
    # A scale of each column of the rows takes its place among what is loaded.
    assert 0 <= cost(text, SIZES).shared - SCRATCH - bytes <= 512


def shared(text: str, sizes: Mapping[str, int]) -> int | None:
    """Returns the shared memory of a compiled program's last kernel."""
    program = compile_program(text, "program.dt", sizes=sizes)
    return compile_for(program.module, program.source, "sm_90", sizes)[-1].shared


@pytest.mark.skipif(find_spec("triton") is None, reason="needs triton")
def test_compiled_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    # A process of its own: Triton is imported with its interpreter, or without it, for good.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        for text, bytes in KERNELS.values():
            compiled = pool.submit(shared, text, SIZES).result()
            assert compiled is not None
            assert bytes <= compiled <= bytes + 512
