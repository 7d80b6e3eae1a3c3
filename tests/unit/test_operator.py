"""Kernels as operators of PyTorch: fake tensors, compilation, export and gradients."""

from typing import Any

import pytest
import torch

import dt_mlir as dt
from dt_mlir.runtime.execute import prepare_triton

DEVICE = prepare_triton()


@pytest.fixture(autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DT_MLIR_CACHE", str(tmp_path_factory.getbasetemp() / "kernels"))


def product(name: str = "mm") -> dt.Kernel:
    mm, A, B = dt.Func(name), dt.In("A"), dt.In("B")
    x, y, k = dt.Var("x"), dt.Var("y"), dt.RVar("k")
    mm[x, y] = dt.rdot(A[x, k], B[k, y], k)
    return mm.block(x=16, y=16).tensorize(x=16, y=16, k=16).compile()


def random(*shape: int, **options: Any) -> torch.Tensor:
    return torch.rand(*shape, device=DEVICE, **options)


def test_opcheck() -> None:
    kernel = product()
    torch.library.opcheck(kernel.operator, (random(20, 9), random(9, 33)))
    torch.library.opcheck(kernel.operator, (random(4, 4).half(), random(4, 4).half()))


def test_outputs_scalars_and_free_labels() -> None:
    sums, scaled, A, s, t = dt.Func("sums"), dt.Func("scaled"), dt.In("A"), dt.SIn("s"), dt.SIn("t", "i32")
    x, y, copy = dt.Var("x"), dt.RVar("y"), dt.Var("copy")
    sums[x] = dt.rsum(A[x, y], y)
    scaled[copy, x] = sums[x] * s + t + copy
    kernel = dt.compile(sums, scaled)
    given = random(5, 7)
    first, second = kernel(given, 2.0, 3, copy=4)
    assert torch.allclose(first, given.sum(1))
    steps = torch.arange(4, device=DEVICE)[:, None]
    assert torch.allclose(second, given.sum(1)[None] * 2 + 3 + steps)
    torch.library.opcheck(kernel.operator, (given, 2.0, 3), {"copy": 4})


def test_a_compiled_model_keeps_the_kernel_whole() -> None:
    kernel = product()

    def model(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.relu(kernel(a, b) - 1)

    a, b = random(20, 9), random(9, 33)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    assert torch.allclose(compiled(a, b), model(a, b))
    explained = torch._dynamo.explain(model)(a, b)
    assert explained.graph_break_count == 0
    assert kernel.operator._name in str(explained.graphs[0].code) or "dt_mlir" in explained.graphs[0].code


def test_export() -> None:
    kernel = product()

    class Model(torch.nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return kernel(a, b) + 1

    a, b = random(20, 9), random(9, 33)
    rows = torch.export.Dim("rows", min=2)
    exported = torch.export.export(Model(), (a, b), dynamic_shapes={"a": {0: rows}, "b": {}})
    assert "dt_mlir" in str(exported.graph)
    other = random(50, 9)
    assert torch.allclose(exported.module()(other, b), other @ b + 1, atol=1e-3)


def test_fake_tensors_are_checked() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    kernel = product()
    with FakeTensorMode(), pytest.raises(ValueError, match="mm: axis 0 of 'B' has size 4, but axis 1 of 'A' has 3: both are 'k'"):
        kernel.operator(torch.empty(2, 3), torch.empty(4, 2))
    with FakeTensorMode(), pytest.raises(ValueError, match=r"mm: 'A\[x, k\]' has 2 axes, but the tensor given has 1"):
        kernel.operator(torch.empty(2), torch.empty(4, 2))


def test_a_gradient_needs_a_backward() -> None:
    kernel = product("differentiable")
    a, b = random(6, 5, requires_grad=True), random(5, 4)
    with pytest.raises(RuntimeError, match="differentiable: 'A' requires a gradient, and the kernel has no backward"):
        kernel(a, b)
    with torch.no_grad():
        assert torch.allclose(kernel(a, b), a @ b, atol=1e-3)
    backward = product("backward_product")

    def gradients(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        first, second = ctx.saved_tensors
        return (
            backward(gradient.contiguous(), second.T.contiguous()),
            backward(first.T.contiguous(), gradient.contiguous()),
        )

    kernel.register_autograd(gradients)
    kernel(a, b).sum().backward()
    assert a.grad is not None
    assert torch.allclose(a.grad, torch.ones(6, 4, device=DEVICE) @ b.T, atol=1e-3)
    torch.library.opcheck(kernel.operator, (a, b))
    with pytest.raises(RuntimeError, match="there is no gradient of what is written to 'out'"):
        kernel(a, b, out=torch.empty(6, 4, device=DEVICE))
    # A cell of a notebook may run again.
    kernel.register_autograd(gradients)
    # A parameter is a tensor like any other.
    weight = torch.nn.Parameter(random(5, 4))
    kernel(random(6, 5), weight).sum().backward()
    assert weight.grad is not None


def test_tensors_of_other_classes_are_refused() -> None:
    class Mine(torch.Tensor):
        pass

    kernel = product()
    mine = random(4, 4).as_subclass(Mine)
    with pytest.raises(TypeError, match="mm: 'B' is a Mine, and kernels take plain tensors"):
        kernel(random(4, 4), mine)


def test_what_pytorch_would_do_and_kernels_cannot_is_refused() -> None:
    from torch.autograd import forward_ad

    kernel = product()
    a = random(4, 4)
    with forward_ad.dual_level(), pytest.raises(RuntimeError, match="mm: kernels have no forward-mode derivatives"):
        kernel(forward_ad.make_dual(a, a), a)
    masked = torch.masked.masked_tensor(a, a > 0.5)
    with pytest.raises(TypeError, match="mm: 'A' is a MaskedTensor"):
        kernel(masked, a)


def test_equal_programs_share_an_operator() -> None:
    assert product().operator is product().operator
    assert product().operator is not product("other").operator
