"""The kernels of a module."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from dt_mlir.dialects import tile


def kernels_of(module: ModuleOp) -> list[tile.KernelOp]:
    """Returns the kernels of a module, in order."""
    return [op for op in module.ops if isinstance(op, tile.KernelOp)]
