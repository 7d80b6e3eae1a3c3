"""Identities and combinations of reductions, in scalar operations."""

from __future__ import annotations

import math

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, SSAValue

from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.element_types import is_float


def identity(kind: ReductionKind, type: Attribute) -> FloatAttr | IntegerAttr:
    """Returns the identity of a reduction of a kind in a type."""
    if isinstance(type, AnyFloat):
        value = {
            ReductionKind.MUL: 1.0,
            ReductionKind.MAXIMUM: -math.inf,
            ReductionKind.ARGMAX: -math.inf,
            ReductionKind.MINIMUM: math.inf,
            ReductionKind.ARGMIN: math.inf,
        }.get(kind, 0.0)
        return FloatAttr(value, type)
    assert isinstance(type, IntegerType)
    width = type.width.data
    least, most = -(2 ** (width - 1)), 2 ** (width - 1) - 1
    number = {
        ReductionKind.MUL: 1,
        ReductionKind.AND: -1,
        ReductionKind.MAXIMUM: least,
        ReductionKind.ARGMAX: least,
        ReductionKind.MINIMUM: most,
        ReductionKind.ARGMIN: most,
    }.get(kind, 0)
    return IntegerAttr(number, type)


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
