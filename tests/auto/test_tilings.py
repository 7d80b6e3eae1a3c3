"""The tiles among which the model decides."""

import pytest
from scheduled import algorithm, schedule, texts

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.decisions import plain
from dt_mlir.autoscheduling.slices import Algorithm
from dt_mlir.autoscheduling.tilings import Choices, best_tiling
from dt_mlir.costs.device import find_device
from dt_mlir.costs.work import Work

H200 = find_device("h200")
DIAGONALS = """
Func f1, f4, f8; In D, B; Var i, j;
f1[j, i] = exp(D[j] - B[i, i]);
f4[i] = rsum({0}, j);
f8[i] = f4[i] * rsqrt(f1[i, i] + 1);
f8.compile();
"""


def fused(text: str, size: int) -> Work:
    module = algorithm(text)
    program = Algorithm(module, Interface.of(module).sizes(dict.fromkeys("ij", size)))
    ways = [plain("f4", "fuse_at", "f8", "i"), plain("f1", "inline")]
    return program.works(["f8", "f4", "f1"], ways)[0]


@pytest.mark.parametrize("element", ["f1[i, j]", "f1[i, j] * f1[i, j]", "f1[i, j] / f1[i, j]"])
@pytest.mark.parametrize("size", [1024, 4096])
def test_either_of_two_labels_may_have_long_tiles(element: str, size: int) -> None:
    """A diagonal is read for all `j` at each `i`, and more tensors are read along `i`."""
    text = DIAGONALS.format(element)
    work = fused(text, size)
    choices = Choices(work, H200)
    assert choices.fastest == ["i", "j"]
    assert choices.leading == {"i", "j"}
    assert {1, 8, 256} <= {*choices.options("i")}
    assert {1, 16, 256, 0} <= {*choices.options("j")}
    tiling, cost = best_tiling(work, H200)
    assert tiling.tiles["i"] < 64 <= (tiling.tiles["j"] or size)
    found = texts(schedule(text, dict.fromkeys("ij", size)))
    assert {"f1.inline();", "f1.fuse_at(f8, i);"}.intersection(found)
    assert cost.seconds < 2e-5


def test_one_label_that_leads_in_both_has_long_tiles_alone() -> None:
    text = "Func f; In A; Var i, j; f[i] = rsum(A[i, j], j); f.compile();"
    module = algorithm(text)
    program = Algorithm(module, Interface.of(module).sizes({"i": 4096, "j": 4096}))
    choices = Choices(program.works(["f"], [])[0], H200)
    assert choices.fastest == ["j", "i"]
    assert choices.leading == {"j"}
    assert min(size for size in choices.options("j") if size) >= 128
    assert choices.options("i") == [1, 8, 32, 64]
