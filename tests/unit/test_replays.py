"""Times of candidates: sets of tensors that no cache holds, and graphs that go through them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from texts import text_of

from dt_mlir.frontend.emit import compile_text
from dt_mlir.runtime.execute import loaded, wrapper_name
from dt_mlir.tuning.compilation import build
from dt_mlir.tuning.measuring import calls, prepared, timed
from dt_mlir.tuning.replays import LEAST_SETS, LENGTH, MOST_CALLS, MOST_SETS, Replays, count_of_sets
from dt_mlir.tuning.task import Task

CACHE, FREE = 50_000_000, 80_000_000_000


@pytest.mark.parametrize(
    ("taken", "results"),
    [(30_000_000, 20_000_000), (1_000_000, 1), (99_000_000, 0), (10**9, 10**9)],
)
def test_sets_are_together_more_than_twice_as_large_as_the_cache(taken: int, results: int) -> None:
    count = count_of_sets(taken, results, CACHE, FREE)
    assert count * (taken + results) > 2 * CACHE
    assert count == LEAST_SETS or (count - 1) * (taken + results) <= 2 * CACHE


def test_sets_leave_half_of_the_memory() -> None:
    assert count_of_sets(0, 0, CACHE, FREE) == MOST_SETS
    assert count_of_sets(1_000_000, 0, CACHE, 20_000_000) == 9
    assert count_of_sets(10**9, 10**9, CACHE, FREE) == LEAST_SETS
    assert count_of_sets(10**9, 10**9, CACHE, 10 * 10**9) == 2
    # Each contender has results of its own.
    assert count_of_sets(1_000_000, 1_000_000, CACHE, 20_000_000, contenders=4) == 1
    assert count_of_sets(10**9, 10**9, CACHE, 10**6) == 1


def test_each_call_has_tensors_of_its_own() -> None:
    text = text_of("doubled")
    module, _ = compile_text(text, "-")
    found = Task(module, {"x": 70})
    inputs = prepared(found.algorithm, tuple(found.sizes.items()), "interpreter")
    (given,) = inputs.arguments
    sets = [(given,), (given + 1,), (given + 2,)]
    out = inputs.poisoned()
    source = build(text, "-", found.sizes, None).source
    with loaded(source) as emitted:
        runs = calls(getattr(emitted, wrapper_name(source)), inputs, sets, out)
        assert len(runs) == 3
        out.fill_(0)
        for run in runs[1:]:
            run()
        assert torch.equal(out, torch.zeros_like(out))
        runs[0]()
        assert torch.equal(out, 2 * given)


class _Gpu:
    """A GPU that does nothing, and takes a time for each call."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.now = seconds, 0.0
        self.graphs: list[list[str]] = []
        """The calls of each graph."""
        self.calls: list[str] = []

    def run(self, name: str) -> Any:
        return lambda: self.calls.append(name)

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        gpu = self

        class Graph:
            calls = ()

            def replay(self) -> None:
                gpu.now += gpu.seconds * len(self.calls)

        class Event:
            def __init__(self, enable_timing: bool) -> None:
                assert enable_timing
                self.at = 0.0

            def record(self) -> None:
                self.at = gpu.now

            def synchronize(self) -> None: ...

            def elapsed_time(self, end: Event) -> float:
                return 1000 * (end.at - self.at)

        @contextmanager
        def graph(captured: Any) -> Iterator[None]:
            gpu.calls = []
            yield
            captured.calls = gpu.calls
            gpu.graphs.append(gpu.calls)

        for name, value in [
            ("CUDAGraph", Graph), ("Event", Event), ("graph", graph), ("synchronize", lambda: None),
        ]:  # fmt: skip
            monkeypatch.setattr(torch.cuda, name, value)


def test_a_graph_goes_through_all_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = _Gpu(seconds=1e-4)
    gpu.install(monkeypatch)
    runs = [gpu.run(name) for name in "abc"]
    found = Replays(runs)
    # One call alone says how many it takes for a graph that is long enough.
    assert [len(calls) for calls in gpu.graphs] == [1, 21]
    assert gpu.graphs[-1] == [*"abc"] * 7
    assert 21 * gpu.seconds >= LENGTH
    assert found.steady(0.05) == pytest.approx(gpu.seconds)
    # Short calls do not make graphs without end.
    gpu.seconds = 1e-9
    Replays(runs)
    assert len(gpu.graphs[-1]) == 3 * -(-MOST_CALLS // 3)


def test_cold_times_are_those_of_all_sets_and_hot_times_of_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gpu = _Gpu(seconds=1e-4)
    gpu.install(monkeypatch)
    runs = [gpu.run(name) for name in "abc"]
    assert timed(runs, "cold") == pytest.approx(0.1)
    assert set(gpu.graphs[-1]) == {*"abc"}
    # 10 ms of warm-up, then 50 ms.
    assert 0.075 > gpu.now > 0.06
    assert timed(runs, "hot", 20) == pytest.approx(0.1)
    assert set(gpu.graphs[-1]) == {"a"}
