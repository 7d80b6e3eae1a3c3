"""Every kernel of the examples compiles to machine code for every target, without a GPU."""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path

import pytest

from dt_mlir.runtime.ahead_of_time import summarise

EXAMPLES = Path(__file__).parents[2] / "examples"
OPERATORS = Path(__file__).parents[1] / "operators"
PROGRAMS = sorted(path.stem for path in EXAMPLES.glob("*.dt"))
TARGETS = ["sm_80", "sm_90", "sm_100", "gfx942"]

EXCEPTIONS = {
    ("f8e4m3", "sm_80"): "f8e4m3 does not exist there",
    ("tf32x3", "gfx942"): "a precision of NVIDIA's",
}
if version("triton").startswith("3.6."):
    EXCEPTIONS["f8e5m2", "sm_80"] = "Triton 3.6 makes code of it that the assembler refuses"
"""Types and precisions that a target does not have."""

SIZES = {"l": 64}
"""Sizes of labels that are held whole; others are 200, which divides nothing."""


Summary = list[tuple[str, bool, list[str]]]
Compile = Callable[[str, str, str, dict[str, int], int], Summary]


@pytest.fixture(scope="module")
def compiler() -> Iterator[Compile]:
    """Compiles in a process of its own: Triton's interpreter, where it is on, is on for good."""
    interpret = os.environ.pop("TRITON_INTERPRET", None)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        pool.submit(os.getpid).result()
        if interpret is not None:
            os.environ["TRITON_INTERPRET"] = interpret
        yield lambda *args: pool.submit(summarise, *args).result()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_examples(compiler: Compile, name: str, target: str) -> None:
    text = (EXAMPLES / f"{name}.dt").read_text()
    for kernel, has_code, problems in compiler(text, name, target, SIZES, 200):
        assert has_code, kernel
        assert not problems, kernel


PRODUCT = (
    "Func f; In A : {type}, B : {type}; Var x, y; RVar k; f[x, y] = rdot(A[x, k], B[k, y], k);"
    "f.block(x:32, y:32); f.tensorize(x:32, y:32, k:32); {more} f.compile();"
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "kind", ["f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "tf32", "tf32x3"]
)
def test_products(compiler: Compile, kind: str, target: str) -> None:
    precision = kind.startswith("tf32")
    more = f"f.precision({kind});" if precision else ""
    text = PRODUCT.format(type="f32" if precision else kind, more=more)
    if (kind, target) in EXCEPTIONS:
        with pytest.raises(Exception, match="Triton cannot compile 'f_kernel'"):
            compiler(text, kind, target, {}, 100)
        return
    ((_, has_code, problems),) = compiler(text, kind, target, {}, 100)
    assert has_code
    assert not problems


@pytest.mark.parametrize("target", TARGETS)
def test_device_library(compiler: Compile, target: str) -> None:
    text = (
        "Func f; In V, W; Var x; f[x] = tanh(V[x]) + expm1(V[x]) / log1p(V[x]) + sqrt(V[x]) ** W[x]"
        " + sigmoid(exp2(V[x]) + tan(log10(W[x]))); f.block(x:64); f.tensorize(x:64);"
        " f.math(accurate); f.compile();"
    )
    ((_, has_code, problems),) = compiler(text, "accurate", target, {}, 100)
    assert has_code
    assert not problems


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("path", sorted(OPERATORS.glob("*.dt")), ids=lambda path: path.stem)
def test_operators(compiler: Compile, path: Path, target: str) -> None:
    for kernel, has_code, problems in compiler(path.read_text(), path.name, target, {}, 20):
        assert has_code, kernel
        assert not problems, kernel


UNROLLED = {
    "sums": (
        "Func f; In A; Var x; RVar j, k; f[x] = rsum(A[x, k] * (k + 1), k) + rsum(A[x, j] * j, j);"
        " f.block(x:16); f.tensorize(x:16, k:16); f.unroll(k:8, j:128); f.compile();",
        {"k": 100, "j": 100},
    ),
    "window": (
        "Func f; In A; Var x, y; RVar r = 3, s = 3;"
        "f[x, y] = rmax(constant_exterior(A[2 * x + r - 1, y + s - 1], -inf), r, s);"
        "f.fuse(x, y, m); f.block(m:16); f.tensorize(m:16); f.unroll(r:3, s:3); f.compile();",
        {},
    ),
}


@pytest.mark.parametrize("name", UNROLLED)
@pytest.mark.parametrize("target", TARGETS)
def test_unrolled_whole(compiler: Compile, target: str, name: str) -> None:
    text, fixed = UNROLLED[name]
    ((_, has_code, problems),) = compiler(text, "unrolled", target, fixed, 100)
    assert has_code
    assert not problems


def test_what_a_target_cannot_hold_is_said(compiler: Compile) -> None:
    text = (
        "Func f; In A : f16, B : f16; Var x, y; RVar k; f[x, y] = rdot(A[x, k], B[k, y], k);"
        "f.block(x:256, y:256); f.tensorize(x:256, y:256, k:128); f.num_stages(4); f.num_warps(8);"
        "f.compile();"
    )
    ((_, _, problems),) = compiler(text, "large", "sm_90", {}, 1024)
    assert any("bytes of shared memory, more than the" in problem for problem in problems)
