"""No vector of a load begins at an address that is not aligned, whatever Triton takes it for."""

import re
from collections.abc import Callable, Iterator

import pytest
import torch
from compiling import compiling_process, vectors_of

from dt_mlir.compiler import compile_program
from dt_mlir.runtime.execute import loaded, prepare_triton

DEVICE = prepare_triton()
SIZES = {"A_0": 305, "P_0": 4}
HINTED = re.compile(r"tl\.multiple_of\((.*?), \(1, 1\)\)")
PROGRAM = """
Func f : f32;
In A : f32; {inputs}
Var x = 64, c = 64;
f[x, c] = A[{row}, c + 4];
f.block(x:16, c:64);
f.tensorize(x:16, c:64);
f.compile();
"""
PRODUCT = """
Func f : f32;
In A : f32, B : f32; {inputs}
Var o = 64, c = 64;
RVar x = 64;
f[o, c] = rdot(B[x, o], A[{row}, c + 4], x);
f.block(o:16, c:64);
f.tensorize(o:16, c:64, x:16);
f.num_stages(2);
f.compile();
"""
SIDES = """
Func f : f32;
In B : f32, A : f32;
Var x = 64, o = 64;
RVar r = 4, c = 32;
f[x, o] = rdot(B[x, r, c], A[r, c % 8, o + 4], r, c);
f.block(x:64, o:64);
f.tensorize(x:64, o:64, r:2, c:32);
f.compile();
"""
"""Each of two labels that are tiled together is contiguous in parts."""
ROWS = {
    "paged": ("In P : i32;", "16 * P[x // 16] + x % 16"),
    "chosen": ("", "where(x % 3 < 1, x, x + 64)"),
    "nested": ("", "x % 8 % 4"),
}
"""Rows that Triton 3.6 and 3.7.1 take for multiples of 4 or more, as the last of 305 is."""


@pytest.fixture(scope="module")
def compiler() -> Iterator[Callable[..., list[str]]]:
    """Compiles in a process of its own."""
    with compiling_process() as pool:
        yield lambda *args: pool.submit(vectors_of, *args).result()


def check(
    text: str, sizes: dict[str, int], columns: str, compiler: Callable[..., list[str]]
) -> int:
    """Checks that a program loads one tensor in vectors where its rows allow that, and not else.

    Args:
        text: the program.
        sizes: the sizes of labels, but for one.
        columns: the label of the tensor's last axis.
        compiler: gives the vectors of a module.

    Returns:
        The number of vectors of other tensors.
    """
    source = compile_program(text, "program").source
    assert len(HINTED.findall(source)) == 1
    odd, even = (sizes | {columns: size} for size in (71, 80))
    others = len(compiler(source, text, odd))
    assert len(compiler(source, text, even)) > others
    # Without the hint Triton takes vectors for aligned that are not.
    assert len(compiler(HINTED.sub(r"\1", source), text, odd)) > others
    return others


@pytest.mark.parametrize("name", ROWS)
def test_vectors_are_aligned(name: str, compiler: Callable[..., list[str]]) -> None:
    inputs, row = ROWS[name]
    assert check(PROGRAM.format(inputs=inputs, row=row), SIZES, "A_1", compiler) == 0


@pytest.mark.parametrize("name", ROWS)
def test_vectors_of_factors_are_aligned(name: str, compiler: Callable[..., list[str]]) -> None:
    inputs, row = ROWS[name]
    # Those of the other factor.
    assert check(PRODUCT.format(inputs=inputs, row=row), SIZES, "A_1", compiler) > 0


def test_vectors_behind_joined_labels_are_aligned(compiler: Callable[..., list[str]]) -> None:
    assert check(SIDES, {"A_0": 4, "A_1": 8}, "A_2", compiler) > 0


@pytest.mark.parametrize(
    "row",
    [
        "x // 32 * 16 + x % 32", "x % 16 % 8 % 3", "(x - 64) % 4 + x % 2 * 16", "x % 24 % 16 * 2",
        "where(x > 3, x, 0) % 8 % 24", "maximum(x, x % 16 + x // 32)", "(x + x) * 3", "16 * x",
        "64 - x // 8 * 8", "minimum(x, 32) * 3 + 1", "where(x < 32, x + 32, x - 32)", "x // 16 * 4",
    ],
)  # fmt: skip
def test_no_row_is_taken_for_a_multiple(row: str, compiler: Callable[..., list[str]]) -> None:
    """Vectors of 4 elements, of rows of 71, begin where the number of each row is a multiple of 4."""
    text = PROGRAM.format(inputs="", row=row)
    source = compile_program(text, "rows").source
    found = compiler(source, text, SIZES | {"A_1": 71})
    functions = {"where": lambda c, a, b: a if c else b, "maximum": max, "minimum": min}
    rows = [eval(row, functions, {"x": x}) for x in range(64)]
    if any(number % 4 for number in rows):
        assert not any("v4" in vector for vector in found)
    if any(number % 2 for number in rows):
        assert found == []


def test_columns_are_loaded_in_vectors(compiler: Callable[..., list[str]]) -> None:
    """Parts of 16 of them are contiguous, which their sum keeps."""
    text = PROGRAM.format(inputs="", row="x").replace("c + 4", "c // 16 * 48 + c % 16")
    source = compile_program(text, "split").source
    assert not HINTED.findall(source)
    assert compiler(source, text, {"x": 64, "A_1": 192}) != []


@pytest.mark.parametrize("name", ROWS)
def test_results(name: str) -> None:
    """Shows a fault on a GPU alone."""
    inputs, row = ROWS[name]
    source = compile_program(PROGRAM.format(inputs=inputs, row=row), name).source
    given = torch.arange(305 * 71, dtype=torch.float32).reshape(305, 71)
    pages = torch.tensor([3, 0, 17, 5], dtype=torch.int32)
    x = torch.arange(64)
    rows = {
        "paged": 16 * pages[x // 16] + x % 16,
        "chosen": torch.where(x % 3 < 1, x, x + 64),
        "nested": x % 8 % 4,
    }
    with loaded(source) as module:
        arguments = [given.to(DEVICE), *([pages.to(DEVICE)] if inputs else [])]
        result = module.f(*arguments).cpu()
    assert torch.equal(result, given[rows[name].long(), 4:68])
