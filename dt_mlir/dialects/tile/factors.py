"""Scalar arguments as factors inside and outside of an extreme."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import AnyFloat, AnyFloatConstr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException


@irdl_op_definition
class FactorsOp(IRDLOperation):
    """Two factors that have a scalar as their product: one for before an extreme, one for after.

    Where the scalar is positive and of moderate size (`dt_mlir.element_types.MODERATE`), they are 1
    and the scalar: to multiply by it behind a maximum or a minimum gives what it gives before, as
    rounding keeps the order. Anywhere else they are the scalar and 1. Of an argument of the kernel,
    the host decides which it is for a launch, so that a factor of 1 costs nothing. Of what is made
    of numbers and sizes it is known (`dt_mlir.analysis.magnitudes`), and of other scalars they are
    the scalar and 1:

    `%before, %after = tile.factors %scale : f16 to f32`
    """

    name = "tile.factors"

    T: ClassVar = VarConstraint("T", AnyFloatConstr)

    scalar = operand_def(AnyFloatConstr)
    """The scalar."""
    before = result_def(T)
    """1, or the scalar."""
    after = result_def(T)
    """The scalar, or 1."""

    assembly_format = "$scalar attr-dict `:` type($scalar) `to` type($before)"
    traits = traits_def(Pure())

    def __init__(self, scalar: SSAValue, type: Attribute) -> None:
        super().__init__(operands=[scalar], result_types=[type, type])

    def verify_(self) -> None:
        given, type = self.scalar.type, self.before.type
        assert isinstance(given, AnyFloat)
        assert isinstance(type, AnyFloat)
        if given != type and given.bitwidth >= type.bitwidth:
            raise VerifyException(f"factors of {type} are not those of a scalar of {given}")
