"""The space that is derived from an algorithm, and the order in which it is searched."""

from collections.abc import Mapping

import pytest
from scheduled import ATTENTION, MATMUL, SOFTMAX, algorithm, texts

from dt_mlir.analysis.interface import Interface
from dt_mlir.autoscheduling.auto import auto_schedule, with_schedule
from dt_mlir.autoscheduling.least import least_time
from dt_mlir.autoscheduling.proposals import Proposals
from dt_mlir.costs.device import find_device
from dt_mlir.pipeline import default_pipeline, run_pipeline
from dt_mlir.tuning.strategies.predicted import LEAST, TRIALS, Predicted
from dt_mlir.tuning.strategies.surrogate import Surrogate
from dt_mlir.tuning.task import Candidate

H200 = find_device("h200")
SQUARE = {"x": 4096, "y": 4096, "k": 4096}
FLAT = {"x": 512, "y": 512, "k": 16384}
ROWS = {"x": 4096, "y": 4096}


def proposals(text: str, sizes: Mapping[str, int]) -> Proposals:
    module = algorithm(text)
    return Proposals(module, Interface.of(module).sizes(sizes), H200)


def predicted(text: str, sizes: Mapping[str, int], patient: bool = False) -> Predicted:
    module = algorithm(text)
    return Predicted(module, Interface.of(module).sizes(sizes), H200, patient=patient)


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (MATMUL, SQUARE), (MATMUL, FLAT), (SOFTMAX, ROWS),
        (ATTENTION, {"h": 8, "i": 1024, "j": 1024, "c": 64, "d": 64}),
    ],
)  # fmt: skip
def test_every_proposal_is_a_legal_schedule(text: str, sizes: Mapping[str, int]) -> None:
    found = proposals(text, sizes)
    module = algorithm(text)
    assert texts(found.first) == texts(
        auto_schedule(module, Interface.of(module).sizes(sizes), H200)
    )
    chosen = sorted(found.neighbours(found.best), key=found.seconds)
    assert chosen
    assert all(found.seconds(choice) >= found.seconds(found.best) for choice in chosen)
    tried = chosen[:: max(1, len(chosen) // 12)]
    assert len(tried) >= 8
    for choice in tried:
        run_pipeline(with_schedule(module, found.schedule(choice)), default_pipeline("tile"))


def test_tiles_of_copies_are_no_choice() -> None:
    """Proposals differ in the tiles of what reads copies, which copies take over."""
    found = proposals(MATMUL, {"x": 4095, "y": 4093, "k": 4097})
    assert any("cache_read" in text for text in texts(found.first))
    schedules = [found.schedule((number,)) for number in range(8)]
    assert len({tuple(texts(item)) for item in schedules}) == len(schedules)


def test_a_search_begins_with_the_schedule_of_auto() -> None:
    strategy = predicted(SOFTMAX, ROWS)
    first, second = strategy.ask(2)
    assert all(text in first.text for text in texts(strategy.proposals.first))
    assert first.text != second.text
    assert first.prediction is not None
    choice = strategy._choice_of_first()
    assert strategy.proposals.features(choice) == first.prediction.features
    assert {*texts(strategy.proposals.first)} == {*strategy.proposals.directives(0, choice[0])}


def test_other_structures_are_proposed() -> None:
    ways = {
        tuple(d.text for c in option.way for d in c.decisions)
        for option in proposals(SOFTMAX, ROWS).slots[0]
    }
    assert ("f.online(y);",) in ways
    assert any("total.fuse_at(f, x);" in way for way in ways)
    counts = {
        d.text for option in proposals(MATMUL, FLAT).slots[0] for c in option.way
        for d in c.decisions
    }  # fmt: skip
    assert {"mm.rfactor(k:8, mm_parts);", "mm.rfactor(k:16, mm_parts);"} & counts


def test_attention_is_tried_with_and_without_walking_blocks() -> None:
    """Its queries wait for the block before, so that the model predicts both to be about alike."""
    fixed = "Func s, top, p, total, o : bf16; In Q : bf16, K : bf16, V : bf16; Var h, i, d = 128; RVar j, c = 128; "
    text = fixed + (
        "s[h, i, j] = rdot(Q[h, i, c], K[h, j, c], c); top[h, i] = rmax(s[h, i, j], j); "
        "p[h, i, j] = exp(s[h, i, j] - top[h, i]); total[h, i] = rsum(p[h, i, j], j); "
        "o[h, i, d] = rdot(p[h, i, j], V[h, j, d], j) / total[h, i]; o.precision(narrow); o.compile();"
    )
    found = proposals(text, {"h": 64, "i": 2048, "j": 2048})
    best = [
        {*found.directives(0, number)} for number, option in enumerate(found.slots[0])
        if option.seconds <= 1.05 * found.slots[0][0].seconds
    ]  # fmt: skip
    assert any(one - {"o.persistent();"} in best and "o.persistent();" in one for one in best)


def test_hopeless_tiles_are_left_out() -> None:
    found = proposals(MATMUL, SQUARE)
    assert found.pruned["need more shared memory than there is"] > 0
    assert found.pruned["take over 3 times as long as the best"] > 0
    assert len(found) < 300
    for option in found.slots[0]:
        for kernel in option.kernels:
            assert not kernel.cost.spilled
            assert kernel.cost.shared <= H200.shared_memory


def test_names_do_not_decide_which_schedules_are_proposed() -> None:
    renamed = MATMUL.replace("mm", "zz").replace("x", "row").replace("k", "a")
    assert len(proposals(MATMUL, FLAT)) == len(
        proposals(renamed, {"row": 512, "y": 512, "a": 16384})
    )


def _searched(strategy: Predicted, time: Mapping[int, float] | None = None) -> list[Candidate]:
    """Lets a strategy search, where times are as predicted but for those of some warps."""
    found: list[Candidate] = []
    while batch := strategy.ask(strategy.ahead(4, 1)):
        for candidate in batch:
            assert candidate.prediction is not None
            milliseconds = 1000 * candidate.prediction.seconds
            for warps, factor in (time or {}).items():
                if f"num_warps({warps})" in candidate.text:
                    milliseconds *= factor
            strategy.tell(candidate, milliseconds)
            found.append(candidate)
    return found


def test_a_search_ends_when_predictions_hold() -> None:
    found = _searched(predicted(MATMUL, SQUARE))
    assert LEAST <= len(found) <= TRIALS
    seconds = [c.prediction.seconds for c in found if c.prediction is not None]
    assert seconds[0] == min(seconds)
    assert len({candidate.text for candidate in found}) == len(found)


def test_a_search_learns_where_predictions_are_wrong() -> None:
    strategy = predicted(MATMUL, SQUARE)
    first = strategy.ask(1)[0]
    assert "num_warps(8)" in first.text
    strategy = predicted(MATMUL, SQUARE)
    found = _searched(strategy, {8: 3.0})
    # What is three times as slow with eight warps is left for what has four.
    fours = [c.prediction.seconds for c in found if "num_warps(4)" in c.text and c.prediction]
    least = min(
        strategy.proposals.seconds((number,))
        for number, option in enumerate(strategy.proposals.slots[0])
        if option.kernels[0].tiling.warps == 4
    )
    assert min(fours) < 1.1 * least


def test_more_candidates_are_under_way_where_more_are_measured_at_once() -> None:
    found = predicted(MATMUL, SQUARE)
    one, two = found.ahead(64, 1), found.ahead(64, 2)
    assert two == 2 * one
    assert found.ahead(3, 2) == 3


def test_a_patient_search_tries_everything() -> None:
    sizes = {"x": 64, "y": 64, "k": 64}
    strategy = predicted(MATMUL, sizes, patient=True)
    assert len(_searched(strategy)) == len(strategy.proposals)


def test_what_has_no_time_is_avoided() -> None:
    surrogate = Surrogate()
    surrogate.learn((0.0, 0.0), 1.0, 1.0)
    surrogate.learn((1.0, 0.0), 1.0, None)
    near, far = surrogate.gains([(1.0, 0.01), (0.0, 0.9)], [1.0, 1.0])
    assert near < far


def test_ratios_of_other_programs_are_learned_from() -> None:
    known = [((1.0,), -0.3), ((0.0,), 0.3)] * 3
    slow, fast = Surrogate(known).gains([(0.0,), (1.0,)], [1.0, 1.0])
    assert fast > slow


def test_the_least_time_is_that_of_the_busiest_resource() -> None:
    def least(text: str, sizes: Mapping[str, int]) -> tuple[float, str]:
        module = algorithm(text)
        found = least_time(module, Interface.of(module).sizes(sizes), H200)
        return found.seconds - found.launch, found.limit

    seconds, limit = least(MATMUL, SQUARE)
    assert limit == "tensor cores"
    assert seconds == pytest.approx(2 * 4096**3 / H200.product_rates["f16"])
    # Factors of f32 are multiplied as such, unless a schedule says otherwise.
    single = MATMUL.replace("f16", "f32")
    assert least(single, SQUARE)[0] == pytest.approx(2 * 4096**3 / H200.product_rates["f32"])
    rounded = single.replace("mm.compile", "mm.precision(tf32); mm.compile")
    assert least(rounded, SQUARE)[0] == pytest.approx(2 * 4096**3 / H200.product_rates["tf32"])
    seconds, limit = least(SOFTMAX, {"x": 4096, "y": 16384})
    assert limit == "memory"
    assert seconds == pytest.approx(2 * 4 * 4096 * 16384 / H200.memory_rate)
    # Half of the products of a triangle count.
    part = MATMUL.replace("k);", "k, k <= x);")
    assert least(part, SQUARE)[0] == pytest.approx(4096**3 / H200.product_rates["f16"], rel=0.02)
    # Nor is all of a triangle read.
    part = "Func f; In A; Var x; RVar k; f[x] = rsum(exp(A[x, k]), k, k <= x); f.compile();"
    module = algorithm(part)
    sizes = Interface.of(module).sizes({"x": 16384, "k": 16384})
    bounds = least_time(module, sizes, H200).bounds
    assert bounds["memory"] == pytest.approx(2 * 16384**2 / H200.memory_rate, rel=0.02)
    assert bounds["special functions"] == pytest.approx(16384**2 / 2 / H200.special_rate, rel=0.02)
    # Of a table only the rows that are asked for are read.
    gather = (
        "Func f; In T : f32, I : i32; Var x, c; f[x, c] = T[I[x], c]; f.compile();"
    )
    module = algorithm(gather)
    sizes = Interface.of(module).sizes({"x": 4096, "c": 16384, "T_0": 10**6})
    rows = 4 * 4096 * 16384
    assert least_time(module, sizes, H200).bounds["memory"] == pytest.approx(
        (2 * rows + 4 * 4096) / H200.memory_rate
    )


COPIED = """
Func mm : f16, A_copy : f16; In A : f16, B : f16; Var x, y; RVar k;
A_copy[x, k] = A[x, k];
mm[x, y] = rdot(A_copy[x, k], B[k, y], k);
mm.compile();
"""


def test_tiles_that_follow_from_others_are_no_choice() -> None:
    found = proposals(COPIED, {"x": 4096, "y": 4096, "k": 4100})
    assert [len(slot) for slot in found.slots][0] == 1
    assert len(found.slots[1]) > 10
    even = proposals(COPIED, SQUARE)
    assert all(len(slot) > 1 for slot in even.slots)


CAUSAL = """
Func s, top, p, total, o : bf16; In Q : bf16, K : bf16, V : bf16;
Var h, i, d = 128; RVar j, c = 128;
s[h, i, j] = rdot(Q[h, i, c], K[h, j, c], c) * 0.088;
top[h, i] = rmax(s[h, i, j], j, j <= i);
p[h, i, j] = exp(s[h, i, j] - top[h, i]);
total[h, i] = rsum(p[h, i, j], j, j <= i);
o[h, i, d] = rdot(p[h, i, j], V[h, j, d], j, j <= i) / total[h, i];
o.precision(narrow); o.compile();
"""


def test_what_no_reader_needs_is_not_in_the_least_time() -> None:
    sizes = {"h": 64, "i": 4096, "j": 4096}
    module, all_keys = algorithm(CAUSAL), algorithm(CAUSAL.replace(", j <= i", ""))
    half, whole = (
        least_time(m, Interface.of(m).sizes(sizes), H200).operations for m in (module, all_keys)
    )
    assert whole == 4 * 64 * 4096**2 * 128
    assert half == pytest.approx(whole / 2, rel=0.01)
