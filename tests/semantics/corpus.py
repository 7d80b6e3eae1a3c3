"""Programs of every form that the language has, for what runs passes and compares."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


ILLEGAL = {
    "an output in every block": "Func f, g; In A, V; Var x, y; g[x] = V[x] + 1; f[x, y] = g[x] * A[x, y]; g.fuse_at(f, y); f.block(y:8); f.tensorize(x:8, y:8); g.compile(); f.compile();",
    "a reader elsewhere": "Func f, g, h; In V; Var x; g[x] = V[x] + 1; h[x] = g[x] * 2; f[x] = g[x] + h[x]; g.fuse_at(f, x); f.tensorize(x:8); f.compile();",
    "a diagonal": "Func f, g; In A; Var x, y; g[x, y] = A[x, y] + 1; f[x] = g[x, x]; g.fuse_at(f, x); f.tensorize(x:8); f.compile();",
    "another extent": "Func f, g; In V, A; Var x; RVar z; g[x] = V[x] + 1; f[x] = rsum(g[z] * A[x, z], z); g.fuse_at(f, x); f.block(x:8); f.tensorize(x:8, z:0); f.compile();",
    "needed in a block and whole": "Func g, h, f; In A, V; Var x, y; g[y] = V[y] + 1; h[x] = rsum(g[y] * A[x, y], y); f[x, y] = g[y] + h[x]; h.fuse_at(f, x); g.fuse_at(f, x); f.block(x:4, y:8); f.tensorize(x:4, y:0); f.compile();",
    "both read and written": "Func f, g; In V; Var x, y; g[x] = V[x] + 1; f[x, y] = g[x] + g[y]; g.fuse_at(f, x); f.block(x:8); f.tensorize(x:8, y:8); g.compile(); f.compile();",
}  # fmt: skip
"""Programs that no pass may let through: what a compiler that does makes of them is wrong."""


FIXED = {
    "tiles of no power of two": ("Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.block(x:4); f.tensorize(x:4, k:12); f.compile();", {"x": 8, "k": 24}),
    "a whole label": ("Func f; In A; Var x; RVar k; f[x] = rmax(A[x, k], k); f.block(x:4); f.tensorize(x:4, k:0); f.compile();", {"x": 7, "k": 5}),
}  # fmt: skip
"""Programs with the sizes that they are compiled for."""


def kernels() -> dict[Path, list[str]]:
    """IR that the compiler does not make of any program: by file the passes to run."""
    found: dict[Path, list[str]] = {}
    for path in sorted((ROOT / "tests" / "semantics" / "kernels").glob("*.mlir")):
        first = path.read_text().partition("\n")[0]
        found[path] = first.removeprefix("// PASSES: ").split(",")
    return found


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def programs() -> dict[str, str]:
    """The texts by name: the examples, the regressions, and the language's forms one by one."""
    found = {
        f"{path.parent.name}/{path.name}": path.read_text()
        for folder in ("examples", "tests/regressions")
        for path in sorted((ROOT / folder).glob("*.dt"))
    }
    language = _module(ROOT / "tests" / "exec" / "test_language.py")
    for name, body in language.PROGRAMS.items():
        found[name] = language.complete(body)
    for name, (outputs, body) in language.FUSED.items():
        found[name] = language.complete(body, outputs)
    for name, (outputs, body) in language.STORED.items():
        found[f"stored: {name}"] = language.complete(body, outputs)
    return found
