"""Kernels that access tensors through descriptors compute what those that compute addresses do."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from compared import Program, convolved

import dt_mlir as dt
from dt_mlir.compiler import compile_program
from dt_mlir.runtime.execute import loaded, prepare_triton

DEVICE = prepare_triton()

PROGRAMS = {
    "a product": Program(
        "Func f : f16; In A : f16, B : f16, b : f16; Var x, y; RVar k; "
        "f[x, y] = rdot(A[x, k], B[y, k], k) + b[y]; f.block(x:32, y:32); "
        "f.tensorize(x:32, y:32, k:16); f.descriptor(A, B, b, f);",
        lambda n: [(n + 3, n), (n + 24, n), (n + 24,)], lambda a: a[0] @ a[1].T + a[2],
    ),
    "batches, persistent": Program(
        "Func f : f16; In A : f16, B : f16; Var b, x, y; RVar k; "
        "f[x, b, y] = rdot(A[b, x, k], B[b // 2, k, y], k); f.block(b:1, x:32, y:32); "
        "f.tensorize(x:32, y:32, k:16); f.persistent(); f.descriptor(A, B, f);",
        lambda n: [(4, n, n), (2, n, n)],
        lambda a: (a[0] @ a[1].repeat_interleave(2, 0)).transpose(0, 1),
    ),
    "a window": Program(
        "Func f : f16; In X : f16, W : f16; Var n, p = size(X, 1), q = size(X, 2), o; "
        "RVar r = 3, s = 3, c; f[n, p, q, o] = rdot(constant_exterior("
        "X[n, p + r - 1, q + s - 1, c], 0), W[o, r, s, c], r, s, c); "
        "f.block(n:2, p:2, q:8, o:16); f.tensorize(n:2, p:2, q:8, o:16, c:16); "
        "f.descriptor(X, W, f);",
        lambda n: [(3, 5, 7, n), (n, 3, 3, n)], convolved,
    ),
    "another value than zero beyond the end": Program(
        "Func top : f32, f : f16; In A : f16; Var x; RVar y; top[x] = rmax(A[x, y], y); "
        "f[x] = rprod(A[x, y] * 0 + 1, y) + top[x]; top.fuse_at(f, x); f.block(x:8); "
        "f.tensorize(x:8, y:16); f.descriptor(A);",
        lambda n: [(n, n)], lambda a: a[0].amax(1) + 1,
    ),
    "transposed": Program(
        "Func f : f16; In A : f16; Var x, y; f[x, y] = A[y, x] * 2; f.block(x:16, y:32); "
        "f.tensorize(x:16, y:16); f.descriptor(A, f);",
        lambda n: [(n, n)], lambda a: a[0].T * 2,
    ),
    "a constant": Program(
        "Func f : f16; In A : f16; Var x, y; f[x, y] = A[x, y] * 0 + 3; f.block(x:16); "
        "f.tensorize(x:16, y:16); f.descriptor(f);",
        lambda n: [(n, n)], lambda a: a[0] * 0 + 3,
    ),
    "moved": Program(
        "Func f : f16; In A : f16; Var x, y = size(A, 1) - 2; f[x, y] = A[x, y + 2] - A[x, y]; "
        "f.block(x:16, y:16); f.tensorize(x:16, y:16); f.descriptor(f);",
        lambda n: [(n, n + 2)], lambda a: a[0][:, 2:] - a[0][:, :-2],
    ),
}  # fmt: skip


@pytest.mark.parametrize("size", [32, 40, 8])
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_ways(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    program = PROGRAMS[name]
    given = [tensor.to(DEVICE) for tensor in program.inputs(size)]
    wanted = program.expected([tensor.float() for tensor in given]).half()
    source = compile_program(f"{program.text} f.compile();", "described.dt").source
    with loaded(source) as emitted:
        assert torch.equal(emitted.f(*given), wanted)
        # Triton's interpreter has a copy engine, which the wrapper does not count on.
        if DEVICE == "cpu":
            monkeypatch.setattr(emitted, "_takes_descriptors", lambda tensors: True)
            assert torch.equal(emitted.f(*given), wanted)


@pytest.mark.parametrize("columns", [64, 65])
def test_any_tensors(columns: int) -> None:
    """Tensors that no descriptor is made of are loaded from addresses, with any strides."""
    f, A = dt.Func("f", "f16"), dt.In("A", "f16")
    x, y = dt.Var("x"), dt.Var("y")
    f[x, y] = A[x, y] + 1
    kernel = f.block(x=16, y=16).tensorize(x=16, y=16).descriptor(A, f).compile()
    for tensor in (torch.ones(32, columns), torch.ones(columns, 32).T, torch.ones(32, 80)[:, 1:]):
        given = tensor.half().to(DEVICE)
        result: Any = kernel(given)
        assert (result == 2).all()
        assert result.shape == given.shape
