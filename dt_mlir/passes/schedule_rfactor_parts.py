"""The kernel that reduces the parts of a label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    AffineMapAttr,
    IndexType,
    IntegerAttr,
    LocationAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from dt_mlir.analysis.loop_program import LoopProgram
from dt_mlir.analysis.nests import argument_named, loops_in
from dt_mlir.analysis.part_labels import part_label
from dt_mlir.copying import copy_of
from dt_mlir.dialects import host, loop
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.formats import name_array, names
from dt_mlir.dialects.identifiers import value_hint
from dt_mlir.passes.schedule_fuse_at_copies import set_arguments
from dt_mlir.scheduling.directive import Site
from dt_mlir.traversal import captured_by, operations, operations_of

_WORDS = {
    ReductionKind.ADD: "sum", ReductionKind.DOT: "sum", ReductionKind.MUL: "product",
    ReductionKind.MAXIMUM: "max", ReductionKind.MINIMUM: "min", ReductionKind.OR: "any",
    ReductionKind.AND: "all",
}  # fmt: skip
"""The names of carried values that nothing names."""


@dataclass(frozen=True)
class State:
    """A value that a reduction carries, of which there is one for each part."""

    name: str
    """The name of its tensor."""
    value: SSAValue
    """The value behind the loop."""
    loops: tuple[loop.ForOp, ...]
    """The loops around that it depends on, outermost first."""

    @property
    def labels(self) -> list[str]:
        """The labels of the loops around that it depends on."""
        return [op.label_name for op in self.loops]


@dataclass(frozen=True)
class Parts:
    """Reductions over a label that are computed in parts."""

    site: Site
    """The function that combines them, and the directive."""
    top: loop.ReductionLoop
    """The outermost loop of what is reduced."""
    label: str
    """The label."""
    part: str
    """The label that numbers its parts."""
    function: str
    """The function that reduces the parts."""
    states: Sequence[State]
    """The values that are carried."""
    location: LocationAttr
    """The place of the directive, or of the reduction."""
    summed: bool = False
    """True if the parts are added in memory."""


def states_of(top: loop.ReductionLoop, function: str) -> list[State]:
    """Returns the values that a loop carries.

    The one that depends on most loops around has the function's name; the names of others begin
    with it. Among several it is the one that depends on an outer loop where the others do not, so
    that the order of operands does not matter.

    Args:
        top: the outermost loop of a nest, or of reductions in one pass.
        function: the function that reduces the parts.
    """
    if isinstance(top, loop.OnlineOp):
        values = [result for op in top.running for result in op.results]
        pairs = list(zip(top.outs, values))
    else:
        pairs = [(result, result) for result in top.results]
    found = [(out, _loops_behind(top, value)) for out, value in pairs]
    around = _loops_around(top)

    def width(place: int) -> tuple[int, list[int]]:
        loops = found[place][1]
        return len(loops), [-around.index(op) for op in loops]

    widest = max(range(len(found)), key=width)
    taken: set[str] = set()
    states: list[State] = []
    for place, (out, loops) in enumerate(found):
        name = function if place == widest else f"{function}_{out.name_hint or _kind_of(out)}"
        while name in taken:
            name += "_"
        taken.add(name)
        states.append(State(name, out, loops))
    return states


def _kind_of(out: SSAValue) -> str:
    """Returns a word for a value that nothing names."""
    top = out.owner
    if isinstance(top, loop.OnlineOp):
        owner = top.yielded[top.outs.index(out)].owner
        assert isinstance(owner, loop.RunningOp)
        if owner.kind.data.is_arg:
            return "index" if owner.results[0] is top.yielded[top.outs.index(out)] else "extreme"
        kind = owner.kind.data
    else:
        assert isinstance(top, loop.ReduceOp)
        kind = top.named_kind
        if kind.is_arg:
            return "index" if top.result is out else "extreme"
    return _WORDS[kind]


def with_extreme(op: loop.ReductionLoop) -> loop.ReductionLoop:
    """Makes an index reduction give its extreme too; returns the loop, which may be a new one."""
    if not isinstance(op, loop.ReduceOp) or not op.named_kind.is_arg or op.extreme is not None:
        return op
    block = op.parent
    assert block is not None
    type = op.yielded[0].type
    region = op.detach_region(op.body)
    new = loop.ReduceOp(
        op.named_kind, op.label_name, op.function_name, op.result.type, region, type
    )
    new.location = op.location
    new.result.name_hint = op.result.name_hint
    block.insert_op_before(new, op)
    op.result.replace_all_uses_with(new.result)
    Rewriter.erase_op(op)
    return new


def _loops_around(top: loop.ReductionLoop) -> list[loop.ForOp]:
    """Returns the loops around a reduction, outermost first."""
    around: list[loop.ForOp] = []
    parent = top.parent_op()
    while isinstance(parent, loop.ForOp):
        around.insert(0, parent)
        parent = parent.parent_op()
    return around


def _loops_behind(top: loop.ReductionLoop, value: SSAValue) -> tuple[loop.ForOp, ...]:
    """Returns the loops around a reduction that a value which it carries depends on."""
    found: set[Operation] = set()
    seen: set[SSAValue] = set()
    pending = [value, *top.bounds]
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if isinstance(owner, Block):
            parent = owner.parent_op()
            if parent is not None:
                found.add(parent)
            continue
        pending += [*owner.operands, *captured_by(owner)]
    return tuple(op for op in _loops_around(top) if op in found)


def add_kernel(parts: Parts, count: int | None, length: int) -> loop.KernelOp:
    """Adds the kernel that reduces the parts, and the tensors that it writes.

    Args:
        parts: what is computed in parts.
        count: the number of parts, if it is given.
        length: the number of indices of a part, if that is given.
    """
    program, home = parts.site.program, parts.site.kernel
    for state in parts.states:
        axes = [parts.part, *state.labels]
        program.allocate(
            state.name, axes, state.value.type, parts.location, summed=parts.summed
        )
    copy = copy_of(home)
    copy.location = parts.location
    copies = dict(zip(operations(home), operations(copy)))
    copy.sym_name = StringAttr(f"{parts.function}_kernel")
    copy.root = StringAttr(parts.function)
    own = (
        "num_warps", "num_stages", "persistent", "alternating", "dependent_launch", "precision",
        "math", "unroll_jam", "summed",
    )  # fmt: skip
    for name in own:
        copy.properties.pop(name, None)
    if parts.summed:
        copy.summed = name_array([state.name for state in parts.states])
    top = copies[parts.top]
    assert isinstance(top, loop.ReductionLoop)
    for op in operations_of(copy, loop.WriteOp):
        Rewriter.erase_op(op)
    set_arguments(program, copy, {*copy.argument_names, *(state.name for state in parts.states)})
    walk = _walk_parts(parts, copy, top, count, length)
    _write(parts, copy, top, copies, walk)
    _remove_dead(copy)
    for op in loops_in(copy):
        if op.function_name == parts.site.function:
            op.function = StringAttr(parts.function)
    _settle(parts, copy)
    program.add(copy, home)
    return copy


def _walk_parts(
    parts: Parts,
    kernel: loop.KernelOp,
    top: loop.ReductionLoop,
    count: int | None,
    length: int,
) -> loop.ForOp:
    """Puts the loop over the parts around what a kernel computes; returns it."""
    body = kernel.grid.body.block
    block = Block(arg_types=[IndexType()])
    block.args[0].name_hint = value_hint(parts.part)
    part = loop.PartOp(block.args[0], parts.label, count, 1 if count is not None else length)
    part.first.name_hint, part.end.name_hint = (
        value_hint(f"{parts.label}_{end}") for end in ("first", "end")
    )
    ops = list(body.ops)
    for op in ops:
        op.detach()
    block.add_ops([part, *ops])
    walk = loop.ForOp(parts.part, parts.function, Region(block))
    body.add_op(walk)
    for op in (walk, part):
        op.location = parts.location
    for op in loops_in(top):
        if isinstance(op, loop.ReductionLoop) and op.label_name == parts.label:
            op.set_part(part.first, part.end)
            # What each of its elements reduces over the label is not split.
            break
    return walk


def _write(
    parts: Parts,
    kernel: loop.KernelOp,
    top: loop.ReductionLoop,
    copies: dict[Operation, Operation],
    walk: loop.ForOp,
) -> None:
    """Inserts the writes of what a part's reductions carry."""
    used = [op for op in _loops_around(parts.top) if any(op in s.loops for s in parts.states)]
    last: Operation = top
    for state, value in zip(parts.states, top.results):
        target = argument_named(kernel, state.name)
        assert target is not None
        indices: list[SSAValue] = [walk.iv]
        first: list[SSAValue] = []
        for op in used:
            around = copies[op]
            assert isinstance(around, loop.ForOp)
            (indices if op in state.loops else first).append(around.iv)
        write = loop.WriteOp(value, target, indices, first)
        write.location = parts.location
        assert last.parent is not None
        last.parent.insert_op_after(write, last)
        last = write


def _remove_dead(kernel: loop.KernelOp) -> None:
    """Removes what nothing that a kernel writes depends on, and loops that nothing is for."""
    grid = kernel.grid
    for op in reversed(operations(grid)[1:]):
        if isinstance(op, loop.WriteOp | loop.YieldOp) or op.parent is None:
            continue
        if any(result.uses for result in op.results) or operations_of(op, loop.WriteOp):
            continue
        Rewriter.erase_op(op)
    for op in operations_of(grid, loop.ForOp):
        if not op.iv.uses:
            block = op.parent
            assert block is not None
            for inner in list(op.body.block.ops):
                inner.detach()
                block.insert_op_before(inner, op)
            Rewriter.erase_op(op)


def _settle(parts: Parts, kernel: loop.KernelOp) -> None:
    """Gives a kernel the arguments and the labels that it needs."""
    used = {n for n, arg in zip(kernel.argument_names, kernel.args) if arg.uses}
    set_arguments(parts.site.program, kernel, used)
    known = {*names(kernel.labels), parts.part}
    kernel.labels = name_array([x for x in parts.site.program.labels() if x in known])


def settle(parts: Parts, kernel: loop.KernelOp) -> None:
    """Removes what a kernel no longer needs, and gives its launch the arguments that it has."""
    _remove_dead(kernel)
    _settle(parts, kernel)
    parts.site.program.pass_arguments(kernel)


def set_count(program: LoopProgram, label: str, count: int) -> None:
    """Cuts a label into another number of parts, where `rfactor` has cut it into a number of them.

    Args:
        program: the program, in which no scan goes through the parts.
        label: the label.
        count: the number of parts, 1 or more.
    """
    for op in operations_of(program.module, loop.PartOp):
        if op.label.data == label:
            op.count = IntegerAttr(count, i64)
    definition = part_label(f"{label}_part", label, count, 0)
    for op in operations_of(program.module, host.DefineOp):
        if op.label.data == definition.label:
            op.size = AffineMapAttr(definition.map)
