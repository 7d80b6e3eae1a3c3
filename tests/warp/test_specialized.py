"""Modules with a specialized kernel: where it runs, and where Triton's does in its place."""

from typing import Any, NamedTuple

import pytest
import torch

import dt_mlir as dt
from dt_mlir.compiler import compile_program
from dt_mlir.runtime import launch
from dt_mlir.runtime.execute import loaded, prepare_triton

DEVICE = prepare_triton()
HOPPER = DEVICE == "cuda" and torch.cuda.get_device_capability() == (9, 0)
on_hopper = pytest.mark.skipif(not HOPPER, reason="needs a Hopper GPU")


@pytest.fixture(autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DT_MLIR_CACHE", str(tmp_path_factory.getbasetemp() / "kernels"))


def product() -> dt.Kernel:
    mm, A, B = dt.Func("mm"), dt.In("A"), dt.In("B")
    x, y, k = dt.Var("x"), dt.Var("y"), dt.RVar("k")
    mm[x, y] = dt.rdot(A[x, k], B[k, y], k)
    return (
        mm.block(x=128, y=64).tensorize(x=128, y=64, k=32).persistent().warp_specialize().compile()
    )


def random(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, device=DEVICE).half()


def close(result: Any, wanted: Any) -> None:
    torch.testing.assert_close(result.float(), wanted.float(), atol=2e-2, rtol=2e-2)


@pytest.mark.parametrize("sizes", [(256, 96, 64), (130, 40, 72), (130, 41, 71), (3, 5, 7)])
def test_any_sizes(sizes: tuple[int, int, int]) -> None:
    """Rows that start at no multiple of 16 bytes are Triton's; so is all of it on other devices."""
    x, k, y = sizes
    mm = product()
    for _ in range(3):
        a, b = random(x, k), random(k, y)
        close(mm(a, b), a.float() @ b.float())


def test_any_strides() -> None:
    mm = product()
    a, b = random(96, 256).T, random(64, 96).T
    close(mm(a, b), a.float() @ b.float())
    a, b = random(130, 97)[:, 1:], random(96, 64)
    close(mm(a, b), a.float() @ b.float())


def test_nothing_to_sum() -> None:
    result = product()(random(130, 0), random(0, 64))
    assert result.shape == (130, 64)
    assert not result.any()


TEXT = """
Func mm : f16; In A : f16, B : f16; Var x, y; RVar k;
mm[x, y] = rdot(A[x, k], B[k, y], k);
mm.block(x:128, y:64); mm.tensorize(x:128, y:64, k:32); mm.warp_specialize();
mm.compile();
"""


@on_hopper
@pytest.mark.parametrize(("columns", "specialized"), [(64, True), (65, False)])
def test_which_kernel_runs(columns: int, specialized: bool) -> None:
    with loaded(compile_program(TEXT).source) as module:
        ran: list[str] = []
        for name in ("mm_kernel", "mm_kernel_warp"):
            kernel = getattr(module, name)
            setattr(module, name, Noted(name, kernel, ran))
        a, b = random(256, 96), random(96, columns)
        close(module.mm(a, b), a.float() @ b.float())
    assert ran == ["mm_kernel_warp" if specialized else "mm_kernel"]


class Noted(NamedTuple):
    """A kernel that notes its launches."""

    name: str
    kernel: Any
    ran: list[str]

    def __getitem__(self, grid: Any) -> Any:
        self.ran.append(self.name)
        return self.kernel[grid]


@on_hopper
def test_a_cuda_graph() -> None:
    mm = product()
    a, b = random(256, 96), random(96, 64)
    mm(a, b)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = mm(a, b)
    for _ in range(3):
        a.copy_(random(256, 96))
        graph.replay()
        close(out, a.float() @ b.float())


class Descriptor:
    """A description of a tensor, as Triton's are."""

    def __init__(self, base: torch.Tensor) -> None:
        self.base, self.block_shape = base, [64, 64]


class Kernel:
    """A kernel whose launches are kept."""

    def __init__(self) -> None:
        self.launches: list[Any] = []
        self.fn = lambda box, out: None

    def __getitem__(self, grid: Any) -> Any:
        return lambda *arguments, **options: self.launches.append(arguments)


KERNEL = Kernel()


def wrapper(a: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Launches the kernel on a description of its input."""
    out = torch.empty_like(a) if out is None else out
    KERNEL[(1,)](Descriptor(a), out)
    return out


def test_tensors_are_described_anew() -> None:
    """A launch that is made again describes the tensors of its own call."""
    first, second = torch.ones(2), torch.zeros(2)
    _, plan = launch.record(wrapper, (first,), {})
    assert plan is not None
    found = plan((second,), [second.data_ptr()])
    box, out = KERNEL.launches[-1]
    assert isinstance(box, Descriptor)
    assert box.base is second
    assert box.block_shape == [64, 64]
    assert out is found


def ending(a: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
    """Launches the kernel on a description of a part of what it allocates."""
    own = torch.empty((4,))
    out = torch.empty_like(a) if out is None else out
    KERNEL[(1,)](own, out)
    KERNEL[(1,)](Descriptor(own[:2]), out)
    return out


def test_parts_of_what_a_call_allocates_are_not_allocated_anew() -> None:
    """Nothing would write them: a call that describes one is made by its wrapper each time."""
    first = torch.ones(2)
    result, plan = launch.record(ending, (first,), {})
    assert result.shape == first.shape
    assert plan is None


PADDED = """
Func mm : f16; In A : f16, B : f16; Var x, y; RVar k;
mm[x, y] = rdot(A[x, k], B[k, y], k);
mm.cache_read(A, a_copy); mm.cache_read(B, b_copy);
a_copy.block(x:32, k:32); a_copy.tensorize(x:32, k:32); a_copy.align_storage(x:128, k:32);
b_copy.block(k:32, y:32); b_copy.tensorize(k:32, y:32); b_copy.align_storage(k:32, y:64);
mm.block(x:128, y:64); mm.tensorize(x:128, y:64, k:32); mm.descriptor(a_copy, b_copy);
"""


@pytest.mark.parametrize("directives", ["mm.warp_specialize();", "mm.num_warps(4);"])
@pytest.mark.parametrize("sizes", [(255, 97, 193), (3, 5, 7)])
def test_calls_again_with_copies(directives: str, sizes: tuple[int, int, int]) -> None:
    """Calls multiply copies of their own, in memory that held NaN."""
    x, k, y = sizes
    mm = dt.parse(PADDED + directives + " mm.compile();").compile()
    for _ in range(4):
        a, b = random(x, k), random(k, y)
        # The allocator gives this memory to the copies, whose padding nothing may read.
        used = torch.full((1 << 20,), torch.nan, device=DEVICE)
        del used
        close(mm(a, b), a.float() @ b.float())
