"""Bounds inference: how far the loops of fused functions go.

A fused function is computed for what its consumers need of it: its loop over a label walks what
the loops that read that axis of its local buffer walk. This is the bounds inference of Halide
(Ragan-Kelley et al., PLDI 2013) for accesses that are one loop index each.
"""

from __future__ import annotations

from xdsl.ir import Block, BlockArgument, SSAValue

from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import loop
from dt_mlir.scheduling.program import (
    argument_named,
    encloses,
    loop_of,
    reads_of,
)
from dt_mlir.traversal import operations_of


def infer_bounds(kernel: loop.KernelOp) -> None:
    """Make the loops of all fused functions of a kernel walk what is needed of them."""
    # Consumers write after their producers in the text, so going backwards meets them first.
    writes = [
        op
        for op in operations_of(kernel, loop.WriteOp)
        if isinstance(op.base.owner, loop.LocalOp)
    ]
    for write in reversed(writes):
        buffer = write.base.owner
        assert isinstance(buffer, loop.LocalOp)
        reads = reads_of(buffer.result)
        for axis, index in enumerate(write.index_values()):
            if isinstance(index, int):
                continue
            own = loop_of(index)
            if encloses(own, buffer):
                continue
            ranges = {_range_of(read.index_values()[axis]) for read in reads}
            origin, extent = ranges.pop() if len(ranges) == 1 else (None, None)
            if origin is None or extent is None or not _reaches(origin, buffer):
                own.set_range(None, None)
            else:
                own.set_range(origin, extent)


def _range_of(index: SSAValue | int) -> tuple[SSAValue | None, int | None]:
    if isinstance(index, int):
        return None, None
    op = loop_of(index)
    return op.origin, op.extent_size


def _reaches(origin: SSAValue, buffer: loop.LocalOp) -> bool:
    """Whether an origin is defined around a buffer."""
    block = origin.owner
    assert isinstance(block, Block)
    parent = block.parent_op()
    return parent is not None and parent.is_ancestor(buffer)


def check_written_once(kernel: loop.KernelOp, outputs: set[str]) -> None:
    """Check that each element of an output is written by one iteration of one program instance.

    Raises:
        CompileError: naming the output and the loop or block that would repeat it.
    """
    for name in outputs:
        argument = argument_named(kernel, name)
        if argument is None or name == kernel.root.data:
            continue
        writes = [u.operation for u in argument.uses if isinstance(u.operation, loop.WriteOp)]
        if not writes:
            continue
        hint = "leave it unfused, or fuse it where every loop around belongs to it"
        if len(writes) > 1:
            raise CompileError(
                f"'{name}' is an output but would be written {len(writes)} times", writes[0], hint
            )
        _check_write(kernel, name, writes[0], hint)


def _check_write(kernel: loop.KernelOp, name: str, write: loop.WriteOp, hint: str) -> None:
    indices = [index for index in write.index_values() if not isinstance(index, int)]
    if len(set(indices)) < len(write.index_values()):
        raise CompileError(
            f"'{name}' is an output but only a part of it would be written", write, hint
        )
    origins: set[SSAValue] = set()
    parent = write.parent_op()
    while isinstance(parent, loop.LoopLike):
        if parent.iv not in indices and not _is_outer_of(parent.iv, indices):
            raise CompileError(
                f"'{name}' is an output but would be written once for each "
                f"'{parent.label_name}'",
                write,
                hint,
            )
        if parent.origin is not None:
            origins.add(parent.origin)
        parent = parent.parent_op()
    for label, origin in zip(kernel.grid.label_names, kernel.grid.body.block.args):
        if origin not in origins:
            raise CompileError(
                f"'{name}' is an output but would be written by every block of '{label}'",
                write,
                hint,
            )


def _is_outer_of(iv: BlockArgument, indices: list[SSAValue]) -> bool:
    """Whether a loop only says where another one starts."""
    return any(loop_of(index).origin is iv for index in indices)
