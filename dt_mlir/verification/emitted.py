"""Runs the emitted kernel, on Triton's interpreter."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.analysis.interface import Interface, output_names
from dt_mlir.diagnostics import CompileError
from dt_mlir.interpreters.arithmetic import Value
from dt_mlir.interpreters.bounded import Bounded
from dt_mlir.interpreters.run import Inputs
from dt_mlir.runtime.interpreted_types import miscomputed


class NotRunError(Exception):
    """Why the emitted kernel was not run; nothing, where there is none."""


def run_emitted(module: ModuleOp, inputs: Inputs, sizes: Mapping[str, int]) -> dict[str, Value]:
    """Emits a module and runs it.

    Args:
        module: a module of the `tile` level.
        inputs: the inputs, as `BoundedArithmetic` has them.
        sizes: a size for each label.

    Raises:
        NotRunError: if the module is of another level, or there is no way to run it here.
        CompileError: if the emitted module refuses the inputs.
    """
    from dt_mlir.backend.python_module import emit_module
    from dt_mlir.passes.verify_tile import VerifyTilePass

    try:
        VerifyTilePass().apply(Context(), module)
        source = emit_module(module, wrapped=True)
    except CompileError:
        raise NotRunError from None
    wrong = miscomputed(module)
    if wrong is not None:
        raise NotRunError(f"Triton's interpreter computes {wrong} wrongly")
    try:
        import torch
    except ImportError:
        raise NotRunError("torch and triton are not installed") from None
    from dt_mlir.runtime.execute import (
        loaded,
        prepare_on_cpu,
        size_options,
        torch_dtype,
        wrapper_name,
    )

    device = prepare_on_cpu()
    interface = Interface.of(module)
    args: list[object] = []
    for item in sorted(interface.inputs, key=lambda item: item.axes is None):
        array = inputs[item.name].value
        if item.axes is None:
            args.append(np.asarray(array).item())
        else:
            tensor = torch.from_numpy(np.array(array)).to(torch_dtype(item.element))
            args.append(tensor.to(device))
    labels = {label: sizes[label] for label in interface.free_labels()}
    with loaded(source) as emitted, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wrapper = getattr(emitted, wrapper_name(source))
            results = wrapper(*args, **size_options(wrapper, labels))
        except (ValueError, TypeError, RuntimeError) as error:
            raise CompileError(f"the emitted module refuses the inputs: {error}") from error
    results = results if isinstance(results, tuple) else (results,)
    found: dict[str, Value] = {}
    for name, result in zip(output_names(module), results):
        array = result.cpu().double() if result.is_floating_point() else result.cpu()
        found[name] = Bounded.exact(array.numpy())
    return found
