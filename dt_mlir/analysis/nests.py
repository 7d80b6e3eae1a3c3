"""Loop nests of the `loop` level: their loops, buffers, reads and writes."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.traversal import in_program_order, operations_of


def check_writes(kernel: loop.KernelOp) -> None:
    """Checks that a kernel writes its root, and each tensor in at most one place, which it does not
    read.

    Raises:
        CompileError: naming the tensor.
    """
    written: set[str] = set()
    for argument, name in zip(kernel.args, kernel.argument_names):
        users = [use.operation for use in argument.uses]
        writes = [op for op in users if isinstance(op, loop.WriteOp)]
        if len(writes) > 1:
            raise CompileError(f"'{name}' is written in {len(writes)} places", writes[1])
        if writes:
            written.add(name)
            if any(isinstance(op, loop.ReadOp) for op in users):
                raise CompileError(f"'{name}' is both read and written in one kernel", writes[0])
    if kernel.root.data not in written:
        raise CompileError(f"the kernel never writes '{kernel.root.data}'", kernel)


def inner_of(op: loop.ReduceOp) -> loop.ReduceOp | None:
    """Returns the reduction with which another one may carry one accumulator.

    It is all that the other one reduces, in the same way. None if there is none, or the outer one
    has a tile's elements to reduce, or a domain.
    """
    return None if op.is_tile or op.domain is not None else reduced_by(op)


def reduced_by(op: loop.ReduceOp) -> loop.ReduceOp | None:
    """Returns the reduction that is all that another one reduces, in the same way, or None."""
    inner, *rest = op.body.block.ops
    if not isinstance(inner, loop.ReduceOp) or len(rest) != 1 or op.yielded != (inner.result,):
        return None
    if op.kind is None or inner.kind is None or op.named_kind.is_arg:
        return None
    kinds = {k.named_kind if not k.is_dot else ReductionKind.ADD for k in (op, inner)}
    return inner if len(kinds) == 1 else None


def reduction_nests(kernel: loop.KernelOp) -> list[list[loop.ReduceOp]]:
    """Returns the reductions of a kernel; those that are all that another reduces are behind it.

    The loops of such a nest may stand in any order, unless one has a domain.
    """
    reductions = operations_of(kernel, loop.ReduceOp)
    inner = {reduced_by(op) for op in reductions}
    found: list[list[loop.ReduceOp]] = []
    for op in reductions:
        if op in inner:
            continue
        nest = [op]
        while (following := reduced_by(nest[-1])) is not None:
            nest.append(following)
        found.append(nest)
    return found


def check_reductions(kernel: loop.KernelOp) -> None:
    """Checks that reductions can be lowered to tiles.

    Raises:
        CompileError: at one with a region that combines, or an index reduction with a domain.
    """
    for running in operations_of(kernel, loop.RunningOp):
        if running.loop.domain is not None and running.kind.data.is_arg:
            raise CompileError(
                f"a running '{running.kind.data}' with a domain is not lowered to tiles", running,
                "reduce it in a loop without a domain",
            )  # fmt: skip
    for op in operations_of(kernel, loop.ReduceOp):
        if op.kind is None:
            raise CompileError(
                "a reduction with a region that combines is not lowered to tiles", op,
                "reduce each value by itself, by a named combination",
            )  # fmt: skip
        if op.domain is not None and op.named_kind.is_arg:
            raise CompileError(
                f"'{op.named_kind}' with a domain is not lowered to tiles", op,
                "yield an element that is never the extreme one where the constraints do not hold",
            )  # fmt: skip


def loops_in(op: Operation) -> Iterator[loop.LoopLike]:
    """The loops in an operation, outer before inner."""
    yield from operations_of(op, loop.LoopLike)


def loops_over(kernel: loop.KernelOp, label: str) -> list[loop.LoopLike]:
    """The loops over a label in a kernel."""
    return [op for op in loops_in(kernel) if op.label_name == label]


def labels_in(kernel: loop.KernelOp) -> list[str]:
    """The labels that a kernel has loops over."""
    return list(dict.fromkeys(op.label_name for op in loops_in(kernel)))


def locals_of(kernel: loop.KernelOp, function: str | None = None) -> list[loop.LocalOp]:
    """The local buffers of a kernel, or those of one function."""
    return [
        op
        for op in operations_of(kernel, loop.LocalOp)
        if function in (None, op.function.data)
    ]


def write_to(base: SSAValue) -> loop.WriteOp:
    """The operation that writes a tensor or a local buffer; there is one."""
    return next(
        use.operation for use in base.uses if isinstance(use.operation, loop.WriteOp)
    )


def reads_of(base: SSAValue) -> list[loop.ReadOp]:
    """The operations that read a tensor or a local buffer, in program order."""
    users = dict.fromkeys(use.operation for use in base.uses)
    found = [op for op in users if isinstance(op, loop.ReadOp)]
    if len(found) < 2:
        return found
    block = base.owner if isinstance(base.owner, Block) else base.owner.parent
    assert block is not None
    top = block.parent_op()
    assert top is not None
    return in_program_order(top, found)


def argument_named(kernel: loop.KernelOp, name: str) -> BlockArgument | None:
    """A kernel's argument by its name in the source."""
    names = kernel.argument_names
    return kernel.args[names.index(name)] if name in names else None


def writes_of(kernel: loop.KernelOp, function: str) -> list[loop.WriteOp]:
    """The writes that define a function in a kernel: to its tensor, or to its local buffers."""
    bases: list[SSAValue] = [op.result for op in locals_of(kernel, function)]
    if not bases:
        argument = argument_named(kernel, function)
        bases = [] if argument is None else [argument]
    return [write_to(base) for base in bases]


def loop_of(index: SSAValue) -> loop.LoopLike:
    """The loop whose index a value is; the joined one for the index of a loop that it joins."""
    owner = index.owner
    if isinstance(owner, loop.DelinearizeOp):
        return loop_of(owner.index)
    assert isinstance(owner, Block)
    op = owner.parent_op()
    assert isinstance(op, loop.LoopLike)
    return op


def walked_label(index: SSAValue) -> str:
    """The label that an induction variable walks; its own for the index of a joined loop."""
    if isinstance(index, OpResult) and isinstance(index.op, loop.DelinearizeOp):
        return index.op.label_names[index.index]
    return loop_of(index).label_name


def encloses(outer: Operation, inner: Operation) -> bool:
    """Returns whether an operation is another one, or contains it."""
    return outer is inner or outer.is_ancestor(inner)


def function_labels(kernel: loop.KernelOp, write: loop.WriteOp) -> tuple[str, ...]:
    """The labels of the function that a write defines."""
    base = write.base
    if isinstance(base, OpResult):
        assert isinstance(base.op, loop.LocalOp)
        return base.op.label_names
    assert isinstance(base, BlockArgument)
    return tuple(
        loop_of(index).label_name if isinstance(index, SSAValue) and _is_renamed(kernel, index)
        else label for label, index in zip(kernel.axes_of(base), write.index_values())
    )  # fmt: skip


def _is_renamed(kernel: loop.KernelOp, index: SSAValue) -> bool:
    """Returns whether a result has an axis for a loop of its own, by whose label it is known.

    The axes of results keep the names that the caller knows where labels are renamed.
    """
    op = loop_of(index)
    return index is op.iv and op.function_name == kernel.root.data


def own_loops(kernel: loop.KernelOp, write: loop.WriteOp) -> dict[str, loop.LoopLike]:
    """Returns the loops at whose induction variables a function is written, by its labels.

    A joined loop has its own label in place of those of the loops that it joins. A label at which
    the function is written at a number has no loop.
    """
    found: dict[str, loop.LoopLike] = {}
    for label, index in zip(function_labels(kernel, write), write.simple_indices()):
        if isinstance(index, int):
            continue
        op = loop_of(index)
        found[label if index is op.iv else op.label_name] = op
    return found


def blocked_loops(kernel: loop.KernelOp, write: loop.WriteOp) -> dict[str, loop.LoopLike]:
    """Returns the loops of a function that the grid may partition, by their labels.

    They are its own, and in place of one that walks a part of its label the one over the parts.
    """
    found: dict[str, loop.LoopLike] = {}
    for label, op in own_loops(kernel, write).items():
        part = None if op.end is None else op.end.owner
        if isinstance(part, loop.PartOp):
            op = loop_of(part.index)
            label = op.label_name
        found[label] = op
    return found
