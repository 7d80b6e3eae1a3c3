"""Copies of a function's nest in the kernel of what reads it."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.loop_program import LoopProgram
from dt_mlir.analysis.nests import argument_named, loop_of
from dt_mlir.builders.indices import build_index
from dt_mlir.copying import copy_of
from dt_mlir.dialects import host, loop
from dt_mlir.dialects.formats import name_array
from dt_mlir.dialects.identifiers import memory_hint
from dt_mlir.dialects.indices import dimension, number
from dt_mlir.dialects.loop import Index
from dt_mlir.scheduling.directive import Site

Binding = tuple[SSAValue | int | Index | None, ...]
"""The index at which each axis of a fused function is computed; None: its own loop."""


class Move(NamedTuple):
    """The move of a function's nest into the kernel of what reads it."""

    site: Site
    """The function that moves, with its program and the directive."""
    producer: loop.KernelOp
    """The function's kernel."""
    home: loop.KernelOp
    """The kernel that computes the function then."""


def take_arguments(move: Move) -> BlockArgument:
    """Gives a kernel the arguments of a producer; returns the one that is the producer's tensor."""
    site, producer, home = move
    wanted = {*home.argument_names, *producer.argument_names}
    set_arguments(site.program, home, wanted)
    argument = argument_named(home, site.function)
    assert argument is not None
    return argument


def settle_arguments(move: Move, stays: bool) -> None:
    """Gives a kernel the labels of a producer, and its launch the arguments that the kernel has.

    Args:
        move: the producer's move to the kernel.
        stays: whether the kernel writes the producer's tensor.
    """
    site, producer, home = move
    if not stays:
        set_arguments(site.program, home, {*home.argument_names} - {site.function})
    labels = {*_labels(home), *_labels(producer)}
    home.labels = name_array([x for x in site.program.labels() if x in labels])
    site.program.pass_arguments(home)


def _labels(kernel: loop.KernelOp) -> set[str]:
    return {label.data for label in kernel.labels}


def insert(move: Move, binding: Binding, first: Operation, stays: bool) -> loop.LocalOp:
    """Inserts a copy of a producer's nest, which fills a local buffer.

    Args:
        move: the producer's move.
        binding: the index at which each axis is computed.
        first: the operation in front of which the copy is inserted.
        stays: whether the copy writes the producer's tensor too.

    Raises:
        CompileError: if a part of the loops that the producer has joined is bound.
    """
    site, producer, home = move
    block = first.parent
    assert block is not None
    argument = argument_named(producer, site.function)
    assert argument is not None
    assert isinstance(argument.type, MemRefType)
    labels = producer.axes_of(argument)
    buffer = loop.LocalOp(site.function, labels, argument.type)
    buffer.location = site.location or producer.location
    buffer.result.name_hint = memory_hint(site.function, "buffer")
    block.insert_op_before(buffer, first)

    given = dict(zip(home.argument_names, home.args))
    mapper: dict[SSAValue, SSAValue] = {
        arg: given.get(name, arg) for name, arg in zip(producer.argument_names, producer.args)
    }
    mapper[argument] = buffer.result
    nest = [copy_of(op, mapper) for op in producer.grid.body.block.ops]
    block.insert_ops_before(nest, first)
    write = next(u.operation for u in buffer.result.uses if isinstance(u.operation, loop.WriteOp))
    if stays:
        ours = argument_named(home, site.function)
        assert ours is not None
        copy = loop.WriteOp(write.value, ours, write.simple_indices())
        copy.location = write.location
        assert write.parent is not None
        write.parent.insert_op_after(copy, write)
    bound_to: dict[loop.LoopLike, dict[SSAValue, SSAValue | int | Index]] = {}
    for iv, bound in zip(write.simple_indices(), binding):
        if not isinstance(iv, int) and bound is not None:
            bound_to.setdefault(loop_of(iv), {})[iv] = bound
    for op, ivs in bound_to.items():
        if loop.prefixes_of(op):
            raise site.error(
                f"'{site.function}' is scanned along '{op.label_name}', whose loop is its own",
                "fuse it further out, or leave it unfused",
            )
        parts = next(iter(ivs)).owner
        if isinstance(parts, loop.DelinearizeOp) and len(ivs) < len(parts.indices):
            shown = ", ".join(parts.label_names)
            raise site.error(
                f"'{site.function}' has joined its loops over {shown}, and the loops around the "
                "place are over a part of them",
                f"fuse the same labels in the consumer, leave out '{site.function}.fuse(…)', or "
                "fuse further out",
            )
        for iv, bound in ivs.items():
            bind(op, iv, bound)
        _dissolve(op)
    return buffer


def _dissolve(op: loop.LoopLike) -> None:
    """Replaces a loop by its body, which no longer uses its index."""
    block = op.parent
    assert block is not None
    for inner in list(op.body.block.ops):
        inner.detach()
        block.insert_op_before(inner, op)
    for parts in [use.operation for use in op.iv.uses]:
        Rewriter.erase_op(parts)
    Rewriter.erase_op(op)


def bind(op: loop.LoopLike, iv: SSAValue, bound: SSAValue | int | Index) -> None:
    """Replaces an index of a loop by what it is bound to."""
    index = bound if isinstance(bound, Index) else _as_index(bound)
    accesses = [u.operation for u in iv.uses if isinstance(u.operation, loop.AccessOp)]
    for access in dict.fromkeys(accesses):
        access.replace_index(iv, index)
    for user in [use.operation for use in iv.uses]:
        if not isinstance(bound, int):
            break
        cast = user if isinstance(user, arith.IndexCastOp) else None
        type = IndexType() if cast is None else cast.result.type
        fixed = arith.ConstantOp(IntegerAttr(bound, type, truncate_bits=True))
        fixed.location = user.location
        assert user.parent is not None
        user.parent.insert_op_before(fixed, user)
        if cast is None:
            user.operands = [fixed.result if v is iv else v for v in user.operands]
            continue
        cast.result.replace_all_uses_with(fixed.result)
        Rewriter.erase_op(cast)
    if iv.uses:
        assert not isinstance(bound, int)
        builder = Builder(InsertPoint.before(op))
        value = index_value(builder, bound) if isinstance(bound, Index) else bound
        iv.replace_all_uses_with(value)


def _as_index(bound: SSAValue | int) -> Index:
    """Returns an induction variable or a number as an index."""
    if isinstance(bound, int):
        return Index(number(bound), (), ())
    return Index(dimension(0), (bound,), ())


def set_arguments(program: LoopProgram, kernel: loop.KernelOp, wanted: set[str]) -> None:
    """Gives a kernel the arguments of these names, in the order of a kernel's arguments."""
    values = program.tensor_values()
    order = program.in_argument_order(wanted)
    if order == [*kernel.argument_names]:
        return
    block = kernel.body.block
    old: dict[str, BlockArgument] = dict(zip(kernel.argument_names, kernel.args))
    for name, arg in old.items():
        if name not in order:
            block.erase_arg(arg)
    stay = [name for name in old if name in order] == [name for name in order if name in old]
    for place, name in enumerate(order):
        if stay and name in old:
            continue
        arg = block.insert_arg(values[name].type, place)
        arg.name_hint = memory_hint(name)
        if name in old:
            old[name].replace_all_uses_with(arg)
            block.erase_arg(old[name])
    kernel.set_arguments([(name, host.tensor_axes(values[name])) for name in order])


def index_value(builder: Builder, index: Index) -> SSAValue:
    """Builds the value of an index in a kernel of the `loop` level."""
    sizes = [builder.insert(loop.SizeOp(label)).result for label in index.sizes]
    return build_index(builder, index.expr, index.values, sizes)
