"""Values of a module are used in it alone: what passes build to look at it leaves nothing behind.

An operation outside of the module that uses a value would be among its uses in later passes.
"""

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.traversal import operations, values_of

ROOT = Path(__file__).parents[2]
FILES = [
    *sorted((ROOT / "examples").glob("*.dt")),
    *sorted((ROOT / "tests" / "programs").glob("apart_*.dt")),
    *sorted((ROOT / "tests" / "operators").glob("*attention*.dt")),
]
NESTED = """
Func f0, f1, f2, f3, f4, f6, f7; In A, B, C, D; Var i, j, c, d;
f0[i, j] = B[j, j] + C[j];
f1[] = rsum(C[d] * D[d, d], d) + B[0, 0];
f2[i, d] = rdot(f1[], f0[i, c], c) / f0[d, d];
f3[j] = rsum(f2[j, j] * f0[j, j], c) + f1[];
f4[] = rsum(D[d, d] * f3[d], d) + f1[];
f6[c] = rmax(B[j, j], j);
f7[] = rdot(f4[], f6[c], c) / f4[];
f7.compile(); f1.compile(); f4.compile();
f7.online(d, together);
f0.inline();
"""
"""Sums inside of the pass are decomposed, and what they read is inlined behind it."""


def check(text: str) -> None:
    """Compiles a program, and looks at the uses of all values after each pass."""

    def after(item: ModulePass, module: ModuleOp) -> None:
        inside = set(operations(module))
        for value in values_of(module):
            for use in value.uses:
                assert use.operation in inside, f"{item.name} leaves {use.operation}"

    module, _ = compile_text(text, "-")
    run_pipeline(module, default_pipeline("warp"), after=after)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_values_are_used_in_their_module(path: Path) -> None:
    check(path.read_text(encoding="utf-8"))


def test_what_sums_read_may_be_inlined_behind_a_pass() -> None:
    check(NESTED)
