"""The operations of scalar code by the units of a multiprocessor that carry them out."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FixedBitwidthType,
    Float64Type,
    FloatAttr,
    IntegerAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue

from dt_mlir.analysis.dot_plans import dot_operand_bits
from dt_mlir.analysis.magnitudes import has_reciprocal
from dt_mlir.dialects import elem


class Effort(NamedTuple):
    """The instructions that an operation takes for one element."""

    arithmetic: float
    """Those on the units for additions and multiplications."""
    special: float = 0.0
    """Those on the units for exponentials, roots and reciprocals."""


NOTHING = Effort(0.0)
_ONE = Effort(1.0)
_INTEGER_QUOTIENT = Effort(20.0)

_EFFORTS = {
    "arith.constant": NOTHING,
    "arith.divf": Effort(2.0, 1.0),
    "arith.divsi": _INTEGER_QUOTIENT,
    "arith.floordivsi": _INTEGER_QUOTIENT,
    "arith.remsi": _INTEGER_QUOTIENT,
    "arith.extf": Effort(0.5),
    "arith.truncf": Effort(0.5),
    "arith.index_cast": NOTHING,
    "math.exp": Effort(1.0, 1.0),
    "math.exp2": Effort(0.0, 1.0),
    "math.expm1": Effort(10.0, 1.0),
    "math.log": Effort(1.0, 1.0),
    "math.log2": Effort(0.0, 1.0),
    "math.log10": Effort(1.0, 1.0),
    "math.log1p": Effort(8.0, 2.0),
    "math.sqrt": Effort(1.0, 1.0),
    "math.rsqrt": Effort(0.0, 1.0),
    "math.sin": Effort(2.0, 1.0),
    "math.cos": Effort(2.0, 1.0),
    "math.tan": Effort(5.0, 3.0),
    "math.tanh": Effort(12.0, 2.0),
    "math.erf": Effort(20.0, 1.0),
    "math.powf": Effort(3.0, 2.0),
    "math.ipowi": Effort(90.0),
}
_NAMED = {
    "sigmoid": Effort(3.0, 2.0),
    "silu": Effort(4.0, 2.0),
    "gelu": Effort(23.0, 1.0),
    "softplus": Effort(6.0, 2.0),
    "clamp": Effort(2.0),
    "sign": Effort(2.0),
    "floordiv": _INTEGER_QUOTIENT,
    "mod": _INTEGER_QUOTIENT,
}


def effort_of(op: Operation) -> Effort:
    """Returns what an operation takes for one element; nothing for what is not scalar code."""
    if isinstance(op, elem.ApplyOp):
        # A function of a plug-in is expanded later; it is taken for a short one.
        return _NAMED.get(op.function.data, Effort(5.0, 1.0))
    if isinstance(op, arith.DivfOp) and has_reciprocal(op.rhs):
        return _ONE
    exponent = _constant(op.operands[1]) if op.name == "math.powf" else None
    if exponent in (1, 2, 3, 4):
        # Small whole powers are multiplied out.
        return Effort(exponent // 2)
    if op.name in _EFFORTS:
        return _EFFORTS[op.name]
    if op.name.startswith(("arith.", "math.")):
        wide = bool(op.results) and isinstance(op.results[0].type, Float64Type)
        return Effort(2.0) if wide else _ONE
    return NOTHING


def _constant(value: SSAValue) -> float | None:
    """Returns the number that a value is, if it is a constant."""
    if not isinstance(value.owner, arith.ConstantOp):
        return None
    number = value.owner.value
    return float(number.value.data) if isinstance(number, FloatAttr | IntegerAttr) else None


def bits_of(type: Attribute) -> int:
    """Returns the width of an element in memory."""
    return max(type.size * 8, 8) if isinstance(type, FixedBitwidthType) else 64


def kind_of(type: Attribute, precision: str) -> str:
    """Returns the name of a type of factors in a device's `product_rates`.

    Args:
        type: the type of the factors.
        precision: the precision of the kernel's products, as `loop.kernel` has it.
    """
    bits = dot_operand_bits(type)
    if not isinstance(type, AnyFloat):
        return f"i{bits}"
    return "tf32" if bits == 32 and precision in ("tf32", "tf32x3") else f"f{bits}"
