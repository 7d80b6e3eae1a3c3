"""The steps of a search, where what compiles and measures is made up."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest
from texts import text_of

from dt_mlir.diagnostics import CompileError
from dt_mlir.frontend.emit import compile_text
from dt_mlir.tuning.compilation import Built
from dt_mlir.tuning.database import Database, Setting
from dt_mlir.tuning.measuring import Measured
from dt_mlir.tuning.outcome import Outcome
from dt_mlir.tuning.report import table
from dt_mlir.tuning.strategies.sampled import Sampled
from dt_mlir.tuning.strategies.strategy import Strategy
from dt_mlir.tuning.task import Task
from dt_mlir.tuning.tuner import Options, Tuner
from dt_mlir.tuning.workers.workers import Wanted


class Made:
    """Workers whose results are told: what is the number of a measurement, on which process."""

    def __init__(
        self, result: Callable[[int, int], Measured], places: int = 1, code: bool = False
    ) -> None:
        self.result, self.left, self.code = result, set(range(places)), code
        self.jobs = 2
        self.inspections: list[str] = []
        """The candidates whose machine code was inspected; there is none unless `code`."""
        self.measured_at: list[int] = []
        self.texts: list[str] = []
        """The candidates, in the order in which they were measured."""

    def places(self) -> list[int]:
        return sorted(self.left)

    def device_name(self) -> str:
        return "cpu"

    def versions(self) -> str:
        return "1"

    def prepare(self, place: int, wanted: Wanted) -> None:
        """Does nothing."""

    def build(self, text: str, sizes: Mapping[str, int], on_gpu: bool) -> Future[Any]:
        code = (text.encode(),) if self.code else ()
        return _done(Built("ok", source=text, machine_code=code))

    def inspect(self, code: Sequence[bytes]) -> Future[Any]:
        self.inspections.append(code[0].decode())
        return _done(self.inspection(self.inspections[-1]))

    def inspection(self, text: str) -> Built:
        """The outcome of inspecting a candidate."""
        return Built("ok")

    def built(self, future: Future[Any]) -> Built:
        return future.result()

    def start(self, place: int, wanted: Wanted, function: Any, *args: object, cache: Any = None) -> Future[Any]:
        self.measured_at.append(place)
        self.texts.append(str(args[1]))
        return _done(self.result(len(self.measured_at), place))

    def measured(self, place: int, future: Future[Any]) -> Measured:
        return future.result()

    def order(self, text: str | None = None) -> int:
        """The number of a candidate, or of the one that is measured, in the order of first looks."""
        return list(dict.fromkeys(self.texts)).index(self.texts[-1] if text is None else text)

    def stop(self) -> None:
        """Does nothing."""


def _done(value: object) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(value)
    return future


def searched(
    workers: Made, sampled: bool = False, leading: Callable[[Sequence[str]], None] | None = None,
    **options: Any,
) -> Outcome:
    task = Task(compile_text(text_of("space_of_eight_schedules"), "-")[0], {"x": 9, "y": 17, "k": 17})
    strategy: Strategy | None = Sampled(task, 0) if sampled else None
    setting = Setting(task.algorithm, task.sizes, "cpu", "1")
    with Database(":memory:") as database:
        return Tuner(
            task, setting, database, Options(**options), _Silent(), (), workers, strategy,
            leading=leading,
        ).run()


class _Silent:
    def __init__(self) -> None:
        self.left = 0

    def expect(self, steps: int) -> None:
        self.left += steps

    def step(self, best: float | None) -> None:
        self.left -= 1
        assert self.left >= 0, "more steps than were expected"


@pytest.mark.parametrize("sampled", [False, True])
def test_a_winner_that_fails_later_is_told_of_once(sampled: bool) -> None:
    def result(number: int, place: int) -> Measured:
        text = workers.texts[-1]
        if text == workers.texts[0] and number > 1:
            return Measured("late", "slow")
        return Measured("ok", "", 10.0 + workers.texts.index(text))

    workers = Made(result)
    found = searched(workers, sampled, rounds=4, trials=6, keep=1.0)
    # The first look was the fastest; what failed in its second round does not win by one.
    assert found.best is not None
    assert found.best.program != workers.texts[0]
    assert len(found.best.times) == 4
    # It is not tried again, which would take as long once more; the next one is timed in its place.
    assert workers.texts.count(workers.texts[0]) == 2
    assert workers.measured_at.count(0) == len(workers.measured_at) == 6 + 1 + 3


@pytest.mark.parametrize("last", [2, 3, 4])
def test_what_comes_after_a_winner_that_fails_is_measured_in_all_rounds(last: int) -> None:
    def result(number: int, place: int) -> Measured:
        if workers.order() == 0 and workers.texts.count(workers.texts[-1]) == last:
            return Measured("failed", "broken")
        return Measured("ok", "", 10.0 + workers.order())

    workers = Made(result)
    found = searched(workers, rounds=4, trials=6, keep=1.0)
    assert found.best is not None
    assert workers.order(found.best.program) == 1
    assert len(found.best.times) >= 4


def test_the_fastest_is_timed_again_while_others_wait_to_be_looked_at() -> None:
    """There is a result at any time, and yet what is new comes first."""
    workers = Made(lambda number, place: Measured("ok", "", 10.0 + number))
    searched(workers, rounds=3, keep=1.0)
    seen = [workers.texts[:number].count(text) for number, text in enumerate(workers.texts)]
    # Eight candidates are looked at, and the first one is timed again after four of them.
    assert seen[:5] == [0, 0, 0, 0, 1]
    assert sum(again == 0 for again in seen) == 8


def test_what_is_timed_again_is_the_fastest_by_then() -> None:
    def result(number: int, place: int) -> Measured:
        return Measured("ok", "", 100.0 - list(dict.fromkeys(workers.texts)).index(workers.texts[-1]))

    workers = Made(result)
    searched(workers, rounds=3, keep=1.0)
    order = list(dict.fromkeys(workers.texts))
    assert [order.index(text) for text in workers.texts] == [0, 1, 2, 3, 3, 4, 5, 6, 7, 7, 7]


def test_a_gpu_that_slows_down_favours_no_candidate() -> None:
    """The first one is looked at on a cool GPU, and the last one, which is faster, on a warm one."""

    def result(number: int, place: int) -> Measured:
        order = list(dict.fromkeys(workers.texts))
        own = {0: 1.04, 7: 1.0}.get(order.index(workers.texts[-1]), 1.2)
        return Measured("ok", "", 10 * own * (1 + 0.1 * min(number / 8, 1)))

    workers = Made(result)
    found = searched(workers, rounds=5, keep=1.1)
    order = list(dict.fromkeys(workers.texts))
    assert found.best is not None
    assert found.best.program == order[7]
    counts = [workers.texts.count(text) for text in order]
    # What is slower in the same round is not timed in all of them, but for what was timed again
    # before: while it was the fastest, and in the rounds.
    assert counts[7] >= 5
    assert counts[1:7] == [1] * 6
    assert counts[0] <= 2 + 4
    assert counts[7] <= 5 + 4


@pytest.mark.parametrize("cool", range(2, 10))
@pytest.mark.parametrize("slower", [1.01, 1.06])
@pytest.mark.parametrize("rounds", [3, 5])
@pytest.mark.parametrize("keep", [1.03, 1.1])
def test_what_was_timed_on_a_cool_gpu_does_not_win_by_that(
    cool: int, slower: float, rounds: int, keep: float
) -> None:
    """The first one is timed on a cool GPU, several times where it takes long to warm up.

    It is warm before the rounds begin, after eight looks and one more time of the fastest by then.
    """

    def result(number: int, place: int) -> Measured:
        order = list(dict.fromkeys(workers.texts))
        own = {0: slower, 7: 1.0}.get(order.index(workers.texts[-1]), 1.07)
        return Measured("ok", "", 10 * own * (1.08 if number > cool else 1.0))

    workers = Made(result)
    found = searched(workers, rounds=rounds, keep=keep)
    assert found.best is not None
    assert found.best.program == list(dict.fromkeys(workers.texts))[7]


def test_what_may_win_is_told_of_before_it_is_measured() -> None:
    """The first one, which a strategy that predicts expects to win, while it is compiled."""
    told: list[tuple[str, int]] = []

    def leading(texts: Sequence[str]) -> None:
        told.append((texts[0], len(workers.texts)))

    def result(number: int, place: int) -> Measured:
        return Measured("ok", "", 10.0 if workers.texts[-1] == told[0][0] else 20.0)

    workers = Made(result)
    found = searched(workers, leading=leading, rounds=2, keep=1.0)
    assert found.best is not None
    assert told[0] == (found.best.program, 0)


def test_all_that_may_win_is_told_of_in_each_round() -> None:
    """Whichever wins in the end, it was told of while others were still timed."""
    told: list[list[str]] = []
    workers = Made(lambda _, place: Measured("ok", "", 10.0 + workers.order()))
    found = searched(workers, leading=lambda texts: told.append([*texts]), rounds=3, keep=1.25)
    order = list(dict.fromkeys(workers.texts))
    # Those of 10, 11 and 12 ms are among the fastest; in the third round 12 ms are too much.
    assert order[:3] in told
    assert told[-2:] == [order[:2], order[:1]]
    assert found.best is not None
    assert found.best.program == order[0]


def test_what_is_found_wrong_when_it_is_timed_again_does_not_lead() -> None:
    def result(number: int, place: int) -> Measured:
        if workers.texts.count(workers.texts[0]) > 1 and workers.texts[-1] == workers.texts[0]:
            return Measured("wrong", "it computes something else")
        return Measured("ok", "", 10.0 + workers.texts.index(workers.texts[-1]))

    workers = Made(result)
    found = searched(workers, rounds=3, keep=1e9)
    assert found.statuses() == {"ok": 7, "wrong": 1}
    assert found.best is not None
    assert found.best.program == workers.texts[1]


def test_what_may_win_is_inspected_and_nothing_else() -> None:
    workers = Made(lambda _, place: Measured("ok", "", 10.0 + workers.order()), code=True)
    found = searched(workers, rounds=3, keep=1.25)
    assert found.best is not None
    # Those of 10, 11 and 12 ms are among the fastest.
    assert workers.inspections == list(dict.fromkeys(workers.texts))[:3]


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("faults", [1, 3])
def test_what_has_a_fault_does_not_win(rounds: int, faults: int) -> None:
    workers = Made(lambda _, place: Measured("ok", "", 10.0 + workers.order()), code=True)
    workers.inspection = lambda text: (
        Built("wrong", "a fault of ptxas") if workers.order(text) < faults else Built("ok")
    )
    found = searched(workers, rounds=rounds, keep=1.25)
    assert found.best is not None
    assert workers.order(found.best.program) == faults
    assert found.statuses() == {"wrong": faults, "ok": 8 - faults}
    assert len(found.best.times) >= rounds
    assert len(workers.inspections) == len({*workers.inspections})


def _on_gpu(workers: Made, database: Database, sampled: bool = False, **options: Any) -> Outcome:
    task = Task(compile_text(text_of("space_of_eight_schedules"), "-")[0], {"x": 9, "y": 17, "k": 17})
    setting = Setting(task.algorithm, task.sizes, "a GPU", "1")
    strategy = Sampled(task, 0) if sampled else None
    return Tuner(
        task, setting, database, Options(**options), _Silent(), (), workers, strategy
    ).run()


def test_what_a_search_left_uninspected_is_inspected_by_the_next_one() -> None:
    def interrupted(number: int, place: int) -> Measured:
        if number == 7:
            raise KeyboardInterrupt
        return Measured("ok", "", 10.0 + first.order())

    first = Made(interrupted, code=True)
    first.inspect = lambda code: Future()
    then = Made(lambda number, place: Measured("ok", "", 50.0 + number), code=True)
    then.inspection = lambda text: Built("wrong" if text == first.texts[0] else "ok", "a fault")
    with Database(":memory:") as database:
        with pytest.raises(KeyboardInterrupt):
            _on_gpu(first, database, rounds=2, keep=1.0)
        assert first.texts.count(first.texts[0]) == 2
        found = _on_gpu(then, database, rounds=2, keep=1.0)
    assert found.best is not None
    assert found.best.program != first.texts[0]
    assert found.best.program in then.inspections


@pytest.mark.parametrize("sampled", [False, True])
def test_what_is_wrong_excludes_nothing(sampled: bool) -> None:
    """The first one takes less time than the others must."""
    workers = Made(lambda _, place: Measured("ok", "", 1.0 + 2 * workers.order()), code=True)
    workers.inspection = lambda text: Built("wrong" if workers.order(text) == 0 else "ok", "a fault")
    build = workers.build

    def bounded(text: str, sizes: Mapping[str, int], on_gpu: bool) -> Future[Any]:
        return _done(replace(build(text, sizes, on_gpu).result(), least_milliseconds=2.0))

    workers.build = bounded
    late: list[Callable[[], None]] = []

    def inspect(code: Sequence[bytes]) -> Future[Any]:
        future: Future[Any] = Future()
        workers.inspections.append(code[0].decode())
        outcome = workers.inspection(workers.inspections[-1])
        # It is known once all others have been excluded.
        late.append(lambda: future.set_result(outcome))
        return future

    workers.inspect = inspect
    built = workers.built

    def in_time(future: Future[Any]) -> Built:
        while late:
            late.pop()()
        return built(future)

    with Database(":memory:") as database:
        workers.built = in_time
        found = _on_gpu(workers, database, sampled, rounds=2, keep=1.0, trials=8)
    assert found.best is not None
    assert workers.order(found.best.program) == 1
    assert found.statuses() == {"wrong": 1, "ok": 7}
    assert not found.excluded


def test_what_cannot_be_inspected_may_win() -> None:
    workers = Made(lambda _, place: Measured("ok", "", 10.0 + workers.order()), code=True)
    workers.inspection = lambda text: Built("late", "it took too long")
    found = searched(workers, rounds=3, keep=1.25)
    assert found.best is not None
    assert workers.order(found.best.program) == 0


def test_several_processes_measure_and_one_decides() -> None:
    workers = Made(lambda number, place: Measured("ok", "", 100.0 + number), 3)
    found = searched(workers, rounds=3, keep=1e9)
    assert found.statuses() == {"ok": 8}
    assert found.best is not None
    assert {1, 2} & set(workers.measured_at)
    assert set(workers.measured_at[-10:]) == {0}
    # In each of the two rounds behind the looks, the best by then is timed beside the others.
    more = [len(record.times) - 3 for record in found.records.values()]
    assert min(more) == 0
    assert sum(more) <= 2


def test_a_search_goes_on_where_another_one_ended() -> None:
    task = Task(compile_text(text_of("space_of_eight_schedules"), "-")[0], {"x": 9, "y": 17, "k": 17})
    setting = Setting(task.algorithm, task.sizes, "cpu", "1")

    def run(workers: Made, strategy: Strategy | None, **options: Any) -> Outcome:
        return Tuner(
            task, setting, database, Options(**options), _Silent(), (), workers, strategy
        ).run()

    with Database(":memory:") as database:
        first = Made(lambda number, place: Measured("ok", "", 10.0 + number))
        assert run(first, Sampled(task, 0), rounds=1, trials=3).statuses() == {"ok": 3}
        # What is known leads, and was not compiled again when further candidates are timed.
        further = Made(lambda number, place: Measured("ok", "", 100.0 + number))
        found = run(further, None, rounds=3, keep=1e9)
    assert found.statuses() == {"ok": 8}
    # One was timed again while it was the fastest, by what is timed then, and before the rounds.
    assert sorted(len(record.times) for record in found.records.values()) == [3] * 7 + [5]
    assert len(further.measured_at) == 5 * 3 + 3 * 2 + 2


def test_a_search_without_a_gpu_left_ends() -> None:
    workers = Made(lambda number, place: Measured("failed", "its worker was lost"), 1)
    lose = workers.measured

    def measured(place: int, future: Future[Any]) -> Measured:
        workers.left.discard(place)
        return lose(place, future)

    workers.measured = measured
    with pytest.raises(CompileError, match="no GPU is left to measure on"):
        searched(workers)


def test_what_was_not_measured_in_all_rounds_does_not_win() -> None:
    def result(number: int, place: int) -> Measured:
        return Measured("ok", "", 5.0) if number == 1 else Measured("failed", "broken")

    found = searched(Made(result), rounds=2)
    assert found.best is None
    assert len(found.ranked()) == 1
    assert "no schedule was measured in 2 rounds, so that none has won" in table(found)
