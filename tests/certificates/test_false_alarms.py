"""Programs that fuzzing found to be refuted: right ones are not, and what is wrong is refused."""

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.analysis.interface import Interface
from dt_mlir.certificates.certify import certify
from dt_mlir.certificates.obligation import Verdict
from dt_mlir.diagnostics import CompileError, SourceTexts
from dt_mlir.dialects import host
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.printing import module_text
from dt_mlir.tools.parsing import read_module
from dt_mlir.traversal import operations_of

EXAMPLES = Path(__file__).parents[2] / "examples"

RIGHT = {
    "padding that nothing reads": """
Func f0, f1;
In A;
Var x;
f0[x] = A[x] * 2;
f1[x] = f0[x] + f0[1];
f0.tensorize(x:3);
f0.align_storage(x:32);
f1.block(x:6);
f1.tensorize(x:3);
f1.compile();
""",
    "padding of one axis that is filled": """
Func f0, f1;
In A;
Var x, y;
f0[x, y] = A[x, y] * 2;
f1[x] = rsum(f0[x, y], y);
f0.block(x:6, y:8);
f0.tensorize(x:3, y:8);
f0.align_storage(x:32, y:8);
f1.block(x:4);
f1.tensorize(x:4, y:8);
f1.compile();
""",
    "a power of an index that no array holds": """
Func f;
In A;
Var x;
RVar y;
f[x] = (0 + x) ** 6 + A[x];
f.tensorize(x:4);
f.compile();
""",
    "an index that simplifies to one without a label": """
Func f;
In A;
Var x, z;
f[x, z] = repeat_image(A[z // 3 + x % 1, z]) + A[x, z];
f.compile();
""",
    "the text of a number of a wider type": """
Func f : f16;
In A;
Var x;
f[x] = cast((2147483647 + 0), f32);
f.compile();
""",
    "a number that is stored in fewer bits": """
Func f : i16;
In A;
RVar x;
f[x] = where(((x < x) and (x < x)), x, 2147483647);
f.compile();
""",
    "a sum on its way that overflows, shifted by no maximum": """
Func f0, f1 : f16, f2 : f16, f3 : f16;
In A;
Var x;
RVar y;
f0[x, y] = mirror_interior(A[len(x) - 1 - x, x]) // A[y, x];
f1[x] = rsum(f0[x, y], y);
f2[x] = rsum(exp(f0[x, y] - f1[x]) * (f0[x, y] - f1[x]) ** 2, y);
f3[x, y] = exp(f0[x, y] - f1[x]) / (abs(f2[x]) + 1);
f3.online(y);
f3.block(x:32, y:16);
f3.split(y:4);
f3.tensorize(y:0);
f3.compile();
""",
    "a squared deviation from a mean that is infinite": """
Func top, mean, spread;
In A, B;
Var x;
RVar k;
top[x] = rmax(A[x, k], k);
mean[x] = rmean(B[x, k] / 0.0, k);
spread[x] = rsum(exp(A[x, k] - top[x]) * (A[x, k] - mean[x]) ** 2, k);
spread.online(k);
spread.tensorize(k:16);
spread.compile();
""",
    "what parts of no rows count": """
Func f0, f1, f2, f3;
In B;
RVar x, y, z;
f0[x, z, y] = rsum(B[x, y], x);
f1[x, z] = rsum(f0[x, z, y], y);
f2[x, z] = rsum(exp(f0[x, z, y] - f1[x, z]) * (f0[x, z, y] - f1[x, z]) ** 2, y);
f3[x, z, y] = exp(f0[x, z, y] - f1[x, z]) / (abs(f2[x, z]) + 1);
f3.online(y);
f3.rfactor(y:y_in/2, f3_parts);
f3_parts.block(y_part:1, x:1, z:1);
f3_parts.tensorize(y_part:1, x:0, y:0, z:0);
f3.tensorize(y:0, y_part:0);
f3.compile();
f0.compile();
""",
    "labels that cancel out in a condition": """
Func f0, f1;
In A;
Var x;
RVar y;
f0[y] = A[y] * 2;
f1[x] = rsum(f0[5 * y], y, y > y - 3);
f1.compile();
""",
    "labels that cancel out in a condition on sizes": """
Func f;
In A;
Var x;
RVar y;
f[x] = rsum(A[x, y // 2], y, y < y + len(x) - 2);
f.compile();
""",
    "an extreme under a condition that is not a constraint": """
Func f0, f1, f2;
In A;
Var x, z;
f0[x, z] = A[x];
f1[x] = rmax(f0[x, z], z, not (z != len(x)));
f2[x] = rsum((f0[x, z] - f1[x]) * (f0[x, z] - f1[x]), z, not (z != len(x)));
f2.online(z);
f2.compile();
""",
    "an extreme under a condition on numbers": """
Func f;
In A;
Var x;
RVar k = 16;
f[x] = rmax(A[x, k], k, 2 == 2);
f.compile();
""",
    "an extreme under a condition on data": """
Func f;
In A, B;
Var x;
RVar k;
f[x] = rmin(A[x, k], k, B[x, k] > 0.5, A[x, k] < 3.5);
f.compile();
""",
}


def tiles(text: str) -> ModuleOp:
    """Returns a program at the `tile` level."""
    module, _ = compile_text(text, "program")
    run_pipeline(module, default_pipeline("tile"))
    return module


def algorithm(module: ModuleOp) -> list[str]:
    """Returns the definitions that a module says it computes."""
    (wrapper,) = operations_of(module, host.FuncOp)
    return [line.data for line in wrapper.algorithm or ()]


@pytest.mark.parametrize("case", RIGHT)
def test_a_right_program_is_not_refuted(case: str) -> None:
    found = certify(tiles(RIGHT[case]))
    assert not [f"{item.statement}: {item.reason}" for item in found.refuted]
    if case.startswith("padding"):
        assert set(found.count()) == {Verdict.PROVED}


def test_padding_that_is_read_has_to_be_written(tmp_path: Path) -> None:
    text = module_text(tiles((EXAMPLES / "matmul_ragged.dt").read_text()))
    old = "tile.store %A_copy, %A_copy_ptr[%x, %k]"
    assert old in text, "the fault is stale"
    path = tmp_path / "module.mlir"
    path.write_text(text.replace(old, f"{old} masked [%x_mask]"))
    (refuted,) = certify(read_module(str(path), SourceTexts())).refuted
    assert refuted.statement == "what 'mm' loads of 'A_copy' is inside of it"


@pytest.mark.parametrize(("value", "conditions", "shown"), [
    ("A[x, k]", "B[x, k] > 0.5", "rmax(A[x, k], k, B[x, k] > 0.5)"),
    ("A[x, k]", "not (k != 1)", "rmax(A[x, k], k, not k != 1)"),
    ("A[x, k]", "k >= 1", "rmax(A[x, k], k, k - 1 >= 0)"),
    ("where(k >= 1, A[x, k], 0)", "2 == 2",
     "rmax(where(k >= 1, A[x, k], 0), k, 2 == 2)"),
    # The comparison alone would be a constraint, by which the indices that are checked are fewer.
    ("A[x, k]", "0 == 0, cast(k, i32) >= 1",
     "rmax(where(0 == 0 and k >= 1, A[x, k], -inf), k, 0 == 0)"),
])  # fmt: skip
def test_an_extreme_under_a_condition_stays_one(value: str, conditions: str, shown: str) -> None:
    program = f"Func f; In A, B; Var x; RVar k; f[x] = rmax({value}, k, {conditions}); f.compile();"
    module = tiles(program)
    assert algorithm(module)[-1] == f"f[x] = {shown};"
    assert not Interface.of(module).least


@pytest.mark.parametrize("read", [
    "mirror_image(C[y - 1])", "repeat_edge(C[y - 1])", "C[clamp(I[y], 0, 3)]",
])  # fmt: skip
def test_what_is_read_instead_must_exist_outside_of_a_domain(read: str) -> None:
    """A tile is loaded for all of a label, and no mask says where its domain ends."""
    program = f"""
Func f;
In C, I : i32;
Var x;
RVar y;
f[x] = rsum({read}, y, y < len(x) - 2);
f.tensorize(x:1, y:0);
f.compile();
"""
    module = tiles(program)
    assert not certify(module).refuted
    interface = Interface.of(module)
    (axis,) = [a for item in interface.inputs if item.name == "C" for a in item.axes or ()]
    sizes = dict.fromkeys(interface.labels, 1)
    interface.check_sizes(sizes)
    with pytest.raises(CompileError, match="but there are 0"):
        interface.check_sizes({**sizes, str(axis): 0})
