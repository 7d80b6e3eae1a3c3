"""Parts of a program whose functions are fused, each made from one that was fused before."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from long_programs import less_sums, less_their_sums, softmax_of_softmax, sums_of_inputs
from scheduled import ATTENTION, SOFTMAX, algorithm, schedule

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling import slices
from dt_mlir.autoscheduling.decisions import Decision, plain
from dt_mlir.autoscheduling.slices import MOST_READS, Algorithm
from dt_mlir.diagnostics import CompileError

TWO_OUTPUTS = """
Func mean, centred, f; In A; Var x, y; RVar k;
mean[x] = rmean(A[x, k], k);
centred[x, y] = A[x, y] - mean[x];
f[x, y] = centred[x, y] * rsqrt(rmean(centred[x, k] ** 2, k) + 1e-5);
mean.compile(); centred.compile(); f.compile();
"""


def fused_at_once(
    found: Algorithm, functions: tuple[str, ...], moves: Iterable[Decision], stored: frozenset[str]
) -> str:
    """Returns the text of a part of which all functions are there before any is fused."""
    program = found._gathered(functions, stored, ()).copy()
    for item in moves:
        item.directive.run(program, None)
    return str(program.module)


def text_or_error(made: Callable[[], str]) -> str:
    """Returns a text, or what is wrong with it."""
    try:
        return made()
    except CompileError as error:
        return f"error: {error}"


@pytest.mark.parametrize(
    "text",
    [
        less_their_sums(12), less_their_sums(12, 5), less_sums(5), softmax_of_softmax(3),
        sums_of_inputs(14), SOFTMAX, ATTENTION, TWO_OUTPUTS,
    ],
    ids=["chain", "crossing", "sums", "softmax", "inputs", "rows", "attention", "outputs"],
)  # fmt: skip
def test_what_is_fused_step_by_step_is_as_if_fused_at_once(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[bool] = []
    fused = Algorithm._fused

    def both(self: Algorithm, functions: Any, moves: Any, stored: Any) -> Any:
        expected = text_or_error(lambda: fused_at_once(self, functions, moves, stored))
        found = text_or_error(lambda: str(fused(self, functions, moves, stored).module))
        assert found == expected
        compared.append(len(moves) > 1)
        return fused(self, functions, moves, stored)

    monkeypatch.setattr(Algorithm, "_fused", both)
    sizes = Interface.of(algorithm(text)).sizes({})
    schedule(text, dict.fromkeys(sizes, 512))
    assert any(compared)


def test_a_part_is_widened_by_what_it_reads_alone() -> None:
    """A function that reads one that is inlined already would be another reader of it."""
    text = """
    Func a, b, f; In A; Var x;
    a[x] = A[x] * 2; b[x] = a[x] + 1; f[x] = a[x] * b[x];
    f.compile();
    """
    module = algorithm(text)
    found = Algorithm(module, Interface.of(module).sizes({"x": 64}))
    first = plain("a", "inline")
    found.works(["f", "a"], [first])
    moves = [first, plain("b", "inline")]
    functions = ("f", "a", "b")
    expected = fused_at_once(found, functions, moves, frozenset())
    assert str(found._fused(functions, tuple(moves), frozenset()).module) == expected


def test_few_parts_are_remembered() -> None:
    module = algorithm(less_their_sums(40))
    found = Algorithm(module, Interface.of(module).sizes({"x": 64, "y": 64}))
    names = list(reversed(found.functions))
    moves = [plain(name, "fuse_at", names[0], "x") for name in names[1:]]
    for count in range(1, 40):
        found.works(names[: count + 1], moves[:count])
    assert len(found._known) == slices.KEPT


@pytest.mark.parametrize("way", ["inline", "fuse_at"])
@pytest.mark.parametrize("count", [MOST_READS, MOST_READS + 1])
def test_what_is_read_at_too_many_places_stays_apart(way: str, count: int) -> None:
    """Each place may need a copy of a function, and of what it reads one for each of its reads."""
    reads = " + ".join(f"g[x + {k}]" for k in range(count))
    text = (
        f"Func g, f; In A; Var y, x = size(A, 0) - {count - 1};"
        f"g[y] = exp(A[y]); f[x] = {reads}; f.compile();"
    )
    module = algorithm(text)
    program = Algorithm(module, Interface.of(module).sizes({"y": 4096}))
    said = plain("g", "inline") if way == "inline" else plain("g", "fuse_at", "f", "x")
    if count <= MOST_READS:
        assert program.works(["f", "g"], [said])
    else:
        with pytest.raises(CompileError, match="more than 32 places"):
            program.works(["f", "g"], [said])
    found = schedule(text, {"y": 2**20})
    assert any(item.name in ("inline", "fuse_at") for item in found) == (count <= MOST_READS)
