"""Schedules that the compiler writes: what they are, and that they compute the algorithm."""

import re
import time
from pathlib import Path
from typing import Any

import pytest
from references import REFERENCES
from scheduled import ATTENTION, MATMUL, SOFTMAX, algorithm, as_written, schedule, texts

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.auto import assumed_sizes, auto_schedule, with_schedule
from dt_mlir.autoscheduling.evaluation import Evaluator
from dt_mlir.autoscheduling.likeness import Likeness
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.backend.python_module import emit_module
from dt_mlir.costs.device import find_device
from dt_mlir.diagnostics import CompileError
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.runtime.execute import run_and_check

OPERATORS = Path(__file__).parents[1] / "operators"
PROGRAMS = OPERATORS.parents[1] / "benchmarks" / "programs"
NAMES = sorted(path.stem for path in OPERATORS.glob("*.dt"))


def test_a_product() -> None:
    found = texts(schedule(MATMUL, {"x": 4096, "y": 4096, "k": 4096}))
    assert found[0] in ("mm.block(x:128, y:256);", "mm.block(x:256, y:128);")
    assert found[2] == "mm.map(x:x1/8, y, x1);"
    assert found[3:] == [
        "mm.persistent();", "mm.warp_specialize(registers:240);", "mm.num_warps(8);",
        "mm.num_stages(4);",
    ]  # fmt: skip


def test_a_product_elsewhere() -> None:
    found = texts(schedule(MATMUL, {"x": 4096, "y": 4096, "k": 4096}, "a100"))
    assert not {line.partition("(")[0] for line in found} & {"mm.persistent", "mm.warp_specialize"}


def test_attention_whose_head_is_fixed_is_specialized() -> None:
    text = ATTENTION.replace("i, d;", "i, d = 128;").replace("j, c;", "j, c = 128;")
    found = texts(schedule(text, {"h": 64, "i": 4096, "j": 4096}))
    # Queries are held, and waited for in each block; what starts an instance is done once.
    assert found[2:] == [
        "o.block(h:1, i:128);", "o.tensorize(i:128, d:0, j:128, c:0);", "o.map(h, i);",
        "o.persistent();", "o.warp_specialize(registers:240);", "o.num_warps(8);",
        "o.num_stages(2);",
    ]  # fmt: skip
    for of_keys in ("rmax(s[h, i, j], j", "rsum(p[h, i, j], j", "rdot(p[h, i, j], V[h, j, d], j"):
        text = text.replace(of_keys, f"{of_keys}, j <= i")
    found = texts(schedule(text, {"h": 64, "i": 4096, "j": 4096}))
    assert "o.map(h, i:descending);" in found
    assert "o.persistent(rounds:alternating);" in found
    assert "o.warp_specialize(registers:240);" in found


CONVOLUTION = """
Func f : f16; In X : f16, W : f16; Var n, p = size(X, 1), q = size(X, 2), o; RVar r = 3, s = 3, c;
f[n, p, q, o] = rdot(constant_exterior(X[n, p + r - 1, q + s - 1, c], 0), W[o, r, s, c], r, s, c);
f.compile();
"""
HEADS = """
Func q : bf16; In X : bf16, Q : bf16; Var h, i, d; RVar c;
q[h, i, d] = rdot(X[i, c], Q[h, c, d], c);
q.compile();
"""
STRIDED = CONVOLUTION.replace("p + r", "2 * p + r").replace("q + s", "2 * q + s")


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        # Rows are no multiples of 16 bytes.
        (CONVOLUTION, {"n": 32, "X_1": 56, "X_2": 56, "X_3": 100, "o": 256, "c": 100}),
        # Tensor cores take no f32 from shared memory.
        (MATMUL.replace(": f16", ""), {"x": 4096, "y": 4096, "k": 4096}),
        # What the copy engine would have to move is no box of its tensor.
        (STRIDED, {"n": 32, "X_1": 56, "X_2": 56, "X_3": 256, "o": 256, "c": 256}),
        # Too little to do.
        (MATMUL, {"x": 256, "y": 256, "k": 256}),
    ],
)
def test_what_is_not_specialized(text: str, sizes: dict[str, int]) -> None:
    assert "warp_specialize" not in " ".join(texts(schedule(text, sizes)))


@pytest.mark.parametrize(("head", "found"), [(128, "d:128, c:128"), (80, "d:80, c:80"), (64, "")])
def test_open_heads_are_those_that_warps_are_specialized_for(head: int, found: str) -> None:
    """Heads of 64 are as fast without."""
    sizes = {"h": 64, "i": 4096, "j": 4096, "c": head, "d": head}
    wanted = [f"o.warp_specialize(registers:240, {found});"] if found else []
    directives = texts(schedule(ATTENTION, sizes))
    assert [item for item in directives if "warp_specialize" in item] == wanted


def test_a_flat_product_is_split() -> None:
    found = texts(schedule(MATMUL, {"x": 512, "y": 512, "k": 16384}))
    assert found[0] == "mm.rfactor(k:8, mm_parts);"
    assert "k_part:1" in found[1]


def test_rows_are_held_or_computed_in_one_pass() -> None:
    short = texts(schedule(SOFTMAX, {"x": 4096, "y": 4096}))
    assert short[:2] == ["total.fuse_at(f, x);", "top.fuse_at(f, x);"]
    assert "y:0" in short[3]
    long = texts(schedule(SOFTMAX, {"x": 2048, "y": 65536}))
    assert long[0] == "f.online(y);"


def test_attention_is_computed_in_one_pass() -> None:
    sizes = {"h": 64, "i": 4096, "j": 4096, "c": 128, "d": 128}
    found = texts(schedule(ATTENTION, sizes))
    assert found[:2] == ["o.online(j);", "o.precision(narrow);"]
    assert found[2] == "o.block(h:1, i:128);"
    assert "d:0" in found[3]
    assert "c:0" in found[3]


def test_a_function_between_does_not_hide_a_pass() -> None:
    """A reciprocal that is a function of its own has no label of the pass, and is computed in it."""
    text = ATTENTION.replace("total, o", "total, r, o").replace(
        "o[h, i, d] =", "r[h, i] = 1 / total[h, i];\no[h, i, d] ="
    ).replace("/ total[h, i];\no.precision", "* r[h, i];\no.precision")
    sizes = {"h": 64, "i": 4096, "j": 4096, "c": 128, "d": 128}
    assert texts(schedule(text, sizes)) == texts(schedule(ATTENTION, sizes))


def test_few_queries_are_computed_in_parts() -> None:
    sizes = {"h": 8, "i": 4, "j": 32768, "c": 128, "d": 128}
    found = texts(schedule(ATTENTION, sizes))
    assert found[0] == "o.online(j);"
    assert found[1].startswith("o.rfactor(j:")
    # The products are those of the parts.
    assert "o_parts.precision(narrow);" in found


def test_an_epilogue_joins_its_product() -> None:
    text = MATMUL.replace("mm.compile", "g[x, y] = sigmoid(mm[x, y]) + bias[y]; g.compile").replace(
        "Func mm : f16;", "Func mm : f16, g : f16;"
    ).replace("In A", "In bias, A")  # fmt: skip
    found = texts(schedule(text, {"x": 4096, "y": 4096, "k": 4096}))
    assert found[0] == "mm.fuse_at(g, y);"
    assert not [line for line in found if line.startswith("mm.") and "fuse_at" not in line]


def test_what_several_kernels_read_is_inlined_or_stored() -> None:
    text = """
    Func shifted, top, total; In A; Var x; RVar y;
    shifted[x, y] = A[x, y] + 1;
    top[x] = rmax(shifted[x, y], y);
    total[x] = rsum(shifted[x, y], y);
    top.compile(); total.compile();
    """
    found = texts(schedule(text, {"x": 4096, "y": 4096}))
    assert found.count("shifted.inline();") == 1
    assert not [line for line in found if line.startswith("shifted.") and "inline" not in line]


def test_a_prefix_sum_is_scanned() -> None:
    text = """
    Func f; In A; Var i, x = size(A, 1); RVar j;
    f[i, x] = rsum(A[i, j], j, j <= x);
    f.compile();
    """
    assert texts(schedule(text, {"i": 4096, "j": 16384}))[0] == "f.scan(x);"
    few = texts(schedule(text, {"i": 16, "j": 2**20}))
    assert few[0] == "f.scan(x);"
    assert few[1].startswith("f.rfactor(x:")


def test_ragged_inputs_of_products_are_copied() -> None:
    """Inputs that products read many times are copied where their rows are ragged, and padded."""
    for device, few in (("h200", True), ("a100", False)):
        found = texts(schedule(MATMUL, {"x": 4095, "y": 4096, "k": 4097}, device))
        assert found[0] == "mm.cache_read(A, A_copy);"
        (x, k), padding = (
            [int(size) for size in re.findall(r"\d+", line)] for line in (
                next(line for line in found if line.startswith(f"A_copy.{name}("))
                for name in ("tensorize", "align_storage")
            )
        )  # fmt: skip
        # Masks are left out where the tiles of both are whole; the copy engine needs none.
        assert [x, k] == ([4096 // k, k] if few else padding)
        assert padding[1] == k
        # The rows of the other one are aligned.
        assert not any("B_copy" in line for line in found)
    # A copy takes longer than it saves where each element is read a few times.
    for sizes in ({"x": 64, "y": 256, "k": 4097}, {"x": 4096, "y": 4096, "k": 4096}):
        assert not any("cache_read" in line for line in texts(schedule(MATMUL, sizes)))


def test_ragged_results_are_stored_by_threads() -> None:
    """The copy engine takes the copies of factors, and not rows that start anywhere."""
    specialized = "mm.warp_specialize(registers:240);"
    found = texts(schedule(MATMUL, {"x": 4096, "y": 4097, "k": 4096}))
    assert specialized in found
    assert "mm.descriptor(A, B_copy);" in found
    aligned = texts(schedule(MATMUL, {"x": 4095, "y": 4096, "k": 4096}))
    assert specialized in aligned
    assert not any("descriptor" in line for line in aligned)
    # What another kernel reads is aligned.
    text = """
    Func mm : f16, f : f16; In A : f16, B : f16; Var x, y; RVar k, j;
    mm[x, y] = rdot(A[x, k], B[k, y], k);
    f[x, y] = mm[x, y] - rmax(mm[x, j], j);
    f.compile();
    """
    between = texts(schedule(text, {"x": 4096, "y": 4097, "k": 4096}))
    assert specialized in between
    assert not any(line.startswith("mm.descriptor") for line in between)


def test_names_of_copies_are_new() -> None:
    text = MATMUL.replace("A", "A_copy").replace("B[", "A_copy_[").replace("B :", "A_copy_ :")
    found = texts(schedule(text, {"x": 4096, "y": 4096, "k": 4097}))
    assert found[0] == "mm.cache_read(A_copy, A_copy_copy);"


def test_copies_of_ragged_rows_are_padded() -> None:
    text = """
    Func P : f16, mm : f16; In A : f16, B : f16; Var x, y; RVar k;
    P[k, y] = B[k, y];
    mm[x, y] = rdot(A[x, k], P[k, y], k);
    mm.compile();
    """
    found = texts(schedule(text, {"x": 4096, "y": 4097, "k": 4096}))
    (padding,) = [line for line in found if line.startswith("P.align_storage")]
    (tiles,) = [line for line in found if line.startswith("P.tensorize")]
    assert padding.removeprefix("P.align_storage") == tiles.removeprefix("P.tensorize")
    aligned = texts(schedule(text, {"x": 4096, "y": 4096, "k": 4096}))
    assert "P.inline();" in aligned


def test_rows_of_images_are_boxes() -> None:
    """Boxes of images, rows and columns fill tiles, and the copy engine moves them."""
    sizes = {"n": 32, "X_1": 56, "X_2": 56, "X_3": 256, "c": 256, "o": 256}
    assert texts(schedule(CONVOLUTION, sizes))[:5] == [
        "f.block(n:2, p:8, q:8, o:256);", "f.tensorize(n:2, p:8, q:8, o:256, c:64);",
        "f.map(n, p, q, o);", "f.persistent();", "f.warp_specialize(registers:240);",
    ]  # fmt: skip


def test_rows_and_columns_of_images_are_joined() -> None:
    """Where no box of them fills a tile, one loop has fewer points that do not exist."""
    sizes = {"n": 3, "X_1": 17, "X_2": 19, "X_3": 256, "c": 256, "o": 256}
    assert texts(schedule(CONVOLUTION, sizes))[0] == "f.fuse(n, p, q, n_p_q);"


def renamed(text: str, names: dict[str, str]) -> str:
    return re.sub(r"\b\w+\b", lambda m: names.get(m.group(), m.group()), text)


@pytest.mark.parametrize("text", [MATMUL, SOFTMAX, ATTENTION])
def test_names_decide_nothing(text: str) -> None:
    found = ["h", "i", "j", "c", "d", "x", "y", "k", "top", "total", "s", "p", "o", "f", "mm"]
    names = {name: f"z{len(found) - n}_" for n, name in enumerate(found)}
    # The inner parts of labels that are split are called after them.
    names |= {f"{name}1": f"{other}1" for name, other in names.items()}
    most = {"c": 128, "d": 128}
    sizes = {label: most.get(label, 4096) for label in Interface.of(algorithm(text)).labels}
    other = {names[label]: size for label, size in sizes.items()}
    wanted = [renamed(line, names) for line in texts(schedule(text, sizes))]
    assert texts(schedule(renamed(text, names), other)) == wanted


def test_the_order_of_definitions_decides_nothing() -> None:
    lines = SOFTMAX.strip().split("\n")
    other = "\n".join([lines[0], lines[3], lines[2], lines[1], lines[4]])
    sizes = {"x": 4096, "y": 4096}
    assert texts(schedule(SOFTMAX, sizes)) == texts(schedule(other, sizes))


@pytest.mark.parametrize("text", [MATMUL, ATTENTION, CONVOLUTION, HEADS])
def test_the_order_of_operands_decides_nothing(text: str) -> None:
    other = re.sub(
        r"rdot\((\w+\[[^]]*\]|constant_exterior\([^)]*\)), (\w+\[[^]]*\])", r"rdot(\2, \1", text
    )
    assert other != text
    labels = Interface.of(algorithm(text)).labels
    known = {
        "x": 2048, "y": 8192, "k": 4096, "h": 32, "c": 64, "d": 64, "i": 1024, "j": 1024,
        "n": 32, "o": 256, "X_1": 56, "X_2": 56, "X_3": 64,
    }  # fmt: skip
    sizes = {label: size for label, size in known.items() if label in labels}
    assert texts(schedule(other, sizes)) == texts(schedule(text, sizes))


def test_columns_of_heads_are_boxes() -> None:
    """The columns of several heads fill a tile, and the copy engine moves them."""
    assert texts(schedule(HEADS, {"h": 32, "i": 2048, "d": 64, "c": 2048}))[:5] == [
        "q.block(h:4, i:128, d:64);", "q.tensorize(h:4, i:128, d:64, c:64);",
        "q.map(i:i1/8, h, d, i1);", "q.persistent();", "q.warp_specialize(registers:240);",
    ]  # fmt: skip
    # What threads load limits no box.
    biased = HEADS.replace("Q : bf16;", "Q : bf16, b : f32;").replace(", c);", ", c) + b[h];")
    sizes = {"h": 4, "i": 32768, "d": 64, "c": 1024}
    assert "q.tensorize(h:4, i:128, d:64, c:64);" in texts(schedule(biased, sizes))
    # Panels are no wider than a swizzle.
    wide = texts(schedule(HEADS, {"h": 32, "i": 2048, "d": 128, "c": 2048}))
    assert "q.tensorize(h:4, i:128, d:64, c:64);" in wide


def test_tiles_of_threads_are_any_boxes() -> None:
    """Boxes of kernels alone whose factors the copy engine copies have the limits of panels."""
    text = """
    Func f : bf16; In A : f8e4m3, B : f8e4m3; Var i, e, d, j; RVar k;
    f[j, d, i, e] = rdot(A[j, k, i], B[d, e, k], k);
    f.compile();
    """
    found = texts(schedule(text, {"i": 16, "j": 128, "d": 32, "e": 128, "k": 12288}))
    assert any("j:16" in line and "i:16" in line for line in found if "tensorize" in line)


def test_rounding_that_differs_keeps_kernels_apart() -> None:
    text = """
    Func a, b; In A, B; Var x, y; RVar k, l;
    a[x, l] = rdot(A[x, k], B[k, l], k);
    b[x, y] = rdot(a[x, l], B[l, y], l);
    a.precision(ieee); b.precision(tf32);
    b.compile();
    """
    found = texts(schedule(text, {"x": 64, "y": 64, "k": 64, "l": 64}))
    assert "a.precision(ieee);" in found
    assert "b.precision(tf32);" in found


def test_tensors_without_elements() -> None:
    for x, y in ((0, 5), (3, 0), (0, 0)):
        assert texts(schedule(SOFTMAX, {"x": x, "y": y}))


def test_rows_that_two_labels_walk_are_held() -> None:
    """The index of a sum and that of the result have names of their own, and walk one row."""
    text = """
    In X : bf16, Z : bf16; Func gated, square, f : bf16; Var row, col; RVar k;
    gated[row, col] = X[row, col] * Z[row, col];
    square[row] = rsum(gated[row, k] ** 2, k);
    f[row, col] = gated[row, col] * rsqrt(square[row] + 1e-5);
    f.compile();
    """
    found = texts(as_written(text, {"row": 8192, "col": 4096}))
    assert "square.fuse_at(f, row);" in found
    (tiles,) = (line for line in found if ".tensorize(" in line)
    assert "col:0" in tiles
    assert "k:0" in tiles


def test_sums_over_one_label_are_split_alike() -> None:
    """A number of parts that one sum has is tried for others, however many instances they have."""
    text = """
    Func few, many, f; In A, B; Var n, c, x; RVar j;
    few[n] = rsum(A[n, j], j);
    many[c] = rsum(B[c, j], j);
    f[n, c] = few[n] + many[c];
    f.compile();
    """
    sizes = {"n": 2, "c": 32, "j": 1 << 20}
    apart = [
        schedule(text.replace(sum, "0"), sizes)
        for sum in ("rsum(A[n, j], j)", "rsum(B[c, j], j)")
    ]
    counts = [re.findall(r"rfactor\(j:(\d+)", " ".join(texts(found))) for found in apart]
    assert counts[0] != counts[1]
    found = re.findall(r"rfactor\(j:(\d+)", " ".join(texts(schedule(text, sizes))))
    assert len(found) == 2
    assert found[0] == found[1]


def test_results_of_a_row_are_stored_by_one_kernel() -> None:
    text = """
    Func total, square, f; In X, R; Var row, col; RVar k;
    total[row, col] = X[row, col] + R[row, col];
    square[row] = rsum(total[row, k] ** 2, k);
    f[row, col] = total[row, col] * rsqrt(square[row]);
    f.compile(); total.compile(); square.compile();
    """
    found = texts(schedule(text, {"row": 8192, "col": 4096}))
    assert "total.fuse_at(f, row);" in found
    assert "square.fuse_at(f, row);" in found


def test_what_several_kernels_read_is_stored_by_the_first() -> None:
    """A sum that a norm and others read is not computed, or read, again for its squares."""
    text = """
    Func total : f16, square, norm : f16, a : f16, b : f16; In X, R, W : f16, U : f16;
    Var row, col, d, e; RVar k, l;
    total[row, col] = X[row, col] + R[row, col];
    square[row] = rsum(total[row, k] ** 2, k);
    norm[row, col] = total[row, col] * rsqrt(square[row]);
    a[row, d] = rdot(norm[row, l], W[l, d], l) + total[row, d];
    b[row, e] = rdot(norm[row, l], U[l, e], l) + total[row, e];
    a.compile(); b.compile();
    """
    found = schedule(text, {"row": 8192, "col": 4096})
    assert {"total.fuse_at(norm, row);", "square.fuse_at(norm, row);"} <= {*texts(found)}
    (stored,) = (item for item in found if item.stored)
    assert stored.stored == ("total",)
    assert stored.reason == "it is stored from there"
    tiles = with_schedule(algorithm(text), found)
    run_pipeline(tiles, default_pipeline("warp"))
    source = emit_module(tiles, wrapped=True)
    run_and_check(algorithm(text), source, {"row": 5, "col": 24}, 1, tiles=tiles)


def test_a_mean_and_a_variance_that_are_read_later_take_one_pass() -> None:
    text = (PROGRAMS / "group_norm.dt").read_text()
    found = texts(schedule(text, {"n": 32, "y": 3136, "j": 3136, "c": 256}))
    assert "var.online(j, together);" in found
    assert [line for line in found if line.startswith("mean")] == ["mean.rename(mean_g:g);"]


def test_results_of_rows_do_not_depend_on_how_many_there_are() -> None:
    text = "Func b; In A; Var x; RVar y; b[x] = rsum(A[x, y], y); b.deterministic(x); b.compile();"
    few = schedule(text, {"x": 2, "y": 8192})
    assert few == schedule(text, {"x": 1024, "y": 8192})


def test_labels_are_split_into_one_number_of_parts() -> None:
    text = """
    Func f, c; In A; Var x; RVar j;
    c[x] = rsum(A[j], j, j <= x);
    f[] = rmax(c[x], x);
    c.compile(); f.compile();
    """
    found = texts(schedule(text, {"x": 1000000, "j": 1000000}))
    assert "c.scan(x);" in found


@pytest.mark.parametrize("way", ["mm.rfactor(k:8, p, atomic);", "mm.rfactor(k:8, q); q.rfactor(k:4, p);"])
def test_what_is_said_of_parts_is_kept(way: str) -> None:
    text = MATMUL.replace(": f16", "").replace("mm.compile", f"{way} p.precision(tf32); mm.compile")
    found = texts(schedule(text, {"x": 2048, "y": 2048, "k": 2048}))
    assert [line for line in found if line.endswith(".precision(tf32);")]


def test_directives_about_rounding_that_contradict_each_other_are_refused() -> None:
    text = MATMUL.replace(": f16", "").replace(
        "mm.compile", "mm.precision(tf32); mm.precision(ieee); mm.compile"
    )
    with pytest.raises(CompileError) as caught:
        schedule(text, {"x": 64, "y": 64, "k": 64})
    assert caught.value.message == (
        "directives about the rounding of 'mm' contradict each other"
    )
    assert caught.value.hint == "leave one of them out"


def test_sums_over_several_short_labels_are_split_along_one() -> None:
    text = "Func q; In A; RVar x, y, z, w; q[] = rsum(A[x, y, z, w], x, y, z, w); q.compile();"
    found = texts(schedule(text, dict.fromkeys("xyzw", 64)))
    assert ".rfactor(" in found[0]


def test_functions_that_are_computed_accurately_stay_apart() -> None:
    text = """
    Func a, b; In A; Var x, y;
    a[x, y] = exp(A[x, y]);
    b[x, y] = exp(sin(a[x, y]));
    a.math(accurate); b.compile();
    """
    found = texts(schedule(text, {"x": 4096, "y": 4096}))
    assert "a.math(accurate);" in found
    assert "b.math(accurate);" not in found


@pytest.mark.parametrize("device", ["a100", "h100", "b200", "mi300x"])
def test_other_devices(device: str) -> None:
    found = schedule(MATMUL, {"x": 4096, "y": 4096, "k": 4096}, device)
    assert any(item.name == "num_stages" for item in found)


def test_sizes_that_are_assumed() -> None:
    module = algorithm(MATMUL)
    assert assumed_sizes(module, {"k": 64}) == {"x": 4096, "y": 4096, "k": 64}
    with pytest.raises(CompileError, match="no label 'z'"):
        assumed_sizes(module, {"z": 1})


def test_mistakes_of_a_program_are_told() -> None:
    with pytest.raises(CompileError):
        schedule("Func f; In A; Var x; f[x] = g[x]; f.compile();", {})


def chain(count: int) -> str:
    """Returns a program of so many functions: norms, products and what is between them."""
    names = [f"f{n}" for n in range(count)]
    lines = [f"Func {', '.join(names)}; In A, W; Var x, y; RVar k, j;"]
    last = "A"
    for n in range(0, count, 4):
        total, norm, product, act = (f"f{n + i}" for i in range(4))
        lines += [
            f"{total}[x] = rsum({last}[x, j] ** 2, j);",
            f"{norm}[x, y] = {last}[x, y] * rsqrt({total}[x] + 1);",
            f"{product}[x, y] = rdot({norm}[x, k], W[k, y], k);",
            f"{act}[x, y] = silu({product}[x, y]) + {last}[x, y];",
        ]
        last = act
    return "\n".join([*lines, f"{last}.precision(tf32); {last}.compile();"])


def test_parts_are_not_tried_where_they_need_what_is_fused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of reductions are computed before what is fused into their kernel."""
    refused: list[str] = []
    works = Algorithm.works

    def watched(self: Algorithm, functions: Any, decisions: Any) -> Any:
        try:
            return works(self, functions, decisions)
        except CompileError as error:
            refused.append(str(error))
            raise

    monkeypatch.setattr(Algorithm, "works", watched)
    schedule(chain(8), {"x": 4096, "y": 1024})
    assert not [message for message in refused if "_parts' needs" in message]


def test_each_place_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions are fused where all reads of them are, and into one of the names of a loop."""
    found: dict[Any, list[Any]] = {}
    works = Algorithm.works

    def watched(self: Algorithm, functions: Any, decisions: Any) -> Any:
        # What is not legal raises an error.
        made = works(self, functions, decisions)
        found.setdefault(tuple(functions), []).append([work.signature() for work in made])
        return made

    monkeypatch.setattr(Algorithm, "works", watched)
    monkeypatch.setattr(Evaluator, "_worked", lambda self, *said: self.algorithm.works(*said))
    as_written(chain(12), {"x": 4096, "y": 1024})
    assert any(len(kernels) > 1 for kernels in found.values())
    for kernels in found.values():
        assert len({repr(kernel) for kernel in kernels}) == len(kernels)


@pytest.mark.parametrize(("count", "limit"), [(12, 1.0), (80, 4.0)])
def test_long_programs(count: int, limit: float) -> None:
    """A schedule takes time in proportion to the program (three times what one machine takes)."""
    module = algorithm(chain(count))
    sizes = Interface.of(module).sizes({"x": 4096, "y": 1024})
    schedule(chain(4), {"x": 4096, "y": 1024})
    # The tests beside this one take turns on the processor, whose time alone counts.
    started = time.thread_time()
    found = auto_schedule(module, sizes, find_device("h200"))
    assert time.thread_time() - started < limit
    blocks = [item for item in found if item.name == "block"]
    assert len(blocks) <= count * 3 // 4
    run_pipeline(with_schedule(module, found), default_pipeline("tile"))


@pytest.mark.parametrize(("x", "y"), [(4096, 1024), (1, 2**18)])
def test_layers_that_are_alike(x: int, y: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Layers that are alike are lowered once, which changes nothing but the time."""
    sizes = {"x": x, "y": y}
    calls: list[str] = []

    def counted(name: str) -> Any:
        lowered = getattr(Algorithm, name)

        def count(self: Algorithm, *args: Any) -> Any:
            calls.append(name)
            return lowered(self, *args)

        return count

    for name in ("works", "scheduled"):
        monkeypatch.setattr(Algorithm, name, counted(name))
    found = schedule(chain(36), sizes)
    # Sums of long rows are split, so that the parts of a layer get names of their own.
    assert any(item.name == "rfactor" for item in found) == (x == 1)
    known = len(calls)
    monkeypatch.setattr(Likeness, "key", lambda *args: None)
    assert schedule(chain(36), sizes) == found
    assert len(calls) - known > 2 * known
    # The same layers, but for the type of one function.
    mixed = chain(36).replace(" f14,", " f14 : f16,")
    alone = schedule(mixed, sizes)
    monkeypatch.undo()
    assert schedule(mixed, sizes) == alone
    assert alone != found


@pytest.mark.parametrize("name", NAMES)
def test_operators_compute_what_they_say(name: str) -> None:
    """A schedule is written for sizes of thousands, and run at small ones, which divide nothing."""
    text = (OPERATORS / f"{name}.dt").read_text()
    module = algorithm(text)
    decisions = auto_schedule(module, assumed_sizes(module, {}), find_device("h200"))
    tiles = with_schedule(module, decisions)
    run_pipeline(tiles, default_pipeline("warp"))
    interface = Interface.of(module)
    derived = interface.derived()
    sizes = interface.sizes(REFERENCES[name][0])
    given = {label: size for label, size in sizes.items() if label not in derived}
    run_and_check(module, emit_module(tiles, wrapped=True), given, 1, tiles=tiles)
