"""Prefixes: what is combined so far, along an axis of a tile and over the trips of a loop.

A value C that a loop carries from C0 on may be combined with something in each trip that another
one follows, C' = C + f(trip). At the begin of a trip it is then C0 + sum of f over the trips
before, by induction, as each of these is followed by another one. What the last trip makes of it
does not count.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Attribute

from dt_mlir.certificates.folding import operands_of
from dt_mlir.certificates.proving import Prover
from dt_mlir.certificates.solver import z3
from dt_mlir.certificates.terms import (
    COMBINING,
    Apply,
    Carried,
    Choice,
    Piece,
    Reduction,
    Term,
    combined,
    is_neutral,
    neutral,
    rebound,
    substituted,
    subterms,
)
from dt_mlir.certificates.universe import Condition, Integer, Universe
from dt_mlir.certificates.walks import linear_form
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.tile.types import axis_names


def prefix(
    kind: ReductionKind, type: Attribute, whole: Piece, reverse: bool, universe: Universe
) -> Reduction:
    """Returns the combination of an axis' elements up to a lane, that lane included.

    Args:
        kind: the combination.
        type: the type of the elements.
        whole: the elements at all lanes of the axis.
        reverse: whether those from the lane on are combined.
        universe: where new variables come from.
    """
    (lane,) = whole.binders
    pairs = rebound(whole.binders, [], universe)
    ((_, earlier),) = pairs
    universe.know(earlier, earlier >= lane if reverse else earlier <= lane)
    walks = tuple((label, z3.substitute(index, *pairs)) for label, index in whole.walks)
    return combined(
        kind, type, [Piece((earlier,), substituted(whole.body, pairs, universe), walks)]
    )


def at_single_point(
    kind: ReductionKind, type: Attribute, piece: Piece, axis: str, universe: Universe
) -> Term | None:
    """Returns the combination of elements all of which but one are neutral; None for others.

    Args:
        kind: the combination.
        type: the type of the elements.
        piece: the elements at all lanes of an axis.
        axis: the axis' name.
        universe: the variables.
    """
    if len(piece.binders) != 1:
        return None
    (lane,) = piece.binders
    conditions: list[Condition] = []
    body = piece.body
    while isinstance(body, Choice) and is_neutral(body.otherwise, kind):
        conditions.extend(_conjuncts(body.condition))
        body = body.then
    # What a loop carries has no lane to put another one in place of.
    if any(isinstance(x, Carried) and axis in _axes(x) for x in subterms(body)):
        return None
    for condition in conditions:
        point = _solved(condition, lane, universe)
        if point is None:
            continue
        at = [(lane, point)]
        facts = [*universe.facts(lane), *conditions]
        inside = z3.simplify(z3.And(*(z3.substitute(fact, *at) for fact in facts)))
        value = substituted(body, at, universe)
        return value if z3.is_true(inside) else Choice(inside, value, neutral(kind, type))
    return None


def followed(term: Term, given: Sequence[Condition], prover: Prover) -> Term:
    """Returns what a trip gives, where some conditions hold, without choices that they decide.

    Args:
        term: the value at the end of a trip.
        given: what holds where another trip follows.
        prover: decides choices.
    """
    match term:
        case Choice():
            if prover.implied(given, term.condition):
                return followed(term.then, given, prover)
            if prover.implied(given, z3.Not(term.condition)):
                return followed(term.otherwise, given, prover)
            return term
        case Apply():
            return Apply(term.op, tuple(followed(x, given, prover) for x in term.operands))
        case _:
            return term


def merged(term: Term) -> Term:
    """Returns a term with one reduction in place of what an operation combines with others."""
    if not isinstance(term, Apply):
        return term
    operands = tuple(merged(x) for x in term.operands)
    same = all(a is b for a, b in zip(operands, term.operands))
    found = term if same else Apply(term.op, operands)
    kind = COMBINING.get(term.op.name)
    parts = operands_of(found, term.op.name)
    sums = [x for x in parts if isinstance(x, Reduction) and x.kind is kind]
    if not sums:
        return found
    single = [Piece((), x) for x in parts if x not in sums]
    return Reduction(sums[0].kind, sums[0].type, (*(p for x in sums for p in x.pieces), *single))


def _axes(carried: Carried) -> list[str]:
    """Returns the axes of a value that a loop carries."""
    assert isinstance(carried.loop, scf.ForOp)
    return list(axis_names(carried.loop.results[carried.position].type))


def _conjuncts(condition: Condition) -> list[Condition]:
    if not z3.is_and(condition):
        return [condition]
    return [found for child in condition.children() for found in _conjuncts(child)]


def _solved(condition: Condition, lane: Integer, universe: Universe) -> Integer | None:
    """Returns the only lane at which a condition holds, if it is such an equality."""
    if not z3.is_eq(condition) or not z3.is_int(condition.arg(0)):
        return None
    difference = condition.arg(0) - condition.arg(1)
    if all(not v.eq(lane) for v in universe.free(difference)):
        return None
    form = linear_form(difference, [lane])
    if form is None or abs(form[0][lane.get_id()]) != 1:
        return None
    return z3.simplify(-form[1] * form[0][lane.get_id()])
