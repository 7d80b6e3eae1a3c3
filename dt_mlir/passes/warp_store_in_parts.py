"""`warp-store-in-parts`: stores wide results in parts, which take less shared memory."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product as combinations
from typing import TypeVar

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.shared_memory import PART, PARTS
from dt_mlir.builders.constants import raise_constants
from dt_mlir.builders.index import IndexBuilder
from dt_mlir.diagnostics import has_location
from dt_mlir.dialects import warp
from dt_mlir.dialects.warp.products import columns_of
from dt_mlir.traversal import operations_of

OperationT = TypeVar("OperationT", bound=Operation)


@dataclass(frozen=True)
class _Result:
    """A result on its way from registers to its tensor."""

    alloc: warp.AllocOp
    index: warp.IndexOp
    store: warp.LocalStoreOp
    fence: warp.FenceAsyncOp
    copy: warp.TmaStoreOp
    wait: warp.TmaStoreWaitOp
    descriptor: warp.TmaDescriptorOp

    @property
    def columns(self) -> int:
        """The columns of a part."""
        type = self.descriptor.result.type
        assert isinstance(type, warp.DescriptorType)
        return PART * 8 // type.width

    @property
    def parts(self) -> int:
        """The number of its parts."""
        return self._type.extents[-1] // self.columns

    @property
    def is_wide(self) -> bool:
        """True for a tile of a product whose parts take less shared memory than the whole."""
        extents = self._type.extents
        known = len(extents) == 2 and columns_of(self.store.value.type) == extents[-1]
        halves = self.parts & (self.parts - 1) == 0 and extents[-1] == self.parts * self.columns
        return known and halves and self.parts > PARTS

    @property
    def _type(self) -> warp.BufferType:
        type = self.copy.buffer.type
        assert isinstance(type, warp.BufferType)
        return type


def _result_of(copy: warp.TmaStoreOp) -> _Result | None:
    """Returns the result that a copy brings to its tensor, if nothing else uses its buffers."""
    index, descriptor, wait = copy.buffer.owner, copy.descriptor.owner, copy.next_op
    if not isinstance(index, warp.IndexOp) or not isinstance(descriptor, warp.TmaDescriptorOp):
        return None
    alloc, fence = index.ring.owner, _before(copy, warp.FenceAsyncOp)
    store = None if fence is None else _before(fence, warp.LocalStoreOp)
    if not isinstance(alloc, warp.AllocOp) or not isinstance(wait, warp.TmaStoreWaitOp):
        return None
    alone = (
        _users(alloc.result) == [index] and _users(descriptor.result) == [copy]
        and store is not None and set(_users(index.result)) == {store, copy}
    )  # fmt: skip
    if not alone or fence is None or store is None or wait.pending.value.data:
        return None
    return _Result(alloc, index, store, fence, copy, wait, descriptor)


def _before(op: Operation, cls: type[OperationT]) -> OperationT | None:
    """Returns the last operation of a kind in front of another one in its block."""
    found = op.prev_op
    while found is not None and not isinstance(found, cls):
        found = found.prev_op
    return found


def _users(value: SSAValue) -> list[Operation]:
    return [use.operation for use in value.uses]


def _take_apart(result: _Result) -> None:
    """Stores a result in parts."""
    ring, box = result.alloc.result.type, result.descriptor.result.type
    assert isinstance(ring, warp.RingType)
    assert isinstance(box, warp.DescriptorType)
    buffer = warp.BufferType.of(ring).with_extents([ring.extents[0], result.columns])
    extents, starts = _boxes_of_parts(result)
    part = warp.BufferType.of(box).with_extents(extents)
    alloc = warp.AllocOp(warp.RingType.like(buffer, ring.depth.data * PARTS))
    described = warp.TmaDescriptorOp(
        result.descriptor.base,
        warp.DescriptorType.new([part.shape, part.element_type, part.swizzle]),
        result.descriptor.end_labels,
        () if result.descriptor.axes is None else result.descriptor.permutation,
    )
    for old, new in ((result.alloc, alloc), (result.descriptor, described)):
        new.results[0].name_hint = old.results[0].name_hint
        new.location = old.location
        Rewriter.insert_op(new, InsertPoint.before(old))
    last = result.store
    builder = Builder(InsertPoint.before(result.copy))
    index = IndexBuilder(builder)
    first = index.mul(result.index.index, index.constant(PARTS))
    buffers = [
        builder.insert(
            warp.IndexOp(alloc.result, index.add(first, index.constant(number)))
        ).result
        for number in range(PARTS)
    ]
    values = _parts(result.store.value, result.parts, builder)
    for number, (value, start) in enumerate(zip(values, starts)):
        place = buffers[number % PARTS]
        builder.insert(warp.LocalStoreOp(value, place))
        builder.insert(warp.FenceAsyncOp())
        origin = [
            index.add(first, index.constant(distance)) if distance else first
            for first, distance in zip(result.copy.origin, start)
        ]
        builder.insert(warp.TmaStoreOp(place, described.result, origin))
        builder.insert(warp.TmaStoreWaitOp())
    added = last.next_op
    while added is not None and added is not result.copy:
        if not has_location(added):
            added.location = result.store.location
        added = added.next_op
    for op in (
        result.wait, result.copy, result.fence, result.store, result.index, result.alloc,
        result.descriptor,
    ):  # fmt: skip
        Rewriter.erase_op(op)


def _boxes_of_parts(result: _Result) -> tuple[list[int], list[list[int]]]:
    """Returns the extents of the box of a part, and the first indices of the parts in the whole."""
    buffer, box = result.copy.buffer.type, result.descriptor.result.type
    assert isinstance(buffer, warp.BufferType)
    assert isinstance(box, warp.DescriptorType)
    count = warp.panel_axes(buffer, box)
    assert count is not None, "a copy has the box of its buffer"
    # Columns are those of the last axis, or the panels that the first axes number.
    axes = range(count) if count else [len(box.extents) - 1]
    rest = result.columns // (box.extents[-1] if count else 1)
    extents = list(box.extents)
    for axis in reversed(axes):
        extents[axis] = min(rest, extents[axis])
        rest //= extents[axis]
    starts = [
        range(0, box.extents[axis], extents[axis]) if axis in axes else [0]
        for axis in range(len(extents))
    ]
    return extents, list(map(list, combinations(*starts)))


def _parts(value: SSAValue, count: int, builder: Builder) -> list[SSAValue]:
    """Inserts so many parts of a tile's columns, in their order."""
    if count == 1:
        return [value]
    halves = builder.insert(warp.HalveOp(value))
    for half in halves.results:
        half.name_hint = value.name_hint
    return [
        part for half in halves.results for part in _parts(half, count // 2, builder)
    ]


@dataclass(frozen=True)
class WarpStoreInPartsPass(ModulePass):
    """Stores results of wide rows in parts, which take less shared memory.

    A part has rows of 128 bytes, the widest swizzle. The parts of a group go through two buffers in
    turn, and a result of up to two parts is stored as a whole. What that saves is left for stages:
    with 32 KB in place of 64, tiles of 128×256 of products of 16 bits and a depth of 64 have room
    for four of them.

    ```
    %c = warp.index %out_tiles[%i]         %l, %r = warp.halve %v
    warp.local_store %v to %c              %a, %b = warp.halve %l …
    warp.fence_async                  ->   warp.local_store %a to %c0
    warp.tma_store %c to %box[%x, %y]      warp.fence_async
    warp.tma_store_wait 0                  warp.tma_store %c0 to %box[%x, %y]
                                           warp.tma_store_wait 0
                                           warp.local_store %b to %c1
                                           …
    ```
    """

    name = "warp-store-in-parts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if not isinstance(kernel, warp.KernelOp):
                continue
            for copy in operations_of(kernel, warp.TmaStoreOp):
                result = _result_of(copy)
                if result is not None and result.is_wide:
                    _take_apart(result)
                    raise_constants(kernel.specialize)
