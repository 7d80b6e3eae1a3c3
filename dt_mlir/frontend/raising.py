"""Raises `dt` IR back to a syntax tree.

The widening casts that types imply are dropped, and a cast is written where emitting the tree
again would not give the type that the IR has: emitting a raised program gives the same module.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.ir.affine import (
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineSymExpr,
)

from dt_mlir.diagnostics import CompileError, file_line_col
from dt_mlir.dialects import dt, elem, sched
from dt_mlir.dialects.comparisons import predicate_of
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.indices import fold
from dt_mlir.element_types import (
    ELEMENT_TYPES,
    compute_type,
    is_float,
    promote,
    type_name,
    value_type,
)
from dt_mlir.elementwise import FUNCTIONS, Domain
from dt_mlir.frontend.emit import emit_program
from dt_mlir.frontend.indices import NotPositiveError, Size, index_form
from dt_mlir.frontend.numbers import has_value
from dt_mlir.frontend.printer import shortest_single
from dt_mlir.frontend.syntax import (
    Alternatives,
    Call,
    Declaration,
    Definition,
    DirectiveCall,
    Expr,
    Infix,
    KnobDefinition,
    Name,
    Number,
    Position,
    Prefix,
    Read,
    SyntaxTree,
)

_INFIX: dict[str, tuple[str, Attribute]] = {
    "arith.addf": ("+", i32), "arith.addi": ("+", i32),
    "arith.subf": ("-", i32), "arith.subi": ("-", i32),
    "arith.mulf": ("*", i32), "arith.muli": ("*", i32),
    "arith.divf": ("/", f32),
    "arith.andi": ("&", i1), "arith.ori": ("|", i1), "arith.xori": ("^", i1),
    "arith.shli": ("<<", i32), "arith.shrsi": (">>", i32),
    "arith.floordivsi": ("//", i32),
}  # fmt: skip
"""Upstream operations that are operators of the language, and the least type of those."""

_CALLS = {
    name: (function.name, f32 if function.domain is Domain.FLOAT else i32)
    for function in FUNCTIONS.values()
    for name in (function.float_op, function.int_op)
    if name is not None
}
_REDUCTIONS = {
    ReductionKind.ADD: "rsum", ReductionKind.MUL: "rprod",
    ReductionKind.MAXIMUM: "rmax", ReductionKind.MINIMUM: "rmin",
    ReductionKind.AND: "rall", ReductionKind.OR: "rany",
    ReductionKind.ARGMAX: "rargmax", ReductionKind.ARGMIN: "rargmin",
    ReductionKind.DOT: "rdot",
}  # fmt: skip
_COMPARISONS = {
    "oeq": "==", "une": "!=", "olt": "<", "ole": "<=", "ogt": ">", "oge": ">=",
    "eq": "==", "ne": "!=", "slt": "<", "sle": "<=", "sgt": ">", "sge": ">=",
    "ult": "<", "ule": "<=", "ugt": ">", "uge": ">=",
}  # fmt: skip
_WIDENING = ("arith.extf", "arith.extsi", "arith.extui", "arith.sitofp")
_NARROWING = ("arith.truncf", "arith.trunci", "arith.fptosi")

Raised = tuple[Expr, Attribute | None]
"""A tree and the element type that emitting it gives; None for a number."""


def raise_module(module: ModuleOp) -> SyntaxTree:
    """The program that a module of the `dt` level stands for.

    Raises:
        CompileError: where the module holds what no program says.
    """
    program = _raised(module)
    wide = {
        op.sym_name.data for op in module.ops
        if isinstance(op, dt.InputOp) and op.is_scalar and op.element == f64
        and op.declared is None
    }  # fmt: skip
    if wide:
        # What takes such a scalar in f64 may be a cast of it, which is left out.
        wide -= _wide_scalars(_raised(module))
        program.declarations = [
            replace(item, type="f64") if item.kind == "SIn" and item.name in wide else item
            for item in program.declarations
        ]
    return program


def _wide_scalars(program: SyntaxTree) -> set[str]:
    """Returns the scalars that are f64 in a program."""
    try:
        module = emit_program(program)
    except CompileError:
        return set()
    inputs = [op for op in module.ops if isinstance(op, dt.InputOp)]
    return {op.sym_name.data for op in inputs if op.is_scalar and op.element == f64}


def _raised(module: ModuleOp) -> SyntaxTree:
    program = SyntaxTree(_file(module))
    raiser = _Raiser(module)
    for op in module.ops:
        match op:
            case dt.LabelOp():
                if op.axis is None:
                    program.declarations.append(raiser.label(op))
            case dt.InputOp():
                kind = "SIn" if op.is_scalar else "In"
                usual = op.element == f32 or (op.is_scalar and op.element == f64)
                usual = usual and op.declared is None
                type = None if usual else type_name(op.element)
                program.declarations.append(
                    Declaration(kind, op.sym_name.data, type, _at(op), _at(op))
                )
            case dt.FuncOp():
                at = _at(op)
                value, declared = raiser.function_value(op)
                type = type_name(op.element) if declared else None
                program.declarations.append(Declaration("Func", op.sym_name.data, type, at, at))
                program.definitions.append(Definition(op.sym_name.data, op.label_names, value, at))
            case sched.ScheduleOp():
                _schedule(op, program)
            case dt.OutputOp():
                name = "compile_to_kernel" if op.kernel_only else "compile"
                arguments = (sched.Argument("dynamic", 1),) if op.dynamic else ()
                target = op.function.root_reference.data
                program.directives.append(DirectiveCall(target, name, arguments, _at(op), _at(op)))
            case _:
                raise CompileError(f"'{op.name}' is not of the 'dt' level", op)
    return program


def _schedule(schedule: sched.ScheduleOp, program: SyntaxTree) -> None:
    """Puts the statements of a schedule into a program."""
    for op in schedule.body.block.ops:
        match op:
            case sched.KnobOp():
                program.knobs.append(KnobDefinition(op.sym_name.data, op.option_set, _at(op)))
            case sched.AlternativesOp():
                name = None if op.sym_name is None else op.sym_name.data
                branches = tuple(tuple(map(_directive, b.block.ops)) for b in op.branches)
                program.alternatives.append(Alternatives(name, branches, _at(op)))
            case _:
                program.directives.append(_directive(op))


def _directive(op: Operation) -> DirectiveCall:
    assert isinstance(op, sched.DirectiveOp)
    # As a parameter, the text of a program has a knob's name like any other.
    arguments = tuple(
        a._replace(value=a.value.name) if isinstance(a.value, sched.KnobReference) else a
        for a in op.argument_list
    )
    reason = op.reason
    return DirectiveCall(op.function_name, op.directive_name, arguments, _at(op), _at(op), reason)


def _file(module: ModuleOp) -> str:
    for op in module.ops:
        place = file_line_col(op.location)
        if place is not None:
            return place[0]
    return "-"


def _at(op: Operation) -> Position:
    place = file_line_col(op.location)
    return Position(place[1], place[2]) if place else Position(1, 1)


def _size_of(expr: Expr) -> Size | None:
    return str(expr) if isinstance(expr, Call) and expr.name in ("len", "size") else None


def _computed(natural: Attribute | None, expr: Expr) -> Attribute:
    if natural is None:
        return f32 if isinstance(expr, Number) and isinstance(expr.value, float) else i32
    return compute_type(natural)


def _cast(expr: Expr, element: Attribute) -> Expr:
    return Call("cast", (expr, Name(type_name(element))), expr.at)


def _index_expression(
    expr: AffineExpr, dims: Sequence[Expr], sizes: Sequence[Expr], at: Position
) -> Expr:
    """An index as the source writes it: `2 * p + r - 1`."""

    def leaf(part: AffineExpr) -> Expr:
        match part:
            case AffineConstantExpr(value):
                return Number(value, at)
            case AffineDimExpr(position):
                return dims[position]
            case AffineSymExpr(position):
                return sizes[position]
            case _:
                raise AssertionError(f"no text for {part}")

    def combine(operator: str, left: Expr, right: Expr, _: AffineExpr) -> Expr:
        if operator == "*" and isinstance(right, Number):
            left, right = right, left
        return Infix(operator, left, right, at)

    return fold(expr, leaf, combine)


def _constant(op: arith.ConstantOp) -> int | float:
    assert isinstance(op.value, FloatAttr | IntegerAttr)
    return _number(op.value)


def _number(attr: FloatAttr | IntegerAttr) -> int | float:
    if isinstance(attr, FloatAttr):
        number = attr.value.data
        # A whole number is written as one: it takes the type of what it meets. Of 0 there are two.
        signed = number == 0 and math.copysign(1, number) < 0
        if number.is_integer() and abs(number) < 2**24 and not signed:
            return int(number)
        if attr.type != f64 and math.isfinite(number):
            return shortest_single(number)
        return number
    return abs(attr.value.data) if attr.type == i1 else attr.value.data


def _index(expr: Expr, type: Attribute) -> Raised:
    return (expr, i32) if type == i32 else (_cast(expr, i64), i64)


def _common(naturals: list[Attribute | None], exprs: list[Expr], least: Attribute) -> Attribute:
    typed = [compute_type(n) for n in naturals if n is not None]
    type = least
    for other in typed:
        type = promote(type, other)
    for expr, natural in zip(exprs, naturals):
        if natural is None:
            own = _computed(None, expr)
            if not typed or type == i1 or (is_float(own) and not is_float(type)):
                type = promote(type, own)
    return type


class _Raiser:
    """Raises the functions of a module.

    Args:
        module: a module of the `dt` level.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._labels = {op.sym_name.data for op in module.ops if isinstance(op, dt.LabelOp)}
        self._sources = {
            op.sym_name.data: op for op in module.ops if isinstance(op, dt.InputOp | dt.FuncOp)
        }
        implicit = {
            op.sym_name.data for op in module.ops if isinstance(op, dt.LabelOp) and op.axis
        }
        self._axes = {
            label: (op.sym_name.data, number)
            for op in module.ops
            if isinstance(op, dt.InputOp)
            for number, label in enumerate(op.axis_labels or ())
            if label in implicit
        }

    def label(self, op: dt.LabelOp) -> Declaration:
        """The declaration of a label."""
        kind, at = "RVar" if op.reduction else "Var", _at(op)
        size = None
        if op.size is not None and op.inferred is None:
            if len(op.size.data.results) != 1:
                raise CompileError("a program declares no size as the least of several", op)
            sizes = [self._size(label, at) for label in op.used_sizes]
            size = _index_expression(op.size.data.results[0], [], sizes, at)
        return Declaration(kind, op.sym_name.data, None, at, at, size)

    def function_value(self, op: dt.FuncOp) -> tuple[Expr, bool]:
        """A function's definition, and whether its type must be declared."""
        value = op.value
        expr, natural = self._raise(value)
        declared = op.declared is not None or _computed(natural, expr) != op.element
        if declared:
            # The definition itself converts to the declared type.
            owner = value.owner
            if isinstance(owner, Operation) and owner.name in _NARROWING:
                value, inner = owner.operands[0], owner.operands[0].owner
                if owner.name == "arith.trunci" and isinstance(inner, arith.FPToSIOp):
                    value = inner.operands[0]
            stripped, natural = self._raise(value)
            # A number by itself would take the declared type at once, and might be too large.
            if natural is None and value is not op.value:
                stripped = _cast(stripped, value.type)
            return stripped, True
        return expr, False

    def _raise(self, value: SSAValue) -> Raised:
        assert isinstance(value, OpResult)
        op, at = value.op, _at(value.op)
        if op.name in _WIDENING:
            return self._widened(op)
        if op.name in _NARROWING:
            return self._narrowed(op)
        if op.name in ("math.powf", "math.ipowi"):
            base, exponent = self._operands(op.operands, value.type, i32)
            return Infix("**", base, exponent, at), value.type
        if op.name in _CALLS:
            name, least = _CALLS[op.name]
            operands = self._operands(op.operands, op.operands[0].type, least)
            return Call(name, operands, at), value.type
        if op.name in _INFIX:
            return self._infix(op), value.type
        match op:
            case arith.ConstantOp():
                return Number(_constant(op), at), None
            case dt.ReadOp():
                return self._read(op)
            case dt.IndexOp():
                return _index(Name(op.label.data, at), value.type)
            case dt.SizeOp():
                return _index(self._size(op.label.data, at), value.type)
            case dt.ClampOp():
                # An index on its own: nothing but reads clamps.
                raise CompileError("only an index of a read is clamped", op)
            case dt.ReduceOp():
                return self._reduce(op), value.type
            case elem.ApplyOp():
                return self._apply(op), value.type
            case arith.CmpfOp() | arith.CmpiOp():
                operator = _COMPARISONS.get(predicate_of(op))
                if operator is None:
                    raise CompileError(f"no operator compares as '{op.name}' does here", op)
                left, right = self._operands(op.operands, op.operands[0].type, i1, folds=False)
                return Infix(operator, left, right, at), i1
            case arith.SelectOp():
                condition, _ = self._raise(op.operands[0])
                chosen = self._operands(op.operands[1:], value.type, i1, folds=False)
                return Call("where", (condition, *chosen), at), value.type
            case arith.NegfOp():
                return Prefix("-", self._operands(op.operands, value.type, i32)[0], at), value.type
            case _:
                raise CompileError(f"'{op.name}' is not an operation that a program can say", op)

    def _read(self, op: dt.ReadOp) -> Raised:
        at = _at(op)
        dims: list[Expr] = [Name(label, at) for label in op.used_labels]
        dims += [self._data_index(value) for value in op.values]
        sizes = [self._size(label, at) for label in op.size_labels]
        indices = [_index_expression(expr, dims, sizes, at) for expr in op.indices]
        element = op.result.type
        source = self._sources.get(op.source_name)
        if source is not None:
            element = source.element
        if isinstance(source, dt.InputOp) and source.is_scalar:
            return Name(op.source_name, at), element
        read = Read(op.source_name, tuple(indices), at)
        if op.boundary is None:
            return read, element
        outside = () if op.exterior is None else (Number(_number(op.exterior), at),)
        return Call(op.boundary.data, (read, *outside), at), element

    def _data_index(self, value: SSAValue) -> Expr:
        """An index that is data; it is clamped wherever nothing else is said."""
        owner = value.owner
        if isinstance(owner, dt.ClampOp):
            value = owner.value
        expr = self._raise(value)[0]
        # What reads as an index of labels, sizes and numbers would be one.
        return _cast(expr, value.type) if self._is_affine(expr) else expr

    def _size(self, label: str, at: Position) -> Expr:
        """The size of a label, or of an axis that has none in the program."""
        axis = self._axes.get(label)
        if axis is None:
            return Call("len", (Name(label, at),), at)
        return Call("size", (Name(axis[0], at), Number(axis[1], at)), at)

    def _widened(self, op: Operation) -> Raised:
        value, type = op.operands[0], op.results[0].type
        expr, natural = self._raise(value)
        if natural is None:
            if value.type == ELEMENT_TYPES["i8"] and op.name == "arith.extui":
                # A number of eight bits without a sign.
                type = ELEMENT_TYPES["u8"]
            if value.type == f32 and type == f64:
                # The digits of a single are those of another double.
                return _cast(expr, f32), f32
            return _cast(expr, type), type
        if value.type == ELEMENT_TYPES["i8"]:
            # Eight bits have no sign until they are widened.
            meant = ELEMENT_TYPES["u8" if op.name == "arith.extui" else "i8"]
            if isinstance(value.owner, arith.TruncIOp):
                return _cast(self._raise(value.owner.input)[0], meant), meant
            if natural != meant:
                return _cast(expr, meant), meant
        # Implied where the value meets a wider one; the caller sees to it that it does.
        return expr, natural

    def _narrowed(self, op: Operation) -> Raised:
        expr, natural = self._raise(op.operands[0])
        type = op.results[0].type
        integral = natural is not None and not is_float(natural)
        # A number by itself would become what it is cast to at once, and might be too large.
        if integral if op.name == "arith.fptosi" else natural is None:
            expr = _cast(expr, op.operands[0].type)
        return _cast(expr, type), type

    def _infix(self, op: Operation) -> Expr:
        operator, least = _INFIX[op.name]
        type, at = op.results[0].type, _at(op)
        left, right = op.operands
        if operator == "^" and isinstance(right.owner, arith.ConstantOp):
            ones = _constant(right.owner)
            if type == i1 and ones == 1:
                return Prefix("not", self._operands([left], i1, i1, folds=False)[0], at)
            if ones == -1:
                return Prefix("~", self._operands([left], type, i1, folds=False)[0], at)
        if type == i1 and operator in "&|":
            operator = {"&": "and", "|": "or"}[operator]
        shown = self._operands([left, right], type, least, folds=has_value(operator))
        return Infix(operator, shown[0], shown[1], at)

    def _apply(self, op: elem.ApplyOp) -> Expr:
        name, at = op.function.data, _at(op)
        operators = {"floordiv": "//", "mod": "%"}
        if name in operators:
            shown = self._operands(op.operands, op.result.type, i32)
            return Infix(operators[name], shown[0], shown[1], at)
        least = f32 if FUNCTIONS[name].domain is Domain.FLOAT else i32
        return Call(name, self._operands(op.operands, op.result.type, least), at)

    def _reduce(self, op: dt.ReduceOp) -> Expr:
        last = op.body.block.last_op
        assert isinstance(last, dt.YieldOp)
        kind, at = op.kind.data, _at(op)
        values, conditions = list(last.values), self._conditions(op)
        if kind.needs_elements and op.domain is not None and not conditions:
            values, condition = self._any_condition(kind, values, at)
            conditions = [condition]
        labels = (*(Name(label, at) for label in op.label_names), *conditions)
        if kind is ReductionKind.DOT:
            return Call("rdot", (*self._dot_operands(values), *labels), at)
        least = i1 if kind in (ReductionKind.AND, ReductionKind.OR) else i32
        operands = self._operands(values, values[0].type, least, folds=False)
        return Call(_REDUCTIONS[kind], (*operands, *labels), at)

    def _conditions(self, op: dt.ReduceOp) -> list[Expr]:
        """The conditions of a domain: `x - k >= 0`."""
        at = _at(op)
        dims: list[Expr] = [Name(label, at) for label in op.constrained_labels]
        dims += [self._raise(value)[0] for value in op.values]
        sizes = [self._size(label, at) for label in op.size_labels]
        return [
            Infix(">=", _index_expression(expr, dims, sizes, at), Number(0, at), at)
            for expr in op.constraints
        ]

    def _any_condition(
        self, kind: ReductionKind, values: list[SSAValue], at: Position
    ) -> tuple[list[SSAValue], Expr]:
        """Returns a condition for a domain without constraints, and what is reduced under it.

        An extreme under a condition may be one of no elements, whatever the condition is: without
        one the reduced labels must not be empty. A condition on data chooses what is reduced.
        """
        (value,) = values
        select = value.owner
        if isinstance(select, arith.SelectOp) and isinstance(select.rhs.owner, arith.ConstantOp):
            condition, _ = self._raise(select.cond)
            same = select.rhs.owner.value == identity(kind, select.rhs.type)
            if same and not self._may_be_affine(condition):
                return [select.lhs], condition
        return values, Infix("==", Number(0, at), Number(0, at), at)

    def _may_be_affine(self, condition: Expr) -> bool:
        """Returns whether emitting a condition may give constraints of labels, and not data."""

        def is_value(expr: Expr) -> bool:
            name = isinstance(expr, Name) and expr.name not in self._labels
            return name or isinstance(expr, Read)

        match condition:
            case Infix("and", left, right):
                return self._may_be_affine(left) or self._may_be_affine(right)
            case Infix("==" | "<" | "<=" | ">" | ">=", left, right):
                difference = Infix("-", left, right)
                try:
                    form = index_form(difference, self._labels.__contains__, _size_of, is_value)
                except NotPositiveError:
                    return True
                return form is not None and bool(form.dims)
            case _:
                return False

    def _is_affine(self, expr: Expr) -> bool:
        """Returns whether emitting an index gives one of labels and sizes, and not data."""
        try:
            form = index_form(expr, self._labels.__contains__, _size_of, lambda _: False)
        except NotPositiveError:
            return True
        return form is not None

    def _dot_operands(self, values: list[SSAValue]) -> tuple[Expr, ...]:
        raised = [self._raise(value) for value in values]
        type = values[0].type
        naturals = {natural for _, natural in raised}
        if len(naturals) == 1 and None not in naturals:
            natural = naturals.pop()
            assert natural is not None
            unsigned = natural in (i1, ELEMENT_TYPES["u8"])
            given = compute_type(natural) if unsigned else value_type(natural)
        else:
            given = _common([n for _, n in raised], [e for e, _ in raised], i32)
        if given == type:
            return tuple(expr for expr, _ in raised)
        return tuple(
            expr if natural is not None and value_type(natural) == type else _cast(expr, type)
            for expr, natural in raised
        )

    def _operands(
        self, values: Iterable[SSAValue], type: Attribute, least: Attribute, folds: bool = True
    ) -> tuple[Expr, ...]:
        """Operands such that emitting their operator computes in `type`.

        Args:
            values: the operands.
            type: the type.
            least: the least type that the operator computes in.
            folds: whether the operator makes a number of numbers, which has no type.
        """
        raised = [self._raise(value) for value in values]
        exprs = [expr for expr, _ in raised]
        naturals = [natural for _, natural in raised]
        if _common(naturals, exprs, least) == type:
            if folds and all(natural is None for natural in naturals):
                exprs[0] = _cast(exprs[0], type)
            return tuple(exprs)
        return tuple(
            expr if natural is not None and compute_type(natural) == type else _cast(expr, type)
            for expr, natural in raised
        )
