"""Scans in chunks over the grid: what each chunk adds, and what all chunks before it have added.

A block of the grid scans a chunk. Of chunks of a length it is a block of the label that is scanned;
of a number of chunks, which tiling makes whole tiles, it is a block of the label that numbers them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects.builtin import IndexType, UnitAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from dt_mlir.analysis.nests import own_loops, writes_of
from dt_mlir.builders.reductions import combine as combined
from dt_mlir.dialects import loop
from dt_mlir.dialects.identifiers import value_hint
from dt_mlir.dialects.indices import add, dimension, multiply, number
from dt_mlir.dialects.loop import WalkAttr
from dt_mlir.passes.schedule_rfactor_combine import combine
from dt_mlir.passes.schedule_rfactor_parts import Parts
from dt_mlir.scheduling.directive import Site
from dt_mlir.traversal import captured_by


def scanned_loop(site: Site, label: str) -> loop.ForOp | None:
    """Returns the loop of a function that walks a label and scans; None if there is none."""
    kernel = site.kernel
    own = own_loops(kernel, writes_of(kernel, site.function)[0]).get(label)
    return own if isinstance(own, loop.ForOp) and loop.prefixes_of(own) else None


def check_scan(site: Site, walked: loop.ForOp) -> None:
    """Checks that what a loop scans can be computed in chunks.

    Raises:
        CompileError: if it cannot.
    """
    label = walked.label_name
    if walked.origin is not None:
        raise site.error(f"'{label}' is scanned in chunks already", "leave one of them out")
    if any(prefix.factor is not None for prefix in loop.prefixes_of(walked)):
        raise site.error(
            f"the elements that are scanned along '{label}' have factors",
            "a scan of sums, products or extremes is computed in chunks; leave out rfactor",
        )


def total_of(walked: loop.ForOp) -> loop.ReductionLoop:
    """Inserts the reductions of all elements that a loop scans, in front of it."""
    prefixes = loop.prefixes_of(walked)
    needed = {prefix.value for prefix in prefixes}
    elements: list[Operation] = []
    for op in reversed(list(walked.body.block.ops)):
        if needed.intersection(op.results):
            elements.insert(0, op)
            needed.update([*op.operands, *captured_by(op)])
    block = Block(arg_types=[IndexType()])
    block.args[0].name_hint = walked.iv.name_hint
    values: dict[SSAValue, SSAValue] = {walked.iv: block.args[0]}
    block.add_ops(op.clone(values) for op in elements)
    total = _reduced(walked, prefixes, block, values)
    for new, prefix in zip(total.results, prefixes):
        new.name_hint = prefix.result.name_hint
    total.location = prefixes[0].location
    assert walked.parent is not None
    walked.parent.insert_op_before(total, walked)
    return total


def _reduced(
    walked: loop.ForOp,
    prefixes: Sequence[loop.PrefixOp],
    block: Block,
    values: dict[SSAValue, SSAValue],
) -> loop.ReductionLoop:
    """Returns the loop that reduces the elements that a block computes."""
    label, function = walked.label_name, walked.function_name
    terms = [values.get(prefix.value, prefix.value) for prefix in prefixes]
    types = [prefix.result.type for prefix in prefixes]
    if len(prefixes) == 1:
        block.add_op(loop.YieldOp(terms[0]))
        kind = prefixes[0].kind.data
        return loop.ReduceOp(kind, label, function, types[0], Region(block))
    running = [
        loop.RunningOp(prefix.kind.data, [term], type)
        for prefix, term, type in zip(prefixes, terms, types)
    ]
    for op, prefix in zip(running, prefixes):
        op.location = prefix.location
        op.result.name_hint = prefix.result.name_hint
    block.add_ops([*running, loop.YieldOp(*(op.result for op in running))])
    return loop.OnlineOp(label, function, Region(block), types)


def scan_chunks(parts: Parts, walked: loop.ForOp, count: int | None, length: int) -> None:
    """Lets a block of the grid scan each chunk, from what the chunks before have added.

    Args:
        parts: the reductions of all elements, which are computed in parts; the tensors are
            allocated.
        walked: the loop that scans.
        count: the number of chunks, if it is given.
        length: the number of indices of a chunk, if that is given.
    """
    prefixes = loop.prefixes_of(walked)
    if count is None:
        chunk = _block(parts, walked.label_name, length)
        walked.set_range(chunk, length)
    else:
        chunk = _walk_chunks(parts, walked, count)
    sums = [_added(prefix, total) for prefix, total in zip(prefixes, parts.top.results)]
    for op in sums:
        op.location = parts.location
    combine(parts)
    before = sums[0].operands[0].owner
    assert isinstance(before, loop.ReductionLoop)
    for result in before.results:
        result.name_hint = "before"
    # The chunks that are combined end where this one begins, or in front of it.
    step = length if count is None else 1
    distance = add(multiply(dimension(0), number(-step)), dimension(1))
    if prefixes[0].descending is not None:
        distance = multiply(distance, number(-1))
    before.set_domain([add(distance, number(-step))], [chunk], [])


def _block(parts: Parts, label: str, extent: int) -> SSAValue:
    """Adds a label to the grid, in the order of the loops; returns the first index of a block."""
    kernel = parts.site.kernel
    own = own_loops(kernel, writes_of(kernel, parts.site.function)[0])
    blocked = {*kernel.grid.label_names, label}
    # The label that numbers the chunks takes the place of the one that is scanned.
    walks = [label if other == parts.label else other for other in reversed(own)]
    return kernel.grid.add_block(label, extent, [WalkAttr(x) for x in walks if x in blocked])


def _walk_chunks(parts: Parts, walked: loop.ForOp, count: int) -> SSAValue:
    """Puts the loop over the chunks, of which a block has one, around all that is computed.

    Returns:
        The number of a chunk.
    """
    kernel = parts.site.kernel
    origin = _block(parts, parts.part, 1)
    body = kernel.grid.body.block
    block = Block(arg_types=[IndexType()])
    block.args[0].name_hint = value_hint(parts.part)
    part = loop.PartOp(block.args[0], parts.label, count, 1, parts.function)
    part.first.name_hint, part.end.name_hint = (
        value_hint(f"{parts.label}_{end}") for end in ("first", "end")
    )
    ops = list(body.ops)
    for op in ops:
        op.detach()
    block.add_ops([part, *ops])
    chunks = loop.ForOp(parts.part, parts.site.function, Region(block))
    chunks.set_range(origin, 1)
    body.add_op(chunks)
    for op in (chunks, part):
        op.location = parts.location
    walked.set_part(part.first, part.end)
    return chunks.iv


def _added(prefix: loop.PrefixOp, total: SSAValue) -> Operation:
    """Inserts the combination of a scan in a chunk with what comes before it; returns it."""
    prefix.chunked = UnitAttr()
    users = list(prefix.result.uses)
    builder = Builder(InsertPoint.after(prefix))
    value = combined(builder, prefix.kind.data, total, prefix.result)
    value.name_hint = prefix.result.name_hint
    for use in users:
        use.operation.operands[use.index] = value
    assert isinstance(value.owner, Operation)
    return value.owner
