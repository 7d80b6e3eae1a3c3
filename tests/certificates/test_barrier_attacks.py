"""Wrong uses of barriers that once were proved: each hole has a kernel that falls into it."""

from pathlib import Path

import pytest
from test_attacks import edited
from test_faults import parsed

from dt_mlir.certificates.certify import certify
from dt_mlir.certificates.obligation import Kind, Verdict
from dt_mlir.certificates.protocols import proof_of
from dt_mlir.dialects import warp
from dt_mlir.frontend.emit import compile_text
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.printing import module_text

PRODUCT = (
    "Func f : bf16; In A : bf16, B : bf16; Var x, y; RVar k; f[x, y] = rdot(A[x, k], B[k, y], k); "
    "f.block(x:128, y:128); f.tensorize(x:128, y:128, k:64); "
    "f.warp_specialize(consumers:2, registers:240); f.num_stages(3); f.compile();"
)
BARRIER = "    %ready = warp.mbarrier_create"
ONE_MORE = "    %more = warp.mbarrier_create 1 arrivals 2\n" + BARRIER
A_OF, B_OF = (f"!warp.buffer<[64, {n}] x bf16, swizzle 128>" for n in (64, 128))
CHOSEN = f"""%is = arith.cmpi sgt, %k_start, %2 : index
          %chosen:2 = scf.if %is -> ({A_OF}, {B_OF}) {{
            scf.yield %10, %11 : {A_OF}, {B_OF}
          }} else {{
            scf.yield %10, %11 : {A_OF}, {B_OF}
          }}
          %product = warp.mma %chosen#0, %chosen#1 acc %acc_1
          warp.mbarrier_wait %ready[%stage] parity %phase
"""
WAIT = "warp.mbarrier_wait %ready[%stage] parity %phase\n"
ATTACKS = {
    "a wait in front of all groups": (
        "stands in front of the groups of warps, and none carries it out",
        [("    warp.specialize {", "    warp.mbarrier_wait %ready[%2] parity %2\n"
          "    warp.specialize {")],
    ),
    "buffers that a branch gives": (
        "it is not known what 'warp.mma' acts on",
        [(f"{WAIT}          %product = warp.mma %10, %11 acc %acc_1\n", CHOSEN)],
    ),
    "a copy over a store without a fence": (
        "to which 'consumer 0' has stored without a fence",
        [(BARRIER, "    %full = warp.mbarrier_create 1 arrivals 1\n" + ONE_MORE),
         ("warp.local_store %17 to %18\n        warp.fence_async\n",
          "warp.local_store %17 to %18\n        warp.mbarrier_arrive %more[%2]\n"
          "        warp.mbarrier_wait %full[%2] parity %2\n"),
         ("          scf.yield %next_1 : index\n        }\n",
          "          scf.yield %next_1 : index\n        }\n"
          "        warp.mbarrier_wait %more[%2] parity %2\n"
          "        warp.mbarrier_expect %full[%2] bytes 32768\n"
          "        %z0 = warp.index %f_tiles[%2]\n        %z1 = warp.index %f_tiles[%4]\n"
          "        warp.tma_load %f_box[%x_origin_1, %y_origin_1] to %z0 signal %full[%2]\n"
          "        warp.tma_load %f_box[%x_origin_1, %y_origin_1] to %z1 signal %full[%2]\n")],
    ),
    "a copy that nobody waits for": (
        "may still be filled when all groups have ended",
        [(BARRIER, ONE_MORE.replace("arrivals 2", "arrivals 1")),
         ("    %A_tiles = warp.alloc", "    %more_tiles = warp.alloc : !warp.ring<1 x [64, 128] x "
          "bf16, swizzle 128>\n    %A_tiles = warp.alloc"),
         ("          scf.yield %next_1 : index\n        }\n",
          "          scf.yield %next_1 : index\n        }\n"
          "        %last = warp.index %more_tiles[%2]\n"
          "        warp.mbarrier_expect %more[%2] bytes 16384\n"
          "        warp.tma_load %B_box[%2, %y_origin_1] to %last signal %more[%2]\n")],
    ),
    "a loop that does not end": (
        "a loop has a step that may be below 1",
        [("        %7 = tile.fill", "        scf.for %again = %2 to %0 step %2 {\n"
          "          %unused = arith.addi %again, %4 : index\n        }\n        %7 = tile.fill")],
    ),
    "questions about numbers below 0": (
        "all groups may wait for each other",
        [(BARRIER, ONE_MORE),
         ("    %0 = arith.constant 128 : index\n    %1", "    %n10 = arith.constant 10 : index\n"
          "    %n20 = arith.constant 20 : index\n    %0 = arith.constant 128 : index\n    %1"),
         ("        %7 = tile.fill", "        %p10 = arith.addi %pid, %n10 : index\n"
          "        %p20 = arith.addi %pid, %n20 : index\n"
          "        %c10 = arith.cmpi sgt, %p10, %x_size : index\n"
          "        %c20 = arith.cmpi sgt, %p20, %x_size : index\n"
          "        scf.if %c10 {\n          warp.mbarrier_arrive %more[%2]\n        }\n"
          "        %7 = tile.fill"),
         ("        %17 = tile.map", "        scf.if %c20 {\n"
          "          warp.mbarrier_wait %more[%2] parity %2\n        }\n        %17 = tile.map"),
         ("scf.for %k_start = %2 to %k_size step", "scf.for %k_start = %2 to %0 step"),
         ("scf.for %k_start_1 = %2 to %k_size step", "scf.for %k_start_1 = %2 to %0 step")],
    ),
}  # fmt: skip


def specialized() -> str:
    """Returns the product as IR of the `warp` level."""
    module, _ = compile_text(PRODUCT, "program")
    run_pipeline(module, default_pipeline("warp"))
    return module_text(module)


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_not_proved(attack: str, tmp_path: Path) -> None:
    reason, edits = ATTACKS[attack]
    text = specialized()
    start = text.index("  warp.kernel")
    wrong = text[:start] + edited(text[start:], *edits)
    for source, expected in ((text, ""), (wrong, reason)):
        module = parsed(source, tmp_path)
        (kernel,) = (op for op in module.ops if isinstance(op, warp.KernelOp))
        found = proof_of(kernel, 120).reason
        assert expected in found
        assert bool(expected) is bool(found)


def test_what_is_not_proved_is_explored(tmp_path: Path) -> None:
    """A certificate says of barriers what all orders show, rather than that a run was right."""
    text = specialized()
    start = text.index("  warp.kernel")
    reason, edits = ATTACKS["a copy over a store without a fence"]
    module = parsed(text[:start] + edited(text[start:], *edits), tmp_path)
    (found,) = [x for x in certify(module).obligations if x.kind is Kind.PROTOCOL]
    assert found.verdict is Verdict.REFUTED
    assert reason in found.reason
