"""Programs against numbers that were worked out by hand, not by another interpreter."""

from typing import Any

import pytest
import torch
from texts import text_of

from dt_mlir.compiler import compile_program
from dt_mlir.runtime.execute import loaded, prepare_triton

DEVICE = prepare_triton()

CASES: dict[str, tuple[str, dict[str, Any], list[Any]]] = {
    "minus binds left": ("In A : i32; f[x] = A[x] - (2 - 1) - (3 - 1);", {"A": [10]}, [7]),
    "quotients in brackets": ("In A; f[x] = A[x] / (2 * 4) - A[x] / 2 * 4;", {"A": [16.0]}, [-30.0]),
    "powers bind right": ("In A; f[x] = -A[x] ** 2 + 2 ** 3 ** 2;", {"A": [3.0]}, [503.0]),
    "comparisons chain": ("In A : i32; f[x] = where(0 < A[x] < 3, 1, 0);", {"A": [-1, 1, 3]}, [0, 1, 0]),
    "not, and, or": ("In A : bool, B : bool; f[x] = where(not A[x] and B[x] or A[x] and not B[x], 1, 0);", {"A": [False, False, True, True], "B": [False, True, False, True]}, [0, 1, 1, 0]),
    "bits and shifts": ("In A : i32; f[x] = A[x] & 6 | 1 << 4 ^ ~A[x] & 1;", {"A": [7, 4]}, [22, 21]),
    "floored": ("In A : i32; f[x] = A[x] // 3 * 100 + A[x] % 3;", {"A": [-7, 7, -6]}, [-298, 201, -200]),
    "a float wins over an integer": ("In A : i64; f[x] = A[x] * 0.5;", {"A": [3]}, [1.5]),
    "i64 and f32 are f32": ("In A : i64, B; f[x] = A[x] + B[x];", {"A": [2**24 + 1], "B": [0.0]}, [2.0**24]),
    "true division of integers": ("In A : i32; f[x] = A[x] / 2;", {"A": [7]}, [3.5]),
    "f64 stays f64": ("In A : f64; f[x] = A[x] / 3;", {"A": [1.0]}, [1.0 / 3.0]),
    "f64 constants": ("In A : f64; f[x] = where(A[x] > 0, 0.1, A[x]);", {"A": [1.0]}, [0.1]),
    "truth of negative floats": ("In A; f[x] = where(A[x], 1, 0);", {"A": [-1.0, 0.0, 0.5]}, [1, 0, 1]),
    "unsigned bytes": ("In A : u8, B : u8; f[] = rdot(A[x], B[x], x);", {"A": [200, 3], "B": [200, 1]}, 40003),
    "a mean over two": ("In A, B; f[] = rmean(A[x] + B[y], x, y);", {"A": [1.0, 2.0], "B": [10.0, 20.0, 30.0]}, 21.5),
    "an index over two": ("In A, B; f[] = rargmax(A[x] * B[y], x, y);", {"A": [1.0, 2.0], "B": [10.0, 30.0, 20.0]}, 4),
    "every and some": ("In A : bool; f[] = where(rall(A[x], x), 10, 0) + where(rany(A[x], x), 1, 0);", {"A": [True, False]}, 1),
    "rounded where defined": ("Func g : f16; In A; g[x] = A[x] + 1; f[x] = g[x] - 1; g.fuse_at(f, x);", {"A": [2.0**-12, 2.0**-9]}, [0.0, 2.0**-9]),
    "rounded by a cast": ("In A; f[x] = cast(A[x] + 1, f16) - 1;", {"A": [2.0**-12, 2.0**-9]}, [0.0, 2.0**-9]),
    "wrapped by a cast": ("In A : i32; f[x] = cast(A[x], i8) + cast(A[x], u8);", {"A": [200]}, [144]),
    "labels and sizes": ("In A; f[x] = x * len(x) + 0 * cast(A[x], i32);", {"A": [0.0, 0.0, 0.0]}, [0, 3, 6]),
}  # fmt: skip


@pytest.mark.parametrize("schedule", ["", "f.tensorize(x:4);"], ids=["scalar", "tiles"])
@pytest.mark.parametrize("name", list(CASES))
def test_value(name: str, schedule: str) -> None:
    body, inputs, expected = CASES[name]
    if "[y]" in body and schedule:
        schedule = "f.tensorize(x:4, y:4);"
    text = f"Func f; Var x, y; {body} {schedule} f.compile();"
    program = compile_program(text, name)
    with loaded(program.source) as module:
        types = {"i": torch.int32, "f": torch.float32, "b": torch.bool}
        declared = {
            "i64": torch.int64, "i32": torch.int32, "u8": torch.uint8, "f64": torch.float64,
            "bool": torch.bool,
        }  # fmt: skip
        args = []
        for input, values in inputs.items():
            found = [t for n, t in declared.items() if f"{input} : {n}" in body]
            args.append(torch.tensor(values, dtype=found[0] if found else types["f"]).to(DEVICE))
        got = module.f(*args)
    assert got.cpu().tolist() == expected


def test_tiles_as_large_as_triton_allows() -> None:
    assert "1024" in compile_program(text_of("one_more_in_the_largest_tiles")).source
