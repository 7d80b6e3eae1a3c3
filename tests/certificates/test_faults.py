"""Planted faults in the IR of programs: each is refuted, with sizes at which the program is wrong."""

import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.certificates.certify import certify
from dt_mlir.certificates.obligation import Kind, Verdict
from dt_mlir.diagnostics import SourceTexts
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.printing import module_text
from dt_mlir.tools.parsing import read_module

BIN = Path(sys.executable).parent
EXAMPLES = Path(__file__).parents[2] / "examples"

FAULTS = {
    "a mask of another label": (
        "matmul", "%y_mask = tile.mask %y below %y_size", "%y_mask = tile.mask %y below %x_size",
        Kind.WRITTEN,
    ),
    "a last group that is too large": (
        "matmul", "arith.minsi %2, %1", "arith.maxsi %2, %1", Kind.WRITTEN,
    ),
    "a group without its start": (
        "matmul", "%x_block = arith.addi %x_group_start, %x_in_group",
        "%x_block = arith.addi %x_in_group, %x_in_group", Kind.WRITTEN,
    ),
    "blocks that overlap": (
        "matmul", "%x_origin = arith.muli %x_block, %0", "%x_origin = arith.muli %x_block, %1",
        Kind.WRITTEN,
    ),
    "a divisor that divides less": ("matmul", "%x_size divisor 128", "%x_size divisor 64",
        Kind.IN_BOUNDS,
    ),
    "a store without a mask": (
        "matmul", "%mm_ptr[%x, %y] masked [%x_mask, %y_mask]", "%mm_ptr[%x, %y] masked [%x_mask]",
        Kind.IN_BOUNDS,
    ),
    "a load without a mask": (
        "matmul", "%A_ptr[%x, %k] masked [%x_mask, %k_mask]", "%A_ptr[%x, %k] masked [%x_mask]",
        Kind.IN_BOUNDS,
    ),
    "steps that are too small": (
        "matmul", "%k_start = %5 to %k_size step %6", "%k_start = %5 to %k_size step %1",
        Kind.REDUCED,
    ),
    "steps that are too large": (
        "matmul", "%k_start = %5 to %k_size step %6", "%k_start = %5 to %k_size step %0",
        Kind.REDUCED,
    ),
    "a loop that begins late": (
        "matmul", "%k_start = %5 to %k_size step %6", "%k_start = %1 to %k_size step %6",
        Kind.REDUCED,
    ),
    "padding that counts": ("sum_of_rows", "pad 0.0", "pad 1.0", Kind.NEUTRAL),
    "a sum that begins at one": (
        "matmul", "arith.constant 0.000000e+00 : f32", "arith.constant 1.000000e+00 : f32",
        Kind.VALUE,
    ),
    "operands that are exchanged": (
        "scaled_add", "arith.addf", "arith.subf", Kind.VALUE,
    ),
    "the identity of a maximum": ("largest_of_rows", "pad -inf", "pad 0.0", Kind.NEUTRAL),
    "an exponent of another base": ("softmax_stable", "1.44269502", "1.4", Kind.VALUE),
    "another scale": ("attention", "math.sqrt", "math.rsqrt", Kind.VALUE),
    "a sum of what is not masked": (
        "attention", "%total = tile.reduce add %weights_1", "%total = tile.reduce add %weights",
        Kind.NEUTRAL,
    ),
    "a prefix without the trips before": (
        "prefix_sums", "tile.store %7, %f_ptr", "tile.store %6, %f_ptr", Kind.REDUCED,
    ),
    "a carried prefix that ends early": (
        "prefix_sums", "%5 = arith.constant 7 : index", "%5 = arith.constant 6 : index", Kind.REDUCED,
    ),
    "a carried prefix that ends beyond its tile": (
        "prefix_sums", "%5 = arith.constant 7 : index", "%5 = arith.constant 8 : index", Kind.VALUE,
    ),
    "a prefix of one trip that is carried": (
        "prefix_sums", "%11 = %7,", "%11 = %6,", Kind.VALUE,
    ),
    "a prefix that begins at one": (
        "prefix_sums", "%2 = arith.constant 0.0", "%2 = arith.constant 1.0", Kind.REDUCED,
    ),
    "a prefix in the other direction": (
        "prefix_sums", "tile.scan add %A along x", "tile.scan add %A along x reverse", Kind.REDUCED,
    ),
    "prefixes of another combination": (
        "prefix_sums", "tile.scan add %A along x", "tile.scan maximum %A along x", Kind.REDUCED,
    ),
    "the place of the other extreme": (
        "nearest", "tile.arg_reduce argmin", "tile.arg_reduce argmax", Kind.VALUE,
    ),
    "a comparison in the other direction": (
        "nearest", "arith.cmpf olt", "arith.cmpf ogt", Kind.LAW,
    ),
    "an extreme that begins at zero": (
        "nearest", "%1 = arith.constant 0x7f800000 : f32", "%1 = arith.constant 0.0 : f32",
        Kind.VALUE,
    ),
    "the place of a masked element": (
        "nearest", "arith.select %c_mask, %distance, inf", "arith.select %c_mask, %distance, -1.0",
        Kind.NEUTRAL,
    ),
    "an index of another row": (
        "nearest", "tile.map arith.index_cast %c :", "tile.map arith.index_cast %d_size :",
        Kind.VALUE,
    ),
}  # fmt: skip


ROWS = """
Func f;
In A;
Var x;
RVar k;
f[x] = {}(A[x, k], k);
f.block(x:4);
f.tensorize(x:4, k:8);
f.compile();
"""
PARTS = """
Func s;
In A, B;
Var x, y;
RVar k;
s[x, y] = rdot(A[x, k], B[k, y], k);
s.rfactor(k:8, parts);
s.compile();
"""
PREFIX_SUMS = """
Func f;
In A;
Var i, x = size(A, 1);
RVar j;
f[i, x] = rsum(A[i, j], j, j <= x);
f.scan(x);
f.block(i:4);
f.tensorize(i:4, x:8);
f.compile();
"""
SQUARES = "Func f; In A, B; Var x; f[x] = A[x] - B[x] * B[x]; f.compile();"
PROGRAMS = {
    "parts": PARTS, "prefix_sums": PREFIX_SUMS, "squares": SQUARES,
    "largest_of_rows": ROWS.format("rmax"), "sum_of_rows": ROWS.format("rsum"),
}


@lru_cache
def tiles(name: str) -> str:
    """Returns an example, or a program of this file, at the `tile` level."""
    text = PROGRAMS.get(name) or (EXAMPLES / f"{name}.dt").read_text()
    module, _ = compile_text(text, name)
    run_pipeline(module, default_pipeline("tile"))
    return module_text(module)


def parsed(text: str, folder: Path) -> ModuleOp:
    """Reads IR as a tool does."""
    path = folder / "module.mlir"
    path.write_text(text)
    return read_module(str(path), SourceTexts())


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_refuted(fault: str, tmp_path: Path) -> None:
    name, old, new, kind = FAULTS[fault]
    text = tiles(name)
    assert old in text, "the fault is stale"
    found = certify(parsed(text.replace(old, new, 1), tmp_path))
    refuted = found.refuted
    assert refuted, "the fault changes a result"
    assert kind in {item.kind for item in refuted}
    assert all(" = " in item.reason for item in refuted), "a counterexample has sizes"


def test_the_last_of_equals_is_not_proved_to_be_the_first(tmp_path: Path) -> None:
    """Random elements have no equals, so that a run need not show it."""
    text = tiles("nearest")
    changed = text.replace("arith.cmpf olt", "arith.cmpf ole", 1)
    assert changed != text, "the fault is stale"
    assert set(certify(parsed(text, tmp_path)).count()) == {Verdict.PROVED}
    assert set(certify(parsed(changed, tmp_path)).count()) != {Verdict.PROVED}


def test_kernels_in_another_order_are_refuted(tmp_path: Path) -> None:
    first, second = "host.launch @parts_kernel(%A, %B, %parts)", "host.launch @s_kernel(%s, %parts)"
    text = tiles("parts")
    assert f"{first}\n    {second}" in text, "the fault is stale"
    changed = text.replace(f"{first}\n    {second}", f"{second}\n    {first}")
    refuted = certify(parsed(changed, tmp_path)).refuted
    assert "its kernel is launched later" in {item.reason for item in refuted}


def test_an_exchange_of_inputs_is_refuted(tmp_path: Path) -> None:
    """The wrapper may not pass one input for another."""
    text = tiles("squares")
    changed = text.replace("@f_kernel(%A, %B, %f)", "@f_kernel(%B, %A, %f)")
    for one, other in (("A", "B"),):
        head, kernel = changed.split("tile.kernel", 1)
        kernel = kernel.replace(f'"{one}"', '"?"').replace(f'"{other}"', f'"{one}"')
        changed = head + "tile.kernel" + kernel.replace('"?"', f'"{other}"')
    assert changed != text, "the fault is stale"
    refuted = certify(parsed(changed, tmp_path)).refuted
    assert Kind.VALUE in {item.kind for item in refuted}


@pytest.mark.parametrize(
    ("expression", "old", "new"),
    [
        ("where(A[x] > 0.25, A[x], 0)", "arith.constant 2.500000e-01", "arith.constant 2.50001e-01"),
        ("A[x] * 0.25", "0.25", "0.2500001"),
        ("maximum(A[x], 0.25)", "0.25", "0.2500001"),
    ],
)
def test_constants_that_are_close_are_told_apart(
    expression: str, old: str, new: str, tmp_path: Path
) -> None:
    program = f"Func f; In A; Var x; f[x] = {expression}; f.block(x:4); f.tensorize(x:4); f.compile();"
    module, _ = compile_text(program, "program")
    run_pipeline(module, default_pipeline("tile"))
    text = module_text(module)
    assert certify(parsed(text, tmp_path)).count() == {Verdict.PROVED: 6}
    body = text.index("tile.kernel")
    changed = text[:body] + text[body:].replace(old, new, 1)
    assert changed != text, "the fault is stale"
    found = certify(parsed(changed, tmp_path)).count()
    assert found[Verdict.PROVED] == 5
    assert not found[Verdict.ASSUMED]


def test_the_counterexample_names_the_element(tmp_path: Path) -> None:
    text = tiles("matmul").replace(
        "%y_mask = tile.mask %y below %y_size", "%y_mask = tile.mask %y below %x_size", 1
    )
    found = certify(parsed(text, tmp_path)).refuted
    (lost,) = [item for item in found if "each element" in item.statement]
    assert lost.reason.endswith("is written by no program instance")
    assert lost.sizes["y"] > lost.sizes["x"]


@pytest.mark.parametrize(("fault", "words"), [
    ("a load without a mask", r"it loads A\[\d+, \d+\], and the sizes are \[\d+, \d+\]"),
    ("a store without a mask", r"it stores mm\[\d+, \d+\], and the sizes are \[\d+, \d+\]"),
    ("blocks that overlap", r"mm\[\d+, \d+\] is written twice"),
])  # fmt: skip
def test_counterexamples_are_in_the_users_terms(
    fault: str, words: str, tmp_path: Path
) -> None:
    name, old, new, _ = FAULTS[fault]
    found = certify(parsed(tiles(name).replace(old, new, 1), tmp_path))
    assert any(re.search(words, item.reason) for item in found.refuted)


def test_what_is_right_is_not_refuted(tmp_path: Path) -> None:
    for name in ("matmul", "softmax_stable", "attention"):
        found = certify(parsed(tiles(name), tmp_path))
        assert {item.verdict for item in found.obligations} == {Verdict.PROVED}


def test_dt_opt_ends_with_an_error(tmp_path: Path) -> None:
    path = tmp_path / "wrong.mlir"
    path.write_text(tiles("sum_of_rows").replace("pad 0.0", "pad 1.0", 1))
    done = subprocess.run(
        [BIN / "dt-opt", path, "--certify"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1
    assert "error: the kernel of 'f' is wrong: " in done.stderr
    assert "help: no schedule may change a result" in done.stderr


DIFFERENCE = (
    "Func f;\nIn A;\nVar x, y;\nf[x, y] = A[x, y] - 2;\n"
    "f.block(x:8, y:16);\nf.tensorize(x:8, y:16);\n"
)


@pytest.mark.parametrize(
    "command", [("dtc",), ("dt-opt", "-p", "convert-dt-to-loop,apply-schedule")], ids=lambda x: x[0]
)
def test_the_directive_that_is_wrong_is_named(command: tuple[str, ...], tmp_path: Path) -> None:
    """A counterexample is an error at its line; other directives do without."""
    program = tmp_path / "doubled.dt"
    program.write_text(f"{DIFFERENCE}f.exchange_operands();\nf.num_warps(4);\nf.compile();\n")
    load = Path(__file__).with_name("exchange_operands.py")
    tool, *options = command
    done = subprocess.run(
        [BIN / tool, "--load", load, program, "--certify", *options],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"{program}:7:3: error: the kernel of 'f' is wrong: what is stored" in done.stderr
    assert "subf(2, a0) = subf(a0, 2): changes what is computed: 'f'[0, 0] is" in done.stderr
    # The values are numbers, and not residues of a field.
    assert re.search(r"'f'\[0, 0\] is -?\d\.\d+ within", done.stderr)
    assert "help: no schedule may change a result: the directive is at fault" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_pass_that_is_wrong_is_named(tmp_path: Path) -> None:
    """Where no directive is at fault, none is blamed."""
    program = tmp_path / "doubled.dt"
    program.write_text(f"{DIFFERENCE}f.compile();\n")
    load = Path(__file__).parents[1] / "semantics" / "wrong_passes.py"
    passes = "convert-dt-to-loop,loop-exchange-operands,apply-schedule"
    done = subprocess.run(
        [BIN / "dt-opt", "--load", load, program, "-p", passes, "--certify"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    assert "\nerror: the kernel of 'f' is wrong: what is stored in 'f'" in done.stderr
    assert "no schedule may change a result: the pass 'loop-exchange-operands' is at" in done.stderr
