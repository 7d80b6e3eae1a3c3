"""Imports run downward: no circle between files, no arrow from a package to one above it."""

import ast
import subprocess
import sys
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]

LAYERS = (
    {"compiling", "copying", "diagnostics", "element_types", "traversal"},
    {"entry_points"},
    {"boundary_conditions", "elementwise"},
    {"callables"},
    {"cache_folder", "dialects", "files"},
    {"verifier"},
    {"frontend", "printing"},
    {"analysis"},
    {"builders"},
    {"laws"},
    {"interpreters", "scheduling"},
    {"registry"},
    {"language", "loading", "passes", "pipeline", "universe"},
    {"costs"},
    {"autoscheduling"},
    {"backend", "drawing"},
    {"compiler"},
    {"runtime"},
    {"verification"},
    {"certificates"},
    {"reducer", "tuning"},
    {"explorer"},
    {"kernels"},
    {"__init__"},
    {"editor"},
    {"tools"},
)
"""The packages and top-level modules, the lowest first."""


def _imports() -> dict[str, set[str]]:
    """Returns the modules that each module imports, inside functions too."""
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (ROOT / "dt_mlir").rglob("*.py")
    }
    found: dict[str, set[str]] = defaultdict(set)
    for module, path in files.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dt_mlir"):
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    found[module].add(full if full in files else str(node.module))
    return {module: imported - {module} for module, imported in found.items()}


def _unit(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def test_imports_run_downward() -> None:
    rank = {unit: i for i, layer in enumerate(LAYERS) for unit in layer}
    upward = [
        f"{module} imports {other}"
        for module, imported in _imports().items()
        for other in imported
        if _unit(module) != _unit(other) and rank[_unit(module)] <= rank[_unit(other)]
    ]
    assert not upward


def test_there_is_no_circle() -> None:
    TopologicalSorter(_imports()).prepare()


def test_the_language_needs_neither_torch_nor_triton() -> None:
    code = (
        "import sys; import dt_mlir.language.functions, dt_mlir.language\n"
        "assert not {'torch', 'triton', 'numpy'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
