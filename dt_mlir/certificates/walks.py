"""Walks: the points that some variables visit, each exactly once.

Program instances walk the elements of an output, and lanes and trips walk what a reduction
combines. Both have to visit each point of a domain once, which is three claims: no two values of
the variables give one point, no two walks share a point, and each point has values that give it.
For the last one, values are constructed by division, and the solver checks them.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dt_mlir.certificates.proving import Prover, Query, State
from dt_mlir.certificates.solver import z3
from dt_mlir.certificates.terms import rebound
from dt_mlir.certificates.universe import Condition, Integer, Universe

_FEW = 32
"""The number of values up to which each is tried."""


@dataclass(frozen=True)
class Walk:
    """Points that variables visit."""

    binders: tuple[Integer, ...]
    """The variables; their facts say which values they have."""
    active: Condition
    """The condition under which they visit a point."""
    targets: tuple[Integer, ...]
    """The point, as expressions of the variables."""


@dataclass(frozen=True)
class Domain:
    """The points that have to be visited."""

    points: tuple[Integer, ...]
    """A variable for each coordinate; their facts say which points there are."""


def visited_once(prover: Prover, walk: Walk) -> Query:
    """Returns whether no two values of a walk's variables give one point."""
    universe = prover.universe
    pairs = rebound(walk.binders, [], universe)
    other = [z3.substitute(target, *pairs) for target in walk.targets]
    assumptions = [
        *universe.closure([*walk.binders, *(new for _, new in pairs)]),
        walk.active,
        z3.substitute(walk.active, *pairs) if pairs else walk.active,
        *(a == b for a, b in zip(walk.targets, other, strict=True)),
    ]
    return prover.ask(assumptions, z3.And(*(old == new for old, new in pairs)))


def apart(prover: Prover, one: Walk, other: Walk) -> Query:
    """Returns whether two walks share no point."""
    universe = prover.universe
    pairs = rebound(other.binders, [], universe)
    targets = [z3.substitute(t, *pairs) if pairs else t for t in other.targets]
    active = z3.substitute(other.active, *pairs) if pairs else other.active
    assumptions = [
        *universe.closure([*one.binders, *(new for _, new in pairs)]), one.active, active,
        *(a == b for a, b in zip(one.targets, targets, strict=True)),
    ]  # fmt: skip
    return prover.ask(assumptions, z3.BoolVal(False))


def all_visited(
    prover: Prover, walks: Sequence[Walk], domain: Domain, assumptions: Sequence[Condition]
) -> Query:
    """Returns whether each point of a domain is visited by one of several walks.

    Args:
        prover: proves it.
        walks: the walks.
        domain: the points.
        assumptions: what holds of other variables.
    """
    universe = prover.universe
    ways: list[Condition] = []
    for walk in walks:
        facts = [fact for binder in walk.binders for fact in universe.facts(binder)]
        equal = [target == point for target, point in zip(walk.targets, domain.points, strict=True)]
        claim = z3.And(*facts, walk.active, *equal)
        for found in _witnesses(prover, walk, domain.points):
            ways.append(z3.substitute(claim, *found) if found else claim)
    given = [*universe.closure(domain.points), *assumptions]
    if not ways:
        return Query(State.UNKNOWN)
    return prover.ask(given, z3.Or(*ways))


def _witnesses(
    prover: Prover, walk: Walk, points: Sequence[Integer]
) -> list[list[tuple[Integer, Integer]]]:
    """Returns values of a walk's variables of which some give a point, if one of them does.

    Where an index is not linear, as the parts of a label have a size that is one itself, each value
    of a variable that has few is tried.
    """
    found = witness(walk, points, prover.universe)
    if found is not None:
        return [found]
    for binder in walk.binders:
        count = prover.count(binder, _FEW)
        if count is None:
            continue
        rest = tuple(b for b in walk.binders if b is not binder)
        ways: list[list[tuple[Integer, Integer]]] = []
        for value in range(count):
            fixed = (binder, z3.IntVal(value))
            targets = tuple(z3.simplify(z3.substitute(t, fixed)) for t in walk.targets)
            own = witness(Walk(rest, walk.active, targets), points, prover.universe)
            if own is None:
                break
            ways.append([fixed, *own])
        else:
            return ways
    return []


def witness(
    walk: Walk, points: Sequence[Integer], universe: Universe
) -> list[tuple[Integer, Integer]] | None:
    """Returns values of a walk's variables that give a point, as pairs; None if none is found."""
    solved: list[tuple[Integer, Integer]] = []
    pending = list(zip(walk.targets, points, strict=True))
    left = {binder.get_id(): binder for binder in walk.binders}
    while pending:
        for item in pending:
            target = z3.substitute(item[0], *solved) if solved else item[0]
            own = [v for v in universe.free(target) if v.get_id() in left]
            form = linear_form(target, own)
            if form is None:
                continue
            pending.remove(item)
            break
        else:
            return None
        coefficients, constant = form
        rest = item[1] - constant
        order = sorted(own, key=lambda v: -abs(coefficients[v.get_id()]))
        found: list[tuple[Integer, Integer]] = []
        for variable in order:
            factor = coefficients[variable.get_id()]
            value = rest / abs(factor) if abs(factor) != 1 else rest
            value = value if factor > 0 else -value
            found.append((variable, z3.simplify(value)))
            rest = rest - factor * value
            del left[variable.get_id()]
        solved.extend(found)
    solved.extend((variable, z3.IntVal(0)) for variable in left.values())
    return solved


def linear_form(
    expr: Integer, variables: Sequence[Integer]
) -> tuple[dict[int, int], Integer] | None:
    """Returns an expression's coefficients of variables and its rest; None if it is not linear."""
    zeros = [(v, z3.IntVal(0)) for v in variables]
    rest = z3.simplify(z3.substitute(expr, *zeros)) if zeros else expr
    coefficients: dict[int, int] = {}
    total = rest
    for number, variable in enumerate(variables):
        ones = list(zeros)
        ones[number] = (variable, z3.IntVal(1))
        factor = z3.simplify(z3.substitute(expr, *ones) - rest, som=True)
        if not z3.is_int_value(factor):
            return None
        coefficients[variable.get_id()] = factor.as_long()
        total = total + factor * variable
    if any(c == 0 for c in coefficients.values()):
        return None
    if not z3.is_true(z3.simplify(total == expr, som=True, arith_lhs=True)):
        difference = z3.simplify(total - expr, som=True)
        if not (z3.is_int_value(difference) and difference.as_long() == 0):
            return None
    return coefficients, rest


def foreign(walk: Walk, universe: Universe, constants: Sequence[Integer]) -> list[Integer]:
    """Returns the variables of a walk that are neither its own nor constants of the kernel."""
    known = {v.get_id() for v in (*walk.binders, *constants)}
    found = [v for expr in (*walk.targets, walk.active) for v in universe.free(expr)]
    return [v for v in found if v.get_id() not in known]
