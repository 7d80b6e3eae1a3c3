"""Runs scalar operations: elements as an arithmetic has them, indices as numbers."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, UnrealizedConversionCastOp
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    impl,
    register_impls,
)
from xdsl.ir import Attribute, Operation, SSAValue

from dt_mlir.builders.scalars import expansion_of
from dt_mlir.dialects import elem
from dt_mlir.dialects.tile.types import element_of
from dt_mlir.elementwise import APPLICABLE
from dt_mlir.interpreters.arithmetic import Arithmetic
from dt_mlir.interpreters.bounded_arithmetic import comparison
from dt_mlir.interpreters.memory import ExecutionError

_INDEX: dict[type[Operation], Callable[..., Any]] = {
    arith.AddiOp: np.add, arith.SubiOp: np.subtract, arith.MuliOp: np.multiply,
    arith.DivSIOp: lambda a, b: (a - np.fmod(a, b)) // b, arith.FloorDivSIOp: np.floor_divide,
    arith.CeilDivSIOp: lambda a, b: -(-a // b), arith.RemSIOp: np.fmod,
    arith.MinSIOp: np.minimum, arith.MaxSIOp: np.maximum,
}  # fmt: skip
"""The operations on indices; divisors are positive."""


def is_index(type: Attribute) -> bool:
    """Returns whether values of a type are indices, or tiles of them."""
    return isinstance(element_of(type), IndexType)


class _ScalarFunctions(InterpreterFunctions):
    """Implementations of `arith`, `math` and `elem` on arrays of elements."""

    def __init__(self, arithmetic: Arithmetic) -> None:
        self.arithmetic = arithmetic
        self.expanding: list[str] = []
        """The functions whose expansions are run, each inside the one before."""

    def run(self, interpreter: Interpreter, op: Operation, args: PythonValues) -> PythonValues:
        """Runs one operation."""
        if isinstance(op, arith.ConstantOp):
            if is_index(op.result.type):
                assert isinstance(op.value, IntegerAttr)
                return (op.value.value.data,)
            assert isinstance(op.value, FloatAttr | IntegerAttr)
            return (self.arithmetic.constant(op.value),)
        if isinstance(op, UnrealizedConversionCastOp):
            return args
        if isinstance(op, elem.ApplyOp) and APPLICABLE[op.function.data].expansion is not None:
            return (self._expanded(interpreter, op, args),)
        if not any(is_index(value.type) for value in (*op.operands, *op.results)):
            return (self._known(op, lambda: self.arithmetic.apply(op, args)),)
        return (self._known(op, lambda: self._index(op, args)),)

    def _expanded(self, interpreter: Interpreter, op: elem.ApplyOp, args: PythonValues) -> Any:
        """Runs a function of another package as what it is in terms of others."""
        block, result = expansion_of(op, self.expanding)
        values: dict[SSAValue, Any] = dict(zip(block.args, args))
        self.expanding.append(op.function.data)
        try:
            for inner in block.ops:
                known = tuple(values[operand] for operand in inner.operands)
                values.update(zip(inner.results, self.run(interpreter, inner, known)))
        finally:
            self.expanding.pop()
        return values[result]

    @staticmethod
    def _known(op: Operation, function: Callable[[], Any]) -> Any:
        try:
            return function()
        except KeyError:
            raise ExecutionError(f"the interpreters do not know '{op.name}'", op) from None

    def _index(self, op: Operation, args: PythonValues) -> Any:
        match op:
            case arith.IndexCastOp():
                if is_index(op.result.type):
                    return self.arithmetic.integers(args[0])
                return self.arithmetic.from_array(np.asarray(args[0]), op.result.type)
            case arith.CmpiOp():
                result = comparison(op)(*map(np.asarray, args))
                return self.arithmetic.from_array(np.asarray(result), op.result.type)
            case arith.SelectOp():
                return np.where(self.arithmetic.truth(args[0]), args[1], args[2])
            case _:
                return _INDEX[type(op)](*args)


ScalarFunctions: type[_ScalarFunctions] = register_impls(
    type(
        "ScalarFunctions",
        (_ScalarFunctions,),
        {
            f"run_{cls.name}": impl(cls)(_ScalarFunctions.run)
            for cls in (
                *arith.Arith.operations,
                *math.Math.operations,
                *elem.Elem.operations,
                UnrealizedConversionCastOp,
            )
        },
    )
)
"""Implementations of every operation of `arith`, `math` and `elem`."""
