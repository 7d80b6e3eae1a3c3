"""The differences from an algorithm that the language allows a schedule.

`docs/language.md` names them: rounding that `precision` asks for, and what `online` makes of sums
that overflow and of values that are not finite.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects import math
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.dialects import dt, sched, tile
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.interpreters.arithmetic import Value
from dt_mlir.interpreters.bounded import Bounded
from dt_mlir.interpreters.run import Inputs, run_module
from dt_mlir.traversal import operations_of
from dt_mlir.verification.semantics import (
    Given,
    Mode,
    SemanticsError,
    arithmetic_for,
    without_schedule,
)

LOOSE = 2.0**-5
"""The difference, relative to the largest result, that rounding to few bits may make."""
OVERFLOWS = 2.0**14
"""The size from which on a result's parts may be too large for a type of few bits."""
SMALL = 2.0**-4
"""The size of inputs of which no sum of exponentials overflows."""
_EXTREMES = (ReductionKind.MAXIMUM, ReductionKind.MINIMUM)


class Allowances:
    """Explains why a program differs from its algorithm, where the language allows it.

    Args:
        algorithm: the program at the `dt` level, with its schedule.
        module: the compiled program.
    """

    def __init__(self, algorithm: ModuleOp, module: ModuleOp) -> None:
        self.algorithm, self.module = algorithm, module
        self.source = without_schedule(algorithm)
        self.online = {
            str(op.argument_list[0].value)
            for op in operations_of(algorithm, sched.DirectiveOp)
            if op.directive_name == "online"
        }
        """The labels over which sums are repaired."""
        self.rounds = any(
            kernel.precision is not None and kernel.precision.data != "ieee"
            for kernel in operations_of(module, tile.KernelOp)
        )
        """True if a schedule rounds more than the algorithm."""
        self.reasons: list[str] = []
        """The differences that have been allowed so far, in words."""

    def allows(self, error: SemanticsError) -> bool:
        """Returns whether the language allows a difference of results, and notes why."""
        given = error.given
        if given is None or given.mode is not Mode.BOUNDED or error.breaks:
            return False
        if not self.rounds and not self.online:
            return False
        reason = _Difference(self, given).reason()
        if reason is not None:
            shown = ", ".join(f"{label} = {size}" for label, size in given.sizes.items())
            self.reasons.append(f"{reason}, with {shown}")
        return reason is not None


class _Difference:
    """The results of a program and of its algorithm, where they differ by more than rounding.

    Args:
        allowances: the program.
        given: the inputs.
    """

    def __init__(self, allowances: Allowances, given: Given) -> None:
        self.algorithm, self.online = allowances.algorithm, allowances.online
        self.module, self.source = allowances.module, allowances.source
        self.rounds, self.given = allowances.rounds, given
        self.arithmetic = arithmetic_for(given.mode, self.module)
        self.found = self._run(self.module)
        self.wanted = self._run(self.source)

    def reason(self) -> str | None:
        """Returns how results differ; None if the language does not allow it."""
        if self.rounds and self._rounded_alike():
            return "the rounding that 'precision' asks for"
        if not self.online or not self._finite_alike():
            return None
        if self._shifts_freely() and self._alike_where_nothing_overflows():
            return "sums whose parts overflow"
        if self._behind_infinities():
            return "deviations from values that are not finite"
        return None

    def _run(self, module: ModuleOp, inputs: Inputs | None = None) -> dict[str, Value]:
        inputs = self.given.inputs if inputs is None else inputs
        return run_module(module, inputs, self.given.sizes, self.arithmetic)

    def _rounded_alike(self) -> bool:
        """Returns whether results agree but for rounding to few bits, which may overflow."""
        for name, right in self.wanted.items():
            a, b = np.asarray(self.found[name].value), np.asarray(right.value)
            finite = np.isfinite(a) & np.isfinite(b)
            size = np.abs(np.where(np.isfinite(b), b, 0.0))
            near = np.abs(np.where(finite, a - b, 0.0)) <= LOOSE * np.max(size, initial=0.0)
            alike = np.where(np.isfinite(b), size >= OVERFLOWS, ~np.isfinite(a))
            if not np.all(np.where(finite, near, alike)):
                return False
        return True

    def _alike_where_nothing_overflows(self) -> bool:
        """Returns whether results agree with small inputs, where the algorithm's are finite."""
        inputs: dict[str, Value] = {}
        for name, given in self.given.inputs.items():
            array = np.asarray(given.value)
            if array.dtype.kind == "f":
                finite = np.where(np.isfinite(array), array, 0.0)
                most = float(np.max(np.abs(finite), initial=SMALL))
                # A power of two rounds nothing.
                array = finite * SMALL / 2.0 ** np.ceil(np.log2(most))
            inputs[name] = Bounded.exact(array.astype(np.asarray(given.value).dtype))
        found, wanted = self._run(self.module, inputs), self._run(self.source, inputs)
        return not any(
            np.any(_is_finite(right) & (self.arithmetic.differ(found[name], right)))
            for name, right in wanted.items()
        )

    def _differing(self, name: str) -> Any:
        """Returns a mask of the elements of an output that differ."""
        return np.asarray(self.arithmetic.differ(self.found[name], self.wanted[name]))

    def _finite_alike(self) -> bool:
        """Returns whether all results agree that are finite."""
        return not any(
            np.any(_is_finite(self.found[name]) & self._differing(name)) for name in self.wanted
        )

    def _shifts_freely(self) -> bool:
        """Returns whether an `online` loop has no maximum that could shift its exponentials.

        A sum of exponentials that are shifted by something else than their maximum overflows where
        a part of it does, and the algorithm need not.
        """
        if not operations_of(self.algorithm, math.ExpOp, math.Exp2Op):
            return False
        maxima = {
            label for op in operations_of(self.algorithm, dt.ReduceOp)
            if op.kind.data in _EXTREMES for label in op.label_names
        }  # fmt: skip
        return not self.online <= maxima

    def _behind_infinities(self) -> bool:
        """Returns whether results differ only where they depend on sums that are not finite.

        An `online` loop repairs what it has summed by the sums that it depends on; a deviation from
        one that is infinite has no repair.
        """
        functions = {f.sym_name.data: f for f in self.algorithm.ops if isinstance(f, dt.FuncOp)}
        sums = [name for name, function in functions.items() if self._is_repaired(function)]
        module = self.source.clone()
        outputs = {op.function.root_reference.data for op in operations_of(module, dt.OutputOp)}
        block = module.body.block
        block.add_ops(dt.OutputOp(name) for name in sums if name not in outputs)
        values = self._run(module)
        for name in self.wanted:
            labels = functions[name].label_names
            allowed = np.zeros(np.shape(self.wanted[name].value), bool)
            for other in _read_by(name, functions) & {*sums}:
                own = functions[other].label_names
                infinite = ~_is_finite(values[other])
                rest = tuple(axis for axis, label in enumerate(own) if label not in labels)
                order = [label for label in own if label in labels]
                infinite = infinite.any(axis=rest).transpose(
                    sorted(range(len(order)), key=lambda axis: labels.index(order[axis]))
                )
                missing = [axis for axis, label in enumerate(labels) if label not in order]
                allowed |= np.expand_dims(infinite, missing)
            if np.any(self._differing(name) & ~allowed):
                return False
        return True

    def _is_repaired(self, function: dt.FuncOp) -> bool:
        """Returns whether a function is a sum over a label of an `online` loop."""
        return any(
            self.online & {*op.label_names} and op.kind.data not in _EXTREMES
            for op in operations_of(function, dt.ReduceOp)
        )


def _read_by(name: str, functions: dict[str, dt.FuncOp]) -> set[str]:
    """Returns the other functions that one is computed of."""
    found: set[str] = set()
    pending = [name]
    while pending:
        for op in operations_of(functions[pending.pop()], dt.ReadOp):
            read = op.source.root_reference.data
            if read in functions and read not in found:
                found.add(read)
                pending.append(read)
    return found - {name}


def _is_finite(value: Value) -> Any:
    return np.isfinite(np.asarray(value.value, np.float64))
