"""Attention whose warps are specialized: the interpreter computes it, every order is right, and it
compiles to machine code."""

from __future__ import annotations

import numpy as np
import pytest
from apart import apart
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult

from dt_mlir.analysis.interface import Interface
from dt_mlir.backend.python_module import emit_module
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import warp
from dt_mlir.frontend.emit import compile_text
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
from dt_mlir.interpreters.run import run_module
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.runtime.gluon_ahead_of_time import compile_gluon
from dt_mlir.traversal import operations_of

PLAIN = "rdot(Q[h, i, c], K[h, j, c], c) * 0.125"
FORMS = {
    "plain": PLAIN,
    "with a scale": "rdot(Q[h, i, c], K[h, j, c], c) * scale",
    "over a root": "rdot(Q[h, i, c], K[h, j, c], c) / sqrt(len(i))",
    "capped": "tanh(rdot(Q[h, i, c], K[h, j, c], c) * 0.02) * 5",
    "with a bias": f"{PLAIN} + cast(j - i, f32) * 0.5",
    "of groups": "rdot(Q[h, i, c], K[h // 2, j, c], c) * 0.125",
    "masked by a tensor": f"where(M[i, j], {PLAIN}, -1000.0)",
    "causal": PLAIN,
    "in a window": PLAIN,
    "causal, of groups": "rdot(Q[h, i, c], K[h // 2, j, c], c) * 0.125",
    "beside a residual": PLAIN,
    "beside rows by number": f"{PLAIN} + R[T[j], 0]",
}
RESULTS = {"beside a residual": " + R[i, d] * R[i, 0]", "beside rows by number": " + R[U[i], d]"}
"""Terms behind the second product."""
DOMAINS = {
    "causal": ", j <= i", "in a window": ", j <= i, j > i - 70", "causal, of groups": ", j <= i",
}  # fmt: skip
"""The conditions on the keys of a query."""
SCHEDULES = {
    "persistent": "o.warp_specialize(); o.persistent(); o.num_stages(2);",
    "alternating": "o.warp_specialize(); o.persistent(rounds:alternating); o.map(i:descending, h); "
    "o.num_stages(2);",
    "one stage": "o.warp_specialize(); o.num_stages(1);",
}


def text(form: str, schedule: str, head: int = 64) -> str:
    mask = ", M : bool" if "M[" in FORMS[form] else ""
    more = " In R : f32, T : i32, U : i32;" if form in RESULTS else ""
    scalar = " SIn scale : f32;" if "scale" in FORMS[form] else ""
    values = "V[h // 2, j, d]" if "h // 2" in FORMS[form] else "V[h, j, d]"
    domain = DOMAINS.get(form, "")
    heads = "h = 2" if "h // 2" in FORMS[form] else "h"
    return f"""
    Func s, top, p, total, o : bf16; In Q : bf16, K : bf16, V : bf16{mask};{scalar}{more}
    Var {heads}, i, d = {head}; RVar j, c = {head};
    s[h, i, j]  = {FORMS[form]};
    top[h, i]   = rmax(s[h, i, j], j{domain});
    p[h, i, j]  = exp(s[h, i, j] - top[h, i]);
    total[h, i] = rsum(p[h, i, j], j{domain});
    o[h, i, d]  = rdot(p[h, i, j], {values}, j{domain}) / total[h, i]{RESULTS.get(form, "")};
    o.online(j); o.precision(narrow); o.block(h:1, i:128); o.tensorize(i:128, j:64, c:0, d:0);
    {schedule}
    o.compile();
    """


def lowered(form: str, schedule: str, level: str = "warp", head: int = 64) -> ModuleOp:
    module, _ = compile_text(text(form, schedule, head), "attention.dt")
    run_pipeline(module, default_pipeline(level))
    return module


@pytest.mark.parametrize("form", ["plain", "causal", "in a window"])
@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=list(SCHEDULES))
def test_barriers_are_proved(form: str, schedule: str) -> None:
    """For any number of keys, of blocks, and of blocks that an instance walks."""
    protocols = pytest.importorskip("dt_mlir.certificates.protocols")
    module = lowered(form, schedule)
    (kernel,) = (op for op in module.ops if isinstance(op, warp.KernelOp))
    assert protocols.proof_of(kernel, 120).reason == ""


@pytest.mark.parametrize("domain", ["j <= i", "8 * j <= i", "j <= i - 1000"])
@pytest.mark.parametrize("schedule", ["persistent", "alternating"])
def test_a_loop_behind_another_that_counts_anew_is_found(schedule: str, domain: str) -> None:
    """Only blocks behind the first have keys that all of their queries see, and a loop for them."""
    program = text("causal", SCHEDULES[schedule]).replace("j <= i", domain)
    module, _ = compile_text(program, "attention.dt")
    run_pipeline(module, default_pipeline("warp"))
    changed = 0
    for loop in operations_of(module, scf.ForOp):
        for place, value in enumerate(loop.iter_args):
            before = value.owner
            if isinstance(before, scf.ForOp) and isinstance(value, OpResult):
                loop.operands[3 + place] = before.iter_args[value.index]
                changed += 1
    assert changed
    with pytest.raises(CompileError, match="'K_tiles|'K_ready"):
        run_pipeline(module, ["verify-warp"])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=list(SCHEDULES))
def test_the_interpreter_and_every_order(form: str, schedule: str) -> None:
    module, tiles = lowered(form, schedule), lowered(form, schedule, "tile")
    run_pipeline(module.clone(), ["verify-warp"])
    interface = Interface.of(module)
    arithmetic = BoundedArithmetic(Accuracy.of(module))
    sizes = interface.sizes({"i": 130, "j": 100} | ({} if "h // 2" in FORMS[form] else {"h": 2}))
    generator = np.random.default_rng(0)
    inputs = {
        item.name: arithmetic.from_array(
            generator.standard_normal(interface.shape(item, sizes)) > 0
            if str(item.element) == "i1"
            else generator.standard_normal(interface.shape(item, sizes)), item.element,
        )
        for item in interface.inputs
    }
    if form in DOMAINS:
        # No query before it sees this key.
        values = np.array(inputs["V"].value)
        values[:, 90] = np.nan
        inputs["V"] = arithmetic.from_array(values, interface.inputs[2].element)
    found = run_module(module, inputs, sizes, arithmetic)["o"]
    # The same tiles in the same order.
    wanted = run_module(tiles, inputs, sizes, arithmetic)["o"]
    np.testing.assert_array_equal(np.asarray(found.value), np.asarray(wanted.value))
    finite = np.isfinite(np.asarray(found.value)).all(axis=(0, 2))
    queries = np.arange(sizes["i"])
    assert (finite == ((queries < 90) if form in DOMAINS else True)).all()


def compiled(form: str, head: int) -> list[tuple[str, int | None, list[str]]]:
    schedule = "o.warp_specialize(registers:232); o.num_stages(2);"
    module = lowered(form, schedule, head=head)
    sizes = Interface.of(module).sizes({"i": 1000, "j": 1000})
    return [
        (kernel.asm["ptx"], kernel.spills, kernel.problems())
        for kernel in compile_gluon(module, emit_module(module), sizes)
    ]


@pytest.mark.parametrize("head", [64, 128])
@pytest.mark.parametrize("form", FORMS)
def test_machine_code(form: str, head: int) -> None:
    ((ptx, spills, problems),) = apart(compiled, form, head)
    assert not problems
    assert spills == 0
    assert "wgmma.mma_async" in ptx
    assert "cp.async.bulk.tensor.3d" in ptx
