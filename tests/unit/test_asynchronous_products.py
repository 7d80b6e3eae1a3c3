"""Registers that asynchronous products read are left alone until the products are done."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import pytest

from dt_mlir.backend.triton import product_waits
from dt_mlir.compiler import compile_program
from dt_mlir.runtime.asynchronous_products import overwritten_factor
from dt_mlir.runtime.execute import prepare_triton

START = "HGMMA.64x64x16.F32 R24, R88, gdesc[UR4], R24, gsb0 ;"
LOAD = "LDSM.16.M88.4 R88, [R6] ;"


def wait(left: int) -> str:
    return f"WARPGROUP.DEPBAR.LE gsb0, {left:#x} ;"


def assembly(lines: list[str]) -> str:
    """Returns lines as nvdisasm prints them: instructions with their places, and labels."""
    return "\n".join(
        line if line.endswith(":") else f"        /*{number * 16:04x}*/    {line}"
        for number, line in enumerate(lines)
    )


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ([LOAD, START, wait(0), LOAD, START], None),
        ([LOAD, START, LOAD], 88),
        ([START, "FADD R91, R3, R4 ;"], 91),
        ([START, "FADD R92, R3, R4 ;"], None),
        ([START, "FADD R3, R88, R4 ;", "STS [R88], R3 ;"], None),
        ([START, "LDG.E.64 R87, desc[UR4][R2.64] ;"], 88),
        ([START, "LDS.128 R86, [R2] ;"], 88),
        ([START, "IMAD.WIDE R87, R3, 0x4, R6 ;"], 88),
        ([START, "ISETP.NE.AND P0, PT, R88, RZ, PT ;"], None),
        ([START, "SHFL.BFLY PT, R88, R3, 0x1, 0x1f ;"], 88),
        # Of two groups one may be under way: the last.
        ([START, START.replace("R88", "R96"), wait(1), LOAD], None),
        ([START, START.replace("R88", "R96"), wait(1), LOAD.replace("R88", "R99")], 99),
        # Products of one group end together.
        ([START.replace(", gsb0", ""), START.replace("R88", "R96"), wait(1), LOAD], 88),
        # The next trip of a loop.
        ([".L_x_0:", LOAD, START, "@P0 BRA `(.L_x_0) ;", wait(0)], 88),
        ([".L_x_0:", LOAD, START, wait(0), "@P0 BRA `(.L_x_0) ;"], None),
        ([".L_x_0:", wait(0), LOAD, START, "@P0 BRA `(.L_x_0) ;", "EXIT ;"], None),
        ([START, "EXIT ;", ".L_x_0:", LOAD], None),
        ([START, "@!P0 EXIT ;", LOAD], 88),
        ([START, "BRA `(.L_x_1) ;", LOAD, ".L_x_1:", "EXIT ;"], None),
        ([START, "BRA P1, `(.L_x_1) ;", LOAD, ".L_x_1:", "EXIT ;"], 88),
        ([START, "RET.REL.NODEC R20 `(f) ;", LOAD], None),
        ([START, "@P0 WARPGROUP.DEPBAR.LE gsb0, 0x0 ;", LOAD], 88),
        (["@P0 BRA `(.L_x_1) ;", START, ".L_x_1:", LOAD], 88),
        (["@P0 BRA `(.L_x_1) ;", START, wait(0), ".L_x_1:", LOAD], None),
        ([START, "I2F.F64 R87, R9 ;"], 88),
        ([START, "F2I.S64.F32 R87, R9 ;"], 88),
        ([START, "F2F.F32.F64 R87, R8 ;"], None),
        ([START, "NANOSLEEP R88 ;"], None),
        # Elements of 8 bits.
        ([START.replace("HGMMA.64x64x16.F32", "QGMMA.64x64x32.F32.E4M3.E4M3"), LOAD], 88),
        ([START.replace("HGMMA.64x64x16.F32", "IGMMA.64x64x32.S8.S8"), LOAD], 88),
        # Nothing says what leads to a label here.
        (["BRX R2 -0x10 ;", ".L_x_0:", START, LOAD], 88),
        (["HGMMA.64x64x16.F32 R24, gdesc[UR4], R24, gsb0 ;", LOAD], None),
    ],
)  # fmt: skip
def test_what_products_still_read(lines: list[str], wanted: int | None) -> None:
    assert overwritten_factor(assembly(lines)) == wanted


def test_branches_between_products_take_no_time() -> None:
    lines = [
        line for number in range(60)
        for line in (f"@P0 BRA `(.L_x_{number}) ;", START.replace("R88", f"R{92 + number}"),
                     f".L_x_{number}:")
    ]  # fmt: skip
    assert overwritten_factor(assembly([*lines, "EXIT ;"])) is None
    assert overwritten_factor(assembly([*lines, LOAD.replace("R88", "R151"), "EXIT ;"])) == 151


PRODUCT = (
    "Func f : bf16, s : bf16; In A : bf16, B : bf16; Var x, y; RVar k; s[x, k] = A[x, k] * 2; "
    "f[x, y] = rdot(s[x, k], B[k, y], k); s.inline(); "
)
WINDOW = (
    "Func f : bf16; In X : bf16, W : bf16; Var n, p = size(X, 1), q = size(X, 2), o; "
    "RVar r = 3, s = 3, c; f[n, p, q, o] = rdot(constant_exterior("
    "X[n, p + r - 1, q + s - 1, c], 0), W[o, r, s, c], r, s, c); f.descriptor(X, W); "
)
TILES = "f.block(x:128, y:128); f.tensorize(x:128, y:128, k:64); f.num_warps(8); f.num_stages(3);"
BOXES = (
    "f.block(n:2, p:8, q:8, o:128); f.tensorize(n:2, p:8, q:8, o:128, c:64); "
    "f.num_warps(8); f.num_stages(3);"
)
PROGRAMS = {
    "a computed factor": PRODUCT + TILES,
    "a computed factor, copied": PRODUCT + TILES + "f.descriptor(A, B);",
    "boxes": WINDOW + BOXES,
    "elements of 8 bits": (
        "Func f : f32, s : f8e4m3; In A : f8e4m3, B : f8e4m3; Var x, y; RVar k; "
        "s[x, k] = exp(cast(A[x, k], f32)); f[x, y] = rdot(s[x, k], B[y, k], k); s.inline(); "
    ) + TILES,
}

# Triton, which interprets kernels in this process, compiles them in another.
CHILD = """
import sys
from dt_mlir.analysis.interface import Interface
from dt_mlir.compiler import compile_program
from dt_mlir.runtime.ahead_of_time import compile_for
program = compile_program(sys.argv[1], "product.dt")
source = program.source
if sys.argv[2]:
    source = source.replace(sys.argv[2], "            pass")
sizes = dict.fromkeys(Interface.of(program.algorithm).labels, 256) | {"k": 4096, "r": 3, "s": 3}
for kernel in compile_for(program.module, source, "sm_90", sizes):
    print(kernel.name, kernel.problems())
"""


def problems(text: str, left_out: str) -> list[str]:
    """Returns what is wrong with a program's kernels for sm_90.

    Args:
        text: the program.
        left_out: a statement that is replaced by one that does nothing.
    """
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    with tempfile.TemporaryDirectory() as cache:
        environment["DT_MLIR_CACHE"] = cache
        said = subprocess.run(
            [sys.executable, "-c", CHILD, text + "f.compile();", left_out],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
    return said.stdout.splitlines()


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_wait(name: str) -> None:
    # Tests behind this one run kernels here.
    prepare_triton()
    from triton import knobs

    text = PROGRAMS[name]
    source = compile_program(text + "f.compile();", "product.dt").source
    call = f"            {product_waits.FINISH}()"
    assert source.count(call) == 1
    kernels = problems(text, "")
    assert all(line.endswith("[]") for line in kernels), kernels
    # The fault that the wait is for, by its name; of factors of 8 bits ptxas may keep two.
    if "8 bits" not in name and tuple(map(int, knobs.nvidia.ptxas.version.split("."))) < (13, 3):
        without = problems(text, call)
        assert "which a product under way still reads" in without[-1], without


@pytest.mark.parametrize(
    "text",
    [
        "Func f : bf16; In A : bf16, B : bf16; Var x, y; RVar k; "
        "f[x, y] = rdot(A[x, k], B[k, y], k); " + TILES,
        "Func f : bf16; In A : bf16, B : bf16; Var x, y; RVar k; "
        "f[x, y] = rdot(A[k, x], B[y, k], k); f.descriptor(A, B); " + TILES,
        # What is computed before the loop stays where it is.
        PRODUCT + "f.block(x:128, y:128); f.tensorize(x:128, y:128, k:0);",
        # The second factor lies in shared memory.
        "Func f : bf16, s : bf16; In A : bf16, B : bf16; Var x, y; RVar k; s[k, y] = B[k, y] * 2; "
        "f[x, y] = rdot(A[x, k], s[k, y], k); s.inline(); " + TILES,
    ],
)
def test_others_do_not(text: str) -> None:
    assert "HOPPER" not in compile_program(text + "f.compile();", "product.dt").source
