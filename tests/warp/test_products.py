"""Programs whose warps are specialized: the interpreter computes them, every order is right, and they
compile to machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from apart import apart
from running import computed, machine_code
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.analysis.interface import Interface
from dt_mlir.analysis.shared_memory import shared_memory_of
from dt_mlir.backend.python_module import emit_module
from dt_mlir.dialects import warp
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.runtime.gluon_ahead_of_time import compile_gluon

Arrays = dict[str, np.ndarray]


class Form(NamedTuple):
    """A form of a product."""

    declared: str
    algorithm: str
    schedule: str
    expected: Callable[[Arrays], np.ndarray]


BLOCK = "mm.block(x:128, y:64); mm.tensorize(x:128, y:64, k:32);"
PERSISTENT = f"{BLOCK} mm.map(x:x1/2, y, x1); mm.persistent(); mm.warp_specialize(); mm.num_stages(2);"
PLAIN = "Func mm : bf16; In A : bf16, B : bf16;"
BATCHED = (
    "mm.block(b:1, x:128, y:64); mm.tensorize(x:128, y:64, k:32); mm.persistent(); "
    "mm.warp_specialize(); mm.num_stages(2);"
)
BOTH = "mm[x, y] = p[x, y] - 2 * q[x, y];"
FORMS = {
    "persistent": Form(
        PLAIN, "mm[x, y] = rdot(A[x, k], B[k, y], k);", PERSISTENT, lambda a: a["A"] @ a["B"],
    ),
    "a block a program": Form(
        PLAIN, "mm[x, y] = rdot(A[x, k], B[k, y], k);", f"{BLOCK} mm.warp_specialize();",
        lambda a: a["A"] @ a["B"],
    ),
    "launched while others end": Form(
        PLAIN, "mm[x, y] = rdot(A[x, k], B[k, y], k);",
        f"{BLOCK} mm.warp_specialize(); mm.dependent_launch();", lambda a: a["A"] @ a["B"],
    ),
    "one consumer": Form(
        PLAIN, "mm[x, y] = rdot(A[x, k], B[k, y], k);",
        "mm.block(x:64, y:128); mm.tensorize(x:64, y:128, k:64); "
        "mm.warp_specialize(consumers:1, registers:240); mm.num_stages(3);",
        lambda a: a["A"] @ a["B"],
    ),
    "two tiles of rows a consumer": Form(
        PLAIN, "mm[x, y] = rdot(A[x, k], B[k, y], k);",
        "mm.block(x:256, y:64); mm.tensorize(x:256, y:64, k:32); mm.warp_specialize();",
        lambda a: a["A"] @ a["B"],
    ),
    "transposed": Form(
        PLAIN, "mm[x, y] = rdot(A[k, x], B[y, k], k);", PERSISTENT, lambda a: a["A"].T @ a["B"].T,
    ),
    "f16": Form(
        "Func mm : f16; In A : f16, B : f16;", "mm[x, y] = rdot(A[x, k], B[k, y], k);", PERSISTENT,
        lambda a: a["A"] @ a["B"],
    ),
    "f8": Form(
        "Func mm : bf16; In A : f8e4m3, B : f8e4m3;", "mm[x, y] = rdot(A[x, k], B[y, k], k);",
        PERSISTENT, lambda a: a["A"] @ a["B"].T,
    ),
    "bias and a function": Form(
        "Func s, mm : bf16; In A : bf16, B : bf16, bias : f32;",
        "s[x, y] = rdot(A[x, k], B[k, y], k) + bias[y]; mm[x, y] = relu(s[x, y]);",
        f"s.inline(); {PERSISTENT}", lambda a: np.maximum(a["A"] @ a["B"] + a["bias"], 0),
    ),
    "sums of rows": Form(
        "Func p, mm : f32; In A : bf16, B : bf16; RVar j;",
        "p[x, y] = rdot(A[x, k], B[k, y], k); mm[x] = rsum(p[x, j], j);",
        "p.fuse_at(mm, j); mm.block(x:128); mm.tensorize(x:128, j:64, k:32); "
        "mm.warp_specialize();", lambda a: (a["A"] @ a["B"]).sum(1),
    ),
    "a scalar of a tensor": Form(
        "Func mm : bf16; In A : bf16, B : bf16, c : f32; SIn s : f32;",
        "mm[x, y] = rdot(A[x, k], B[k, y], k) * s + c[0];", PERSISTENT,
        lambda a: a["A"] @ a["B"] * a["s"] + a["c"][0],
    ),
    "tiles of a block": Form(
        PLAIN, "mm[x, y] = rdot(A[x, k], B[k, y], k);",
        "mm.block(x:128, y:128); mm.tensorize(x:128, y:64, k:32); mm.persistent(); "
        "mm.warp_specialize(); mm.num_stages(2);", lambda a: a["A"] @ a["B"],
    ),
    "batched": Form(
        f"{PLAIN} Var b;", "mm[b, x, y] = rdot(A[b, x, k], B[b, k, y], k);",
        BATCHED, lambda a: a["A"] @ a["B"],
    ),
    "of a group, in the middle": Form(
        f"{PLAIN} Var b = 3;", "mm[x, b, y] = rdot(A[x, k], B[b // 2, y, k], k);",
        BATCHED, lambda a: np.stack([a["A"] @ a["B"][b // 2].T for b in range(3)], 1),
    ),
    "one stage": Form(
        PLAIN, "mm[x, y] = rdot(A[x, k], B[k, y], k);",
        f"{BLOCK} mm.warp_specialize(); mm.num_stages(1);", lambda a: a["A"] @ a["B"],
    ),
    "in parts": Form(
        PLAIN, "mm[x, y] = rdot(A[x, k], B[k, y], k);",
        "mm.rfactor(k:3, parts); parts.block(k_part:1, x:128, y:64); "
        "parts.tensorize(x:128, y:64, k:32); parts.warp_specialize(); parts.num_stages(2); "
        "mm.block(x:16, y:16); mm.tensorize(x:16, y:16);", lambda a: a["A"] @ a["B"],
    ),
    "stored by threads": Form(
        "Func s, mm : bf16; In A : bf16, B : bf16, bias : f32;",
        "s[x, y] = rdot(A[x, k], B[k, y], k); mm[x, y] = s[x, y] + bias[y];",
        f"s.inline(); {PERSISTENT} mm.descriptor(A, B);", lambda a: a["A"] @ a["B"] + a["bias"],
    ),
    "batches, stored by threads": Form(
        f"{PLAIN} Var b;", "mm[b, x, y] = rdot(A[b, x, k], B[b, k, y], k);",
        f"{BATCHED} mm.descriptor(A);", lambda a: a["A"] @ a["B"],
    ),
    "scaled and added": Form(
        "Func mm : bf16; In A : bf16, B : bf16, C : bf16;",
        "mm[x, y] = rdot(A[x, k], B[k, y], k) * 2 - C[x, y];", PERSISTENT,
        lambda a: 2 * (a["A"] @ a["B"]) - a["C"],
    ),
    "rows by number": Form(
        "Func mm : bf16; In A : bf16, B : bf16, R : bf16, T : i32;",
        "mm[x, y] = rdot(A[x, k], B[k, y], k) + R[T[x], y];", PERSISTENT,
        lambda a: a["A"] @ a["B"] + a["R"][np.clip(a["T"].astype(int), 0, len(a["R"]) - 1)],
    ),
    "bytes": Form(
        "Func mm : u8; In A : bf16, B : bf16;", "mm[x, y] = cast(abs(rdot(A[x, k], B[k, y], k)), u8);",
        PERSISTENT, lambda a: abs(a["A"] @ a["B"]),
    ),
    "of integers": Form(
        "Func mm : f32; In A : i8, B : i8;", "mm[x, y] = cast(rdot(A[x, k], B[y, k], k) // 3, f32);",
        PERSISTENT, lambda a: (a["A"] @ a["B"].T) // 3,
    ),
    "two of one factor": Form(
        "Func p, q, mm : bf16; In A : bf16, B : bf16, C : bf16;",
        f"p[x, y] = rdot(A[x, k], B[k, y], k); q[x, y] = rdot(A[x, k], C[k, y], k); {BOTH}",
        f"mm.online(k); {PERSISTENT}", lambda a: a["A"] @ a["B"] - 2 * (a["A"] @ a["C"]),
    ),
    "two of one factor, the second": Form(
        "Func p, q, mm : bf16; In A : bf16, B : bf16, C : bf16;",
        f"p[x, y] = rdot(A[x, k], B[k, y], k); q[x, y] = rdot(C[x, k], B[k, y], k); {BOTH}",
        f"mm.online(k); {BLOCK} mm.warp_specialize(); mm.num_stages(3);",
        lambda a: a["A"] @ a["B"] - 2 * (a["C"] @ a["B"]),
    ),
    "two with a stage": Form(
        "Func p, q, mm : bf16; In A : bf16, B : bf16, C : bf16;",
        f"p[x, y] = rdot(A[x, k], B[k, y], k); q[x, y] = rdot(A[x, k], C[k, y], k); {BOTH}",
        f"mm.online(k); {BLOCK} mm.warp_specialize(); mm.num_stages(1);",
        lambda a: a["A"] @ a["B"] - 2 * (a["A"] @ a["C"]),
    ),
    "two products": Form(
        "Func p, q, mm : bf16; In A : bf16, B : bf16, C : bf16, D : bf16;",
        f"p[x, y] = rdot(A[x, k], B[k, y], k); q[x, y] = rdot(C[x, k], D[k, y], k); {BOTH}",
        f"mm.online(k); {PERSISTENT}", lambda a: a["A"] @ a["B"] - 2 * (a["C"] @ a["D"]),
    ),
    "three of one factor": Form(
        "Func p, q, r, mm : bf16; In A : bf16, B : bf16, C : bf16, D : bf16;",
        "p[x, y] = rdot(A[x, k], B[k, y], k); q[x, y] = rdot(A[x, k], C[k, y], k); "
        "r[x, y] = rdot(D[x, k], B[k, y], k); mm[x, y] = p[x, y] - 2 * q[x, y] + r[x, y];",
        f"mm.online(k); {PERSISTENT}",
        lambda a: a["A"] @ a["B"] - 2 * (a["A"] @ a["C"]) + a["D"] @ a["B"],
    ),
}  # fmt: skip
SIZES = [
    {"x": 128, "y": 64, "k": 32}, {"x": 300, "y": 130, "k": 100}, {"x": 1, "y": 1, "k": 1},
    {"x": 130, "y": 70, "k": 0},
]  # fmt: skip


def text(form: Form) -> str:
    """Returns the program of a form."""
    return f"{form.declared} Var x, y; RVar k;\n{form.algorithm}\n{form.schedule}\nmm.compile();\n"


def lowered(form: Form) -> ModuleOp:
    module, _ = compile_text(text(form), "product.dt")
    run_pipeline(module, default_pipeline("warp"))
    return module


@pytest.mark.parametrize("name", FORMS)
def test_barriers_are_proved(name: str) -> None:
    """For any number of steps, of blocks, and of blocks that an instance walks."""
    protocols = pytest.importorskip("dt_mlir.certificates.protocols")
    kernels = [op for op in lowered(FORMS[name]).ops if isinstance(op, warp.KernelOp)]
    assert [protocols.proof_of(kernel, 60).reason for kernel in kernels] == [""]


@pytest.mark.parametrize("name", FORMS)
def test_the_interpreter_and_every_order(name: str) -> None:
    form = FORMS[name]
    module = lowered(form)
    run_pipeline(module.clone(), ["verify-warp"])
    interface = Interface.of(module)
    for given in SIZES:
        sizes = interface.sizes(given | {"b": 3} if "b" in interface.labels else given)
        generator = np.random.default_rng(0)
        arrays = {
            item.name: generator.integers(-2, 3, interface.shape(item, sizes)).astype(float)
            for item in interface.inputs
        }
        found = computed(module, arrays, sizes, "mm")
        # Whole numbers of such sizes are numbers of every type here.
        expected = form.expected(arrays)
        most = 2**24 if "mm : f32" in form.declared else 256
        assert np.abs(expected).max(initial=0) <= most
        np.testing.assert_array_equal(found, expected)


def compiled(name: str) -> list[tuple[str, int | None, list[str]]]:
    module = lowered(FORMS[name])
    sizes = Interface.of(module).sizes({"x": 1000, "y": 1000, "k": 1000})
    return machine_code(module, sizes)


@pytest.mark.parametrize("name", FORMS)
def test_machine_code(name: str) -> None:
    ((ptx, spills, problems),) = apart(compiled, name)
    assert not problems
    assert spills == 0
    assert "wgmma.mma_async" in ptx


LARGE = "mm.block(x:128, y:256); mm.tensorize(x:128, y:256, k:64); mm.warp_specialize();"


def shared_memory(schedule: str, element: str) -> tuple[int, int]:
    """Returns the bytes that a product's kernel takes, by what is counted and by its code."""
    declared = PLAIN.replace("mm : bf16", f"mm : {element}")
    module = lowered(Form(declared, FORMS["persistent"].algorithm, schedule, lambda a: a["A"]))
    (kernel,) = [op for op in module.ops if isinstance(op, warp.KernelOp)]
    sizes = Interface.of(module).sizes({"x": 1000, "y": 1001, "k": 1000})
    (found,) = compile_gluon(module, emit_module(module), sizes)
    return shared_memory_of(kernel), found.shared


@pytest.mark.parametrize("element", ["bf16", "f32"])
@pytest.mark.parametrize("tiles", [f"{BLOCK} mm.warp_specialize();", LARGE])
def test_machine_code_exchanges_what_threads_store(tiles: str, element: str) -> None:
    """Large tiles in parts, so that they need no more shared memory than is counted."""
    counted, taken = apart(shared_memory, f"{tiles} mm.num_stages(2); mm.descriptor(A, B);", element)
    assert counted <= taken + 64
    assert taken <= counted + 1024
