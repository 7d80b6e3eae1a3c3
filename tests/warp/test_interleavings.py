"""Faults planted into a kernel of the warp level are found, whatever the order in which they show."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import ModuleOp, bf16

from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import warp
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
from dt_mlir.interpreters.memory import ExecutionError
from dt_mlir.interpreters.run import run_module
from dt_mlir.interpreters.tile_level import MULTIPROCESSORS
from dt_mlir.interpreters.warp_interleavings import actions_of, explore
from dt_mlir.passes.verify_warp import Cases
from dt_mlir.registry import DIALECTS
from dt_mlir.tools.parsing import parse_mlir

PRODUCT = Path(__file__).parents[1] / "filecheck" / "dialects" / "warp" / "product.mlir"
TEXT = PRODUCT.read_text(encoding="utf-8")
SIZES = {"x": 600, "y": 256, "k": 512}
"""An instance walks three blocks with eight trips each; rings have three stages."""


class Planted(NamedTuple):
    """A fault."""

    before: str
    after: str
    message: str
    """A part of what is said of it."""


LAST_RELEASE = "        warp.mbarrier_arrive %empty[%previous]\n        %narrow"
RELEASE = "            warp.mbarrier_arrive %empty[%previous]\n          }"
FAULTS = {
    "phase of consumers not flipped": Planted(
        "parity %phase", "parity %zero", "into which a copy is still under way",
    ),
    "phase of the producer not flipped": Planted(
        "subi %one, %phase", "subi %one, %zero", "into which a copy is still under way",
    ),
    "producer waits for the phase of consumers": Planted(
        "subi %one, %phase", "addi %zero, %phase", "'empty[0]', which lacks 2 arrivals",
    ),
    "a parity that is none": Planted(
        "subi %one, %phase", "addi %one, %phase", "a barrier's parity is 0 or 1, and not 2",
    ),
    "another stage released": Planted(
        RELEASE, RELEASE.replace("%previous", "%stage"), "all wait, and nothing is under way",
    ),
    "stage released while a product reads it": Planted(
        "warp.mma_wait 1 for", "warp.mma_wait 2 for",
        "copies into a buffer, 'As[0]', which a product of 'consumer 0' still reads",
    ),
    "stage released by one of two consumers": Planted(
        "create 3 arrivals 2", "create 3 arrivals 1", "into which a copy is still under way",
    ),
    "an arrival too many counted": Planted(
        "create 3 arrivals 2", "create 3 arrivals 3", "which lacks an arrival",
    ),
    "an arrival of the producer too many counted": Planted(
        "create 3 arrivals 1", "create 3 arrivals 2", "which lacks an arrival",
    ),
    "consumers do not wait": Planted(
        "          warp.mbarrier_wait %ready[%stage] parity %phase\n", "",
        "'As[0]', which nothing has filled yet",
    ),
    "the producer does not wait": Planted(
        "          warp.mbarrier_wait %empty[%stage] parity %parity\n", "",
        "into which a copy is still under way",
    ),
    "no fence behind stores": Planted(
        "        warp.fence_async\n        %row", "        %row",
        "to which 'consumer 1' has stored without a fence behind it",
    ),
    "no fence behind barriers": Planted(
        "  warp.fence_async\n  %x_size", "  %x_size",
        "barriers are initialised without a fence behind it",
    ),
    "bytes too few expected": Planted(
        "bytes 49152", "bytes 40960", "into which a copy is still under way",
    ),
    "bytes too many expected": Planted("bytes 49152", "bytes 57344", "which lacks 8192 bytes"),
    "no wait for the last store": Planted(
        "        warp.tma_store_wait 0\n        %c", "        %c",
        "stores into a buffer, 'mms[1]', which a copy of 'consumer 1' to a tensor still reads",
    ),
    "an end before the last store": Planted(
        "      warp.tma_store_wait 0\n    }", "    }",
        "'consumer 0' ends while a copy of it still reads shared memory",
    ),
    "last stage not released": Planted(
        LAST_RELEASE, "        %narrow", "all wait, and nothing is under way",
    ),
    "last stage released twice": Planted(
        LAST_RELEASE, f"        warp.mbarrier_arrive %empty[%previous]\n{LAST_RELEASE}",
        "still reads",
    ),
    "sum used while its product is under way": Planted(
        "%total = warp.mma_wait 0", "%total = warp.mma_wait 1",
        "'consumer 0' uses the result of a product that is still under way",
    ),
    "ring too short": Planted(
        "warp.ring<6 x", "warp.ring<5 x", "'As' has 5 buffers, and none of the number 5",
    ),
    "ring wraps early": Planted(
        "%stages = arith.constant 3", "%stages = arith.constant 2", "all wait",
    ),
    "bytes arrive at another barrier": Planted(
        "to %b signal %ready", "to %b signal %empty", "which lacks 32768 bytes",
    ),
    "a copy forgotten": Planted(
        "          warp.tma_load %A_box[%lower, %k] to %a_below signal %ready[%stage]\n", "",
        "which lacks 8192 bytes",
    ),
}  # fmt: skip


def parsed(text: str) -> tuple[ModuleOp, warp.KernelOp]:
    context = Context()
    for name, dialect in {**get_all_dialects(), **DIALECTS}.items():
        context.register_dialect(name, dialect)
    module = parse_mlir(context, text, "product.mlir")
    return module, next(op for op in module.ops if isinstance(op, warp.KernelOp))


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name: str) -> None:
    fault = FAULTS[name]
    assert TEXT.count(fault.before) >= 1
    module, kernel = parsed(TEXT.replace(fault.before, fault.after, 1))
    with pytest.raises(CompileError) as error:
        explore(kernel, *actions_of(module, kernel, SIZES, 0))
    assert fault.message in str(error.value)


@pytest.mark.parametrize("name", ["no wait for the last store", "no fence behind stores"])
def test_what_one_order_shows_all_orders_show(name: str) -> None:
    fault = FAULTS[name]
    module, kernel = parsed(TEXT.replace(fault.before, fault.after, 1))
    protocol, actions = actions_of(module, kernel, SIZES, 0)
    for reduced in (False, True):
        with pytest.raises(ExecutionError) as error:
            explore(kernel, protocol, actions, reduced)
        assert fault.message in error.value.message


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_not_proved_away(name: str) -> None:
    """The proof for any number of trips fails, too, and says why."""
    protocols = pytest.importorskip("dt_mlir.certificates.protocols")
    fault = FAULTS[name]
    _, kernel = parsed(TEXT.replace(fault.before, fault.after, 1))
    assert protocols.proof_of(kernel, 60).reason


def test_a_right_kernel_is_proved() -> None:
    protocols = pytest.importorskip("dt_mlir.certificates.protocols")
    _, kernel = parsed(TEXT)
    found = protocols.proof_of(kernel, 60)
    assert not found.reason
    # Each of the three groups acts more often than in one turn of the rings.
    assert found.actions > 1000


@pytest.mark.parametrize("name", [None, *FAULTS])
def test_rotations_decide_nothing(name: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without rotations of rings there are more states, and the same is proved."""
    protocols = pytest.importorskip("dt_mlir.certificates.protocols")
    text = TEXT if name is None else TEXT.replace(FAULTS[name].before, FAULTS[name].after, 1)
    _, kernel = parsed(text)
    found = protocols.proof_of(kernel, 60)

    def none(*_: object) -> int:
        return 0

    monkeypatch.setattr(protocols.Rotations, "turns", none)
    whole = protocols.proof_of(kernel, 60)
    assert bool(found.reason) == bool(whole.reason)
    if name is None:
        assert whole.states > 2 * found.states


def test_all_orders_of_a_right_kernel_are_explored() -> None:
    module, kernel = parsed(TEXT)
    found = explore(kernel, *actions_of(module, kernel, SIZES, 0))
    # Each of the three groups walks three blocks of eight trips.
    assert found.actions == 344
    assert found.states > 8_000
    # How a group brings its result to its tensor no other group can see.
    whole = explore(kernel, *actions_of(module, kernel, SIZES, 0), reduced=False)
    assert whole.actions == 344
    assert whole.states > 10_000


def test_rings_wrap_twice_at_the_sizes_that_are_checked() -> None:
    _, kernel = parsed(TEXT)
    found = [case.sizes for case in Cases(kernel, MULTIPROCESSORS).near()]
    assert [sizes["k"] // 64 for sizes in found] == [1, 2, 3, 4, 5, 6, 7, 8, 8, 1]
    # Two instances share the blocks.
    assert [-(-(sizes["x"] // 128) // 2) for sizes in found][-2:] == [2, 8]


@pytest.mark.parametrize(("x", "y", "k"), [(128, 256, 64), (130, 300, 200), (257, 513, 65), (1, 1, 1)])
def test_the_interpreter_computes_products(x: int, y: int, k: int) -> None:
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-2, 3, shape).astype(float) for shape in ((x, k), (k, y)))
    module, _ = parsed(TEXT)
    arithmetic = BoundedArithmetic(Accuracy())
    inputs = {"A": arithmetic.from_array(a, bf16), "B": arithmetic.from_array(b, bf16)}
    found = run_module(module, inputs, {"x": x, "y": y, "k": k}, arithmetic)["mm"]
    # Whole numbers up to 256 are numbers of bf16.
    assert np.abs(a @ b).max() <= 256
    np.testing.assert_array_equal(np.asarray(found.value), a @ b)


def test_a_buffer_of_another_group_is_seen_in_the_result() -> None:
    """Both groups read a buffer that is ready, one of them the wrong one: no order tells."""
    module, _ = parsed(TEXT.replace("%a = warp.index %As[%slot]\n          %b = warp.index %Bs[%stage]\n          %p", "%a = warp.index %As[%slots]\n          %b = warp.index %Bs[%stage]\n          %p"))
    arithmetic = BoundedArithmetic(Accuracy())
    a, b = np.arange(128.0).reshape(128, 1) % 7, np.ones((1, 256))
    inputs = {"A": arithmetic.from_array(a, bf16), "B": arithmetic.from_array(b, bf16)}
    found = run_module(module, inputs, {"x": 128, "y": 256, "k": 1}, arithmetic)["mm"]
    assert np.any(np.asarray(found.value) != a @ b)
