"""The registers that the model predicts, against figures worked out by hand and compiled kernels."""

import multiprocessing
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from math import log
from statistics import mean

import pytest
from scheduled import cost

from dt_mlir.compiler import compile_program
from dt_mlir.costs.moving import UNDER_WAY
from dt_mlir.costs.registers import BASE, BASE_OF_DOTS, EDGES, MASKED, RUNNING
from dt_mlir.runtime.ahead_of_time import compile_for

SIGMOID = """
Func f : bf16; In A : bf16; Var x, y;
f[x, y] = 1 / (1 + exp(-A[x, y]));
f.block(x:1, y:{columns}); f.tensorize(y:{columns}); f.map(x, y); f.num_warps({warps});
f.compile();
"""
WINDOWS = """
Func f : bf16; In X : bf16, W : bf16; Var n, p = size(X, 1), q = size(X, 2), c; RVar r = 3, s = 3;
f[n, p, q, c] = rsum(W[r, s, c] * constant_exterior(X[n, p + r - 1, q + s - 1, c], 0), r, s);
f.block(n:1, p:4, q:8, c:32); f.tensorize(p:4, q:8, c:32); f.unroll(r:3, s:3);
f.map(n, p, q, c); f.num_warps({warps});
f.compile();
"""
LOSS = """
Func top, total, f; In X : bf16, target : i64; Var i; RVar j;
top[i] = rmax(X[i, j], j);
total[i] = rsum(exp(X[i, j] - top[i]), j);
f[i] = log(total[i]) + top[i] - X[i, target[i]];
top.fuse_at(f, i); total.fuse_at(f, i);
f.block(i:32); f.tensorize(i:32, j:128); f.num_warps({warps});
f.compile();
"""
PRODUCT = """
Func mm : f16; In A : f16, B : f16; Var x, y; RVar k;
mm[x, y] = rdot(A[x, k], B[k, y], k);
mm.block(x:{rows}, y:{columns}); mm.tensorize(x:{rows}, y:{columns}, k:64); mm.map(x, y);
mm.num_warps({warps}); mm.num_stages(3);
mm.compile();
"""
ATTENTION = """
Func s, top, p, total, o : bf16; In Q : bf16, K : bf16, V : bf16;
Var h, i, d = 64; RVar j, c = 64;
s[h, i, j] = rdot(Q[h, i, c], K[h, j, c], c) * 0.125;
top[h, i] = rmax(s[h, i, j], j{domain});
p[h, i, j] = exp(s[h, i, j] - top[h, i]);
total[h, i] = rsum(p[h, i, j], j{domain});
o[h, i, d] = rdot(p[h, i, j], V[h, j, d], j{domain}) / total[h, i];
o.precision(narrow); o.online(j);
o.block(h:1, i:128); o.tensorize(i:128, d:0, j:64, c:0); o.map(h, i);
o.num_warps(8); o.num_stages(2);
o.compile();
"""
WEIGHTS = """
Func s, top, p, o : f32; In Q : f32, K : f32, V : f32; Var i, d = 64; RVar j, c = 64;
s[i, j] = rdot(Q[i, c], K[j, c], c);
top[i] = rmax(s[i, j], j);
p[i, j] = exp(s[i, j] - top[i]);
o[i, d] = rdot(p[i, j], V[j, d], j);
p.fuse_at(o, i); top.fuse_at(o, i); s.fuse_at(o, i); o.precision(tf32);
o.block(i:32); o.tensorize(i:32, j:0, c:0, d:0); o.num_warps({warps}); o.num_stages(2);
o.compile();
"""
SIGMOIDS = {"x": 64, "y": 4096}
IMAGES = {"n": 8, "X_1": 112, "X_2": 112, "X_3": 32, "c": 32}
SCORES = {"i": 8192, "j": 50257}
SQUARE = {"x": 4096, "y": 4096, "k": 4096}
ROWS = {"i": 4096, "j": 256, "d": 64, "c": 64}


def heads(keys: int) -> dict[str, int]:
    return {"h": 4, "i": keys, "d": 64, "j": keys, "c": 64}


def attention(keys: int, domain: str = "") -> float:
    return cost(ATTENTION.format(domain=domain), heads(keys)).registers


def test_elements_take_a_register_and_loads_of_16_bits_half_of_one() -> None:
    many, few = (
        cost(SIGMOID.format(columns=4096, warps=warps), SIGMOIDS).registers for warps in (4, 8)
    )
    assert many == pytest.approx(BASE + 32 + 0.25 * 32, abs=1)
    assert few == pytest.approx(BASE + 16 + 0.25 * 16, abs=1)


def test_a_thread_has_an_element_of_a_small_tile() -> None:
    found = cost(SIGMOID.format(columns=32, warps=4), SIGMOIDS)
    assert found.registers == pytest.approx(BASE + 1 + 0.25, abs=0.1)


def test_windows_of_unrolled_taps_are_loaded_together() -> None:
    few, many = (cost(WINDOWS.format(warps=warps), IMAGES).registers for warps in (4, 1))
    # Nine taps of eight elements in 16 bits, and as many weights, of which a thread has half of one.
    assert few == pytest.approx(BASE + 8 + UNDER_WAY * 9 * (4 + 1 / 2), abs=0.5)
    assert many == pytest.approx(BASE + 32 + UNDER_WAY * 9 * (16 + 1 / 2), abs=0.5)


def test_threads_have_what_rows_take_as_often_as_they_have_rows() -> None:
    many, few = (cost(LOSS.format(warps=warps), SCORES).registers for warps in (8, 32))
    # A class of 64 bits and its score for each row, beside an element of the row.
    assert many == pytest.approx(BASE + 16 + UNDER_WAY * (16 + 16 + 2 * 16), abs=0.5)
    assert few == pytest.approx(BASE + 4 + UNDER_WAY * (4 + 4 + 2 * 4), abs=0.5)


def test_groups_of_warps_with_tasks_of_their_own_sum_no_edges_apart() -> None:
    plain, causal = (
        ATTENTION.format(domain=domain).replace("num_warps(8)", "warp_specialize(consumers:2)")
        for domain in ("", ", j <= i")
    )
    assert cost(causal, heads(4096)).registers == cost(plain, heads(4096)).registers


def test_scores_that_running_reductions_follow_take_more_where_a_condition_holds() -> None:
    # 256 threads have 32 scores and 32 elements of the result each.
    plain = BASE_OF_DOTS + 64 + RUNNING * 32
    assert attention(4096) == pytest.approx(plain, abs=1)
    assert attention(4000) == pytest.approx(plain + MASKED * 32, abs=1)
    # The steps along the diagonal are summed apart.
    assert attention(4096, ", j <= i") == pytest.approx(plain + EDGES * 32, abs=1)


def test_a_warp_has_the_weights_of_its_rows_where_threads_wait_for_products() -> None:
    four, eight = (cost(WEIGHTS.format(warps=warps), ROWS).registers for warps in (4, 8))
    # Two warps share 32 rows of 256 weights, or four do: each has 16 of them, for 32 threads.
    assert four == pytest.approx(BASE_OF_DOTS + (32 * 256 + 32 * 64) / 128 + 128, abs=1)
    assert eight == pytest.approx(BASE_OF_DOTS + (32 * 256 + 32 * 64) / 256 + 128, abs=1)
    # Products of 64 rows take those of 16 bits where they were computed, and round those of 32.
    large = WEIGHTS.format(warps=4).replace("i:32", "i:64")
    held = BASE_OF_DOTS + (64 * 256 + 64 * 64) / 128
    assert cost(large, ROWS).registers == pytest.approx(held + 128, abs=1)
    narrow = large.replace("tf32", "narrow").replace("f32", "f16")
    assert cost(narrow, ROWS).registers == pytest.approx(held, abs=1)


COMPILED = {
    "elements": (SIGMOID.format(columns=4096, warps=4), SIGMOIDS),
    "few elements": (SIGMOID.format(columns=256, warps=4), SIGMOIDS),
    "windows": (WINDOWS.format(warps=4), IMAGES),
    "windows of more elements": (WINDOWS.format(warps=1), IMAGES),
    "rows of results": (LOSS.format(warps=8), SCORES),
    "few rows of results": (LOSS.format(warps=32), SCORES),
    "product": (PRODUCT.format(rows=128, columns=128, warps=8), SQUARE),
    "large product": (PRODUCT.format(rows=128, columns=256, warps=8), SQUARE),
    "small product": (PRODUCT.format(rows=64, columns=64, warps=4), SQUARE),
    "attention": (ATTENTION.format(domain=""), heads(4096)),
    "ragged attention": (ATTENTION.format(domain=""), heads(197)),
    "causal attention": (ATTENTION.format(domain=", j <= i"), heads(4096)),
    "weights": (WEIGHTS.format(warps=8), ROWS),
}


def registers(text: str, sizes: Mapping[str, int]) -> int | None:
    """Returns the registers of a compiled program's last kernel."""
    program = compile_program(text, "-")
    return compile_for(program.module, program.source, "sm_90", sizes)[-1].registers


@pytest.mark.skipif(find_spec("triton") is None, reason="needs triton")
def test_compiled_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    found: dict[str, float] = {}
    # A process of its own: Triton is imported with its interpreter, or without it, for good.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        for name, (text, sizes) in COMPILED.items():
            compiled = pool.submit(registers, text, sizes).result()
            assert compiled is not None
            found[name] = log(min(cost(text, sizes).registers, 255) / compiled)
    assert {name for name, each in found.items() if abs(each) > log(2)} == set(), found
    assert mean(map(abs, found.values())) < 0.25, found
