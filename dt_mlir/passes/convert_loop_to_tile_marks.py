"""Attributes that directives put on operations which vanish on the way to tiles."""

from __future__ import annotations

from dt_mlir.diagnostics import CompileError, directive_location
from dt_mlir.dialects import loop
from dt_mlir.traversal import operations


def check_marks(kernel: loop.KernelOp) -> None:
    """Checks that the attributes which directives have put on operations have a place to go to.

    Raises:
        CompileError: at a loop of one trip, a local buffer or a size, which become no operation.
    """
    for op in operations(kernel):
        gone = isinstance(op, loop.LocalOp | loop.SizeOp | loop.YieldOp) or (
            isinstance(op, loop.LoopLike)
            and op.has_one_trip
            and (op.is_tile or op.extent_size is not None)
        )
        if gone and op.attributes:
            what = f"the loop over '{op.label_name}' has one trip and vanishes" if isinstance(
                op, loop.LoopLike
            ) else f"'{op.name}' becomes no operation"
            raise CompileError(
                f"{what}: its attribute '{next(iter(op.attributes))}' would be lost",
                directive_location(op.location),
                "tensorize it in smaller steps, or leave out what marks it",
            )  # fmt: skip
