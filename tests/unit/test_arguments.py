"""Arguments that kernels refuse, each with a message that names the argument."""

import inspect
import keyword
import os
import subprocess
import sys
from typing import Any

import pytest
import torch
from texts import text_of

import dt_mlir as dt
from dt_mlir.compiler import compile_program
from dt_mlir.diagnostics import CompileError
from dt_mlir.frontend.emit import compile_text
from dt_mlir.kernels import modes
from dt_mlir.kernels.calls import parameter_names
from dt_mlir.runtime.execute import prepare_triton, run_and_check

DEVICE = prepare_triton()


@pytest.fixture(autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DT_MLIR_CACHE", str(tmp_path_factory.getbasetemp() / "kernels"))


def product(type: str | None = None) -> dt.Kernel:
    mm, A, B = dt.Func("mm"), dt.In("A", type), dt.In("B", type)
    x, y, k = dt.Var("x"), dt.Var("y"), dt.RVar("k")
    mm[x, y] = dt.rdot(A[x, k], B[k, y], k)
    return mm.block(x=16, y=16).compile()


def random(*shape: int, **options: Any) -> torch.Tensor:
    return torch.rand(*shape, device=DEVICE, **options)


A, B = random(4, 6), random(6, 5)


@pytest.mark.parametrize(
    ("given", "options", "error", "message"),
    [
        ((A, B, A), {}, TypeError, r"mm: takes 2 inputs \(A, B\), not 3; give 'out' and sizes by name"),
        ((A,), {}, TypeError, "mm: the tensor 'B' is missing"),
        ((A, B), {"B": B}, TypeError, "mm: 'B' is given twice, by place and by name"),
        ((A, [1, 2]), {}, TypeError, "mm: 'B' must be a tensor, not list"),
        ((A, None), {}, TypeError, "mm: 'B' must be a tensor, not NoneType"),
        ((3, B), {}, TypeError, "mm: 'A' must be a tensor, not int"),
        ((A, B), {"C": B}, TypeError, "mm.*'C'"),
        ((A, B.to(torch.complex64)), {}, TypeError, "mm: 'B' has elements of torch.complex64"),
        ((A[0], B), {}, ValueError, r"mm: 'A\[x, k\]' has 2 axes, but the tensor given has 1"),
        ((A, A), {}, ValueError, "mm: axis 0 of 'B' has size 4, but axis 1 of 'A' has 6: both are 'k'"),
        ((A, B.to_sparse()), {}, TypeError, r"mm: 'B' has the layout sparse_coo; call to_dense\(\) on it"),
        ((A.to_sparse_csr(), B), {}, TypeError, "mm: 'A' has the layout sparse_csr"),
        ((A, torch._efficientzerotensor((4, 4))), {}, TypeError, r"mm: 'B' is a tensor of zeros .* call clone\(\)"),
        ((A, torch.nested.nested_tensor([B, B])), {}, TypeError, r"mm: 'B' is a nested tensor; call to_padded"),
        ((A, torch._neg_view(B)), {}, ValueError, r"mm: 'B' is a negated view; call resolve_neg\(\)"),
        ((A, B), {"out": A}, ValueError, r"mm: 'out' has shape \(4, 6\), but 'mm' has \(4, 5\)"),
        ((A, B), {"out": random(4, 5).half()}, TypeError, "mm: 'out' must have elements of torch.float32"),
        ((A, B), {"out": [1]}, TypeError, "mm: 'out' must be a tensor, not list"),
        ((A, B), {"out": random(5).expand(4, 5)}, ValueError, "mm: 'out' overlaps itself"),
    ],
)  # fmt: skip
def test_refused(given: Any, options: Any, error: Any, message: str) -> None:
    kernel = product()
    for _ in range(2):
        with pytest.raises(error, match=message):
            kernel(*given, **options)
        # What is known of good calls does not let bad ones pass.
        torch.testing.assert_close(kernel(A, B), A @ B, atol=1e-2, rtol=1e-2)


def counted(name: str = "n", **options: Any) -> dt.Kernel:
    f, n, s, on = dt.Func("f"), dt.Var(name), dt.SIn("s", "i32"), dt.SIn("on", "bool")
    f[n] = dt.where(on, n * s, 0)
    return f.compile(**options)


@pytest.mark.parametrize(
    ("given", "sizes", "error", "message"),
    [
        ((2, True), {}, TypeError, "f: the size of 'n' is missing"),
        ((2, True), {"n": "3"}, TypeError, "f: the size of 'n' must be a whole number, not a str"),
        ((2, True), {"n": True}, TypeError, "f: the size of 'n' must be a whole number, not a bool"),
        ((2, True), {"n": -1}, ValueError, "f: the size of 'n' cannot be -1"),
        ((2, True), {"n": 2**70}, ValueError, "f: the size of 'n' cannot be 1180591620717411303424"),
        ((2, True), {"m": 3}, TypeError, "f: there is no 'm' to give; there are n, out"),
        ((2.0, True), {"n": 3}, TypeError, "f: 's' must be a whole number, not a float"),
        ((True, True), {"n": 3}, TypeError, "f: 's' must be a whole number, not a bool"),
        ((2**31, True), {"n": 3}, ValueError, "f: 's' must be within -2147483648 and 2147483647"),
        ((2, 1), {"n": 3}, TypeError, "f: 'on' must be True or False, not a int"),
    ],
)
@pytest.mark.parametrize("static", [False, True])
def test_numbers_and_sizes(
    given: Any, sizes: Any, error: Any, message: str, static: bool
) -> None:
    kernel = counted(static=static)
    for _ in range(2):
        with pytest.raises(error, match=message):
            kernel(*given, **sizes)
        assert kernel(2, True, n=3).tolist() == [0, 2, 4]


def test_numbers_and_sizes_in_compiled_functions() -> None:
    kernel = counted()
    compiled = torch.compile(
        lambda s, on, **sizes: kernel(s, on, **sizes), backend="eager", fullgraph=True
    )
    assert compiled(2, True, n=3).tolist() == [0, 2, 4]
    assert compiled(3, True, n=4).tolist() == [0, 3, 6, 9]
    for given, sizes, message in (
        ((2, True), {}, "f: the size of 'n' is missing"),
        ((2, True), {"m": 3}, "f: there is no 'm' to give"),
        ((2, True), {"n": -1}, "f: the size of 'n' cannot be -1"),
        ((True, True), {"n": 3}, "f: 's' must be a whole number, not a bool"),
    ):
        with pytest.raises(Exception, match=message):
            compiled(*given, **sizes)


def test_numbers_and_sizes_of_other_libraries() -> None:
    import numpy as np

    assert counted()(np.int64(2), np.bool_(True), n=np.int64(3)).tolist() == [0, 2, 4]


def test_labels_with_names_of_python() -> None:
    for name in ("len", "torch", "tl", "range", "INDEX", "contextlib"):
        for static in (False, True):
            kernel = counted(name, static=static)
            assert kernel(2, True, **{name: 3}).tolist() == [0, 2, 4]
            torch.library.opcheck(kernel.operator, (2, True), {name: 3})


def test_functions_with_names_of_helpers() -> None:
    for name in ("contextlib", "_check_out", "_launching", "numbers"):
        f, T, s, x = dt.Func(name), dt.In("T"), dt.SIn("s"), dt.Var("x")
        f[x] = T[x] * s
        assert torch.allclose(f.compile()(A[0], 2.0), A[0] * 2)


def test_inputs_with_names_of_parameters() -> None:
    f, sizes, x = dt.Func("f"), dt.In("sizes"), dt.Var("x")
    f[x] = sizes[x] + 1
    assert torch.allclose(f.compile()(sizes=A[0]), A[0] + 1)
    program = dt.parse(text_of("input_named_out"))
    with pytest.raises(CompileError, match="'out' is a parameter of every kernel"):
        program.compile()


@pytest.mark.parametrize("label", ["lambda", "class", "None", "range", "tl", "_"])
def test_labels_with_names_that_python_keeps(label: str) -> None:
    text = f"Func f; In A; Var x, {label}; f[x, {label}] = A[x] * {label}; f.compile();"
    kernel = dt.parse(text).compile()
    a = A[0].contiguous()
    want = torch.outer(a, torch.arange(3, device=DEVICE))
    assert torch.equal(kernel(a, **{label: 3}), want)
    if keyword.iskeyword(label):
        assert torch.equal(kernel(a, **{f"{label}_": 3}), want)
    torch.library.opcheck(kernel.operator, (a,), {parameter_names([label])[label]: 3})
    module, _ = compile_text(text, "-")
    program = compile_program(text, "-")
    assert run_and_check(module, program.source, {"x": 5, label: 3}, 0)


def test_numbers_with_names_of_python() -> None:
    text = "Func f; In A; SIn lambda; Var x; f[x] = A[x] * lambda; f.compile();"
    kernel = dt.parse(text).compile()
    assert list(inspect.signature(kernel).parameters)[:2] == ["A", "lambda_"]
    for options in ({"lambda_": 2.0}, {"lambda": 2.0}):
        assert torch.equal(kernel(A[0].contiguous(), **options), A[0] * 2)


def test_a_label_called_as_the_parameter_of_a_number() -> None:
    text = "Func f; In A; SIn lambda; Var x, lambda_; f[x, lambda_] = A[x] * lambda + lambda_;"
    kernel = dt.parse(f"{text} f.compile();").compile()
    a = A[0].contiguous()
    want = a[:, None] * 2 + torch.arange(3, device=DEVICE)
    assert torch.equal(kernel(a, 2.0, lambda_=3), want)
    assert torch.equal(kernel(a, lambda__=2.0, lambda_=3), want)
    assert torch.equal(kernel(a, **{"lambda": 2.0, "lambda_": 3}), want)
    with pytest.raises(TypeError, match="'lambda' is given twice, also as 'lambda__'"):
        kernel(a, **{"lambda": 2.0, "lambda__": 2.0, "lambda_": 3})


def test_compiled_calls_with_a_label_that_pytorch_keeps() -> None:
    kernel = dt.parse("Func f; In A; Var x, self; f[x, self] = A[x] * self; f.compile();").compile()
    a = A[0].contiguous()
    want = torch.outer(a, torch.arange(3, device=DEVICE)) * 2
    assert torch.equal(kernel(a, **{"self": 3}) * 2, want)
    compiled = torch.compile(lambda x: kernel(x, self=3) * 2, backend="eager", fullgraph=True)
    assert torch.equal(compiled(a), want)


def test_gradients_of_kernels_with_sizes_by_keyword() -> None:
    kernel = dt.parse("Func f; In A; Var x, c; f[x, c] = A[x] * c; f.compile();").compile()
    kernel.register_autograd(lambda ctx, grad: (grad * torch.arange(3.0, device=DEVICE)).sum(1))
    a = A[0].contiguous().requires_grad_()
    kernel(a, c=3).sum().backward()
    assert a.grad is not None
    assert torch.equal(a.grad, torch.full_like(a, 3.0))


def test_a_label_with_the_name_of_a_parameter() -> None:
    program = dt.parse("Func f; In A; Var x, out; f[x, out] = A[x] * out; f.compile();")
    with pytest.raises(CompileError, match="'out' is a parameter of every kernel; call the label"):
        program.compile()


def test_numbers_in_expressions() -> None:
    f, T, x = dt.Func("f"), dt.In("T"), dt.Var("x")
    f[x] = T[x] * 1e308
    with pytest.raises(CompileError, match=r"1e\+308 is too large for f32: write inf"):
        f.compile()(A[0])
    g = dt.Func("g", "i64")
    g[x] = dt.cast(x, "i64") + -(2**63)
    assert g.compile()(x=2).tolist() == [-(2**63), -(2**63) + 1]
    assert dt.parse(g.compile().program.to_dt()).to_dt() == g.compile().program.to_dt()
    h = dt.Func("h")
    h[x] = T[x] * -0.0
    assert torch.signbit(h.compile()(A[0])).all()


def test_declared_types() -> None:
    with pytest.raises(TypeError, match="mm: 'A' must have elements of torch.float16, not torch.float32"):
        product("f16")(A, B)


def test_transforms_of_functions() -> None:
    kernel = product()
    kernel(A, B)
    for transform in (torch.vmap(kernel), torch.func.grad(lambda a, b: kernel(a, b).sum())):
        with pytest.raises(TypeError, match="mm: is called inside a transform of torch.func, such as vmap"):
            transform(A[None], B[None])
    with pytest.raises(TypeError, match="mm: is called inside a transform of torch.func"):
        torch.func.grad(lambda b: (kernel(A, B) * b).sum())(random(4, 5))


def test_fake_tensors_are_checked_as_real_ones() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    kernel = product("f16")
    with FakeTensorMode():
        with pytest.raises(TypeError, match="mm: 'A' must have elements of torch.float16, not torch.float32"):
            kernel(torch.empty(2, 3), torch.empty(3, 2))
        halves = torch.empty(2, 3, dtype=torch.float16), torch.empty(3, 2, dtype=torch.float16)
        with pytest.raises(ValueError, match="mm: 'B' is on cuda:0, but 'A' is on cpu"):
            kernel(halves[0], torch.empty(3, 2, dtype=torch.float16, device="cuda"))
        assert kernel(*halves).shape == (2, 2)
        with pytest.raises(TypeError, match="mm: 'A' must be a tensor, not float"):
            kernel(2.0, halves[1])


def test_tensors_without_elements_give_their_like() -> None:
    result = product()(A.to("meta"), B.to("meta"))
    assert result.device.type == "meta"
    assert result.shape == (4, 5)
    with pytest.raises(RuntimeError, match="mm: 'out' cannot be given where PyTorch watches the call"):
        product()(A.to("meta"), B.to("meta"), out=random(4, 5).to("meta"))
    with pytest.raises(ValueError, match="mm: 'B' is on .*, but 'A' is on meta"):
        product()(A.to("meta"), B)


def test_mixed_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    if torch.cuda.is_available():
        with pytest.raises(ValueError, match="mm: 'B' is on .*cpu|mm: 'B' is on the CPU"):
            product()(A.cuda(), B.cpu())
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    with pytest.raises(ValueError, match=r"mm: 'A' is on the CPU; move it to a GPU.*start Python anew"):
        modes.refuse_unknown("mm", ["A"], [A.cpu()])

    class Elsewhere(torch.Tensor):
        pass

    with pytest.raises(TypeError, match="mm: 'A' is a Elsewhere"):
        modes.refuse_unknown("mm", ["A"], [A.as_subclass(Elsewhere)])


def test_other_devices() -> None:
    with pytest.raises(ValueError, match="mm: 'A' is on 'xpu', where kernels do not run"):
        modes._refuse_device("mm", "A", "xpu")


def test_nothing_of_triton_is_imported_for_what_it_cannot_run() -> None:
    text = """
import torch, dt_mlir as dt
f, A, x = dt.Func("f"), dt.In("A"), dt.Var("x")
f[x] = A[x] + 1
kernel = f.compile()
try:
    kernel(torch.ones(3))
except ValueError as error:
    print(error)
dt.interpret()
print(kernel(torch.ones(3)).tolist())
"""
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=120
    )
    assert "f: 'A' is on the CPU; move it to a GPU" in done.stdout, done.stderr
    assert "call dt_mlir.interpret() first of all" in done.stdout
    assert "[2.0, 2.0, 2.0]" in done.stdout


def test_gradients_that_cannot_be() -> None:
    kernel = product()
    with pytest.raises(TypeError, match="mm: backward must be a function, not int"):
        kernel.register_autograd(3)
    with pytest.raises(TypeError, match="mm: setup_context must be a function, not str"):
        kernel.register_autograd(print, setup_context="no")
    assert not kernel._made_operator().has_backward


def test_a_backward_is_one_kernels_own() -> None:
    def of(factor: float) -> Any:
        def backward(ctx: Any, gradient: torch.Tensor) -> Any:
            return torch.full_like(A, factor), None

        return backward

    first, second, third = product(), product(), product()
    first.register_autograd(of(1.0))
    second.register_autograd(of(2.0))
    for kernel, factor in ((first, 1.0), (second, 2.0)):
        leaf = A.clone().requires_grad_()
        kernel(leaf, B).sum().backward()
        assert leaf.grad is not None
        assert (leaf.grad == factor).all()
    with pytest.raises(RuntimeError, match="'A' requires a gradient, and the kernel has no backward"):
        third(A.clone().requires_grad_(), B)
    assert third.operator is product().operator


def test_compiled_models_say_what_is_wrong() -> None:
    kernel = product()
    compiled = torch.compile(lambda a, b, **more: kernel(a, b, **more), backend="eager", fullgraph=True)
    with pytest.raises(Exception, match="axis 0 of 'B' has size 4, but axis 1 of 'A' has 6"):
        compiled(A, A)
    torch.testing.assert_close(compiled(A, B, out=None), A @ B, atol=1e-2, rtol=1e-2)
    with pytest.raises(Exception, match="mm: the tensor 'B' is missing"):
        torch.compile(lambda a: kernel(a), backend="eager", fullgraph=True)(A)
    with pytest.raises(Exception, match=r"mm: takes 2 inputs \(A, B\), not 3"):
        torch.compile(lambda a, b: kernel(a, b, b), backend="eager", fullgraph=True)(A, B)
    with pytest.raises(Exception, match="'out' cannot be given in what torch.compile compiles"):
        compiled(A, B, out=random(4, 5))
    with pytest.raises(Exception, match="'A' requires a gradient, and the kernel has no backward"):
        compiled(A.clone().requires_grad_(), B)


def test_expressions_are_not_tensors() -> None:
    f, T, x = dt.Func("f"), dt.In("T"), dt.Var("x")
    for make in (lambda: T * 2, lambda: 2 + T, lambda: -T, lambda: dt.exp(T), lambda: T < 3):
        with pytest.raises(CompileError, match="'T' stands for all its elements here"):
            make()
    with pytest.raises(CompileError, match="PyTorch's 'exp' computes tensors"):
        torch.exp(T[x])
    with pytest.raises(CompileError, match="PyTorch's"):
        torch.ones(3) + T[x]
    f[x] = T[x]
    with pytest.raises(TypeError, match="a program is text, not int"):
        dt.parse(3)
    with pytest.raises(CompileError, match="the size of 'x' must be a whole number of at least 1, not '100'"):
        f.compile().draw(x="100")


def test_a_space_is_no_kernel() -> None:
    f, T, x = dt.Func("f"), dt.In("T"), dt.Var("x")
    f[x] = T[x]
    f.block(x=dt.one_of(4, 8))
    with pytest.raises(CompileError, match="a space of 2 schedules") as found:
        f.compile()(random(5))
    assert "dt_mlir.tune" in str(found.value.hint)


def test_help_shows_the_inputs() -> None:
    import inspect

    assert str(inspect.signature(product())) == "(A, B, *, out=None, **sizes)"
