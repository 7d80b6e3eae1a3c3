"""The nest of a function as one expression, with all that its reductions over a label need."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.nests import (
    argument_named,
    function_labels,
    loops_in,
    own_loops,
    reads_of,
    walked_label,
    writes_of,
)
from dt_mlir.builders.loops import sink_between
from dt_mlir.dialects import loop
from dt_mlir.dialects.indices import simple_index
from dt_mlir.laws.body import key_of
from dt_mlir.passes.schedule_fuse_at_copies import Move
from dt_mlir.passes.schedule_fuse_at_nests import check_movable, readers_of
from dt_mlir.passes.schedule_inline_reads import inline
from dt_mlir.passes.schedule_online_labels import labels_alike
from dt_mlir.passes.schedule_online_stores import add_store
from dt_mlir.scheduling.directive import Site
from dt_mlir.traversal import captured_by, operations, operations_of


def needed_functions(site: Site, label: str, together: bool) -> tuple[list[str], set[str]]:
    """Returns the functions that are computed with a function's reductions over a label, and the
    labels that are like that one (`labels_alike`).

    Those are the ones that it needs, directly or through others of them, and that have the label or
    reduce over it, or over one that is alike. A function that is read under other labels than its
    own is not one of them, and neither is one that the pass would compute again at each index of a
    label that it does not have, if that takes a reduction. Each comes behind those that read it.

    Args:
        site: the function, and the directive.
        label: the label.
        together: whether those are among them that are outputs, or that something else reads.
    """
    program, home = site.program, site.kernel
    reads: dict[str, list[str]] = {}

    def visit(kernel: loop.KernelOp) -> None:
        name = kernel.root.data
        if name in reads:
            return
        arguments = [a for a in kernel.argument_names if a != name]
        reads[name] = [a for a in arguments if program.kernel_of(a) is not None]
        for read in reads[name]:
            producer = program.kernel_of(read)
            assert producer is not None
            visit(producer)

    visit(home)
    alike = labels_alike(site, label)
    reducing: dict[str, bool] = {}

    def needs(name: str) -> bool:
        """Returns whether a function has such a label, reduces over it, or reads one that does."""
        if name not in reducing:
            kernel = program.kernel_of(name)
            assert kernel is not None
            own = any(op.label_name in alike for op in loops_in(kernel))
            reducing[name] = own or any(map(needs, reads[name]))
        return reducing[name]

    found = {name for name in reads if name != home.root.data and needs(name)}
    while True:
        others = {*found, home.root.data}
        kept = label if together else None
        apart = {name for name in found if _is_apart(site, name, others, kept)}
        apart |= _repeated(site, alike, others, reads)
        if not apart:
            break
        found -= apart
    order: dict[str, None] = {}

    def place(name: str) -> None:
        for reader in reads:
            if name in reads[reader] and reader in found and reader not in order:
                place(reader)
        order[name] = None

    for name in reads:
        if name in found and name not in order:
            place(name)
    return list(order), alike


def _labels_as_read(site: Site, functions: Collection[str]) -> dict[str, set[str]]:
    """Returns the labels of functions by the names that the root has for them, as far as all reads
    agree.

    Args:
        site: the function that the pass is of.
        functions: the functions, that one among them.
    """
    root = site.kernel.root.data
    (write,) = writes_of(site.kernel, root)
    names = {root: {label: label for label in function_labels(site.kernel, write)}}
    # Those that read a function run behind it.
    for kernel in reversed(site.program.kernels):
        name = kernel.root.data
        if name == root or name not in functions:
            continue
        (write,) = writes_of(kernel, name)
        own = function_labels(kernel, write)
        found: list[set[str]] = [set() for _ in own]
        for reader in (reader for reader in readers_of(site, name) if reader.root.data in names):
            argument = argument_named(reader, name)
            assert argument is not None
            known = names[reader.root.data]
            for read in reads_of(argument):
                for walked, label, index in zip(found, own, read.index_values()):
                    used = walked_label(index) if isinstance(index, SSAValue) else label
                    walked.add(known.get(used, used))
        names[name] = {
            label: next(iter(walked)) for label, walked in zip(own, found) if len(walked) == 1
        }  # fmt: skip
    return {name: {*found.values()} for name, found in names.items()}


def _repeated(
    site: Site, alike: Collection[str], functions: Collection[str],
    reads: Mapping[str, Sequence[str]],
) -> set[str]:  # fmt: skip
    """Returns the functions whose reductions a pass would compute again at each index of a label.
    The label is one that all functions have whose reductions the pass computes: the keys and values
    of attention are the same for all queries. What is computed of such a function, and has not the
    label either, is repeated with it. The autoscheduler expects the same (`repeated`).

    Args:
        site: the function that the pass is of.
        alike: the labels that are like that of the pass.
        functions: the functions of the pass.
        reads: the functions that each function reads.
    """
    labels = _labels_as_read(site, functions)
    reduced: dict[str, set[str]] = {}
    for name in functions:
        kernel = site.program.kernel_of(name)
        assert kernel is not None
        reduced[name] = {op.label_name for op in operations_of(kernel, loop.ReductionLoop)}
    common = [labels[name] for name in functions if not reduced[name].isdisjoint(alike)]
    shared = set[str]().union(*common[:1]).intersection(*common)
    root = site.kernel.root.data
    lacking = {name for name in functions if name != root and not shared <= labels[name]}
    found = {name for name in lacking if reduced[name] and reduced[name].isdisjoint(alike)}
    while further := {n for n in lacking - found if not found.isdisjoint(reads[n])}:
        found |= further
    return found


def _is_apart(site: Site, name: str, others: set[str], label: str | None) -> bool:
    """Returns whether a function is computed by a kernel of its own.

    Args:
        site: the function that the pass is of.
        name: the function in question.
        others: the functions that the pass computes.
        label: the label of the pass, if it also computes what is stored: that has not the label,
            and no kernel before needs it.
    """
    readers = readers_of(site, name)
    if any(k.root.data in others and _reads_otherwise(site, name, k) for k in readers):
        return True
    if not is_stored(site, name, others):
        return False
    if label is None or _is_needed_before(site, [k for k in readers if k.root.data not in others]):
        return True
    same = site.program.host.first_of_same()
    kernel = site.program.kernel_of(name)
    assert kernel is not None
    (write,) = writes_of(kernel, name)
    return same.get(label, label) in {same.get(x, x) for x in function_labels(kernel, write)}


def _is_needed_before(site: Site, kernels: Iterable[loop.KernelOp]) -> bool:
    """Returns whether one of some kernels runs before that of a function."""
    launches = site.program.host.launches()
    own = launches.index(site.program.launch_of(site.kernel))
    return any(launches.index(site.program.launch_of(kernel)) < own for kernel in kernels)


def is_stored(site: Site, name: str, others: Collection[str]) -> bool:
    """Returns whether a function is stored though some functions compute it where they need it."""
    if name in site.program.outputs():
        return True
    return any(kernel.root.data not in others for kernel in readers_of(site, name))


def _reads_otherwise(site: Site, name: str, kernel: loop.KernelOp) -> bool:
    """Returns whether a kernel reads a function under other labels than the function's own."""
    argument = argument_named(kernel, name)
    assert argument is not None
    same = site.program.host.first_of_same()
    labels = [same.get(label, label) for label in kernel.axes_of(argument)]
    for read in reads_of(argument):
        for label, index in zip(labels, read.index_values()):
            if index is None or isinstance(index, int):
                continue
            walked = walked_label(index)
            if same.get(walked, walked) != label:
                return True
    return False


def gather(site: Site, functions: Sequence[str]) -> tuple[list[loop.ForOp], list[str]]:
    """Inlines functions into a function's nest, which becomes a perfect one.

    Equal operations are there once, and reductions stand outside of those that they do not depend
    on.

    Args:
        site: the function, and the directive.
        functions: the functions, each behind those that read it.

    Returns:
        The loops of the nest, outermost first; and the functions that its kernel stores, too.

    Raises:
        CompileError: if a function cannot move to the kernel.
    """
    program, home = site.program, site.kernel
    others = {*functions, site.function}
    stored = [name for name in functions if is_stored(site, name, others)]
    for name in functions:
        producer = program.kernel_of(name)
        assert producer is not None
        own = Site(program, name, site.location, site.directive)
        check_movable(own, producer, "inline", home)
    for name in functions:
        producer = program.kernel_of(name)
        assert producer is not None
        move = Move(Site(program, name, site.location, site.directive), producer, home)
        if name in stored:
            add_store(site, move)
            inline(move, stays=True)
            program.fused(name, home)
            several = True
        else:
            several = inline(move) > 1
            program.inlined(name, home)
        program.gathered[name] = site.function
        if several:
            # What one copy reads is inlined once for all.
            tidy(home.grid.body.block)
    (write,) = writes_of(home, site.function)
    loops = [op for op in own_loops(home, write).values() if isinstance(op, loop.ForOp)]
    nest = [op for op in operations_of(home, loop.ForOp) if op in loops]
    if nest:
        sink_between(nest)
        tidy(nest[-1].body.block)
    else:
        tidy(home.grid.body.block)
    return nest, stored


def tidy(block: Block) -> None:
    """Hoists what reductions do not depend on out of them, and merges equal operations."""
    _hoist_in(block)
    _merge(block, {})
    for op in [inner for outer in block.ops for inner in operations_of(outer, loop.OnlineOp)]:
        # What equals another loop is gone by now.
        if op.parent is not None and _merge_running(op):
            _merge(block, {})
    _remove_dead(block)


def _hoist_in(block: Block) -> None:
    """Hoists what reductions in a block do not depend on out of them, the innermost ones first."""
    for op in list(block.ops):
        if isinstance(op, loop.LoopLike):
            _hoist_in(op.body.block)
        if isinstance(op, loop.ReductionLoop):
            _hoist(op)


def _merge_running(op: loop.OnlineOp) -> bool:
    """Merges equal reductions of a loop, which then has fewer results; returns whether any were."""
    known: dict[Hashable, loop.RunningOp] = {}
    merged: dict[SSAValue, SSAValue] = {}
    for running in op.running:
        earlier = known.setdefault(key_of(running), running)
        if earlier is not running:
            merged.update(zip(running.results, earlier.results))
    if not merged:
        return False
    outs = dict(zip(op.yielded, op.outs))
    for old, new in merged.items():
        outs[old].replace_all_uses_with(outs[new])
        old.replace_all_uses_with(new)
    for running in op.running:
        if running.result in merged:
            Rewriter.erase_op(running)
    kept = [result for running in op.running for result in running.results]
    last = op.body.block.last_op
    assert isinstance(last, loop.YieldOp)
    last.operands = kept
    bounds, domain = list(op.bounds), op.domain
    types = [value.type for value in kept]
    new = loop.OnlineOp(op.label_name, op.function_name, op.detach_region(op.body), types)
    new.location = op.location
    if domain is not None:
        new.take_domain(domain, bounds)
    Rewriter.insert_op(new, InsertPoint.before(op))
    for value, result in zip(kept, new.outs):
        result.name_hint = outs[value].name_hint
        outs[value].replace_all_uses_with(result)
    Rewriter.erase_op(op)
    return True


def _hoist(op: loop.ReductionLoop) -> None:
    """Moves what does not depend on a reduction's index in front of it."""
    block = op.body.block
    assert op.parent is not None
    inside: set[SSAValue] = set(block.args)
    for inner in list(block.ops):
        used = {*inner.operands, *captured_by(inner)}
        moves = not isinstance(inner, loop.YieldOp | loop.WriteOp | loop.RunningOp)
        if moves and inside.isdisjoint(used) and (op.domain is None or _is_safe(inner)):
            inner.detach()
            op.parent.insert_op_before(inner, op)
        else:
            inside.update(inner.results)


def _is_safe(op: Operation) -> bool:
    """Returns whether an operation reads within its tensors for all indices of the loops."""
    return all(
        all(simple_index(expr) is not None for expr in read.map.data.results)
        for read in operations_of(op, loop.ReadOp)
    )


def _merge(block: Block, known: dict[Hashable, Operation]) -> None:
    """Merges operations that compute the same, also with those around a block."""
    known = dict(known)
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                _merge(inner, known)
        own = loop.WriteOp | loop.YieldOp | loop.LocalOp | loop.RunningOp
        if isinstance(op, own) or not op.results:
            continue
        earlier = known.setdefault(key_of(op), op)
        if earlier is not op:
            for old, new in zip(op.results, earlier.results):
                old.replace_all_uses_with(new)
            Rewriter.erase_op(op)


def _remove_dead(block: Block) -> None:
    for op in reversed(list(block.ops)):
        for inner in reversed(operations(op)):
            dead = bool(inner.results) and not any(result.uses for result in inner.results)
            if dead and inner.parent is not None and not operations_of(inner, loop.WriteOp):
                Rewriter.erase_op(inner)
