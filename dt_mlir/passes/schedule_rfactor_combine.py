"""The combination of what is reduced in parts."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from dt_mlir.analysis.nests import argument_named
from dt_mlir.dialects import loop
from dt_mlir.dialects.elem import ReductionKind
from dt_mlir.dialects.identifiers import value_hint
from dt_mlir.passes.schedule_fuse_at_copies import set_arguments
from dt_mlir.passes.schedule_rfactor_parts import Parts, State, settle
from dt_mlir.traversal import captured_by


def combine(parts: Parts) -> None:
    """Replaces reductions over a label by those over its parts.

    What a part's value is when it meets the values of other parts is what the repair of its
    reduction makes of it: the parts are to the combination what steps are to the loop.

    Args:
        parts: what is computed in parts; the tensors are allocated.
    """
    program, home = parts.site.program, parts.site.kernel
    set_arguments(program, home, {*home.argument_names, *(s.name for s in parts.states)})
    _Combination(parts, home).run()
    settle(parts, home)


def _combined(kind: ReductionKind) -> ReductionKind:
    """Returns how the values of two parts combine."""
    return ReductionKind.ADD if kind is ReductionKind.DOT else kind


class _Combination:
    """The loop over the parts of a label.

    Args:
        parts: what is computed in parts.
        kernel: the kernel that combines them.
    """

    def __init__(self, parts: Parts, kernel: loop.KernelOp) -> None:
        self.parts, self.kernel = parts, kernel
        self.block = Block(arg_types=[IndexType()])
        self.block.args[0].name_hint = value_hint(parts.part)
        self.values: dict[SSAValue, SSAValue] = {}
        """The values that stand for those of the body of the loop over the label."""

    def run(self) -> None:
        top = self.parts.top
        if self.parts.summed:
            self._take_sums(top)
            return
        new = self._online(top) if isinstance(top, loop.OnlineOp) else self._reduce(top)
        new.location = self.parts.location
        assert top.parent is not None
        top.parent.insert_op_before(new, top)
        for old, result in zip(top.results, new.results):
            result.name_hint = old.name_hint
            old.replace_all_uses_with(result)
        Rewriter.erase_op(top)

    def _take_sums(self, top: loop.ReductionLoop) -> None:
        """Replaces the loop over the label by reads of what memory holds of all parts."""
        assert top.parent is not None
        for state, old in zip(self.parts.states, top.results):
            tensor = argument_named(self.kernel, state.name)
            assert tensor is not None
            read = loop.ReadOp(tensor, [0, *(around.iv for around in state.loops)])
            read.location = self.parts.location
            read.result.name_hint = old.name_hint
            top.parent.insert_op_before(read, top)
            old.replace_all_uses_with(read.result)
        Rewriter.erase_op(top)

    def _insert(self, op: Operation) -> Operation:
        op.location = self.parts.location
        self.block.add_op(op)
        return op

    def _read(self, state: State) -> SSAValue:
        """Inserts the read of a part's value."""
        tensor = argument_named(self.kernel, state.name)
        assert tensor is not None
        op = loop.ReadOp(tensor, [self.block.args[0], *(around.iv for around in state.loops)])
        op.result.name_hint = value_hint(state.name)
        return self._insert(op).results[0]

    def _reduce(self, top: loop.ReductionLoop) -> loop.ReduceOp:
        assert isinstance(top, loop.ReduceOp)
        kind, function = _combined(top.named_kind), top.function_name
        values = [self._read(state) for state in self.parts.states]
        extreme = None if top.extreme is None else top.extreme.type
        if kind.is_arg:
            values.reverse()
        self._insert(loop.YieldOp(*values))
        return loop.ReduceOp(
            kind, self.parts.part, function, top.result.type, Region(self.block), extreme
        )

    def _online(self, top: loop.OnlineOp) -> loop.OnlineOp:
        states = iter(self.parts.states)
        found: list[SSAValue] = []
        read: dict[SSAValue, SSAValue] = {}
        for op in top.running:
            for result in op.results:
                read[result] = self._read(next(states))
            new = self._running(op, read)
            self._insert(new)
            for old, result in zip(op.results, new.results):
                result.name_hint = old.name_hint
                self.values[old] = result
            found += new.results
        self._insert(loop.YieldOp(*found))
        types = [value.type for value in found]
        return loop.OnlineOp(self.parts.part, top.function_name, Region(self.block), types)

    def _running(
        self, op: loop.RunningOp, read: dict[SSAValue, SSAValue]
    ) -> loop.RunningOp:
        """The reduction of the parts' values.

        Args:
            op: the reduction over the label.
            read: the values of a part, by those of the reductions over the label.
        """
        kind = _combined(op.kind.data)
        if kind.is_arg:
            index, extreme = op.results
            terms = [read[extreme], read[index]]
            return loop.RunningOp(kind, terms, index.type, extreme=extreme.type)
        if op.repair is None:
            return loop.RunningOp(kind, [read[op.result]], op.result.type)
        for value in captured_by(op):
            self._value(value)
        block = op.repair.block
        before = [read[op.result], *(read[source] for source in op.sources)]
        inside = {**self.values, **dict(zip(block.args, before))}
        for inner in block.ops:
            if not isinstance(inner, loop.YieldOp):
                copy = inner.clone(inside)
                inside.update(zip(inner.results, copy.results))
                self._insert(copy)
        element = inside.get(op.repaired, op.repaired)
        sources = [self.values[source] for source in op.sources]
        assert op.law is not None
        repair = Region()
        op.repair.clone_into(repair, value_mapper=dict(self.values))
        return loop.RunningOp(
            kind, [element], op.result.type, sources, op.law.data, repair
        )

    def _value(self, value: SSAValue) -> SSAValue:
        """Returns what stands for a value that depends on running values alone."""
        owner = value.owner
        top = self.parts.top
        if value in self.values or not isinstance(owner, Operation):
            return self.values.get(value, value)
        if owner.parent is not top.body.block:
            return value
        for used in (*owner.operands, *captured_by(owner)):
            self._value(used)
        copy = owner.clone(dict(self.values))
        self._insert(copy)
        for old, result in zip(owner.results, copy.results):
            result.name_hint = old.name_hint
            self.values[old] = result
        return self.values[value]
