"""Fusion: moves the nest of a function into a loop of its consumer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from dt_mlir.analysis.nests import (
    argument_named,
    encloses,
    function_labels,
    loop_of,
    loops_in,
    own_loops,
    reads_of,
    walked_label,
    writes_of,
)
from dt_mlir.diagnostics import did_you_mean
from dt_mlir.dialects import host, loop
from dt_mlir.passes.schedule_fuse_at_copies import (
    Binding,
    Move,
    insert,
    settle_arguments,
    take_arguments,
)
from dt_mlir.passes.schedule_fuse_at_windows import Window, compute_window, window_of
from dt_mlir.scheduling.directive import Site
from dt_mlir.traversal import operations_of


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
    if verb == "inline" and operations_of(producer, loop.PrefixOp):
        raise site.error(
            f"'{name}' is scanned, and is not computed for each index by itself",
            f"leave out '{name}.{site.directive}'",
        )
    if verb == "inline" and operations_of(producer, loop.PartOp):
        raise site.error(
            f"'{name}' reduces parts, and is not computed for each index by itself",
            f"leave out '{name}.{site.directive}'",
        )
    if producer.grid.label_names and operations_of(producer, loop.PrefixOp):
        raise site.error(
            f"'{name}' is scanned in chunks, which are blocks of a kernel of its own",
            f"leave out '{name}.{site.directive}', or rfactor",
        )
    if name in producer.summed_names:
        raise site.error(
            f"the parts of '{name}' are added in memory", "leave out 'atomic', or "
            f"'{name}.{site.directive}'",
        )  # fmt: skip
    if producer.grid.label_names:
        raise site.error(f"'{name}' is already partitioned into blocks", f"{verb} it first")
    hints = (
        "num_warps", "num_stages", "persistent", "alternating", "dependent_launch", "precision",
        "math",
    )  # fmt: skip
    for hint in hints:
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


class _Needs(NamedTuple):
    """The elements of a producer that an iteration of a loop needs."""

    place: loop.LoopLike
    tiles: dict[Binding, list[loop.ReadOp]]
    """The reads at labels, by the index that each axis has around the loop."""
    windows: dict[Window, list[loop.ReadOp]]
    """The other reads."""


def fuse(move: Move, loops: Sequence[loop.LoopLike]) -> list[loop.LocalOp]:
    """Moves a producer's nest into loops of another kernel, and takes its kernel from the host.

    The producer's tensor is written there if it is an output, or another kernel reads it.

    Returns:
        The buffers that hold the producer's values now, whose loops walk its whole domain.

    Raises:
        CompileError: if the tensor is written, and nothing computes all of it.
    """
    site, producer, home = move
    name = site.function
    stays = name in site.program.outputs() or any(k is not home for k in readers_of(site, name))
    needs = [_needs(site, producer, home, place, loops) for place in loops]
    if stays and not any(need.tiles for need in needs):
        raise site.error(
            f"'{name}' is stored, and a step of the loop needs it in windows only",
            f"leave '{name}' unfused",
        )
    take_arguments(move)
    buffers: list[loop.LocalOp] = []
    for place, tiles, windows in needs:
        for binding, reads in tiles.items():
            buffer = insert(move, binding, _around(reads[0], place), stays)
            buffers.append(buffer)
            for read in reads:
                read.operands[0] = buffer.result
        for reads in windows.values():
            buffers.append(compute_window(move, place, _around(reads[0], place), reads))
    settle_arguments(move, stays)
    site.program.fused(name, home)
    if not stays:
        site.program.drop_tensor(name)
    return buffers


def _needs(
    site: Site, producer: loop.KernelOp, home: loop.KernelOp, place: loop.LoopLike,
    loops: Sequence[loop.LoopLike],
) -> _Needs:
    """Returns what the iterations of a loop need, but for what a loop inside of it computes."""
    inner = [other for other in loops if place.is_ancestor(other) and other is not place]
    labels = function_labels(producer, writes_of(producer, site.function)[0])
    needs = _Needs(place, {}, {})
    argument = argument_named(home, site.function)
    assert argument is not None
    for read in reads_of(argument):
        if encloses(place, read) and not any(encloses(other, read) for other in inner):
            binding = _binding(site, labels, read, place)
            if binding is None:
                needs.windows.setdefault(window_of(read), []).append(read)
            else:
                needs.tiles.setdefault(binding, []).append(read)
    return needs


def _around(read: Operation, place: loop.LoopLike) -> Operation:
    """Returns the operation in a loop's block that is, or contains, another one."""
    while read.parent is not place.body.block:
        parent = read.parent_op()
        assert parent is not None
        read = parent
    return read


def _binding(
    site: Site, labels: Sequence[str], read: loop.ReadOp, place: loop.LoopLike
) -> Binding | None:
    """Returns the index that a read fixes around a place: a number, or an enclosing loop's.

    None for a read in a window: under a boundary condition, at an index that is not a label by
    itself, at a label of another size than the axis, or at a part of the labels of a joined loop
    around the place.
    """
    indices = read.simple_indices()
    if read.boundary is not None or len(indices) < len(read.map.data.results):
        return None
    same = site.program.host.first_of_same()
    for label, index in zip(labels, indices):
        walked = label if isinstance(index, int) else walked_label(index)
        if same.get(walked, walked) != same.get(label, label):
            return None
    binding = tuple(
        index if isinstance(index, int) or encloses(loop_of(index), place) else None
        for index in indices
    )
    for value in binding:
        parts = value.owner if isinstance(value, SSAValue) else None
        if isinstance(parts, loop.DelinearizeOp) and not set(parts.indices) <= set(binding):
            return None
    return binding
