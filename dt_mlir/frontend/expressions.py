"""Emits the scalar operations of an expression.

The rules of types: a value is *computed* in f64, f32, i64, i32 or bool; operands are widened to
that, mixed ones to the wider. A number in the source takes the type of what it meets.
"""

from __future__ import annotations

import math as pymath
import operator
from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from dt_mlir.diagnostics import CompileError, Note
from dt_mlir.dialects import dt, elem
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.identifiers import value_hint
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
from dt_mlir.frontend.analysis import REDUCTIONS, Symbols
from dt_mlir.frontend.syntax import Call, Expr, Infix, Name, Number, Position, Prefix, Read


@dataclass(frozen=True)
class Typed:
    """A value and its element type (which, unlike the SSA type, knows unsigned from signed)."""

    ssa: SSAValue
    element: Attribute


Value = Typed | Number
"""A value of an expression; a number has no type yet."""

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
_FOLD: dict[str, Callable[[float, float], int | float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}


class ExpressionEmitter:
    """Emits expressions at the end of a block.

    Args:
        symbols: the checked program.
        elements: the element types of the inputs and of the functions emitted so far.
        block: where operations go.
    """

    def __init__(self, symbols: Symbols, elements: dict[str, Attribute], block: Block) -> None:
        self.symbols = symbols
        self.elements = elements
        self.block = block

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

    def element_of(self, value: Value) -> Attribute:
        """The element type of a value; of a number the one that it has alone."""
        if isinstance(value, Number):
            if isinstance(value.value, float):
                return f32
            return i32 if -(2**31) <= value.value < 2**31 else i64
        return value.element

    def computed(self, value: Value) -> Attribute:
        """The type that a value is computed in."""
        return compute_type(self.element_of(value))

    def convert(self, value: Value, element: Attribute, at: Position) -> SSAValue:
        """A value as one of an element type; narrowing rounds, to bool means "is not zero"."""
        if isinstance(value, Number):
            return self._constant(value, element, at)
        if value.element == element:
            return value.ssa
        return self._cast(value, element, at)

    def _add(self, op: Operation, at: Position) -> SSAValue:
        op.location = self.symbols.location(at)
        self.block.add_op(op)
        return op.results[0]

    def _constant(self, number: Number, element: Attribute, at: Position) -> SSAValue:
        type = value_type(element)
        value = number.value
        if isinstance(type, AnyFloat):
            try:
                constant = FloatAttr(float(value), type)
            except OverflowError:
                raise self._error(
                    f"{value} is too large for {type_name(type)}: write inf, or compute in a wider "
                    "type with cast", at,
                ) from None
            return self._add(_constant_op(constant), at)
        assert isinstance(type, IntegerType)
        if isinstance(value, float):
            if not pymath.isfinite(value):
                raise self._error(f"{value} cannot become a {type_name(element)}", at)
            value = int(value)
        if is_bool(type):
            value = int(value != 0)
        width = type.width.data
        value = (value + 2 ** (width - 1)) % 2**width - 2 ** (width - 1) if width > 1 else value
        return self._add(_constant_op(IntegerAttr(value, type)), at)

    def _error(self, message: str, at: Position, hint: str | None = None) -> CompileError:
        return CompileError(message, self.symbols.location(at), hint)

    def _cast(self, value: Typed, element: Attribute, at: Position) -> SSAValue:
        source, target = value.element, element
        from_type, to_type = value.ssa.type, value_type(element)
        if from_type == to_type:
            return value.ssa
        if is_bool(target):
            return self._nonzero(value, at)
        if is_float(source) and is_float(target):
            return self._float_cast(value.ssa, to_type, at)
        if is_float(source):
            wide = self._float_cast(value.ssa, compute_type(source), at)
            integer = self._add(arith.FPToSIOp(wide, _integer(compute_type(target))), at)
            return self._int_cast(integer, to_type, signed=True, at=at)
        signed = not is_bool(source) and source != ELEMENT_TYPES["u8"]
        if is_float(target):
            wide = self._int_cast(value.ssa, compute_type(source), signed, at)
            if is_bool(source):
                wide = self._int_cast(value.ssa, i32, signed, at)
            result = self._add(arith.SIToFPOp(wide, _floating(compute_type(target))), at)
            return self._float_cast(result, to_type, at)
        return self._int_cast(value.ssa, to_type, signed, at)

    def _float_cast(self, value: SSAValue, type: Attribute, at: Position) -> SSAValue:
        if value.type == type:
            return value
        assert isinstance(value.type, AnyFloat)
        assert isinstance(type, AnyFloat)
        if {value.type.bitwidth, type.bitwidth} == {8, 64}:
            # No target converts between these at once.
            return self._float_cast(self._float_cast(value, f32, at), type, at)
        if value.type.bitwidth < type.bitwidth:
            return self._add(arith.ExtFOp(value, type), at)
        if value.type.bitwidth == type.bitwidth:
            # f16 and bf16, or the two f8 types: neither holds the other.
            value = self._add(arith.ExtFOp(value, f32), at)
        return self._add(arith.TruncFOp(value, type), at)

    def _int_cast(self, value: SSAValue, type: Attribute, signed: bool, at: Position) -> SSAValue:
        assert isinstance(value.type, IntegerType)
        assert isinstance(type, IntegerType)
        have, want = value.type.width.data, type.width.data
        if have == want:
            return value
        if have > want:
            return self._add(arith.TruncIOp(value, type), at)
        extend = arith.ExtSIOp if signed else arith.ExtUIOp
        return self._add(extend(value, type), at)

    def _nonzero(self, value: Typed, at: Position) -> SSAValue:
        type = compute_type(value.element)
        wide = self._cast(value, type, at)
        zero = self._constant(Number(0), type, at)
        if is_float(type):
            return self._add(arith.CmpfOp(wide, zero, "une"), at)
        return self._add(arith.CmpiOp(wide, zero, "ne"), at)

    def _common(self, *values: Value, least: Attribute = i1) -> Attribute:
        """The type in which values meet; numbers take that of the others."""
        typed = [self.computed(v) for v in values if isinstance(v, Typed)]
        type = least
        for other in typed:
            type = promote(type, other)
        for number in values:
            if isinstance(number, Number):
                own = self.element_of(number)
                wins = is_float(own) and not is_float(type)
                if not typed or wins or is_bool(type) or own == i64:
                    type = promote(type, own)
        return type

    def _name(self, expr: Name) -> Value:
        name, at = expr.name, expr.at
        if name not in self.symbols.declarations:
            return Number({"inf": pymath.inf, "nan": pymath.nan, "pi": pymath.pi}[name], at)
        if self.symbols.is_label(name):
            return Typed(self._add(dt.IndexOp(name), at), i32)
        return self._read(name, (), at)

    def _read(self, name: str, indices: tuple[Expr, ...], at: Position) -> Value:
        places: list[str | int] = []
        for index in indices:
            if isinstance(index, Number):
                places.append(int(index.value))
                continue
            assert isinstance(index, Name)
            places.append(index.name)
        element = self.elements[name]
        op = dt.ReadOp(name, places, value_type(element))
        result = self._add(op, at)
        result.name_hint = value_hint(name)
        return Typed(result, element)

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
        if isinstance(left, Number) and isinstance(right, Number) and symbol in _FOLD:
            return self._folded(symbol, left.value, right.value, at)
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

    def _folded(
        self, symbol: str, left: int | float, right: int | float, at: Position
    ) -> Number:
        """Returns the value of an operator on two numbers."""
        try:
            value = _FOLD[symbol](left, right)
        except ZeroDivisionError:
            raise self._error("division of a number by zero", at) from None
        except OverflowError:
            raise self._error("the result does not fit in f64", at) from None
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise self._error(
                "the result of numbers does not fit in 64 bits", at,
                "write one of them as a float, as in 2.0",
            )  # fmt: skip
        return Number(value, at)

    def _apply(self, function: Function, values: list[Value], at: Position) -> Value:
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
        values = 2 if expr.name == "rdot" else 1
        labels = [a.name for a in expr.arguments[values:] if isinstance(a, Name)]
        block = Block()
        inner = ExpressionEmitter(self.symbols, self.elements, block)
        operands = [inner.emit(argument) for argument in expr.arguments[:values]]
        if expr.name == "rdot":
            return self._dot(expr, inner, operands, labels)
        kind, at = _KINDS[expr.name], expr.at
        if kind in (ReductionKind.AND, ReductionKind.OR):
            type: Attribute = i1
        else:
            least = f32 if expr.name == "rmean" else i32
            type = inner._common(operands[0], least=least)
        value = inner.convert(operands[0], type, at)
        block.add_op(dt.YieldOp(value))
        result = i64 if kind.is_arg else type
        # What combines truth values is one label at a time like the rest.
        reduced = self._add(dt.ReduceOp(kind, labels, result, Region(block)), at)
        if expr.name != "rmean":
            return Typed(reduced, result)
        count: SSAValue | None = None
        for label in labels:
            size = Typed(self._add(dt.SizeOp(label), at), i32)
            factor = self.convert(size, type, at)
            count = factor if count is None else self._add(arith.MulfOp(count, factor), at)
        assert count is not None
        return Typed(self._add(arith.DivfOp(reduced, count), at), type)

    def _dot(
        self, expr: Call, inner: ExpressionEmitter, operands: list[Value], labels: list[str]
    ) -> Value:
        at = expr.at
        elements = {inner.element_of(v) for v in operands if isinstance(v, Typed)}
        signed = elements.isdisjoint({i1, ELEMENT_TYPES["u8"]})
        if len(elements) == 1 and all(isinstance(v, Typed) for v in operands) and signed:
            element = elements.pop()
        else:
            element = inner._common(*operands, least=i32)
            narrow = [e for e in elements if e != compute_type(e)]
            if len(elements) == 2 and narrow and is_float(element):
                shown = " and ".join(sorted(type_name(e) for e in elements))
                self.symbols.warnings.append(
                    Note(
                        f"the product of {shown} is computed in {type_name(element)}; operands "
                        "of one declared type, or a cast, would allow a narrow product",
                        self.symbols.location(at),
                    )
                )
        a, b = (inner.convert(v, element, at) for v in operands)
        inner.block.add_op(dt.YieldOp(a, b))
        result = compute_type(element)
        op = dt.ReduceOp(ReductionKind.DOT, labels, result, Region(inner.block))
        return Typed(self._add(op, at), result)


def _constant_op(value: FloatAttr | IntegerAttr) -> Operation:
    return arith.ConstantOp.create(result_types=[value.type], properties={"value": value})


def _integer(type: Attribute) -> IntegerType:
    assert isinstance(type, IntegerType)
    return type


def _floating(type: Attribute) -> AnyFloat:
    assert isinstance(type, AnyFloat)
    return type
