"""The attributes of operations that the printer of kernels knows."""

from __future__ import annotations

import ast

from xdsl.dialects import scf

from dt_mlir.backend.triton import code
from dt_mlir.diagnostics import CompileError, directive_location
from dt_mlir.dialects import tile
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.traversal import operations


def check_consumed(kernel: GridKernelOp) -> None:
    """Checks that each attribute which a directive or a pass has left is one that is printed.

    Raises:
        CompileError: at the operation with an attribute that nothing prints.
    """
    for op in operations(kernel):
        for name in op.attributes:
            printed = (
                name == tile.DESCRIPTOR if isinstance(op, tile.LoadOp | tile.StoreOp)
                else isinstance(op, scf.ForOp) and name == tile.RANGE_OPTIONS
            )  # fmt: skip
            if not printed and tile.triton_printer(op) is None:
                hint = "a pass that understands it must take it away before the kernel is printed"
                if isinstance(op, scf.ForOp):
                    hint += f"; options of tl.range are printed from '{tile.RANGE_OPTIONS}'"
                raise CompileError(
                    f"nothing has consumed the attribute '{name}' of '{op.name}'",
                    directive_location(op.location), hint,
                )  # fmt: skip


def eviction_of(op: tile.LoadOp | tile.StoreOp) -> dict[str, ast.expr]:
    """Returns the keyword that says what the cache keeps of an access, if it has a policy."""
    policy = op.eviction_policy
    return {} if policy is None else {"eviction_policy": code.constant(policy.data)}
