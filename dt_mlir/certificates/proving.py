"""Proofs by an SMT solver: claims about integers, for all values of their variables."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import cached_property
from time import monotonic, thread_time
from typing import Any

from dt_mlir.certificates.solver import z3
from dt_mlir.certificates.universe import Condition, Universe

SECONDS = 2.0
"""The seconds of a processor that the solver has for a claim."""
WHOLE = 20.0
"""The seconds of a processor that it has for all claims about a program."""
_TRIES = (0.05, 0.05, 0.1, 0.2)
"""The seconds of each try without preparing a claim, with another seed each.

What the solver takes for quotients of products varies by orders of magnitude with the order in
which it meets them, so that starting again decides what waiting does not: Gomes, Selman, Crato and
Kautz, "Heavy-Tailed Phenomena in Satisfiability and Constraint Satisfaction Problems", 2000.
"""
_LONGEST = 8.0
"""The factor by which a claim may take longer where a processor is shared with others."""
_SMALL = 300
"""Counterexamples are looked for with sizes up to here first."""


class State(StrEnum):
    """The state of knowledge about a claim."""

    PROVED = "proved"
    """Proved for all values of its variables."""
    REFUTED = "refuted"
    """Wrong for some."""
    ASSUMED = "assumed"
    """Not proved here; the documentation says why it is taken to hold."""
    UNKNOWN = "unknown"
    """The solver does not say within its time, or no term says what is claimed."""

    @property
    def holds(self) -> bool:
        """True if what rests on the claim may be concluded."""
        return self in (State.PROVED, State.ASSUMED)


class Query:
    """A claim under assumptions, and what the solver said.

    Args:
        state: the state of knowledge about it.
        facts: what is known, with the opposite of the claim; empty if the solver was not asked.
        labels: the labels whose sizes are among the variables.
        model: the solver's counterexample.
    """

    def __init__(
        self,
        state: State,
        facts: Sequence[Condition] = (),
        labels: Sequence[str] = (),
        model: Any = None,
    ) -> None:
        self.state = state
        self._facts, self._labels, self._first = facts, labels, model

    @cached_property
    def text(self) -> str:
        """The question in SMT-LIB: whether there is a counterexample."""
        if not self._facts:
            return ""
        solver = z3.Solver()
        solver.add(*self._facts)
        return solver.to_smt2()

    @cached_property
    def _model(self) -> Any:
        """The solver's counterexample, with small sizes if there is such a one."""
        if self._first is None:
            return None
        solver = z3.Solver()
        solver.set("timeout", int(1000 * SECONDS))
        solver.add(*self._facts)
        for bound in (3, 20, _SMALL):
            solver.push()
            solver.add(*(z3.Int(label) <= bound for label in self._labels))
            if solver.check() == z3.sat:
                return solver.model()
            solver.pop()
        return self._first

    @cached_property
    def _numbers(self) -> dict[str, int]:
        model = self._model
        found = {} if model is None else {d.name(): model[d] for d in model}
        return {name: value.as_long() for name, value in found.items() if z3.is_int_value(value)}

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of labels in a counterexample."""
        return {label: self._numbers[label] for label in self._labels if label in self._numbers}

    @property
    def values(self) -> dict[str, int]:
        """The values of the other variables in it."""
        return {name: v for name, v in self._numbers.items() if name not in self._labels}

    def at(self, exprs: Sequence[Any]) -> str:
        """Returns the values of some integers in the counterexample, as indices are written."""
        found = (self._model.eval(expr, model_completion=True) for expr in exprs)
        return ", ".join(str(value) for value in found)


class Prover:
    """Proves claims about the variables of a universe.

    Args:
        universe: the variables.
        seconds: the processor's time for a claim, so that a busy machine proves as much as another.
        whole: its time for all of them, after which nothing is known of the others.
    """

    def __init__(
        self, universe: Universe, seconds: float = SECONDS, whole: float = WHOLE
    ) -> None:
        self.universe = universe
        self.seconds = seconds
        self.end = thread_time() + whole
        self._known: dict[tuple[int, ...], Query] = {}
        self._models: dict[tuple[int, ...], list[tuple[set[int], Any]]] = {}
        self._kept: list[Any] = []

    @property
    def is_over(self) -> bool:
        """True if the time for all claims is over."""
        return thread_time() > self.end

    def ask(self, assumptions: Sequence[Condition], claim: Condition) -> Query:
        """Returns whether assumptions, and what is known of the variables, imply a claim."""
        key = (*_key(assumptions), claim.get_id())
        if key not in self._known:
            self._kept.extend([*assumptions, claim])
            self._known[key] = self._ask(assumptions, claim)
        return self._known[key]

    def satisfiable(self) -> bool:
        """Returns whether there are sizes, none of them 0, of which all is true that is known."""
        sizes = list(self.universe.sizes.values())
        solver = z3.Solver()
        solver.set("timeout", int(1000 * self.seconds))
        solver.add(*self.universe.closure(sizes), *(size > 0 for size in sizes))
        return solver.check() != z3.unsat

    def implied(self, assumptions: Sequence[Condition], claim: Condition) -> bool:
        """Returns whether a claim is proved."""
        if z3.is_true(z3.simplify(claim)):
            return True
        if self._is_wrong(assumptions, claim):
            return False
        return self.ask(assumptions, claim).state is State.PROVED

    def _is_wrong(self, assumptions: Sequence[Condition], claim: Condition) -> bool:
        """Returns whether a counterexample to another claim is one to this one.

        It is where the solver knew all facts that matter here, and the assumptions were the same.
        """
        models = self._models.get(_key(assumptions))
        if not models:
            return False
        needed = {fact.get_id() for fact in self.universe.closure([*assumptions, claim])}
        return any(
            needed <= known and z3.is_false(model.eval(claim, model_completion=True))
            for known, model in models
        )

    def possible(self, assumptions: Sequence[Condition]) -> bool:
        """Returns whether assumptions may hold together."""
        return not self.implied(assumptions, z3.BoolVal(False))

    def count(self, variable: Any, most: int) -> int | None:
        """Returns below which number a variable from 0 on is known to stay, up to a limit."""
        if not self.implied([], variable <= most):
            return None
        count = 1
        while count <= most:
            if self.implied([], variable < count):
                return count
            count += 1 if count < 4 else count // 4
        return None

    def _ask(self, assumptions: Sequence[Condition], claim: Condition) -> Query:
        left = self.end - thread_time()
        if left <= 0:
            return Query(State.UNKNOWN)
        known = self.universe.closure([*assumptions, claim])
        facts = [*known, *assumptions, z3.Not(claim)]
        # Most claims are small: preparing them for hard cases takes longer than deciding them.
        answer = z3.unknown
        for seed, seconds in enumerate(_TRIES):
            solver = z3.SimpleSolver()
            solver.set("random_seed", seed)
            solver.add(z3.And(*facts))
            answer = _checked(solver, min(seconds, self.seconds, left))
            left = self.end - thread_time()
            if answer != z3.unknown or left <= 0:
                break
        else:
            solver = z3.Solver()
            solver.add(*facts)
            answer = _checked(solver, min(self.seconds, left))
        if answer == z3.unsat:
            return Query(State.PROVED, facts)
        if answer != z3.sat:
            return Query(State.UNKNOWN, facts)
        model = solver.model()
        found = {fact.get_id() for fact in known}, model
        self._models.setdefault(_key(assumptions), []).append(found)
        return Query(State.REFUTED, facts, list(self.universe.sizes), model)


def _key(assumptions: Sequence[Condition]) -> tuple[int, ...]:
    return tuple(sorted({a.get_id() for a in assumptions}))


def _checked(solver: Any, seconds: float) -> Any:
    """Returns the solver's answer, for which it has some seconds of a processor.

    Its own limit is that of a clock, which other programs use up as well.
    """
    clock, start = monotonic(), thread_time()
    solver.set("timeout", int(1000 * seconds) + 1)
    answer = solver.check()
    used = thread_time() - start
    stopped = answer == z3.unknown and solver.reason_unknown() in ("timeout", "canceled")
    if stopped and used < 0.8 * seconds:
        slower = min(_LONGEST, (monotonic() - clock) / max(used, 1e-3))
        solver.set("timeout", int(1000 * slower * seconds) + 1)
        answer = solver.check()
    return answer
