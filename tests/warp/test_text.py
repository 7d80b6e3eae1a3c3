"""The text of emitted modules of Gluon computes what it should, on a shim of Gluon's names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from gluon_shim import DeadlockError, loaded_on_the_shim
from test_attention import DOMAINS, SCHEDULES
from test_attention import lowered as lowered_attention
from test_products import FORMS, lowered

from dt_mlir.analysis.interface import Interface
from dt_mlir.backend.python_module import emit_module
from dt_mlir.backend.targets import specialized
from dt_mlir.compiler import compile_program
from dt_mlir.element_types import TORCH_TYPES, type_name
from dt_mlir.runtime.execute import prepare_triton
from dt_mlir.runtime.launch import record

prepare_triton()


def inputs_of(interface: Interface, sizes: dict[str, int]) -> tuple[list[Any], dict[str, Any]]:
    """Whole numbers, as tensors whose rows start at multiples of 16 bytes, and as arrays."""
    generator = np.random.default_rng(0)
    arrays = {
        item.name: generator.integers(-2, 3, interface.shape(item, sizes)).astype(float)
        for item in interface.inputs
    }
    given: list[Any] = []
    for item in interface.inputs:
        array, dtype = arrays[item.name], getattr(torch, TORCH_TYPES[type_name(item.element)])
        given.append(torch.tensor(array).to(dtype) if item.axes is not None else float(array))
    return given, arrays


def check(name: str, source: str, interface: Interface, given: dict[str, int]) -> None:
    """Runs the text of a product, and compares what it computes."""
    sizes = interface.sizes(given | {"b": 3} if "b" in interface.labels else given)
    inputs, arrays = inputs_of(interface, sizes)
    with loaded_on_the_shim(source) as emitted:
        found = emitted.mm(*inputs)
    np.testing.assert_array_equal(found.double().numpy(), FORMS[name].expected(arrays))


# What combines parts is a kernel of Triton's.
@pytest.mark.parametrize("name", [name for name in FORMS if name != "in parts"])
def test_products(name: str) -> None:
    module = lowered(FORMS[name])
    source, interface = emit_module(specialized(module)), Interface.of(module)
    for given in ({"x": 128, "y": 64, "k": 32}, {"x": 304, "y": 144, "k": 112}):
        check(name, source, interface, given)


COPIES = """
Func mm : bf16; In A : bf16, B : bf16; Var x, y; RVar k; mm[x, y] = rdot(A[x, k], B[k, y], k);
mm.cache_read(A, C); mm.cache_read(B, D);
C.block(x:32, k:32); C.tensorize(x:32, k:32); C.align_storage(x:128, k:32);
D.block(k:32, y:32); D.tensorize(k:32, y:32); D.align_storage(k:32, y:64);
mm.block(x:128, y:64); mm.tensorize(x:128, y:64, k:32); mm.descriptor(C, D); mm.warp_specialize();
mm.compile();
"""


@pytest.mark.parametrize("name", ["inputs", "copies"])
def test_calls_that_are_made_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launches of one call, with other tensors, of which each is described anew."""
    if name == "copies":
        source = emit_module(specialized(compile_program(COPIES).module))
    else:
        source = emit_module(specialized(lowered(FORMS["persistent"])))
    monkeypatch.setattr(torch, "empty", filled(torch.empty))
    monkeypatch.setattr(torch, "empty_strided", filled(torch.empty_strided))
    with loaded_on_the_shim(source) as emitted:
        pairs = [
            (torch.full((144, 64), value).bfloat16(), torch.ones(64, 80).bfloat16())
            for value in (1, 2)
        ]
        found, plan = record(emitted.mm, pairs[0], {})
        assert plan is not None
        again = plan(pairs[1], [tensor.data_ptr() for tensor in pairs[1]])
    assert torch.equal(found, torch.full((144, 80), 64).bfloat16())
    assert torch.equal(again, torch.full((144, 80), 128).bfloat16())


def filled(allocate: Any) -> Any:
    """Allocates tensors that hold what no result may depend on."""
    return lambda *shape, **options: allocate(*shape, **options).fill_(torch.nan)


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=list(SCHEDULES))
@pytest.mark.parametrize("form", ["plain", "with a scale", "over a root", "causal", "in a window"])
def test_attention(form: str, schedule: str) -> None:
    module = lowered_attention(form, schedule)
    q, k, v = (torch.randn(2, n, 64).bfloat16() for n in (136, 200, 200))
    i, j = torch.arange(136)[:, None], torch.arange(200)
    sees = {"causal": j <= i, "in a window": (j <= i) & (j > i - 70)}.get(form, i + j >= 0)
    if form in DOMAINS:
        # No query before it sees this key.
        v[:, 100] = float("inf")
    # One that is negative cannot be moved behind the maximum.
    scales = {"with a scale": (0.125, -0.125), "over a root": (136**-0.5,)}
    for scale in scales.get(form, (0.125,)):
        given = (scale,) if form == "with a scale" else ()
        with loaded_on_the_shim(emit_module(specialized(module))) as emitted:
            found = emitted.o(q, k, v, *given)
        scores = (q.float() @ k.float().mT * scale).masked_fill(~sees, float("-inf"))
        weights, values = scores.softmax(-1), v.float()
        wanted = torch.where(sees[..., None], weights[..., None] * values[:, None], 0.0).sum(2)
        torch.testing.assert_close(found.float(), wanted, atol=2e-2, rtol=2e-2)


FAULTS = {
    "a phase that is not flipped": (
        "mbarrier.wait(empty.index(stage), 1 - ", "mbarrier.wait(empty.index(stage), ",
    ),
    "a stage that is released early": ("count=2)", "count=1)"),
    "a wait for bytes that do not come": (
        "mbarrier.expect(ready.index(stage), 12288)", "mbarrier.expect(ready.index(stage), 12289)",
    ),
    "a result that is not waited for": ("tma.store_wait(0)", "pass"),
    "a product that is not waited for": ("num_outstanding=0", "num_outstanding=1"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_show(fault: str) -> None:
    """Notices faults of the text, which is what the shim runs."""
    old, new = FAULTS[fault]
    module = lowered(FORMS["persistent"])
    source = emit_module(specialized(module))
    assert old in source
    faulty, interface = source.replace(old, new), Interface.of(module)
    with pytest.raises((AssertionError, DeadlockError, AttributeError, TypeError)):
        check("persistent", faulty, interface, {"x": 304, "y": 144, "k": 112})
