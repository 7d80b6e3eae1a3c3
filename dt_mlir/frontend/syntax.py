"""The syntax tree of a DT program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from dt_mlir.dialects.sched import Argument, Options


class Position(NamedTuple):
    """A place in a text; lines and columns from 1."""

    line: int
    column: int
    file: str | None = None
    """The text's name; None for the program's own."""


NOWHERE = Position(0, 0)
"""The position of what was not read from a text."""


@dataclass(frozen=True)
class Number:
    """A number; an `int` has no type of its own, a `float` is at least f32."""

    value: int | float
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Name:
    """A bare name: a label as a value, a scalar, a function of rank 0, or a constant."""

    name: str
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Read:
    """`A[x, 0]`."""

    name: str
    indices: tuple[Expr, ...]
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Call:
    """`exp(e)`, `rsum(e, x)`, `cast(e, f16)`, …"""

    name: str
    arguments: tuple[Expr, ...]
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Prefix:
    """`-e`, `~e`, `not e`."""

    operator: str
    operand: Expr
    at: Position = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Infix:
    """`a + b`; a chain of comparisons is a conjunction."""

    operator: str
    left: Expr
    right: Expr
    at: Position = field(default=NOWHERE, compare=False)


Expr = Number | Name | Read | Call | Prefix | Infix


def parts_of(expr: Expr) -> tuple[Expr, ...]:
    """Returns the operands, arguments or indices of an expression."""
    match expr:
        case Read():
            return expr.indices
        case Call():
            return expr.arguments
        case Prefix():
            return (expr.operand,)
        case Infix():
            return expr.left, expr.right
        case _:
            return ()


def with_parts(expr: Expr, parts: Iterable[Expr]) -> Expr:
    """Returns an expression with other operands, arguments or indices, as many as it has."""
    parts = tuple(parts)
    match expr:
        case Read():
            return replace(expr, indices=parts)
        case Call():
            return replace(expr, arguments=parts)
        case Prefix():
            return replace(expr, operand=parts[0])
        case Infix():
            return replace(expr, left=parts[0], right=parts[1])
        case _:
            return expr


@dataclass(frozen=True)
class Declaration:
    """One name of a declaration."""

    kind: str
    """`Func`, `In`, `SIn`, `Var` or `RVar`."""
    name: str
    type: str | None
    at: Position
    type_at: Position = NOWHERE
    size: Expr | None = None
    """The size of a label, if it is declared."""


@dataclass(frozen=True)
class Definition:
    """`f[x, y] = expression`."""

    name: str
    labels: tuple[str, ...]
    expression: Expr
    at: Position
    label_positions: tuple[Position, ...] = ()


@dataclass(frozen=True)
class DirectiveCall:
    """`f.block(x:128)`."""

    function: str
    name: str
    arguments: tuple[Argument, ...]
    at: Position
    name_at: Position = NOWHERE
    reason: str = ""
    """Why a schedule that the compiler wrote has it, printed as a comment."""


@dataclass(frozen=True)
class KnobDefinition:
    """`BM = {64, 128}`."""

    name: str
    options: Options
    at: Position


@dataclass(frozen=True)
class Alternatives:
    """`g.fuse_at(f, x) | none`, or with a name; of the branches one is taken."""

    name: str | None
    branches: tuple[tuple[DirectiveCall, ...], ...]
    at: Position


@dataclass
class SyntaxTree:
    """A whole program, each kind of statement in the order of the text."""

    file: str
    declarations: list[Declaration] = field(default_factory=list[Declaration])
    definitions: list[Definition] = field(default_factory=list[Definition])
    directives: list[DirectiveCall] = field(default_factory=list[DirectiveCall])
    knobs: list[KnobDefinition] = field(default_factory=list[KnobDefinition])
    alternatives: list[Alternatives] = field(default_factory=list[Alternatives])

    def all_directives(self) -> list[DirectiveCall]:
        """The directives, those of alternatives too."""
        branches = [branch for choice in self.alternatives for branch in choice.branches]
        return [*self.directives, *(item for branch in branches for item in branch)]
