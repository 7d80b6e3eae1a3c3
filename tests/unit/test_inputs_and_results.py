"""Tensors that kernels take and fill, in the forms that PyTorch has them."""

import torch

import dt_mlir as dt
from dt_mlir.runtime.execute import prepare_triton

DEVICE = prepare_triton()


def test_tensors_without_axes() -> None:
    f, A, B, x = dt.Func("f"), dt.In("A"), dt.In("B"), dt.Var("x")
    f[x] = A[()] * B[x]
    kernel = f.block(x=4).compile()
    assert "f[x] = A[] * B[x];" in str(kernel.program)
    given = torch.rand(5, device=DEVICE)
    assert torch.equal(kernel(torch.tensor(3.0, device=DEVICE), given), 3 * given)


def test_inputs_without_types_may_be_integers() -> None:
    f, g, h, A, ids, x, c = (
        dt.Func("f"), dt.Func("g"), dt.Func("h"), dt.In("A"), dt.In("ids"), dt.Var("x"), dt.Var("c")
    )  # fmt: skip
    f[x, c] = A[ids[x], c]
    table = torch.rand(5, 3, device=DEVICE)
    places = torch.tensor([4, 0, 2], device=DEVICE)
    assert torch.equal(f.block(x=4).compile()(table, places), table[places])
    g[x] = (ids[x] << 1) & 6
    for kernel in (g.block(x=4).compile(), g.compile(schedule="auto")):
        assert torch.equal(kernel(places), (places << 1) & 6)
    assert "ids: ids[x], of i32" in g.compile().source
    assert dt.auto(g, sizes={"x": 64}).to_dt()
    h[x] = ~ids[x]
    assert torch.equal(h.block(x=4).compile()(places > 1), places <= 1)


def test_results_may_be_given_in_a_list() -> None:
    f, g, A, x = dt.Func("f"), dt.Func("g"), dt.In("A"), dt.Var("x")
    f[x] = A[x] + 1
    g[x] = A[x] * 2
    f.block(x=4)
    g.block(x=4)
    kernel = dt.compile(f, g)
    given, results = torch.rand(5, device=DEVICE), [torch.empty(5, device=DEVICE) for _ in range(2)]
    for _ in range(3):
        kernel(given, out=results)
        assert torch.equal(results[0], given + 1)
        assert torch.equal(results[1], given * 2)
        results[0].zero_()
