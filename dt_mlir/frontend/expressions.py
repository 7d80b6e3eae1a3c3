"""Emits the scalar operations of an expression."""

from __future__ import annotations

import math as pymath
from collections.abc import Callable, Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import Rewriter

from dt_mlir.boundary_conditions import BOUNDARIES
from dt_mlir.diagnostics import Note
from dt_mlir.dialects import dt, elem
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.identifiers import value_hint
from dt_mlir.dialects.index_ranges import collected
from dt_mlir.dialects.indices import dimension, substitute, symbol
from dt_mlir.element_types import (
    ELEMENT_TYPES,
    compute_type,
    is_bool,
    is_float,
    promote,
    type_name,
    value_type,
)
from dt_mlir.elementwise import FUNCTIONS, OPERATORS, Domain, Function
from dt_mlir.frontend.numbers import has_value, value_of
from dt_mlir.frontend.printer import print_expression
from dt_mlir.frontend.symbols import REDUCTIONS, split_reduction
from dt_mlir.frontend.syntax import (
    Call,
    Expr,
    Infix,
    Name,
    Number,
    Position,
    Prefix,
    Read,
    parts_of,
    with_parts,
)
from dt_mlir.frontend.values import Typed, Value, ValueEmitter, constant_op

_UPSTREAM: dict[str, Callable[..., Operation]] = {
    f"{op.name}": op
    for op in (*arith.Arith.operations, *math.Math.operations)
}

_KINDS = {
    "rsum": ReductionKind.ADD,
    "rmean": ReductionKind.ADD,
    "rprod": ReductionKind.MUL,
    "rmax": ReductionKind.MAXIMUM,
    "rmin": ReductionKind.MINIMUM,
    "rany": ReductionKind.OR,
    "rall": ReductionKind.AND,
    "rargmax": ReductionKind.ARGMAX,
    "rargmin": ReductionKind.ARGMIN,
}

_EXTREMES = {"rargmax": "rmax", "rargmin": "rmin"}

_FLOAT_COMPARE = {"==": "oeq", "!=": "une", "<": "olt", "<=": "ole", ">": "ogt", ">=": "oge"}
_INT_COMPARE = {"==": "eq", "!=": "ne", "<": "slt", "<=": "sle", ">": "sgt", ">=": "sge"}
_ARITHMETIC: dict[str, tuple[Callable[..., Operation], Callable[..., Operation]]] = {
    "+": (arith.AddfOp, arith.AddiOp),
    "-": (arith.SubfOp, arith.SubiOp),
    "*": (arith.MulfOp, arith.MuliOp),
}
_BITWISE: dict[str, Callable[..., Operation]] = {
    "&": arith.AndIOp,
    "|": arith.OrIOp,
    "^": arith.XOrIOp,
    "<<": arith.ShLIOp,
    ">>": arith.ShRSIOp,
}


class ExpressionEmitter(ValueEmitter):
    """Emits expressions at the end of a block.

    Args:
        symbols: the checked program.
        elements: the element types of the inputs and of the functions emitted so far.
        block: where operations go.
    """

    def emit(self, expr: Expr) -> Value:
        """Emits an expression.

        Raises:
            CompileError: where an operator is not defined on its operands' types.
        """
        match expr:
            case Number():
                return expr
            case Name():
                return self._name(expr)
            case Read(name, indices, at):
                return self._read(name, indices, at)
            case Prefix():
                return self._prefix(expr)
            case Infix():
                return self._infix(expr)
            case Call():
                return self._call(expr)

    def _name(self, expr: Name) -> Value:
        name, at = expr.name, expr.at
        if name not in self.symbols.declarations:
            return Number({"inf": pymath.inf, "nan": pymath.nan, "pi": pymath.pi}[name], at)
        if self.symbols.is_label(name):
            return Typed(self._add(dt.IndexOp(name), at), i32)
        return self._read(name, (), at)

    def _read(
        self, name: str, indices: tuple[Expr, ...], at: Position, boundary: str | None = None
    ) -> Value:
        element = self.elements[name]
        op = self._read_op(name, indices, element, boundary is not None)
        if boundary is not None:
            op.boundary = StringAttr(boundary)
        result = self._add(op, at)
        result.name_hint = value_hint(name)
        return Typed(result, element, name if self.symbols.is_weak(name) else None)

    def _read_op(
        self, name: str, indices: tuple[Expr, ...], element: Attribute, guarded: bool
    ) -> dt.ReadOp:
        """Returns a read; an index that is data is emitted in front of it."""
        type = value_type(element)
        simple: list[str | int] = []
        for index in indices:
            if isinstance(index, Number):
                simple.append(int(index.value))
            elif isinstance(index, Name) and self.symbols.is_label(index.name):
                simple.append(index.name)
        if len(simple) == len(indices):
            return dt.ReadOp(name, simple, type)
        labels: list[str] = []
        sizes: list[str] = []
        values: list[SSAValue] = []
        results: list[AffineExpr] = []
        forms = [self.symbols.index_form(index) for index in indices]
        for form in filter(None, forms):
            labels += [label for label in form.dims if label not in labels]
        for axis, (index, form) in enumerate(zip(indices, forms)):
            if form is None:
                values.append(self._data_index(index, name, axis, guarded))
                results.append(dimension(len(labels) + len(values) - 1))
                continue
            dims = [dimension(labels.index(label)) for label in form.dims]
            own = [self.symbols.sizes.label_of(size) for size in form.sizes]
            sizes += [label for label in own if label not in sizes]
            symbols = [symbol(sizes.index(label)) for label in own]
            results.append(substitute(form.expr, dims, symbols))
        op = dt.ReadOp(name, [], type)
        map = AffineMap(len(labels) + len(values), len(sizes), tuple(results))
        op.set_indices(labels, values, sizes, map)
        return op

    def _data_index(self, index: Expr, tensor: str, axis: int, guarded: bool) -> SSAValue:
        """Emits an index that is data; it does not leave its axis."""
        value, at = self.emit(index), index.at
        type = self._common(value, least=i32)
        if is_float(type):
            raise self._error(
                "an index is a whole number, and this has a floating-point type", at,
                "write cast(…, i64), which drops the fraction",
            )  # fmt: skip
        found = self.convert(value, type, at)
        if guarded:
            return found
        label = self.symbols.axis_label(tensor, axis)
        return self._add(dt.ClampOp(found, label), at)

    def _guarded(self, expr: Call) -> Value:
        """Emits a read under a boundary condition."""
        read, at = expr.arguments[0], expr.at
        assert isinstance(read, Read)
        found = self._read(read.name, read.indices, read.at, expr.name)
        if len(expr.arguments) == 1:
            return found
        assert isinstance(found, Typed)
        op = found.ssa.owner
        assert isinstance(op, dt.ReadOp)
        outside = self.emit(expr.arguments[1])
        if isinstance(outside, Number) and not is_float(found.element) and outside.value % 1 != 0:
            # A float wins over an integer, as elsewhere.
            outside = Typed(self.convert(outside, f32, at), f32)
        number = outside if isinstance(outside, Number) else Number(0)
        constant = self._constant(number, found.element, at).owner
        assert isinstance(constant, arith.ConstantOp)
        assert isinstance(constant.value, FloatAttr | IntegerAttr)
        op.exterior = constant.value
        Rewriter.erase_op(constant)
        return found if isinstance(outside, Number) else self._chosen(read, op, found, outside)

    def _chosen(self, read: Read, op: dt.ReadOp, found: Typed, outside: Typed) -> Value:
        """Emits what was read where all indices are in bounds, and another value elsewhere.

        Args:
            read: the read.
            op: its operation.
            found: what it gives.
            outside: the other value.
        """
        at, data = read.at, iter(op.values)
        type = self._common(found, outside)
        inside: SSAValue | None = None
        for axis, index in enumerate(read.indices):
            label = self.symbols.axis_label(read.name, axis)
            if isinstance(index, Name) and index.name == label:
                continue
            if self.symbols.index_form(index) is None:
                value = next(data)
                place = self.convert(Typed(value, value.type), i64, at)
            else:
                place = self.convert(self.emit(_in_64_bits(index)), i64, at)
            size = self.convert(Typed(self._add(dt.SizeOp(label), at), i32), i64, at)
            zero = self._constant(Number(0), i64, at)
            for holds in (arith.CmpiOp(place, zero, "sge"), arith.CmpiOp(place, size, "slt")):
                truth = self._add(holds, at)
                inside = truth if inside is None else self._add(arith.AndIOp(inside, truth), at)
        if inside is None:
            return Typed(self.convert(found, type, at), type)
        values = (self.convert(value, type, at) for value in (found, outside))
        return Typed(self._add(arith.SelectOp(inside, *values), at), type)

    def _prefix(self, expr: Prefix) -> Value:
        value, at = self.emit(expr.operand), expr.at
        if expr.operator == "not":
            truth = self.convert(value, i1, at)
            true = self._constant(Number(1), i1, at)
            return Typed(self._add(arith.XOrIOp(truth, true), at), i1)
        if expr.operator == "-":
            if isinstance(value, Number):
                return Number(-value.value, at)
            type = self._common(value, least=i32)
            wide = self.convert(value, type, at)
            if is_float(type):
                return Typed(self._add(arith.NegfOp(wide), at), type)
            zero = self._constant(Number(0), type, at)
            return Typed(self._add(arith.SubiOp(zero, wide), at), type)
        type = self._common(value)
        if is_float(type):
            raise self._error("'~' is defined on integers and truth values", at)
        ones = self._constant(Number(1 if is_bool(type) else -1), type, at)
        return Typed(self._add(arith.XOrIOp(self.convert(value, type, at), ones), at), type)

    def _infix(self, expr: Infix) -> Value:
        left, right, at = self.emit(expr.left), self.emit(expr.right), expr.at
        symbol = expr.operator
        if isinstance(left, Number) and isinstance(right, Number) and has_value(symbol):
            return self._folded(symbol, [left, right], at)
        if symbol in ("and", "or"):
            a, b = self.convert(left, i1, at), self.convert(right, i1, at)
            op = arith.AndIOp if symbol == "and" else arith.OrIOp
            return Typed(self._add(op(a, b), at), i1)
        if symbol in _FLOAT_COMPARE:
            type = self._common(left, right)
            a, b = self.convert(left, type, at), self.convert(right, type, at)
            if is_float(type):
                return Typed(self._add(arith.CmpfOp(a, b, _FLOAT_COMPARE[symbol]), at), i1)
            unsigned = {"slt": "ult", "sle": "ule", "sgt": "ugt", "sge": "uge"}
            predicate = _INT_COMPARE[symbol]
            if is_bool(type):
                predicate = unsigned.get(predicate, predicate)
            return Typed(self._add(arith.CmpiOp(a, b, predicate), at), i1)
        if symbol in _BITWISE:
            type = self._common(left, right, least=i32 if symbol in ("<<", ">>") else i1)
            if is_float(type):
                raise self._error(f"'{symbol}' is defined on integers", at, "cast its operands")
            a, b = self.convert(left, type, at), self.convert(right, type, at)
            return Typed(self._add(_BITWISE[symbol](a, b), at), type)
        if symbol in _ARITHMETIC:
            type = self._common(left, right, least=i32)
            a, b = self.convert(left, type, at), self.convert(right, type, at)
            float_op, int_op = _ARITHMETIC[symbol]
            op = (float_op if is_float(type) else int_op)(a, b)
            return Typed(self._add(op, at), type)
        if symbol == "/":
            type = promote(self._common(left, right), f32)
            a, b = self.convert(left, type, at), self.convert(right, type, at)
            return Typed(self._add(arith.DivfOp(a, b), at), type)
        function = {"//": OPERATORS["floordiv"], "%": OPERATORS["mod"], "**": FUNCTIONS["pow"]}
        return self._apply(function[symbol], [left, right], at)

    def _folded(self, name: str, numbers: Sequence[Number], at: Position) -> Number:
        """Returns what an operator or a function makes of numbers."""
        try:
            value = value_of(name, [number.value for number in numbers])
        except ZeroDivisionError:
            raise self._error(
                "division of a number by zero", at, "inf, -inf and nan are numbers"
            ) from None
        except OverflowError:
            raise self._error(
                "the result does not fit in f64", at, "inf and -inf are numbers"
            ) from None
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise self._error(
                "the result of numbers does not fit in 64 bits", at,
                "write one of them as a float, as in 2.0",
            )  # fmt: skip
        return Number(value, at)

    def _apply(self, function: Function, values: list[Value], at: Position) -> Value:
        numbers = [value for value in values if isinstance(value, Number)]
        if len(numbers) == len(values) and has_value(function.name):
            return self._folded(function.name, numbers, at)
        least = f32 if function.domain is Domain.FLOAT else i32
        type = self._common(*values, least=least)
        if function.name == "pow" and not is_float(type):
            exponent = values[1]
            if isinstance(exponent, Number) and exponent.value < 0:
                type = f32
        operands = [self.convert(value, type, at) for value in values]
        upstream = function.float_op if is_float(type) else function.int_op
        if upstream is None:
            if not is_float(type) and function.domain is Domain.FLOAT:
                raise AssertionError(function.name)
            return Typed(self._add(elem.ApplyOp(function.name, operands), at), type)
        return Typed(self._add(_UPSTREAM[upstream](*operands), at), type)

    def _call(self, expr: Call) -> Value:
        arguments, at = expr.arguments, expr.at
        if expr.name in REDUCTIONS:
            return self._reduction(expr)
        match expr.name:
            case "len":
                label = arguments[0]
                assert isinstance(label, Name)
                return Typed(self._add(dt.SizeOp(label.name), at), i32)
            case "size":
                size = self.symbols.size_of(expr)
                assert size is not None
                label = self.symbols.sizes.label_of(size)
                return Typed(self._add(dt.SizeOp(label), at), i32)
            case name if name in BOUNDARIES:
                return self._guarded(expr)
            case "cast":
                type = arguments[1]
                assert isinstance(type, Name)
                element = ELEMENT_TYPES[type.name]
                return Typed(self.convert(self.emit(arguments[0]), element, at), element)
            case "reshape":
                return self.emit(arguments[0])
            case "where":
                condition, first, second = (self.emit(a) for a in arguments)
                type = self._common(first, second)
                chosen = arith.SelectOp(
                    self.convert(condition, i1, at),
                    self.convert(first, type, at),
                    self.convert(second, type, at),
                )
                return Typed(self._add(chosen, at), type)
            case _:
                values = [self.emit(argument) for argument in arguments]
                return self._apply(FUNCTIONS[expr.name], values, at)

    def _reduction(self, expr: Call) -> Value:
        terms, names, conditions = split_reduction(expr)
        if conditions and expr.name in _EXTREMES:
            return self._first_extreme(expr)
        labels = [name.name for name in names]
        block = Block()
        inner = ExpressionEmitter(self.symbols, self.elements, block)
        operands = [inner.emit(term) for term in terms]
        if expr.name == "rdot":
            return self._dot(expr, inner, operands, labels, conditions)
        kind, at = _KINDS[expr.name], expr.at
        if kind in (ReductionKind.AND, ReductionKind.OR):
            type: Attribute = i1
        else:
            least = f32 if expr.name == "rmean" else i32
            type = inner._common(operands[0], least=least)
        value = inner.convert(operands[0], type, at)
        if conditions:
            neutral = identity(kind, type)
            (value,) = inner.where_data(conditions, labels, [value], neutral, at)
        block.add_op(dt.YieldOp(value))
        result = i64 if kind.is_arg else type
        # What combines truth values is one label at a time like the rest.
        op = dt.ReduceOp(kind, labels, result, Region(block))
        self._restrict(op, conditions)
        reduced = self._add(op, at)
        if expr.name != "rmean":
            return Typed(reduced, result)
        if conditions:
            points = Call("rsum", (Number(1.0, at), *names, *conditions), at)
            count = self.convert(self.emit(points), type, at)
            return Typed(self._add(arith.DivfOp(reduced, count), at), type)
        count: SSAValue | None = None
        for label in labels:
            size = Typed(self._add(dt.SizeOp(label), at), i32)
            factor = self.convert(size, type, at)
            count = factor if count is None else self._add(arith.MulfOp(count, factor), at)
        assert count is not None
        return Typed(self._add(arith.DivfOp(reduced, count), at), type)

    def _first_extreme(self, expr: Call) -> Value:
        """Emits the place of the first extreme element of a domain, -1 for an empty one."""
        first, count = _least_place(expr)
        found, places = (self.convert(self.emit(e), i64, expr.at) for e in (first, count))
        below = self._add(arith.CmpiOp(found, places, "slt"), expr.at)
        none = self._add(constant_op(IntegerAttr(-1, i64)), expr.at)
        return Typed(self._add(arith.SelectOp(below, found, none), expr.at), i64)

    def where_data(
        self,
        conditions: list[Expr],
        labels: list[str],
        values: list[SSAValue],
        neutral: FloatAttr | IntegerAttr,
        at: Position,
    ) -> list[SSAValue]:
        """Emits the neutral element in place of values where a condition on data is false.

        Args:
            conditions: the conditions of a reduction.
            labels: the labels that it reduces.
            values: what it reduces.
            neutral: the neutral element.
            at: its place.
        """
        truths = [
            self.convert(self.emit(condition), i1, condition.at)
            for condition in conditions
            if self.symbols.constraints(condition, labels) is None
        ]
        if not truths:
            return values
        holds = truths[0]
        for truth in truths[1:]:
            holds = self._add(arith.AndIOp(holds, truth), at)
        other = self._add(constant_op(neutral), at)
        return [self._add(arith.SelectOp(holds, value, other), at) for value in values]

    def _restrict(self, op: dt.ReduceOp, conditions: list[Expr]) -> None:
        """Gives a reduction the domain of its affine conditions."""
        if not conditions:
            return
        forms = [
            form
            for condition in conditions
            for form in self.symbols.constraints(condition, op.label_names) or ()
        ]
        labels = list(dict.fromkeys(label for form in forms for label in form.dims))
        sizes: list[str] = []
        values: dict[str, SSAValue] = {}
        results: list[AffineExpr] = []
        for form in forms:
            own = [self.symbols.sizes.label_of(size) for size in form.sizes]
            sizes += [label for label in own if label not in sizes]
            dims = [dimension(labels.index(label)) for label in form.dims]
            for value in form.values:
                # What is written alike is one value.
                shown = print_expression(value)
                if shown not in values:
                    values[shown] = self.convert(self.emit(value), i64, value.at)
                dims.append(dimension(len(labels) + [*values].index(shown)))
            symbols = [symbol(sizes.index(label)) for label in own]
            results.append(collected(substitute(form.expr, dims, symbols)))
        op.set_domain(results, labels, [*values.values()], sizes)

    def _dot(
        self,
        expr: Call,
        inner: ExpressionEmitter,
        operands: list[Value],
        labels: list[str],
        conditions: list[Expr],
    ) -> Value:
        at = expr.at
        elements = {inner.element_of(v) for v in operands if isinstance(v, Typed)}
        signed = elements.isdisjoint({i1, ELEMENT_TYPES["u8"]})
        if len(elements) == 1 and all(isinstance(v, Typed) for v in operands) and signed:
            element = elements.pop()
        else:
            element = inner._common(*operands, least=i32)
            narrow = [e for e in elements if e != compute_type(e)]
            mixed = len(elements) == 2 and bool(narrow) and is_float(element)
            if mixed and not self.symbols.narrows_products():
                shown = " and ".join(sorted(type_name(e) for e in elements))
                self.symbols.warnings.append(
                    Note(
                        f"the product of {shown} is computed in {type_name(element)}; "
                        "precision(narrow), operands of one declared type, or a cast would allow "
                        "a narrow product",
                        self.symbols.location(at),
                    )
                )
        factors = [inner.convert(v, element, at) for v in operands]
        if conditions:
            zero = identity(ReductionKind.ADD, factors[0].type)
            factors = inner.where_data(conditions, labels, factors, zero, at)
        inner.block.add_op(dt.YieldOp(*factors))
        result = compute_type(element)
        op = dt.ReduceOp(ReductionKind.DOT, labels, result, Region(inner.block))
        self._restrict(op, conditions)
        return Typed(self._add(op, at), result)


def _in_64_bits(index: Expr) -> Expr:
    """Returns an affine index that is computed in i64: outside, it may be beyond 32 bits."""
    match index:
        case Number():
            return index
        case Infix() | Prefix():
            return with_parts(index, map(_in_64_bits, parts_of(index)))
        case _:
            return Call("cast", (index, Name("i64", index.at)), index.at)


def _least_place(expr: Call) -> tuple[Expr, Expr]:
    """Returns the least place of a domain where an element is the extreme, and the places in all.

    NaN is the extreme where there is one. The least place of an empty domain is behind all others.
    """
    at = expr.at
    (value,), labels, conditions = split_reduction(expr)
    domain = *labels, *conditions

    def call(name: str, *arguments: Expr) -> Expr:
        return Call(name, arguments, at)

    def wide(index: Expr) -> Expr:
        return call("cast", index, Name("i64", at))

    place, places = wide(labels[0]), wide(call("len", labels[0]))
    for label in labels[1:]:
        size = wide(call("len", label))
        place = Infix("+", Infix("*", place, size, at), wide(label), at)
        places = Infix("*", places, size, at)
    extreme = call(_EXTREMES[expr.name], value, *domain)
    same = Infix("==", value, extreme, at)
    is_extreme = Infix("or", same, Infix("!=", value, value, at), at)
    return call("rmin", call("where", is_extreme, place, places), *domain), places
