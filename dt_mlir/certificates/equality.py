"""The equality of a program's term and the algorithm's, for all values of their variables.

Choices are resolved by cases. What remains are operations on atoms: elements of tensors, which are
equal where their indices are, and reductions, which are equal where both combine equal values, each
once. Expressions over equal atoms are compared by evaluating them in exact arithmetic at random
points (DeMillo, Lipton, Schwartz and Zippel), where sums may be reassociated and exp(a + b) is
exp(a) exp(b).
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat

from dt_mlir.certificates.identities import Identities, type_of
from dt_mlir.certificates.places import EXTREMES, index_of
from dt_mlir.certificates.prefixes import merged
from dt_mlir.certificates.proving import Prover, Query, State
from dt_mlir.certificates.scalars import operation
from dt_mlir.certificates.smtlib import equality_question
from dt_mlir.certificates.solver import z3
from dt_mlir.certificates.terms import (
    Apply,
    Carried,
    Choice,
    Element,
    Index,
    Number,
    Piece,
    Reduction,
    Term,
    Unknown,
    neutral,
    renamed,
    substituted,
    surface,
)
from dt_mlir.certificates.universe import Condition, Integer, Universe
from dt_mlir.certificates.walks import (
    Domain,
    Walk,
    all_visited,
    apart,
    linear_form,
    visited_once,
)
from dt_mlir.dialects.elem import ReductionKind

UNROLLED = 32
"""The number of points up to which a reduction is written out."""
COMBINATIONS = {
    ReductionKind.ADD: arith.AddfOp, ReductionKind.MUL: arith.MulfOp,
    ReductionKind.MAXIMUM: arith.MaximumfOp, ReductionKind.MINIMUM: arith.MinimumfOp,
}  # fmt: skip
"""The operation that combines two floats."""
_CASES = 48
"""The cases into which choices may split an equality."""


@dataclass
class Finding:
    """A claim that an equality rests on."""

    kind: str
    """`value`, `neutral`, `once` or `all`."""
    statement: str
    """The claim in words."""
    state: State
    """The state of knowledge about it."""
    expressions: list[str] = field(default_factory=list[str])
    """The questions about expressions that were evaluated, in SMT-LIB."""
    query: Query | None = None
    """The question to the solver."""

    @property
    def texts(self) -> list[str]:
        """The question to the solver, or about expressions that were evaluated."""
        return self.expressions if self.query is None else [self.query.text]

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of a counterexample."""
        return {} if self.query is None else self.query.sizes


def _proved(findings: Sequence[Finding]) -> int:
    return sum(f.state.holds for f in findings)


def of_query(kind: str, statement: str, query: Query) -> Finding:
    """Returns a finding that the solver decided."""
    return Finding(kind, statement, query.state, query=query)


class Equality:
    """Compares terms of a program with terms of its algorithm.

    Args:
        prover: decides claims about indices.
        tested: the labels of reductions of which it is tested that no factor outside of a domain
            is multiplied by 0, as text.
    """

    def __init__(self, prover: Prover, tested: Collection[str] = ()) -> None:
        self.prover, self.tested = prover, tested
        self.universe: Universe = prover.universe
        self.identities = Identities(self.universe)
        self._literally = False
        """True where a value that is not finite would show: 0 times an infinity is no 0."""

    def compare(
        self, mine: Term, theirs: Term, given: Sequence[Condition], what: str
    ) -> list[Finding]:
        """Returns the claims by which two terms are equal; one that is not proved if they are not.

        Args:
            mine: the program's term.
            theirs: the algorithm's.
            given: what holds where they have to be equal.
            what: the value in words.
        """
        findings: list[Finding] = []
        cases = 0
        pending: list[list[Condition]] = [list(given)]
        while pending:
            case = pending.pop()
            if self.prover.is_over:
                return [Finding("value", f"{what}: it takes too long", State.UNKNOWN)]
            a, open_a = self._resolved(mine, case)
            b, open_b = self._resolved(theirs, case)
            condition = open_b if open_b is not None else open_a
            if condition is not None:
                cases += 1
                if cases > _CASES:
                    return [Finding("value", f"{what}: it has too many cases", State.UNKNOWN)]
                for holds in (z3.Not(condition), condition):
                    if self.prover.possible([*case, holds]):
                        pending.append([*case, holds])
                continue
            findings.extend(self._plain(a, b, case, what))
            if any(not found.state.holds for found in findings):
                return findings
        return findings

    def _resolved(
        self, term: Term, given: list[Condition]
    ) -> tuple[Term, Condition | None]:
        """Returns a term without the choices that are decided, and a condition that is open."""
        known: dict[int, Term] = {}
        undecided: list[Condition] = []

        def walk(term: Term) -> Term:
            if id(term) in known:
                return known[id(term)]
            result = term
            if isinstance(term, Choice):
                if self.prover.implied(given, term.condition):
                    result = walk(term.then)
                elif self.prover.implied(given, z3.Not(term.condition)):
                    result = walk(term.otherwise)
                else:
                    undecided.append(term.condition)
            elif isinstance(term, Apply):
                operands = tuple(walk(x) for x in term.operands)
                result = Apply(term.op, operands)
            known[id(term)] = result
            return result

        found = walk(term)
        return found, undecided[0] if undecided else None

    def _plain(
        self, mine: Term, theirs: Term, given: list[Condition], what: str
    ) -> list[Finding]:
        """Compares terms without choices outside of reductions."""
        for term in (*surface(mine), *surface(theirs)):
            if isinstance(term, Carried):
                text = f"{what}: a value that a loop carries is not a term"
                return [Finding("value", text, State.UNKNOWN)]
            if isinstance(term, Unknown):
                return [Finding("value", f"{what}: {term.reason} is not a term", State.UNKNOWN)]
        findings: list[Finding] = []
        classes: list[tuple[Term, list[Term]]] = []
        atoms_a, atoms_b = list(_atoms(mine)), list(_atoms(theirs))
        names: dict[int, int] = {}
        for atom in atoms_b:
            number = self._place(atom, [c[0] for c in classes], given, None)
            if number is None:
                number = len(classes)
                classes.append((atom, []))
            names[id(atom)] = number
        for atom in atoms_a:
            number = self._place(atom, [c[0] for c in classes], given, findings)
            if number is None:
                number = len(classes)
                classes.append((atom, []))
            names[id(atom)] = number
        state = self.identities.same(mine, theirs, names, [c[0] for c in classes])
        if state.holds and self._literally and any(map(_may_be_infinite, atoms_a)):
            state = State.UNKNOWN
        if not state.holds:
            whole = merged(mine)
            if whole is not mine and _hold(found := self.compare(whole, theirs, given, what)):
                return found
            unrolled = self._unrolled(theirs)
            if unrolled is not theirs:
                return self.compare(mine, unrolled, given, what)
        known = [atom for atom, _ in classes]
        if state.holds:
            question = equality_question(mine, theirs, names, known)
            kept = [f for f in findings if f.state.holds]
            return [*kept, Finding("value", what, state, [question])]
        # The claims that failed on the way say more than that the whole is not equal.
        failed = [f for f in findings if not f.state.holds]
        if failed:
            return failed
        text = f"{_shown(mine, names)} = {_shown(theirs, names)}"
        question = equality_question(mine, theirs, names, known)
        return [Finding("value", f"{what}: {text}", state, [question])]

    def _unrolled(self, term: Term) -> Term:
        """Returns a term with the elements of reductions over few points written out."""
        if isinstance(term, Apply):
            operands = tuple(self._unrolled(x) for x in term.operands)
            same = all(a is b for a, b in zip(operands, term.operands))
            return term if same else Apply(term.op, operands)
        if not isinstance(term, Reduction) or term.kind not in COMBINATIONS:
            return term
        if not isinstance(term.type, AnyFloat) or len(term.pieces) != 1:
            return term
        (piece,) = term.pieces
        counts = [self.prover.count(binder, UNROLLED) for binder in piece.binders]
        total = 1
        for count in counts:
            total *= count or UNROLLED + 1
        if total > UNROLLED:
            return term
        combine = operation(COMBINATIONS[term.kind], term.type, term.type)
        found: Term = neutral(term.kind, term.type)
        for point in product(*(range(count or 0) for count in counts)):
            at = [(b, z3.IntVal(i)) for b, i in zip(piece.binders, point, strict=True)]
            inside = z3.And(*(f for b in piece.binders for f in self.universe.facts(b)))
            body = Choice(inside, piece.body, neutral(term.kind, term.type))
            found = Apply(combine, (found, substituted(body, at, self.universe)))
        return found

    def _place(
        self, atom: Term, known: Sequence[Term], given: list[Condition],
        findings: list[Finding] | None,
    ) -> int | None:  # fmt: skip
        """Returns which of some atoms one is equal to."""
        best: list[Finding] = []
        for number, other in enumerate(known):
            if atom is other:
                return number
            if isinstance(atom, Element) and isinstance(other, Element):
                same = atom.tensor == other.tensor and len(atom.indices) == len(other.indices)
                pairs = zip(atom.indices, other.indices)
                if same and self.prover.implied(given, z3.And(*(a == b for a, b in pairs))):
                    return number
            elif isinstance(atom, Index) and isinstance(other, Index):
                same = atom.expr.sort() == other.expr.sort()
                if same and self.prover.implied(given, atom.expr == other.expr):
                    return number
            elif isinstance(atom, Reduction) and isinstance(other, Reduction):
                if atom.kind is not other.kind or atom.type != other.type:
                    continue
                found = self.reductions(atom, other, given)
                if all(f.state.holds for f in found):
                    if findings is not None:
                        findings.extend(found)
                    return number
                if _proved(found) >= _proved(best):
                    best = found
        if findings is not None:
            findings.extend(f for f in best if not f.state.holds)
        return None

    def reductions(
        self, mine: Reduction, theirs: Reduction, given: list[Condition]
    ) -> list[Finding]:
        """Returns the claims by which two reductions are equal."""
        if len(theirs.pieces) != 1:
            return [Finding("all", "a reduction of several parts", State.UNKNOWN)]
        # What is bound may be bound around, too.
        piece = renamed(theirs.pieces[0], self.universe)
        pieces = [renamed(own, self.universe) for own in mine.pieces]
        points = [self._point(own, piece) for own in pieces]
        if any(point is None for point in points):
            text = f"no index of the program walks {_names(piece)}"
            return [Finding("all", text, State.UNKNOWN)]
        facts = [fact for v in piece.binders for fact in self.universe.facts(v)]
        walks: list[Walk] = []
        for own, point in zip(pieces, points, strict=True):
            assert point is not None
            at = list(zip(piece.binders, point, strict=True))
            walks.append(Walk(own.binders, z3.And(*(z3.substitute(f, *at) for f in facts)), point))
        found = self._combined_once(walks, piece, given)
        if not _hold(found):
            # Lanes may be masked that are not beyond the end: those that another tile has.
            walks = [
                Walk(walk.binders, z3.And(walk.active, *_conditions(own.body)), walk.targets)
                for own, walk in zip(pieces, walks, strict=True)
            ]
            masked = self._combined_once(walks, piece, given)
            if not _hold(masked):
                return found
            found = masked
        nothing = _nothing(mine)
        for own, walk in zip(pieces, walks, strict=True):
            known = [*given, *self.universe.closure(own.binders)]
            body = substituted(
                piece.body, list(zip(piece.binders, walk.targets, strict=True)), self.universe
            )
            text = f"the element that is combined along {_names(piece)}"
            found += self.compare(own.body, body, [*known, walk.active], text)
            found += self._same_place(own, piece, walk, known)
            outside = [*known, z3.Not(walk.active)]
            if _hold(found) and self.prover.possible(outside):
                text = f"what is combined beyond the end of {_names(piece)} is neutral"
                before, self._literally = self._literally, _names(piece) not in self.tested
                for item in self.compare(own.body, nothing, outside, text):
                    found.append(replace(item, kind="neutral"))
                self._literally = before
            if not _hold(found):
                break
        return found

    def _same_place(
        self, own: Piece, piece: Piece, walk: Walk, known: Sequence[Condition]
    ) -> list[Finding]:
        """Returns the claim that elements have the same index, if a reduction is after that."""
        mine, theirs = index_of(own), index_of(piece)
        text = f"the index of the element that is combined along {_names(piece)}"
        if theirs is None:
            return []
        if mine is None:
            return [Finding("value", text, State.UNKNOWN)]
        theirs = z3.substitute(theirs, *zip(piece.binders, walk.targets, strict=True))
        query = self.prover.ask([*known, walk.active], mine == theirs)
        return [of_query("value", text, query)]

    def _combined_once(
        self, walks: Sequence[Walk], piece: Piece, given: Sequence[Condition]
    ) -> list[Finding]:
        """Returns the claims by which walks visit each point of a reduction once."""
        label = _names(piece)
        found: list[Finding] = []
        for number, walk in enumerate(walks):
            text = f"no element along {label} is combined twice"
            found.append(of_query("once", text, visited_once(self.prover, walk)))
            text = f"no element along {label} is combined by two loops"
            for other in walks[:number]:
                found.append(of_query("once", text, apart(self.prover, walk, other)))
        query = all_visited(self.prover, walks, Domain(piece.binders), given)
        found.append(of_query("all", f"each element along {label} is combined", query))
        return found

    def _point(self, mine: Piece, theirs: Piece) -> tuple[Integer, ...] | None:
        """Returns the point of the algorithm's reduction that a program's variables stand for."""
        found: dict[int, Integer] = {}
        wanted = {v.get_id(): v for v in theirs.binders}
        # An element of a tensor says which index is which.
        for a, b in product(_elements(mine.body), _elements(theirs.body)):
            if a.tensor == b.tensor and len(a.indices) == len(b.indices):
                for left, right in zip(a.indices, b.indices):
                    self._solve(left, right, wanted, found)
        # Where none does, the label that a variable walks says it, or one of its size.
        for alike in (str.__eq__, self._same_size):
            for label, variable in theirs.walks:
                for other, index in mine.walks:
                    key = variable.get_id()
                    if key in wanted and key not in found and alike(other, label):
                        found[key] = index
        if len(found) < len(wanted):
            return None
        return tuple(found[v.get_id()] for v in theirs.binders)

    def _same_size(self, label: str, other: str) -> bool:
        """Returns whether two labels always have one size."""
        sizes = self.universe.size(label), self.universe.size(other)
        return self.prover.implied([], sizes[0] == sizes[1])

    def _solve(
        self, left: Integer, right: Integer, wanted: Mapping[int, Integer],
        found: dict[int, Integer],
    ) -> None:  # fmt: skip
        """Notes what a variable is, if two indices are to be equal and one is a sum with it."""
        own = [v for v in self.universe.free(right) if v.get_id() in wanted]
        if len(own) != 1 or own[0].get_id() in found:
            return
        form = linear_form(right, own)
        if form is not None and form[0][own[0].get_id()] == 1:
            found[own[0].get_id()] = z3.simplify(left - form[1])


def _nothing(reduction: Reduction) -> Term:
    """Returns the element that changes no result of a reduction."""
    kind = EXTREMES.get(reduction.kind)
    if kind is None:
        return neutral(reduction.kind, reduction.type)
    body = reduction.pieces[0].body
    while isinstance(body, Choice):
        body = body.then
    return body if isinstance(body, Carried | Unknown) else neutral(kind, type_of(body))


def _elements(term: Term) -> list[Element]:
    """Returns the elements of tensors in a term, but for those in reductions."""
    match term:
        case Element():
            return [term]
        case Apply():
            return [x for operand in term.operands for x in _elements(operand)]
        case Choice():
            return [*_elements(term.then), *_elements(term.otherwise)]
        case _:
            return []


def _conditions(term: Term) -> list[Condition]:
    """Returns the conditions of the choices in a term, but for those in reductions."""
    match term:
        case Apply():
            return [x for operand in term.operands for x in _conditions(operand)]
        case Choice():
            inner = [*_conditions(term.then), *_conditions(term.otherwise)]
            return [term.condition, *inner]
        case _:
            return []


def _may_be_infinite(atom: Term) -> bool:
    """Returns whether an atom is a float, which may be infinite or NaN."""
    return isinstance(type_of(atom), AnyFloat)


def _names(piece: Piece) -> str:
    """Returns the labels that a piece of the algorithm reduces."""
    return ", ".join(_name(v) for v in piece.binders)


def _hold(findings: Sequence[Finding]) -> bool:
    return all(f.state.holds for f in findings)


def _atoms(term: Term) -> Iterator[Term]:
    """Yields the atoms that an expression is made of."""
    seen: set[int] = set()
    for found in surface(term):
        if not isinstance(found, Apply | Number) and id(found) not in seen:
            seen.add(id(found))
            yield found


def _name(variable: Integer) -> str:
    return variable.decl().name().split("!")[0]


def _shown(term: Term, names: dict[int, int]) -> str:
    """Returns an expression as text, its atoms numbered."""
    if id(term) in names:
        return f"a{names[id(term)]}"
    match term:
        case Number():
            return f"{term.value.value.data:g}"
        case Apply():
            function = term.op.properties.get("function")
            name = getattr(function, "data", None) or term.op.name.split(".")[1]
            return f"{name}({', '.join(_shown(x, names) for x in term.operands)})"
        case _:
            return type(term).__name__.lower()

