"""Runs modules of the `warp` level, and compiles them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from dt_mlir.analysis.interface import Interface
from dt_mlir.backend.python_module import emit_module
from dt_mlir.interpreters.accuracy import Accuracy
from dt_mlir.interpreters.bounded_arithmetic import BoundedArithmetic
from dt_mlir.interpreters.run import run_module
from dt_mlir.runtime.gluon_ahead_of_time import compile_gluon


def computed(
    module: ModuleOp, arrays: Mapping[str, np.ndarray], sizes: dict[str, int], output: str
) -> np.ndarray:
    """Returns what the interpreter computes.

    Args:
        module: the module.
        arrays: the inputs by their names.
        sizes: a size for each label.
        output: the function that is wanted.
    """
    arithmetic = BoundedArithmetic(Accuracy.of(module))
    inputs = {
        item.name: arithmetic.from_array(arrays[item.name], item.element)
        for item in Interface.of(module).inputs
    }
    return np.asarray(run_module(module, inputs, sizes, arithmetic)[output].value)


def machine_code(
    module: ModuleOp, sizes: Mapping[str, int]
) -> list[tuple[str, int | None, list[str]]]:
    """Returns of each specialized kernel the assembly, spilled bytes and problems."""
    return [
        (kernel.asm["ptx"], kernel.spills, kernel.problems())
        for kernel in compile_gluon(module, emit_module(module), sizes)
    ]
