"""Terms: the value of a function or of a program at an index, over elements of tensors."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation

from dt_mlir.certificates.solver import z3
from dt_mlir.certificates.universe import Condition, Integer, Universe
from dt_mlir.dialects.elem import ReductionKind

COMBINING: dict[str, ReductionKind] = {
    "arith.addf": ReductionKind.ADD, "arith.addi": ReductionKind.ADD,
    "arith.mulf": ReductionKind.MUL, "arith.maximumf": ReductionKind.MAXIMUM,
    "arith.minimumf": ReductionKind.MINIMUM, "arith.andi": ReductionKind.AND,
    "arith.ori": ReductionKind.OR,
}  # fmt: skip
"""The operations that combine two elements of a reduction."""


@dataclass(frozen=True, eq=False)
class Term:
    """A value; what it is made of does not change."""


@dataclass(frozen=True, eq=False)
class Element(Term):
    """An element of a tensor."""

    tensor: str
    """The tensor's name; that of a scalar argument, which has no indices."""
    indices: tuple[Integer, ...]
    """An index for each axis."""
    type: Attribute
    """The element's type."""


@dataclass(frozen=True, eq=False)
class Number(Term):
    """A constant."""

    value: FloatAttr | IntegerAttr
    """The number."""


@dataclass(frozen=True, eq=False)
class Index(Term):
    """An integer or a truth value that indices and sizes decide, as data."""

    expr: Integer
    """The expression."""
    type: Attribute
    """The type that the data has."""


@dataclass(frozen=True, eq=False)
class Apply(Term):
    """A scalar operation on values."""

    op: Operation
    """An operation of the kind; its own operands do not count."""
    operands: tuple[Term, ...]
    """The values that it is applied to."""


@dataclass(frozen=True, eq=False)
class Choice(Term):
    """One of two values, as indices decide."""

    condition: Condition
    """The condition."""
    then: Term
    """The value where it holds."""
    otherwise: Term
    """The value where it does not."""


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of what a reduction combines: the values at all values of some variables."""

    binders: tuple[Integer, ...]
    """The variables, whose facts say which values they have."""
    body: Term
    """The value at each."""
    walks: tuple[tuple[str, Integer], ...] = ()
    """The labels that the variables walk, with their indices."""

    def around(self, inner: Piece) -> Piece:
        """Returns the values of another piece at all values of this one's variables."""
        return Piece((*self.binders, *inner.binders), inner.body, (*inner.walks, *self.walks))

    def with_body(self, body: Term) -> Piece:
        """Returns a piece over the same variables."""
        return Piece(self.binders, body, self.walks)


@dataclass(frozen=True, eq=False)
class Reduction(Term):
    """A combination of values; of none it is the neutral element."""

    kind: ReductionKind
    """The combination: `add`, `mul`, `maximum`, `minimum`, `and` or `or`."""
    type: Attribute
    """The type of the values."""
    pieces: tuple[Piece, ...]
    """The values that are combined."""


@dataclass(frozen=True, eq=False)
class Unknown(Term):
    """A value that terms cannot say."""

    reason: str
    """The reason."""


@dataclass(frozen=True, eq=False)
class Carried(Term):
    """A value that a loop carries, at the begin of a trip."""

    loop: Operation
    """The loop."""
    position: int
    """The number of the value."""


def children(term: Term) -> tuple[Term, ...]:
    """Returns the terms that a term is made of."""
    match term:
        case Apply():
            return term.operands
        case Choice():
            return term.then, term.otherwise
        case Reduction():
            return tuple(piece.body for piece in term.pieces)
        case _:
            return ()


def subterms(term: Term) -> Iterator[Term]:
    """Yields a term and all that it is made of, each once."""
    return _reached(term, children)


def surface(term: Term) -> Iterator[Term]:
    """Yields a term and its operands, each once, but not what reductions combine."""
    return _reached(term, lambda found: found.operands[::-1] if isinstance(found, Apply) else ())


def _reached(term: Term, parts: Callable[[Term], Sequence[Term]]) -> Iterator[Term]:
    """Yields a term and the parts of what is yielded, the last part first."""
    seen: set[int] = set()
    pending = [term]
    while pending:
        found = pending.pop()
        if id(found) not in seen:
            seen.add(id(found))
            yield found
            pending.extend(parts(found))


def substituted(
    term: Term,
    pairs: Sequence[tuple[Integer, Integer]],
    universe: Universe,
    known: dict[int, Term] | None = None,
) -> Term:
    """Returns a term with expressions in place of variables; bound variables get new names.

    Args:
        term: the term.
        pairs: the variables and what replaces them.
        universe: where new variables come from.
        known: the results for terms that were seen.
    """
    known = {} if known is None else known
    if not pairs:
        return term
    result = known.get(id(term))
    if result is None:
        result = known[id(term)] = _substituted(term, pairs, universe, known)
    return result


def _substituted(
    term: Term, pairs: Sequence[tuple[Integer, Integer]], universe: Universe, known: dict[int, Term]
) -> Term:
    match term:
        case Element():
            indices = tuple(z3.substitute(index, *pairs) for index in term.indices)
            return Element(term.tensor, indices, term.type)
        case Index():
            return Index(z3.substitute(term.expr, *pairs), term.type)
        case Apply():
            operands = tuple(substituted(x, pairs, universe, known) for x in term.operands)
            same = all(new is old for new, old in zip(operands, term.operands))
            return term if same else Apply(term.op, operands)
        case Choice():
            return Choice(
                z3.substitute(term.condition, *pairs),
                substituted(term.then, pairs, universe, known),
                substituted(term.otherwise, pairs, universe, known),
            )
        case Reduction():
            pieces = tuple(renamed(piece, universe, pairs) for piece in term.pieces)
            return Reduction(term.kind, term.type, pieces)
        case _:
            return term


def renamed(
    piece: Piece, universe: Universe, pairs: Sequence[tuple[Integer, Integer]] = ()
) -> Piece:
    """Returns a piece with new variables, and with expressions in place of others.

    Args:
        piece: the piece.
        universe: where new variables come from.
        pairs: variables and what replaces them; those that the piece binds are its own.
    """
    bound = {binder.get_id() for binder in piece.binders}
    free = [pair for pair in pairs if pair[0].get_id() not in bound]
    own = rebound(piece.binders, free, universe)
    body = substituted(piece.body, [*free, *own], universe)
    walks = [(label, z3.substitute(index, *free, *own)) for label, index in piece.walks]
    return Piece(tuple(new for _, new in own), body, tuple(walks))


def rebound(
    binders: Sequence[Integer], pairs: Sequence[tuple[Integer, Integer]], universe: Universe
) -> list[tuple[Integer, Integer]]:
    """Returns new variables for bound ones, of which the same is known after a substitution."""
    own = [(b, universe.variable(b.decl().name().split("!")[0])) for b in binders]
    every = [*pairs, *own]
    for old, new in own:
        for fact in universe.facts(old):
            universe.know(new, z3.substitute(fact, *every))
    return own


def combined(kind: ReductionKind, type: Attribute, pieces: Sequence[Piece]) -> Reduction:
    """Returns a reduction of pieces; a piece that is such a reduction itself is its pieces.

    One that is such a reduction under a condition, and neutral elsewhere, combines elements that
    are neutral elsewhere. A place is no element of what looks for a place.
    """
    if kind.is_arg:
        return Reduction(kind, type, tuple(pieces))
    found: list[Piece] = []
    for piece in pieces:
        inner = _pieces_of(piece.body, kind)
        found.extend([piece] if inner is None else [piece.around(p) for p in inner])
    return Reduction(kind, type, tuple(found))


def _pieces_of(body: Term, kind: ReductionKind) -> Sequence[Piece] | None:
    """Returns the pieces of a reduction of some kind; None for another term."""
    if isinstance(body, Reduction) and body.kind is kind:
        return body.pieces
    if not isinstance(body, Choice) or not is_neutral(body.otherwise, kind):
        return None
    inner = _pieces_of(body.then, kind)
    if inner is None or any(_is_in(b, body.condition) for p in inner for b in p.binders):
        return None
    return [p.with_body(Choice(body.condition, p.body, body.otherwise)) for p in inner]


def _is_in(variable: Integer, expr: Condition) -> bool:
    return not z3.substitute(expr, (variable, variable + 1)).eq(expr)


def neutral(kind: ReductionKind, type: Attribute) -> Number:
    """Returns the neutral element of a combination.

    The compiler's own definition is not asked, so that a wrong one is noticed.
    """
    if isinstance(type, IntegerType):
        half = 2 ** (type.width.data - 1)
        numbers = {
            ReductionKind.MUL: 1, ReductionKind.AND: -1, ReductionKind.MAXIMUM: -half,
            ReductionKind.MINIMUM: half - 1,
        }  # fmt: skip
        return Number(IntegerAttr(numbers.get(kind, 0), type))
    assert isinstance(type, AnyFloat)
    values = {
        ReductionKind.MUL: 1.0, ReductionKind.MAXIMUM: -inf, ReductionKind.MINIMUM: inf,
    }  # fmt: skip
    return Number(FloatAttr(values.get(kind, 0.0), type))


def is_neutral(term: Term, kind: ReductionKind) -> bool:
    """Returns whether a term is the neutral element of a combination."""
    if isinstance(term, Number):
        return term.value == neutral(kind, term.value.type).value or (
            kind is ReductionKind.ADD and term.value.value.data == 0
        )
    return False


def tensors(term: Term) -> frozenset[str]:
    """Returns the names of the tensors whose elements occur in a term."""
    return frozenset(x.tensor for x in subterms(term) if isinstance(x, Element))
