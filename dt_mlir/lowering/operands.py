"""What Triton's dot multiplies."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    IntegerType,
)
from xdsl.ir import Attribute

_FLOATS = (Float16Type, BFloat16Type, Float32Type, Float8E4M3FNType, Float8E5M2Type)


def is_dottable(type: Attribute) -> bool:
    """Whether Triton's dot multiplies operands of an element type."""
    return isinstance(type, _FLOATS) or type == IntegerType(8)


def dot_operand_bits(type: Attribute) -> int:
    """The width of an element type."""
    if isinstance(type, AnyFloat):
        return type.bitwidth
    assert isinstance(type, IntegerType)
    return type.width.data
