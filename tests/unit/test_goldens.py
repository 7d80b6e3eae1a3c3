"""A few emitted modules, whole. `make goldens` writes them anew."""

import sys
from pathlib import Path

import pytest

from dt_mlir.compiler import compile_program

ROOT = Path(__file__).parents[2]
GOLDENS = ["matmul_sigmoid", "layer_norm", "attention", "nearest"]


def emitted(name: str) -> str:
    source = ROOT / "examples" / f"{name}.dt"
    return compile_program(source.read_text(), f"examples/{name}.dt").source


def golden(name: str) -> Path:
    return ROOT / "tests" / "goldens" / f"{name}.py.txt"


@pytest.mark.parametrize("name", GOLDENS)
def test_golden(name: str) -> None:
    assert emitted(name) == golden(name).read_text(), "if that is meant, run 'make goldens'"


if __name__ == "__main__" and "--write" in sys.argv:
    for item in GOLDENS:
        golden(item).write_text(emitted(item))
