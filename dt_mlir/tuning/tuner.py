"""Searches a space of schedules for the fastest.

Candidates are compiled by several processes, then run by one: checked once, and timed in rounds,
in each of which the order is drawn anew. What compiles or runs too long is ended, and costs only
itself. Everything goes to the database at once, so that an interrupted search goes on where it was.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import TimeoutError as FutureTimeoutError
from concurrent.futures import as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any, Protocol, TypeVar

from pebble import ProcessExpired, ProcessPool

from dt_mlir.tuning.baselines import Baseline, measure_baseline
from dt_mlir.tuning.compilation import Built, build
from dt_mlir.tuning.database import Database, Record, Setting
from dt_mlir.tuning.measuring import GRAPH_BELOW_MS, Measured, measure
from dt_mlir.tuning.task import Candidate, Task

BEST = "the best schedule"
"""What a comparison calls it."""
HOPELESS = ("refused", "failed", "late", "unfit", "wrong")
"""The statuses of candidates that have no time."""


@dataclass(frozen=True)
class Options:
    """How to search."""

    jobs: int = 1
    """How many processes compile at once."""
    rounds: int = 5
    """How often what is kept is timed."""
    keep: float = 1.5
    """After the first round, what is this much slower than the best is not timed again."""
    timeout: float = 120.0
    """The seconds after which compiling or running one candidate is ended."""
    trials: int | None = None
    """The most candidates to try; None for all."""
    budget: float | None = None
    """The seconds after which no further candidate is tried; None for no limit."""
    method: str | None = None
    """How time is taken (see `measuring.METHODS`); None for what suits the kernel."""
    seed: int = 0
    """The seed of orders and of the search."""


class Progress(Protocol):
    """Hears of what goes on."""

    def expect(self, steps: int) -> None:
        """So many more steps are to come."""

    def step(self, best: float | None) -> None:
        """A step is done; the best time so far in milliseconds."""


@dataclass
class Outcome:
    """What came of a search."""

    records: dict[str, Record]
    """What is known of the candidates of the space that were tried, by the text of each."""
    candidates: dict[str, Candidate]
    """Those candidates."""
    size: int
    """The number of schedules of the space."""
    method: str
    """How time was taken."""
    comparison: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    """The times of the best schedule (`BEST`) and of the baselines, by name, in rounds that they
    took part in together."""
    missing: dict[str, str] = field(default_factory=dict[str, str])
    """The baselines that have no time, each with the reason."""
    excluded: set[str] = field(default_factory=set[str])
    """Those that a bound on their time excluded, by text."""

    def ranked(self) -> list[Record]:
        """The records with times, the fastest first."""
        timed = [r for r in self.records.values() if r.status == "ok" and r.times]
        return sorted(timed, key=lambda record: record.milliseconds or 0.0)

    @property
    def best(self) -> Record | None:
        """The fastest; None if nothing has a time."""
        ranked = self.ranked()
        return ranked[0] if ranked else None

    def statuses(self) -> Counter[str]:
        """How many records there are of each status."""
        return Counter(record.status for record in self.records.values())

    def reasons(self, status: str) -> Counter[str]:
        """Why records have a status, and how often."""
        return Counter(r.message for r in self.records.values() if r.status == status)


class Tuner:
    """One search.

    Args:
        task: what is tuned.
        setting: where it is measured.
        database: where results go.
        options: how to search.
        progress: hears of what goes on.
        baselines: what candidates are compared with.
    """

    def __init__(
        self,
        task: Task,
        setting: Setting,
        database: Database,
        options: Options,
        progress: Progress,
        baselines: Sequence[Baseline] = (),
    ) -> None:
        self.task, self.setting, self.database = task, setting, database
        self.options, self.progress = options, progress
        self.on_gpu = setting.device != "cpu"
        self.baselines = baselines
        self.random = random.Random(options.seed)
        self.method = options.method or self._usual_method()
        self.built: dict[str, Built] = {}
        self.records: dict[str, Record] = {}
        self.tried: dict[str, Candidate] = {}
        self.excluded: set[str] = set()
        self.comparison: dict[str, list[float]] = {}
        self.missing: dict[str, str] = {}
        self.pool: ProcessPool | None = None

    def _usual_method(self) -> str:
        if not self.on_gpu:
            return "interpreter"
        known = self.database.methods(self.setting)
        return "graph" if "graph" in known else "events"

    def run(self) -> Outcome:
        """Search."""
        started = time.monotonic()
        self.records = self.database.load(self.setting, self.method)
        context: Any = get_context("spawn")
        try:
            with ProcessPool(max_workers=1, context=context) as self.pool:
                for batch in self._batches():
                    self.progress.expect(len(batch))
                    self._try(batch)
                    spent = time.monotonic() - started
                    if self.options.budget is not None and spent > self.options.budget:
                        break
                self._change_method()
                self._further_rounds()
                self._compare()
        except BaseException:
            if self.pool is not None:
                self.pool.stop()
            raise
        found = {text: self.records[text] for text in self.tried if text in self.records}
        return Outcome(
            found, self.tried, len(self.task.space), self.method, self.comparison, self.missing,
            self.excluded,
        )  # fmt: skip

    # Which candidates are tried.

    def _batches(self) -> Iterable[list[Candidate]]:
        trials = self.options.trials
        if trials is None and self.options.budget is None:
            everything = self.task.candidates()
            # The measuring process idles while a batch is compiled: few batches are best.
            size = max(64, 8 * self.options.jobs)
            for start in range(0, len(everything), size):
                yield everything[start : start + size]
            return
        from dt_mlir.tuning.search import Sampler

        sampler = Sampler(self.task, self.options.seed)
        left = len(self.task.space) if trials is None else trials
        while left > 0:
            batch = sampler.ask(min(left, 2 * self.options.jobs))
            if not batch:
                return
            left -= len(batch)
            yield batch
            for candidate in batch:
                record = self.records.get(candidate.text)
                sampler.tell(candidate, None if record is None else record.milliseconds)

    def _try(self, batch: Sequence[Candidate]) -> None:
        """Compile what is not known, and time it once."""
        self.tried.update({candidate.text: candidate for candidate in batch})
        texts = [candidate.text for candidate in batch]
        known = [text for text in texts if self._is_done(text, 1)]
        for _ in known:
            self.progress.step(self._best())
        new = [text for text in texts if text not in known]
        self._build(new)
        ready = [text for text in new if self.built[text].status == "ok"]
        ready.sort(key=lambda text: self.built[text].least_milliseconds)
        for text in ready:
            best = self._best()
            if best is not None and self.built[text].least_milliseconds > best:
                self.excluded.add(text)
            else:
                self._measure(text)
            self.progress.step(self._best())

    def _is_done(self, text: str, rounds: int) -> bool:
        record = self.records.get(text)
        return record is not None and (record.status in HOPELESS or len(record.times) >= rounds)

    def _best(self) -> float | None:
        times = [self.records[text].milliseconds for text in self.tried if text in self.records]
        return min((t for t in times if t is not None), default=None)

    def _build(self, texts: Sequence[str]) -> None:
        """Compile candidates in several processes."""
        if not texts:
            return
        context: Any = get_context("spawn")
        with ProcessPool(max_workers=min(self.options.jobs, len(texts)), context=context) as pool:
            futures: dict[Any, str] = {
                pool.schedule(
                    build, args=[text, "-", self.setting.sizes, self.on_gpu],
                    timeout=self.options.timeout,
                ): text
                for text in texts
            }  # fmt: skip
            try:
                for future in as_completed(futures):
                    text = futures[future]
                    built = _result(future, Built)
                    self.built[text] = built
                    if built.status != "ok":
                        self._save(Record(text, built.status, built.message, built.resources))
                        self.progress.step(self._best())
            except BaseException:
                pool.stop()
                raise

    # How they are timed.

    def _measure(self, text: str) -> None:
        """Time a candidate once, and check it if it never was."""
        record = self.records.get(text)
        if text not in self.built:
            self._build([text])
        built = self.built[text]
        if built.status != "ok":
            return
        measured = self._in_process(
            measure, self.setting.algorithm, built.source, self.setting.sizes, self.method,
            record is None,
        )  # fmt: skip
        if record is None or measured.status != "ok":
            times = [] if record is None else record.times
            self._save(Record(text, measured.status, measured.message, built.resources, times))
        if measured.milliseconds is not None:
            self.records[text].times.append(measured.milliseconds)
            self.database.add_time(self.setting, text, self.method, measured.milliseconds)

    def _in_process(self, function: Callable[..., Measured], *args: object) -> Measured:
        assert self.pool is not None
        future = self.pool.schedule(function, args=list(args), timeout=self.options.timeout)
        return _result(future, Measured)

    def _save(self, record: Record) -> None:
        self.records[record.program] = record
        self.database.save(self.setting, record)

    def _change_method(self) -> None:
        """Time short kernels as graphs: launching takes longer than they do."""
        best = self._best()
        short = best is not None and best < GRAPH_BELOW_MS
        if self.options.method is not None or self.method != "events" or not short:
            return
        self.method = "graph"
        self.records = self.database.load(self.setting, self.method)
        due = [text for text in self.tried if text in self.records and not self._is_done(text, 1)]
        self.progress.expect(len(due))
        for text in due:
            self._measure(text)
            self.progress.step(self._best())

    def _kept(self) -> list[str]:
        """Those that are timed again: not much slower than the best."""
        best = self._best()
        found: list[str] = []
        for text in self.tried:
            time = self.records[text].milliseconds if text in self.records else None
            if time is not None and best is not None and time <= best * self.options.keep:
                found.append(text)
        return found

    def _further_rounds(self) -> None:
        """Time what was kept in rounds whose order is drawn anew."""
        kept = self._kept()
        rounds = self.options.rounds
        self.progress.expect(sum(max(0, rounds - len(self.records[t].times)) for t in kept))
        for number in range(rounds):
            due = [text for text in kept if len(self.records[text].times) <= number]
            self.random.shuffle(due)
            for text in due:
                self._measure(text)
                self.progress.step(self._best())

    def _compare(self) -> None:
        """Time the best schedule and the baselines against each other.

        Their ratios mean something only where they are taken in one process, so that the best is
        timed again.
        """
        timed = {t: self.records[t].milliseconds for t in self.tried if t in self.records}
        known = {text: time for text, time in timed.items() if time is not None}
        if not self.baselines or not known:
            return
        best = min(known, key=lambda text: known[text])
        self.comparison = {BEST: [], **{baseline.name: [] for baseline in self.baselines}}
        contenders: list[Baseline | None] = [None, *self.baselines]
        self.progress.expect(self.options.rounds * len(contenders))
        for _ in range(self.options.rounds):
            self.random.shuffle(contenders)
            for contender in contenders:
                if contender is None:
                    self._measure(best)
                    self.comparison[BEST].append(self.records[best].times[-1])
                elif contender.name not in self.missing:
                    self._measure_baseline(contender)
                self.progress.step(self._best())
        for name in self.missing:
            del self.comparison[name]

    def _measure_baseline(self, baseline: Baseline) -> None:
        measured = self._in_process(
            measure_baseline, baseline, self.setting.algorithm, self.setting.sizes, self.method
        )
        if measured.milliseconds is None:
            self.missing[baseline.name] = measured.message
        else:
            self.comparison[baseline.name].append(measured.milliseconds)


_Result = TypeVar("_Result", Built, Measured)


def _result(future: Any, kind: type[_Result]) -> _Result:
    """What a process made of its task, or what became of the process."""
    try:
        return future.result()
    except FutureTimeoutError:
        return kind("late", "it took too long")
    except ProcessExpired as error:
        return kind("failed", f"its process ended with status {error.exitcode}")
