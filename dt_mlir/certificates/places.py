"""The places of extremes: the index of the first of the elements that are extreme.

A reduction of the kind `argmax` or `argmin` combines elements, each with an index: the walk named
`PLACE` of its pieces. It is the least index of an extreme element. A program finds it among the
lanes of an axis, where the first lane of equals counts, and over the trips of a loop, which carries
the extreme and its index and replaces both where a trip has a more extreme one. By induction over
the trips these are the extreme and its first place among all elements so far, if the indices of
later lanes and trips are larger. Where all elements are the infinity that the loop begins with, it
is the index that it begins with, which has to be the first one.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from dt_mlir.certificates.folding import Law, carries
from dt_mlir.certificates.solver import z3
from dt_mlir.certificates.terms import (
    Apply,
    Carried,
    Index,
    Number,
    Piece,
    Reduction,
    Term,
    is_neutral,
    rebound,
)
from dt_mlir.certificates.universe import Condition, Integer, Universe
from dt_mlir.dialects.comparisons import predicate_of
from dt_mlir.dialects.elem import ReductionKind

PLACE = "the place of the element"
"""The name of the walk that says the index of a piece's elements; no label has it."""
EXTREMES = {
    ReductionKind.ARGMAX: ReductionKind.MAXIMUM, ReductionKind.ARGMIN: ReductionKind.MINIMUM,
}  # fmt: skip
"""The extreme whose place a reduction finds."""


@dataclass(frozen=True)
class Found:
    """An extreme that a loop looks for, and its place."""

    number: int
    """The number of the carried value that is the extreme."""
    extreme: Reduction
    """The extreme in the end."""
    place_number: int
    """The number of the carried value that is its index."""
    place: Reduction
    """The index in the end."""
    laws: tuple[Law, ...]
    """The laws by which they are."""


def placed(piece: Piece, index: Integer) -> Piece:
    """Returns a piece whose elements have an index."""
    return Piece(piece.binders, piece.body, (*piece.walks, (PLACE, index)))


def index_of(piece: Piece) -> Integer | None:
    """Returns the index of a piece's elements, if they have one."""
    return dict(piece.walks).get(PLACE)


def in_order(
    pieces: Sequence[Piece], counters: Sequence[Integer], universe: Universe
) -> list[Law]:
    """Returns the laws that later elements have larger indices.

    Args:
        pieces: the elements at one lane or in one trip, which other variables than the counters
            may tell apart.
        counters: the lane, or the trip.
        universe: where new variables come from.
    """
    found: list[Law] = []
    for one in pieces:
        for other in pieces:
            bound = dict.fromkeys([*other.binders, *counters])
            pairs = rebound(tuple(bound), [], universe)
            new = dict(pairs)
            later = [counter < new[counter] for counter in counters]
            facts = universe.closure([*one.binders, *counters, *(v for _, v in pairs)])
            above = z3.substitute(index_of(other), *pairs)
            claim = z3.Implies(z3.And(*facts, *later), index_of(one) < above)
            text = "later elements have larger indices, so that the first of equals is found"
            found.append(Law(text, Index(claim, i1), Index(z3.BoolVal(True), i1)))
    return found


def extremes_found(
    carried: Sequence[Carried],
    firsts: Sequence[Term],
    lasts: Sequence[Term],
    types: Sequence[Attribute],
    trips: Piece,
    universe: Universe,
) -> list[Found]:
    """Returns the extremes that a loop looks for, with their places.

    Args:
        carried: the values at the begin of a trip.
        firsts: the values in front of the loop.
        lasts: the values at the end of a trip.
        types: their types.
        trips: the trips, and the labels that they walk.
        universe: where new variables come from.
    """
    chosen = [_chosen(last, value) for last, value in zip(lasts, carried, strict=True)]
    found: list[Found] = []
    for n, extreme in enumerate(chosen):
        for m, place in enumerate(chosen):
            if n == m or extreme is None or place is None or extreme[0] is not place[0]:
                continue
            for arg, kind in EXTREMES.items():
                # What the search begins with says which extreme it is after.
                if not is_neutral(firsts[n], kind):
                    continue
                pieces = _elements(extreme[1], place[1], arg)
                better = _beats(extreme[0], extreme[1], carried[n], kind)
                if pieces is None or better is None:
                    continue
                around = tuple(trips.around(piece) for piece in pieces)
                laws = (better, *in_order(pieces, trips.binders, universe), _first(firsts[m]))
                whole = Reduction(kind, types[n], around)
                found.append(Found(n, whole, m, Reduction(arg, types[m], around), laws))
    return found


def _first(place: Term) -> Law:
    """Returns the law that an index is the first one, which that of equal infinities is."""
    claim: Condition = z3.BoolVal(False)
    if isinstance(place, Number):
        claim = z3.BoolVal(place.value.value.data == 0)
    elif isinstance(place, Index) and z3.is_int(place.expr):
        claim = place.expr == 0
    text = "a search that nothing is extreme enough for gives the first index"
    return Law(text, Index(claim, i1), Index(z3.BoolVal(True), i1))


def _chosen(last: Term, carried: Carried) -> tuple[Term, Term] | None:
    """Returns the condition under which another value replaces what a loop carries, and that."""
    if not isinstance(last, Apply) or not isinstance(last.op, arith.SelectOp):
        return None
    condition, new, old = last.operands
    return None if old is not carried or carries(new) else (condition, new)


def _elements(extreme: Term, place: Term, arg: ReductionKind) -> tuple[Piece, ...] | None:
    """Returns the elements, with their indices, of which a trip takes the extreme and its place."""
    if isinstance(place, Index) and z3.is_int(place.expr):
        return (placed(Piece((), extreme), place.expr),)
    if not isinstance(extreme, Reduction) or not isinstance(place, Reduction):
        return None
    if place.kind is not arg or extreme.kind is not EXTREMES[arg]:
        return None
    same = len(extreme.pieces) == len(place.pieces) and all(
        a.body is b.body and all(x.eq(y) for x, y in zip(a.binders, b.binders, strict=True))
        for a, b in zip(extreme.pieces, place.pieces)
    )
    return place.pieces if same else None


@dataclass(frozen=True)
class _Float:
    """A float, of which a comparison asks its value and whether it is NaN."""

    value: Condition
    is_nan: Condition

    @staticmethod
    def named(name: str) -> _Float:
        """Returns any float."""
        return _Float(z3.Real(name), z3.Bool(f"{name} is NaN"))


def _beats(condition: Term, new: Term, old: Term, kind: ReductionKind) -> Law | None:
    """Returns the law that a condition says that a number is more extreme than another one.

    NaN is more extreme than all numbers. None for conditions that say something else.
    """
    a, b = _Float.named("new"), _Float.named("old")
    said = _formula(condition, {id(new): a, id(old): b})
    if said is None:
        return None
    beyond = a.value > b.value if kind is ReductionKind.MAXIMUM else a.value < b.value
    better = z3.And(z3.Not(b.is_nan), z3.Or(a.is_nan, beyond))
    text = "a trip replaces the extreme and its index where it has a more extreme one"
    return Law(text, Index(said == better, i1), Index(z3.BoolVal(True), i1))


_RELATIONS = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
"""The comparisons of numbers, by the end of the predicates of `arith.cmpf`."""


def _compared(predicate: str, a: _Float, b: _Float) -> Condition | None:
    """Returns what `arith.cmpf` says of two floats; None for what ignores them."""
    unordered = z3.Or(a.is_nan, b.is_nan)
    if predicate in ("uno", "ord"):
        return unordered if predicate == "uno" else z3.Not(unordered)
    compare = _RELATIONS.get(predicate[1:])
    if compare is None:
        return None
    related = compare(a.value, b.value)
    return z3.Or(unordered, related) if predicate[0] == "u" else z3.And(z3.Not(unordered), related)


def _formula(term: Term, floats: dict[int, _Float]) -> Condition | None:
    """Returns a condition on some floats; None if it is about others, too."""
    if isinstance(term, Index):
        return term.expr if z3.is_bool(term.expr) else None
    if not isinstance(term, Apply):
        return None
    if isinstance(term.op, arith.CmpfOp):
        a, b = (floats.get(id(x)) for x in term.operands)
        if a is None or b is None:
            return None
        return _compared(predicate_of(term.op), a, b)
    parts = [_formula(x, floats) for x in term.operands]
    if any(part is None for part in parts):
        return None
    match term.op:
        case arith.AndIOp():
            return z3.And(*parts)
        case arith.OrIOp():
            return z3.Or(*parts)
        case arith.XOrIOp():
            return z3.Xor(*parts)
        case _:
            return None
