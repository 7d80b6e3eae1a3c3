"""A program whose names are checked: what the emission of IR asks of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir.affine import AffineMap

from dt_mlir.diagnostics import Note, make_location
from dt_mlir.dialects.index_ranges import collected, is_in_sum, terms_of
from dt_mlir.dialects.indices import has_size_factor
from dt_mlir.element_types import ELEMENT_TYPES, is_bool, is_float
from dt_mlir.frontend.indices import Axis, IndexForm, Size, index_form
from dt_mlir.frontend.syntax import (
    Call,
    Declaration,
    Definition,
    DirectiveCall,
    Expr,
    Infix,
    Name,
    Number,
    Position,
    Prefix,
    Read,
    SyntaxTree,
    parts_of,
)

CONSTANTS = ("inf", "nan", "pi")
"""Names that stand for numbers unless a program declares them."""

REDUCTIONS = {
    name: f"the {what} over the labels"
    for name, what in {
        "rsum": "sum",
        "rprod": "product",
        "rmax": "maximum",
        "rmin": "minimum",
        "rmean": "mean",
        "rany": "disjunction",
        "rall": "conjunction",
        "rargmax": "index of the first maximum",
        "rargmin": "index of the first minimum",
        "rdot": "sum of the products of two operands",
    }.items()
}
"""The reductions by name."""


@dataclass
class SizeTable:
    """The sizes of a program's labels, and the labels of its inputs' axes."""

    axes: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The labels of the axes of inputs, "" for one that is read at numbers only."""
    explicit: set[str] = field(default_factory=set[str])
    """The inputs whose axes' labels do not follow from their reads alone."""
    implicit: list[str] = field(default_factory=list[str])
    """Labels that only name the size of an axis."""
    declared: dict[str, tuple[AffineMap, list[str]]] = field(
        default_factory=dict[str, tuple[AffineMap, list[str]]]
    )
    """The sizes that the program declares, as expressions of the sizes of labels."""
    inferred: dict[str, tuple[AffineMap, list[str]]] = field(
        default_factory=dict[str, tuple[AffineMap, list[str]]]
    )
    """The sizes that follow from reads."""

    def label_of(self, size: Size) -> str:
        """Returns the label of a size."""
        return self.axes[size.tensor][size.number] if isinstance(size, Axis) else size


@dataclass
class Symbols:
    """A program whose names have been checked."""

    program: SyntaxTree
    declarations: dict[str, Declaration]
    definitions: dict[str, Definition]
    order: list[str]
    """The defined functions, each after those that it reads."""
    ranks: dict[str, int]
    """The rank of each input tensor that something reads."""
    outputs: list[DirectiveCall]
    schedule: list[DirectiveCall]
    """The directives that stand in no alternative."""
    warnings: list[Note] = field(default_factory=list[Note])
    used: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """The functions that each function reads."""
    sizes: SizeTable = field(default_factory=SizeTable)
    """The sizes of labels."""
    asked: dict[Axis, Position] = field(default_factory=dict[Axis, Position])
    """The axes of inputs whose size the program asks for, with the first place."""
    wide_scalars: set[str] = field(default_factory=set[str])
    """The scalars of no declared type that something takes in f64."""

    def location(self, at: Position) -> FileLineColLoc:
        """The location attribute of a position in the program."""
        return make_location(at.file or self.program.file, at.line, at.column)

    def kind(self, name: str) -> str | None:
        """Returns the declaration of a name, or None."""
        found = self.declarations.get(name)
        return None if found is None else found.kind

    def is_label(self, name: str) -> bool:
        """Returns whether a name is a label."""
        return self.kind(name) in ("Var", "RVar")

    def is_weak(self, name: str) -> bool:
        """Returns whether a name is a scalar input of no declared type."""
        return self.kind(name) == "SIn" and self.declarations[name].type is None

    def labels(self) -> list[str]:
        """The labels in declared order."""
        return [d.name for d in self.declarations.values() if self.is_label(d.name)]

    def declared_sizes(self) -> Iterator[tuple[str, Expr]]:
        """Yields the labels that are declared with a size, each with that."""
        for item in self.declarations.values():
            if item.size is not None:
                yield item.name, item.size

    def index_form(self, expr: Expr) -> IndexForm | None:
        """Returns an expression as an affine one of labels and sizes; None if it is not one."""
        return index_form(expr, self.is_label, self.size_of)

    def constraints(
        self, condition: Expr, over: Collection[str] | None = None
    ) -> list[IndexForm] | None:
        """Returns a condition as expressions that are not negative; None if it is not affine.

        Args:
            condition: the condition.
            over: the labels of the reduction that it restricts. Whole numbers that do not depend on
                them may then be compared with a sum of multiples of labels and sizes. Without it a
                condition on data is not affine.
        """
        match condition:
            case Infix("and", left, right):
                first, second = self.constraints(left, over), self.constraints(right, over)
                return None if first is None or second is None else first + second
            case Infix("==", left, right):
                both = Infix(">=", left, right), Infix("<=", left, right)
                return self.constraints(Infix("and", *both), over)
            case Infix("<" | "<=", left, right):
                return self._at_least(right, left, condition.operator == "<", condition.at, over)
            case Infix(">" | ">=", left, right):
                return self._at_least(left, right, condition.operator == ">", condition.at, over)
            case _:
                return None

    def _at_least(
        self,
        larger: Expr,
        smaller: Expr,
        strictly: bool,
        at: Position,
        over: Collection[str] | None,
    ) -> list[IndexForm] | None:
        difference: Expr = Infix("-", larger, smaller, at)
        if strictly:
            difference = Infix("-", difference, Number(1, at), at)

        def is_value(expr: Expr) -> bool:
            return over is not None and self._is_whole_number(expr, over)

        form = index_form(difference, self.is_label, self.size_of, is_value)
        if form is None or has_size_factor(form.expr):
            return None
        form = form.simplified()
        if not form.dims:
            return None
        if not form.values:
            return [form]
        # The number is clamped to what the rest of the condition can be. That is a sum in 64 bits:
        # with factors beyond 32 bits it could wrap.
        small = all(abs(factor) < 2**31 for _, factor in terms_of(collected(form.expr)))
        single = len(form.values) == 1 and is_in_sum(form.expr, len(form.dims))
        return [form] if small and single and set(form.dims) & set(over or ()) else None

    def _is_whole_number(self, expr: Expr, over: Collection[str]) -> bool:
        """Returns whether an expression reads an integer, the same for all of some labels."""
        match expr:
            case Name(name) if self.kind(name) == "SIn":
                indices: tuple[Expr, ...] = ()
            case Read(name, indices) if name not in self.definitions:
                pass
            case _:
                return False
        type = self.declarations[name].type if name in self.declarations else None
        if type is None or is_float(ELEMENT_TYPES[type]) or is_bool(ELEMENT_TYPES[type]):
            return False
        pending = list(indices)
        while pending:
            part = pending.pop()
            if isinstance(part, Name) and part.name in over:
                return False
            if isinstance(part, Call) and part.name in REDUCTIONS:
                return False
            pending += parts_of(part)
        return True

    def size_of(self, expr: Expr) -> Size | None:
        """Returns the size that a call is: `len(x)`, `size(X, 2)`; None for any other call."""
        match expr:
            case Call("len", (Name(label),)):
                return label
            case Call("size", (Name(tensor), Number(int(axis)))):
                definition = self.definitions.get(tensor)
                return Axis(tensor, axis) if definition is None else definition.labels[axis]
            case _:
                return None

    def narrows_products(self) -> bool:
        """Returns whether a directive rounds operands of mixed types to the narrower type."""
        return any(
            item.name == "precision" and any(a.value == "narrow" for a in item.arguments)
            for item in self.schedule
        )

    def needed(self) -> set[str]:
        """Returns the functions that the outputs need."""
        found: set[str] = set()
        pending = [item.function for item in self.outputs]
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += self.used[name]
        return found

    def axis_label(self, tensor: str, axis: int) -> str:
        """Returns the label of an axis of an input or of a function."""
        definition = self.definitions.get(tensor)
        return self.sizes.axes[tensor][axis] if definition is None else definition.labels[axis]


def split_reduction(expr: Call) -> tuple[list[Expr], list[Name], list[Expr]]:
    """Returns the values, the labels and the conditions of a reduction.

    Labels come first behind the values; what follows the first that is not a name is a condition.
    The parts of a conjunction are conditions of their own.
    """
    count = 2 if expr.name == "rdot" else 1
    values, rest = list(expr.arguments[:count]), list(expr.arguments[count:])
    labels: list[Name] = []
    while rest and isinstance(label := rest[0], Name):
        labels.append(label)
        del rest[0]
    return values, labels, [part for condition in rest for part in _conjuncts(condition)]


def _conjuncts(condition: Expr) -> Iterator[Expr]:
    """Yields the parts of a conjunction, of which each may be affine or not."""
    if isinstance(condition, Infix) and condition.operator == "and":
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition


def free_labels(expr: Expr, symbols: Symbols) -> set[str]:
    """The labels that a value depends on."""
    match expr:
        case Number():
            return set()
        case Name(name):
            return {name} if symbols.is_label(name) else set()
        case Read(_, indices):
            return {label for index in indices for label in free_labels(index, symbols)}
        case Prefix(_, operand):
            return free_labels(operand, symbols)
        case Infix(_, left, right):
            return free_labels(left, symbols) | free_labels(right, symbols)
        case Call("len" | "size"):
            return set()
        case Call("cast", arguments):
            return free_labels(arguments[0], symbols)
        case Call("reshape", arguments):
            return free_labels(arguments[0], symbols)
        case Call(name, arguments):
            if name not in REDUCTIONS:
                return {label for a in arguments for label in free_labels(a, symbols)}
            values, labels, conditions = split_reduction(expr)
            parts = (*values, *conditions)
            found = {label for a in parts for label in free_labels(a, symbols)}
            return found - {label.name for label in labels}
