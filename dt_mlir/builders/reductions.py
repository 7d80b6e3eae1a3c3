"""Identities and combinations of reductions, in scalar operations."""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute, SSAValue

from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.element_types import is_float

Binary = arith.FloatingPointLikeBinaryOperation | arith.SignlessIntegerBinaryOperation


def combination(kind: ReductionKind, element: Attribute) -> type[Binary]:
    """The operation on two scalars of a type that combines them as a reduction of a kind does."""
    floats: dict[ReductionKind, type[Binary]] = {
        ReductionKind.ADD: arith.AddfOp,
        ReductionKind.DOT: arith.AddfOp,
        ReductionKind.MUL: arith.MulfOp,
        ReductionKind.MAXIMUM: arith.MaximumfOp,
        ReductionKind.MINIMUM: arith.MinimumfOp,
    }
    integers: dict[ReductionKind, type[Binary]] = {
        ReductionKind.ADD: arith.AddiOp,
        ReductionKind.DOT: arith.AddiOp,
        ReductionKind.MUL: arith.MuliOp,
        ReductionKind.MAXIMUM: arith.MaxSIOp,
        ReductionKind.MINIMUM: arith.MinSIOp,
        ReductionKind.AND: arith.AndIOp,
        ReductionKind.OR: arith.OrIOp,
    }
    return floats[kind] if is_float(element) else integers[kind]


def combine(builder: Builder, kind: ReductionKind, a: SSAValue, b: SSAValue) -> SSAValue:
    """Combine two scalars as a reduction of a kind does."""
    return builder.insert(combination(kind, a.type)(a, b)).results[0]


def is_more_extreme(
    builder: Builder, kind: ReductionKind, new: SSAValue, old: SSAValue
) -> SSAValue:
    """Returns whether `new` replaces `old`, which came earlier: NaN does, equals do not."""
    largest = kind is ReductionKind.ARGMAX
    if not is_float(new.type):
        return builder.insert(arith.CmpiOp(new, old, "sgt" if largest else "slt")).result
    beyond = builder.insert(arith.CmpfOp(new, old, "ogt" if largest else "olt")).result
    new_nan = builder.insert(arith.CmpfOp(new, new, "une")).result
    old_number = builder.insert(arith.CmpfOp(old, old, "oeq")).result
    first_nan = builder.insert(arith.AndIOp(new_nan, old_number)).result
    return builder.insert(arith.OrIOp(beyond, first_nan)).result


def product_of(builder: Builder, a: SSAValue, b: SSAValue, type: Attribute) -> SSAValue:
    """A product of scalars, widened first."""
    cls = arith.MulfOp if is_float(type) else arith.MuliOp
    return builder.insert(cls(widened(builder, a, type), widened(builder, b, type))).results[0]


def widened(builder: Builder, value: SSAValue, type: Attribute) -> SSAValue:
    """A scalar in a type that is at least as wide."""
    if value.type == type:
        return value
    if isinstance(type, AnyFloat):
        return builder.insert(arith.ExtFOp(value, type)).result
    assert isinstance(type, IntegerType)
    return builder.insert(arith.ExtSIOp(value, type)).result
