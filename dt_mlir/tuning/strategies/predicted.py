"""Tries the schedules that are predicted to be fastest, and learns where predictions are wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.autoscheduling.auto import with_schedule
from dt_mlir.autoscheduling.decisions import Decision
from dt_mlir.autoscheduling.proposals import Choice, Proposals
from dt_mlir.costs.device import Device
from dt_mlir.costs.version import model_digest
from dt_mlir.frontend.analysis import OUTPUT_DIRECTIVES
from dt_mlir.scheduling.space import Point
from dt_mlir.tuning.strategies.surrogate import Features, Surrogate
from dt_mlir.tuning.task import Candidate, Prediction, canonical

TRIALS = 24
"""The number of candidates that are tried where nothing else is said."""
LEAST = 8
"""The number of candidates after which a search may end by itself."""
LEAST_GAIN = 0.001
"""The expected gain, as a part of the time, below which it does."""
AHEAD = 12
"""The most candidates under way at once for each process that measures: what is measured decides
what is tried next."""
ALIKE = 1.02
"""The factor within which predicted times are alike."""
POOL = 1000
"""The most candidates among which the next one is chosen."""


class Predicted:
    """The schedules of a derived space, those that promise most first.

    The first one is that of `auto`. Each further one differs from the best so far in one kernel.

    Args:
        module: the program at the `dt` level; of its schedule only what it says about rounding
            counts.
        sizes: a size for each label.
        device: the device that schedules are for.
        known: see `Surrogate`.
        patient: whether to go on when little is to be expected, or after `TRIALS`.

    Raises:
        CompileError: where the program itself cannot be compiled.
    """

    keep = 1.1
    excludes = True

    def __init__(
        self, module: ModuleOp, sizes: Mapping[str, int], device: Device,
        known: Sequence[tuple[Features, float]] = (), patient: bool = False,
    ) -> None:
        self.module, self.patient = module, patient
        self.proposals = Proposals(module, sizes, device)
        self.size = len(self.proposals)
        self._surrogate = Surrogate(known)
        self._best, self._milliseconds = self.proposals.best, float("inf")
        self._asked: set[Choice] = set()
        """The choices that were looked at, some of which give the same candidates."""
        self._choices: dict[str, Choice] = {}
        """The choice of each candidate by its text."""
        self._under_way: dict[str, Features] = {}

    @property
    def pruned(self) -> Mapping[str, int]:
        """See `Strategy`."""
        return self.proposals.pruned

    def ahead(self, jobs: int, places: int) -> int:
        """See `Strategy`."""
        return min(jobs, AHEAD * places)

    def ask(self, count: int) -> list[Candidate]:
        """See `Strategy`: there are none when little is to be expected of any."""
        found: list[Candidate] = []
        if not self._choices:
            found.append(self._registered(self._choice_of_first(), self.proposals.first))
        while len(found) < count:
            choice = self._next()
            if choice is None:
                break
            known = len(self._choices)
            candidate = self._registered(choice, self.proposals.schedule(choice))
            if len(self._choices) > known:
                found.append(candidate)
        return found

    def begin_imports(self) -> None:
        """See `Strategy`."""
        self._surrogate.begin_imports()

    def tell(self, candidate: Candidate, milliseconds: float | None) -> None:
        """See `Strategy`."""
        features = self._under_way.pop(candidate.text, None)
        prediction = candidate.prediction
        if features is None or prediction is None:
            return
        seconds = None if milliseconds is None else milliseconds / 1000
        self._surrogate.learn(features, prediction.seconds, seconds)
        if milliseconds is not None and milliseconds < self._milliseconds:
            self._best, self._milliseconds = self._choices[candidate.text], milliseconds

    def _choice_of_first(self) -> Choice:
        """Returns the choice that is the schedule of `auto`, or the one that is like it."""
        wanted = {item.text for item in self.proposals.first}
        found: list[int] = []
        for place, slot in enumerate(self.proposals.slots):
            # `auto` takes one of those that are predicted to be alike.
            near = [n for n, item in enumerate(slot) if item.seconds <= ALIKE * slot[0].seconds]
            found.append(
                next((n for n in near if wanted.issuperset(self.proposals.directives(place, n))), 0)
            )
        return tuple(found)

    def _next(self) -> Choice | None:
        """Returns the choice that promises most; None if none promises much."""
        if not self.patient and len(self._choices) >= TRIALS:
            return None
        near = (self._best, *self.proposals.neighbours(self._best))
        pool = sorted((c for c in near if c not in self._asked), key=self.proposals.seconds)[:POOL]
        if not pool:
            return None
        if not self._surrogate.knows:
            return pool[0]
        gains = self._surrogate.gains(
            [self.proposals.features(choice) for choice in pool],
            [self.proposals.seconds(choice) for choice in pool],
            list(self._under_way.values()),
        )
        place = int(gains.argmax())
        few = not self.patient and len(self._choices) >= LEAST
        return None if few and gains[place] < LEAST_GAIN else pool[place]

    def _registered(self, choice: Choice, decisions: Sequence[Decision]) -> Candidate:
        prediction = Prediction(
            self.proposals.seconds(choice), self.proposals.features(choice), model_digest()
        )
        candidate = candidate_of(self.module, decisions, prediction)
        self._asked.add(choice)
        if candidate.text not in self._choices:
            self._choices[candidate.text] = choice
            self._under_way[candidate.text] = prediction.features
        return candidate


def candidate_of(
    module: ModuleOp, decisions: Sequence[Decision], prediction: Prediction | None = None
) -> Candidate:
    """Returns a schedule of a program as a candidate.

    Args:
        module: the program at the `dt` level; it is not changed.
        decisions: the directives.
        prediction: what is predicted about it.
    """
    # Reasons are no part of what a record is found by.
    plain = [replace(item, reason="") for item in decisions]
    return Candidate(_point(plain), canonical(with_schedule(module, plain)), prediction)


def _point(decisions: Sequence[Decision]) -> Point:
    """Returns a schedule as what is chosen for each function."""
    found: dict[str, list[str]] = {}
    for item in decisions:
        if item.name not in OUTPUT_DIRECTIVES:
            shown = item.text.removeprefix(f"{item.function}.").removesuffix(";")
            found.setdefault(item.function, []).append(shown)
    return {name: " ".join(parts) for name, parts in found.items()}
