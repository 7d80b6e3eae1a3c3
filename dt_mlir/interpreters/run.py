"""Runs a module of any level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.utils.exceptions import InterpretationError

from dt_mlir.analysis.interface import Interface, output_names
from dt_mlir.analysis.lone_kernels import runnable_function
from dt_mlir.dialects import dt, host
from dt_mlir.interpreters.arithmetic import Arithmetic, Character, Value
from dt_mlir.interpreters.control_flow import ControlFlowFunctions
from dt_mlir.interpreters.dt_level import DtFunctions
from dt_mlir.interpreters.hints import without_hints
from dt_mlir.interpreters.host_level import HostFunctions
from dt_mlir.interpreters.loop_level import LoopFunctions
from dt_mlir.interpreters.memory import Buffer, ExecutionError, UnknownOperationError
from dt_mlir.interpreters.scalars import ScalarFunctions
from dt_mlir.interpreters.tile_level import TileFunctions
from dt_mlir.interpreters.warp_level import WarpFunctions
from dt_mlir.traversal import operations_of

Inputs = Mapping[str, Value]
"""A value for each input, by name: the elements of a tensor, or a scalar without axes."""


def random_inputs(
    interface: Interface,
    sizes: Mapping[str, int],
    arithmetic: Arithmetic,
    seed: int = 0,
    character: Character = Character.ANY,
) -> dict[str, Value]:
    """Random inputs for a program.

    Args:
        interface: what it takes.
        sizes: a size for each label.
        arithmetic: what elements are.
        seed: the seed.
        character: what the elements have in common.
    """
    generator = np.random.default_rng(seed)
    return {
        item.name: arithmetic.random(
            item.element, interface.shape(item, sizes), generator, character
        )
        for item in interface.inputs
    }


def run_module(
    module: ModuleOp,
    inputs: Inputs,
    sizes: Mapping[str, int],
    arithmetic: Arithmetic,
    tiles: TileFunctions | None = None,
    sampled: Mapping[str, Any] | None = None,
) -> dict[str, Value]:
    """Runs a module of any level, or of several at once.

    Args:
        module: the module.
        inputs: the inputs.
        sizes: a size for each label.
        arithmetic: what elements are.
        tiles: what runs the `tile` level, if not the usual.
        sampled: the indices of labels of which a program at the `dt` level computes only some.

    Returns:
        The outputs by name, their axes in the order of their labels.

    Raises:
        ExecutionError: if the program reads or writes what it must not.
        CompileError: if it is not for these sizes.
    """
    module = without_hints(module)
    interface = Interface.of(module)
    sizes = interface.completed(sizes)
    if not sampled:
        # The sizes of a part need not follow from each other as those of the whole do.
        interface.check_sizes(sizes)
    given: dict[str, Any] = {}
    for item in interface.inputs:
        value = inputs[item.name]
        given[item.name] = (
            value if item.axes is None else Buffer.given(item.name, item.element, value)
        )
    interpreter = Interpreter(module)
    algorithm = DtFunctions(arithmetic, sizes, given, sampled)
    tiles = tiles or TileFunctions(arithmetic, sizes)
    for functions in (
        algorithm,
        ScalarFunctions(arithmetic),
        LoopFunctions(arithmetic, sizes),
        tiles,
        WarpFunctions(arithmetic, sizes, tiles),
        HostFunctions(arithmetic, sizes),
        ControlFlowFunctions(arithmetic, tiles.observer),
    ):
        interpreter.register_implementations(functions)
    try:
        return _run(module, interpreter, algorithm, given)
    except Exception as error:
        # The framework adds the whole module to what an operation raises, once for each region.
        error.__notes__ = []
        if isinstance(error, InterpretationError):
            raise UnknownOperationError(
                f"the interpreters cannot run this: {error}", module
            ) from None
        raise


def _run(
    module: ModuleOp, interpreter: Interpreter, algorithm: DtFunctions, given: dict[str, Any]
) -> dict[str, Value]:
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, dt.FuncOp)}
    names = output_names(module)
    if functions:
        results = tuple(algorithm.evaluate(interpreter, functions[name]) for name in names)
    else:
        function = runnable_function(module)
        assert function is not None, "what has an interface has a kernel"
        results = interpreter.call_op(function, tuple(given.values()))
    allocated = {op.tensor.data: op for op in operations_of(module, host.AllocOp)}
    found: dict[str, Value] = {}
    for name, buffer in zip(names, results):
        assert isinstance(buffer, Buffer)
        place = buffer.unwritten()
        if place is not None:
            shown = ", ".join(map(str, place))
            at = allocated.get(name)
            raise ExecutionError(f"'{name}'[{shown}] is never written", at)
        found[name] = algorithm.arithmetic.result(buffer.values, buffer.element)
    return found
