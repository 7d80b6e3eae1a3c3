"""Tensors that the algorithm does not have: what they hold is put in place of their elements.

`rfactor` lets a kernel of its own write the parts of a reduction. What it stores at an index is a
term, in which the index decides the values of blocks, trips and lanes.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dt_mlir.certificates.terms import (
    Apply,
    Choice,
    Element,
    Piece,
    Reduction,
    Term,
    Unknown,
    combined,
    substituted,
)
from dt_mlir.certificates.tiles import Access
from dt_mlir.certificates.universe import Integer, Universe
from dt_mlir.certificates.walks import Walk, witness
from dt_mlir.dialects.elem import ReductionKind


@dataclass(frozen=True)
class Part:
    """The contents that a kernel stores in a tensor that the algorithm does not have."""

    store: Access
    """The only store to it."""
    summed: Integer | None
    """The extent of the first axis, if the elements along it are added in memory."""


class Parts:
    """The tensors that the algorithm does not have.

    Args:
        universe: where new variables come from.
    """

    def __init__(self, universe: Universe) -> None:
        self.universe = universe
        self.known: dict[str, Part] = {}

    def add(self, tensor: str, stores: Sequence[Access], summed: Integer | None) -> None:
        """Notes what is stored in a tensor; nothing where several stores write it."""
        if len(stores) == 1:
            self.known[tensor] = Part(stores[0], summed)

    def inlined(self, term: Term) -> Term:
        """Returns a term with what is stored in place of elements of these tensors."""
        return self._inlined(term, {}) if self.known else term

    def _inlined(self, term: Term, seen: dict[int, Term]) -> Term:
        if id(term) in seen:
            return seen[id(term)]
        result = term
        match term:
            case Element() if term.tensor in self.known:
                result = self._stored(self.known[term.tensor], term)
            case Apply():
                result = Apply(term.op, tuple(self._inlined(x, seen) for x in term.operands))
            case Choice():
                then = self._inlined(term.then, seen)
                result = Choice(term.condition, then, self._inlined(term.otherwise, seen))
            case Reduction():
                pieces = [p.with_body(self._inlined(p.body, seen)) for p in term.pieces]
                result = combined(term.kind, term.type, [_apart(p) for p in pieces])
            case _:
                pass
        seen[id(term)] = result
        return result

    def _stored(self, part: Part, element: Element) -> Term:
        store, value = part.store, part.store.value
        assert value is not None
        indices = element.indices
        if part.summed is None:
            return self._at(store, value, indices)
        extent = part.summed
        number = self.universe.variable("part", lambda v: [v >= 0, v < extent])
        body = self._at(store, value, (number, *indices[1:]))
        return combined(ReductionKind.ADD, element.type, [Piece((number,), body)])

    def _at(self, store: Access, value: Term, indices: Sequence[Integer]) -> Term:
        walk = Walk(store.binders, store.mask, store.indices)
        found = witness(walk, indices, self.universe)
        if found is None:
            return Unknown(f"where '{store.tensor}' is written")
        return substituted(self._inlined(value, {}), found, self.universe)


def _apart(piece: Piece) -> Piece:
    """Returns a piece whose choice between a reduction and zero is inside of the reduction."""
    body = piece.body
    if not isinstance(body, Choice) or not isinstance(body.then, Reduction):
        return piece
    # What stands for no place is no element.
    if not body.then.kind.is_arg:
        inner = tuple(
            p.with_body(Choice(body.condition, p.body, body.otherwise))
            for p in body.then.pieces
        )
        return piece.with_body(Reduction(body.then.kind, body.then.type, inner))
    return piece
