"""The `host` dialect: what the wrapper around the kernels does, at every level.

The wrapper is a `host.func` beside the kernels. It takes the inputs as memrefs and scalars,
allocates outputs and intermediates, launches the kernels in order and returns the outputs.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from dt_mlir.dialects.host.func import (
    AXES,
    MINIMUMS,
    NAME,
    Argument,
    AtLeastAttr,
    FuncOp,
    ReturnOp,
    function_of,
    shown_indices,
    tensor_axes,
    tensor_name,
)
from dt_mlir.dialects.host.launches import LaunchOp
from dt_mlir.dialects.host.sizes import DefineOp, InBoundsOp
from dt_mlir.dialects.host.tensors import (
    AllocOp,
    RoundUpOp,
    SizeOp,
    alignment_of,
    memory_type,
    storage_order_of,
)

__all__ = [
    "AXES",
    "MINIMUMS",
    "NAME",
    "AllocOp",
    "Argument",
    "AtLeastAttr",
    "DefineOp",
    "FuncOp",
    "Host",
    "InBoundsOp",
    "LaunchOp",
    "ReturnOp",
    "RoundUpOp",
    "SizeOp",
    "alignment_of",
    "function_of",
    "memory_type",
    "shown_indices",
    "tensor_axes",
    "tensor_name",
    "storage_order_of",
]

Host = Dialect(
    "host",
    [FuncOp, ReturnOp, SizeOp, RoundUpOp, DefineOp, InBoundsOp, AllocOp, LaunchOp],
    [AtLeastAttr],
)
