"""Kernels that are launched while others end compute what those that are launched behind them do."""

from __future__ import annotations

import pytest
import torch
from compared import Program

from dt_mlir.compiler import compile_program
from dt_mlir.runtime.execute import loaded, prepare_triton

DEVICE = prepare_triton()
REPEATED = 20
"""The calls in a row, each on what the one before has computed."""

PROGRAMS = {
    "one after the other": Program(
        "Func g : f16, h : f16, f : f16; In A : f16; Var x, y; RVar k; "
        "g[x, y] = A[x, y] + 1; h[x, y] = g[y, x] - 2; f[x, y] = h[x, y] + g[x, y] - A[y, x]; "
        "g.block(x:4, y:16); g.tensorize(x:4, y:16); h.block(x:16, y:4); h.tensorize(x:16, y:4); "
        "f.block(x:2); f.tensorize(x:2, y:0); "
        "g.dependent_launch(); h.dependent_launch(); f.dependent_launch();",
        lambda n: [(n, n)], lambda a: a[0],
    ),
    "in parts": Program(
        "Func t, f : f16; In A : f16; Var x, y; RVar k; t[x] = rsum(A[x, k], k); "
        "f[x, y] = clamp(A[x, y] - t[x], -2, 2); t.rfactor(k:4, parts); parts.block(x:4); "
        "parts.tensorize(x:4, k:8); t.block(x:8); t.tensorize(x:8); f.block(x:4); "
        "f.tensorize(x:4, y:16); parts.dependent_launch(); t.dependent_launch(); "
        "f.dependent_launch();",
        lambda n: [(n, n)], lambda a: (a[0] - a[0].sum(1, keepdim=True)).clamp(-2, 2),
    ),
    "by walking blocks": Program(
        "Func g : f16, f : f16; In A : f16; Var x, y; g[x, y] = A[x, y] * 2; "
        "f[x, y] = g[y, x] - A[y, x]; g.block(x:4, y:4); g.tensorize(x:4, y:4); g.persistent(); "
        "f.block(x:4, y:4); f.tensorize(x:4, y:4); f.persistent(2); g.dependent_launch(); "
        "f.dependent_launch();",
        lambda n: [(n, n)], lambda a: a[0].T,
    ),
    "with warps that have tasks": Program(
        "Func s : f32, t : f16, f : f16; In A : f16; Var x, y; RVar k; "
        "s[x, y] = rdot(A[x, k], A[y, k], k); t[x, y] = clamp(s[x, y], -2, 2); "
        "f[x, y] = t[y, x] - A[x, y]; s.fuse_at(t, y); t.block(x:128, y:64); "
        "t.tensorize(x:128, y:64, k:32); t.warp_specialize(); t.dependent_launch(); "
        "f.block(x:4); f.tensorize(x:4, y:0); f.dependent_launch();",
        lambda n: [(n, n)],
        lambda a: (a[0].float() @ a[0].float().T).clamp(-2, 2).half().T - a[0],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("size", [1, 37, 136])
def test_results_are_those_of_the_kernels_before(name: str, size: int) -> None:
    program = PROGRAMS[name]
    source = compile_program(program.text + " f.compile();", "f.dt").source
    (given,) = program.inputs(size)
    with loaded(source) as module:
        found, wanted = given.to(DEVICE), given
        for _ in range(REPEATED if DEVICE != "cpu" else 2):
            found, wanted = module.f(found), program.expected([wanted])
    assert torch.equal(found.cpu(), wanted)

