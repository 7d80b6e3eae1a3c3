"""Kernels as operators of PyTorch: fake tensors, compilation, export and gradients."""

import copy
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest
import torch

import dt_mlir as dt
from dt_mlir.kernels.fingerprint import fingerprint
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


def scaled() -> dt.Kernel:
    f, A, s, x = dt.Func("f"), dt.In("A"), dt.SIn("s"), dt.Var("x")
    f[x] = A[x] * s
    return f.compile()


FACTOR = 3.0


def by_factor(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
    return gradient * FACTOR, None


def test_copies_keep_their_backward() -> None:
    kernel = scaled()
    kernel.register_autograd(by_factor)
    for other in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        leaf = random(4, requires_grad=True)
        other(leaf, 2.0).sum().backward()
        assert leaf.grad is not None
        assert (leaf.grad == FACTOR).all()
        # What is the same has one name, so that exported programs find it.
        assert other.operator is kernel.operator


PROCESS = """
import sys, torch, dt_mlir as dt
if not torch.cuda.is_available():
    dt.interpret()
c = float(sys.argv[1])
f, A, s, x = dt.Func("f"), dt.In("A"), dt.SIn("s"), dt.Var("x")
f[x] = A[x] * s
kernel = f.compile()
kernel.register_autograd(lambda ctx, gradient: (gradient * c, None))
leaf = torch.rand(4, device="cuda" if torch.cuda.is_available() else "cpu", requires_grad=True)
torch.compile(lambda t: kernel(t, 2.0) + 1)(leaf).sum().backward()
print(kernel.operator._name, leaf.grad[0].item())
"""


def test_compiled_graphs_on_disk_do_not_keep_an_old_backward(tmp_path: Path) -> None:
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    found: list[list[str]] = []
    for factor in ("5", "7", "5"):
        done = subprocess.run(
            [sys.executable, "-c", PROCESS, factor], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.split())
        assert found[-1][1] == f"{factor}.0"
    assert found[0] == found[2]
    assert found[0][0] != found[1][0]


def test_fingerprints() -> None:
    def made(number: float, other: Any = None) -> Any:
        def inner(value: float, by: float = 2.0) -> float:
            return value * number * by + FACTOR

        return lambda value: inner(value) if other is None else other(value)

    first = fingerprint(made(1.0))
    assert fingerprint(made(1.0)) == first
    assert fingerprint(made(2.0)) != first
    assert fingerprint(partial(made(1.0), 2.0)) != first
    assert fingerprint(made(1.0, torch.sin)) != fingerprint(made(1.0, torch.cos))
    assert fingerprint(made(1.0, scaled())) == fingerprint(made(1.0, scaled()))
    assert fingerprint(made(1.0, scaled())) != fingerprint(made(1.0, product()))
    # What cannot be told is like itself alone.
    one, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    assert fingerprint(made(1.0, one)) == fingerprint(made(1.0, one))
    assert fingerprint(made(1.0, one)) != fingerprint(made(1.0, other))


def test_fingerprints_of_classes_and_modules() -> None:
    def made(number: float, base: type = object) -> Any:
        class Helper(base):
            __slots__ = ("value",)
            unit = 1.0

            @staticmethod
            def scale(value: float) -> float:
                return value * number

            @property
            def twice(self) -> float:
                return 2 * number

        return lambda value: Helper.scale(value)

    assert fingerprint(made(1.0)) == fingerprint(made(1.0))
    assert fingerprint(made(1.0)) != fingerprint(made(2.0))
    assert fingerprint(made(1.0)) != fingerprint(made(1.0, Exception))

    def of_module(text: str) -> Any:
        helpers, inner = ModuleType("helpers"), ModuleType("helpers.inner")
        helpers.inner = inner  # type: ignore[attr-defined]
        exec(text, inner.__dict__)
        return lambda value: helpers.inner.scale(value)

    text = "def scale(value): return value * 1.0"
    assert fingerprint(of_module(text)) == fingerprint(of_module(text))
    assert fingerprint(of_module(text)) != fingerprint(of_module(text.replace("1", "2")))
    # What is looked up by no name does not count.
    assert fingerprint(of_module(text)) == fingerprint(of_module(text + "\ndef other(): pass"))

    def data(number: float) -> Any:
        @dataclass
        class Data:
            value: float = number

        class Kind(Enum):
            ONE = number

        class Pair(NamedTuple):
            first: float
            second: float = number

        return lambda value: (Data(value), Kind.ONE, Pair(value))

    assert fingerprint(data(1.0)) == fingerprint(data(1.0))
    assert fingerprint(data(1.0)) != fingerprint(data(2.0))

    def importing() -> Any:
        def backward(value: float) -> float:
            import helpers_of_a_user  # type: ignore[import-not-found]

            return helpers_of_a_user.scale(value)

        return backward

    one, other = importing(), importing()
    assert fingerprint(one) == fingerprint(one)
    assert fingerprint(one) != fingerprint(other)


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
