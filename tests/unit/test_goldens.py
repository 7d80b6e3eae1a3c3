"""A few emitted modules, whole. `make goldens` writes them anew."""

import ast
import sys
from pathlib import Path

import pytest

from dt_mlir.compiler import compile_program

ROOT = Path(__file__).parents[2]
SUPPORT = ROOT / "dt_mlir" / "backend" / "triton" / "support.py"
GOLDENS = ["matmul_sigmoid", "layer_norm", "attention", "nearest"]


def emitted(name: str) -> str:
    """Returns an emitted module, its copies of support functions cut down to a line each."""
    source = ROOT / "examples" / f"{name}.dt"
    text = compile_program(source.read_text(), f"examples/{name}.dt").source
    known = definitions(SUPPORT.read_text(encoding="utf-8"))
    lines = text.splitlines()
    for name, node in reversed(definitions(text).items()):
        if name in known:
            assert ast.dump(node) == ast.dump(known[name]), f"{name} is not that of support.py"
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            lines[first - 1 : node.end_lineno] = [f"# {name}: of support.py"]
    return "\n".join(lines) + "\n"


def definitions(text: str) -> dict[str, ast.FunctionDef | ast.ClassDef]:
    """Returns the functions and classes of a module, by name."""
    return {
        node.name: node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def golden(name: str) -> Path:
    return ROOT / "tests" / "goldens" / f"{name}.py.txt"


@pytest.mark.parametrize("name", GOLDENS)
def test_golden(name: str) -> None:
    assert emitted(name) == golden(name).read_text(), "if that is meant, run 'make goldens'"


if __name__ == "__main__" and "--write" in sys.argv:
    for item in GOLDENS:
        golden(item).write_text(emitted(item))
