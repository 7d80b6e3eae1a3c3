"""`warp-split-producer`: lets a group of its own copy what others multiply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.analysis.shared_memory import SHARED_MEMORY, shared_memory_of
from dt_mlir.builders.constants import raise_constants
from dt_mlir.builders.dead_code import remove_dead
from dt_mlir.builders.index import IndexBuilder
from dt_mlir.diagnostics import CompileError, directive_location
from dt_mlir.dialects import warp
from dt_mlir.dialects.tile.types import axes_of
from dt_mlir.dialects.warp.kernel import REGISTERS as MOST_REGISTERS
from dt_mlir.dialects.warp.kernel import THREADS
from dt_mlir.dialects.warp.types import WARPGROUP
from dt_mlir.traversal import operations, operations_of

STAGES = 3
"""The depth of rings, if the schedule does not say."""
REGISTERS = 24
"""The registers of the producer's threads."""


@dataclass
class _Copies:
    """Copies that arrive at one barrier, and what waits for them."""

    expect: warp.MBarrierExpectOp
    wait: warp.MBarrierWaitOp
    loads: list[warp.TmaLoadOp]
    counter: SSAValue
    """The number of the trip."""
    release: Operation
    """The end of the products that read what was copied: a wait, or the loop that they are in."""
    stages: int
    shared: set[Operation] = field(default_factory=set[Operation])
    """The copies that are the same for all groups."""
    ready: SSAValue | None = None
    empty: SSAValue | None = None
    rings: dict[Operation, SSAValue] = field(default_factory=dict[Operation, SSAValue])
    """The ring of each copy."""


class _Splitter:
    """Splits the producer of one kernel off."""

    def __init__(self, kernel: warp.KernelOp, partition: warp.PartitionOp) -> None:
        self.kernel = kernel
        self.partition = partition
        self.groups = partition.count
        self.differing = _depending(partition)
        self.stages = kernel.int_hint("num_stages") or STAGES
        self.copies = [
            self._copies(op) for op in operations_of(partition, warp.MBarrierExpectOp)
        ]
        self.common: dict[SSAValue, SSAValue] = {}
        """The values of the producer that are the same for all groups."""
        self.own: list[dict[SSAValue, SSAValue]] = [{} for _ in range(self.groups)]
        """Its values that differ between groups."""

    def _copies(self, expect: warp.MBarrierExpectOp) -> _Copies:
        block = expect.parent
        assert block is not None
        behind = list(block.ops)[list(block.ops).index(expect) + 1 :]
        waits = [
            op for op in behind
            if isinstance(op, warp.MBarrierWaitOp) and op.barriers is expect.barriers
        ]  # fmt: skip
        loads = [
            op for op in behind
            if isinstance(op, warp.TmaLoadOp) and op.barriers is expect.barriers
        ]  # fmt: skip
        release = _release(block, loads)
        parity = waits[0].parity.owner if len(waits) == 1 else None
        counts = isinstance(parity, arith.RemSIOp) and constant_index(parity.rhs) == 2
        if not counts or release is None:
            raise CompileError(
                "copies are not waited for at once, by the number of the trip", expect,
                "run it behind convert-tile-to-warp",
            )
        assert isinstance(parity, arith.RemSIOp)
        # What loops around its products need whole is there once.
        once = isinstance(release, scf.ForOp) and operations_of(release, warp.MmaOp)
        stages = 1 if once else self.stages
        found = _Copies(expect, waits[0], loads, parity.lhs, release, stages)
        found.shared = {
            op for op in loads if not any(value in self.differing for value in op.origin)
        }  # fmt: skip
        return found

    def split(self) -> None:
        """Makes the producer, and leaves the consumers without copies."""
        known: dict[SSAValue, _Copies] = {}
        for copies in self.copies:
            first = known.setdefault(copies.expect.barriers, copies)
            if first is copies:
                self._allocate(copies)
            else:
                self._share(first, copies)
        body = Block()
        self._produce(self.partition.body.block, Builder(InsertPoint.at_end(body)))
        unused: dict[Operation, None] = {}
        for copies in self.copies:
            unused.update(dict.fromkeys(self._consume(copies)))
        for op in unused:
            Rewriter.erase_op(op)
        producer = warp.PartitionOp("producer", WARPGROUP, REGISTERS, None, Region(body))
        producer.location = self.partition.location
        for op in operations(producer):
            op.location = self.partition.location
        self.kernel.specialize.body.block.add_op(producer)
        remove_dead(self.kernel)
        self._check()

    def _allocate(self, copies: _Copies) -> None:
        """Allocates rings and barriers of the depth of the ring."""
        old = copies.expect.barriers.owner
        assert isinstance(old, Operation)
        builder = Builder(InsertPoint.before(old))
        for load in copies.loads:
            index = load.buffer.owner
            assert isinstance(index, warp.IndexOp)
            depth = copies.stages * (1 if load in copies.shared else self.groups)
            type = index.ring.type
            assert isinstance(type, warp.RingType)
            ring = builder.insert(warp.AllocOp(warp.RingType.like(type, depth))).result
            ring.name_hint = index.ring.name_hint
            copies.rings[load] = ring
        ready = builder.insert(warp.MBarrierCreateOp(copies.stages, 1)).result
        empty = builder.insert(warp.MBarrierCreateOp(copies.stages, self.groups)).result
        name = copies.expect.barriers.name_hint or "ready"
        ready.name_hint, empty.name_hint = name, name.replace("ready", "empty")
        copies.ready, copies.empty = ready, empty

    def _share(self, first: _Copies, later: _Copies) -> None:
        """Lets copies use the rings of others, which end before they begin.

        Raises:
            CompileError: if these are not copied alike.
        """
        pairs = list(zip(first.loads, later.loads))
        alike = len(first.loads) == len(later.loads) and first.stages == later.stages and all(
            one.buffer.type == other.buffer.type and _ring_of(one) is _ring_of(other)
            and (one in first.shared) == (other in later.shared)
            for one, other in pairs
        )  # fmt: skip
        if not alike:
            raise CompileError(
                "copies that signal the same barriers are not alike", later.expect,
                "run it behind convert-tile-to-warp",
            )
        later.ready, later.empty = first.ready, first.empty
        later.rings = {other: first.rings[one] for one, other in pairs}

    def _check(self) -> None:
        """Checks that a multiprocessor holds what is allocated.

        Raises:
            CompileError: at the directive, if it does not.
        """
        name, total = self.kernel.root.data, shared_memory_of(self.kernel)
        if total > SHARED_MEMORY:
            raise CompileError(
                f"{name}.warp_specialize: {total} bytes of shared memory, more than the "
                f"{SHARED_MEMORY} that there are", directive_location(self.kernel.location),
                f"smaller tiles, or fewer stages ({name}.num_stages), would fit",
            )  # fmt: skip
        taken = self.kernel.specialize.registers
        if taken > MOST_REGISTERS:
            threads = self.groups * WARPGROUP * THREADS
            left = MOST_REGISTERS - WARPGROUP * THREADS * REGISTERS
            raise CompileError(
                f"{name}.warp_specialize: the consumers and the producer take {taken} registers, "
                f"and a multiprocessor has {MOST_REGISTERS}",
                directive_location(self.kernel.location),
                f"write registers:{left // threads // 8 * 8}",
            )

    def _slot(
        self, copies: _Copies, load: warp.TmaLoadOp, stage: SSAValue, group: SSAValue,
        index: IndexBuilder,
    ) -> SSAValue:  # fmt: skip
        """The buffer of a group for what is copied, in a stage."""
        number = stage
        if load not in copies.shared:
            first = index.mul(stage, index.constant(self.groups))
            number = index.add(first, group, "slot")
        return index.builder.insert(warp.IndexOp(copies.rings[load], number)).result

    def _position(
        self, copies: _Copies, counter: SSAValue, index: IndexBuilder
    ) -> tuple[SSAValue, SSAValue]:
        """The stage of a trip, and the parity of its phase."""
        depth = index.constant(copies.stages)
        stage = index.rem(counter, depth, "stage")
        phase = index.rem(index.div(counter, depth), index.constant(2), "phase")
        return stage, phase

    # The consumers

    def _consume(self, copies: _Copies) -> list[Operation]:
        """Waits for the producer's copies; returns the rings and barriers that this leaves unused.
        """
        index = IndexBuilder(Builder(InsertPoint.before(copies.expect)))
        stage, phase = self._position(copies, copies.counter, index)
        group = self.partition.body.block.args[0]
        dead: list[Operation] = []
        unused: list[Operation] = []
        for load in copies.loads:
            buffer = self._slot(copies, load, stage, group, index)
            old = load.buffer.owner
            assert isinstance(old, warp.IndexOp)
            assert isinstance(old.ring.owner, Operation)
            load.buffer.replace_all_uses_with(buffer)
            dead += [load, old]
            unused.append(old.ring.owner)
        assert copies.ready is not None
        assert copies.empty is not None
        wait = warp.MBarrierWaitOp(copies.ready, stage, phase)
        wait.location = copies.wait.location
        Rewriter.replace_op(copies.wait, wait, [])
        arrive = warp.MBarrierArriveOp(copies.empty, stage)
        arrive.location = copies.release.location
        Rewriter.insert_op(arrive, InsertPoint.after(copies.release))
        assert isinstance(copies.expect.barriers.owner, Operation)
        unused.append(copies.expect.barriers.owner)
        for op in (*dead, copies.expect):
            Rewriter.erase_op(op)
        return unused

    # The producer

    def _value(self, value: SSAValue, group: int) -> SSAValue:
        """Returns what a value of the consumers is in the producer, for a group."""
        return self.own[group].get(value, self.common.get(value, value))

    def _produce(self, old: Block, builder: Builder) -> None:
        stages: dict[Operation, SSAValue] = {}
        index = IndexBuilder(builder)
        started: dict[Operation, _Copies] = {copies.expect: copies for copies in self.copies}
        copied = {load: copies for copies in self.copies for load in copies.loads}
        for op in old.ops:
            if op in started:
                copies = started[op]
                stages[op] = self._begin(copies, index)
            elif op in copied:
                assert isinstance(op, warp.TmaLoadOp)
                self._copy(copied[op], op, stages[copied[op].expect], index)
            elif isinstance(op, scf.ForOp):
                self._loop(op, builder)
            elif op.results and is_side_effect_free(op) and not _is_of_tiles(op):
                self._compute(op, builder)

    def _begin(self, copies: _Copies, index: IndexBuilder) -> SSAValue:
        """Waits until a stage is empty, and expects what it will hold; returns the stage."""
        assert copies.ready is not None
        assert copies.empty is not None
        stage, phase = self._position(copies, self._value(copies.counter, 0), index)
        parity = index.sub(index.constant(1), phase, "parity")
        index.builder.insert(warp.MBarrierWaitOp(copies.empty, stage, parity))
        total = 0
        for load in copies.loads:
            type = load.buffer.type
            assert isinstance(type, warp.BufferType)
            total += type.bytes * (1 if load in copies.shared else self.groups)
        index.builder.insert(warp.MBarrierExpectOp(copies.ready, stage, total))
        return stage

    def _copy(
        self, copies: _Copies, load: warp.TmaLoadOp, stage: SSAValue, index: IndexBuilder
    ) -> None:
        assert copies.ready is not None
        for group in range(1 if load in copies.shared else self.groups):
            buffer = self._slot(copies, load, stage, index.constant(group), index)
            origin = [self._value(value, group) for value in load.origin]
            index.builder.insert(
                warp.TmaLoadOp(load.descriptor, origin, buffer, copies.ready, stage)
            )

    def _compute(self, op: Operation, builder: Builder) -> None:
        """Computes an index, for each group where it differs between them."""
        several = any(result in self.differing for result in op.results)
        for group in range(self.groups if several else 1):
            values = {value: self._operand(value, group, builder) for value in op.operands}
            known = self.own[group] if several else self.common
            if isinstance(op, arith.AddiOp | arith.MuliOp):
                # The number of a group is a constant here.
                index = IndexBuilder(builder)
                fold = index.add if isinstance(op, arith.AddiOp) else index.mul
                known[op.result] = fold(values[op.lhs], values[op.rhs], op.result.name_hint)
                continue
            copy = builder.insert(op.clone(values))
            for result, found in zip(op.results, copy.results):
                found.name_hint = result.name_hint
                known[result] = found

    def _operand(self, value: SSAValue, group: int, builder: Builder) -> SSAValue:
        if value is self.partition.body.block.args[0]:
            return IndexBuilder(builder).constant(group)
        return self._value(value, group)

    def _loop(self, op: scf.ForOp, builder: Builder) -> None:
        """Repeats a loop of the consumers, if anything is copied in it."""
        if not any(op.is_ancestor(copies.expect) for copies in self.copies):
            return
        iv, *carried = op.body.block.args
        kept = [n for n, arg in enumerate(carried) if isinstance(arg.type, IndexType)]
        body = Block(arg_types=[IndexType()] * (1 + len(kept)))
        for old, new in zip([iv, *(carried[n] for n in kept)], body.args):
            new.name_hint = old.name_hint
            self.common[old] = new
        self._produce(op.body.block, Builder(InsertPoint.at_end(body)))
        last = op.body.block.last_op
        assert isinstance(last, scf.YieldOp)
        body.add_op(scf.YieldOp(*(self._value(last.operands[n], 0) for n in kept)))
        lb, ub, step, *inits = (self._value(value, 0) for value in op.operands)
        loop = builder.insert(
            scf.ForOp(lb, ub, step, [inits[n] for n in kept], Region(body))
        )
        for n, result in zip(kept, loop.results):
            result.name_hint = op.results[n].name_hint
            self.common[op.results[n]] = result


def _ring_of(load: warp.TmaLoadOp) -> SSAValue:
    index = load.buffer.owner
    assert isinstance(index, warp.IndexOp)
    return index.ring


def _release(block: Block, loads: Sequence[warp.TmaLoadOp]) -> Operation | None:
    """Returns behind which operation of a block nothing reads what is copied.

    Args:
        block: the block of the copies.
        loads: the copies.

    Returns:
        A wait for products, or a loop that holds the products and the waits for them; None if there
        is neither.
    """
    places = {op: number for number, op in enumerate(block.ops)}
    last: Operation | None = None
    pending = [load.buffer for load in loads]
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if op in loads:
                continue
            if isinstance(op, warp.TransposeOp):
                pending.append(op.result)
                continue
            place = _end_of_read(block, op)
            if place is None:
                return None
            if last is None or places[place] > places[last]:
                last = place
    return last


def _end_of_read(block: Block, op: Operation) -> Operation | None:
    """Returns behind which operation of a block one has read a buffer; None if there is none."""
    place = block.find_ancestor_op_in_block(op)
    if isinstance(place, scf.ForOp):
        waits = operations_of(place, warp.MmaWaitOp)
        return place if not any(wait.pending.value.data for wait in waits) else None
    if not isinstance(op, warp.MmaOp):
        return None
    for use in op.result.uses:
        wait = use.operation
        if isinstance(wait, warp.MmaWaitOp) and not wait.pending.value.data:
            return wait
    return None


def _is_of_tiles(op: Operation) -> bool:
    """Returns whether an operation is about tiles or buffers, which a producer computes not."""
    return any(
        axes_of(result.type) or isinstance(result.type, warp.ArrayType) for result in op.results
    )


def _depending(partition: warp.PartitionOp) -> set[SSAValue]:
    """Returns the values that differ between the groups of a partition."""
    found: set[SSAValue] = set(partition.body.block.args)
    for op in operations(partition):
        if not op.regions and any(value in found for value in op.operands):
            found.update(op.results)
    return found


def _split(kernel: warp.KernelOp, partitions: Sequence[warp.PartitionOp]) -> None:
    if len(partitions) == 1 and partitions[0].replicas is not None:
        _Splitter(kernel, partitions[0]).split()
        raise_constants(kernel.specialize)


@dataclass(frozen=True)
class WarpSplitProducerPass(ModulePass):
    """Lets a group of its own copy what others multiply, as far ahead as rings are deep.

    The copies of the consumers become a partition, the producer, with the loops and the indices
    that they need. It waits until a stage of the ring is empty, which all consumers say when their
    products have read it, and they wait until it is ready. What all consumers copy alike is copied
    once. `num_stages` is the depth of the rings.

    ```
    warp.partition consumer … {                  warp.partition consumer … {
      … warp.mbarrier_expect %ready[%i] …          … warp.mbarrier_wait %ready[%stage] …
      warp.tma_load … signal %ready[%i]            warp.mma …
      warp.mbarrier_wait %ready[%i] …        ->    warp.mbarrier_arrive %empty[%stage]
      warp.mma …                                 warp.partition producer … {
                                                   … warp.mbarrier_wait %empty[%stage] …
                                                   warp.mbarrier_expect %ready[%stage] …
                                                   warp.tma_load … signal %ready[%stage]
    ```
    """

    name = "warp-split-producer"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, warp.KernelOp):
                _split(kernel, kernel.specialize.partitions)
