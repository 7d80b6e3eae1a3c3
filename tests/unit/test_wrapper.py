"""The wrapper's checks, and its results on odd inputs."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from texts import text_of

from dt_mlir.compiler import compile_program
from dt_mlir.runtime.execute import loaded, prepare_triton

DEVICE = prepare_triton()


def tensor(*shape: int, dtype: torch.dtype = torch.float16) -> torch.Tensor:
    return torch.ones(shape, dtype=dtype, device=DEVICE)


@pytest.fixture(scope="module")
def mm() -> Any:
    with loaded(compile_program(text_of("scaled_product")).source) as module:
        yield module.mm


REFUSED: dict[str, tuple[Callable[[Any], object], type[Exception], str]] = {
    "no tensor": (lambda f: f([1.0], tensor(3, 4), 1.0), TypeError, "mm: 'A' must be a tensor, not list"),
    "rank": (lambda f: f(tensor(3), tensor(3, 4), 1.0), ValueError, r"mm: 'A\[x, k\]' has 2 axes, but the tensor given has 1"),
    "type": (lambda f: f(tensor(2, 3), tensor(3, 4, dtype=torch.float32), 1.0), TypeError, "mm: 'B' must have elements of torch.float16, not torch.float32"),
    "size": (lambda f: f(tensor(2, 3), tensor(5, 4), 1.0), ValueError, "mm: axis 0 of 'B' has size 5, but axis 1 of 'A' has 3: both are 'k'"),
    "device": (lambda f: f(tensor(2, 3), torch.ones(3, 4, dtype=torch.float16, device="meta"), 1.0), ValueError, "mm: 'B' is on meta, but 'A' is on"),
    "scalar": (lambda f: f(tensor(2, 3), tensor(3, 4), "1"), TypeError, "mm: 's' must be a real number, not a str"),
    "truth value": (lambda f: f(tensor(2, 3), tensor(3, 4), True), TypeError, "mm: 's' must be a real number, not a bool"),
    "out is none": (lambda f: f(tensor(2, 3), tensor(3, 4), 1.0, out=3), TypeError, "mm: 'out' must be a tensor, not int"),
    "out's shape": (lambda f: f(tensor(2, 3), tensor(3, 4), 1.0, out=tensor(4, 2)), ValueError, r"mm: 'out' has shape \(4, 2\), but 'mm' has \(2, 4\)"),
    "out's type": (lambda f: f(tensor(2, 3), tensor(3, 4), 1.0, out=tensor(2, 4, dtype=torch.float32)), TypeError, "mm: 'out' must have elements of torch.float16"),
    "out's device": (lambda f: f(tensor(2, 3), tensor(3, 4), 1.0, out=torch.ones(2, 4, dtype=torch.float16, device="meta")), ValueError, "mm: 'out' is on meta"),
    "out overlaps itself": (lambda f: f(tensor(2, 3), tensor(3, 4), 1.0, out=tensor(1, 4).expand(2, 4)), ValueError, "mm: 'out' overlaps itself"),
    "missing": (lambda f: f(tensor(2, 3)), TypeError, "missing"),
    "too many": (lambda f: f(tensor(2, 3), tensor(3, 4), 1.0, 2.0), TypeError, "positional"),
}  # fmt: skip


@pytest.mark.parametrize("case", list(REFUSED))
def test_refused(mm: Any, case: str) -> None:
    call, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        call(mm)


def test_out_that_overlaps_an_input(mm: Any) -> None:
    memory = tensor(100)
    a = memory[:36].view(6, 6)
    b = tensor(6, 6)
    with pytest.raises(ValueError, match="mm: 'out' overlaps 'A' in memory"):
        mm(a, b, 1.0, out=memory[30:66].view(6, 6))
    with pytest.raises(ValueError, match="mm: 'out' overlaps 'B' in memory"):
        mm(b, a, 1.0, out=a)
    # Beside each other, and interleaved without an element in common, is well.
    mm(a, b, 1.0, out=memory[36:72].view(6, 6))
    columns = tensor(6, 12)
    result = mm(columns[:, 0::2], b, 1.0, out=columns[:, 1::2])
    assert torch.equal(result, torch.full((6, 6), 6.0, dtype=torch.float16, device=DEVICE))


def test_out_is_returned(mm: Any) -> None:
    out = tensor(2, 4)
    assert mm(tensor(2, 3), tensor(3, 4), 2.0, out=out) is out
    assert torch.equal(out, torch.full_like(out, 6.0))


def test_expanded_inputs(mm: Any) -> None:
    a, b = tensor(1, 1).expand(5, 7), tensor(7, 1).expand(7, 3)
    assert torch.equal(mm(a, b, 1.0), torch.full((5, 3), 7.0, dtype=torch.float16, device=DEVICE))


@pytest.mark.parametrize(("x", "k", "y"), [(0, 3, 4), (2, 0, 4), (2, 3, 0), (0, 0, 0)])
def test_empty_inputs(mm: Any, x: int, k: int, y: int) -> None:
    a, b = tensor(x, k), tensor(k, y)
    assert torch.equal(mm(a, b, 1.0).cpu(), (a.cpu() @ b.cpu()))


def run(text: str, *args: object, name: str = "f", **keywords: object) -> Any:
    with loaded(compile_program(text).source) as module:
        return getattr(module, name)(*args, **keywords)


@pytest.mark.parametrize("tile", [0, 1, 16])
def test_empty_reductions(tile: int) -> None:
    empty = torch.ones(3, 0, device=DEVICE)
    sums = text_of("row_sums", ("f.compile();", f"f.tensorize(x:8, k:{tile});\nf.compile();"))
    assert run(sums, empty).tolist() == [0, 0, 0]
    assert run(sums.replace("rsum", "rprod"), empty).tolist() == [1, 1, 1]
    for name in ("rmax", "rmin", "rargmax", "rargmin"):
        with pytest.raises(ValueError, match="f: 'k' has size 0, but .* needs 1 or more"):
            run(sums.replace("rsum", name), empty)


def test_numbers_out_of_range() -> None:
    text = text_of("fourth_column")
    with pytest.raises(ValueError, match=r"f: axis 1 of 'A' has size 3, but reading A\[_, 3\] needs 4"):
        run(text, torch.ones(2, 3, device=DEVICE))


def test_sizes_that_only_the_caller_knows() -> None:
    text = text_of("sums_with_a_label")
    ones = torch.ones(2, device=DEVICE)
    assert run(text, ones, y=3).tolist() == [[1, 2, 3], [1, 2, 3]]
    with pytest.raises(TypeError, match="f: 'y' must be a size, not -1"):
        run(text, ones, y=-1)
    with pytest.raises(TypeError, match="y"):
        run(text, ones)


def test_sizes_that_reads_give_to_labels_of_one_size() -> None:
    text = """
    Func h, g, f; In A, B; Var x, y, z = 3;
    h[y, x, z] = mirror_interior(A[x + y]);
    g[y, x, z] = constant_exterior(B[z - 1, y], 7);
    f[z, x] = where(h[z, z, z] > 0.5, g[z + 1, z, z], x);
    f.compile(); g.compile();
    """
    with pytest.raises(ValueError, match="f: 'g_y' has size 3, but reads give it 4"):
        run(text, torch.ones(5), torch.ones(5, 4))


def test_labels_of_one_size() -> None:
    text = text_of("labels_of_one_size")
    with pytest.raises(ValueError, match="axis 0 of 'B' has size 3, but axis 0 of 'A' has 2"):
        run(text, torch.ones(2, device=DEVICE), torch.ones(3, device=DEVICE))


def test_several_outputs() -> None:
    text = text_of("two_outputs")
    ones = torch.ones(3, device=DEVICE)
    g, f = run(text, ones, name="g")
    assert (g.tolist(), f.tolist()) == ([4, 4, 4], [2, 2, 2])
    out = (torch.zeros(3, device=DEVICE), torch.zeros(3, device=DEVICE))
    assert run(text, ones, name="g", out=out)[1] is out[1]
    with pytest.raises(TypeError, match="g: 'out' must be a tuple of 2 tensors"):
        run(text, ones, name="g", out=out[0])
    with pytest.raises(ValueError, match="g: two tensors of 'out' overlap"):
        run(text, ones, name="g", out=(out[0], out[0]))


def test_a_tile_that_is_too_large() -> None:
    text = text_of("copy_of_whole_rows")
    wide = torch.ones(1, 1, device=DEVICE).expand(1, 70000)
    with pytest.raises(ValueError, match=r"f: a tile of x: 16 x y: y has 2097152 elements, more than Triton's 1048576; step the loop over 'y' by less than its whole extent, as in f.tensorize\(y:64\)"):
        run(text, wide)


def test_tensors_without_a_device_to_run_on() -> None:
    source = compile_program(text_of("copy")).source
    assert "the tensors are on the CPU; move them to a GPU" in source


def test_unused_inputs_are_still_checked() -> None:
    text = text_of("unused_input")
    ones = torch.ones(2, device=DEVICE)
    assert run(text, ones, torch.zeros(3, 4, dtype=torch.int8, device=DEVICE)).tolist() == [1, 1]
    with pytest.raises(TypeError, match="f: 'B' must have elements of torch.int8"):
        run(text, ones, ones)


def test_a_grid_that_is_too_large() -> None:
    source = compile_program(text_of("outer_sum_in_blocks_of_one")).source
    # Nothing of that size is allocated: the check is called by itself.
    with loaded(source) as module, pytest.raises(ValueError, match=r"f: a kernel would need 2147483648 program instances"):
        module._grid("f", 2**31)
    assert "f_kernel[_grid('f', x * y)](" in source


def test_a_walk_over_too_many_blocks() -> None:
    text = text_of("outer_sum_in_blocks_of_one").replace("f.compile", "f.persistent(3);\nf.compile")
    source = compile_program(text).source
    assert "f_kernel[_persistent_grid('f', x * y, V.device, 3)](" in source
    cpu = torch.device("cpu")
    with loaded(source) as module:
        assert module._persistent_grid("f", 5, cpu, 3) == (5,)
        assert module._persistent_grid("f", 2**31 - 6, cpu, 3) == (6,)
        with pytest.raises(ValueError, match="f: a kernel would walk 2147483643 blocks"):
            module._persistent_grid("f", 2**31 - 5, cpu, 3)


def test_offsets_that_need_64_bits() -> None:
    with loaded(compile_program(text_of("copy")).source) as module:
        one = torch.zeros(1, dtype=torch.int8)
        assert not module._is_wide(0, one.expand(2**31))
        assert module._is_wide(0, one.expand(2**31 + 1))


def test_the_width_of_offsets_follows_every_tensor() -> None:
    source = compile_program(text_of("sum_of_three")).source
    assert "_is_wide(x + 1, A, B, C, out)" in source


def test_every_input_is_on_one_device() -> None:
    one = torch.ones(3, device=DEVICE)
    with loaded(compile_program(text_of("sum_of_three")).source) as module:
        with pytest.raises(ValueError, match="f: 'C' is on meta, but 'A' is on"):
            module.f(one, one, torch.ones(3, device="meta"))
        with pytest.raises(TypeError, match="f: 'out' must have elements of torch.float32, not torch.int32"):
            module.f(one, one, one, out=torch.zeros(3, dtype=torch.int32, device=DEVICE))


def test_scalars_outside_their_type() -> None:
    one = torch.ones(3, device=DEVICE)
    with loaded(compile_program(text_of("two_scalars_added")).source) as module:
        assert module.f(one, -128, 255).tolist() == [128.0] * 3
        with pytest.raises(ValueError, match="f: 'n' must be within -128 and 127, not 128"):
            module.f(one, 128, 0)
        with pytest.raises(ValueError, match="f: 'm' must be within 0 and 255, not -1"):
            module.f(one, 0, -1)


def test_sizes_that_the_program_is_not_compiled_for() -> None:
    text = text_of("sums_of_whole_rows")
    with loaded(compile_program(text, sizes={"k": 4}).source) as module:
        assert module.f(torch.ones(3, 4, device=DEVICE)).tolist() == [4.0] * 3
        with pytest.raises(ValueError, match="f: 'k' has size 5, but the program is compiled for 4"):
            module.f(torch.ones(3, 5, device=DEVICE))


@pytest.mark.skipif(DEVICE == "cpu", reason="there are no streams without a GPU")
def test_current_stream(mm: Any) -> None:
    a, b = torch.rand(512, 4096, device=DEVICE).half(), torch.rand(4096, 512, device=DEVICE).half()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    graph = torch.cuda.CUDAGraph()
    out = torch.zeros(512, 512, device=DEVICE, dtype=torch.float16)
    mm(a, b, 1.0, out=out)
    with torch.cuda.graph(graph, stream=stream):
        # What is launched on another stream than the current one is not captured.
        mm(a, b, 2.0, out=out)
    out.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.allclose(out.float(), 2 * (a.float() @ b.float()), rtol=1e-2)
