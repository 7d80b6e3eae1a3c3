"""Runs the host part of a module: it allocates tensors and launches kernels."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    ReturnedValues,
    impl,
    impl_callable,
    impl_terminator,
    register_impls,
)

from dt_mlir.dialects import host
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.interpreters.arithmetic import Value, joined, mapped
from dt_mlir.interpreters.bounded import Array
from dt_mlir.interpreters.level import LevelFunctions
from dt_mlir.interpreters.memory import Buffer


def _stacked(array: Array) -> Array:
    return array[None]


@register_impls
class HostFunctions(LevelFunctions):
    """Implementations of the `host` dialect."""

    @impl_callable(host.FuncOp)
    def call_function(
        self, interpreter: Interpreter, op: host.FuncOp, args: PythonValues
    ) -> PythonValues:
        """The outputs for the inputs."""
        return interpreter.run_ssacfg_region(op.body, args, op.sym_name.data)

    @impl(host.SizeOp)
    def run_size(
        self, interpreter: Interpreter, op: host.SizeOp, args: PythonValues
    ) -> PythonValues:
        """The size of a label."""
        return (self.sizes[op.label.data],)

    @impl(host.DefineOp)
    def run_define(
        self, interpreter: Interpreter, op: host.DefineOp, args: PythonValues
    ) -> PythonValues:
        """A size that follows from others, which is checked before anything runs."""
        return ()

    @impl(host.InBoundsOp)
    def run_in_bounds(
        self, interpreter: Interpreter, op: host.InBoundsOp, args: PythonValues
    ) -> PythonValues:
        """A check of an index, which is made before anything runs."""
        return ()

    @impl(host.RoundUpOp)
    def run_round_up(
        self, interpreter: Interpreter, op: host.RoundUpOp, args: PythonValues
    ) -> PythonValues:
        """An extent of aligned storage."""
        multiple = op.multiple.value.data
        return (-(-int(args[0]) // multiple) * multiple,)

    @impl(host.AllocOp)
    def run_alloc(
        self, interpreter: Interpreter, op: host.AllocOp, args: PythonValues
    ) -> PythonValues:
        """A tensor that nothing has written yet."""
        assert isinstance(op.result.type, MemRefType)
        element = op.result.type.element_type
        zero = self.arithmetic.from_array(np.zeros(()), element)
        extents = [int(extent) for extent in args]
        if op.summed is None:
            return (Buffer.fresh(op.tensor.data, element, zero, extents),)

        def total(values: list[Value]) -> Value:
            both = joined([mapped(_stacked, value) for value in values], 0)
            return self.arithmetic.reduce(ReductionKind.ADD, both, (0,), element)

        found = Buffer.fresh(op.tensor.data, element, zero, [max(1, extents[0]), *extents[1:]])
        found.total = total
        return (found,)

    @impl_terminator(host.ReturnOp)
    def run_return(
        self, interpreter: Interpreter, op: host.ReturnOp, args: PythonValues
    ) -> tuple[ReturnedValues, PythonValues]:
        """The outputs."""
        return ReturnedValues(args), ()

    @impl(host.LaunchOp)
    def run_launch(
        self, interpreter: Interpreter, op: host.LaunchOp, args: PythonValues
    ) -> PythonValues:
        """Runs a kernel."""
        # The copy engine takes no tensors without elements.
        empty = any(isinstance(value, Buffer) and 0 in value.shape for value in args)
        alike = all(self.sizes[one] == self.sizes[other] for one, other in op.equal_labels)
        alike = alike and all(self.sizes[label] == n for label, n in op.known_sizes.items())
        interpreter.call_op(op.preferred if alike and not empty else op.kernel, args)
        for value in args:
            if isinstance(value, Buffer):
                value.finish()
        return ()
