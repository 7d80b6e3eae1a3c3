"""Runs the host part of a module: it allocates tensors and launches kernels."""

from __future__ import annotations

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import StringAttr
from xdsl.interpreter import (
    Interpreter,
    PythonValues,
    impl,
    register_impls,
)

from dt_mlir.dialects import host
from dt_mlir.interpreters.level import LevelFunctions
from dt_mlir.interpreters.memory import Buffer


@register_impls
class HostFunctions(LevelFunctions):
    """Implementations of the `host` dialect and of allocations; `func` is xDSL's."""

    @impl(host.SizeOp)
    def run_size(
        self, interpreter: Interpreter, op: host.SizeOp, args: PythonValues
    ) -> PythonValues:
        """The size of a label."""
        return (self.sizes[op.label.data],)

    @impl(host.RoundUpOp)
    def run_round_up(
        self, interpreter: Interpreter, op: host.RoundUpOp, args: PythonValues
    ) -> PythonValues:
        """An extent of aligned storage."""
        multiple = op.multiple.value.data
        return (-(-int(args[0]) // multiple) * multiple,)

    @impl(memref.AllocOp)
    def run_alloc(
        self, interpreter: Interpreter, op: memref.AllocOp, args: PythonValues
    ) -> PythonValues:
        """A tensor that nothing has written yet."""
        element = op.memref.type.element_type
        name = op.attributes[host.NAME]
        assert isinstance(name, StringAttr)
        zero = self.arithmetic.from_array(np.zeros(()), element)
        return (Buffer.fresh(name.data, element, zero, [int(extent) for extent in args]),)

    @impl(host.LaunchOp)
    def run_launch(
        self, interpreter: Interpreter, op: host.LaunchOp, args: PythonValues
    ) -> PythonValues:
        """Run a kernel."""
        interpreter.call_op(op.kernel, args)
        for value in args:
            if isinstance(value, Buffer):
                value.finish()
        return ()
