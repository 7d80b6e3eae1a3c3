"""The variables of a certificate, and what is known of each.

A variable stands for the size of a label, the number of a block, the trip of a loop, a lane of an
axis, or an index of the algorithm. What is known of it is a list of facts, which may name other
variables; whatever is proved of some expressions may use the facts of all variables in them.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)
from xdsl.ir.affine import AffineBinaryOpKind as Kind

from dt_mlir.certificates.solver import z3

Integer = Any
"""An integer expression of the solver."""
Condition = Any
"""A Boolean expression of the solver."""


class _Fact(NamedTuple):
    """Something that is known of variables."""

    number: int
    """The number of the expression."""
    fact: Condition
    variables: list[int]
    """The numbers of the variables in it."""


class Universe:
    """All variables of a certificate."""

    def __init__(self) -> None:
        self._facts: dict[int, list[_Fact]] = {}
        self._kept: dict[int, Any] = {}
        self._free: dict[int, tuple[Integer, ...]] = {}
        self._count = 0
        self._sizes: dict[str, Integer] = {}

    def _id(self, expr: Any) -> int:
        # The identity of an expression is another's once the expression is gone.
        self._kept[expr.get_id()] = expr
        return expr.get_id()

    def variable(
        self, hint: str, facts: Callable[[Integer], Sequence[Condition]] = lambda _: ()
    ) -> Integer:
        """Returns a new variable.

        Args:
            hint: the first part of its name.
            facts: what is known of it.
        """
        self._count += 1
        found = z3.Int(f"{hint}!{self._count}")
        self._facts[self._id(found)] = [self._fact(fact) for fact in facts(found)]
        return found

    def size(self, label: str) -> Integer:
        """Returns the size of a label, which is not negative."""
        if label not in self._sizes:
            found = self._sizes[label] = z3.Int(label)
            self._facts[self._id(found)] = [self._fact(found >= 0)]
        return self._sizes[label]

    @property
    def sizes(self) -> dict[str, Integer]:
        """The sizes of labels that were asked for."""
        return dict(self._sizes)

    def define(self, label: str, size: Integer) -> None:
        """Notes that the size of a label is an expression."""
        self.know(self.size(label), self.size(label) == size)

    def know(self, variable: Integer, fact: Condition) -> None:
        """Adds to what is known of a variable."""
        self._facts[self._id(variable)].append(self._fact(fact))

    def free(self, expr: Any) -> tuple[Integer, ...]:
        """Returns the variables in an expression."""
        key = self._id(expr)
        if key not in self._free:
            if z3.is_const(expr):
                is_variable = expr.decl().kind() == z3.Z3_OP_UNINTERPRETED
                self._free[key] = (expr,) if is_variable else ()
            else:
                found = {v.get_id(): v for child in expr.children() for v in self.free(child)}
                self._free[key] = tuple(found.values())
        return self._free[key]

    def facts(self, variable: Integer) -> list[Condition]:
        """Returns what is known of a variable by itself."""
        return [known.fact for known in self._facts.get(self._id(variable), ())]

    def closure(self, exprs: Iterable[Any]) -> list[Condition]:
        """Returns what is known of the variables in expressions, and of those in what is known."""
        found: dict[int, Condition] = {}
        seen: set[int] = set()
        pending = [number for expr in exprs for number in self._named(expr)]
        while pending:
            variable = pending.pop()
            if variable in seen:
                continue
            seen.add(variable)
            for number, fact, others in self._facts.get(variable, ()):
                found[number] = fact
                pending.extend(others)
        return list(found.values())

    def _named(self, expr: Any) -> list[int]:
        """Returns the numbers of the variables in an expression."""
        return [self._id(v) for v in self.free(expr)]

    def _fact(self, fact: Condition) -> _Fact:
        return _Fact(self._id(fact), fact, self._named(fact))


def evaluated(expr: AffineExpr, dims: Sequence[Integer], symbols: Sequence[Integer]) -> Integer:
    """Returns an affine expression as the solver's.

    Args:
        expr: the expression; divisors are positive.
        dims: its dimensions.
        symbols: its symbols.
    """
    if isinstance(expr, AffineConstantExpr):
        return z3.IntVal(expr.value)
    if isinstance(expr, AffineBinaryOpExpr):
        lhs = evaluated(expr.lhs, dims, symbols)
        rhs = evaluated(expr.rhs, dims, symbols)
        match expr.kind:
            case Kind.Add:
                return lhs + rhs
            case Kind.Mul:
                return lhs * rhs
            case Kind.Mod:
                return lhs % rhs
            case Kind.FloorDiv:
                return lhs / rhs
            case _:
                return -((-lhs) / rhs)
    if isinstance(expr, AffineDimExpr):
        return dims[expr.position]
    assert isinstance(expr, AffineSymExpr)
    return symbols[expr.position]


def least(values: Sequence[Integer]) -> Integer:
    """Returns the least of some integers."""
    found = values[0]
    for value in values[1:]:
        found = z3.If(value < found, value, found)
    return found
