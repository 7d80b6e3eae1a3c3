"""Small programs for each part of the language, with and without schedules."""

import pytest

from dt_mlir.analysis.interface import Interface
from dt_mlir.compiler import Compiled, compile_program
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
from dt_mlir.interpreters.run import random_inputs, run_module
from dt_mlir.runtime.execute import run_and_check

HEAD = "In A, B, V, W; SIn s; Var x, y, z; RVar k, j;"

PROGRAMS = {
    # expressions
    "broadcast": "f[x, y] = V[x] * W[y] + A[x, y];",
    "outer": "f[x, y] = V[x] * W[y]; f.tensorize(x:8, y:16);",
    "constant": "f[x, y] = 2.5; f[x, y]",
    "scalar": "f[x] = s * V[x] - s / 2; f.block(x:16); f.tensorize(x:16);",
    "where": "f[x, y] = where(A[x, y] > 0, A[x, y], -V[x]); f.block(x:8, y:8); f.tensorize(x:8, y:8);",
    "logic": "f[x] = where(V[x] > 0 and not V[x] > 0.5 or W[x] < 0, 1, 0); f.tensorize(x:8);",
    "labels": "f[x, y] = where(x >= y, x - y, -inf) * len(x) + A[x, y]; f.block(x:4, y:8); f.tensorize(x:4, y:8);",
    "label values unscheduled": "f[x, y] = x * 10 + y // 2 - y % 3 + A[x, y];",
    "integers": "f[x] = cast(V[x] * 20, i32) // 3 + cast(V[x] * 20, i32) % 3 - (x - 7) // 4; f.tensorize(x:8);",
    "bits": "f[x] = (cast(V[x] * 100, i32) & 6) ^ (x << 2) | (x >> 1) + ~x; f.tensorize(x:8);",
    "powers": "f[x] = V[x] ** 2 + (V[x] + 2) ** -3 + (V[x] + 3) ** 0.5 + (V[x] + 2) ** W[x]; f.tensorize(x:8);",
    "integer powers": "f[x] = x ** 3 + (x % 4) ** (x % 3); f.tensorize(x:8);",
    "functions": "f[x] = exp(V[x]) + exp2(V[x]) + log(V[x] + 2) + log2(V[x] + 2) + sqrt(V[x] + 1) + rsqrt(V[x] + 2) + sin(V[x]) + cos(V[x]) + erf(V[x]) + floor(V[x] * 4) + ceil(V[x] * 4) + abs(V[x]); f.tensorize(x:8);",
    "more functions": "f[x] = tanh(V[x]) + expm1(V[x]) + log1p(V[x]) + log10(V[x] + 2) + tan(V[x]) + trunc(V[x] * 4) + round(V[x] * 8) + sign(V[x]) + fma(V[x], W[x], s); f.tensorize(x:8);",
    "activations": "f[x] = sigmoid(V[x]) + relu(V[x]) + gelu(V[x]) + silu(V[x]) + softplus(V[x]) + clamp(V[x], -0.5, 0.5); f.tensorize(x:8);",
    "extremes": "f[x] = maximum(V[x], W[x]) - minimum(V[x], 0.25); f.tensorize(x:8);",
    "floored floats": "f[x] = V[x] * 9 // 2 + V[x] * 9 % 2; f.tensorize(x:8);",
    "numbers as indices": "f[x] = A[x, 0] + A[1, x]; f.tensorize(x:8);",
    "diagonal": "f[x] = A[x, x]; f.tensorize(x:8);",
    # reductions
    "row sum": "f[x] = rsum(A[x, k], k); f.block(x:8); f.tensorize(x:8, k:16);",
    "unrolled": "f[x] = rsum(A[x, k] * (k + 1), k); f.block(x:8); f.tensorize(x:8, k:16); f.unroll(k:2);",
    "unrolled, whole if sizes are fixed": "f[x] = rsum(A[x, k] * (k + 1) + rmax(A[x, y], y), k); f.tensorize(x:8, k:8); f.unroll(k:64, y:64);",
    "row sum unscheduled": "f[x] = rsum(A[x, k], k);",
    "total": "f[] = rsum(A[x, y], x, y); f.tensorize(x:4, y:8);",
    "total scalar": "f[] = rsum(V[x], x) / 2;",
    "all kinds": "f[x] = rmax(A[x, k], k) - rmin(A[x, k], k) + rmean(A[x, k], k) + rprod(A[x, k] / 4 + 1, k); f.block(x:4); f.tensorize(x:4, k:8);",
    "integer products": "f[x] = rprod(cast(A[x, k] * 3, i32) * 2 + 3, k); f.block(x:4); f.tensorize(x:4, k:8);",
    "truth": "f[x] = where(rany(A[x, k] > 0.9, k), 1, 0) + where(rall(A[x, k] > -0.9, k), 2, 0); f.tensorize(x:4, k:8);",
    "arguments": "f[x] = rargmax(A[x, k], k) - rargmin(A[x, k], k); f.tensorize(x:4, k:8);",
    "arguments whole": "f[x] = rargmax(floor(A[x, k] * 3), k); f.tensorize(x:4, k:0);",
    "arguments scalar": "f[x] = rargmin(floor(A[x, k] * 3), k);",
    "arguments over two": "f[x] = rargmax(floor(A[y, k] * 3) + V[x], k, y) - 1000 * rargmin(floor(A[y, k] * 3) * V[x], y, k); f.tensorize(x:4, k:8);",
    "arguments over two, tiles": "f[x] = rargmax(floor(A[y, k] * 3) + V[x], k, y) - 1000 * rargmin(floor(A[y, k] * 3), y, k); f.block(x:2); f.tensorize(x:2, k:8, y:4);",
    "arguments over three, whole": "f[] = rargmax(floor(A[y, k] * 3) + floor(2 * V[j]), k, j, y); f.tensorize(k:0, j:1, y:0);",
    "arguments that do not follow a label": "f[] = rargmax(V[k], j, k);",
    "arguments of infinities": "f[x] = rargmax(where(A[x, k] > 100, A[x, k], -inf), k); f.tensorize(x:4, k:8);",
    "inside": "f[x, y] = exp(A[x, y]) / rsum(exp(A[x, k]), k); f.block(x:4); f.tensorize(x:4, y:8, k:8);",
    "nested": "f[x] = rsum(exp(A[x, k] - rmax(A[x, j], j)), k); f.tensorize(x:4, k:8, j:16);",
    "nested same label": "f[x] = rsum(exp(A[x, k] - rmax(A[x, k], k)), k); f.tensorize(x:4, k:0);",
    "value without the label": "f[x] = rsum(V[x], k) + rsum(1, k) + 0 * rsum(A[x, k], k); f.tensorize(x:4, k:8);",
    "masked infinity": "f[x] = rsum(1 / exp(A[x, k]), k); f.tensorize(x:4, k:8);",
    "masked division": "f[x] = rsum(1 / A[x, k], k) * 1e-3; f.tensorize(x:4, k:8);",
    "masked by its own label": "f[x] = rsum(where(x >= k, V[k], 0), k); f.tensorize(x:4, k:8);",
    "masked by its own label, scalar": "f[x] = rsum(where(x >= k, V[k], 0), k);",
    "a label reduced again inside": "f[] = rsum(A[x, y] * rmax(A[y, x], x), x, y); f.tensorize(y:8);",
    "a maximum over two": "f[] = rmax(A[x, y] - 2, x, y); f.tensorize(x:4, y:8);",
    "a maximum of sums": "f[] = rmax(rsum(A[x, k], k), x); f.tensorize(k:8);",
    "differences the other way round": "f[x] = rsum(A[x, k] - B[x, k], k) * rmax(B[x, k] - A[x, k], k); f.tensorize(x:4, k:0);",
    "a sum that meets no tile": "f[x, z] = V[x] + rsum(A[z, k], k); f.block(x:8); f.tensorize(x:8, k:8);",
    "odd powers": "f[x] = V[x] ** (x % 4) + (V[x] - 2) ** cast(x % 3, f32); f.tensorize(x:8);",
    "powers of minus one": "f[x] = (x % 2 * 2 - 1) ** (x - 4) + 0 * cast(V[x], i32); f.tensorize(x:4);",
    "divided by minus one": "f[x] = (x - 5) // (x % 2 * 2 - 1) + 0 * cast(V[x], i32); f.tensorize(x:4);",
    "clamp the other way round": "f[x] = clamp(V[x], 0.5, -0.5); f.tensorize(x:8);",
    "first of equals": "f[x] = rargmin(floor(A[x, k] * 2), k) + 100 * rargmax(floor(A[x, k] * 2), k); f.tensorize(x:4, k:0);",
    # products
    "integers that wrap before a sum": "f[x] = cast(rsum(cast(cast(A[x, k], i32) + 2000000000 + 2000000000, i64) - 4000000000, k), f32); f.tensorize(x:8, k:8);",
    "integers of memory that wrap before a sum": "In I : i32; f[x] = cast(rsum(cast(I[x, k] + 2000000000 + 2000000000, i64) - 4000000000, k), f32); f.tensorize(x:8, k:8);",
    "logarithms before a sum": "f[x] = rsum((log(A[x, k] * 0 + 2.25) - 0.8109301924705505) * 1000000000, k); f.tensorize(x:64, k:64);",
    "quotients before a sum": "f[x] = rsum(((A[x, k] * 0 + 1) / 3 * 3 - 1) * 1000000000, k); f.tensorize(x:64, k:64);",
    "a label's value in an inner sum": "f[x] = rsum(A[x, y] + rsum(B[x, z] * y, z), y); f.tensorize(y:8, z:4);",
    "argmax of integers": "f[x] = rargmax(cast(A[x, y] * 4, i32), y); f.block(x:4); f.tensorize(x:4, y:4);",
    "argmin in steps": "f[x] = rargmin(A[x, y], y); f.block(x:4); f.tensorize(x:4, y:4);",
    "maximum of negative integers": "f[x] = rmax(cast(A[x, y] * 4 - 9, i32), y); f.tensorize(x:4, y:4);",
    "minimum of positive integers": "f[x] = rmin(cast(A[x, y] * 4 + 9, i32), y); f.tensorize(x:4, y:4);",
    "argmax of negative integers": "f[x] = rargmax(cast(A[x, y] * 4 - 9, i32), y); f.tensorize(x:4, y:4);",
    "maximum and sum of one tile": "f[x] = rmax(A[x, y], y) + rsum(A[x, y], y); f.tensorize(x:4, y:0);",
    "sum over two masks": "f[z] = rsum(cos(A[x, y]) * V[z], x, y); f.tensorize(x:8, y:8);",
    "product of reciprocals": "f[x, y] = rdot(A[x, k], 1 / (B[k, y] * B[k, y]), k); f.block(x:16, y:16); f.tensorize(x:16, y:16, k:16);",
    "map with partial groups": "f[x, y] = A[x, y] + 1; f.block(x:4, y:8); f.tensorize(x:4, y:8); f.map(x1, x:x1/4, y);",
    "product": "f[x, y] = rdot(A[x, k], B[k, y], k); f.block(x:16, y:16); f.tensorize(x:16, y:16, k:16);",
    "product scalar": "f[x, y] = rdot(A[x, k], B[k, y], k); f.block(x:4, y:4);",
    "product with its batch in the middle": "f[x, z, y] = rdot(A[z, x, k], B[z, k, y], k); f.tensorize(x:16, z:2, y:16, k:16);",
    "product shallow": "f[x, y] = rdot(A[x, k], B[k, y], k); f.block(x:16, y:16); f.tensorize(x:16, y:16, k:4);",
    "product one-sided": "f[x, y] = rdot(A[x, k], B[k, y], k); f.tensorize(y:16, k:16);",
    "product vector": "f[x] = rdot(A[x, k], V[k], k); f.block(x:8); f.tensorize(x:8, k:16);",
    "product in smaller steps": "f[x] = rdot(A[x, k], V[k], k); f.block(x:64); f.tensorize(x:64, k:1024);",
    "product of bytes, scalar": "f[x, y] = rdot(cast(A[x, k] * 9, i8), cast(B[k, y] * 9, i8), k);",
    "product swapped": "f[x, y] = rdot(B[k, y], A[x, k], k); f.block(x:16, y:16); f.tensorize(x:16, y:16, k:16);",
    "product of expressions": "f[x, y] = rdot(exp(A[x, k]), B[k, y] + V[k], k); f.block(x:16, y:16); f.tensorize(x:16, y:16, k:16);",
    "product of sums": "f[x, y] = rdot(A[x, k], rsum(B[k, j] * B[y, j], j), k); f.block(x:8); f.tensorize(x:8, y:8, k:16, j:8);",
    "product and a sum of one operand": "f[x, y] = rdot(A[x, k], B[y, k], k) + rsum(B[y, k] * V[k], k); f.block(x:16, y:16); f.tensorize(x:16, y:16, k:0);",
    "product over two": "f[x] = rdot(A[x, k], B[k, j], k, j); f.tensorize(x:8, k:16, j:8);",
    "product whole": "f[x, y] = rdot(A[x, k], B[k, y], k); f.block(x:16, y:16); f.tensorize(x:0, y:0, k:0);",
    "product whole label": "f[x, y] = rdot(A[x, k], B[k, y], k); f.tensorize(x:0, y:0, k:0);",
    # schedules
    "tiles of no power of two": "f[x, y] = rdot(A[x, k], B[k, y], k); f.block(x:24, y:40); f.tensorize(x:12, y:20, k:24);",
    "map split twice": "f[x, y] = A[x, y] * 2; f.block(x:4, y:8); f.tensorize(x:4, y:8); f.map(x:x1/3, y:y1/2, x1, y1);",
    "map inner first": "f[x, y] = A[x, y] * 2; f.block(x:4, y:8); f.tensorize(x:4, y:8); f.map(x1, y, x:x1/3);",
    "map that reuses the name": "f[x, y] = A[x, y] * 2; f.block(x:4, y:8); f.tensorize(x:4, y:8); f.map(x:x/3, y, x1);",
    "map plain": "f[x, y] = A[x, y] * 2; f.block(x:4, y:8); f.tensorize(x:4, y:8); f.map(x, y);",
    "block of ones": "f[x, y] = A[x, y] + 1; f.block(x:1, y:1);",
    "blocks larger than sizes": "f[x, y] = A[x, y] + 1; f.block(x:256, y:64); f.tensorize(x:64, y:64);",
    "one blocked": "f[x, y] = A[x, y] + 1; f.block(y:8); f.tensorize(x:4, y:8);",
    "dynamic": "f[x, y] = rdot(A[x, k], B[k, y], k); f.block(x:16, y:16); f.tensorize(x:16, y:16, k:16); f.compile(dynamic:1);",
}  # fmt: skip

for name in ("functions", "more functions", "activations", "powers", "inside", "broadcast"):
    # The same with the device library's functions.
    PROGRAMS[f"{name}, accurate"] = PROGRAMS[name] + " f.math(accurate);"

SIZES = [
    {"x": 19, "y": 19, "z": 19, "k": 19, "j": 19},
    {"x": 32, "y": 32, "z": 32, "k": 32, "j": 32},
    {"x": 2, "y": 2, "z": 2, "k": 2, "j": 2},
]


def complete(body: str, outputs: str = "f") -> str:
    """A program around definitions: what is declared is what is used."""
    body = body.replace("; f[x, y]", ";") if body.endswith("; f[x, y]") else body
    text = f"Func {outputs}; {HEAD} {body}"
    if "compile" not in body:
        text += f" {outputs.split(', ')[-1].partition(' ')[0]}.compile();"
    return text


def compiled_for(text: str, name: str, sizes: dict[str, int]) -> Compiled:
    """A program that is compiled for sizes of its labels."""
    interface = Interface.of(compile_program(text, name).algorithm)
    fixed = {label: n for label, n in interface.sizes(sizes).items() if label in interface.used}
    return compile_program(text, name, sizes=fixed)


@pytest.mark.parametrize("sizes", SIZES, ids=["ragged", "aligned", "small"])
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_program(name: str, sizes: dict[str, int]) -> None:
    program = compile_program(complete(PROGRAMS[name]), name)
    run_and_check(program.algorithm, program.source, sizes, seed=3)


@pytest.mark.parametrize("sizes", SIZES[:2], ids=["ragged", "aligned"])
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_program_for_fixed_sizes(name: str, sizes: dict[str, int]) -> None:
    program = compiled_for(complete(PROGRAMS[name]), name, sizes)
    run_and_check(program.algorithm, program.source, sizes, seed=3)


FUSED = {
    "two readers, one of all": ("g, f", "g[x] = V[x] * 3; f[x, y] = g[x] + rsum(g[z] * A[y, z], z); g.fuse_at(f, y); f.tensorize(x:0, y:4, z:0);"),
    "read along both axes": ("g, f", "g[x, y] = A[x, y] + 1; f[x, y] = g[x, y] + g[y, x]; g.fuse_at(f, y); f.block(x:4, y:4); f.tensorize(x:4, y:4);"),
    "tiles in blocks": ("g, f", "g[x] = V[x] + 1; f[x] = g[x] * rsum(A[x, k], k); g.fuse_at(f, x); f.block(x:24); f.tensorize(x:8, k:8);"),
    "chain": ("g, h, f", "g[x, y] = A[x, y] + 1; h[x, y] = g[x, y] * 2; f[x, y] = h[x, y] - V[x]; g.fuse_at(h, y); h.fuse_at(f, y); f.block(x:4, y:8); f.tensorize(x:4, y:8);"),
    "chain in memory": ("g, h, f", "g[x, y] = A[x, y] + 1; h[x, y] = g[x, y] * 2; f[x, y] = h[x, y] - V[x]; f.block(x:4, y:8); f.tensorize(x:4, y:8); g.tensorize(y:16); h.block(x:4);"),
    "diamond": ("p, a, b, f", "p[x, y] = exp(A[x, y]); a[x, y] = p[x, y] + 1; b[x, y] = p[x, y] * 2; f[x, y] = a[x, y] * b[x, y]; a.fuse_at(f, y); b.fuse_at(f, y); p.fuse_at(f, y); f.block(x:4, y:8); f.tensorize(x:4, y:8);"),
    "two labellings": ("g, f", "g[x] = V[x] * 3; f[x, y] = g[x] * g[y]; g.fuse_at(f, y); f.block(x:4, y:8); f.tensorize(x:4, y:8);"),
    "two labellings, one further out": ("g, f", "g[x] = V[x] * 3; f[x, y] = g[x] * g[y]; g.fuse_at(f, x); f.block(x:4); f.tensorize(x:0, y:0);"),
    "two loops over one label": ("g, f", "g[x, y] = rsum(A[x, z] * A[y, z], z); f[x] = rsum(g[x, z], z); g.fuse_at(f, z); f.block(x:4); f.tensorize(x:4, z:8);"),
    "into a reduction": ("g, f", "g[x, k] = exp(A[x, k]) * V[k]; f[x, y] = rdot(g[x, k], B[k, y], k); g.fuse_at(f, k); f.block(x:16, y:16); f.tensorize(x:16, y:16, k:16);"),
    "held whole": ("g, f", "g[x, k] = exp(A[x, k]); f[x, y] = rdot(g[x, k], B[k, y], k); g.fuse_at(f, x); f.block(x:16); f.tensorize(x:16, y:16, k:0);"),
    "renamed labels": ("g, f", "g[x, y] = A[x, y] * 2; f[z] = rsum(g[z, k], k); g.fuse_at(f, k); f.block(z:4); f.tensorize(z:4, k:8);"),
    "renamed and held": ("g, f", "g[x, y] = A[x, y] * 2; f[z] = rsum(g[z, k], k); g.fuse_at(f, z); f.block(z:4); f.tensorize(z:4, k:0, y:0);"),
    "a row by number": ("g, f", "g[x, y] = A[x, y] * 2; f[x, y] = g[x, 0] + g[1, y]; g.fuse_at(f, y); f.block(x:4, y:8); f.tensorize(x:4, y:8);"),
    "block follows fusion": ("g, f", "g[y] = W[y] * 2; f[x, y] = g[y] + A[x, y]; g.fuse_at(f, x); f.block(x:4, y:8); f.tensorize(x:4, y:0);"),
    "several levels": ("a, b, c, f", "a[x, y] = A[x, y] + 1; b[x] = rsum(a[x, k], k); c[x, y] = a[x, y] / b[x]; f[x, y] = c[x, y] * 2; a.fuse_at(f, x); b.fuse_at(f, x); c.fuse_at(f, y); f.block(x:4); f.tensorize(x:4, y:0, k:0);"),
    "two outputs": ("g, f", "g[x, y] = A[x, y] + 1; f[x, y] = g[x, y] * 2; f.block(x:4, y:8); f.tensorize(x:4, y:8); g.tensorize(y:8); f.compile(); g.compile();"),
    "two outputs, one kernel": ("g, f", "g[x, y] = A[x, y] + 1; f[x, y] = g[x, y] * 2; g.fuse_at(f, y); f.block(x:4, y:8); f.tensorize(x:4, y:8); g.compile(); f.compile();"),
    "rounded where defined": ("g : f16, f", "g[x, y] = A[x, y] * 1.001; f[x, y] = g[x, y] * 1000; g.fuse_at(f, y); f.block(x:4, y:8); f.tensorize(x:4, y:8);"),
    "rounded in memory": ("g : f16, f", "g[x, y] = A[x, y] * 1.001; f[x, y] = g[x, y] * 1000; f.block(x:4, y:8); f.tensorize(x:4, y:8); g.tensorize(y:8);"),
    "transposed nest": ("f", "f[y, x] = A[x, y]; f.block(x:8, y:8); f.tensorize(x:8, y:8);"),
    "two outputs, the root empty": ("p, f", "p[x] = V[x] * 2; f[x, z] = p[x] + z; p.fuse_at(f, x); f.block(x:4); f.tensorize(x:4); f.compile(); p.compile();"),
    "symmetric, one label whole": ("f", "f[x, y] = A[x, y] + A[y, x]; f.tensorize(y:0);"),
    "swapped labels": ("g, f", "g[x, y] = A[x, y] * x; f[x, y] = g[y, x]; g.fuse_at(f, y); f.tensorize(y:0);"),
    "masked by a condition": ("f", "f[x] = rsum(where(x >= y, A[x, y], 0), y); f.block(x:4); f.tensorize(x:4, y:8);"),
    "chain at one loop": ("g, h, f", "g[y] = W[y] + 1; h[y] = g[y] * 2; f[x, y] = h[y] * A[x, y]; g.fuse_at(f, x); h.fuse_at(f, x); f.block(x:4, y:8); f.tensorize(x:4, y:0);"),
    "renamed and transposed": ("g, f", "g[x, y] = A[x, y] * x; f[z] = rsum(g[j, k] * V[z], k, j); g.fuse_at(f, z); f.block(z:4); f.tensorize(z:4, k:0, j:0, x:0, y:0);"),
    "held whole in f64": ("g, f : f64", "g[x, k] = cast(exp(A[x, k]), f64); f[x, y] = rdot(g[x, k], cast(B[k, y], f64), k); g.fuse_at(f, x); f.block(x:16); f.tensorize(x:16, y:16, k:0);"),
    "a total in every block": ("g, f", "g[] = rsum(V[k], k); f[x] = V[x] * g[]; g.fuse_at(f, x); f.block(x:8); f.tensorize(x:8, k:8);"),
    "fused sum of two": ("g, f", "g[x] = rsum(A[x, k], k); f[x, y] = rdot(A[x, k], B[k, y], k) / g[x]; g.fuse_at(f, x); f.block(x:16, y:16); f.tensorize(x:16, y:16, k:16);"),
    "inlined": ("g, h, f", "g[x] = rsum(A[x, k], k) * 2; h[x, y] = g[x] + B[x, y] * x; f[x, y] = h[x, y] / g[x] + h[1, y]; g.inline(); h.inline(); f.block(x:8, y:4); f.tensorize(x:8, y:4, k:8);"),
    "inlined in two kernels": ("g : f16, h, f", "g[x, y] = A[y, x] * 1.001; h[x] = rsum(g[x, k], k); f[x, y] = g[x, y] * h[x]; g.inline(); h.tensorize(x:4, k:8); f.tensorize(x:4, y:4); f.compile(); g.compile();"),
    "fused through what is inlined": ("a, g, f", "a[x, y] = A[x, y] + 1; g[x, y] = a[x, y] * V[y]; f[x] = rsum(g[x, k] * V[k], k); a.fuse_at(f, k); g.inline(); f.block(x:4); f.tensorize(x:4, k:8);"),
    "split and reordered": ("g, f", "g[x] = V[x] + 1; f[x, y] = g[x] * rdot(A[x, k], B[k, y], k); g.fuse_at(f, x); f.block(x:32); f.split(x:16, y:16); f.tensorize(x:16, y:16, k:16);"),
    "pieces in another order": ("f", "f[x, y] = A[x, y] * x - y; f.block(x:8); f.split(x:4, y:8); f.reorder(y_outer, x_outer, y, x); f.tensorize(x:2, y:4);"),
}  # fmt: skip


@pytest.mark.parametrize("sizes", SIZES, ids=["ragged", "aligned", "small"])
@pytest.mark.parametrize("name", list(FUSED))
def test_fused(name: str, sizes: dict[str, int]) -> None:
    outputs, body = FUSED[name]
    text = f"Func {outputs}; {HEAD} {body}"
    if "compile" not in body:
        text += " f.compile();"
    program = compile_program(text, name)
    run_and_check(program.algorithm, program.source, sizes, seed=4)


STORED = {
    "product of copies": ("g, h, f", "g[x, k] = A[x, k]; h[k, y] = B[k, y]; f[x, y] = rdot(g[x, k], h[k, y], k); g.block(x:16, k:16); g.tensorize(x:16, k:16); g.align_storage(x:16, k:16); h.block(k:16, y:16); h.tensorize(k:16, y:16); h.align_storage(k:16, y:16); f.block(x:16, y:16); f.tensorize(x:16, y:16, k:16);"),
    "zeros put beyond": ("g, h, f", "g[x, k] = A[x, k] + 1; h[k, y] = cos(B[k, y]); f[x, y] = rdot(g[x, k], h[k, y], k); g.block(x:32, k:32); g.tensorize(x:32, k:32); g.align_storage(x:16, k:32); h.block(k:16, y:16); h.tensorize(k:16, y:16); h.align_storage(k:16); f.block(x:16, y:8); f.tensorize(x:16, y:8, k:16);"),
    "tiles that are no multiples": ("g, f", "g[x, k] = A[x, k] + 1; f[x] = rsum(g[x, k], k); g.block(x:8, k:8); g.tensorize(x:8, k:8); g.align_storage(x:64, k:24); f.block(x:4); f.tensorize(x:4, k:8);"),
    "odd multiples": ("g, f", "g[x, k] = A[x, k] + 1; f[x] = rsum(g[x, k], k); g.block(x:3); g.tensorize(x:3, k:6); g.align_storage(x:3, k:3); f.tensorize(x:3, k:3);"),
    "larger tiles of readers": ("g, f", "g[x, k] = A[x, k] + 1; f[x] = rsum(g[x, k], k); g.tensorize(x:4, k:4); g.align_storage(x:4, k:4); f.block(x:8); f.tensorize(x:8, k:8);"),
    "readers beyond what is filled": ("g, f", "g[x, k] = A[x, k] + 1; f[x] = rsum(g[x, k], k); g.tensorize(x:8, k:8); g.align_storage(k:32); f.tensorize(x:4, k:16);"),
    "tiles in a loop": ("g, f", "g[x, k] = A[x, k] + 1; f[x] = rsum(g[x, k], k); g.block(x:16); g.tensorize(x:4, k:4); g.align_storage(x:4, k:4); f.tensorize(x:2, k:4);"),
    "other identities": ("g, f", "g[x, k] = A[x, k] + 1; f[x] = rmax(g[x, k] - 3, k) + rsum(exp(g[x, k]), k) + rprod(g[x, k], k); g.tensorize(x:4, k:4); g.align_storage(x:4, k:4); f.tensorize(x:4, k:4);"),
    "scalar reads": ("g, f", "g[x, k] = A[x, k] + 1; f[x, y] = g[x, 0] + g[1, y]; g.tensorize(x:4, k:4); g.align_storage(x:4, k:4); f.tensorize(x:4, y:4);"),
    "read along both axes": ("g, f", "g[x, y] = A[x, y] + 1; f[x, y] = g[x, y] + g[y, x]; g.block(x:8, y:8); g.tensorize(x:8, y:8); g.align_storage(x:8); f.block(x:4, y:4); f.tensorize(x:4, y:4);"),
    "diagonal": ("g, f", "g[x, y] = A[x, y] + 1; f[x] = g[x, x]; g.tensorize(x:8, y:8); g.align_storage(x:8); f.tensorize(x:8);"),
    "scalars": ("g, f", "g[x, y] = A[x, y] + 1; f[x] = rsum(g[x, y], y); g.align_storage(x:8, y:8);"),
    "whole tiles": ("g, f", "g[x, y] = A[x, y] + 1; f[x] = rsum(g[x, y], y); g.tensorize(y:0); g.align_storage(y:8); f.tensorize(y:0);"),
    "narrow types": ("g : bool, h : i8, f", "g[x, y] = A[x, y] < 0.5; h[x, y] = cast(A[x, y] * 9, i32) + 1; f[x] = where(rall(g[x, y], y), 100, 0) + rsum(h[x, y], y); g.tensorize(x:4, y:8); g.align_storage(x:4, y:8); h.tensorize(x:4, y:8); h.align_storage(x:4, y:8); f.tensorize(x:4, y:8);"),
    "a chain": ("g, h, f", "g[x, k] = A[x, k] + 1; h[x, k] = g[x, k] * 2 + 1; f[x] = rsum(h[x, k], k); g.tensorize(x:8, k:8); g.align_storage(x:8, k:8); h.tensorize(x:8, k:8); h.align_storage(x:8, k:8); f.tensorize(x:8, k:8);"),
    "integers that wrap": ("g : i64, f : i64", "g[x, k] = cast(cast(A[x, k], i32) + 2000000000 + 2000000000, i64) - 4000000000; f[x] = rsum(g[x, k], k); g.tensorize(x:8, k:8); g.align_storage(x:8, k:8); f.tensorize(x:8, k:8);"),
    "a logarithm": ("g, f", "g[x, k] = (log(A[x, k] * 0 + 2.25) - 0.8109301924705505) * 1000000000; f[x] = rsum(g[x, k], k); g.tensorize(x:64, k:64); g.align_storage(x:64, k:64); f.tensorize(x:64, k:64);"),
    "a quotient": ("g, f", "g[x, k] = ((A[x, k] * 0 + 1) / 3 * 3 - 1) * 1000000000; f[x] = rsum(g[x, k], k); g.tensorize(x:64, k:64); g.align_storage(x:64, k:64); f.tensorize(x:64, k:64);"),
    "no elements left over": ("g, f", "g[x, k] = A[x, k] + 1; f[x] = rsum(g[x, k], k); g.tensorize(x:2, k:1); g.align_storage(x:2, k:1000); f.tensorize(x:1, k:8);"),
    "run-time sizes": ("g, f", "g[x, k] = A[x, k] + 1; f[x] = rsum(g[x, k], k); g.tensorize(x:8, k:8); g.align_storage(x:4, k:8); f.tensorize(x:4, k:8); f.compile(dynamic:1);"),
}  # fmt: skip


@pytest.mark.parametrize("fixed", [False, True], ids=["", "fixed"])
@pytest.mark.parametrize("sizes", SIZES, ids=["ragged", "aligned", "small"])
@pytest.mark.parametrize("name", list(STORED))
def test_aligned_storage(name: str, sizes: dict[str, int], fixed: bool) -> None:
    outputs, body = STORED[name]
    text = f"Func {outputs}; {HEAD} {body}" + (" f.compile();" if "compile" not in body else "")
    program = compiled_for(text, name, sizes) if fixed else compile_program(text, name)
    run_and_check(program.algorithm, program.source, sizes, seed=6)
    # The interpreter of tiles refuses to read padding that nothing has written.
    interface = Interface.of(program.algorithm)
    arithmetic = BoundedArithmetic(Accuracy.of(program.algorithm))
    all_sizes = interface.sizes(sizes)
    inputs = random_inputs(interface, all_sizes, arithmetic, 6)
    run_module(program.module, inputs, all_sizes, arithmetic)


TYPED = {
    "f64": "In A : f64, B : f64; f[x, y] = rdot(A[x, k], B[k, y], k) + 0.1;",
    "i64": "In A : i64, B : i64; f[x, y] = rdot(A[x, k], B[k, y], k) + 1;",
    "i32": "In A : i32, B : i32; f[x, y] = rsum(A[x, k] * B[k, y], k) // 7;",
    "i8": "In A : i8, B : i8; f[x, y] = rdot(A[x, k], B[k, y], k);",
    "u8": "In A : u8, B : u8; f[x, y] = rdot(A[x, k], B[k, y], k) + cast(A[x, y], f32);",
    "i16": "In A : i16, B : i16; f[x, y] = rdot(A[x, k], B[k, y], k);",
    "bool": "In A : bool, B : bool; f[x, y] = where(rany(A[x, k] and B[k, y], k), 1, 0) + A[x, y];",
    "mixed": "In A : f16, B : f32; f[x, y] = rdot(A[x, k], B[k, y], k);",
    "casts": "In A : f32, B : f16; f[x, y] = cast(cast(A[x, y] * 300, i32), u8) + cast(B[x, y], f64);",
    "extremes of bytes": "In A : u8, B : u8; f[x, y] = rmax(-cast(A[x, k], i32) - 1, k) + rargmax(-cast(A[x, k], i32) - 1, k) + 0 * B[0, y];",
    "equal bytes": "In A : i8, B : i8; f[x, y] = rargmax(A[x, k] % 2, k) + 100 * rargmin(B[k, y] % 2, k);",
    "bytes": "In A : u8, B : u8; f[x, y] = rdot(A[x, k] , B[k, y], k) - 7 * A[x, 0];",
    "extremes of integers": "In A : i32, B : i8; f[x, y] = rmax(A[x, k], k) - rmin(B[k, y], k);",
    "to f16": "In A : f16, B : f16; f[x, y] = rdot(A[x, k], B[k, y], k);",
}
RESULTS = {"to f16": "f16", "bool": "i16"}


@pytest.mark.parametrize("tiled", [True, False], ids=["tiled", "scalar"])
@pytest.mark.parametrize("name", list(TYPED))
def test_types(name: str, tiled: bool) -> None:
    result = f" : {RESULTS[name]}" if name in RESULTS else ""
    schedule = "f.block(x:16, y:16); f.tensorize(x:16, y:16, k:16);" if tiled else ""
    if "k]" not in TYPED[name]:
        schedule = schedule.replace(", k:16", "")
    text = f"Func f{result}; Var x, y; RVar k; {TYPED[name]} {schedule} f.compile();"
    program = compile_program(text, name)
    sizes = {"x": 21, "y": 18, "k": 25} if tiled else {"x": 5, "y": 4, "k": 6}
    if name in ("casts", "bool", "u8"):
        sizes = dict.fromkeys(sizes, 21 if tiled else 5)
    run_and_check(program.algorithm, program.source, sizes, seed=5)


BATCHED = {
    "result reordered": "f[x, z, y] = rdot(A[z, x, k], B[z, k, y], k); f.block(x:16, y:16); f.tensorize(x:16, z:2, y:16, k:16);",
    "result rotated": "f[x, y, z] = rdot(A[z, x, k], B[z, k, y], k); f.tensorize(x:16, y:16, z:4, k:16);",
    "batch in the grid": "f[z, x, y] = rdot(A[z, x, k], B[z, k, y], k); f.block(z:1, x:16, y:16); f.tensorize(x:16, y:16, k:16);",
}  # fmt: skip


@pytest.mark.parametrize("name", list(BATCHED))
def test_batched_products(name: str) -> None:
    text = f"Func f; In A, B; Var x, y, z; RVar k; {BATCHED[name]} f.compile();"
    program = compile_program(text, name)
    run_and_check(program.algorithm, program.source, {"x": 18, "y": 21, "z": 5, "k": 19}, seed=5)


def test_six_blocked_labels() -> None:
    text = (
        "Func f; In A; Var a, b, c, d, e, g; f[a, b, c, d, e, g] = A[a, b, c, d, e, g] + a - g;"
        "f.block(a:2, b:1, c:2, d:2, e:1, g:4); f.tensorize(a:2, g:4, d:1);"
        "f.map(g, a:ai/2, e, b, c, ai, d); f.compile();"
    )
    program = compile_program(text, "six")
    sizes = {"a": 5, "b": 2, "c": 3, "d": 2, "e": 2, "g": 5}
    run_and_check(program.algorithm, program.source, sizes, seed=5)


SCALARS = ["f64", "f32", "f16", "i64", "i32", "i16", "i8", "u8", "bool"]


@pytest.mark.parametrize("type", SCALARS)
def test_scalars(type: str) -> None:
    text = f"Func f; In V; SIn n : {type}; Var x; f[x] = V[x] + n; f.tensorize(x:8); f.compile();"
    program = compile_program(text, type)
    run_and_check(program.algorithm, program.source, {"x": 13}, seed=6)


def test_label_that_only_the_caller_knows() -> None:
    text = "Func f; In V; Var x, y; f[x, y] = V[x] + y; f.tensorize(y:8); f.compile();"
    program = compile_program(text, "free")
    run_and_check(program.algorithm, program.source, {"x": 5, "y": 11}, seed=7)


def test_no_inputs() -> None:
    text = "Func f; Var x, y; f[x, y] = x * 100 + y; f.tensorize(y:8); f.compile();"
    program = compile_program(text, "none")
    run_and_check(program.algorithm, program.source, {"x": 3, "y": 9}, seed=8)


def test_names_that_collide() -> None:
    text = (
        "Func tl, torch; In range, class; SIn lambda; Var INDEX, triton; RVar for;"
        "tl[INDEX, triton] = rsum(range[INDEX, for] * class[for, triton], for) * lambda;"
        "torch[INDEX, triton] = tl[INDEX, triton] + 1; tl.fuse_at(torch, INDEX);"
        "torch.tensorize(INDEX:4, triton:0, for:4); torch.compile();"
    )
    program = compile_program(text, "names")
    run_and_check(program.algorithm, program.source, {"INDEX": 6, "triton": 7, "for": 5}, seed=9)


def test_fused_output_where_the_root_is_empty() -> None:
    outputs, body = FUSED["two outputs, the root empty"]
    program = compile_program(f"Func {outputs}; {HEAD} {body}", "empty")
    run_and_check(program.algorithm, program.source, {"x": 5, "z": 0}, seed=10)


def test_a_long_sum() -> None:
    total = " + ".join(["A[x]"] * 150)
    program = compile_program(f"Func f; In A; Var x; f[x] = {total}; f.tensorize(x:4); f.compile();")
    run_and_check(program.algorithm, program.source, {"x": 5}, seed=11)
