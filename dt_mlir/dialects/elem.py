"""The `elem` dialect: what scalar code needs and `arith` and `math` lack, at every level.

It holds the activation functions as single operations (so that they survive as such down to the
emitter, and come back as one word when a program is printed as DT) and the kinds of reduction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import auto

from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    f32,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Dialect, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from dt_mlir.callables import find_function
from dt_mlir.dialects.identifiers import Identifier
from dt_mlir.element_types import is_bool, is_float, is_integer
from dt_mlir.elementwise import OPERATORS, Domain


class ReductionKind(StrEnum):
    """The combination of two elements in a reduction; operations hold it as `op.kind.data`."""

    ADD = auto()
    MUL = auto()
    MAXIMUM = auto()
    MINIMUM = auto()
    AND = auto()
    OR = auto()
    ARGMAX = auto()
    ARGMIN = auto()
    DOT = auto()

    @property
    def needs_elements(self) -> bool:
        """True if a reduction over nothing has no value."""
        return self in (
            ReductionKind.MAXIMUM,
            ReductionKind.MINIMUM,
            ReductionKind.ARGMAX,
            ReductionKind.ARGMIN,
        )

    @property
    def is_arg(self) -> bool:
        """True if the result is an index."""
        return self in (ReductionKind.ARGMAX, ReductionKind.ARGMIN)


@irdl_attr_definition
class ReductionKindAttr(EnumAttribute[ReductionKind], SpacedOpaqueSyntaxAttribute):
    """The combination of a reduction: `add`, `mul`, `maximum`, `minimum` (both propagate NaN),
    `and`, `or`, `argmax`, `argmin` (the first of equals), `dot` (the sum of the products of two
    operands)."""

    name = "elem.reduction"


@irdl_op_definition
class ApplyOp(IRDLOperation):
    """Applies a named elementwise function to scalars of one type.

    The names are those of the language reference's table that upstream dialects have no operation
    for (`sigmoid`, `gelu`, `clamp`, …).
    """

    name = "elem.apply"

    function = prop_def(Identifier)
    """The function's name."""
    arguments = var_operand_def()
    """Its operands, of one type."""
    result = result_def()
    """Its value, of the operands' type."""

    assembly_format = (
        "$function `(` $arguments `)` attr-dict `:` functional-type($arguments, $result)"
    )
    traits = traits_def(Pure())

    def __init__(self, function: str, arguments: Sequence[SSAValue]) -> None:
        super().__init__(
            operands=[arguments],
            properties={"function": StringAttr(function)},
            result_types=[arguments[0].type],
        )

    def verify_(self) -> None:
        name = self.function.data
        row = OPERATORS.get(name) or find_function(name)
        if row is None:
            raise VerifyException(f"'{name}' is not an elementwise function")
        if len(self.arguments) != row.arity:
            raise VerifyException(
                f"'{name}' takes {row.arity} operands but has {len(self.arguments)}"
            )
        types: set[Attribute] = {value.type for value in (*self.arguments, self.result)}
        if len(types) != 1:
            raise VerifyException(f"'{name}' needs operands and a result of one type")
        type = types.pop()
        if row.domain is Domain.FLOAT and not is_float(type):
            raise VerifyException(f"'{name}' is computed in floating point, not in {type}")
        if not (is_float(type) or is_integer(type)) or is_bool(type):
            raise VerifyException(f"'{name}' is not defined on {type}")
        if (row.float_op if is_float(type) else row.int_op) is not None:
            raise VerifyException(f"'{name}' on {type} has an operation of its own upstream")

    @property
    def signature(self) -> FunctionType:
        """The types of the operands and of the result."""
        return FunctionType.from_lists([a.type for a in self.arguments], [self.result.type])


MODERATE = 25
"""The power of two beyond which `elem.moderation` makes numbers smaller."""


@irdl_op_definition
class ModerationOp(IRDLOperation):
    """Returns a power of two that makes a number moderate: 1 up to a magnitude of 2^26.

    Beyond, it is 2^25 over the largest power of two that the magnitude holds; an infinity or a NaN
    counts as 2^128. It follows from the exponent's bits, as quotients take long. Exponents that are
    computed of numbers so large have no digit of ones left.
    """

    name = "elem.moderation"

    value = operand_def(f32)
    """The number."""
    result = result_def(f32)
    """The factor."""

    assembly_format = "$value attr-dict"
    traits = traits_def(Pure())

    def __init__(self, value: SSAValue) -> None:
        super().__init__(operands=[value], result_types=[f32])


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


Elem = Dialect("elem", [ApplyOp, ModerationOp], [ReductionKindAttr])
