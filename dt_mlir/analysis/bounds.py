"""Bounds inference: how far the loops of fused functions go.

A fused function is computed for what its consumers need of it: its loop over a label walks what
the loops that read that axis of its local buffer walk. This is the bounds inference of Halide
(Ragan-Kelley et al., PLDI 2013) for accesses that are one loop index each.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Block, BlockArgument, SSAValue

from dt_mlir.analysis.nests import encloses, locals_of, loop_of, reads_of, write_to
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import loop
from dt_mlir.traversal import captured_by


def infer_bounds(kernel: loop.KernelOp) -> None:
    """Makes the loops of all fused functions of a kernel walk what is needed of them."""
    infer_bounds_of(locals_of(kernel))


def infer_bounds_of(buffers: Iterable[loop.LocalOp]) -> None:
    """Makes the loops of some fused functions walk what is needed of them.

    Args:
        buffers: the buffers of functions whose readers have changed, or their loops. The functions
            that these are computed from are inferred too.
    """
    for buffer in _consumers_first(buffers):
        write, reads = write_to(buffer.result), reads_of(buffer.result)
        for axis, index in enumerate(write.simple_indices()):
            if isinstance(index, int):
                continue
            own = loop_of(index)
            if encloses(own, buffer):
                continue
            joined = isinstance(index.owner, loop.DelinearizeOp)
            ranges = {_range_of(read.index_values()[axis], joined) for read in reads}
            origin, extent = ranges.pop() if len(ranges) == 1 else (None, None)
            scanned = bool(loop.prefixes_of(own))
            if scanned or origin is None or extent is None or not _reaches(origin, buffer):
                own.set_range(None, None)
            else:
                own.set_range(origin, extent)


def _consumers_first(buffers: Iterable[loop.LocalOp]) -> list[loop.LocalOp]:
    """Buffers and those that they are computed from, each after all that are computed from it."""
    done: dict[loop.LocalOp, None] = {}

    def visit(buffer: loop.LocalOp) -> None:
        if buffer not in done:
            for other in _buffers_behind(write_to(buffer.result).value):
                visit(other)
            done[buffer] = None

    for buffer in buffers:
        visit(buffer)
    return list(reversed(done))


def _buffers_behind(value: SSAValue) -> list[loop.LocalOp]:
    """The buffers that a value is computed from, without reading others in between."""
    found: dict[loop.LocalOp, None] = {}
    seen: set[SSAValue] = set()
    pending = [value]
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Block) or owner.results[0] in seen:
            continue
        seen.add(owner.results[0])
        if isinstance(owner, loop.ReadOp) and isinstance(owner.base.owner, loop.LocalOp):
            found[owner.base.owner] = None
        elif isinstance(owner, loop.ReductionLoop):
            pending.extend(owner.yielded)
        elif isinstance(owner, loop.RunningOp):
            pending.extend([*owner.operands, *captured_by(owner)])
        else:
            pending.extend(owner.operands)
    return list(found)


def _range_of(index: SSAValue | int | None, joined: bool) -> tuple[SSAValue | None, int | None]:
    """Returns the range of the loop that an index is of; a part of a joined loop has none."""
    if index is None or isinstance(index, int):
        return None, None
    if isinstance(index.owner, loop.DelinearizeOp) is not joined:
        return None, None
    op = loop_of(index)
    return op.origin, op.extent_size


def _reaches(origin: SSAValue, buffer: loop.LocalOp) -> bool:
    """Returns whether an origin is defined around a buffer."""
    block = origin.owner
    assert isinstance(block, Block)
    parent = block.parent_op()
    return parent is not None and parent.is_ancestor(buffer)


def check_written_once(kernel: loop.KernelOp) -> None:
    """Checks that each element of a tensor is written by one iteration of one program instance.

    A kernel writes its root, and fused functions that are outputs or that other kernels read.

    Raises:
        CompileError: naming the function and the loop or block that would repeat it.
    """
    for argument, name in zip(kernel.args, kernel.argument_names):
        writes = [u.operation for u in argument.uses if isinstance(u.operation, loop.WriteOp)]
        if not writes or name == kernel.root.data:
            continue
        hint = "leave it unfused, or fuse it where every loop around belongs to it"
        if len(writes) > 1:
            raise CompileError(
                f"'{name}' is stored but would be written {len(writes)} times", writes[0], hint
            )
        _check_write(kernel, name, writes[0], hint)


def _check_write(kernel: loop.KernelOp, name: str, write: loop.WriteOp, hint: str) -> None:
    indices = [index for index in write.simple_indices() if not isinstance(index, int)]
    if len(set(indices)) < len(write.simple_indices()):
        raise CompileError(
            f"'{name}' is stored but only a part of it would be written", write, hint
        )
    origins: set[SSAValue] = set()
    loops = {loop_of(index) for index in indices}
    parent = write.parent_op()
    loops.update(loop_of(index) for index in write.first)
    while isinstance(parent, loop.LoopLike):
        if parent not in loops and not _is_outer_of(parent.iv, indices):
            raise CompileError(
                f"'{name}' is stored but would be written once for each "
                f"'{parent.label_name}'",
                write,
                hint,
            )
        if isinstance(parent, loop.ReductionLoop) and parent.constraints:
            raise CompileError(
                f"'{name}' is stored but would be written only where a condition on "
                f"'{parent.label_name}' holds",
                write,
                f"leave it unfused, or fuse it outside of the loop over '{parent.label_name}'",
            )
        if parent.origin is not None:
            origins.add(parent.origin)
        parent = parent.parent_op()
    for label, origin in zip(kernel.grid.label_names, kernel.grid.body.block.args):
        if origin not in origins:
            raise CompileError(
                f"'{name}' is stored but would be written by every block of '{label}'",
                write,
                hint,
            )


def _is_outer_of(iv: BlockArgument, indices: list[SSAValue]) -> bool:
    """Returns whether a loop only says where another one starts."""
    return any(loop_of(index).origin is iv for index in indices)
