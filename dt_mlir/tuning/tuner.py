"""Searches a space of schedules for the fastest.

Candidates are compiled by several processes, then run by one on each GPU: checked once, and timed.
What is among the fastest is timed in rounds on one GPU, in each of which the order is drawn anew.
What compiles or runs too long is ended, and costs only itself. Machine code of what may win is
inspected while others are compiled and timed. Everything goes to the database at once, so that an
interrupted search goes on where it was.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any, Protocol

from dt_mlir.autoscheduling.least import Least
from dt_mlir.diagnostics import CompileError
from dt_mlir.tuning.baselines import Baseline, measure_baseline
from dt_mlir.tuning.compilation import Built
from dt_mlir.tuning.database import ROUNDS, Database, Record, Setting
from dt_mlir.tuning.measuring import (
    LOOK_MS,
    REPETITION_MS,
    Measured,
    measure,
)
from dt_mlir.tuning.outcome import BEST, Outcome
from dt_mlir.tuning.strategies.everything import Everything
from dt_mlir.tuning.strategies.strategy import Strategy
from dt_mlir.tuning.task import Candidate, Task
from dt_mlir.tuning.workers.local import LocalWorkers
from dt_mlir.tuning.workers.workers import Wanted, Workers

FINAL = ("refused", "unfit", "wrong")
"""The statuses that another search finds again; what failed or was late may have had bad luck."""
LOOKS = 4
"""The candidates that are looked at between two times that the fastest one is timed again."""
NO_GPU = "what was measured is kept: search again when there is one"
"""The help where the last GPU is lost."""


@dataclass(frozen=True)
class _Step:
    """A step of a search that is under way."""

    text: str
    """The candidate."""
    place: int | None
    """The process that measures it; None while it is compiled."""
    again: bool = False
    """True if it was looked at before."""


@dataclass(frozen=True)
class Options:
    """The options of a search."""

    jobs: int = 1
    """The number of processes that compile at once."""
    rounds: int = ROUNDS
    """The number of times that a kept candidate is timed."""
    keep: float | None = None
    """After the first round, what is this much slower than the best is not timed again, and after
    each further one what was slower by half as much as before; None for what suits the strategy."""
    timeout: float = 120.0
    """The seconds after which compiling or running one candidate is ended."""
    trials: int | None = None
    """The most candidates to try; None for all that the strategy suggests."""
    budget: float | None = None
    """The seconds after which no further candidate is tried; None for no limit."""
    method: str | None = None
    """The method of timing (see `measuring.METHODS`); None for `cold`, or the
    interpreter without a GPU."""
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
        strategy: what decides which candidates are tried; None for all of the task's space.
        least: the least time that the device needs, for the report.
        leading: hears of the programs that are the fastest so far, or may turn out to be, the
            likeliest first.
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
        strategy: Strategy | None = None,
        least: Least | None = None,
        leading: Callable[[Sequence[str]], None] | None = None,
    ) -> None:
        self.leading = leading
        self.task, self.setting, self.database = task, setting, database
        self.options, self.progress = options, progress
        self.on_gpu = setting.device != "cpu"
        self.baselines, self.least = baselines, least
        self.strategy: Strategy = Everything(task) if strategy is None else strategy
        self.random = random.Random(options.seed)
        self.method = options.method or ("cold" if self.on_gpu else "interpreter")
        self.built: dict[str, Built] = {}
        self.records: dict[str, Record] = {}
        self.tried: dict[str, Candidate] = {}
        self.excluded: set[str] = set()
        self._returned: set[str] = set()
        """Those that were excluded until what excluded them was found wrong."""
        self.comparison: dict[str, list[float]] = {}
        self.missing: dict[str, str] = {}
        self._workers = workers
        self.failed: set[str] = set()
        """The candidates that failed or were late in this search, which does not repeat them."""
        self._fastest: str | None = None
        """The candidate that took less time than the fastest one before it did when last timed."""
        self._inspections: dict[Future[Any], str] = {}
        """The candidates whose machine code is being inspected."""
        self._inspected: set[str] = set()
        """The candidates whose machine code has been inspected."""
        self._measured_before: set[str] = set()
        """The candidates that other searches have measured in all rounds."""
        self.finished = False

    def run(self) -> Outcome:
        """Searches.

        Raises:
            CompileError: if inputs cannot be made up, or a result not be checked.
        """
        if self._workers is None:
            options = self.options
            with LocalWorkers(options.jobs, options.load, options.timeout) as self._workers:
                self._search()
            self._workers = None
        else:
            self._search()
        self.finished = True
        return self.outcome()

    def outcome(self) -> Outcome:
        """Returns what has come of the search so far."""
        self._read_inspections(wait=False)
        found = {text: self.records[text] for text in self.tried if text in self.records}
        # A search that was interrupted may have begun to compare.
        compared = {name: times for name, times in self.comparison.items() if times}
        return Outcome(
            found, self.tried, self.strategy.size, self.method, compared, self.missing,
            self.excluded, self.options.rounds, self.strategy.pruned, self.least,
            not self.finished,
        )  # fmt: skip

    def _search(self) -> None:
        self.records = self.database.load(self.setting, self.method)
        for record in self.records.values():
            record.rounds = self.options.rounds
            if len(record.times) >= record.rounds:
                self._measured_before.add(record.program)
        self._explore()
        self._further_rounds()
        while self._finds_faults() or (self._times() and self.outcome().best is None):
            # Others are the fastest now, which have not been timed as often.
            self._further_rounds()
        best = self.outcome().best
        if best is not None:
            self._leads([best.program])
        self._compare()

    @property
    def workers(self) -> Workers:
        """The processes that compile and measure."""
        assert self._workers is not None, "they are there while it runs"
        return self._workers

    # Which candidates are tried.

    def _explore(self) -> None:
        """Compiles candidates and times each once, several at a time.

        What is ready is timed while others are compiled; further rounds find all compiled. The
        fastest is timed again now and then until it is fully measured, so that there is a result
        at any time.
        """
        started = time.monotonic()
        left = self.options.trials
        pending: dict[Future[Any], _Step] = {}
        ready: deque[str] = deque()
        looks, prepared = 0, False
        free = set(self.workers.places())
        ahead = self.strategy.ahead(self.workers.jobs, len(free)) + len(free)
        while True:
            at_end = not pending and not ready
            if self._read_inspections(wait=at_end and bool(self.excluded)):
                # What is wrong excludes nothing.
                those = [text for text in self.tried if text in self.excluded]
                returned = [text for text in those if not self._is_too_slow(text)]
                self.excluded.difference_update(returned)
                self._returned.update(returned)
                self.progress.expect(len(returned))
                ready += returned
            # What may be faster is looked at first, but for a turn of the fastest now and then.
            leader = self._leader()
            under_way = any(step.again for step in pending.values())
            its_turn = not under_way and (looks >= LOOKS if ready else bool(pending) or looks > 0)
            if leader is not None and its_turn and self._first in free:
                looks = 0
                self.progress.expect(1)
                self._look(leader, self._first, True, pending, free)
            while ready and free:
                text = ready.popleft()
                if self._is_too_slow(text):
                    self.excluded.add(text)
                    self._looked(text)
                else:
                    looks += 1
                    self._look(text, min(free), False, pending, free)
            # While others are compiled and timed, the strategy looks for the next one.
            spent = time.monotonic() - started
            if self.options.budget is not None and spent > self.options.budget and self.tried:
                left = 0
            batch: list[Candidate] = []
            if len(pending) + len(ready) < ahead and (left is None or left > 0):
                batch = self.strategy.ask(1)
            if batch:
                left = left if left is None else left - len(batch)
                self.progress.expect(len(batch))
                is_first = not self.tried
                for candidate in batch:
                    self._begin(candidate, pending)
                if is_first and pending:
                    # A strategy that predicts suggests first what it expects to win.
                    self._leads([batch[0].text])
            elif pending and not prepared:
                prepared = True
                self.strategy.begin_imports()
                # Inputs are made up while the first candidates are compiled.
                for place in self.workers.places():
                    self.workers.prepare(place, self._wanted)
            elif not pending:
                if ready:
                    raise CompileError("no GPU is left to measure on", None, NO_GPU)
                return
            done, _ = wait(pending, 0 if batch else None, FIRST_COMPLETED)
            for future in done:
                step = pending.pop(future)
                if step.place is None:
                    if self._built(step.text, self.workers.built(future)):
                        ready.append(step.text)
                    else:
                        self._looked(step.text)
                    continue
                self._timed(step.text, self.workers.measured(step.place, future))
                free.update({step.place}.intersection(self.workers.places()))
                if step.again:
                    self.progress.step(self._best())
                else:
                    self._looked(step.text)
                    if step.text in self._kept():
                        # It may win.
                        self._inspect(step.text)
                if (leader := self._leader()) is not None:
                    self._leads([leader])

    def _leader(self) -> str | None:
        """Returns the fastest candidate, unless it is measured in all rounds."""
        leader = self._fastest_so_far()
        if leader is None or leader not in self.built:
            # What another search has measured waits for the rounds.
            return None
        return leader if len(self.records[leader].times) < self.options.rounds else None

    def _leads(self, texts: Sequence[str]) -> None:
        """Tells of programs that may turn out to be the fastest, the likeliest first."""
        if self.leading is not None and texts:
            self.leading(texts)

    def _begin(self, candidate: Candidate, pending: dict[Future[Any], _Step]) -> None:
        """Compiles a candidate, unless what is known of it will do."""
        text = candidate.text
        self.tried[text] = candidate
        if self._is_done(text):
            self._predict(candidate)
            self._looked(text)
        else:
            future = self.workers.build(text, self.setting.sizes, self.on_gpu)
            pending[future] = _Step(text, None)

    def _look(
        self, text: str, place: int, again: bool, pending: dict[Future[Any], _Step],
        free: set[int],
    ) -> None:
        """Lets a process time a candidate."""
        free.remove(place)
        pending[self._start_measuring(text, place)] = _Step(text, place, again)

    def _looked(self, text: str) -> None:
        """Tells what came of a candidate's first look."""
        record = self.records.get(text)
        ok = record is not None and record.status == "ok"
        if text not in self._returned:
            self.strategy.tell(self.tried[text], record.milliseconds if record and ok else None)
        self.progress.step(self._best())

    def _is_too_slow(self, text: str) -> bool:
        """Returns whether the bytes that a candidate moves take longer than the best one."""
        best = self._best()
        # On the same tensors, replays find them in the cache.
        sound = self.method in ("cold", "events") and self.strategy.excludes
        return sound and best is not None and self.built[text].least_milliseconds > best

    def _is_done(self, text: str) -> bool:
        """Returns whether a candidate need not be compiled for a first look."""
        record = self.records.get(text)
        if record is None:
            return False
        return record.status in FINAL or text in self.failed or bool(record.times)

    def _best(self) -> float | None:
        return min(self._times().values(), default=None)

    def _times(self) -> dict[str, float]:
        """The times of those candidates that have one, by text; what fails once does not count."""
        found: dict[str, float] = {}
        for text in self.tried:
            if text in self.failed:
                continue
            record = self.records.get(text)
            time = None if record is None or record.status != "ok" else record.milliseconds
            if time is not None:
                found[text] = time
        return found

    def _built(self, text: str, built: Built) -> bool:
        """Notes what came of compiling a candidate; returns whether it can be run."""
        self.built[text] = built
        self._note(text, built.status)
        if built.status == "ok":
            return True
        self._save(Record(text, built.status, built.message, built.resources))
        return False

    def _inspect(self, text: str) -> None:
        """Lets a process inspect a candidate's machine code, unless one does or has done so."""
        code = self.built[text].machine_code
        if code and text not in self._inspected and text not in self._inspections.values():
            self._inspections[self.workers.inspect(code)] = text

    def _read_inspections(self, wait: bool) -> bool:
        """Notes what came of inspections, and returns whether there was a fault.

        Args:
            wait: whether those that are not done are waited for.
        """
        wrong = False
        for future, text in [*self._inspections.items()]:
            if not wait and not future.done():
                continue
            del self._inspections[future]
            found = self.workers.built(future)
            if found.status == "wrong":
                wrong = True
                self._save(Record(text, "wrong", found.message, self.built[text].resources))
            # If it cannot be inspected, nothing is known.
            self._inspected.add(text)
        return wrong

    def _finds_faults(self) -> bool:
        """Waits for inspections, the winner's among them; returns whether there was a fault."""
        found = self._read_inspections(wait=True)
        best = self.outcome().best
        if best is not None and self.on_gpu:
            # Another search may have ended before it was inspected.
            self._build_all([best.program])
        if best is not None and best.program in self.built:
            self._inspect(best.program)
        return self._read_inspections(wait=True) or found

    def _build_all(self, texts: Iterable[str]) -> None:
        """Compiles candidates that this search has not compiled."""
        futures = {
            self.workers.build(text, self.setting.sizes, self.on_gpu): text
            for text in texts if text not in self.built
        }
        for future, text in futures.items():
            self._built(text, self.workers.built(future))

    # How they are timed.

    @property
    def _wanted(self) -> Wanted:
        """The key of the inputs."""
        return self.setting.algorithm, self.setting.sizes, self.method

    @property
    def _first(self) -> int:
        """The process that measures all rounds but the first look: GPUs differ."""
        places = self.workers.places()
        if not places:
            raise CompileError("no GPU is left to measure on", None, NO_GPU)
        return places[0]

    def _note(self, text: str, status: str) -> None:
        if status not in ("ok", *FINAL):
            self.failed.add(text)

    def _start_measuring(self, text: str, place: int) -> Future[Any]:
        """Lets a process time a candidate, which is checked if it never was."""
        record, built = self.records.get(text), self.built[text]
        known = built.checked or (record is not None and record.status == "ok")
        looked = record is not None and bool(record.times)
        return self.workers.start(
            place, self._wanted, measure,
            self.setting.algorithm, built.source, self.setting.sizes, self.method,
            None if known else built.accuracy, REPETITION_MS if looked else LOOK_MS,
            built.repeatable, self.setting.strides, cache=built.cache,
        )  # fmt: skip

    def _measure(self, text: str) -> float | None:
        """Times a candidate once; None if it fails."""
        if self.built[text].status != "ok" or text in self.failed:
            return None
        place = self._first
        return self._timed(text, self.workers.measured(place, self._start_measuring(text, place)))

    def _timed(self, text: str, measured: Measured) -> float | None:
        """Notes what came of running a candidate, and returns its time if it has one."""
        self._note(text, measured.status)
        self._save(Record(text, measured.status, measured.message, self.built[text].resources))
        if measured.milliseconds is not None:
            self.records[text].times.append(measured.milliseconds)
            self.database.add_time(self.setting, text, self.method, measured.milliseconds)
            self._compare_with_fastest(text, measured.milliseconds)
        return measured.milliseconds

    def _compare_with_fastest(self, text: str, time: float) -> None:
        """Notes whether a candidate is the fastest so far.

        Its time is compared with the last one of the fastest, which was taken shortly before: a GPU
        slows down as it warms up, by up to a tenth.
        """
        fastest = self._fastest_so_far()
        if fastest is not None and time < self.records[fastest].times[-1]:
            self._fastest = text

    def _fastest_so_far(self) -> str | None:
        """Returns the fastest candidate; another one where it has failed since."""
        times = self._times()
        if self._fastest not in times:
            self._fastest = min(times, key=times.__getitem__, default=None)
        return self._fastest

    def _save(self, record: Record) -> None:
        """Remembers a record; bad luck takes no time away from what has one."""
        record.rounds = self.options.rounds
        candidate = self.tried.get(record.program)
        if candidate is not None:
            record.point = candidate.point
        known = self.records.get(record.program)
        if known is not None and known.status == "ok":
            if record.status in ("ok", "failed", "late"):
                return
            record.times = known.times
        self.records[record.program] = record
        self.database.save(self.setting, record)
        if candidate is not None:
            self._predict(candidate)

    def _predict(self, candidate: Candidate) -> None:
        """Remembers what was predicted about a candidate, from which other searches learn."""
        if candidate.prediction is not None:
            self.database.add_prediction(self.setting, candidate.text, candidate.prediction)

    def _kept(self) -> list[str]:
        """Those that are timed in rounds: not much slower than the best at their first looks."""
        fastest = self._fastest_so_far()
        if fastest is None:
            return []
        # Its last time is that of the warmest GPU.
        most = self.records[fastest].times[-1] * (self.options.keep or self.strategy.keep)
        # A round may be too long, on a machine that others use.
        return [text for text in self._times() if min(self.records[text].times) <= most]

    def _further_rounds(self) -> None:
        """Times what is kept in rounds whose order is drawn anew.

        In each round what is timed is compared with the fastest of that round, among which the best
        so far always is: times of other rounds are those of a cooler or a warmer GPU. From the
        third round on, what was slower in all of them is left out, the sooner the more rounds, but
        for what was timed more than once before the rounds: it would win by those times. What
        another search has measured in all rounds is not timed again unless it is the best.
        """
        rounds, margin = self.options.rounds, (self.options.keep or self.strategy.keep) - 1
        slower: dict[str, float] = {}
        """The time of each over the fastest of the same round, the least of all rounds."""
        again = {text for text in self._times() if len(self.records[text].times) > 1}
        # The first look is the first round.
        for number in range(1, rounds):
            most = 1 + margin / 2 ** (number - 1)
            kept = [
                text for text in self._kept() if text in again or slower.get(text, 1.0) <= most
            ]
            times = self._times()
            self._leads(sorted(kept, key=times.__getitem__))
            due = [text for text in kept if text not in self._measured_before]
            if not due:
                continue
            due = list(dict.fromkeys([*due, *sorted(kept, key=times.__getitem__)[:1]]))
            if len(due) == 1 and len(self.records[due[0]].times) >= rounds:
                # There is nothing to compare it with.
                continue
            self._build_all(due)
            for text in due:
                self._inspect(text)
            self.progress.expect(len(due))
            self.random.shuffle(due)
            found: dict[str, float] = {}
            for text in due:
                time = self._measure(text)
                if time is not None:
                    found[text] = time
                self.progress.step(self._best())
            for text, time in found.items():
                ratio = time / min(found.values())
                slower[text] = min(slower.get(text, ratio), ratio)

    def _compare(self) -> None:
        """Times the best schedule and the baselines against each other.

        Their ratios mean something only where they are taken in one process, so that the best is
        timed again.
        """
        known = self._times()
        if not self.baselines or not known:
            return
        record = self.outcome().best
        if record is None:
            return
        best = record.program
        self._build_all([best])
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
        place = self._first
        future = self.workers.start(
            place, self._wanted, measure_baseline,
            baseline, self.setting.algorithm, self.setting.sizes, self.method,
        )  # fmt: skip
        measured = self.workers.measured(place, future)
        if measured.milliseconds is None:
            self.missing[baseline.name] = measured.message
        else:
            self.comparison[baseline.name].append(measured.milliseconds)

