"""`convert-tile-to-warp`: lets warpgroups multiply matrices in shared memory."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from dt_mlir.analysis.boxes import Box, is_computed
from dt_mlir.builders.constants import raise_constants
from dt_mlir.builders.index import IndexBuilder
from dt_mlir.diagnostics import CompileError, has_location
from dt_mlir.dialects import host, tile, warp
from dt_mlir.dialects.formats import names
from dt_mlir.dialects.tile.types import (
    Axis,
    axes_of,
    axis_names,
    element_of,
    layout_of,
    tile_type,
)
from dt_mlir.dialects.warp.types import WARPGROUP
from dt_mlir.passes.convert_tile_to_warp_products import Products, refused
from dt_mlir.passes.convert_tile_to_warp_sites import Site, blocks_alike, sites_of
from dt_mlir.passes.convert_tile_to_warp_sizes import with_sizes
from dt_mlir.traversal import operations_of

STAGE = 2
"""The phases of a barrier that a parity tells apart."""


class _Converter:
    """Converts one kernel."""

    def __init__(self, kernel: tile.KernelOp) -> None:
        self.kernel = kernel
        products = Products(kernel)
        self.consumers, self.boxes = products.consumers, products.boxes
        self.rows, self.layouts, self.factors = products.rows, products.layouts, products.factors
        self.part = self._extent(self.rows) // self.consumers
        self.sites = sites_of(self.factors)
        self.values: dict[SSAValue, SSAValue] = {}
        self.top = Block(arg_types=[arg.type for arg in kernel.args])
        self.outer = Builder(InsertPoint.at_end(self.top))
        self.rings: dict[Operation, SSAValue] = {}
        self.buffers: dict[Operation, SSAValue] = {}
        """The buffer that each load of a factor is copied to."""
        self.descriptors: dict[tuple[object, ...], SSAValue] = {}
        self.of_boxes: dict[Operation, bool] = {}
        """True for operations that compute indices and conditions of boxes alone."""
        self.made: dict[tuple[SSAValue, Block], SSAValue] = {}
        """Ranges and masks of a group's own rows, by the blocks that they are made in."""
        self.converted: dict[tuple[SSAValue, Attribute, Block], SSAValue] = {}
        """Tiles in other layouts, by the blocks that they are converted in."""
        self.counters: dict[Block, SSAValue] = {}
        """The number of trips so far around the copies in each block, or in one that has its."""
        self.alike = blocks_alike(list(self.sites.values()), self._part_of)
        """The blocks whose copies use the rings of others, with these."""

    @property
    def layout(self) -> warp.MmaLayoutAttr:
        """The layout of rows by themselves."""
        return next(iter(self.layouts.values()))

    def _refused(self, message: str, hint: str, op: Operation) -> CompileError:
        return refused(self.kernel, message, hint, op)

    def _extent(self, axis: Axis) -> int:
        assert isinstance(axis.extent, int)
        return axis.extent

    def _counter_of(self, block: Block) -> Block:
        return self.alike.get(block, block)

    def convert(self) -> warp.KernelOp:
        """Returns the kernel of the `warp` level."""
        kernel = self.kernel
        for old, new in zip(kernel.args, self.top.args):
            new.name_hint = old.name_hint
            self.values[old] = new
        body = Block(arg_types=[IndexType()])
        self.group = body.args[0]
        self.group.name_hint = "i"
        self._allocate()
        self.outer.insert(warp.FenceAsyncOp())
        if kernel.dependent_launch is not None:
            self.outer.insert(warp.GridWaitOp())
        self._block(kernel.body.block, body)
        partition = warp.PartitionOp(
            "consumer", WARPGROUP, kernel.specialization["registers"], self.consumers,
            Region(body),
        )  # fmt: skip
        specialize = self.outer.insert(warp.SpecializeOp(Region(Block([partition]))))
        raise_constants(specialize)
        kept = {
            "precision", "math", "num_stages", "grid_labels", "grid_blocks", "programs", "least",
            "dependent_launch",
        }  # fmt: skip
        result = warp.KernelOp(
            f"{kernel.sym_name.data}_warp", kernel.root.data,
            [label.data for label in kernel.labels],
            [(n, kernel.axes_of(a)) for n, a in zip(kernel.argument_names, kernel.args)],
            Region(self.top), **{n: a for n, a in kernel.properties.items() if n in kept},
        )  # fmt: skip
        result.set_hint("num_warps", WARPGROUP)
        result.attributes.update(kernel.attributes)
        result.location = kernel.location
        return result

    def _allocate(self) -> None:
        """Allocates a buffer for each factor of each group, and for its result, and barriers."""
        shared = [site for site in self.sites.values() if site.block in self.alike]
        own = [site for site in self.sites.values() if site not in shared]
        for site in own:
            for box in site.boxes:
                self._ring(box)
        for op in operations_of(self.kernel, tile.StoreOp):
            if not self._is_stored_by_threads(op):
                self._ring(self.boxes.of_store(op))
        for site in own:
            site.ready = self.outer.insert(warp.MBarrierCreateOp(self.consumers, 1)).result
            name = self._named(site.boxes[0].op)
            site.ready.name_hint = "ready" if len(own) == 1 else f"{name}_ready"
        for block, first in self.alike.items():
            pairs = zip(
                (site for site in shared if site.block is block),
                (site for site in own if site.block is first),
            )
            for site, other in pairs:
                site.ready = other.ready
                for box, known in zip(site.boxes, other.boxes):
                    self.rings[box.op] = self.rings[known.op]

    def _part_of(self, box: Box) -> warp.DescriptorType:
        """The type of the part of a box that a group has: its own rows.

        Raises:
            CompileError: if the rows of a group are no box.
        """
        extents = [axis.extent for axis in box.axes]
        divided = box.divided(self.rows.name)
        if divided is not None:
            extents[divided] = self._divided(extents[divided], box.op)
        return box.type_of(extents)

    def _divided(self, extent: int, op: Operation) -> int:
        """Returns the indices that a group has of the slowest of the labels of all rows.

        Raises:
            CompileError: if the groups cannot have equally many.
        """
        if extent % self.consumers:
            raise self._refused(
                f"{self.consumers} consumers divide the slowest of the labels of their rows, of "
                f"which the tile has {extent}", "tensorize it by more, and another label by less",
                op,
            )  # fmt: skip
        return extent // self.consumers

    def _named(self, op: tile.LoadOp | tile.StoreOp) -> str:
        return (self.values[op.base].name_hint or "tensor").removesuffix("_ptr")

    def _ring(self, box: Box) -> None:
        base, named, type = self.values[box.op.base], self._named(box.op), self._part_of(box)
        key = base, type, box.ends, box.permutation
        if key not in self.descriptors:
            described = warp.TmaDescriptorOp(base, type, box.ends, box.permutation)
            descriptor = self.outer.insert(described).result
            descriptor.name_hint = f"{named}_box"
            self.descriptors[key] = descriptor
        # Rows of several labels are rows of one matrix, and numbers along other axes leave it.
        shape = warp.BufferType.of(type).with_extents(box.matrix(type.extents))
        ring = warp.RingType.like(shape, self.consumers)
        self.rings[box.op] = self.outer.insert(warp.AllocOp(ring)).result
        self.rings[box.op].name_hint = f"{named}_tiles"

    def _descriptor(self, box: Box, type: warp.DescriptorType) -> SSAValue:
        return self.descriptors[self.values[box.op.base], type, box.ends, box.permutation]

    # The body

    def _block(self, old: Block, new: Block) -> None:
        builder = Builder(InsertPoint.at_end(new))
        for op in old.ops:
            before = new.last_op
            self._op(op, builder)
            after = before.next_op if before is not None else new.first_op
            while after is not None:
                if not has_location(after):
                    after.location = op.location
                after = after.next_op

    def _is_of_boxes(self, op: Operation) -> bool:
        """Returns whether an operation computes indices and conditions of boxes alone."""
        if op not in self.of_boxes:
            computes = is_side_effect_free(op) and bool(op.results)
            scalar = any(isinstance(value.type, IndexType) for value in op.results)
            uses = [use for value in op.results for use in value.uses]
            self.of_boxes[op] = (
                computes and not scalar and bool(uses) and all(map(self._is_of_a_box, uses))
            )
        return self.of_boxes[op]

    def _is_of_a_box(self, use: Use) -> bool:
        """Returns whether a use is an index or a condition of a box, or computes such."""
        user = use.operation
        if user in self.rings:
            return not isinstance(user, tile.StoreOp) or use.index > 0
        return not isinstance(user, scf.YieldOp | tile.YieldOp) and self._is_of_boxes(user)

    def _op(self, op: Operation, builder: Builder) -> None:
        if op in self.sites:
            self._copy(self.sites[op], builder)
        match op:
            case _ if self._is_of_boxes(op):
                pass
            case tile.SizeOp():
                size = self.outer.insert(tile.SizeOp(op.label.data)).result
                size.name_hint = op.result.name_hint
                self.values[op.result] = size
            case tile.RangeOp() | tile.JoinedRangeOp() | tile.MaskOp():
                # They are part of boxes.
                pass
            case tile.LoadOp() if op in self.rings:
                pass
            case tile.LoadOp():
                self._load(op, builder)
            case tile.TransposeOp() if self.boxes.is_factor(op.result):
                pass
            case scf.ForOp():
                self._for(op, builder)
            case tile.DotOp():
                self._product(op, builder)
            case tile.StoreOp() if op in self.rings:
                self._store(op, builder)
            case tile.StoreOp():
                self._store_by_threads(op, builder)
            case tile.ReduceOp():
                self._reduce(op, builder)
            case tile.FillOp():
                value, type = self.values[op.value], self._type(op.result.type, op)
                self._define(op.result, builder.insert(tile.FillOp(value, type)).result)
            case tile.MapOp():
                type = self._type(op.result.type, op)
                inputs = [
                    self._in_layout(self._operand(value, builder), layout_of(type), builder)
                    for value in op.inputs
                ]
                copy = tile.MapOp(inputs, type, op.body.clone())
                self._define(op.result, builder.insert(copy).result)
            case scf.YieldOp():
                pass
            case _ if is_side_effect_free(op) and not any(axes_of(r.type) for r in op.results):
                copy = op.clone({v: self.values[v] for v in op.operands})
                builder.insert(copy)
                for result, found in zip(op.results, copy.results):
                    self._define(result, found)
            case _:
                raise self._refused(
                    f"'{op.name}' beside a product is not specialized yet",
                    "compute it in a function of its own, or leave warp_specialize out", op,
                )

    def _define(self, old: SSAValue, new: SSAValue) -> None:
        new.name_hint = old.name_hint
        self.values[old] = new

    def _operand(self, value: SSAValue, builder: Builder) -> SSAValue:
        """Returns what a value is; indices and masks of a group's own rows are made where used."""
        op, block = value.owner, builder.insertion_point.block
        if not isinstance(op, tile.RangeOp | tile.JoinedRangeOp | tile.MaskOp):
            return self.values[value]
        if (value, block) in self.made:
            return self.made[value, block]
        if isinstance(op, tile.RangeOp):
            axis, origin = op.axis, self.values[op.origin]
            type = self._type(op.result.type, op)
            if axis.name == self.rows.name:
                origin = self._part_origin(axis.name, origin, self.part * op.stride, builder)
            new = tile.RangeOp(
                op.label.data, origin, None, axes_of(type)[0], op.stride, layout_of(type)
            )
            found = builder.insert(new).result
        elif isinstance(op, tile.JoinedRangeOp):
            found = self._joined_range(op, builder)[op.side_of(value)]
        else:
            index = self._operand(op.index, builder)
            end = None if op.end is None else self.values[op.end]
            divisor = None if op.divisor is None else op.divisor.value.data
            mask = tile.MaskOp(index, self.values[op.bound], divisor, op.whole is not None, end)
            found = builder.insert(mask).result
        found.name_hint = value.name_hint
        self.made[value, block] = found
        return found

    def _part_origin(
        self, name: str, origin: SSAValue, distance: int, builder: Builder
    ) -> SSAValue:
        """Returns the first of a group's own indices along the axis of rows."""
        index = IndexBuilder(builder)
        below = index.mul(self.group, index.constant(distance))
        return index.add(origin, below, f"{name}_part")

    def _joined_range(self, op: tile.JoinedRangeOp, builder: Builder) -> list[SSAValue]:
        """Inserts the indices of a group's part of a box of rows; its boxes are divided so, too."""
        type = self._type(op.indices[0].type, op)
        origins, extents = [self.values[origin] for origin in op.origins], op.extents
        if op.axis.name == self.rows.name:
            side = next(n for n, extent in enumerate(extents) if extent > 1)
            label = op.labels.data[side].data
            extents[side] = self._divided(extents[side], op)
            origins[side] = self._part_origin(label, origins[side], extents[side], builder)
        sides = list(zip(names(op.labels), extents))
        new = tile.JoinedRangeOp(op.axis.name, sides, origins, [], layout_of(type))
        for old, found in zip(op.indices, builder.insert(new).indices):
            found.name_hint = old.name_hint
            self.made[old, builder.insertion_point.block] = found
        return list(new.indices)

    def _load(self, op: tile.LoadOp, builder: Builder) -> None:
        """Loads by threads what is not a factor, in the layout of the product."""
        type = self._type(op.result.type, op) if axes_of(op.result.type) else op.result.type
        # Rows may be those of another product.
        indices, masks, inside = (
            [
                self._in_layout(self._operand(value, builder), layout_of(type), builder)
                for value in values
            ]
            for values in (op.indices, op.masks, op.inside)
        )
        base, axes = self.values[op.base], axes_of(type)
        copy = tile.LoadOp(base, indices, axes, masks, op.pad, inside, op.fill)
        copy.eviction_policy = op.eviction_policy
        self._define(op.result, builder.insert(copy).result)

    def _is_stored_by_threads(self, op: tile.StoreOp) -> bool:
        """Returns whether threads store a result.

        They store vectors, as sums of rows, and what a schedule leaves out that says which tensors
        go through descriptors.
        """
        described = self.kernel.described_names
        matrix = len(axes_of(op.value.type)) == 2
        return not matrix or bool(described) and self._name_of(op) not in described

    def _name_of(self, op: tile.StoreOp) -> str:
        assert isinstance(op.base, BlockArgument)
        return self.kernel.argument_names[op.base.index]

    def _store_by_threads(self, op: tile.StoreOp, builder: Builder) -> None:
        given = [self.values[op.value]]
        given += [self._operand(value, builder) for value in (*op.indices, *op.masks)]
        if len(axes_of(op.value.type)) == 2:
            # A warp holds pieces of 8 rows of a product's result, and would store those.
            layout = warp.RowsLayoutAttr.of(axis_names(op.value.type), WARPGROUP)
            given = [self._in_layout(value, layout, builder) for value in given]
        value, *rest = given
        count = len(op.indices)
        builder.insert(tile.StoreOp(value, self.values[op.base], rest[:count], rest[count:]))

    def _type(self, type: Attribute, op: Operation) -> Attribute:
        """The type of a tile of a group: its rows, in the layout of a product."""
        names = axis_names(type)
        columns = [name for name in names if name != self.rows.name]
        known = all(name in self.layouts for name in columns) and len(columns) < 2
        if not known or names[1:] == (self.rows.name,):
            raise self._refused(
                f"a tile with the axes {', '.join(names)} is neither a part of the product's result"
                " nor a factor", "compute it in a function of its own", op,
            )  # fmt: skip
        if not names:
            return type
        axes = [
            Axis(axis.name, self.part) if axis.name == self.rows.name else axis
            for axis in axes_of(type)
        ]
        layout = self.layouts[columns[0]] if columns else self.layout
        return tile_type(element_of(type), axes, layout)

    def _in_layout(
        self, value: SSAValue, layout: Attribute | None, builder: Builder
    ) -> SSAValue:
        """Returns a tile in a layout, which it may have already."""
        if layout is None or layout_of(value.type) in (None, layout):
            return value
        key = value, layout, builder.insertion_point.block
        if key not in self.converted:
            type = tile_type(element_of(value.type), axes_of(value.type), layout)
            found = builder.insert(warp.ConvertLayoutOp(value, type)).result
            found.name_hint = value.name_hint
            self.converted[key] = found
        return self.converted[key]

    def _reduce(self, op: tile.ReduceOp, builder: Builder) -> None:
        if op.axis.data == self.rows.name and op.apart is None:
            raise self._refused(
                f"it reduces along '{self.rows.name}', whose rows are divided among groups",
                "reduce in a function of its own", op,
            )
        copy = tile.ReduceOp(
            op.kind.data, self.values[op.value], op.axis.data, op.apart is not None
        )
        found = builder.insert(copy).result
        self._define(op.result, self._in_layout(found, self.layout, builder))

    def _counted(self, op: scf.ForOp) -> list[Block]:
        """Returns the blocks with copies that a loop makes trips around."""
        found = [site.block for place, site in self.sites.items() if op.is_ancestor(place)]
        return list(dict.fromkeys(map(self._counter_of, found)))

    def _for(self, op: scf.ForOp, builder: Builder) -> None:
        counted = self._counted(op)
        if counted and not all(is_computed(value) for value in (op.lb, op.ub, op.step)):
            raise self._refused(
                "the bounds of a loop around a product depend on what is computed",
                "leave warp_specialize out", op,
            )
        index = IndexBuilder(builder)
        inits = [self.values[value] for value in op.iter_args]
        inits += [self.counters.get(block) or index.constant(0) for block in counted]
        body = Block(arg_types=[IndexType(), *(value.type for value in inits)])
        iv, *carried = op.body.block.args
        self._define(iv, body.args[0])
        for old, new in zip(carried, body.args[1:]):
            self._define(old, new)
        for block, arg in zip(counted, body.args[1 + len(carried) :]):
            arg.name_hint = "trip"
            self.counters[block] = arg
        self._block(op.body.block, body)
        last = op.body.block.last_op
        assert isinstance(last, scf.YieldOp)
        inner = Builder(InsertPoint.at_end(body))
        yielded = [
            self._in_layout(self.values[value], layout_of(arg.type), inner)
            for value, arg in zip(last.operands, body.args[1:])
        ]
        if any(site.block is op.body.block for site in self.sites.values()):
            own, index = self._counter_of(op.body.block), IndexBuilder(inner)
            count = self.counters[own]
            self.counters[own] = index.add(count, index.constant(1), "next")
        yielded += [self.counters[block] for block in counted]
        for added in body.ops:
            if not has_location(added):
                added.location = op.location
        body.add_op(scf.YieldOp(*yielded))
        lb, ub, step = (self.values[value] for value in (op.lb, op.ub, op.step))
        result = builder.insert(scf.ForOp(lb, ub, step, inits, Region(body)))
        for old, new in zip(op.results, result.results):
            self._define(old, new)
        for block, found in zip(counted, result.results[len(carried) :]):
            found.name_hint = "trips"
            self.counters[block] = found

    def _origin(self, box: Box, index: IndexBuilder) -> list[SSAValue]:
        """The first index of a group's part of a box along each axis of its tensor."""
        found: list[SSAValue] = []
        divided = box.divided(self.rows.name)
        for number, axis in enumerate(box.axes):
            first = index.sum([(self.values[v], n) for v, n in axis.first.terms], axis.first.number)
            if number == divided:
                distance = axis.extent // self.consumers
                first = self._part_origin(self.rows.name, first, distance, index.builder)
            found.append(first)
        return found

    def _copy(self, site: Site, builder: Builder) -> None:
        """Inserts copies, and the wait for them."""
        index = IndexBuilder(builder)
        types = [self._part_of(box) for box in site.boxes]
        counter = self.counters.get(self._counter_of(site.block)) or index.constant(0)
        phase = index.rem(counter, index.constant(STAGE), "phase")
        assert site.ready is not None
        total = sum(type.bytes for type in types)
        builder.insert(warp.MBarrierExpectOp(site.ready, self.group, total))
        for box, type in zip(site.boxes, types):
            buffer = builder.insert(warp.IndexOp(self.rings[box.op], self.group)).result
            descriptor = self._descriptor(box, type)
            origin = self._origin(box, index)
            builder.insert(warp.TmaLoadOp(descriptor, origin, buffer, site.ready, self.group))
            self.buffers[box.op] = buffer
        builder.insert(warp.MBarrierWaitOp(site.ready, self.group, phase))

    def _product(self, op: tile.DotOp, builder: Builder) -> None:
        type = self._type(op.result.type, op)
        layout = layout_of(type)
        assert isinstance(layout, warp.MmaLayoutAttr)
        factors: list[SSAValue] = []
        for value, box in zip((op.lhs, op.rhs), self.factors[op]):
            if box is None:
                operand = warp.OperandLayoutAttr.new([layout])
                factors.append(self._in_layout(self.values[value], operand, builder))
                continue
            buffer = self.buffers[box.op]
            if box.is_transposed:
                buffer = builder.insert(warp.TransposeOp(buffer)).result
            factors.append(buffer)
        acc = None if op.acc is None else self.values[op.acc]
        lhs, rhs = factors
        product = builder.insert(warp.MmaOp(lhs, rhs, acc, type)).result
        product.name_hint = "product"
        self._define(op.result, builder.insert(warp.MmaWaitOp([product])).sums[0])

    def _store(self, op: tile.StoreOp, builder: Builder) -> None:
        box = self.boxes.of_store(op)
        buffer = builder.insert(warp.IndexOp(self.rings[op], self.group)).result
        value = self.values[op.value]
        builder.insert(warp.LocalStoreOp(value, buffer))
        builder.insert(warp.FenceAsyncOp())
        descriptor = self._descriptor(box, self._part_of(box))
        origin = self._origin(box, IndexBuilder(builder))
        builder.insert(warp.TmaStoreOp(buffer, descriptor, origin))
        builder.insert(warp.TmaStoreWaitOp())


@dataclass(frozen=True)
class ConvertTileToWarpPass(ModulePass):
    """Lets warpgroups multiply matrices in shared memory, in kernels whose warps are specialized.

    A kernel of the `warp` level is made of each, which is launched in its place where it can be: on
    devices with such products, for tensors that the copy engine takes. The consumers become a
    partition, of which each group has a part of the rows of the product. Its factors are copied to
    shared memory by descriptors, and so is the result back, unless the schedule says which tensors
    go through descriptors and leaves it out: threads then store neighbours in its rows. Each copy
    is waited for at once: later passes let copies and products overlap. Tiles get the layout in
    which a warpgroup holds the result of a product.

    ```
    %A = tile.load %A_ptr[%x, %k] masked […]    ->   warp.tma_load %A_box[%x_part, %k] to %a …
    %p = tile.dot %A, %B acc %acc                    warp.mbarrier_wait %ready[%i] parity %phase
                                                     %q = warp.mma %a, %b acc %acc
                                                     %p = warp.mma_wait 0 for [%q]
    ```
    """

    name = "convert-tile-to-warp"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        function = host.function_of(op)
        for launch in [] if function is None else function.launches():
            kernel = launch.kernel_op()
            done = launch.specialized is not None
            if done or not isinstance(kernel, tile.KernelOp) or kernel.warp_specialize is None:
                continue
            sizes = kernel.specialized_sizes
            # It is looked at in the module, which says what sizes are the same.
            known = with_sizes(kernel, sizes) if sizes else kernel
            if sizes:
                Rewriter.insert_op(known, InsertPoint.after(kernel))
            try:
                converter = _Converter(known)
                found = converter.convert()
            finally:
                if sizes:
                    Rewriter.erase_op(known)
            Rewriter.insert_op(found, InsertPoint.after(kernel))
            launch.specialize(found.sym_name.data, list(converter.boxes.equal), sizes)
