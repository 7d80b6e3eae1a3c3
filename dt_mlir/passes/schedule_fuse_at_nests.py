"""Fusion: moves the nest of a function into a loop of its consumer."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.loop_program import LoopProgram
from dt_mlir.analysis.nests import (
    argument_named,
    encloses,
    function_labels,
    loop_of,
    loops_in,
    own_loops,
    reads_of,
    writes_of,
)
from dt_mlir.boundary_conditions import CONSTANT
from dt_mlir.builders.indices import build_index, index_in_bounds, is_in_bounds
from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects import host, loop
from dt_mlir.dialects.formats import name_array
from dt_mlir.dialects.identifiers import memory_hint
from dt_mlir.dialects.indices import dimension, number
from dt_mlir.dialects.loop import Index
from dt_mlir.dialects.numbers import constant
from dt_mlir.scheduling.directive import Site
from dt_mlir.traversal import operations_of

Binding = tuple[SSAValue | int | Index | None, ...]
"""The index at which each axis of a fused function is computed; None: its own loop."""


def check_fusible(site: Site, producer: loop.KernelOp, consumer: str) -> loop.KernelOp:
    """Checks what must hold before a producer can move; returns the kernel that it moves to.

    Raises:
        CompileError: where it cannot.
    """
    program, name = site.program, site.function
    home = program.home_of(consumer)
    if home is None and program.is_inlined(consumer):
        raise site.error(
            f"'{consumer}' is inlined, and has no loops of its own",
            f"fuse '{name}' into the function that reads '{consumer}'",
        )
    if home is None:
        raise site.error(
            f"there is no function '{consumer}' to fuse into",
            did_you_mean(consumer, program.functions()),
        )
    if home is producer:
        raise site.error(f"'{name}' cannot be fused into itself")
    check_movable(site, producer, "fuse", home)
    launches = program.host.launches()
    for kernel in readers_of(site, name):
        order = [launches.index(program.launch_of(k)) for k in (home, kernel)]
        if kernel not in (home, producer) and order[0] > order[1]:
            user = kernel.root.data
            fusible = argument_named(home, user) is not None
            raise site.error(
                f"'{user}' needs '{name}' before the kernel of '{home.root.data}' runs",
                (f"fuse '{user}' too, or " if fusible else "") + f"leave '{name}' unfused",
            )
    return home


def readers_of(site: Site, name: str) -> list[loop.KernelOp]:
    """Returns the kernels that read a function's tensor."""
    found: list[loop.KernelOp] = []
    for kernel in site.program.users_of(name):
        argument = argument_named(kernel, name)
        if argument is not None and reads_of(argument):
            found.append(kernel)
    return found


def check_movable(
    site: Site, producer: loop.KernelOp, verb: str, home: loop.KernelOp | None = None
) -> None:
    """Checks that nothing shapes the kernel of a function that goes elsewhere.

    Args:
        site: what the directive is applied to.
        producer: the kernel of the function.
        verb: what the directive does to the function.
        home: the kernel that the function moves to, if there is a single one.

    Raises:
        CompileError: where it cannot move.
    """
    name = site.function
    if producer.grid.label_names:
        raise site.error(f"'{name}' is already partitioned into blocks", f"{verb} it first")
    for hint in ("num_warps", "num_stages", "precision", "math"):
        if hint in producer.properties:
            where = "its readers" if home is None else f"'{home.root.data}.{hint}(…)'"
            raise site.error(
                f"'{name}' has a '{hint}', which belongs to the kernel that it is {verb}d into",
                f"set it for {where}" if home is None else f"write {where}",
            )
    tensor = site.program.tensor_values()[name]
    if any(m > 1 for m in host.alignment_of(tensor)):
        raise site.error(f"the storage of '{name}' is aligned, and {verb}d it has none")
    if isinstance(tensor.owner, host.AllocOp) and tensor.owner.order is not None:
        raise site.error(f"the storage of '{name}' has an order, and {verb}d it has none")
    if any(op.is_tile for op in loops_in(producer)):
        raise site.error(f"the loops of '{name}' are already tiled", f"{verb} it first")


def find_loops(
    site: Site, home: loop.KernelOp, consumer: str, label: str, producer: str
) -> list[loop.LoopLike]:
    """The loops over a label in the nests of a consumer that use a producer.

    There is one for each time that the consumer is computed.

    Raises:
        CompileError: if there is no such loop, or a use lies outside.
    """
    argument = argument_named(home, producer)
    reads = reads_of(argument) if argument is not None else []
    found: list[loop.LoopLike] = []
    labels: list[str] = []
    for write in writes_of(home, consumer):
        axes = dict(zip(function_labels(home, write), write.simple_indices()))
        own = own_loops(home, write)
        index = axes.get(label)
        if isinstance(index, int):
            raise site.error(
                f"'{consumer}' is computed only where '{label}' is {index}, without a loop",
                "fuse it at another label, or further out",
            )
        labels.extend(own)
        if label in own:
            found.append(own[label])
            continue
        reductions = [op for op in loops_in(_nest(write)) if op.function_name == consumer]
        labels.extend(op.label_name for op in reductions)
        found.extend(
            op
            for op in reductions
            if op.label_name == label and any(encloses(op, read) for read in reads)
        )
    if label not in labels:
        known = list(dict.fromkeys(labels))
        raise site.error(
            f"'{consumer}' has no loop over '{label}'",
            did_you_mean(label, known) or f"it has loops over {', '.join(known) or 'no label'}",
        )
    outside = [read for read in reads if not any(encloses(op, read) for op in found)]
    if len(outside) == len(reads):
        raise site.error(
            f"'{consumer}' does not use '{producer}'"
            + (f" in its loop over '{label}'" if reads else ""),
            f"fuse '{producer}' where it is used",
        )
    if outside:
        user = _function_of(home, outside[0])
        raise site.error(
            f"'{user}' needs '{producer}' outside the loop over '{label}' of '{consumer}'",
            "fuse it further out, at a loop around every use",
        )
    return list(dict.fromkeys(op for op in found if any(encloses(op, r) for r in reads)))


def _nest(write: loop.WriteOp) -> Operation:
    """The outermost loop of a function's nest."""
    op: Operation = write
    parent = write.parent_op()
    while isinstance(parent, loop.LoopLike):
        op, parent = parent, parent.parent_op()
    return parent if op is write and parent is not None else op


def _function_of(kernel: loop.KernelOp, op: Operation) -> str:
    parent = op.parent_op()
    return parent.function_name if isinstance(parent, loop.LoopLike) else kernel.root.data


def fuse(
    site: Site,
    producer: loop.KernelOp,
    home: loop.KernelOp,
    loops: Sequence[loop.LoopLike],
) -> list[loop.LocalOp]:
    """Moves a producer's nest into loops of another kernel, and takes its kernel from the host.

    The producer's tensor is written there if it is an output, or another kernel reads it.

    Returns:
        The buffers that hold the producer's values now, whose loops walk its whole domain.
    """
    name = site.function
    stays = name in site.program.outputs() or any(k is not home for k in readers_of(site, name))
    argument = _take_arguments(site, producer, home)
    buffers: list[loop.LocalOp] = []
    for place in loops:
        groups: dict[Binding, list[loop.ReadOp]] = {}
        for read in reads_of(argument):
            if encloses(place, read):
                _check_read(site, read)
                binding = _binding(read, place)
                _check_joined(site, binding)
                groups.setdefault(binding, []).append(read)
        for binding, reads in groups.items():
            buffer = _insert(site, producer, home, place.body.block, binding, reads, stays)
            buffers.append(buffer)
            for read in reads:
                read.operands[0] = buffer.result
    _settle_arguments(site, producer, home, stays)
    site.program.fused(name, home)
    if not stays:
        site.program.drop_tensor(name)
    return buffers


def inline(site: Site, producer: loop.KernelOp, home: loop.KernelOp) -> None:
    """Replaces the reads of a producer in a kernel by copies of its nest without its loops."""
    for read in reads_of(_take_arguments(site, producer, home)):
        assert read.parent is not None
        binding, inside = _indices_in_bounds(read, producer)
        last = read.prev_op
        buffer = _insert(site, producer, home, read.parent, binding, [read], False)
        (write,) = (u.operation for u in buffer.result.uses)
        assert isinstance(write, loop.WriteOp)
        value = write.value
        if inside is not None:
            _guard_reads(last, read)
            value = _chosen(read, inside, value)
        read.result.replace_all_uses_with(value)
        for op in (read, write, buffer):
            Rewriter.erase_op(op)
    _settle_arguments(site, producer, home, False)


def _indices_in_bounds(
    read: loop.ReadOp, producer: loop.KernelOp
) -> tuple[Binding, SSAValue | None]:
    """Returns the indices at which a read needs a function, and whether they are in bounds.

    Under a boundary condition they are made such that they are; under `constant_exterior` another
    value stands where they were not.
    """
    axes = [read.index_at(axis) for axis in range(len(read.map.data.results))]
    if read.boundary is None:
        simple = [v for v in read.index_values() if v is not None]
        return tuple(simple if len(simple) == len(axes) else axes), None
    kind = read.boundary.data
    builder = Builder(InsertPoint.before(read))
    labels = function_labels(producer, writes_of(producer, producer.root.data)[0])
    binding: list[Index] = []
    inside: SSAValue | None = None
    for label, axis in zip(labels, axes):
        value = index_value(builder, axis)
        size = builder.insert(loop.SizeOp(label)).result
        if kind == CONSTANT:
            found = is_in_bounds(builder, value, size, False)
            inside = found if inside is None else builder.insert(arith.AndIOp(inside, found)).result
        near = "repeat_edge" if kind == CONSTANT else kind
        moved = index_in_bounds(builder, near, value, size)
        binding.append(Index(dimension(0), (moved,), ()))
    return tuple(binding), inside


def _guard_reads(last: Operation | None, read: loop.ReadOp) -> None:
    """Makes what was inserted in front of a read touch nothing out of bounds.

    An index that was moved into bounds is not in bounds where there are none: in an empty axis.
    """
    assert read.parent is not None
    op = read.parent.first_op if last is None else last.next_op
    while op is not None and op is not read:
        for inner in operations_of(op, loop.ReadOp):
            if inner.boundary is None and not isinstance(inner.base.owner, loop.LocalOp):
                inner.boundary = StringAttr(CONSTANT)
                inner.exterior = constant(0, inner.result.type)
        op = op.next_op


def _chosen(read: loop.ReadOp, inside: SSAValue, value: SSAValue) -> SSAValue:
    """Returns the value of a read under `constant_exterior`."""
    assert read.exterior is not None
    builder = Builder(InsertPoint.before(read))
    exterior = builder.insert(arith.ConstantOp(read.exterior)).result
    chosen = builder.insert(arith.SelectOp(inside, value, exterior))
    chosen.location = read.location
    return chosen.result


def index_value(builder: Builder, index: Index) -> SSAValue:
    """Builds the value of an index in a kernel of the `loop` level."""
    sizes = [builder.insert(loop.SizeOp(label)).result for label in index.sizes]
    return build_index(builder, index.expr, index.values, sizes)


def _take_arguments(
    site: Site, producer: loop.KernelOp, home: loop.KernelOp
) -> BlockArgument:
    """Gives a kernel the arguments of a producer; returns the one that is the producer's tensor."""
    wanted = {*home.argument_names, *producer.argument_names}
    _set_arguments(site.program, home, wanted)
    argument = argument_named(home, site.function)
    assert argument is not None
    return argument


def _settle_arguments(
    site: Site, producer: loop.KernelOp, home: loop.KernelOp, stays: bool
) -> None:
    """Gives a kernel the labels of a producer, and its launch the arguments that the kernel has.

    Args:
        site: what the directive is applied to.
        producer: the producer's kernel.
        home: the kernel that computes the producer now.
        stays: whether the kernel writes the producer's tensor.
    """
    if not stays:
        _set_arguments(site.program, home, {*home.argument_names} - {site.function})
    labels = {*_labels(home), *_labels(producer)}
    home.labels = name_array([x for x in site.program.labels() if x in labels])
    launch, values = site.program.launch_of(home), site.program.tensor_values()
    launch.operands = [values[argument] for argument in home.argument_names]


def _labels(kernel: loop.KernelOp) -> set[str]:
    return {label.data for label in kernel.labels}


def _check_read(site: Site, read: loop.ReadOp) -> None:
    """Checks that one step of a loop needs a function at indices that one of its loops walks.

    Raises:
        CompileError: at a read in a window, or under a boundary condition.
    """
    if read.boundary is None and len(read.simple_indices()) == len(read.map.data.results):
        return
    where = "under a boundary condition" if read.boundary is not None else (
        "at an index that is not a label by itself"
    )
    raise site.error(
        f"'{site.function}' is read {where}, so that a step needs more of it than a tile",
        f"write {site.function}.inline(), or leave '{site.function}' unfused",
    )


def _check_joined(site: Site, binding: Binding) -> None:
    """Checks that a function is read at all indices of a joined loop around it, or at none.

    Raises:
        CompileError: where it is read at a part of them.
    """
    for value in binding:
        parts = value.owner if isinstance(value, SSAValue) else None
        if isinstance(parts, loop.DelinearizeOp) and not set(parts.indices) <= set(binding):
            shown, consumer = ", ".join(parts.label_names), loop_of(parts.index).function_name
            raise site.error(
                f"'{site.function}' is read at a part of the labels {shown}, whose loops "
                f"'{consumer}' has joined",
                f"write {site.function}.inline(), or leave '{site.function}' unfused",
            )


def _binding(read: loop.ReadOp, place: loop.LoopLike) -> Binding:
    """Returns the index that a read fixes around a place: a number, or an enclosing loop's."""
    return tuple(
        index if isinstance(index, int) or encloses(loop_of(index), place) else None
        for index in read.simple_indices()
    )


def _insert(
    site: Site,
    producer: loop.KernelOp,
    home: loop.KernelOp,
    block: Block,
    binding: Binding,
    reads: list[loop.ReadOp],
    stays: bool,
) -> loop.LocalOp:
    """Inserts a copy of the producer's nest before its first use in a block."""
    first: Operation = reads[0]
    while first.parent is not block:
        parent = first.parent_op()
        assert parent is not None
        first = parent
    argument = argument_named(producer, site.function)
    assert argument is not None
    assert isinstance(argument.type, MemRefType)
    labels = producer.axes_of(argument)
    buffer = loop.LocalOp(site.function, labels, argument.type)
    buffer.location = site.location or producer.location
    buffer.result.name_hint = memory_hint(site.function, "buffer")
    block.insert_op_before(buffer, first)

    mapper: dict[SSAValue, SSAValue] = {}
    for arg, arg_name in zip(producer.args, producer.argument_names):
        ours = argument_named(home, arg_name)
        mapper[arg] = ours if ours is not None else arg
    mapper[argument] = buffer.result
    nest = [op.clone(mapper) for op in producer.grid.body.block.ops]
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
            _bind(op, iv, bound)
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


def _bind(op: loop.LoopLike, iv: SSAValue, bound: SSAValue | int | Index) -> None:
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
        fixed = arith.ConstantOp(IntegerAttr(bound, type))
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


def _set_arguments(program: LoopProgram, kernel: loop.KernelOp, wanted: set[str]) -> None:
    """Gives a kernel the arguments of these names, in the order of a kernel's arguments."""
    values = program.tensor_values()
    order = program.in_argument_order(wanted)
    block = kernel.body.block
    old: dict[str, BlockArgument] = dict(zip(kernel.argument_names, kernel.args))
    fresh = {}
    for name in order:
        arg = block.insert_arg(values[name].type, len(block.args))
        arg.name_hint = memory_hint(name)
        fresh[name] = arg
        if name in old:
            old[name].replace_all_uses_with(arg)
    for arg in old.values():
        block.erase_arg(arg)
    kernel.set_arguments([(name, host.tensor_axes(values[name])) for name in order])
