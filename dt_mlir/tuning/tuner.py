"""Searches a space of schedules for the fastest.

Candidates are compiled by several processes, then run by one: checked once, and timed in rounds,
in each of which the order is drawn anew. What compiles or runs too long is ended, and costs only
itself. Everything goes to the database at once, so that an interrupted search goes on where it was.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from dt_mlir.tuning.baselines import Baseline, measure_baseline
from dt_mlir.tuning.compilation import Built
from dt_mlir.tuning.database import Database, Record, Setting, ranked
from dt_mlir.tuning.measuring import (
    GRAPH_BELOW_MS,
    LOOK_MS,
    REPETITION_MS,
    Measured,
    measure,
)
from dt_mlir.tuning.task import Candidate, Task
from dt_mlir.tuning.workers import Workers

BEST = "the best schedule"
"""The name in a comparison."""
TIMELESS = ("refused", "failed", "late", "unfit", "wrong")
"""The statuses of candidates that have no time."""
FINAL = ("refused", "unfit", "wrong")
"""Those that another search finds again; what failed or was late may have had bad luck."""


@dataclass(frozen=True)
class Options:
    """The options of a search."""

    jobs: int = 1
    """The number of processes that compile at once."""
    rounds: int = 5
    """The number of times that a kept candidate is timed."""
    keep: float = 1.5
    """After the first round, what is this much slower than the best is not timed again."""
    timeout: float = 120.0
    """The seconds after which compiling or running one candidate is ended."""
    trials: int | None = None
    """The most candidates to try; None for all."""
    budget: float | None = None
    """The seconds after which no further candidate is tried; None for no limit."""
    method: str | None = None
    """The method of timing (see `measuring.METHODS`); None for the one that suits the kernel."""
    seed: int = 0
    """The seed of orders and of the search."""
    load: tuple[str, ...] = ()
    """Python files with directives that programs use."""


class Progress(Protocol):
    """Hears of what goes on."""

    def expect(self, steps: int) -> None:
        """So many more steps are to come."""

    def step(self, best: float | None) -> None:
        """A step is done; the best time so far in milliseconds."""


@dataclass
class Outcome:
    """The outcome of a search."""

    records: dict[str, Record]
    """The records of the space's candidates that were tried, by the text of each."""
    candidates: dict[str, Candidate]
    """Those candidates."""
    size: int
    """The number of schedules of the space."""
    method: str
    """The method of timing."""
    comparison: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    """The times of the best schedule (`BEST`) and of the baselines, by name, in rounds that they
    took part in together."""
    missing: dict[str, str] = field(default_factory=dict[str, str])
    """The baselines that have no time, each with the reason."""
    excluded: set[str] = field(default_factory=set[str])
    """Those that a bound on their time excluded, by text."""

    def ranked(self) -> list[Record]:
        """The records with times, the fastest of those that were fully measured first."""
        return ranked(self.records.values())

    @property
    def best(self) -> Record | None:
        """The fastest; None if nothing has a time."""
        ranked = self.ranked()
        return ranked[0] if ranked else None

    def statuses(self) -> Counter[str]:
        """Returns the number of records of each status."""
        return Counter(record.status for record in self.records.values())

    def reasons(self, status: str) -> Counter[str]:
        """Why records have a status, and how often."""
        return Counter(r.message for r in self.records.values() if r.status == status)

    def example(self, status: str, message: str) -> Record:
        """A record that has a status for a reason."""
        records = self.records.values()
        return next(r for r in records if r.status == status and r.message == message)


class Tuner:
    """One search.

    Args:
        task: what is tuned.
        setting: where it is measured.
        database: where results go.
        options: how to search.
        progress: hears of what goes on.
        baselines: what candidates are compared with.
        workers: the processes that compile and measure; None for some of its own.
    """

    def __init__(
        self,
        task: Task,
        setting: Setting,
        database: Database,
        options: Options,
        progress: Progress,
        baselines: Sequence[Baseline] = (),
        workers: Workers | None = None,
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
        self.workers = workers
        self.failed: set[str] = set()
        """The candidates that failed or were late in this search, which does not repeat them."""

    def _usual_method(self) -> str:
        if not self.on_gpu:
            return "interpreter"
        known = self.database.methods(self.setting)
        return "graph" if "graph" in known else "events"

    def run(self) -> Outcome:
        """Searches.

        Raises:
            CompileError: if inputs cannot be made up, or a result not be checked.
        """
        if self.workers is None:
            options = self.options
            with Workers(options.jobs, options.load, options.timeout) as self.workers:
                self._search()
            self.workers = None
        else:
            self._search()
        found = {text: self.records[text] for text in self.tried if text in self.records}
        return Outcome(
            found, self.tried, len(self.task.space), self.method, self.comparison, self.missing,
            self.excluded,
        )  # fmt: skip

    def _search(self) -> None:
        started = time.monotonic()
        self.records = self.database.load(self.setting, self.method)
        for batch in self._batches():
            self.progress.expect(len(batch))
            self._try(batch)
            spent = time.monotonic() - started
            if self.options.budget is not None and spent > self.options.budget:
                break
        self._change_method()
        self._further_rounds()
        self._compare()

    def _run(self, function: Callable[..., Measured], *args: object) -> Measured:
        """Runs something in the process that measures."""
        assert self.workers is not None
        wanted = (self.setting.algorithm, self.setting.sizes, self.method)
        return self.workers.run(wanted, function, *args)

    # Which candidates are tried.

    def _batches(self) -> Iterable[list[Candidate]]:
        trials = self.options.trials
        if trials is None and self.options.budget is None:
            yield self.task.candidates()
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
        """Compiles what is not known, and times it once."""
        self.tried.update({candidate.text: candidate for candidate in batch})
        texts = [candidate.text for candidate in batch]
        known = [text for text in texts if self._is_done(text, 1)]
        for _ in known:
            self.progress.step(self._best())
        # What is ready is timed while others are compiled; further rounds find all compiled.
        for text in self._build([text for text in texts if text not in known]):
            best = self._best()
            # Replays of a graph may find the inputs in the cache.
            sound = self.method == "events"
            if best is not None and sound and self.built[text].least_milliseconds > best:
                self.excluded.add(text)
            else:
                self._measure(text)
            self.progress.step(self._best())

    def _is_done(self, text: str, rounds: int) -> bool:
        record = self.records.get(text)
        if record is None:
            return False
        return record.status in FINAL or text in self.failed or len(record.times) >= rounds

    def _best(self) -> float | None:
        return min(self._times().values(), default=None)

    def _times(self) -> dict[str, float]:
        """The times of those candidates that have one, by text."""
        found: dict[str, float] = {}
        for text in self.tried:
            record = self.records.get(text)
            time = None if record is None or record.status != "ok" else record.milliseconds
            if time is not None:
                found[text] = time
        return found

    def _build(self, texts: Iterable[str]) -> Iterator[str]:
        """Compiles what this search has not compiled; yields what can be run."""
        assert self.workers is not None
        new: list[str] = []
        for text in texts:
            if text not in self.built:
                new.append(text)
            elif self.built[text].status == "ok":
                yield text
        for text, built in self.workers.build(new, self.setting.sizes, self.on_gpu):
            self.built[text] = built
            self._note(text, built.status)
            if built.status == "ok":
                yield text
            else:
                self._save(Record(text, built.status, built.message, built.resources))
                self.progress.step(self._best())

    # How they are timed.

    def _note(self, text: str, status: str) -> None:
        if status not in ("ok", *FINAL):
            self.failed.add(text)

    def _measure(self, text: str) -> float | None:
        """Times a candidate once, and checks it if it never was; None if it fails."""
        record = self.records.get(text)
        for _ in self._build([text]):
            pass
        built = self.built[text]
        if built.status != "ok" or text in self.failed:
            return None
        measured = self._run(
            measure, self.setting.algorithm, built.source, self.setting.sizes, self.method,
            None if built.checked or (record is not None and record.status == "ok")
            else built.accuracy,
            REPETITION_MS if record is not None and record.times else LOOK_MS,
        )  # fmt: skip
        self._note(text, measured.status)
        self._save(Record(text, measured.status, measured.message, built.resources))
        if measured.milliseconds is not None:
            self.records[text].times.append(measured.milliseconds)
            self.database.add_time(self.setting, text, self.method, measured.milliseconds)
        return measured.milliseconds

    def _save(self, record: Record) -> None:
        """Remembers a record; bad luck takes no time away from what has one."""
        if record.program in self.tried:
            record.point = self.tried[record.program].point
        known = self.records.get(record.program)
        if known is not None and known.status == "ok":
            if record.status in ("ok", "failed", "late"):
                return
            record.times = known.times
        self.records[record.program] = record
        self.database.save(self.setting, record)

    def _change_method(self) -> None:
        """Times short kernels as graphs: launching takes longer than they do."""
        best = self._best()
        short = best is not None and best < GRAPH_BELOW_MS
        if self.options.method is not None or self.method != "events" or not short:
            return
        self.method = "graph"
        self.records = self.database.load(self.setting, self.method)
        due = [text for text in self.tried if text in self.records and not self._is_done(text, 1)]
        self.progress.expect(len(due))
        for text in self._build(due):
            self._measure(text)
            self.progress.step(self._best())

    def _kept(self) -> list[str]:
        """Those that are timed again: not much slower than the best."""
        times = self._times()
        most = min(times.values(), default=0.0) * self.options.keep
        return [text for text, time in times.items() if time <= most]

    def _further_rounds(self) -> None:
        """Times what was kept in rounds whose order is drawn anew."""
        kept = self._kept()
        rounds = self.options.rounds
        self.progress.expect(sum(max(0, rounds - len(self.records[t].times)) for t in kept))
        for _ in self._build(text for text in kept if not self._is_done(text, rounds)):
            pass
        for number in range(rounds):
            due = [text for text in kept if not self._is_done(text, number + 1)]
            self.random.shuffle(due)
            for text in due:
                self._measure(text)
                self.progress.step(self._best())

    def _compare(self) -> None:
        """Times the best schedule and the baselines against each other.

        Their ratios mean something only where they are taken in one process, so that the best is
        timed again.
        """
        known = self._times()
        if not self.baselines or not known:
            return
        best = ranked(self.records[text] for text in known)[0].program
        self.comparison = {BEST: [], **{baseline.name: [] for baseline in self.baselines}}
        contenders: list[Baseline | None] = [None, *self.baselines]
        self.progress.expect(self.options.rounds * len(contenders))
        for _ in range(self.options.rounds):
            self.random.shuffle(contenders)
            for contender in contenders:
                if contender is None:
                    time = self._measure(best)
                    self.comparison[BEST] += [] if time is None else [time]
                elif contender.name not in self.missing:
                    self._measure_baseline(contender)
                self.progress.step(self._best())
        for name, times in list(self.comparison.items()):
            if name in self.missing or not times:
                del self.comparison[name]

    def _measure_baseline(self, baseline: Baseline) -> None:
        measured = self._run(
            measure_baseline, baseline, self.setting.algorithm, self.setting.sizes, self.method
        )
        if measured.milliseconds is None:
            self.missing[baseline.name] = measured.message
        else:
            self.comparison[baseline.name].append(measured.milliseconds)

