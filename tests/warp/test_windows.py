"""Products whose rows, or columns, are the points of a box of several labels: convolutions, rows of
several matrices. The copy engine copies their boxes, and gives zeros outside of a tensor."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from apart import apart
from gluon_shim import loaded_on_the_shim
from running import computed, machine_code
from xdsl.dialects.builtin import ArrayAttr, BFloat16Type, IntAttr, ModuleOp

from dt_mlir.analysis.interface import Interface
from dt_mlir.backend.python_module import emit_module
from dt_mlir.backend.targets import specialized
from dt_mlir.certificates.certify import certify
from dt_mlir.dialects import warp
from dt_mlir.element_types import TORCH_TYPES, type_name
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.runtime.execute import loaded, prepare_triton

Arrays = dict[str, np.ndarray]
DEVICE = prepare_triton()
INPUTS = "In X : bf16, W : bf16;"
IMAGE = f"Func f : bf16; {INPUTS} Var n, p = size(X, 1), q = size(X, 2), o; RVar r = 3, s = 3, c;"
WINDOW = (
    "f[n, p, q, o] = rdot("
    "constant_exterior(X[n, p + r - 1, q + s - 1, c], 0), W[o, r, s, c], r, s, c)"
)
TILES = (
    "f.block(n:2, p:4, q:16, o:64); f.tensorize(n:2, p:4, q:16, o:64, c:32); f.num_stages(2); "
    "f.warp_specialize();"
)


def convolved(a: Arrays, around: int = 1, dilation: int = 1) -> np.ndarray:
    """A convolution of stride 1, channels last, of whole numbers."""
    x, w = (torch.tensor(a[name]) for name in ("X", "W"))
    found = torch.nn.functional.conv2d(
        x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2), padding=around, dilation=dilation
    )
    return found.permute(0, 2, 3, 1).numpy()


COLUMNS = (
    "f.block(h:4, x:128, y:64); f.tensorize(h:4, x:128, y:64, k:32); f.num_stages(2); "
    "f.warp_specialize();"
)
HEADS = [{"h": 4, "x": 128, "y": 64, "k": 32}, {"h": 5, "x": 136, "y": 72, "k": 40}]


class Form(NamedTuple):
    """A form of a product."""

    text: str
    expected: Callable[[Arrays], np.ndarray]
    sizes: list[dict[str, int]]


IMAGES = [
    {"n": 2, "p": 8, "q": 16, "o": 64, "c": 32}, {"n": 3, "p": 5, "q": 19, "o": 72, "c": 40},
    {"n": 1, "p": 1, "q": 1, "o": 8, "c": 8},
]  # fmt: skip
FORMS = {
    "a window": Form(f"{IMAGE} {WINDOW}; {TILES}", convolved, IMAGES),
    "a window of a known depth": Form(
        f"{IMAGE} {WINDOW}; {TILES}".replace("s = 3, c;", "s = 3, c = 32;"), convolved, IMAGES[:1],
    ),
    "a window, persistent": Form(f"{IMAGE} {WINDOW}; {TILES} f.persistent();", convolved, IMAGES),
    "a dilated window": Form(
        f"{IMAGE} {WINDOW.replace('+ r - 1', '+ 2 * r - 2').replace('+ s - 1', '+ 2 * s - 2')};"
        f"{TILES}", lambda a: convolved(a, 2, 2), IMAGES,
    ),
    "no boundary": Form(
        f"Func f : bf16; {INPUTS} Var n, p = size(X, 1) - 2, q = size(X, 2) - 2, o; "
        f"RVar r = 3, s = 3, c; f[n, p, q, o] = rdot(X[n, p + r, q + s, c], W[o, r, s, c], r, s, c);"
        f"{TILES}", lambda a: convolved(a, 0), IMAGES[:2],
    ),
    "tiles of a block": Form(
        f"{IMAGE} {WINDOW}; "
        f"{TILES.replace('block(n:2, p:4, q:16', 'block(n:4, p:8, q:32')}", convolved, IMAGES,
    ),
    "a bias and what is added": Form(
        f"Func f : bf16; {INPUTS} In b : f32, R : bf16; Var n, p, q, o; RVar c; "
        f"f[n, p, q, o] = rdot(X[n, p, q, c], W[o, c], c) + b[o] + R[n, p, q, o]; {TILES}",
        lambda a: a["X"] @ a["W"].T + a["b"] + a["R"], IMAGES,
    ),
    "rows of several matrices": Form(
        f"Func f : bf16; {INPUTS} Var h, x, y; RVar k; "
        "f[h, x, y] = rdot(X[h, x, k], W[k, y], k); f.block(h:4, x:32, y:64); "
        "f.tensorize(h:4, x:32, y:64, k:32); f.warp_specialize();",
        lambda a: a["X"] @ a["W"],
        [{"h": 4, "x": 32, "y": 64, "k": 32}, {"h": 5, "x": 41, "y": 72, "k": 40}],
    ),
    "a window of a sequence": Form(
        f"Func f : bf16; {INPUTS} Var b, t = size(X, 1), o; RVar r = 4, c; "
        "f[b, t, o] = rdot(constant_exterior(X[b, t - r, c], 0), W[r, c, o], r, c); "
        "f.block(b:2, t:64, o:64); f.tensorize(b:2, t:64, o:64, c:64); f.warp_specialize();",
        lambda a: sum(
            np.pad(a["X"], ((0, 0), (r, 0), (0, 0)))[:, : a["X"].shape[1]] @ a["W"][r]
            for r in range(4)
        ),
        [{"b": 2, "t": 64, "o": 64, "c": 64}, {"b": 3, "t": 70, "o": 40, "c": 72}],
    ),
    "columns of several matrices": Form(
        f"Func f : bf16; {INPUTS} Var h, x, y; RVar k; f[h, x, y] = rdot(X[x, k], W[h, k, y], k);"
        f"{COLUMNS}",
        lambda a: a["X"] @ a["W"], HEADS,
    ),
    "columns of several matrices, and a bias": Form(
        f"Func f : bf16; {INPUTS} In b : f32; Var h, x, y; RVar k; "
        "f[h, x, y] = rdot(X[x, k], W[h, k, y], k) + b[h, y]; f.persistent(); "
        f"{COLUMNS}",
        lambda a: a["X"] @ a["W"] + a["b"][:, None], HEADS,
    ),
    "columns of two labels": Form(
        f"Func f : bf16; {INPUTS} Var h, x, y; RVar k; f[x, h, y] = rdot(X[x, k], W[k, h, y], k);"
        f"{COLUMNS}",
        lambda a: np.einsum("xk,khy->xhy", a["X"], a["W"]), HEADS,
    ),
    "columns of three labels": Form(
        f"Func f : bf16; {INPUTS} Var g, h, x, y; RVar k; "
        "f[g, x, h, y] = rdot(X[x, k], W[h, g, k, y], k); f.block(g:2, h:4, x:128, y:32); "
        "f.tensorize(g:2, h:4, x:128, y:32, k:32); f.warp_specialize();",
        lambda a: np.einsum("xk,hgky->gxhy", a["X"], a["W"]),
        [{"g": 2, **HEADS[0]}, {"g": 3, **HEADS[1]}],
    ),
    "columns of narrow panels": Form(
        f"Func f : bf16; {INPUTS} Var h, x, y; RVar k; f[h, x, y] = rdot(X[x, k], W[h, k, y], k);"
        f"{COLUMNS.replace('h:4', 'h:8').replace('y:64', 'y:32')}",
        lambda a: a["X"] @ a["W"], [{**HEADS[0], "y": 32}, {**HEADS[1], "y": 40}],
    ),
    "columns of one panel": Form(
        f"Func f : bf16; {INPUTS} Var h, x, y; RVar k; f[h, x, y] = rdot(X[x, k], W[h, k, y], k);"
        f"{COLUMNS.replace('h:4', 'h:2').replace('y:64', 'y:32')}",
        lambda a: a["X"] @ a["W"], [{**HEADS[0], "y": 32}, {**HEADS[1], "y": 40}],
    ),
    "rows of several matrices that are transposed": Form(
        f"Func f : bf16; {INPUTS} Var h, x, y; RVar k; f[h, x, y] = rdot(X[h, k, x], W[k, y], k);"
        "f.block(h:2, x:64, y:64); f.tensorize(h:2, x:64, y:64, k:32); f.warp_specialize();",
        lambda a: np.swapaxes(a["X"], 1, 2) @ a["W"],
        [{"h": 2, "x": 64, "y": 64, "k": 32}, {"h": 3, "x": 72, "y": 72, "k": 40}],
    ),
}  # fmt: skip


def lowered(text: str) -> ModuleOp:
    """A program at the `warp` level."""
    module, _ = compile_text(f"{text}\nf.compile();\n", "window.dt")
    run_pipeline(module, default_pipeline("warp"))
    return module


def given_sizes(interface: Interface, given: Mapping[str, int]) -> dict[str, int]:
    """The sizes of all labels: what is read under a boundary condition is as large as what it is
    multiplied by; windows without one lose two points of each axis."""
    named = dict(given)
    for axis, label in enumerate(("n", "p", "q", "c") if "n" in given else ("b", "t", "c")):
        if f"X_{axis}" in interface.labels:
            named[f"X_{axis}"] = given[label]
    declared = [label for label in ("p", "q", "t") if "X_1" in interface.labels]
    kept = {n: size for n, size in named.items() if n in interface.labels and n not in declared}
    return interface.sizes(kept)


def arrays_of(interface: Interface, sizes: Mapping[str, int]) -> Arrays:
    """Whole numbers that every type here has."""
    generator = np.random.default_rng(0)
    return {
        item.name: generator.integers(-1, 2, interface.shape(item, sizes)).astype(float)
        for item in interface.inputs
    }


def tensors_of(interface: Interface, arrays: Arrays) -> list[torch.Tensor]:
    """The same as tensors of the types that a program declares."""
    return [
        torch.tensor(arrays[item.name]).to(getattr(torch, TORCH_TYPES[type_name(item.element)]))
        for item in interface.inputs
    ]


def rounded(array: np.ndarray) -> np.ndarray:
    """Numbers of bf16."""
    return torch.tensor(array).bfloat16().double().numpy()


@pytest.mark.parametrize("name", FORMS)
def test_the_interpreter_and_every_order(name: str) -> None:
    form = FORMS[name]
    module = lowered(form.text)
    run_pipeline(module.clone(), ["verify-warp"])
    assert any(isinstance(op, warp.KernelOp) for op in module.ops)
    interface = Interface.of(module)
    for given in form.sizes:
        sizes = given_sizes(interface, given)
        arrays = arrays_of(interface, sizes)
        found = computed(module, arrays, sizes, "f")
        np.testing.assert_array_equal(found, rounded(form.expected(arrays)))


@pytest.mark.parametrize("name", FORMS)
def test_the_text_of_both_kernels(name: str) -> None:
    form = FORMS[name]
    module = lowered(form.text)
    interface = Interface.of(module)
    for extents in form.sizes:
        arrays = arrays_of(interface, given_sizes(interface, extents))
        tensors, wanted = tensors_of(interface, arrays), rounded(form.expected(arrays))
        with loaded_on_the_shim(emit_module(specialized(module))) as emitted:
            found = emitted.f(*tensors)
        np.testing.assert_array_equal(found.double().numpy(), wanted)
        # Triton's interpreter rounds bf16 wrongly.
        other = lowered(form.text.replace("bf16", "f16"))
        with loaded(emit_module(other)) as emitted:
            given = tensors_of(Interface.of(other), arrays)
            found = emitted.f(*(tensor.to(DEVICE) for tensor in given))
        np.testing.assert_array_equal(found.double().cpu().numpy(), wanted)


def compiled(name: str) -> list[tuple[str, int | None, list[str]]]:
    module = lowered(FORMS[name].text)
    interface = Interface.of(module)
    known = interface.derived()
    sizes = given_sizes(interface, {
        label: size if label in known else 8 * size for label, size in FORMS[name].sizes[0].items()
    })  # fmt: skip
    return machine_code(module, sizes)


@pytest.mark.parametrize("name", FORMS)
def test_machine_code(name: str) -> None:
    ((ptx, spills, problems),) = apart(compiled, name)
    assert not problems
    assert spills == 0
    assert "wgmma.mma_async" in ptx
    dimensions = FORMS[name].text.split("f[")[1].split("]")[0].count(",") + 1
    assert f"cp.async.bulk.tensor.{dimensions}d" in ptx


@pytest.mark.parametrize(("swizzle", "box"), [
    (128, [4, 64, 64]), (64, [8, 64, 32]), (32, [4, 16, 16]), (128, [2, 2, 8, 8, 64]),
    (128, [2, 2, 16, 64]),
])  # fmt: skip
def test_panels_are_where_triton_has_them(swizzle: int, box: list[int]) -> None:
    """A box of panels and the matrix that it is have each element at one place."""
    from triton._C.libtriton import gluon_ir, ir
    from triton.experimental.gluon import language as gl

    context = ir.context()
    ir.load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)

    def places(shape: list[int]) -> np.ndarray:
        layout = gl.NVMMASharedLayout(swizzle, 16, rank=len(shape))
        bases = builder.to_linear_layout(layout._to_ir(builder), shape).offset_bases
        found = np.zeros(shape, int)
        for number in range(2 ** len(bases)):
            index = [0] * len(shape)
            for bit, basis in enumerate(bases):
                if number >> bit & 1:
                    index = [a ^ b for a, b in zip(index, basis)]
            found[tuple(index)] = number
        return found

    width = swizzle // 2
    for panels in range(1, len(box) - 1):
        rows, count = math.prod(box[panels:-1]), math.prod(box[:panels])
        type = warp.DescriptorType.new(
            [ArrayAttr(map(IntAttr, box)), BFloat16Type(), IntAttr(swizzle)]
        )
        matrix = warp.BufferType.of(type).with_extents([rows, count * width])
        assert warp.panel_axes(matrix, type) == panels
        copied = places(box).reshape(count, rows, width).swapaxes(0, 1)
        np.testing.assert_array_equal(copied.reshape(rows, -1), places(list(matrix.extents)))


@pytest.mark.parametrize("name", FORMS)
def test_certificates(name: str) -> None:
    pytest.importorskip("z3")
    found = certify(lowered(FORMS[name].text))
    assert not found.refuted


@pytest.mark.parametrize("multiple", [8, 16, 32])
def test_storage_that_goes_on(multiple: int) -> None:
    """A window of a padded tensor ends where its label does, filled padding or not."""
    text = (
        "Func g : bf16, f : bf16; In X : bf16, W : bf16, V : bf16; "
        "Var a, b, i; RVar k, c, s = 3; g[a, b, i] = rdot(X[a, b, k], W[k, i], k) + 1; "
        "f[a, b, i] = rdot(constant_exterior(g[a, b + s - 1, c], 0), V[s, c, i], s, c); "
        f"g.align_storage(b:{multiple}); "
        "g.block(a:8, b:16, i:64); g.tensorize(a:8, b:16, i:64, k:32); g.warp_specialize(); "
        "f.block(a:8, b:16, i:64); f.tensorize(a:8, b:16, i:64, c:32); f.warp_specialize();"
    )
    module = lowered(text)
    interface = Interface.of(module)
    sizes = interface.sizes({"a": 2, "b": 20, "i": 24, "k": 16, "c": 24})
    arrays = arrays_of(interface, sizes)
    between = np.pad(arrays["X"] @ arrays["W"] + 1, ((0, 0), (1, 1), (0, 0)))
    wanted = sum(between[:, s : s + 20] @ arrays["V"][s] for s in range(3))
    np.testing.assert_array_equal(computed(module, arrays, sizes, "f"), rounded(wanted))


@pytest.mark.parametrize("multiple", [16, 32])
def test_panels_of_storage_that_goes_on(multiple: int) -> None:
    """Panels of a padded tensor end where its label does, whatever axis of the box that is."""
    text = (
        "Func g : bf16, f : bf16; In X : bf16, W : bf16; Var h, x, y, c; RVar k; "
        "g[c, h, y] = W[c, h, y] + 1; f[h, x, y] = rdot(X[x, k], g[k, h, y], k); "
        "g.block(c:16, h:1, y:64); g.tensorize(c:16, y:64); "
        f"g.align_storage(c:{multiple}); {COLUMNS}"
    )
    module = lowered(text)
    assert "axes [1, 0, 2] ends [c, _, _] :" in str(module)
    interface = Interface.of(module)
    sizes = interface.sizes({"h": 3, "x": 72, "y": 72, "c": 40})
    arrays = arrays_of(interface, sizes)
    wanted = np.einsum("xk,khy->hxy", arrays["X"], arrays["W"] + 1)
    np.testing.assert_array_equal(computed(module, arrays, sizes, "f"), rounded(wanted))
    with loaded_on_the_shim(emit_module(specialized(module))) as emitted:
        found = emitted.f(*tensors_of(interface, arrays))
    np.testing.assert_array_equal(found.double().numpy(), rounded(wanted))


@pytest.mark.parametrize("other", ["rdot(Y[a, k], V[k, b], k)", "rdot(Y[a, b, k], V[a, k, i], k)"])
def test_products_with_other_rows(other: str) -> None:
    """Rows are no box where another product has a part of them only."""
    text = (
        "Func f : f32; In X : bf16, W : bf16, Y : bf16, V : bf16; Var a, b, i; RVar k; "
        f"f[a, b, i] = rdot(X[a, b, k], W[k, i], k) + {other}; "
        "f.block(a:4, b:16, i:16); f.tensorize(a:4, b:16, i:16, k:32);"
    )
    module, _ = compile_text(f"{text} f.compile();", "rows.dt")
    run_pipeline(module, default_pipeline())
    assert "joined_range" not in str(module)


def test_sizes_that_differ() -> None:
    """More channels in the image than in the weights: their boxes end in different places."""
    module = lowered(FORMS["a window"].text)
    x, w = torch.ones(1, 4, 16, 40), torch.ones(8, 3, 3, 32)
    x[..., 32:] = float("nan")
    with loaded(emit_module(lowered(FORMS["a window"].text.replace("bf16", "f16")))) as emitted:
        found: Any = emitted.f(*(tensor.to(DEVICE).half() for tensor in (x, w)))
    assert found.isfinite().all()
    given = [t.bfloat16() for t in (x, w)]
    refused = pytest.raises(ValueError, match="'c' has size 32, but 'X_3' has 40; the specialized")
    with loaded_on_the_shim(emit_module(specialized(module))) as emitted, refused:
        emitted.f(*given)
