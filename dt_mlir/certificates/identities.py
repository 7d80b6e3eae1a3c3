"""Identities of expressions over atoms, decided by evaluating both sides at random points.

Exact arithmetic is a field, in which sums may be reassociated; functions are symbols, or
exponentials turn sums into products. Two different rational expressions of low degree agree at a
random point almost never (DeMillo and Lipton 1978; Schwartz 1980; Zippel 1979).
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType, i1
from xdsl.ir import Attribute

from dt_mlir.certificates.proving import State
from dt_mlir.certificates.scalars import operation
from dt_mlir.certificates.solver import z3
from dt_mlir.certificates.terms import (
    Apply,
    Element,
    Index,
    Number,
    Reduction,
    Term,
    surface,
)
from dt_mlir.certificates.universe import Condition, Integer, Universe
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.arithmetic import Arithmetic, Value
from dt_mlir.interpreters.bounded import Bounded
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic, comparison
from dt_mlir.interpreters.exact import ExactArithmetic
from dt_mlir.interpreters.exact_codes import (
    EXPONENTS,
    has_exponents,
    ordered,
    packed,
    residues,
    symbol,
)

POINTS = 64
"""The random points at which expressions are compared."""
CLOSE = 2e-5
"""The relative difference of what approximates an elementwise function, beyond error bounds."""
MAGNITUDES = np.repeat([1, 3, 8, 19, 27], [12, 12, 16, 20, 4])
"""The binary digits of indices and sizes at each point."""
LESS = 12
"""The times that these are divided by 8 at most, where a type is too narrow for them."""
BEYOND = 2**63
"""The least integer that arrays do not hold. An atom with such values, as of a power, has any."""


class Identities:
    """Compares expressions over atoms.

    Args:
        universe: the variables of integers.
    """

    def __init__(self, universe: Universe) -> None:
        self.universe = universe
        self.generator = np.random.default_rng(20)
        self.drawn: dict[int, np.ndarray] = {}
        self.exact = [ExactArithmetic(), ExactArithmetic(exponentials=True)]

    def same(
        self, mine: Term, theirs: Term, names: dict[int, int], atoms: Sequence[Term]
    ) -> State:
        """Returns whether expressions over atoms agree at random points."""
        if mine is theirs:
            return State.PROVED
        self._fit(atoms)
        for arithmetic in self.exact:
            values = [self._random(arithmetic, atom) for atom in atoms]
            try:
                a = self._evaluated(mine, arithmetic, names, values)
                b = self._evaluated(theirs, arithmetic, names, values)
            except (KeyError, TypeError, ValueError):
                return State.UNKNOWN
            type = type_of(mine)
            a, b = (arithmetic.result(x, type) for x in (a, b))
            if not np.any(arithmetic.differ(a, b)) and not np.any(arithmetic.undecided(a, b)):
                # A multiple of the field's prime is 0 there, and bounds may lie beyond its order.
                differ = self._differ_in_numbers(mine, theirs, names, atoms)
                return State.UNKNOWN if differ else State.PROVED
        return self._near(mine, theirs, names, atoms)

    def _differ_in_numbers(
        self, mine: Term, theirs: Term, names: dict[int, int], atoms: Sequence[Term]
    ) -> bool:
        """Returns whether expressions differ in floating point, beyond bounds of the error."""
        arithmetic = BoundedArithmetic(Accuracy())
        plain = not _functions(mine) and not _functions(theirs)
        values: list[Value] = []
        for atom in atoms:
            found = self._random(arithmetic, atom)
            type = type_of(atom)
            if plain and isinstance(type, AnyFloat):
                # Of all magnitudes, where no function overflows.
                most = 40 if type.bitwidth >= 32 else 14
                scales = np.exp2(self.generator.uniform(-8, most, POINTS))
                found = arithmetic.from_array(found.value * scales, type)
            values.append(found)
        try:
            left = self._evaluated(mine, arithmetic, names, values)
            right = self._evaluated(theirs, arithmetic, names, values)
        except (KeyError, TypeError, ValueError):
            return False
        return bool(np.any(arithmetic.differ(left, right)))

    def _near(
        self, mine: Term, theirs: Term, names: dict[int, int], atoms: Sequence[Term]
    ) -> State:
        """Returns whether expressions are close, where one approximates a function of the other.
        """
        if not isinstance(type_of(mine), AnyFloat) or _functions(theirs) <= _functions(mine):
            return State.UNKNOWN
        arithmetic = BoundedArithmetic(Accuracy())
        values = [self._random(arithmetic, atom) for atom in atoms]
        left = self._evaluated(mine, arithmetic, names, values)
        right = self._evaluated(theirs, arithmetic, names, values)
        a, b = left.value, right.value
        # Each point by itself: what is wrong at small values may not hide behind large ones.
        allowed = 4 * (left.error + right.error) + CLOSE * np.abs(b)
        with np.errstate(all="ignore"):
            close = (a == b) | (np.isfinite(a) & np.isfinite(b) & (np.abs(a - b) <= allowed))
        return State.ASSUMED if bool(np.all(close)) else State.UNKNOWN

    def _random(self, arithmetic: Arithmetic, atom: Term) -> Value:
        type = type_of(atom)
        if isinstance(type, IntegerType) and type != i1:
            return arithmetic.from_array(self._integers(atom), type)
        return arithmetic.random(type, (POINTS,), self.generator)

    def _integers(self, atom: Term) -> np.ndarray:
        """Returns values of an integer: those of its expression at random values of variables."""
        if not isinstance(atom, Index):
            return self._loaded(atom)
        found = self.generator.integers(2, 2**20, POINTS)
        for point in range(POINTS):
            value = self._at(atom, point)
            if value is None:
                return self._loaded(atom)
            if abs(value) >= BEYOND:
                return found
            found[point] = value
        return found

    def _at(self, atom: Index, point: int) -> int | None:
        """Returns the value of an integer's expression at a point; None if it has none."""
        sizes = {size.get_id() for size in self.universe.sizes.values()}
        at: list[tuple[Integer | Condition, Integer | Condition]] = []
        for v in self.universe.free(atom.expr):
            if v.get_id() not in self.drawn:
                numbers = self.generator.integers(0, 2**MAGNITUDES)
                # A size that is 0 would divide by 0.
                self.drawn[v.get_id()] = numbers + (v.get_id() in sizes)
            number = int(self.drawn[v.get_id()][point])
            at.append((v, z3.BoolVal(number % 2 == 1) if z3.is_bool(v) else z3.IntVal(number)))
        value = z3.simplify(z3.substitute(atom.expr, *at)) if at else z3.simplify(atom.expr)
        return value.as_long() if z3.is_int_value(value) else None

    def _fit(self, atoms: Sequence[Term]) -> None:
        """Takes smaller numbers where integers would not fit into their types."""
        for point in np.flatnonzero(np.max(MAGNITUDES) == MAGNITUDES):
            for atom in atoms:
                type = atom.type if isinstance(atom, Index) else None
                if not isinstance(atom, Index) or not isinstance(type, IntegerType) or type == i1:
                    continue
                for _ in range(LESS):
                    value = self._at(atom, int(point))
                    if value is None or abs(value) < 2 ** (type.width.data - 1):
                        break
                    for v in self.universe.free(atom.expr):
                        if not z3.is_bool(v):
                            self.drawn[v.get_id()][point] = self.drawn[v.get_id()][point] // 8 + 1

    def _loaded(self, atom: Term) -> np.ndarray:
        """Returns values of an integer that is loaded: any of its type, a part of them small."""
        type = type_of(atom)
        assert isinstance(type, IntegerType)
        half = 2 ** (type.width.data - 1)
        middle = self.generator.integers(2, max(min(half, 2**20), 3), POINTS)
        wide = self.generator.integers(-half, half, POINTS)
        small = self.generator.integers(-16, 17, POINTS)
        kind = self.generator.integers(0, 3, POINTS)
        return np.choose(kind, [middle, wide, np.where(small == 0, 17, small)])

    def _evaluated(
        self, term: Term, arithmetic: Arithmetic, names: dict[int, int], atoms: list[Value]
    ) -> Value:
        known: dict[int, Value] = {}

        def walk(term: Term) -> Value:
            if id(term) not in known:
                if id(term) in names:
                    known[id(term)] = atoms[names[id(term)]]
                elif isinstance(term, Number):
                    known[id(term)] = arithmetic.constant(term.value)
                else:
                    assert isinstance(term, Apply)
                    known[id(term)] = applied(term, [walk(x) for x in term.operands], arithmetic)
            return known[id(term)]

        return walk(term)


def applied(term: Apply, operands: Sequence[Value], arithmetic: Arithmetic) -> Value:
    """Returns an operation's value in exact arithmetic.

    A power with a whole number is a product. Where exponentials turn sums into products, functions
    that are symbols have exponents, too: equal values have equal ones.
    """
    if term.op.name == "math.powf" and isinstance(term.operands[1], Number):
        power = term.operands[1].value.value.data
        if 1 <= power <= 8 and power == int(power):
            found = operands[0]
            type = term.op.results[0].type
            times = operation(arith.MulfOp, type, type)
            for _ in range(int(power) - 1):
                found = arithmetic.apply(times, [found, operands[0]])
            return found
    if isinstance(arithmetic, ExactArithmetic):
        if isinstance(term.op, arith.CmpfOp):
            return _compared(term.op, operands)
        if isinstance(term.op, arith.CmpiOp):
            return _compared_integers(term.op, operands, arithmetic)
    if term.op.name in ("arith.truncf", "arith.extf"):
        return operands[0]
    found = arithmetic.apply(term.op, operands)
    exact = isinstance(arithmetic, ExactArithmetic) and arithmetic.exponentials
    if not exact or not isinstance(term.op.results[0].type, AnyFloat):
        return found
    codes = np.asarray(found.value)
    exponents = symbol("exponent", [residues(codes)]) % EXPONENTS
    kept = np.where(has_exponents(codes), codes, packed(codes, exponents))
    return Bounded(kept, found.error)


_SWAPPED = {2: 4, 3: 5, 9: 11, 10: 12}
"""The predicates of `arith.cmpf` that say "greater", with those that say it of swapped operands."""


def _compared(op: arith.CmpfOp, operands: Sequence[Value]) -> Value:
    """Returns a comparison as a random function of what is compared.

    Random numbers would not tell two thresholds apart that are close. Numbers are finite, so that
    comparisons with an infinity have their true values.
    """
    predicate = op.predicate.value.data
    pair = list(operands)
    if predicate in _SWAPPED:
        predicate, pair = _SWAPPED[predicate], pair[::-1]
    a, b = (np.asarray(x.value) for x in pair)
    coin = symbol(f"compared {predicate}", [a, b]) % 2 == 1
    true = np.asarray(comparison(op)(*(ordered(np.asarray(x.value)) for x in operands)))
    finite = np.isfinite(ordered(a)) & np.isfinite(ordered(b))
    return Bounded(np.where(finite, coin, true), np.zeros(np.shape(true)))


_SWAPPED_INTEGERS = {4: 2, 5: 3, 8: 6, 9: 7}
"""The same of `arith.cmpi`."""


def _compared_integers(
    op: arith.CmpiOp, operands: Sequence[Value], arithmetic: ExactArithmetic
) -> Value:
    """Returns a comparison of integers as a random function of what is compared.

    Random integers are seldom equal, and seldom next to a bound. Equal ones are compared truly.
    """
    predicate = op.predicate.value.data
    pair = list(operands)
    if predicate in _SWAPPED_INTEGERS:
        predicate, pair = _SWAPPED_INTEGERS[predicate], pair[::-1]
    a, b = (np.asarray(x.value, np.int64) for x in pair)
    coin = symbol(f"compared integers {predicate}", [a, a >> 31, b, b >> 31]) % 2 == 1
    true = arithmetic.apply(op, operands)
    return Bounded(np.where(a == b, np.asarray(true.value, bool), coin), true.error)


def _functions(term: Term) -> set[str]:
    """Returns the names of the functions in an expression that are no ring's operations."""
    names: set[str] = set()
    for found in surface(term):
        if isinstance(found, Apply):
            function = found.op.properties.get("function")
            name = getattr(function, "data", None) or found.op.name
            names.add(str(name))
    return {name for name in names if not name.startswith("arith.")}


def type_of(term: Term) -> Attribute:
    match term:
        case Number():
            return term.value.type
        case Apply():
            return term.op.results[0].type
        case Element() | Index() | Reduction():
            return term.type
        case _:
            raise TypeError(f"{type(term).__name__} has no type of its own")
