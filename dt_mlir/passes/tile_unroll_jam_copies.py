"""Copies the operations of a kernel for each of the tiles that a tile is taken apart into."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, product
from typing import TypeVar

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from dt_mlir.analysis.divisibility import constant_index, multiple_of
from dt_mlir.analysis.equal_operations import bodies_key, is_mergeable, operation_key
from dt_mlir.analysis.index_sums import Sum
from dt_mlir.builders.reductions import combine
from dt_mlir.builders.rewriting import replace_op
from dt_mlir.builders.scope import Scope
from dt_mlir.builders.values import ValueBuilder
from dt_mlir.diagnostics import CompileError
from dt_mlir.dialects import tile
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.tile.types import Axis, axes_of, element_of, tile_type
from dt_mlir.passes.tile_unroll_jam_indices import Indices

OperationT = TypeVar("OperationT", bound=Operation)

Place = tuple[int, ...]
"""A copy: for each group of axes the number of the tile that it computes."""


@dataclass
class Jam:
    """The axes of a kernel that are taken apart, and what depends on their indices."""

    groups: Mapping[str, int]
    """The number of the group of each axis; axes that are renamed to each other are one group."""
    factors: Sequence[int]
    """The number of tiles of each group."""
    followed: Mapping[SSAValue, frozenset[int]]
    """The groups whose indices a value depends on."""

    def groups_of(self, op: Operation) -> frozenset[int]:
        """Returns the groups whose indices an operation depends on: it has a copy for each tile."""
        values = op.results if self.combined_by(op) else [*op.results, *operands_of(op)]
        return frozenset[int]().union(*(self.followed.get(value, frozenset()) for value in values))

    def combined_by(self, op: Operation) -> str | None:
        """Returns the axis along which an operation reduces all tiles to one result, or None."""
        if isinstance(op, tile.ReduceOp) and op.axis.data in self.groups:
            return op.axis.data
        return None

    def retyped(self, type: Attribute) -> Attribute:
        """Returns a type with the axes of one of the tiles."""
        axes = [self._part(axis) for axis in axes_of(type)]
        return tile_type(element_of(type), axes)

    def _part(self, axis: Axis) -> Axis:
        if axis.name not in self.groups or not isinstance(axis.extent, int):
            return axis
        return Axis(axis.name, axis.extent // self.factors[self.groups[axis.name]])


def operands_of(op: Operation) -> Sequence[SSAValue]:
    """Returns the operands whose elements an operation reads: a rename only names its ranges."""
    return [op.value] if isinstance(op, tile.RenameOp) else op.operands


class Copies:
    """Makes a kernel anew, with a copy of each operation for each tile that it depends on.

    The copies of the operations between two loops follow each other copy by copy, so that few
    tiles are live at once, and stores come last, so that no load waits for one. A copy that would
    compute what another one computes is that one.

    All copies have the axes of the first one. What lies beyond the end of the label only in a
    later one is masked where it is stored. A load is masked along each axis by the first of the
    tiles that share it: an index along that axis alone is in bounds there. Where one index depends
    on several axes (`A[x + y]`), copies share a load only if all of its elements are theirs.
    """

    def __init__(self, jam: Jam, order: Sequence[Axis]) -> None:
        self.jam = jam
        self.order = list(order)
        self.copies: list[Place] = list(product(*map(range, jam.factors)))
        self.values: dict[tuple[SSAValue, Place], SSAValue] = {}
        self.done: set[tuple[Operation, Place]] = set()
        self.known: list[dict[Hashable, Sequence[SSAValue]]] = []
        """The values that were computed, for each block around the current one."""
        self.ranges: dict[str, tile.RangeOp] = {}
        """The current range of each axis."""
        self.first: dict[Operation | Block, tuple[Place, dict[str, tile.RangeOp]]] = {}
        """The first of the tiles that each load is part of, and the ranges of its axes."""
        self.masks: dict[tuple[tile.RangeOp, int], SSAValue] = {}
        self.behind: dict[tile.RangeOp, Operation] = {}
        """The last mask behind each range."""
        self.indices = Indices(lambda key, make: self._find(key, lambda: [make()])[0])
        self.scope = Scope(Block(), self.order)

    def kernel(self, kernel: tile.KernelOp) -> None:
        """Replaces the body of a kernel."""
        old = kernel.body.block
        new = self._block_like(old, [(arg, self.copies[0]) for arg in old.args])
        self._body(old, new)
        kernel.body.detach_block(old)
        kernel.body.add_block(new)
        old.erase(safe_erase=False)
        for load, (place, ranges) in self.first.items():
            if isinstance(load, tile.LoadOp):
                self._mask(load, place, ranges)

    # Blocks

    def _block_like(self, old: Block, args: Sequence[tuple[SSAValue, Place]]) -> Block:
        """Returns an empty block with an argument for each copy of an argument of another one."""
        new = Block(arg_types=[self.jam.retyped(arg.type) for arg, _ in args])
        for (arg, place), value in zip(args, new.args):
            value.name_hint = arg.name_hint
            self.values[arg, place] = value
        return new

    def _body(self, old: Block, new: Block) -> None:
        """Copies the operations of a block to the end of another one, but for the terminator."""
        outer, ranges = self.scope, dict(self.ranges)
        self.scope = Scope(new, self.order)
        self.known.append({})
        pending: list[Operation] = []
        for op in old.ops:
            if isinstance(op, scf.ForOp) or self.jam.combined_by(op):
                # All copies of what comes before are needed.
                self._between_loops(pending)
                pending = []
            if isinstance(op, scf.ForOp):
                self._loop(op)
            elif not isinstance(op, scf.YieldOp):
                pending.append(op)
        self._between_loops(pending)
        if isinstance(old.last_op, scf.YieldOp):
            self._yield(old.last_op)
        self.known.pop()
        self.scope, self.ranges = outer, ranges

    def _between_loops(self, ops: Sequence[Operation]) -> None:
        for stores in (False, True):
            for place in self.copies:
                for op in ops:
                    if isinstance(op, tile.StoreOp) is stores:
                        self._copy(op, self._part(self.jam.groups_of(op), place))

    def _loop(self, op: scf.ForOp) -> None:
        carried = [
            (arg, place) for arg in op.body.block.args[1:] for place in self._places(arg)
        ]
        new = self._block_like(op.body.block, [(op.body.block.args[0], self.copies[0]), *carried])
        inits = dict(zip(op.body.block.args[1:], op.iter_args))
        results = dict(zip(op.body.block.args[1:], op.results))
        lb, ub, step = (self._value(value, self.copies[0]) for value in (op.lb, op.ub, op.step))
        started = [self._value(inits[arg], place) for arg, place in carried]
        loop = scf.ForOp(lb, ub, step, started, Region(new))
        loop.location = op.location
        loop.attributes.update(op.attributes)
        self._body(op.body.block, new)
        self.scope.builder.insert(loop)
        for (arg, place), value in zip(carried, loop.results):
            value.name_hint = results[arg].name_hint
            self.values[results[arg], place] = value

    def _yield(self, op: scf.YieldOp) -> None:
        loop = op.parent_op()
        assert isinstance(loop, scf.ForOp)
        carried = zip(loop.body.block.args[1:], op.operands)
        values = [self._value(v, place) for arg, v in carried for place in self._places(arg)]
        new = scf.YieldOp(*values)
        new.location = op.location
        self.scope.builder.insert(new)

    # Copies

    def _part(self, groups: frozenset[int], place: Place) -> Place:
        """Returns the first copy that agrees with another one in some groups."""
        return tuple(n if group in groups else 0 for group, n in enumerate(place))

    def _places(self, value: SSAValue) -> list[Place]:
        """Returns the copies of a value that differ."""
        groups = self.jam.followed.get(value, frozenset())
        return list(dict.fromkeys(self._part(groups, place) for place in self.copies))

    def _value(self, value: SSAValue, place: Place) -> SSAValue:
        groups = self.jam.followed.get(value, frozenset())
        return self.values[value, self._part(groups, place)]

    def _copy(self, op: Operation, place: Place) -> None:
        """Copies an operation for one of the copies, unless that was done."""
        if (op, place) in self.done:
            return
        self.done.add((op, place))
        if isinstance(op, tile.RangeOp) and op.axis.name in self.jam.groups:
            self.values[op.result, place] = self._range(op, place)
            return
        if isinstance(op, tile.ReduceOp) and self.jam.combined_by(op):
            self.values[op.result, place] = self._reduce(op, place)
            return
        read = operands_of(op)
        operands = [
            self._value(value, place if value in read else self.copies[0]) for value in op.operands
        ]
        if isinstance(op, tile.StoreOp):
            new = self._clone(op, operands)
            self._insert(new, op)
            self._mask(new, place, self.ranges)
            return
        results = self._index(op, operands)
        if results is None:
            if isinstance(op, tile.MapOp):
                type = self.jam.retyped(op.result.type)
                new = self.indices.map(op, operands, type, self.scope.values)
                new.attributes.update(op.attributes)
            else:
                new = self._clone(op, operands)
            results = self._merged(new, op, place)
        self.values.update({(old, place): new for old, new in zip(op.results, results)})
        for value in results:
            if isinstance(value.owner, tile.LoadOp):
                first, ranges = self.first.get(value.owner, (place, dict(self.ranges)))
                self.first[value.owner] = tuple(map(min, first, place)), ranges

    def _index(self, op: Operation, operands: Sequence[SSAValue]) -> Sequence[SSAValue] | None:
        """Inserts a sum of indices in its one form; returns None for any other operation."""
        found: Sum | None = None
        if isinstance(op, tile.MapOp):
            found = self.indices.sum_in(op, operands)
        elif (
            isinstance(op, arith.AddiOp | arith.SubiOp)
            and isinstance(op.result.type, IndexType)
            and any(constant_index(value) is not None for value in operands)
        ):
            sums = [self.indices.sum_of(value) for value in operands]
            found = self.indices.combined(op, sums)
        if found is None:
            return None
        value = self.indices.build(found, self.scope.values)
        if value.name_hint is None:
            value.name_hint = op.results[0].name_hint
        return [self.scope.values.broadcast(value, axes_of(self.jam.retyped(op.results[0].type)))]

    def _range(self, op: tile.RangeOp, place: Place) -> SSAValue:
        """Returns the indices of a copy: those of the first one and a number."""
        group = self.jam.groups[op.axis.name]
        if any(place):
            first = self.values[op.result, self.copies[0]]
            return self.indices.moved(first, place[group] * op.stride, self.scope.values)
        origin, *bound = (self._value(value, place) for value in op.operands)
        new = tile.RangeOp(
            op.label.data, origin, bound[0] if bound else None,
            axes_of(self.jam.retyped(op.result.type))[0], op.stride * self.jam.factors[group],
        )  # fmt: skip
        new.attributes.update(op.attributes)
        self._insert(new, op)
        self.ranges[op.axis.name] = new
        return new.result

    def _reduce(self, op: tile.ReduceOp, place: Place) -> SSAValue:
        """Returns the reduction of all tiles along an axis: of their combination."""
        kind, axis, values = op.kind.data, op.axis.data, self.scope.values
        group = self.jam.groups[axis]
        neutral = identity(kind, element_of(op.value.type))

        def chosen(builder: Builder, elements: list[SSAValue]) -> SSAValue:
            other = builder.insert(arith.ConstantOp(neutral))
            return builder.insert(arith.SelectOp(elements[0], elements[1], other.result)).result

        total: SSAValue | None = None
        for number in range(self.jam.factors[group]):
            part = self._value(op.value, (*place[:group], number, *place[group + 1 :]))
            mask = self._mask_of(axis, number, op, self.ranges)
            if mask is not None:
                part = values.elementwise([mask, part], chosen, op.location)
            total = part if total is None else values.elementwise(
                [total, part], lambda b, v: combine(b, kind, v[0], v[1]), op.location
            )
        assert total is not None
        new = tile.ReduceOp(kind, total, axis)
        new.attributes.update(op.attributes)
        self._insert(new, op)
        return new.result

    def _clone(self, op: OperationT, operands: Sequence[SSAValue]) -> OperationT:
        return type(op).create(
            operands=operands,
            result_types=[self.jam.retyped(result.type) for result in op.results],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            regions=[region.clone() for region in op.regions],
        )

    def _insert(self, new: Operation, op: Operation) -> None:
        """Inserts what stands for an operation."""
        new.location = op.location
        for result, old in zip(new.results, op.results):
            result.name_hint = old.name_hint
        self.scope.builder.insert(new)

    def _merged(self, new: Operation, op: Operation, place: Place) -> Sequence[SSAValue]:
        """Returns the results of an operation, or of one before it that computes the same."""

        def make() -> Sequence[SSAValue]:
            self._insert(new, op)
            return new.results

        if not is_mergeable(new):
            return make()
        key = operation_key(new, tuple(new.operands)), bodies_key(new)
        # A load that the copy must not share leaves the next number to one of its own.
        results = next(
            found
            for number in count()
            if self._is_shared(found := self._find((key, number), make), op, place)
        )
        if new.parent is None:
            new.erase()
        return results

    def _is_shared(self, found: Sequence[SSAValue], op: Operation, place: Place) -> bool:
        """Returns whether a copy may take the results of an operation that computes the same."""
        load = found[0].owner
        if not isinstance(op, tile.LoadOp) or load not in self.first:
            return True
        first, _ = self.first[load]
        if any(len(self.jam.followed.get(index, ())) > 1 for index in op.indices):
            return all(a <= b for a, b in zip(first, place))
        return True

    def _find(self, key: Hashable, make: Callable[[], Sequence[SSAValue]]) -> Sequence[SSAValue]:
        for known in reversed(self.known):
            if key in known:
                return known[key]
        # What is made may be looked up itself.
        found = make()
        return self.known[-1].setdefault(key, found)

    # Masks

    def _mask(
        self, op: tile.LoadOp | tile.StoreOp, place: Place, ranges: Mapping[str, tile.RangeOp]
    ) -> None:
        """Masks the elements of an access that are beyond the end of a label in a copy."""
        masks: list[SSAValue] = []
        for name in op.access_axes():
            number = place[self.jam.groups[name]] if name in self.jam.groups else 0
            mask = self._mask_of(name, number, op, ranges)
            if mask is not None:
                masks.append(mask)
        if not masks:
            return
        if isinstance(op, tile.StoreOp):
            new = tile.StoreOp(op.value, op.base, op.indices, [*op.masks, *masks])
        else:
            axes = axes_of(op.result.type)
            usual = identity(ReductionKind.ADD, element_of(op.result.type))
            pad = op.pad or op.fill or usual
            new = tile.LoadOp(
                op.base, op.indices, axes, [*op.masks, *masks], pad, op.inside, op.fill
            )
        replace_op(op, new)

    def _mask_of(
        self, axis: str, number: int, op: Operation, ranges: Mapping[str, tile.RangeOp]
    ) -> SSAValue | None:
        """Returns the mask of a tile along an axis, behind the range of the first one.

        It is None for the first tile, which ends where the axis does, and without an end.

        Raises:
            CompileError: if there is no range of the axis.
        """
        if not number:
            return None
        first = ranges.get(axis)
        if first is None:
            raise CompileError(
                f"no range of the axis '{axis}' is in scope where '{op.name}' needs its end", op,
                "each axis of a tile comes from a 'tile.range' that dominates the tile",
            )  # fmt: skip
        if first.bound is None:
            return None
        if (first, number) not in self.masks:
            assert first.span is not None
            builder = Builder(InsertPoint.after(self.behind.get(first, first)))
            indices = Indices(lambda _, make: make())
            by = number * first.stride // self.jam.factors[self.jam.groups[first.axis.name]]
            index = indices.moved(first.result, by, ValueBuilder(builder, self.order))
            fits = isinstance(first.bound.owner, tile.SizeOp) and (
                multiple_of(first.origin) % first.span == 0
            )
            mask = builder.insert(
                tile.MaskOp(index, first.bound, first.span if fits else None)
            )
            index.name_hint = first.label.data
            mask.result.name_hint = f"{first.axis.name}_mask"
            for new in (index.owner, mask):
                if isinstance(new, Operation):
                    new.location = first.location
            self.masks[first, number], self.behind[first] = mask.result, mask
        return self.masks[first, number]
