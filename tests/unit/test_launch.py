"""Launches that are made again without the wrapper's work: for what calls, and with what."""

import threading
from typing import Any

import pytest
import torch

import dt_mlir as dt
from dt_mlir.runtime import launch
from dt_mlir.runtime.execute import prepare_triton

DEVICE = prepare_triton()


@pytest.fixture(autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DT_MLIR_CACHE", str(tmp_path_factory.getbasetemp() / "kernels"))


def product(**options: Any) -> dt.Kernel:
    mm, A, B = dt.Func("mm"), dt.In("A"), dt.In("B")
    x, y, k = dt.Var("x"), dt.Var("y"), dt.RVar("k")
    mm[x, y] = dt.rdot(A[x, k], B[k, y], k)
    return mm.block(x=16, y=16).tensorize(x=16, y=16, k=16).compile(**options)


def random(*shape: int, **options: Any) -> torch.Tensor:
    return torch.rand(*shape, device=DEVICE, **options)


def calls_of(name: str, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The arguments of the calls of a function of `launch`, as they are made."""
    made: list[object] = []
    function = getattr(launch, name)

    def counting(*given: Any) -> Any:
        made.append(given)
        return function(*given)

    monkeypatch.setattr(launch, name, counting)
    return made


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The calls that went through a wrapper."""
    return calls_of("record", monkeypatch)


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The calls whose keys were made: those that are not plainly like the one before."""
    return calls_of("key_of", monkeypatch)


def close(result: Any, wanted: Any) -> None:
    torch.testing.assert_close(result, wanted, atol=1e-2, rtol=1e-2)


def test_a_second_call_goes_without_the_wrapper(recorded: list[object]) -> None:
    kernel = product()
    for _ in range(3):
        a, b = random(20, 9), random(9, 33)
        result = kernel(a, b)
        assert result.shape == (20, 33)
        close(result, a @ b)
    assert len(recorded) == 1
    assert len(kernel._plans) == 1


def test_what_is_added_to_is_cleared_in_each_call(recorded: list[object]) -> None:
    f, A, x, k = dt.Func("f"), dt.In("A"), dt.Var("x"), dt.RVar("k")
    f[x] = dt.rsum(A[x, k], k) * 2
    f.rfactor("parts", "atomic", k=3)
    f.directives["parts"].block(k_part=1, x=16).tensorize(x=16, k=8)
    kernel = f.compile()
    for _ in range(3):
        a = random(20, 50)
        close(kernel(a), a.sum(1) * 2)
    assert len(recorded) == 1


def affine() -> dt.Kernel:
    f, A, x = dt.Func("f"), dt.In("A"), dt.Var("x")
    s, n = dt.SIn("s"), dt.SIn("n", "i32")
    f[x] = A[x] * s + dt.cast(n, "f32")
    return f.block(x=16).tensorize(x=16).compile()


@pytest.mark.parametrize("given", [False, True])
def test_calls_like_the_one_before_need_no_key(keys: list[object], given: bool) -> None:
    kernel = affine()
    values = torch.arange(40.0, device=DEVICE)
    shifted = torch.empty(41, device=DEVICE)[1:].copy_(values)
    options = {"out": torch.empty(40, device=DEVICE)} if given else {}
    kernel(values, 2.0, 3, **options)
    kernel(values, 2.0, 3, **options)
    keys.clear()
    for factor in (2.0, 0.5):
        close(kernel(values.clone(), factor, 3, **options), values * factor + 3)
    assert not keys
    unlike = [(values, 2.0, 4), (values, 2, 3), (shifted, 2.0, 3)]
    if not given:
        unlike += [(values[:20], 2.0, 3), (random(80)[::2], 2.0, 3)]
    for tensor, factor, number in unlike:
        keys.clear()
        close(kernel(tensor, factor, number, **options), tensor * factor + number)
        assert keys
    keys.clear()
    if given:
        close(kernel(values, 2.0, 3), values * 2 + 3)
        with pytest.raises(TypeError, match="'out' must be a tensor, not tuple"):
            kernel(values, 2.0, 3, out=(options["out"],))
    else:
        close(kernel(values, 2.0, 3, out=random(40)), values * 2 + 3)
        close(kernel(values, 2.0, 3, out=None), values * 2 + 3)
    with pytest.raises(ValueError, match="negated view"):
        kernel(torch.view_as_complex(random(40, 2)).conj().imag, 2.0, 3)
    with pytest.raises(TypeError, match="the number 'n' is missing"):
        kernel(values, 2.0, **options)
    with pytest.raises(TypeError, match="'A' must be a tensor, not float"):
        kernel(1.0, 2.0, 3, **options)
    assert keys


def test_guards_follow_the_calls(keys: list[object]) -> None:
    kernel = product()
    a, b = random(16, 16), random(16, 16)
    held = torch.nn.Parameter(b, requires_grad=False)
    kernel(a, b)
    kernel(a, b)
    for second in (held, b):
        # The first call of another kind has its key made, and those that follow have not.
        kernel(a, second)
        keys.clear()
        close(kernel(a, second), a @ b)
        assert not keys
    wanted = torch.nn.Parameter(b)
    with torch.no_grad():
        close(kernel(a, wanted), a @ b)
    with pytest.raises(RuntimeError, match="'B' requires a gradient"):
        kernel(a, wanted)


def test_guards_of_several_results(keys: list[object]) -> None:
    f, g, A, x = dt.Func("f"), dt.Func("g"), dt.In("A"), dt.Var("x")
    f[x] = A[x] + 1
    g[x] = A[x] * 2
    kernel = dt.compile(f, g)
    a = random(16)
    outs = (torch.empty(16, device=DEVICE), torch.empty(16, device=DEVICE))
    for given in (outs, outs, outs[::-1]):
        keys.clear()
        kernel(a, out=given)
        close(given[0], a + 1)
        close(given[1], a * 2)
    assert not keys
    with pytest.raises(TypeError, match="'out' must be a tuple of 2 tensors"):
        kernel(a, out=outs[0])


def test_a_tensor_without_memory_is_not_like_another() -> None:
    kernel = product()
    a, b = random(16, 16), random(16, 16)
    kernel(a, b)
    kernel(a, b)
    emptied = random(16, 16)
    emptied.untyped_storage().resize_(0)
    assert kernel._recent is not None
    assert kernel._recent.pointers_of((a, b), {}) is not None
    assert kernel._recent.pointers_of((emptied, b), {}) is None


def test_labels_that_a_call_gives_are_part_of_its_key() -> None:
    f, A, x, y = dt.Func("f"), dt.In("A"), dt.Var("x"), dt.Var("y")
    f[x, y] = A[x]
    kernel = f.compile()
    values = random(5)
    for size in (3, 3, 4):
        assert kernel(values, y=size).shape == (5, size)
    with pytest.raises(TypeError, match="'y'"):
        kernel(values)


def test_what_a_plan_is_for(recorded: list[object]) -> None:
    kernel = product()
    a, b = random(20, 16), random(16, 24)
    shifted = torch.empty(20 * 16 + 1, device=DEVICE)[1:].view(20, 16).copy_(a)
    calls = [
        (a, b), (random(21, 16), b), (a, random(24, 16).T), (a.half(), b.half()), (shifted, b),
        (random(16, 16), random(16, 16)),
    ]
    for count, (first, second) in enumerate(calls, 1):
        close(kernel(first, second).float(), first.float() @ second.float())
        assert len(recorded) == count
    for first, second in calls:
        close(kernel(first, second).float(), first.float() @ second.float())
    assert len(recorded) == len(calls)


def test_a_tensor_that_is_given_twice() -> None:
    kernel = product()
    a, b = random(16, 16), random(16, 16)
    close(kernel(a, a), a @ a)
    # The plan of the first call knows which of the two is which.
    close(kernel(a, b), a @ b)
    close(kernel(b, a), b @ a)


def test_out(recorded: list[object]) -> None:
    kernel = product()
    a, b = random(16, 16), random(16, 16)
    for _ in range(2):
        out = torch.empty(16, 16, device=DEVICE)
        assert kernel(a, b, out=out) is out
        close(out, a @ b)
    assert len(recorded) == 1
    with pytest.raises(ValueError, match="mm: 'out' overlaps 'B' in memory"):
        kernel(a, b, out=b)
    # Ranges that meet without an element in common are left to the wrapper.
    both = torch.empty(16, 32, device=DEVICE)
    both[:, :16] = a
    for _ in range(2):
        kernel(both[:, :16], b, out=both[:, 16:])
        close(both[:, 16:], a @ b)


def test_out_and_a_tuple_of_one_are_told_apart() -> None:
    kernel = product()
    a, b = random(4, 5), random(5, 6)
    out = torch.empty(4, 6, device=DEVICE)
    kernel(a, b)
    kernel(a, b, out=out)
    for wrong in ((out,), (), (out, out)):
        with pytest.raises(TypeError, match="mm: 'out' must be a tensor, not tuple"):
            kernel(a, b, out=wrong)
    close(kernel(a, b, out=None), a @ b)


def test_out_counts_as_changed_in_place() -> None:
    kernel = product()
    a, b = random(4, 5), random(5, 6)
    out = random(4, 6)
    kernel(a, b, out=out.clone())
    for _ in range(2):
        leaf = random(4, 6, requires_grad=True)
        result = (leaf * out).sum()
        kernel(a, b, out=out)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            result.backward()
    with torch.inference_mode():
        kernel(a, b, out=torch.empty(4, 6, device=DEVICE))


def test_out_must_be_a_plain_tensor() -> None:
    class Mine(torch.Tensor):
        pass

    kernel = product()
    a, b = random(4, 5), random(5, 6)
    negated = torch._neg_view(random(4, 6))
    for _ in range(2):
        with pytest.raises(ValueError, match=r"mm: 'out' is a negated view; call resolve_neg\(\) on it"):
            kernel(a, b, out=negated)
        with pytest.raises(TypeError, match="mm: 'out' is a Mine, and kernels take plain tensors"):
            kernel(a, b, out=random(4, 6).as_subclass(Mine))
        with pytest.raises(TypeError, match="mm: 'out' has the layout sparse_coo"):
            kernel(a, b, out=random(4, 6).to_sparse())
        kernel(a, b, out=random(4, 6))


def test_whole_numbers_for_real_ones(recorded: list[object]) -> None:
    f, A, s, x = dt.Func("f"), dt.In("A"), dt.SIn("s"), dt.Var("x")
    f[x] = A[x] * s
    kernel, given = f.compile(), random(9)
    for number in (2, 3.0, 4, True + 1):
        close(kernel(given, number), given * number)
    assert len(recorded) == 1


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="two GPUs are needed")
def test_what_has_no_tensors_goes_to_the_current_device() -> None:
    f, x = dt.Func("f"), dt.Var("x")
    f[x] = x * 2
    kernel = f.compile()
    for device in (0, 1, 0):
        with torch.cuda.device(device):
            assert kernel(x=4).device.index == device


def test_several_kernels_scalars_and_results(recorded: list[object]) -> None:
    sums, scaled, A = dt.Func("sums"), dt.Func("scaled"), dt.In("A")
    s, t, on = dt.SIn("s"), dt.SIn("t", "i32"), dt.SIn("on", "bool")
    x, y, copy = dt.Var("x"), dt.RVar("y"), dt.Var("copy")
    inner = dt.Func("inner")
    inner[x] = dt.rsum(A[x, y], y)
    sums[x] = inner[x] + 1
    scaled[copy, x] = dt.where(on, sums[x] * s, 0) + t + copy
    kernel = dt.compile(sums, scaled)
    for number, (shape, first, second, third) in enumerate(
        (((5, 7), 2.0, 3, True), ((5, 7), 0.5, 3, True), ((5, 7), 2.0, 4, True), ((5, 7), 2.0, 3, False))
    ):
        given = random(*shape)
        found, other = kernel(given, first, second, third, copy=4)
        close(found, given.sum(1) + 1)
        steps = torch.arange(4, device=DEVICE)[:, None]
        close(other, (given.sum(1)[None] + 1) * first * third + second + steps)
        # Floating-point numbers do not count; whole ones are compiled for.
        assert len(recorded) == max(1, number), number
    outs = (torch.empty(5, device=DEVICE), torch.empty(4, 5, device=DEVICE))
    for _ in range(2):
        assert kernel(given, 2.0, 3, False, copy=4, out=outs)[1] is outs[1]
        close(outs[0], given.sum(1) + 1)
    same = random(5, 7)
    found, other = kernel(same, 2.0, 2, True, copy=4)
    close(other[0], (same.sum(1) + 1) * 2 + 2)
    with pytest.raises(ValueError, match="sums: 's' is too large for a floating-point number"):
        kernel(same, 10**400, 2, True, copy=4)
    with pytest.raises(ValueError, match="'t' must be within -2147483648 and 2147483647"):
        kernel(same, 1.0, 2**31, True, copy=4)
    close(kernel(same, 2**70, 2, True, copy=4)[1][0], (same.sum(1) + 1) * 2.0**70 + 2)


def test_two_numbers_that_are_one_object() -> None:
    f, A, a, b, x = dt.Func("f"), dt.In("A"), dt.SIn("a"), dt.SIn("b"), dt.Var("x")
    f[x] = A[x] * a - b
    kernel = f.compile()
    given, one = random(9), 3.0
    close(kernel(given, one, one), given * 3 - 3)
    close(kernel(given, 2.0, 5.0), given * 2 - 5)


def test_empty_results(recorded: list[object]) -> None:
    kernel = product()
    for _ in range(2):
        assert kernel(random(0, 4), random(4, 3)).shape == (0, 3)
    assert len(recorded) == 1


def test_gradients_are_not_lost() -> None:
    kernel = product()
    a, b = random(6, 5), random(5, 4)
    leaf = a.clone().requires_grad_()
    with torch.no_grad():
        close(kernel(leaf, b), a @ b)
    with pytest.raises(RuntimeError, match="'A' requires a gradient"):
        kernel(leaf, b)


def test_a_mode_sees_the_call() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Noting(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    kernel, seen = product(), []
    a, b = random(6, 5), random(5, 4)
    kernel(a, b)
    with Noting():
        close(kernel(a, b), a @ b)
    assert any("dt_mlir" in name for name in seen)


def test_threads() -> None:
    kernel = product()
    a = [random(8, 8) for _ in range(8)]
    results: dict[int, torch.Tensor] = {}

    def run(i: int) -> None:
        for _ in range(5):
            results[i] = kernel(a[i], a[i])

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(8):
        close(results[i], a[i] @ a[i])


def test_plans_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "MOST_PLANS", 2)
    kernel = product()
    for size in range(1, 6):
        close(kernel(random(size, 3), b := random(3, 2)).shape, torch.Size((size, 2)))
        assert len(kernel._plans) <= 2
        del b


def test_static_kernels_are_compiled_for_their_sizes() -> None:
    kernel = product(static=True)
    a, b = random(16, 32), random(32, 16)
    close(kernel(a, b), a @ b)
    assert "mask" not in kernel.source
    assert "mask" in product().source
    close(kernel(random(5, 7), c := random(7, 3)).shape, torch.Size((5, 3)))
    assert "mask" in kernel.source
    assert len(kernel._wrappers) == 2
    close(kernel(a, b), a @ b)
    assert kernel(random(0, 7), c).shape == (0, 3)
    with pytest.raises(ValueError, match="mm: axis 0 of 'B' has size 9, but axis 1 of 'A' has 8: both are 'k'"):
        kernel(random(4, 8), random(9, 4))
    with pytest.raises(ValueError, match=r"mm: 'A\[x, k\]' has 2 axes, but the tensor given has 1"):
        kernel(random(4), random(9, 4))
    assert kernel.operator._name != product().operator._name
    f, n = dt.Func("f"), dt.Var("n")
    f[n] = n + 1
    counted = f.compile(static=True)
    assert counted(n=3).tolist() == [1, 2, 3]
    assert counted(n=0).tolist() == []
    torch.library.opcheck(kernel.operator, (a, b))


@pytest.mark.skipif(DEVICE == "cpu", reason="CUDA graphs need a GPU")
def test_a_cuda_graph_captures_kernels() -> None:
    kernel = product()
    a, b = random(40, 50), random(50, 60)
    out = kernel(a, b)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = kernel(a, b)
        kernel(a, b, out=out)
    for _ in range(2):
        a.copy_(random(40, 50))
        graph.replay()
        close(captured, a @ b)
        close(out, a @ b)


@pytest.mark.skipif(DEVICE == "cpu", reason="streams need a GPU")
def test_plans_run_on_the_current_stream() -> None:
    kernel = product()
    a, b = random(300, 300), random(300, 300)
    kernel(a, b)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(20_000_000)
        c = torch.ones_like(a)
        result = kernel(c, b)
    stream.synchronize()
    close(result, c @ b)
