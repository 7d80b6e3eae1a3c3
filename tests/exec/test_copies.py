"""Kernels that read copies compute what those that read the tensors do."""

from __future__ import annotations

import pytest
import torch
from compared import Program, convolved

from dt_mlir.compiler import compile_program
from dt_mlir.runtime.execute import loaded, prepare_triton

DEVICE = prepare_triton()

PROGRAMS = {
    "operands, padded to whole tiles": Program(
        "Func f : f16; In A : f16, B : f16; Var x, y; RVar k; f[x, y] = rdot(A[x, k], B[k, y], k); "
        "f.cache_read(A, C); f.cache_read(B, D); C.align_storage(x:16, k:16); C.block(x:16, k:16); "
        "C.tensorize(x:16, k:16); D.align_storage(y:8); f.block(x:16, y:16); "
        "f.tensorize(x:16, y:16, k:16);",
        lambda n: [(n, n + 3), (n + 3, n + 1)], lambda a: a[0] @ a[1],
    ),
    "along the other axis": Program(
        "Func f : f16; In K : f16, Q : f16; Var x, y; RVar k; f[x, y] = rdot(Q[x, k], K[y, k], k); "
        "f.cache_read(K, T); T.reorder_storage(k, y); T.block(y:16); T.tensorize(y:16, k:16); "
        "f.block(x:16, y:16); f.tensorize(x:16, y:16, k:16);",
        lambda n: [(n, n + 2), (n + 5, n + 2)], lambda a: a[1] @ a[0].T,
    ),
    "a window": Program(
        "Func f : f16; In X : f16, W : f16; Var n, p = size(X, 1), q = size(X, 2), o; "
        "RVar r = 3, s = 3, c; f[n, p, q, o] = rdot(constant_exterior("
        "X[n, p + r - 1, q + s - 1, c], 0), W[o, r, s, c], r, s, c); f.cache_read(X, Y); "
        "f.cache_read(W, V); Y.align_storage(X_3:16); Y.block(n:2, X_1:2, X_2:8, X_3:16); "
        "Y.tensorize(n:2, X_1:2, X_2:8, X_3:16); f.block(n:2, p:2, q:8, o:16); "
        "f.tensorize(n:2, p:2, q:8, o:16, c:16);",
        lambda n: [(2, 3, 7, n), (n, 3, 3, n)], convolved,
    ),
    "of functions, fused and inlined": Program(
        "Func g : f32, f : f16; In A : f16; Var x, y; RVar k; g[x] = rsum(A[x, k], k); "
        "f[x, y] = A[x, y] + A[y, x] + g[x]; f.cache_read(A, B); g.cache_read(A, C); "
        "f.cache_read(g, h); C.inline(); h.fuse_at(f, x); B.reorder_storage(k, x); "
        "f.block(x:4, y:8); f.tensorize(x:4, y:8);",
        lambda n: [(n, n)], lambda a: a[0] + a[0].T + a[0].sum(1, keepdim=True),
    ),
    "reduced in parts": Program(
        "Func f : f32; In A : f16; Var x; RVar k; f[x] = rsum(A[x, k] * A[k, x], k); "
        "f.cache_read(A, B); f.rfactor(k:4, parts); parts.block(x:4); B.fuse(x, k, m); "
        "B.block(m:8); B.tensorize(m:8);",
        lambda n: [(n, n)], lambda a: (a[0] * a[0].T).sum(1),
    ),
    "in one pass": Program(
        "Func top : f32, f : f32; In A : f16; Var x, y; RVar k; top[x] = rmax(A[x, k], k); "
        "f[x] = rsum(exp(A[x, k] - top[x]), k) * 0 + top[x]; f.cache_read(A, B); f.online(k); "
        "B.align_storage(k:8); f.block(x:4); f.tensorize(x:4, k:8);",
        lambda n: [(n, n)], lambda a: a[0].amax(1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("size", [32, 37, 1])
@pytest.mark.parametrize("name", PROGRAMS)
def test_copies(name: str, size: int) -> None:
    program = PROGRAMS[name]
    given = [tensor.to(DEVICE) for tensor in program.inputs(size)]
    source = compile_program(f"{program.text} f.compile();", "copied.dt").source
    with loaded(source) as emitted:
        found = emitted.f(*given)
    wanted = program.expected([tensor.float() for tensor in given])
    assert torch.equal(found, wanted.to(found.dtype))


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_special_values(value: float) -> None:
    """The padding of a copy does not meet what is not finite."""
    program = PROGRAMS["operands, padded to whole tiles"]
    a, b = torch.ones(18, 21).half(), torch.ones(21, 19).half()
    a[3], b[:, 18] = value, value
    source = compile_program(f"{program.text} f.compile();", "copied.dt").source
    with loaded(source) as emitted:
        found = emitted.f(a.to(DEVICE), b.to(DEVICE)).cpu()
    kept = found.isfinite()
    assert kept.sum() == 17 * 18
    assert (found[kept] == 21).all()
    assert found[3, 0].isnan() == (value != value)
