"""`convert-loop-to-tile`: turns loop nests over scalars into block programs on tiles."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    UnrealizedConversionCastOp,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from dt_mlir.analysis.divisibility import constant_index
from dt_mlir.analysis.dot_plans import planned_axes
from dt_mlir.analysis.expressions import Expressions
from dt_mlir.analysis.joined_labels import check_joined_labels
from dt_mlir.analysis.label_sizes import fixed_sizes, label_classes, same_in
from dt_mlir.analysis.nests import inner_of, loop_of, reduced_by, write_to
from dt_mlir.analysis.part_labels import check_part_labels
from dt_mlir.analysis.tile_axes import TileAxes, check_buffers, check_tiles
from dt_mlir.builders.indices import delinearized
from dt_mlir.builders.reductions import combine, is_more_extreme
from dt_mlir.builders.scope import Scope
from dt_mlir.diagnostics import CompileError, has_location
from dt_mlir.dialects import host, loop, sched, tile
from dt_mlir.dialects.elem import ReductionKind, identity
from dt_mlir.dialects.identifiers import value_hint
from dt_mlir.dialects.tile.types import Axis, axes_of, element_of
from dt_mlir.passes.convert_loop_to_tile_accesses import Accesses
from dt_mlir.passes.convert_loop_to_tile_domain import Domain
from dt_mlir.passes.convert_loop_to_tile_grid import lower_grid
from dt_mlir.passes.convert_loop_to_tile_marks import check_marks
from dt_mlir.passes.convert_loop_to_tile_online import Online
from dt_mlir.passes.convert_loop_to_tile_prefixes import Prefixes
from dt_mlir.passes.convert_loop_to_tile_products import Products
from dt_mlir.passes.verify_loop import check_kernel
from dt_mlir.traversal import operations


class _Converter:
    """Converts one kernel."""

    def __init__(self, kernel: loop.KernelOp, axes: TileAxes) -> None:
        self.kernel = kernel
        self.same, self.fixed = axes.same, axes.fixed
        self.axes = axes
        self.order = self.axes.order
        self.expressions = Expressions(axes)
        self.env: dict[SSAValue, SSAValue] = {}
        self.written: dict[SSAValue, SSAValue] = {}
        self.sizes: dict[str, SSAValue] = {}
        self.least: dict[str, int] = {}
        self.starts: dict[loop.LoopLike, SSAValue] = {}
        """The first index of the tile of each tiled loop."""
        self.products = Products(self, kernel.warp_specialize is not None)
        self.accesses = Accesses(kernel, self.same, self.env, self._size)
        self.online = Online(self)
        self.prefixes = Prefixes(self)
        self.decided: dict[loop.ReductionLoop, list[AffineExpr]] = {}
        """The constraints of domains that hold in all steps of their loops."""
        self.top: Scope

    def convert(self) -> tile.KernelOp:
        kernel = self.kernel
        block = Block(arg_types=[arg.type for arg in kernel.args])
        for old, new in zip(kernel.args, block.args):
            new.name_hint = old.name_hint
            self.env[old] = new
        self.top = Scope(block, self.order)
        grid = kernel.grid
        sizes = {label: self._size(label) for label in grid.label_names}
        for arg, origin in zip(
            grid.body.block.args, lower_grid(grid, self.top.index, sizes)
        ):
            self.env[arg] = origin
        self.block(grid.body.block, self.top)
        labels = dict.fromkeys([*(label.data for label in kernel.labels), *self.sizes])
        kept = {"num_warps", "num_stages", "persistent", "alternating", "warp_specialize", "math"}
        kept |= {"unroll_jam", "dynamic", "summed", "descriptors", "dependent_launch", "precision"}
        result = tile.KernelOp(
            kernel.sym_name.data,
            kernel.root.data,
            [label for label in labels if label in self.sizes],
            [(n, kernel.axes_of(a)) for n, a in zip(kernel.argument_names, kernel.args)],
            Region(block),
            grid_labels=grid.labels,
            grid_blocks=grid.blocks,
            **{n: a for n, a in kernel.properties.items() if n in kept},
        )
        if self.least:
            result.least = DictionaryAttr({n: IntegerAttr(v, i64) for n, v in self.least.items()})
        result.keep_sizes()
        result.attributes.update(grid.attributes | kernel.attributes)
        result.location = kernel.location
        for op in block.walk():
            if not has_location(op):
                # Not the kernel's, which has the places of hints.
                op.location = grid.location
        return result

    def _size(self, label: str) -> SSAValue:
        """The size of a label, at the top of the kernel; equal sizes are one value."""
        label = self.same.get(label, label)
        if label not in self.sizes:
            fixed = self.fixed.get(label)
            op = (
                tile.SizeOp(label)
                if fixed is None
                else arith.ConstantOp(IntegerAttr(fixed, IndexType()))
            )
            op.location = self.kernel.location
            op.result.name_hint = f"{label}_size"
            block = self.top.block
            first = block.first_op
            while isinstance(first, tile.SizeOp):
                first = first.next_op
            if first is None:
                block.add_op(op)
            else:
                block.insert_op_before(op, first)
            self.sizes[label] = op.result
        return self.sizes[label]

    def block(self, block: Block, scope: Scope) -> None:
        """Inserts what a block computes."""
        for op in block.ops:
            before = scope.block.last_op
            self.lower(op, scope)
            self._locate(op, before, scope)

    def _locate(self, op: Operation, before: Operation | None, scope: Scope) -> None:
        """Gives what an operation was lowered to, behind another one, its place in the source."""
        new = before.next_op if before is not None else scope.block.first_op
        while new is not None:
            for inner in operations(new) if new.regions else (new,):
                if not has_location(inner):
                    inner.location = op.location
            new = new.next_op

    def lower(self, op: Operation, scope: Scope) -> None:
        match op:
            case loop.ForOp():
                self._for(op, scope)
            case loop.ReduceOp():
                self.env[op.result] = self._reduce(op, scope)
            case loop.OnlineOp():
                self.online.lower(op, scope, self._has_one_trip(op))
            case loop.RunningOp():
                self.online.step(op, scope)
            case loop.PrefixOp():
                self.prefixes.step(op, scope)
            case loop.ReadOp():
                self.env[op.result] = self._read(op, scope)
            case loop.WriteOp():
                self._write(op, scope)
            case loop.SizeOp():
                self.env[op.result] = self._size(op.label.data)
            case loop.PartOp():
                self._part(op, scope)
            case loop.DelinearizeOp():
                sizes = [self._size(label) for label in op.label_names]
                parts = delinearized(scope.values, self.env[op.index], sizes)
                for index, part in zip(op.indices, parts):
                    part.name_hint = index.name_hint
                    self.env[index] = part
            case loop.LocalOp() | loop.YieldOp():
                pass
            case UnrealizedConversionCastOp():
                copy = op.clone({v: self.env[v] for v in op.operands})
                scope.builder.insert(copy)
                self.env[op.results[0]] = copy.results[0]
            case _:
                if expression := self.expressions.ending_in(op):
                    self.env[op.results[0]] = scope.values.expression(expression, self.env)

    def start(self, op: loop.LoopLike, scope: Scope) -> SSAValue:
        return scope.index.constant(0) if op.origin is None else self.env[op.origin]

    def end(self, op: loop.LoopLike, scope: Scope) -> SSAValue:
        """Inserts the end of a loop: that of its extent, but not beyond its label."""
        size = self._size(op.label_name)
        if op.end is not None:
            # The end of a part is not beyond its label's.
            return self.env[op.end]
        if op.origin is None or op.extent_size is None:
            return size
        end = scope.index.add(self.env[op.origin], scope.index.constant(op.extent_size))
        return scope.index.minimum(end, size, f"{op.label_name}_end")

    def _part(self, op: loop.PartOp, scope: Scope) -> None:
        """Inserts a part's first index, a multiple of its step, and the one behind its last."""
        index, label = scope.index, op.label.data
        size, length = self._size(label), index.constant(op.step_size)
        if op.whole is not None:
            length = self._size(op.whole.data)
        elif op.parts is not None:
            steps = index.ceil_div(size, length)
            share = index.ceil_div(steps, index.constant(op.parts), f"{label}_steps")
            length = index.mul(share, length, f"{label}_part_size")
        first = index.mul(self.env[op.index], length, f"{label}_first")
        self.env[op.first] = first
        self.env[op.end] = index.minimum(index.add(first, length), size, f"{label}_end")

    def enter(self, op: loop.LoopLike, start: SSAValue, scope: Scope) -> None:
        """Defines a loop's index for one trip from `start`."""
        if not op.is_tile:
            self.env[op.iv] = start
            return
        self.starts[op] = start
        loops = self.axes.joined.get(op, (op,))
        if op is not loops[-1]:
            # The innermost one has the indices of all.
            return
        sides = self.axes.boxes.get(op, (op,))
        bounds = [self._bound(side, scope) for side in sides]
        axis = self.axes.loops[op]
        range_op: tile.RangeOp | tile.JoinedRangeOp
        if len(sides) == 1:
            range_op = tile.RangeOp(op.label_name, start, bounds[0], axis)
        else:
            extents = [
                (side.label_name, side.step_size or self.fixed[side.label_name]) for side in sides
            ]
            starts = [self.starts[side] for side in sides]
            range_op = tile.JoinedRangeOp(axis.name, extents, starts, bounds)
        range_op.location = op.location
        scope.builder.insert(range_op)
        for side, index in zip(sides, range_op.results):
            index.name_hint = value_hint(side.label_name)
            self.env[side.iv] = index

    def _bound(self, op: loop.LoopLike, scope: Scope) -> SSAValue:
        """Inserts the index at which the tiles of a loop end."""
        extent, step = op.extent_size, op.step_size
        # Where tiles fill the loop's extent, only the label's end can cut one short.
        fills = extent is None or (step > 0 and extent % step == 0)
        if op.end is not None:
            part = op.end.owner
            fills = isinstance(part, loop.PartOp) and step > 0 and part.step_size % step == 0
        return self._size(op.label_name) if fills else self.end(op, scope)

    def _has_one_trip(self, op: loop.LoopLike) -> bool:
        if op.has_one_trip and (op.is_tile or op.extent_size is not None):
            return True
        # Without a tile a trip has no mask: a label of one element needs a known size.
        whole = op.extent_size is None and op.end is None and not op.is_tile
        bounded = isinstance(op, loop.ReductionLoop) and op.domain is not None
        fixed = self.fixed.get(self.same.get(op.label_name, op.label_name))
        return whole and not bounded and fixed == 1

    def _loop(
        self, op: loop.LoopLike, scope: Scope, carried: list[SSAValue], hints: list[str]
    ) -> tuple[scf.ForOp, Scope]:
        """A sequential loop; gives it and the scope of its body, its index entered."""
        result, inner = self.loop_between(
            op, (*self.bounds(op, scope), op.step_size), scope, carried, hints
        )
        self.enter(op, result.body.block.args[0], inner)
        return result, inner

    def bounds(self, op: loop.LoopLike, scope: Scope) -> tuple[SSAValue, SSAValue]:
        """Inserts the ends of a loop, as its domain has them."""
        start, end = self.start(op, scope), self.end(op, scope)
        if isinstance(op, loop.ReductionLoop) and op.domain is not None:
            domain = self.domain(op)
            start, end, self.decided[op] = domain.narrowed(
                start, end, op.step_size, scope.index
            )
        return start, end

    def step(self, op: loop.LoopLike, start: SSAValue, body: Scope) -> None:
        """Inserts one step of a loop from an index, for all elements of its tile."""
        self.enter(op, start, body)
        self.block(op.body.block, body)

    def element(self, op: loop.LoopLike, index: SSAValue, body: Scope) -> None:
        """Inserts one element of a loop."""
        self.env[op.iv] = index
        self.block(op.body.block, body)

    def loop_between(
        self, op: loop.LoopLike, bounds: tuple[SSAValue, SSAValue, int], scope: Scope,
        carried: list[SSAValue], hints: list[str],
    ) -> tuple[scf.ForOp, Scope]:  # fmt: skip
        """Inserts a sequential loop; returns it and the scope of its body.

        Args:
            op: what it is a loop of.
            bounds: the first index, the index behind the last one, and the step.
            scope: where it goes.
            carried: the initial values of what it carries.
            hints: their names.
        """
        start, end, size = bounds
        step = scope.index.constant(size)
        body = Block(arg_types=[IndexType(), *(value.type for value in carried)])
        suffix = "_start" if op.is_tile and size > 1 else "_outer" if op.is_outer else ""
        body.args[0].name_hint = op.label_name + suffix
        for arg, hint in zip(body.args[1:], hints):
            arg.name_hint = hint
        result = scf.ForOp(start, end, step, carried, Region(body))
        result.location = op.location
        result.attributes.update(op.attributes)
        scope.builder.insert(result)
        for value, hint in zip(result.results, hints):
            value.name_hint = hint
        return result, Scope(body, self.order)

    def _for(self, op: loop.ForOp, scope: Scope) -> None:
        if self._has_one_trip(op):
            self.enter(op, self.start(op, scope), scope)
            self.block(op.body.block, scope)
            return
        if loop.prefixes_of(op):
            self.prefixes.loop(op, scope)
            return
        _, inner = self._loop(op, scope, [], [])
        self.block(op.body.block, inner)
        inner.builder.insert(scf.YieldOp())

    def _reduce(
        self, op: loop.ReduceOp, scope: Scope, start: SSAValue | None = None
    ) -> SSAValue:
        """Inserts a reduction.

        Args:
            op: the reduction.
            scope: where it goes.
            start: what it is added to, if not the neutral element.
        """
        axes = self.axes.axes(self.axes.of(op.result))
        kind = op.named_kind
        once = self._has_one_trip(op)
        joined = self.axes.joined.get(op, (op,))
        if op is not joined[-1]:
            nested = reduced_by(op)
        else:
            nested = None if once else inner_of(op)
        if nested is not None:
            if once:
                self.enter(op, self.start(op, scope), scope)
                return self._reduce(nested, scope, start)
            return self._reduce_nested(op, nested, axes, scope, start)
        if kind is ReductionKind.DOT:
            return self.products.lower(op, axes, scope, once, start)
        if kind.is_arg:
            extreme, index = self._arg_reduce(op, axes, scope, once)
            if op.extreme is not None:
                self.env[op.extreme] = extreme
            return index
        type = op.result.type
        if once:
            self.enter(op, self.start(op, scope), scope)
            self.block(op.body.block, scope)
            value = self.reduced(op, kind, self.env[op.yielded[0]], axes, scope)
            if start is None:
                return value
            return scope.values.elementwise(
                [start, value], lambda b, v: combine(b, kind, v[0], v[1])
            )
        init = scope.values.fill(identity(kind, type), axes) if start is None else start
        result, inner = self._loop(op, scope, [init], ["acc"])
        self.block(op.body.block, inner)
        value = self.reduced(op, kind, self.env[op.yielded[0]], axes, inner)
        acc = result.body.block.args[1]
        total = inner.values.elementwise([acc, value], lambda b, v: combine(b, kind, v[0], v[1]))
        inner.builder.insert(scf.YieldOp(total))
        return result.results[0]

    def _reduce_nested(
        self,
        op: loop.ReduceOp,
        nested: loop.ReduceOp,
        axes: list[Axis],
        scope: Scope,
        start: SSAValue | None,
    ) -> SSAValue:
        """Inserts a reduction of another one, of one kind: both carry one accumulator."""
        if start is None:
            start = scope.values.fill(identity(op.named_kind, op.result.type), axes)
        result, inner = self._loop(op, scope, [start], ["acc"])
        before = inner.block.last_op
        total = self._reduce(nested, inner, result.body.block.args[1])
        self._locate(nested, before, inner)
        inner.builder.insert(scf.YieldOp(total))
        return result.results[0]

    def reduced(
        self,
        op: loop.ReductionLoop,
        kind: ReductionKind,
        value: SSAValue,
        axes: list[Axis],
        scope: Scope,
    ) -> SSAValue:
        """Inserts the contribution of one trip: the value itself, or reduced along its axis."""
        value = self._restricted(op, kind, value, scope)
        if not op.is_tile:
            return scope.values.broadcast(value, axes)
        value = self.spread(op, value, axes, scope)
        kind = ReductionKind.ADD if kind is ReductionKind.DOT else kind
        return scope.builder.insert(
            tile.ReduceOp(kind, value, self.axes.loops[op].name)
        ).results[0]

    def domain(self, op: loop.ReductionLoop) -> Domain:
        return Domain(op, self.env, self._size)

    def _restricted(
        self, op: loop.ReductionLoop, kind: ReductionKind, value: SSAValue, scope: Scope
    ) -> SSAValue:
        """Inserts a value with the neutral element where indices are not in the domain."""
        if op.domain is None:
            return value
        element = element_of(value.type)
        neutral = arith.ConstantOp(identity(kind, element))
        domain, decided = self.domain(op), self.decided.get(op, [])
        undecided = [expr for expr in domain.constraints if expr not in decided]
        return domain.restrict(value, self.env[op.iv], neutral, undecided, scope.values)

    def spread(
        self, op: loop.ReductionLoop, value: SSAValue, axes: list[Axis], scope: Scope
    ) -> SSAValue:
        """Inserts a value with the axes of a result and the reduction's own."""
        own = self.axes.loops[op]
        wanted = [axis for axis in self.order if axis in axes or axis == own]
        if own not in axes_of(value.type):
            # What does not depend on the axis is still there once for each of its elements.
            value = scope.values.elementwise([self.env[op.iv], value], lambda b, v: v[1])
        return scope.values.broadcast(value, wanted)

    def _arg_reduce(
        self, op: loop.ReduceOp, axes: list[Axis], scope: Scope, once: bool
    ) -> tuple[SSAValue, SSAValue]:
        """The extreme elements and their indices."""
        kind = op.named_kind
        if once:
            self.enter(op, self.start(op, scope), scope)
            self.block(op.body.block, scope)
            return self._extreme(op, axes, scope)
        value_type = op.yielded[0].type
        init = [
            scope.values.fill(identity(kind, value_type), axes),
            scope.values.fill(IntegerAttr(0, i64), axes),
        ]
        result, inner = self._loop(op, scope, init, ["best", "best_index"])
        self.block(op.body.block, inner)
        new = self._extreme(op, axes, inner)
        old = list(result.body.block.args[1:])
        better = inner.values.elementwise(
            [new[0], old[0]], lambda b, v: is_more_extreme(b, kind, v[0], v[1])
        )
        chosen = [
            inner.values.elementwise(
                [better, n, o], lambda b, v: b.insert(arith.SelectOp(*v)).result
            )
            for n, o in zip(new, old)
        ]
        inner.builder.insert(scf.YieldOp(*chosen))
        return result.results[0], result.results[1]

    def _extreme(
        self, op: loop.ReduceOp, axes: list[Axis], scope: Scope
    ) -> tuple[SSAValue, SSAValue]:
        """One trip's extreme elements and their indices."""
        values = scope.values
        value = self.env[op.yielded[0]]
        if len(op.yielded) > 1:
            index = self.env[op.yielded[1]]
        else:
            index = values.elementwise(
                [self.env[op.iv]], lambda b, v: b.insert(arith.IndexCastOp(v[0], i64)).result
            )
        if not op.is_tile:
            return values.broadcast(value, axes), values.broadcast(index, axes)
        value = self.spread(op, value, axes, scope)
        index = self.spread(op, index, axes, scope)
        axis = self.axes.loops[op].name
        found = scope.builder.insert(tile.ArgReduceOp(op.named_kind, value, index, axis))
        return found.results[0], found.results[1]

    def _read(self, op: loop.ReadOp, scope: Scope) -> SSAValue:
        if isinstance(op.base.owner, loop.LocalOp):
            return self._forward(op, scope)
        values = (self.env[value] for value in op.indices)
        place = (op.base, op.map, op.sizes, op.boundary, op.exterior, *values)
        if op.attributes or place not in scope.loads:
            load = self.accesses.load(op, scope.values)
            load.result.name_hint = op.result.name_hint
            load.attributes.update(op.attributes)
            scope.loads[place] = load.result
        return scope.loads[place]

    def _forward(self, op: loop.ReadOp, scope: Scope) -> SSAValue:
        """Inserts the value written to a local buffer, its axes renamed to those of the reader."""
        value = self.written[op.base]
        write = write_to(op.base)
        own = axes_of(value.type)
        renaming = {
            self.axes.loops[ours].name: theirs
            for ours, theirs in self.axes.renaming(write, op)
            # A tile lacks the axes of loops on which its elements do not depend.
            if ours in self.axes.loops and self.axes.loops[ours] in own
        }
        axes = [self.axes.loops[renaming[x.name]] if x.name in renaming else x for x in own]
        if axes == list(own):
            return value
        ranges = [self.env[theirs.iv] for theirs in renaming.values()]
        renamed = scope.builder.insert(tile.RenameOp(value, ranges, axes)).result
        renamed.name_hint = value.name_hint
        return scope.values.transpose(renamed, [a for a in self.order if a in axes])

    def _write(self, op: loop.WriteOp, scope: Scope) -> None:
        value = self.env[op.value]
        if isinstance(op.base.owner, loop.LocalOp):
            if not isinstance(value.owner, Block) and value.name_hint in (None, "acc"):
                value.name_hint = value_hint(op.base.owner.function.data)
            self.written[op.base] = value
            return
        scope = self._in_first_trips(op, scope)
        indices = self.accesses.indices(op, scope.values)
        value = scope.values.broadcast(value, scope.values.union(indices))
        store = tile.StoreOp(value, self.env[op.base], indices)
        store.attributes.update(op.attributes)
        scope.builder.insert(store)

    def _in_first_trips(self, op: loop.WriteOp, scope: Scope) -> Scope:
        """Returns where a write goes that only the first trips of some loops do.

        A loop from the index of a trip to 1 makes one trip in the first one, and none in others.
        """
        for value in op.first:
            around = loop_of(value)
            start = self.starts[around] if around.is_tile else self.env[around.iv]
            if constant_index(start) == 0:
                continue
            body = Block(arg_types=[IndexType()])
            body.args[0].name_hint = f"{around.label_name}_first"
            one = scope.index.constant(1)
            result = scf.ForOp(start, one, one, [], Region(body))
            result.location = op.location
            scope.builder.insert(result)
            last = scf.YieldOp()
            body.add_op(last)
            scope = Scope(body, self.order)
            scope.builder.insertion_point = InsertPoint.before(last)
        return scope


@dataclass(frozen=True)
class ConvertLoopToTilePass(ModulePass):
    """Turns loop nests over scalars into block programs on tiles.

    Each value gets one axis for each tiled loop that it depends on; what depends on none stays
    a scalar. Loops of one trip go, local buffers become values, products become dots where
    Triton's dot takes their extents and types. Axes end at their label's end by definition;
    `tile-place-masks` makes that explicit.

    ```
    loop.for %x = x step 64 tile of f {        scf.for %x_start = %c0 to %x_size step %c64 {
      %a = loop.read %A[%x]              ->      %x = tile.range x: 64 from %x_start to %x_size
      loop.write %a, %f[%x]                      %a = tile.load %A[%x]
                                                 tile.store %a, %f[%x]
    ```
    """

    name = "convert-loop-to-tile"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = [inner for inner in op.ops if isinstance(inner, loop.KernelOp)]
        for inner in op.ops:
            if isinstance(inner, sched.ScheduleOp):
                raise CompileError(
                    "the module holds a schedule that is not applied", inner,
                    "run apply-schedule first",
                )
        same, fixed = label_classes(op), fixed_sizes(op)
        axes = {kernel: planned_axes(kernel, same_in(kernel, same), fixed) for kernel in kernels}
        for kernel in kernels:
            check_kernel(kernel)
            check_joined_labels(kernel, host.function_of(op))
            check_part_labels(kernel, host.function_of(op))
            check_tiles(kernel, axes[kernel])
            check_buffers(kernel, axes[kernel])
            check_marks(kernel)
        for kernel in kernels:
            new = _Converter(kernel, axes[kernel]).convert()
            op.body.block.insert_op_before(new, kernel)
            Rewriter.erase_op(kernel)
