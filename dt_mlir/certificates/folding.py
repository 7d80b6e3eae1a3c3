"""Loops whose values depend on running values: what they hold in the end, and by which law.

A loop carries values M that do not depend on the others, such as a maximum, and values a that each
trip repairs: a' = L(M, M'; a) + sum of f(l, M') over the elements l of the trip, where M' is the
new M. If L is linear in a, and L(M, M'; f(l, M)) = f(l, M') for every element, then in the end a is
the sum of f(l, M) over all elements, for the last M.

Proof by induction over the trips. Before the first one the sum is empty, and a is 0. If a is the
sum of f(l, M) over the elements so far, then L(M, M'; a) is the sum of L(M, M'; f(l, M)), as L is
linear, which is the sum of f(l, M'). The trip adds its own elements at M'.

Both conditions are identities of expressions, which become obligations.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.ir import Attribute

from dt_mlir.certificates.scalars import operation
from dt_mlir.certificates.terms import (
    Apply,
    Carried,
    Choice,
    Element,
    Piece,
    Reduction,
    Term,
    combined,
    rebound,
    substituted,
    subterms,
)
from dt_mlir.certificates.universe import Integer, Universe
from dt_mlir.dialects.elem import ReductionKind


@dataclass(frozen=True)
class Law:
    """An identity by which a loop's values are what they are taken for."""

    statement: str
    """The law in words."""
    left: Term
    """One side."""
    right: Term
    """The other side."""


@dataclass(frozen=True)
class Fold:
    """A sum of elements that depend on running values."""

    pieces: tuple[Piece, ...]
    """The elements, over symbols for the running values."""
    symbols: dict[int, Element]
    """The symbol of each running value, by the identity of its last value."""


def operands_of(term: Term, name: str) -> list[Term]:
    """Returns what applications of one associative operation combine."""
    if isinstance(term, Apply) and term.op.name == name:
        return [x for operand in term.operands for x in operands_of(operand, name)]
    return [term]


def carries(term: Term) -> bool:
    """Returns whether a term depends on what a loop carries."""
    return any(isinstance(x, Carried) for x in subterms(term))


def replaced(term: Term, others: Mapping[int, Term], known: dict[int, Term] | None = None) -> Term:
    """Returns a term with others in place of some terms in it.

    Args:
        term: the term.
        others: what replaces a term, by the identity of that.
        known: the results for terms that were seen.
    """
    known = {} if known is None else known
    if id(term) in others:
        return others[id(term)]
    if id(term) not in known:
        match term:
            case Apply():
                operands = tuple(replaced(x, others, known) for x in term.operands)
                same = all(a is b for a, b in zip(operands, term.operands))
                known[id(term)] = term if same else Apply(term.op, operands)
            case Choice():
                then = replaced(term.then, others, known)
                otherwise = replaced(term.otherwise, others, known)
                known[id(term)] = Choice(term.condition, then, otherwise)
            case Reduction():
                pieces = tuple(
                    p.with_body(replaced(p.body, others, known)) for p in term.pieces
                )
                known[id(term)] = Reduction(term.kind, term.type, pieces)
            case _:
                known[id(term)] = term
    return known[id(term)]


class Folding:
    """The repaired values of a loop.

    Args:
        universe: where new variables come from.
        trip: the variable that counts the trips.
        carried: the values at the begin of a trip.
        lasts: the values at its end.
        types: their element types.
        running: for each value that does not depend on the others what it is in the end.
    """

    def __init__(
        self,
        universe: Universe,
        trip: Integer,
        carried: Sequence[Carried],
        lasts: Sequence[Term],
        types: Sequence[Attribute],
        running: Mapping[int, Term],
    ) -> None:
        self.universe = universe
        self.trip, self.types, self.running = trip, types, running
        self.carried, self.lasts = carried, lasts
        self.laws: list[Law] = []
        self.folds: dict[int, Fold] = {}
        # The trip is a variable of this loop alone.
        name = f"running in {trip.decl().name()}"
        self.old = {n: Element(f"{name} {n} before", (), types[n]) for n in running}
        self.new = {n: Element(f"{name} {n}", (), types[n]) for n in running}
        seen: dict[int, Term] = {}
        self._here: dict[int, Term] = {id(lasts[n]): self.new[n] for n in running}
        self._here.update((id(carried[n]), self.old[n]) for n in running)
        self._repairs: dict[int, list[Term]] = {}
        self._pieces: dict[int, list[Piece]] = {}
        for number, last in enumerate(lasts):
            if number in running:
                continue
            parts = operands_of(replaced(last, self._here, seen), "arith.addf")
            self._repairs[number] = [part for part in parts if carries(part)]
            own: list[Piece] = []
            for part in parts:
                if isinstance(part, Reduction) and part.kind is ReductionKind.ADD:
                    own.extend(part.pieces if not carries(part) else ())
                elif not carries(part):
                    own.append(Piece((), part))
            self._pieces[number] = own

    def results(
        self, firsts: Sequence[Term], zeros: Collection[int], known: Mapping[int, Fold]
    ) -> dict[int, Term]:
        """Returns what repaired values are in the end, as far as they are such sums.

        The induction is one over all of them: a value counts only if those that its repair uses do.

        Args:
            firsts: the values before the first trip.
            zeros: the values that begin at 0.
            known: the sums that earlier loops left, by the identity of their terms.
        """
        every: dict[int, list[Piece]] = {}
        for number, repair in self._repairs.items():
            earlier = self._earlier(firsts, number, number in zeros, known)
            if earlier is not None and repair and not any(isinstance(x, Reduction) for x in repair):
                every[number] = [*self._pieces[number], *earlier]
        while True:
            kept = {n: pieces for n, pieces in every.items() if self._is_closed(n, every)}
            if len(kept) == len(every):
                break
            every = kept
        found: dict[int, Term] = {}
        for number, pieces in every.items():
            self._linear(number, self._used(number))
            for piece in pieces:
                self.laws.append(self._law(number, piece, every))
            own = len(self._pieces[number])
            around = Piece((self.trip,), firsts[number])
            done = [*(around.around(p) for p in pieces[:own]), *pieces[own:]]
            ends = {id(self.new[n]): self.running[n] for n in self.running}
            last = [p.with_body(replaced(p.body, ends)) for p in done]
            found[number] = combined(ReductionKind.ADD, self.types[number], last)
            symbols = {id(value): self.new[n] for n, value in self.running.items()}
            self.folds[id(found[number])] = Fold(tuple(done), symbols)
        return found

    def _earlier(
        self, firsts: Sequence[Term], number: int, is_zero: bool, known: Mapping[int, Fold]
    ) -> list[Piece] | None:
        """Returns the elements that earlier loops have combined; None if they are not known."""
        if is_zero:
            return []
        fold = known.get(id(firsts[number]))
        if fold is None:
            return None
        moved = {
            id(symbol): self.new[n]
            for n in self.running
            for result, symbol in fold.symbols.items()
            if result == id(firsts[n])
        }
        return [p.with_body(replaced(p.body, moved)) for p in fold.pieces]

    def _used(self, number: int) -> list[int]:
        """Returns the repaired values that the repair of one uses."""
        repair = self._repairs[number]
        return [n for n in self._repairs if any(_has(x, self.carried[n]) for x in repair)]

    def _is_closed(self, number: int, every: Mapping[int, Sequence[Piece]]) -> bool:
        """Returns whether all that a repair uses are sums over the same elements."""
        own = [_names(piece) for piece in every[number]]
        return all(
            other in every and sorted(map(_names, every[other])) == sorted(own)
            and len(set(own)) == len(own)
            for other in self._used(number)
            if other != number
        )

    def _law(self, number: int, piece: Piece, every: Mapping[int, Sequence[Piece]]) -> Law:
        """Returns the law that repairs an element of an earlier trip.

        Its variables are its own: the repair is that of any later trip.
        """
        pairs = rebound((*piece.binders, self.trip), [], self.universe)
        back = {id(self.new[n]): self.old[n] for n in self.running}
        at: dict[int, Term] = {}
        for other in {number, *self._used(number)}:
            same = piece
            if other != number:
                same = next(p for p in every[other] if _names(p) == _names(piece))
            # A substitution makes other terms of the symbols.
            body = replaced(same.body, back)
            at[id(self.carried[other])] = substituted(body, pairs, self.universe)
        repaired = self._sum([replaced(x, at) for x in self._repairs[number]], number)
        element = substituted(piece.body, pairs, self.universe)
        text = "an element that was combined before is repaired as a new one is combined"
        return Law(text, repaired, element)

    def _sum(self, terms: Sequence[Term], number: int) -> Term:
        found = terms[0]
        plus = operation(arith.AddfOp, self.types[number], self.types[number])
        for term in terms[1:]:
            found = Apply(plus, (found, term))
        return found

    def _linear(self, number: int, used: Sequence[int]) -> None:
        """Adds the law that a repair is linear."""
        # No tensor has a name with a space.
        a = {n: Element(f"one {n}", (), self.types[n]) for n in used}
        b = {n: Element(f"other {n}", (), self.types[n]) for n in used}
        plus = {n: operation(arith.AddfOp, self.types[n], self.types[n]) for n in used}
        both = {n: Apply(plus[n], (a[n], b[n])) for n in used}

        def at(values: Mapping[int, Term]) -> Term:
            others = {id(self.carried[n]): values[n] for n in used}
            return self._sum([replaced(x, others) for x in self._repairs[number]], number)

        sums = self._sum([at(a), at(b)], number)
        self.laws.append(Law("the repair of a running sum is linear", at(both), sums))


def _has(term: Term, carried: Carried) -> bool:
    return any(x is carried for x in subterms(term))


def _names(piece: Piece) -> tuple[str, ...]:
    """Returns the names of a piece's variables, which no other variables have."""
    return tuple(sorted(v.decl().name() for v in piece.binders))
