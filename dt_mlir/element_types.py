"""The element types of DT: their names, what they are computed in, and how they mix."""

from __future__ import annotations

from typing import get_args

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute

ELEMENT_TYPES: dict[str, Attribute] = {
    "f64": Float64Type(),
    "f32": Float32Type(),
    "f16": Float16Type(),
    "bf16": BFloat16Type(),
    "f8e4m3": Float8E4M3FNType(),
    "f8e5m2": Float8E5M2Type(),
    "i64": IntegerType(64),
    "i32": IntegerType(32),
    "i16": IntegerType(16),
    "i8": IntegerType(8),
    "u8": IntegerType(8, Signedness.UNSIGNED),
    "bool": IntegerType(1),
}
"""DT's element types by name, as they lie in memory."""

TORCH_TYPES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16",
    "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "i64": "int64", "i32": "int32",
    "i16": "int16", "i8": "int8", "u8": "uint8", "bool": "bool",
}  # fmt: skip
"""PyTorch's names of the element types."""

_NAMES = {type: name for name, type in ELEMENT_TYPES.items()}


MODERATE = (2.0**-14, 2.0**15)
"""The ends of a range whose numbers are normal and finite in each type of 16 bits and more."""
_FLOATS = frozenset[type](get_args(AnyFloat))


def type_name(type: Attribute) -> str:
    """DT's name of an element type."""
    return _NAMES[type]


def is_element_type(type: Attribute) -> bool:
    """Returns whether memory may hold elements of a type."""
    return type in _NAMES


def value_type(element: Attribute) -> Attribute:
    """The type of a value read from memory of an element type: signless, as `arith` wants it."""
    if isinstance(element, IntegerType):
        return IntegerType(element.width.data)
    return element


def is_float(type: Attribute) -> bool:
    """Returns whether a scalar type is a floating-point type."""
    return type.__class__ in _FLOATS


def is_bool(type: Attribute) -> bool:
    """Returns whether a scalar type is the truth values' type."""
    return type == i1


def is_moderate(value: float) -> bool:
    """Returns whether a number is positive and of moderate size."""
    return MODERATE[0] <= value <= MODERATE[1]


def is_integer(type: Attribute) -> bool:
    """Returns whether a scalar type is an integer type; truth values do not count."""
    return isinstance(type, IntegerType | IndexType) and type != i1


def compute_type(type: Attribute) -> Attribute:
    """Returns the type that values of an element type are computed in: f64, f32, i64, i32, bool."""
    if is_float(type):
        return f64 if type == f64 else f32
    if is_bool(type):
        return i1
    assert isinstance(type, IntegerType)
    return i64 if type.width.data == 64 else i32


def integer_range(type: IntegerType) -> tuple[int, int]:
    """The least and the largest number of an integer type."""
    width = type.width.data
    if type.signedness.data is Signedness.UNSIGNED:
        return 0, 2**width - 1
    return -(2 ** (width - 1)), 2 ** (width - 1) - 1


def promote(a: Attribute, b: Attribute) -> Attribute:
    """Returns the wider of two computed types; a float is wider than any integer."""
    if a is b:
        return a
    order = (i1, i32, i64, f32, f64)
    return max(a, b, key=order.index)
