"""Sizes of tensors for which the labels that follow from them have given sizes."""

from dt_mlir.analysis.interface import Interface
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline


def _sizes(text: str, **given: int) -> dict[str, int]:
    module, _ = compile_text(text, "program.dt")
    run_pipeline(module, default_pipeline("dt"))
    return Interface.of(module).sizes(given)


def test_large_sizes_are_found() -> None:
    """One by one, the values up to 33 million would take hours."""
    text = "In A; Func f; Var g; RVar i = 8; f[g] = rsum(A[g * 8 + i], i); f.compile();"
    assert _sizes(text, g=2**22) == {"g": 2**22, "i": 8, "A_0": 2**25}


def test_the_least_size_is_taken() -> None:
    text = "In A; Func f; Var x = size(A, 0) // 3; f[x] = A[3 * x + 1]; f.compile();"
    assert _sizes(text, x=1000)["A_0"] == 3000


def test_sizes_that_do_not_grow_are_tried() -> None:
    text = "In A; Func f; Var x = size(A, 0) % 7; f[x] = A[x + 7]; f.compile();"
    found = _sizes(text, x=5)
    assert found["x"] == 5
    assert found["A_0"] % 7 == 5
