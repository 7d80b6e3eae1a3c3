"""Values of expressions, their types, and conversions between them.

The rules of types: a value is *computed* in f64, f32, i64, i32 or bool; operands are widened to
that, mixed ones to the wider. A number in the source takes the type of what it meets. A scalar of
no declared type is like a number that is a float: an f32, or an f64 where it meets one.
"""

from __future__ import annotations

import math as pymath
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from dt_mlir.diagnostics import CompileError
from dt_mlir.element_types import (
    ELEMENT_TYPES,
    compute_type,
    is_bool,
    is_float,
    promote,
    type_name,
    value_type,
)
from dt_mlir.frontend.symbols import Symbols
from dt_mlir.frontend.syntax import Number, Position


@dataclass(frozen=True)
class Typed:
    """A value and its element type (which, unlike the SSA type, knows unsigned from signed)."""

    ssa: SSAValue
    element: Attribute
    weak: str | None = None
    """The scalar of no declared type that it is, if it is one."""


Value = Typed | Number
"""A value of an expression; a number has no type yet."""


class ValueEmitter:
    """Emits constants and conversions at the end of a block.

    Args:
        symbols: the checked program.
        elements: the element types of the inputs and of the functions emitted so far.
        block: where operations go.
    """

    def __init__(self, symbols: Symbols, elements: dict[str, Attribute], block: Block) -> None:
        self.symbols = symbols
        self.elements = elements
        self.block = block

    def element_of(self, value: Value) -> Attribute:
        """The element type of a value; of a number the one that it has alone."""
        if isinstance(value, Number):
            if isinstance(value.value, float):
                return f32
            return i32 if -(2**31) <= value.value < 2**31 else i64
        return value.element if value.weak is None else f32

    def computed(self, value: Value) -> Attribute:
        """The type that a value is computed in."""
        return compute_type(self.element_of(value))

    def convert(self, value: Value, element: Attribute, at: Position) -> SSAValue:
        """A value as one of an element type; narrowing rounds, to bool means "is not zero"."""
        if isinstance(value, Number):
            return self._constant(value, element, at)
        if value.weak is not None and element == f64:
            self.symbols.wide_scalars.add(value.weak)
        elif value.weak is not None and value.element == f64:
            # Elsewhere it is an f32, whatever another function takes it in.
            value = Typed(self._cast(value, f32, at), f32)
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
            return self._add(constant_op(constant), at)
        assert isinstance(type, IntegerType)
        if is_bool(type):
            # NaN is not zero.
            return self._add(constant_op(IntegerAttr(int(value != 0), type)), at)
        if isinstance(value, float):
            if not pymath.isfinite(value):
                raise self._not_finite(value, element, at)
            value = int(value)
        width = type.width.data
        value = (value + 2 ** (width - 1)) % 2**width - 2 ** (width - 1) if width > 1 else value
        return self._add(constant_op(IntegerAttr(value, type)), at)

    def _error(self, message: str, at: Position, hint: str | None = None) -> CompileError:
        return CompileError(message, self.symbols.location(at), hint)

    def _not_finite(self, value: float, element: Attribute, at: Position) -> CompileError:
        return self._error(
            f"{value} is not in the range of {type_name(element)}", at,
            "keep it a float, or choose a number in its place",
        )

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
            op = value.ssa.owner
            if isinstance(op, arith.ConstantOp) and isinstance(op.value, FloatAttr):
                number = op.value.value.data
                if not pymath.isfinite(number):
                    raise self._not_finite(number, element, at)
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


def constant_op(value: FloatAttr | IntegerAttr) -> Operation:
    return arith.ConstantOp.create(result_types=[value.type], properties={"value": value})


def _integer(type: Attribute) -> IntegerType:
    assert isinstance(type, IntegerType)
    return type


def _floating(type: Attribute) -> AnyFloat:
    assert isinstance(type, AnyFloat)
    return type
