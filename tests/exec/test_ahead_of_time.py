"""Every kernel of the examples compiles to machine code for every target, without a GPU."""

from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from compiling import compiling_process
from texts import replaced, text_of

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
    """Compiles in a process of its own."""
    with compiling_process() as pool:
        yield lambda *args: pool.submit(summarise, *args).result()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_examples(compiler: Compile, name: str, target: str) -> None:
    text = (EXAMPLES / f"{name}.dt").read_text()
    for kernel, has_code, problems in compiler(text, name, target, SIZES, 200):
        assert has_code, kernel
        assert not problems, kernel


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "kind", ["f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "tf32", "tf32x3"]
)
def test_products(compiler: Compile, kind: str, target: str) -> None:
    text = text_of("product_in_tiles")
    if kind.startswith("tf32"):
        text = replaced(text, ("f.compile();", f"f.precision({kind});\nf.compile();"))
    else:
        text = replaced(text, ("In A, B;", f"In A : {kind}, B : {kind};"))
    if (kind, target) in EXCEPTIONS:
        with pytest.raises(Exception, match="Triton cannot compile 'f_kernel'"):
            compiler(text, kind, target, {}, 100)
        return
    ((_, has_code, problems),) = compiler(text, kind, target, {}, 100)
    assert has_code
    assert not problems


@pytest.mark.parametrize("target", TARGETS)
def test_device_library(compiler: Compile, target: str) -> None:
    text = text_of("accurate_functions")
    ((_, has_code, problems),) = compiler(text, "accurate", target, {}, 100)
    assert has_code
    assert not problems


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("path", sorted(OPERATORS.glob("*.dt")), ids=lambda path: path.stem)
def test_operators(compiler: Compile, path: Path, target: str) -> None:
    for kernel, has_code, problems in compiler(path.read_text(), path.name, target, {}, 20):
        assert has_code, kernel
        assert not problems, kernel


UNROLLED = {"unrolled_sums": {"k": 100, "j": 100}, "unrolled_window": {}}
"""Programs with the sizes that they are compiled for."""


@pytest.mark.parametrize("name", UNROLLED)
@pytest.mark.parametrize("target", TARGETS)
def test_unrolled_whole(compiler: Compile, target: str, name: str) -> None:
    ((_, has_code, problems),) = compiler(text_of(name), name, target, UNROLLED[name], 100)
    assert has_code
    assert not problems


def test_what_a_target_cannot_hold_is_said(compiler: Compile) -> None:
    text = text_of("product_in_large_tiles")
    ((_, _, problems),) = compiler(text, "large", "sm_90", {}, 1024)
    assert any("bytes of shared memory, more than the" in problem for problem in problems)
