"""Operands whose order says nothing, and the schedules that are found in whatever order."""

import re

import pytest
from scheduled import TWO_NORMS, algorithm, texts, with_swapped_operands
from xdsl.dialects import arith

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.auto import auto_schedule
from dt_mlir.autoscheduling.ordering import order_operands
from dt_mlir.costs.device import find_device
from dt_mlir.dialects import dt
from dt_mlir.traversal import operations

H200 = find_device("h200")


def ordered(lines: str, sizes: dict[str, int] | None = None, seed: int | None = None) -> str:
    """Returns a program's functions with their operands in order, without names of values.

    Args:
        lines: the definitions of its functions.
        sizes: sizes of labels.
        seed: operands are swapped at random before where there is one.
    """
    declared = ", ".join(name for name in "ghf" if f"{name}[" in lines)
    text = f"Func {declared}; In A, B, E, T : i64, u; Var x, y, k, m, n = 3;\n{lines}\nf.compile();"
    module = algorithm(text)
    if seed is not None:
        module = with_swapped_operands(module, seed)
    order_operands(module, Interface.of(module).sizes(sizes or {}))
    module.verify()
    for value in (value for op in operations(module) for value in op.results):
        value.name_hint = None
    return "\n".join(str(op) for op in module.ops if isinstance(op, dt.FuncOp))


@pytest.mark.parametrize(
    ("lines", "others"),
    [
        ("f[x, y] = A[x, y] * u[x];", "f[x, y] = u[x] * A[x, y];"),
        ("f[x, y] = exp(A[x, y]) + A[y, x];", "f[x, y] = A[y, x] + exp(A[x, y]);"),
        ("f[x, y] = maximum(A[y, x], A[x, y]);", "f[x, y] = maximum(A[x, y], A[y, x]);"),
        ("f[x, y] = A[x, y] > 0 and u[x] > 0;", "f[x, y] = u[x] > 0 and A[x, y] > 0;"),
        ("f[x, y] = rdot(A[x, k], B[k, y], k);", "f[x, y] = rdot(B[k, y], A[x, k], k);"),
        ("f[x] = rsum(u[k] * A[x, k], k);", "f[x] = rsum(A[x, k] * u[k], k);"),
        ("f[x, y] = where(u[x] == A[x, y], 1, 0);", "f[x, y] = where(A[x, y] == u[x], 1, 0);"),
        ("f[x, y] = where(T[x] != T[y], 1, 0);", "f[x, y] = where(T[y] != T[x], 1, 0);"),
        ("f[x, y] = fma(A[x, y], u[x], 2);", "f[x, y] = fma(u[x], A[x, y], 2);"),
        # Inside of each other.
        (
            "f[x] = u[x] * (2 * u[x] + rsum(A[x, k] * 2, k));",
            "f[x] = (rsum(2 * A[x, k], k) + u[x] * 2) * u[x];",
        ),
        # Indices decide, and their values.
        ("f[x, y] = A[x, y] * E[x + T[y], y];", "f[x, y] = E[x + T[y], y] * A[x, y];"),
        (
            "f[x] = rsum(u[2 * x + n + 1] * u[x + n], n);",
            "f[x] = rsum(u[x + n] * u[2 * x + n + 1], n);",
        ),
    ],
)  # fmt: skip
def test_the_order_follows_from_what_operands_are(lines: str, others: str) -> None:
    assert lines != others
    assert ordered(lines) == ordered(others)


@pytest.mark.parametrize(
    "lines",
    [
        # What else a tensor is used for.
        "f[x, y] = A[x, y] * B[x, y] - A[x, x];",
        "g[x] = rsum(A[x, k], k); f[x, y] = A[x, y] * B[x, y] + g[x];",
        # How it is used elsewhere.
        "g[x, y] = A[x, y] / B[x, y]; f[x, y] = (A[x, y] + B[x, y]) * rsum(g[x, k], k);",
        # By what reads its readers, and from what is read beside it.
        "g[x, y] = A[x, y] * 2; h[x, y] = B[x, y] * 2; f[x, y] = (g[x, y] + h[x, y]) * exp(h[x, y]);",
        "g[x, y] = A[x, y] + u[x]; h[x, y] = B[x, y] + u[y]; f[x, y] = A[x, y] * B[x, y] + "
        "g[x, y] * h[x, y];",
    ],
)  # fmt: skip
def test_tensors_are_told_apart_by_what_is_done_with_them(lines: str) -> None:
    assert {ordered(lines, seed=seed) for seed in range(8)} == {ordered(lines)}


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("A[x, y] - u[x]", "u[x] - A[x, y]"),
        ("where(A[x, y] > u[x], 1, 0)", "where(u[x] > A[x, y], 1, 0)"),
        ("fma(A[x, y], u[x], u[y])", "fma(A[x, y], u[y], u[x])"),
    ],
)
def test_other_operands_have_their_places(line: str, other: str) -> None:
    assert ordered(f"f[x, y] = {line};") != ordered(f"f[x, y] = {other};")


def test_tensors_far_from_what_tells_them_apart() -> None:
    """Each product is known by how far it is from the one that is marked."""
    inputs = [f"A{i}" for i in range(31)]
    names = [f"f{i}" for i in range(30)]
    lines = [f"{names[i]}[x] = {inputs[i]}[x] * {inputs[i + 1]}[x];" for i in range(1, 30)]
    lines += ["f0[x] = A0[x] * A1[x] * exp(A0[x]);", *(f"{name}.compile();" for name in names)]
    text = f"Func {', '.join(names)}; In {', '.join(inputs)}; Var x;\n" + "\n".join(lines)
    found = set[str]()
    for seed in range(4):
        module = with_swapped_operands(algorithm(text), seed)
        order_operands(module, Interface.of(module).sizes({}))
        found.add(re.sub("%A[0-9]+", "%", str(module)))
    assert len(found) == 1


def test_operations_that_nothing_uses() -> None:
    """They stay behind what they need."""
    module = algorithm("Func f; In A, u; Var x, y; f[x, y] = u[x] * A[x, y]; f.compile();")
    (function,) = (op for op in module.ops if isinstance(op, dt.FuncOp))
    block = function.body.block
    product = next(op for op in block.ops if isinstance(op, arith.MulfOp))
    unused = arith.AddfOp(product.result, product.operands[0])
    block.insert_op_after(unused, product)
    order_operands(module, {"x": 8, "y": 8})
    order = [*block.ops]
    assert [read.source_name for read in order[:2] if isinstance(read, dt.ReadOp)] == ["A", "u"]
    assert order[2:4] == [product, unused]
    assert order[4] is block.last_op


def test_sizes_tell_apart() -> None:
    lines = "f[x] = rsum(A[x, k], k) + rsum(B[x, m], m);"
    others = "f[x] = rsum(B[x, m], m) + rsum(A[x, k], k);"
    for sizes in ({"k": 64, "m": 4096}, {"k": 4096, "m": 64}):
        assert ordered(lines, sizes) == ordered(others, sizes)


def test_what_cannot_be_told_apart_stays() -> None:
    lines = "f[x, y] = A[x, y] * B[x, y];"
    assert ordered(lines).index("@A[x, y]") < ordered(lines).index("@B[x, y]")


PRODUCTS = """
Func g, h, f; In A : bf16, B : bf16, C : bf16, D : bf16; Var x, y, k;
g[x, k] = A[x, k] * B[x, k];
h[k, y] = C[k, y] + D[k, y] * D[k, y];
f[x, y] = rdot(g[x, k], h[k, y], k) + rdot(h[k, y], A[x, k], k) * A[x, y];
f.compile();
"""
SHARED = """
Func s, t, g, h, f; In A, B, u; Var x, y, k;
s[x] = rsum(A[x, k] * u[k], k);
t[x] = rmax(A[x, k] + B[x, k], k);
g[x, y] = A[x, y] * s[x] + t[x];
h[x, y] = (B[x, y] + t[x]) * s[x];
f[x, y] = g[x, y] * exp(h[x, y]) + h[x, y] * s[x];
f.compile(); h.compile();
"""


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (TWO_NORMS, {"i": 1024, "c": 1024, "e": 4096}),
        (PRODUCTS, dict.fromkeys("xyk", 1024)),
        (SHARED, {"x": 4096, "y": 1000, "k": 1000}),
        (SHARED, dict.fromkeys("xyk", 128)),
    ],
    ids=["norms", "products", "shared", "small"],
)
def test_schedules_are_the_same(text: str, sizes: dict[str, int]) -> None:
    module = algorithm(text)
    known = Interface.of(module).sizes(sizes)
    wanted = texts(auto_schedule(module, known, H200))
    for seed in range(6):
        assert texts(auto_schedule(with_swapped_operands(module, seed), known, H200)) == wanted
