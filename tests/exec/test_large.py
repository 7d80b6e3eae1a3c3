"""Tensors of more than 2^31 elements, and labels of a million and of one."""

import pytest
import torch
from texts import replaced, text_of

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
    a = torch.empty(ROWS, COLUMNS, dtype=torch.bfloat16, device="cuda").normal_()
    with loaded(compile_program(text_of("copy_of_bf16")).source) as module:
        result = module.f(a)
    assert torch.equal(result[-1], a[-1])
    assert torch.equal(result, a)


@needs_gpu
@pytest.mark.parametrize("schedule", ["f.block(x:4);\nf.tensorize(x:4, k:1024);", "f.block(x:1);\nf.tensorize(x:1, k:0);"])
def test_row_sum(schedule: str) -> None:
    text = text_of("row_sums", ("In A;", "In A : bf16;"))
    text = replaced(text, ("f.compile();", f"{schedule}\nf.compile();"))
    a = torch.randint(0, 2, (ROWS, COLUMNS), dtype=torch.int8, device="cuda").bfloat16()
    with loaded(compile_program(text).source) as module:
        result = module.f(a)
    # Sums of zeros and ones are exact.
    assert torch.equal(result, a.sum(1, dtype=torch.float32))


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("doubled_in_large_tiles", {"x": 10**6}),
        ("total_in_large_tiles", {"k": 10**6}),
        ("outer_sum_in_tall_tiles", {"x": 10**6, "y": 1}),
        ("outer_sum_in_blocks_of_one", {"x": 1, "y": 1}),
        ("weighted_total_in_large_tiles", {"x": 1, "k": 10**6}),
    ],
)
def test_labels_of_a_million_and_of_one(name: str, sizes: dict[str, int]) -> None:
    program = compile_program(text_of(name))
    run_and_check(program.algorithm, program.source, sizes, seed=1)
