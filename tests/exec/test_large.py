"""Tensors of more than 2^31 elements, and labels of a million and of one."""

import pytest
import torch

from dt_mlir.compiler import compile_program
from dt_mlir.runtime.execute import loaded, prepare_triton, run_and_check

DEVICE = prepare_triton()
ROWS, COLUMNS = 3 * 2**15, 2**15
needs_gpu = pytest.mark.skipif(
    DEVICE != "cuda" or torch.cuda.get_device_properties(0).total_memory < 2**35,
    reason="needs a GPU with room for 3 * 2^30 elements twice",
)


@needs_gpu
def test_copy() -> None:
    text = (
        "Func f; In A : bf16; Var x, y; f[x, y] = A[x, y];"
        "f.block(x:8, y:1024); f.tensorize(x:8, y:1024); f.compile();"
    ).replace("Func f;", "Func f : bf16;")
    a = torch.empty(ROWS, COLUMNS, dtype=torch.bfloat16, device="cuda").normal_()
    with loaded(compile_program(text).source) as module:
        result = module.f(a)
    assert torch.equal(result[-1], a[-1])
    assert torch.equal(result, a)


@needs_gpu
@pytest.mark.parametrize("schedule", ["f.block(x:4); f.tensorize(x:4, k:1024);", "f.block(x:1); f.tensorize(x:1, k:0);"])
def test_row_sum(schedule: str) -> None:
    text = f"Func f; In A : bf16; Var x; RVar k; f[x] = rsum(A[x, k], k); {schedule} f.compile();"
    a = torch.randint(0, 2, (ROWS, COLUMNS), dtype=torch.int8, device="cuda").bfloat16()
    with loaded(compile_program(text).source) as module:
        result = module.f(a)
    # Sums of zeros and ones are exact.
    assert torch.equal(result, a.sum(1, dtype=torch.float32))


@pytest.mark.parametrize(
    ("body", "sizes"),
    [
        ("f[x] = V[x] * 2; f.block(x:4096); f.tensorize(x:4096);", {"x": 10**6}),
        ("f[] = rsum(V[x], x); f.tensorize(x:8192);", {"x": 10**6}),
        ("f[x, k] = V[x] + W[k]; f.block(x:8192); f.tensorize(x:8192, k:8);", {"x": 10**6, "k": 1}),
        ("f[x, k] = V[x] + W[k]; f.block(x:1, k:1); f.tensorize(x:0, k:0);", {"x": 1, "k": 1}),
        ("f[x] = rsum(V[x] * W[k], k); f.tensorize(k:65536);", {"x": 1, "k": 10**6}),
    ],
)
def test_labels_of_a_million_and_of_one(body: str, sizes: dict[str, int]) -> None:
    text = f"Func f; In V, W; Var x; RVar k; {body} f.compile();"
    if "W[" not in body:
        text = text.replace("In V, W", "In V")
    program = compile_program(text)
    run_and_check(program.algorithm, program.source, sizes, seed=1)
