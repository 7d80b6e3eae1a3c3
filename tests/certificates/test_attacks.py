"""Wrong IR that once was certified: each hole of the prover has a program that falls into it."""

from pathlib import Path

import pytest
from test_faults import parsed
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.certificates.certify import certify
from dt_mlir.certificates.obligation import Verdict
from dt_mlir.diagnostics import CompileError
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.printing import module_text


def tiles(text: str) -> str:
    """Returns a program at the `tile` level."""
    module, _ = compile_text(text, "program")
    run_pipeline(module, default_pipeline("tile"))
    return module_text(module)


def edited(text: str, *edits: tuple[str, str]) -> str:
    """Returns IR with texts in place of others, each of which must be there."""
    for old, new in edits:
        assert old in text, f"the attack is stale: {old}"
        text = text.replace(old, new, 1)
    return text


def refuted(text: str, folder: Path) -> bool:
    """Returns whether a module has an obligation that does not hold."""
    module: ModuleOp = parsed(text, folder)
    return bool(certify(module).refuted)


ROWS = "Func f; In A; Var x; RVar k; f[x] = {}; f.block(x:4); f.tensorize(x:4, k:8); f.compile();"
ROUNDED = (
    "Func s; In A, B; Var x, y; RVar k; s[x, y] = exp(rdot(A[x, k], B[k, y], k)); "
    "s.block(x:16, y:16); s.tensorize(x:16, y:16, k:16); s.precision({}); s.compile();"
)
PERSISTENT = (
    "Func f; In A; Var x, y; f[x, y] = A[x, y] * 2; f.block(x:4); f.tensorize(x:4, y:8); "
    "f.persistent(); f.compile();"
)
ALTERNATING = PERSISTENT.replace("persistent()", "persistent(rounds:alternating)")
TURNED = "%block = tile.alternate %number of %x_blocks by %programs"
CLAMPED = (
    "Func f; In A; Var x; f[x] = maximum(minimum(A[x], 1), -1); f.block(x:128); "
    "f.tensorize(x:128); f.compile();"
)
CAST = (
    "Func f; In T : i32, A; Var x; f[x] = A[x] + cast(T[x], f32); f.block(x:16); "
    "f.tensorize(x:16); f.compile();"
)
BOXES = """%jx, %jy = tile.joined_range j (x: 2 from %x_origin, y: 32 from %y_origin)
    %ix, %iy = tile.joined_range i (x: 32 from %x_origin, y: 2 from %y_origin)
    %jxm = tile.mask %jx below %x_size
    %jym = tile.mask %jy below %y_size
    %ixm = tile.mask %ix below %x_size
    %Ai = tile.load %A_ptr[%ix] masked [%ixm] pad 0.0
    %Aj = tile.rename %Ai to [%jx] : !tile.of<j: 64, f32>
    %Bj = tile.load %B_ptr[%jy] masked [%jym] pad 0.0
    %other = tile.map arith.mulf %Aj, %Bj : !tile.of<j: 64, f32>
    %x = tile.range x: 2 from %x_origin"""
ATTACKS = {
    "a walk that turns around beyond its blocks": (
        ALTERNATING, [(TURNED, TURNED.replace("%x_blocks", "%x_size"))],
    ),
    "a walk that turns around in a short round": (
        ALTERNATING,
        [(
            TURNED,
            "%more = arith.addi %x_blocks, %programs : index\n"
            "      %block = tile.alternate %number of %more by %programs",
        )],
    ),
    "an axis of two extents": (
        "Func f; In A; Var x; f[x] = A[x] * 2; f.block(x:8); f.tensorize(x:8); f.compile();",
        [
            (
                "%x = tile.range x: 8 from %x_origin",
                "%dummy = tile.range x: 8 from %x_origin\n    %x = tile.range x: 4 from %x_origin",
            )
        ],
    ),
    "a walk in a walk": (
        "Func f; In A, B; Var x; Var y = size(A, 0); f[x, y] = A[x] * B[y]; f.block(x:8); "
        "f.tensorize(x:8, y:8); f.persistent(); f.compile();",
        [
            (
                "scf.for %y_start = %1 to %y_size step %0 {",
                "scf.for %block2 = %pid to %x_blocks step %programs {\n"
                "        %y_start = arith.muli %block2, %0 : index",
            )
        ],
    ),
    "instances that all do everything": (
        PERSISTENT, [("scf.for %block = %pid to %x_blocks step %programs",
                      "%one = arith.constant 1 : index\n    %none = arith.constant 0 : index\n"
                      "    scf.for %block = %none to %x_blocks step %one")],
    ),
    "a product that loses a tile under a precision": (
        ROUNDED.format("tf32"),
        [("%k_start = %3 to %k_size step %0", "%k_start = %0 to %k_size step %0")],
    ),
    "another base under a precision": (
        ROUNDED.format("tf32"),
        [("1.44269502", "1.3")],
    ),
    "a result that is not finite under a precision": (
        ROUNDED.format("tf32"),
        [("1.44269502", "0x7fc00000")],
    ),
    "a result that is not finite under a precision that rounds nothing": (
        ROUNDED.format("ieee"),
        [("1.44269502", "0x7fc00000")],
    ),
    "a fault behind a difference that is allowed": (
        "Func p, o; In A; In V : bf16; Var x, d; RVar k; p[x, k] = exp(A[x, k]); "
        "o[x, d] = rdot(p[x, k], V[k, d], k); o.precision(narrow); o.block(x:16, d:16); "
        "o.tensorize(x:16, d:16, k:16); o.compile();",
        [("%acc = scf.for", "%most = arith.constant 24 : index\n"
          "    %long = arith.cmpi sgt, %k_size, %most : index\n"
          "    %end = arith.select %long, %3, %k_size : index\n    %acc = scf.for"),
         ("%k_start = %3 to %k_size step", "%k_start = %3 to %end step")],
    ),
    "a sum that overflows whatever it is of": (
        "Func p, o; In A, B; Var x; RVar k; p[x] = rsum(exp(A[x, k]), k); "
        "o[x] = rsum(exp(A[x, k]) * B[x, k], k) / p[x]; o.online(k); o.block(x:4); "
        "o.tensorize(x:4, k:8); o.compile();",
        [("1.44269502", "0x7fc00000")],
    ),
    "a repair that later trips do otherwise": (
        ROWS.format("rsum(where(k < 8, A[x, k], 0), k)"),
        [
            (
                "%10 = arith.addf %acc_2, %9 : f32",
                "%z = arith.constant 1.0 : f32\n        %h = arith.select %7, %z, %8 : f32\n"
                "        %q = arith.mulf %acc_2, %h : f32\n        %10 = arith.addf %q, %9 : f32",
            )
        ],
    ),
    "a sum that leans on a value that is none": (
        ROWS.format("rsum(A[x, k], k)"),
        [
            ("%4 = tile.fill", "%one = arith.constant 1.0 : f32\n"
             "    %ones = tile.fill %one : !tile.of<x: 4, k: 8, f32>\n    %4 = tile.fill"),
            ("%acc = scf.for", "%acc, %rest = scf.for"),
            ("iter_args(%acc_1 = %4)", "iter_args(%acc_1 = %4, %j = %ones)"),
            ("-> (!tile.of<x: 4, k: 8, f32>)",
             "-> (!tile.of<x: 4, k: 8, f32>, !tile.of<x: 4, k: 8, f32>)"),
            ("%5 = tile.map arith.addf %acc_1, %A", "%l = tile.map arith.addf %acc_1, %j\n"
             "      %5 = tile.map arith.addf %l, %A\n      %zero = tile.map arith.mulf %A, 0.0\n"
             "      %twice = tile.map arith.mulf %j, 2.0\n"
             "      %next = tile.map arith.addf %twice, %zero"),
            ("scf.yield %5 : !tile.of<x: 4, k: 8, f32>",
             "scf.yield %5, %next : !tile.of<x: 4, k: 8, f32>, !tile.of<x: 4, k: 8, f32>"),
        ],
    ),
    "a sum that is not finite in the program alone": (
        "Func top, mean, f; In A, B; Var x; RVar k; top[x] = rmax(A[x, k], k); "
        "mean[x] = rmean(B[x, k], k); "
        "f[x] = rsum(exp(A[x, k] - top[x]) * (A[x, k] - mean[x]) ** 2, k); "
        "f.online(k); f.tensorize(k:16); f.compile();",
        [("%acc_7 = %6", "%acc_7 = %12")],
    ),
    "bounds that no random number comes near": (
        CLAMPED, [("arith.minimumf %2, ", "arith.minimumf %m, "),
                  ("%4 = arith.minimumf", "%h = arith.constant 0.5 : f32\n"
                   "      %m = arith.subf %2, %h : f32\n      %4 = arith.minimumf")],
    ),
    "the magnitude of an integer that is loaded": (
        CAST, [("arith.sitofp %2 :", "arith.sitofp %m :"),
               ("%4 = arith.sitofp", "%m = math.absi %2 : i32\n      %4 = arith.sitofp")],
    ),
    "the low bits of an integer that is loaded": (
        CAST, [("arith.sitofp %2 :", "arith.sitofp %m :"),
               ("%4 = arith.sitofp", "%c = arith.constant 1048575 : i32\n"
                "      %m = arith.andi %2, %c : i32\n      %4 = arith.sitofp")],
    ),
    "padding of a copy that is not zero": (
        "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.cache_read(A, c); "
        "c.align_storage(k:16); c.block(x:16, k:16); c.tensorize(x:16, k:16); f.block(x:16); "
        "f.tensorize(x:16, k:16); f.compile();",
        [("%c = tile.load %A_ptr[%x, %k] masked [%x_mask, %k_mask] pad 0.0",
          "%c = tile.load %A_ptr[%x, %k] masked [%x_mask, %k_mask] pad 7.0")],
    ),
    "rows of nothing but infinities": (
        "Func s, m, p, o; In A, B, V; Var x; RVar k; "
        "s[x, k] = where(k <= x and k + 4 > x, A[x] * B[k], -inf); m[x] = rmax(s[x, k], k); "
        "p[x] = rsum(exp(s[x, k] - m[x]), k); "
        "o[x] = rsum(exp(s[x, k] - m[x]) * V[k], k) / p[x]; o.online(k); o.block(x:16); "
        "o.tensorize(x:16, k:16); o.compile();",
        [("tile.yield %16 : f32", "tile.yield %12 : f32")],
    ),
    "a load at an index of data that nothing uses": (
        CAST,
        [("%1 = tile.map (%2 = %T, %3 = %A) {", "%j = tile.map (%t = %T) {\n"
          "      %m = math.absi %t : i32\n      %n = arith.index_cast %m : i32 to index\n"
          "      tile.yield %n : index\n    }\n"
          "    %far = tile.load %A_ptr[%j] masked [%x_mask] pad 0.0\n"
          "    %1 = tile.map (%2 = %T, %3 = %A, %ff = %far, %ii = %x) {\n"
          "      %zero = arith.constant 0 : index\n"
          "      %never = arith.cmpi slt, %ii, %zero : index"),
         ("tile.yield %5 : f32", "%r = arith.select %never, %ff, %5 : f32\n"
          "      tile.yield %r : f32")],
    ),
    "a result that is summed in memory": (
        CLAMPED, [("host.alloc f[x](%x) :", "host.alloc f[x](%x) summed :"),
                  ('root = "f"', 'root = "f", summed = ["f"]')],
    ),
    "a mask of which two promises are true": (
        CLAMPED,
        [("%f_ptr[%x] masked [%x_mask]", "%f_ptr[%x] masked [%x_mask, %few]"),
         ("%1 = tile.map", "%c1 = arith.constant 1 : index\n"
          "    %c100 = arith.constant 100 : index\n"
          "    %few = tile.mask %x below %c100 within %c1 divisor 128\n    %1 = tile.map")],
    ),
    "a program id that is divided by a negative number": (
        CLAMPED,
        [("masked [%x_mask]\n  }", "masked [%x_mask]\n    %neg = arith.constant -2 : index\n"
          "    %q = arith.divsi %pid, %neg : index\n"
          "    %far = tile.range z: 128 over x from %q\n"
          "    %moved = tile.rename %1 to [%far] : !tile.of<z: 128, f32>\n"
          "    tile.store %moved, %f_ptr[%far]\n  }")],
    ),
    "a result of another type": (
        CLAMPED,
        [("-> memref<?xf32>", "-> memref<?xf16>"),
         ("host.alloc f[x](%x) : memref<?xf32>", "host.alloc f[x](%x) : memref<?xf16>"),
         ("%f_ptr: memref<?xf32>", "%f_ptr: memref<?xf16>"),
         ("tile.yield %6 : f32", "%7 = arith.truncf %6 : f32 to f16\n"
          "      tile.yield %7 : f16")],
    ),
    "a result of other axes": (
        "Func f, h; In A; Var x, y, z; f[x, y] = A[x] * 2; h[x, z] = A[x] * 3; "
        "f.compile(); h.compile();",
        [("host.alloc h[x, z](%x, %z)", "host.alloc h[x, y](%x, %y)"),
         ('{host.name = "h", host.axes = ["x", "z"]}', '{host.name = "h", host.axes = ["x", "y"]}'),
         ('labels = ["x", "z"],\n      root = "h"', 'labels = ["x", "y"],\n      root = "h"'),
         ("tile.size z", "tile.size y")],
    ),
    "an element that only many have": (
        "Func f, h; In A, B; Var x, y; f[x] = A[x] * 2; h[y] = B[y] + B[3]; f.block(x:128); "
        "f.tensorize(x:128); f.compile(); h.compile();",
        [("masked [%x_mask]\n  }", "masked [%x_mask, %hole]\n  }"),
         ("tile.store %1, %f_ptr", "%hole = tile.map (%ii = %x) {\n"
          "      %c = arith.constant 1000 : index\n"
          "      %ne = arith.cmpi ne, %ii, %c : index\n      tile.yield %ne : i1\n    }\n"
          "    tile.store %1, %f_ptr")],
    ),
    "an axis under the name of another box": (
        "Func f; In A, B; Var x, y; f[x, y] = A[x] * B[y]; f.block(x:2, y:32); "
        "f.tensorize(x:2, y:32); f.compile();",
        [("%x = tile.range x: 2 from %x_origin", BOXES),
         ("%f_ptr[%x, %y] masked [%x_mask, %y_mask]", "%f_ptr[%x, %y] masked [%x_mask, %y_mask]\n"
          "    tile.store %other, %f_ptr[%jx, %jy] masked [%jxm, %jym]")],
    ),
    "an index that is another one at 0": (
        "Func f; In A; Var x; f[x] = A[x] + cast(x, f32); f.block(x:16); f.tensorize(x:16); "
        "f.compile();",
        [("%4 = arith.index_cast %2 :", "%one = arith.constant 1 : index\n"
          "      %next = arith.addi %2, %one : index\n"
          "      %part = arith.divsi %one, %next : index\n"
          "      %sum = arith.addi %2, %part : index\n      %4 = arith.index_cast %sum :")],
    ),
    "a multiple of the prime of the field": (
        CLAMPED, [("tile.yield %6 : f32", "%more = arith.constant 2147483648.0 : f32\n"
                   "      %less = arith.constant 69.0 : f32\n"
                   "      %7 = arith.addf %6, %more : f32\n"
                   "      %8 = arith.subf %7, %less : f32\n      tile.yield %8 : f32")],
    ),
    "a store in a branch": (
        CLAMPED,
        [("masked [%x_mask]\n  }", "masked [%x_mask]\n    %none = arith.constant 0 : index\n"
          "    %is = arith.cmpi sgt, %x_size, %none : index\n    scf.if %is {\n"
          "      %bad = tile.map arith.mulf %1, 3.0\n"
          "      tile.store %bad, %f_ptr[%x] masked [%x_mask]\n    }\n  }")],
    ),
    "a loop that does not end": (
        CLAMPED,
        [("masked [%x_mask]\n  }", "masked [%x_mask]\n    %none = arith.constant 0 : index\n"
          "    scf.for %t = %none to %x_size step %none {\n    }\n  }")],
    ),
    "a power of infinity": (
        CLAMPED, [("tile.yield %6 : f32", "%many = arith.constant 0x7f800000 : f32\n"
                   "      %7 = math.powf %6, %many : f32\n      tile.yield %7 : f32")],
    ),
    "a question about NaN that is not asked": (
        "Func f; In A; Var x; f[x] = where(A[x] != A[x], 0.0, A[x]); f.block(x:16); "
        "f.tensorize(x:16); f.compile();",
        [("%5 = arith.select %3, %4, %2 :", "%5 = arith.select %3, %2, %2 :")],
    ),
    "a search for an extreme that overlooks NaN": (
        "Func f; In A; Var x; RVar k; f[x] = rargmax(A[x, k], k); f.compile();",
        [("arith.ori %5, %8", "arith.ori %5, %5")],
    ),
    "a small summand": (
        "Func f; In A; Var x; f[x] = exp(4 * A[x]); f.block(x:8); f.tensorize(x:8); f.compile();",
        [("tile.yield %5 : f32", "%n = arith.constant 1.0e-04 : f32\n"
          "      %m = arith.addf %5, %n : f32\n      tile.yield %m : f32")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_refuted(attack: str, tmp_path: Path) -> None:
    program, edits = ATTACKS[attack]
    text = tiles(program)
    assert not refuted(text, tmp_path)
    assert refuted(edited(text, *edits), tmp_path)


UNPROVED = {
    "factors of several scalars, which stand in any order": (
        "SIn s, t; Func f; In A; Var x; f[x] = A[x] * (s + t); f.block(x:4); f.tensorize(x:4); "
        "f.compile();",
        [("%1 = arith.addf %s_ptr, %t_ptr : f32", "%bs, %as = tile.factors %s_ptr : f32 to f32\n"
          "    %bt, %at = tile.factors %t_ptr : f32 to f32\n"
          "    %p = arith.mulf %bs, %at : f32\n    %q = arith.mulf %bt, %as : f32\n"
          "    %1 = arith.addf %p, %q : f32")],
    ),
    "a narrower type": (
        CAST,
        [("%4 = arith.sitofp %2 :", "%n = arith.trunci %2 : i32 to i8\n"
          "      %w = arith.extsi %n : i8 to i32\n      %4 = arith.sitofp %w :")],
    ),
    "a bound beyond the order of the field": (
        "Func f; In A; Var x; f[x] = A[x] * 2; f.block(x:8); f.tensorize(x:8); f.compile();",
        [("%1 = tile.map arith.mulf %A, 2.0", "%m = tile.map arith.mulf %A, 2.0\n"
          "    %1 = tile.map arith.minimumf %m, 4194300.0")],
    ),
    "0 times a factor outside of a domain, which may be infinite": (
        "Func f; In A, B; Var x; RVar k; f[x] = rsum(A[x, k] * B[k], k, k <= x); f.block(x:4); "
        "f.tensorize(x:4, k:8); f.compile();",
        [("        %8 = arith.mulf %A_1, %B_1 : f32\n", ""),
         ("arith.select %9, %8, %10 : f32", "arith.select %9, %A_1, %10 : f32"),
         ("arith.addf %acc_2, %11", "arith.addf %acc_2, %8"),
         ("%12 = arith.addf", "%8 = arith.mulf %11, %B_1 : f32\n        %12 = arith.addf")],
    ),
    "a comparison of truth values, which has no term": (
        CLAMPED,
        [("tile.yield %6 : f32", "%a = arith.cmpf olt, %4, %6 : f32\n"
          "      %b = arith.constant 1 : i1\n      %c = arith.constant 0 : i1\n"
          "      %d = arith.cmpi slt, %b, %c : i1\n      %e = arith.cmpi slt, %a, %d : i1\n"
          "      %7 = arith.select %e, %4, %6 : f32\n      tile.yield %7 : f32")],
    ),
    "a comparison with a number that no point meets": (
        CAST,
        [("%1 = tile.map (%2 = %T, %3 = %A) {", "%1 = tile.map (%2 = %T, %3 = %A, %ii = %x) {\n"
          "      %q = arith.index_cast %ii : index to i64\n"
          "      %z = arith.constant 0 : i64\n      %o = arith.ori %q, %z : i64\n"
          "      %n = arith.constant 77 : i64\n      %is = arith.cmpi eq, %o, %n : i64\n"
          "      %bad = arith.constant 1000.0 : f32"),
         ("tile.yield %5 : f32", "%r = arith.select %is, %bad, %5 : f32\n"
          "      tile.yield %r : f32")],
    ),
}  # fmt: skip
"""Wrong IR that runs need not refute, but that is not proved."""


@pytest.mark.parametrize("attack", UNPROVED)
def test_an_attack_is_not_proved(attack: str, tmp_path: Path) -> None:
    program, edits = UNPROVED[attack]
    text = tiles(program)
    for source, proved in ((text, True), (edited(text, *edits), False)):
        found = certify(parsed(source, tmp_path), test=False)
        assert (found.count()[Verdict.PROVED] == len(found.obligations)) is proved


def test_a_schedule_that_defines_something_is_refused(tmp_path: Path) -> None:
    text = edited(tiles(CLAMPED), ('"f.block(x:128);"', '"f.block(x:128); Func g; g[x] = A[x];"'))
    with pytest.raises(CompileError, match="the schedule of the host function defines something"):
        certify(parsed(text, tmp_path))


def test_a_factor_that_moves_and_is_forgotten_is_not_proved(tmp_path: Path) -> None:
    """The factors of a scalar are 1 and the scalar where that is positive."""
    text = tiles(ROWS.format("rmax(A[x, k] * 3, k)"))
    wrong = edited(
        text,
        ("%4 = tile.fill", "%three = arith.constant 3.0 : f32\n"
         "    %before, %after = tile.factors %three : f32 to f32\n    %4 = tile.fill"),
        ("(%A_1 = %A, %acc_2 = %acc_1) {", "(%A_1 = %A, %acc_2 = %acc_1, %by = %before) {"),
        ("arith.mulf %A_1, %6 : f32", "arith.mulf %A_1, %by : f32"),
    )  # fmt: skip
    counts = certify(parsed(wrong, tmp_path)).count()
    assert counts[Verdict.PROVED] < sum(counts.values())
    right = edited(
        wrong,
        ("%acc_2 = tile.reduce maximum %acc along k",
         "%most = tile.reduce maximum %acc along k\n"
         "    %acc_2 = tile.map arith.mulf %most, %after"),
    )  # fmt: skip
    assert certify(parsed(right, tmp_path)).count() == {Verdict.PROVED: 10}


@pytest.mark.parametrize(
    "edit",
    [
        ("%y_origin = ", "%other = arith.remsi %pid, %y_blocks : index\n    %y_origin = "),
        ("%x_origin = ", "%unused = arith.divsi %pid, %0 : index\n    %x_origin = "),
    ],
)
def test_a_program_id_that_is_divided_twice(edit: tuple[str, str], tmp_path: Path) -> None:
    program = (
        "Func f; In A; Var x, y; f[x, y] = A[x, y] * 2; f.block(x:4, y:8); "
        "f.tensorize(x:4, y:8); f.map(x, y); f.compile();"
    )
    text = tiles(program)
    assert not refuted(edited(text, edit), tmp_path)


def test_a_walk_that_carries_a_value(tmp_path: Path) -> None:
    text = edited(
        tiles(PERSISTENT),
        ("to %x_blocks step %programs {",
         "to %x_blocks step %programs iter_args(%n = %pid) -> (index) {"),
    )  # fmt: skip
    start = text.index("iter_args(%n = %pid)")
    end = text.index("\n    }", text.index("tile.store", start))
    text = text[:end] + "\n      scf.yield %n : index" + text[end:]
    text = text.replace("scf.for %block", "%last = scf.for %block", 1)
    assert not refuted(text, tmp_path)


GATHER = (
    "In T; In ids : i64; Func f; Var t, c; f[t, c] = T[ids[t], c]; f.block(t:4); "
    "f.tensorize(t:4, c:16); f.compile();"
)


def test_another_element_at_an_index_of_data_is_refuted(tmp_path: Path) -> None:
    text = tiles(GATHER)
    assert {item.verdict for item in certify(parsed(text, tmp_path)).obligations} == {
        Verdict.PROVED
    }
    wrong = edited(text, ("arith.minsi %7, %8", "arith.subi %8, %7"))
    assert refuted(wrong, tmp_path)


def test_an_index_of_data_that_is_not_limited_is_not_proved(tmp_path: Path) -> None:
    text = edited(tiles(GATHER), ("arith.index_cast %11", "arith.index_cast %10"))
    found = certify(parsed(text, tmp_path), test=False).obligations
    (inside,) = [item for item in found if "loads of 'T'" in item.statement]
    assert inside.verdict is Verdict.REFUTED


def test_a_store_in_a_loop_that_has_no_term_is_not_proved(tmp_path: Path) -> None:
    """A scalar has no index that would say so."""
    text = edited(
        tiles("Func f; In A; RVar k; f[] = rsum(A[k], k); f.compile();"),
        ("tile.store %acc, %f_ptr[]",
         "%n = tile.alternate %1 of %k_size by %k_size\n"
         "    scf.for %t = %1 to %n step %2 {\n      tile.store %acc, %f_ptr[]\n    }"),
    )  # fmt: skip
    found = certify(parsed(text, tmp_path), test=False).obligations
    written = [item for item in found if item.statement.endswith(("is written", "twice"))]
    assert len(written) == 2
    assert not any(item.verdict is Verdict.PROVED for item in written)
    assert refuted(text, tmp_path)


def test_a_loop_that_ends_where_no_usual_size_does(tmp_path: Path) -> None:
    """The solver finds a size at which the sum lacks an element; there the program is run."""
    text = tiles(ROWS.format("rsum(A[x, k], k)"))

    def ends_at(most: int) -> str:
        return edited(
            text,
            ("%acc = scf.for", f"%most = arith.constant {most} : index\n"
             "    %end = arith.minsi %k_size, %most : index\n    %acc = scf.for"),
            ("%k_start = %2 to %k_size step", "%k_start = %2 to %end step"),
        )  # fmt: skip

    assert refuted(ends_at(304), tmp_path)
    # What is too large to run is assumed, with what is known of it.
    found = certify(parsed(ends_at(10**9), tmp_path)).obligations
    (doubted,) = [item for item in found if item.verdict is Verdict.ASSUMED]
    assert doubted.reason.startswith("it fails with ")
    assert "it cannot be run here: " in doubted.reason


@pytest.mark.parametrize("defined", ["f[x, y] = rsum(A[x, k], k)", "f[] = rsum(A[0, k], k)"])
def test_an_algorithm_of_other_axes_is_refuted(defined: str, tmp_path: Path) -> None:
    wrong = edited(
        tiles(ROWS.format("rsum(A[x, k], k)")),
        ('"Var x;"', '"Var x, y;"'), ("f[x] = rsum(A[x, k], k)", defined),
    )  # fmt: skip
    found = certify(parsed(wrong, tmp_path)).refuted
    assert [item.statement for item in found] == ["it takes and returns what the algorithm says"]
