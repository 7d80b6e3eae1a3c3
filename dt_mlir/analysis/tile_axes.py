"""The tiled loops that a value of the `loop` level depends on, and the buffers that fit in tiles.

A tiled loop becomes one axis of the tiles of everything that depends on its index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.ir import Block, BlockArgument, OpResult, SSAValue

from dt_mlir.analysis.nests import encloses, locals_of, loop_of, loops_in, reads_of, write_to
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import loop
from dt_mlir.dialects.tile.types import Axis
from dt_mlir.traversal import captured_by, operations


@dataclass
class TileAxes:
    """The axes of the tiled loops of a kernel, and which of them values have.

    Args:
        kernel: a kernel of the `loop` level.
        same: for a label the first of the labels that have its size.
        fixed: the sizes of labels that the program is compiled for.
        every: whether loops that are not tiled have axes, too.
    """

    kernel: loop.KernelOp
    same: dict[str, str]
    fixed: dict[str, int] = field(default_factory=dict[str, int])
    every: bool = False
    loops: dict[loop.LoopLike, Axis] = field(default_factory=dict[loop.LoopLike, Axis])
    """The axis of each tiled loop, outer loops first; joined loops have one between them."""
    joined: dict[loop.LoopLike, tuple[loop.LoopLike, ...]] = field(
        default_factory=dict[loop.LoopLike, tuple[loop.LoopLike, ...]]
    )
    """The loops that share an axis with a loop, for each that shares one, outermost first."""
    boxes: dict[loop.LoopLike, tuple[loop.LoopLike, ...]] = field(
        default_factory=dict[loop.LoopLike, tuple[loop.LoopLike, ...]]
    )
    """The same loops in the order of the sides of a box, the fastest last."""
    _known: dict[SSAValue, frozenset[loop.LoopLike]] = field(
        default_factory=dict[SSAValue, frozenset[loop.LoopLike]]
    )

    def __post_init__(self) -> None:
        for op in loops_in(self.kernel):
            if op.is_tile or self.every:
                self.loops[op] = self._own_axis(op)

    def _own_axis(self, op: loop.LoopLike) -> Axis:
        label = op.label_name
        part = None if op.end is None else op.end.owner
        if isinstance(part, loop.PartOp) and part.whole is not None:
            label = part.whole.data
        extent = op.step_size or self.fixed.get(label) or self.same.get(label, label)
        return Axis(self._unused(op.label_name), extent)

    def _unused(self, name: str) -> str:
        taken = {axis.name for axis in self.loops.values()}
        found, number = name, 0
        while found in taken:
            number += 1
            found = f"{name}_{number}"
        return found

    def join(self, loops: Sequence[loop.LoopLike], sides: Sequence[loop.LoopLike]) -> None:
        """Gives tiled loops around a product, or of it, one axis, which has their points.

        Args:
            loops: loops of one nest, outermost first, that step by known numbers of elements.
            sides: the same, in the order of the sides of a box: the fastest last.
        """
        extents = [self.loops[op].extent for op in sides]
        assert all(isinstance(extent, int) for extent in extents)
        name = self._unused("_".join(op.label_name for op in sides))
        axis = Axis(name, prod(int(extent) for extent in extents))
        for op in loops:
            self.loops[op] = axis
            self.joined[op], self.boxes[op] = tuple(loops), tuple(sides)
        self._known.clear()

    def separate(self, loops: Sequence[loop.LoopLike]) -> None:
        """Gives loops that are joined axes of their own again."""
        for op in loops:
            del self.joined[op], self.boxes[op]
            self.loops[op] = self._own_axis(op)
        self._known.clear()

    def depth(self, op: loop.ReductionLoop) -> tuple[loop.LoopLike, ...]:
        """Returns the loops whose points a reduction combines: its own, and those joined to it."""
        found = self.joined.get(op, (op,))
        return found if op is found[-1] else (op,)

    def of(self, value: SSAValue) -> frozenset[loop.LoopLike]:
        """The tiled loops that a value depends on."""
        if value not in self._known:
            self._known[value] = self._compute(value)
        return self._known[value]

    def axes(self, loops: frozenset[loop.LoopLike]) -> list[Axis]:
        """The axes of tiled loops in the order that all tiles have them: outer loops first."""
        wanted = {self.loops[op] for op in loops if op in self.loops}
        return [axis for axis in self.order if axis in wanted]

    @property
    def order(self) -> list[Axis]:
        """All axes, outer loops first.

        That of joined loops is where its fastest side is: neighbours in memory are its neighbours.
        """
        return [
            axis for op, axis in self.loops.items() if op is self.boxes.get(op, (op,))[-1]
        ]  # fmt: skip

    def _compute(self, value: SSAValue) -> frozenset[loop.LoopLike]:
        owner = value.owner
        assert isinstance(value, BlockArgument | OpResult)
        if isinstance(owner, Block):
            op = owner.parent_op()
            if isinstance(op, loop.RunningOp):
                return self.of([op.result, *op.sources][value.index])
            if not isinstance(op, loop.LoopLike) or op not in self.loops:
                return frozenset()
            return frozenset([op])
        if isinstance(owner, loop.ReadOp) and isinstance(owner.base.owner, loop.LocalOp):
            return self._of_buffer(owner)
        if isinstance(owner, loop.ReduceOp):
            found = frozenset[loop.LoopLike]().union(*map(self.of, (*owner.yielded, *owner.bounds)))
            return found.difference(self.depth(owner))
        if isinstance(owner, loop.OnlineOp):
            return self.of(owner.yielded[value.index])
        if isinstance(owner, loop.RunningOp):
            values = (*owner.operands, *captured_by(owner), *owner.loop.bounds)
            return frozenset[loop.LoopLike]().union(*map(self.of, values)) - {owner.loop}
        found = frozenset[loop.LoopLike]().union(*map(self.of, owner.operands))
        if isinstance(owner, loop.PrefixOp) and owner.loop in self.loops:
            return found | {owner.loop}
        return found

    def _of_buffer(self, read: loop.ReadOp) -> frozenset[loop.LoopLike]:
        """A buffer's tile has the axes of what was written, those of its own loops renamed."""
        write = write_to(read.base)
        renamed = dict(self.renaming(write, read))
        found: set[loop.LoopLike] = set()
        for op in self.of(write.value):
            found.add(renamed.get(op, op))
        return frozenset(found)

    def renaming(
        self, write: loop.WriteOp, read: loop.ReadOp
    ) -> list[tuple[loop.LoopLike, loop.LoopLike]]:
        """The loops over a buffer's axes where it is written, with those where it is read."""
        pairs: list[tuple[loop.LoopLike, loop.LoopLike]] = []
        for ours, theirs in zip(write.index_values(), read.index_values()):
            if not isinstance(ours, SSAValue) or not isinstance(theirs, SSAValue) or ours is theirs:
                continue
            pairs.append((loop_of(ours), loop_of(theirs)))
        # The indices of a joined loop stand for one loop.
        return list(dict.fromkeys(pairs))


def check_tiles(kernel: loop.KernelOp, axes: TileAxes) -> None:
    """Checks that what a kernel writes, and where its loops start, can be told in tiles.

    Raises:
        CompileError: at a write that lacks an index, or a loop that starts at many places at once.
    """
    for op in operations(kernel):
        if isinstance(op, loop.LoopLike) and op.origin is not None and axes.of(op.origin):
            raise CompileError(
                f"the loop over '{op.label_name}' starts at the index of a tiled loop", op,
                "only a loop that is not tiled can enclose the loops over its pieces",
            )  # fmt: skip
        if isinstance(op, loop.WriteOp):
            indexed = {loop_of(i) for i in op.simple_indices() if not isinstance(i, int)}
            for around in axes.of(op.value) - indexed:
                raise CompileError(
                    f"what is written depends on the loop over '{around.label_name}', which no "
                    "index of the write is of", op, "index what is written with it, or reduce it",
                )  # fmt: skip


def check_buffers(kernel: loop.KernelOp, axes: TileAxes) -> None:
    """Checks that each local buffer can be held in tiles.

    Raises:
        CompileError: at the `fuse_at` that made the buffer, with what would mend it.
    """
    for buffer in locals_of(kernel):
        write = write_to(buffer.result)
        for index in write.simple_indices():
            if isinstance(index, int) or encloses(loop_of(index), buffer):
                continue
            _check_one_trip(buffer, loop_of(index))
        for read in reads_of(buffer.result):
            if len(read.simple_indices()) < len(buffer.labels):
                raise _refusal(buffer, "it is read at an index that is not a label by itself")
            for one, other in ((write, read), (read, write)):
                _check_joined(buffer, one, other, axes)
            pairs = axes.renaming(write, read)
            for ours, theirs in pairs:
                _check_one_trip(buffer, theirs)
                if _range(ours, axes) != _range(theirs, axes):
                    both = dict.fromkeys(f"{op.label_name}:0" for op in (ours, theirs))
                    raise _refusal(
                        buffer,
                        f"its loop over '{ours.label_name}' and the loop over "
                        f"'{theirs.label_name}' of '{theirs.function_name}' differ in extent",
                        f"tensorize({', '.join(both)}), or leave "
                        f"'{buffer.function.data}' unfused",
                    )
            if len({theirs for _, theirs in pairs}) < len(pairs):
                raise _refusal(buffer, "it is read along a diagonal")
            if len({ours for ours, _ in pairs}) < len(pairs):
                raise _refusal(buffer, "it is written along a diagonal, and read beside it")


def _check_joined(
    buffer: loop.LocalOp, one: loop.AccessOp, other: loop.AccessOp, axes: TileAxes
) -> None:
    """Checks that loops which are joined at one access of a buffer are joined so at another."""
    there = other.index_values()
    for axis, index in enumerate(one.index_values()):
        parts = None if index is None or isinstance(index, int) else index.owner
        if not isinstance(parts, loop.DelinearizeOp) or index is there[axis]:
            continue
        own = one.index_values()
        # A buffer may lack some of the axes that are joined.
        theirs = [there[own.index(part)] for part in parts.indices if part in own]
        owner = theirs[0].owner if isinstance(theirs[0], SSAValue) else None
        labels = [axes.same.get(label, label) for label in parts.label_names]
        if (
            not isinstance(owner, loop.DelinearizeOp)
            or tuple(theirs) != tuple(owner.indices)
            or labels != [axes.same.get(label, label) for label in owner.label_names]
        ):
            raise _refusal(
                buffer,
                f"the loops over {', '.join(parts.label_names)} are joined where it is "
                f"{'written' if isinstance(one, loop.WriteOp) else 'read'} only",
                f"join the loops of '{buffer.function.data}' and of what reads it in one way",
            )


def _check_one_trip(buffer: loop.LocalOp, op: loop.LoopLike) -> None:
    if not op.has_one_trip:
        raise _refusal(
            buffer,
            f"it spans '{op.label_name}', which '{op.function_name}' walks in steps of "
            f"{op.step_size}",
            f"tensorize({op.label_name}:0), fuse '{buffer.function.data}' deeper, "
            "or leave it unfused",
        )


def _refusal(buffer: loop.LocalOp, reason: str, hint: str | None = None) -> CompileError:
    return CompileError(
        f"'{buffer.function.data}' cannot be held in tiles where it is fused: {reason}",
        buffer,
        hint or f"leave '{buffer.function.data}' unfused",
    )


def _range(op: loop.LoopLike, axes: TileAxes) -> tuple[object, ...]:
    axis = axes.loops.get(op)
    label = axes.same.get(op.label_name, op.label_name)
    return label, op.origin, op.extent_size, None if axis is None else axis.extent
