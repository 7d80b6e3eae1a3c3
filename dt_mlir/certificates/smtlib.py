"""Equalities of values as questions in SMT-LIB.

Each is what `identities` decides, as text for other solvers: elements are real numbers, casts of
floats do not round, and all other functions are uninterpreted. Of an infinity, and of what indices
decide, the text says nothing, so that another solver may find values for which the expressions of a
proved question differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite, isnan

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType, i1
from xdsl.ir import Attribute

from dt_mlir.certificates.identities import type_of
from dt_mlir.certificates.terms import Apply, Element, Index, Number, Reduction, Term

_OPERATORS = {
    "arith.addf": "+", "arith.addi": "+", "arith.subf": "-", "arith.subi": "-",
    "arith.mulf": "*", "arith.muli": "*", "arith.divf": "/", "arith.negf": "-",
    "arith.select": "ite", "arith.sitofp": "to_real",
}  # fmt: skip
_LOGICAL = {"arith.andi": "and", "arith.ori": "or", "arith.xori": "xor"}
_EXTREMES = {
    "arith.maximumf": ">=", "arith.maxsi": ">=", "arith.minimumf": "<=", "arith.minsi": "<=",
}  # fmt: skip
"""The comparison by which the first operand is the result."""
_CASTS = (arith.TruncFOp, arith.ExtFOp, arith.ExtSIOp)
"""The operations that change nothing here, but for truth values."""
_FLOATS = {
    1: "=", 2: ">", 3: ">=", 4: "<", 5: "<=", 6: "distinct",
    8: "=", 9: ">", 10: ">=", 11: "<", 12: "<=", 13: "distinct",
}  # fmt: skip
"""The predicates of `arith.cmpf`; no value is NaN, so that unordered ones say the same."""
_INTEGERS = {0: "=", 1: "distinct", 2: "<", 3: "<=", 4: ">", 5: ">="}
"""The signed predicates of `arith.cmpi`."""


def equality_question(
    mine: Term, theirs: Term, names: dict[int, int], atoms: Sequence[Term]
) -> str:
    """Returns the question whether two expressions may differ, which none may.

    Args:
        mine: an expression over atoms.
        theirs: another one.
        names: the number of each atom that occurs, by its identity; equal atoms have one number.
        atoms: an atom of each number.
    """
    return _Writer(names, atoms).question(mine, theirs)


class _Writer:
    def __init__(self, names: dict[int, int], atoms: Sequence[Term]) -> None:
        self.names, self.atoms = names, atoms
        self.declared: dict[str, str] = {}
        """The declarations, by the symbols that they declare."""
        self.defined: list[str] = []
        """The definitions of what is used more than once."""
        self.known: dict[int, str] = {}
        self.uses: dict[int, int] = {}

    def question(self, mine: Term, theirs: Term) -> str:
        for root in (mine, theirs):
            self._count(root)
        sides = [self._text(root) for root in (mine, theirs)]
        comments = [f"; a{n}: {_meaning(atom)}" for n, atom in enumerate(self.atoms)]
        constants = [
            f"(declare-const a{n} {_sort(type_of(atom))})" for n, atom in enumerate(self.atoms)
        ]
        claim = f"(assert (distinct {sides[0]} {sides[1]}))"
        lines = [*comments, *constants, *self.declared.values(), *self.defined, claim]
        return "\n".join([*lines, "(check-sat)", ""])

    def _count(self, term: Term) -> None:
        term = self._bare(term)
        seen = self.uses.get(id(term), 0)
        self.uses[id(term)] = seen + 1
        if not seen and isinstance(term, Apply) and id(term) not in self.names:
            for operand in term.operands:
                self._count(operand)

    def _bare(self, term: Term) -> Term:
        """Returns a term without casts around it."""
        while isinstance(term, Apply) and isinstance(term.op, _CASTS):
            (operand,) = term.operands
            if id(term) in self.names or type_of(operand) == i1:
                break
            term = operand
        return term

    def _text(self, term: Term) -> str:
        term = self._bare(term)
        if id(term) in self.names:
            return f"a{self.names[id(term)]}"
        if isinstance(term, Number):
            return self._number(term)
        if id(term) not in self.known:
            assert isinstance(term, Apply)
            text = self._applied(term, [self._text(operand) for operand in term.operands])
            if self.uses.get(id(term), 0) > 1:
                name = f"v{len(self.defined)}"
                self.defined.append(f"(define-fun {name} () {_sort(type_of(term))} {text})")
                text = name
            self.known[id(term)] = text
        return self.known[id(term)]

    def _number(self, term: Number) -> str:
        value = term.value.value.data
        if term.value.type == i1:
            return "true" if value else "false"
        if isinstance(term.value.type, IntegerType):
            return str(value) if value >= 0 else f"(- {-value})"
        if isfinite(value):
            exact = Fraction(value)
            shown = f"{abs(exact.numerator)}.0"
            if exact.denominator != 1:
                shown = f"(/ {shown} {exact.denominator}.0)"
            return shown if exact >= 0 else f"(- {shown})"
        name = "nan" if isnan(value) else "infinity"
        self.declared[name] = f"(declare-const {name} Real)"
        return f"(- {name})" if value < 0 else name

    def _applied(self, term: Apply, operands: list[str]) -> str:
        op, types = term.op, [type_of(operand) for operand in term.operands]
        symbol = None
        if op.name in _EXTREMES and i1 not in types:
            symbol = self._extreme(op.name, _sort(type_of(term)))
        elif isinstance(op, arith.CmpfOp):
            symbol = _FLOATS.get(op.predicate.value.data)
        elif isinstance(op, arith.CmpiOp) and i1 not in types:
            symbol = _INTEGERS.get(op.predicate.value.data)
        elif op.name in _LOGICAL and type_of(term) == i1:
            symbol = _LOGICAL[op.name]
        elif op.name in _OPERATORS and (op.name == "arith.select" or i1 not in types):
            symbol = _OPERATORS[op.name]
        symbol = symbol or self._function(term, types)
        return f"({symbol} {' '.join(operands)})"

    def _extreme(self, name: str, sort: str) -> str:
        """Returns the symbol of a function that chooses an operand, and defines it.

        Written out, each would double the text of its operands.
        """
        symbol = f"|{name} {sort}|"
        value = f"(ite ({_EXTREMES[name]} x y) x y)"
        self.declared[symbol] = f"(define-fun {symbol} ((x {sort}) (y {sort})) {sort} {value})"
        return symbol

    def _function(self, term: Apply, types: Sequence[Attribute]) -> str:
        """Returns the symbol of a function of which nothing else is known, and declares it.

        The types of integers belong to the name: they say where a result wraps.
        """
        function = term.op.properties.get("function")
        name = getattr(function, "data", None) or term.op.name
        if isinstance(term.op, arith.CmpfOp | arith.CmpiOp):
            name = f"{name} {term.op.predicate.value.data}"
        result = type_of(term)
        said = f"{name} ({', '.join(map(_kind, types))}) {_kind(result)}"
        symbol = f"|{said.translate(_QUOTES)}|"
        sorts = " ".join(map(_sort, types))
        self.declared[symbol] = f"(declare-fun {symbol} ({sorts}) {_sort(result)})"
        return symbol


_QUOTES = str.maketrans("|\\", "__")
"""Replaces characters that a symbol cannot hold."""


def _kind(type: Attribute) -> str:
    """Returns the sort of a type, or the type of an integer."""
    return str(type) if isinstance(type, IntegerType) and type != i1 else _sort(type)


def _sort(type: Attribute) -> str:
    if isinstance(type, AnyFloat):
        return "Real"
    return "Bool" if type == i1 else "Int"


def _meaning(atom: Term) -> str:
    match atom:
        case Element():
            # Names with a number are those of values that a proof assumes.
            known = "!" not in atom.tensor
            named = f"an element of '{atom.tensor}'" if atom.indices else f"'{atom.tensor}'"
            return named if known else "a value"
        case Index():
            return "a number that indices decide"
        case Reduction():
            labels = {label: None for piece in atom.pieces for label, _ in piece.walks}
            over = f" over {', '.join(labels)}" if labels else ""
            return f"what '{atom.kind.value}' makes of elements{over}"
        case _:
            return "a value"
