"""Runs `scf`, with conditions and bounds as the arithmetic has them.

xDSL's implementations are not taken: importing them imports the interpreters of all its dialects.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects import scf
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    impl,
    impl_terminator,
    register_impls,
)

from dt_mlir.interpreters.arithmetic import Arithmetic
from dt_mlir.interpreters.events import Observer
from dt_mlir.interpreters.memory import ExecutionError


@register_impls
class ControlFlowFunctions(InterpreterFunctions):
    """Implementations of `scf`, for values that are arrays.

    Args:
        arithmetic: what elements are.
        observer: hears of the trips of loops.
    """

    def __init__(self, arithmetic: Arithmetic, observer: Observer | None = None) -> None:
        self.arithmetic = arithmetic
        self.observer = observer or Observer()

    @impl(scf.IfOp)
    def run_if(self, interpreter: Interpreter, op: scf.IfOp, args: PythonValues) -> PythonValues:
        """Runs the branch that the condition chooses."""
        holds = bool(np.all(self.arithmetic.truth(args[0])))
        region = op.true_region if holds else op.false_region
        return interpreter.run_ssacfg_region(region, ())

    @impl(scf.ForOp)
    def run_for(self, interpreter: Interpreter, op: scf.ForOp, args: PythonValues) -> PythonValues:
        """Runs a loop."""
        start, end, step = (int(value) for value in args[:3])
        if step < 1:
            raise ExecutionError(f"a loop has the step {step}, and would not end", op)
        carried = tuple(args[3:])
        for index in range(start, end, step):
            self.observer.trip(op, index)
            carried = interpreter.run_ssacfg_region(op.body, (index, *carried), "for")
        self.observer.leaves(op)
        return carried

    @impl_terminator(scf.YieldOp)
    def run_yield(
        self, interpreter: Interpreter, op: scf.YieldOp, args: PythonValues
    ) -> tuple[ReturnedValues, PythonValues]:
        """Gives values to the operation around."""
        return ReturnedValues(args), ()
