"""`convert-tile-to-warp`: lets warpgroups multiply matrices in shared memory."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from dt_mlir.builders.constants import raise_constants
from dt_mlir.builders.index import IndexBuilder
from dt_mlir.diagnostics import CompileError, Note, directive_location, has_location
from dt_mlir.dialects import host, tile, warp
from dt_mlir.dialects.tile.types import (
    Axis,
    axes_of,
    axis_names,
    element_of,
    layout_of,
    tile_type,
)
from dt_mlir.dialects.warp.types import WARPGROUP
from dt_mlir.passes.convert_tile_to_warp_boxes import Box, Boxes, is_computed
from dt_mlir.passes.convert_tile_to_warp_sites import Site, blocks_alike, sites_of
from dt_mlir.traversal import operations_of

ROWS = 16 * WARPGROUP
"""The rows that a warpgroup multiplies at once."""
COLUMNS = 256
"""The most columns of an instruction."""
STAGE = 2
"""The phases of a barrier that a parity tells apart."""


def refused(kernel: tile.KernelOp, message: str, hint: str, op: Operation) -> CompileError:
    """Returns the refusal to specialize warps, at the directive.

    Args:
        kernel: the kernel.
        message: what stands in the way.
        hint: what would be right.
        op: where it stands.
    """
    name = kernel.root.data
    place = directive_location(kernel.location)
    known = has_location(op) and directive_location(op.location) != place
    notes = [Note("this is where", op.location)] if known else []
    return CompileError(f"{name}.warp_specialize: {message}", place, hint, notes)


class _Converter:
    """Converts one kernel."""

    def __init__(self, kernel: tile.KernelOp) -> None:
        self.kernel = kernel
        self.consumers = kernel.specialization["consumers"]
        self.boxes = Boxes(kernel, lambda message, hint, op: refused(kernel, message, hint, op))
        self.dots = operations_of(kernel, tile.DotOp)
        if not self.dots:
            raise self._refused(
                "the kernel has no product of matrices", "leave warp_specialize out", kernel
            )
        self._check()
        self.rows = axes_of(self.dots[0].result.type)[0]
        self.layouts: dict[str, warp.MmaLayoutAttr] = {}
        """The layout of tiles with rows, by the axis of their columns."""
        self.factors: dict[tile.DotOp, list[Box | None]] = {}
        """The boxes of each product's factors; None for one in registers."""
        for dot in self.dots:
            self._check_product(dot)
        self.part = self._extent(self.rows) // self.consumers
        self.sites = sites_of(self.factors)
        self.values: dict[SSAValue, SSAValue] = {}
        self.top = Block(arg_types=[arg.type for arg in kernel.args])
        self.outer = Builder(InsertPoint.at_end(self.top))
        self.rings: dict[Operation, SSAValue] = {}
        self.buffers: dict[Operation, SSAValue] = {}
        """The buffer that each load of a factor is copied to."""
        self.descriptors: dict[tuple[SSAValue, Attribute], SSAValue] = {}
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

    def _check(self) -> None:
        """Checks what the kernel is like.

        Raises:
            CompileError: where it cannot be specialized.
        """
        dot, name = self.dots[0], self.kernel.root.data
        if self.kernel.dynamic is not None:
            raise self._refused(
                "sizes and strides of specialized kernels are constants",
                f"write {name}.compile() without 'dynamic'", dot,
            )  # fmt: skip
        if self.kernel.summed_names:
            raise self._refused(
                "what it writes is added to memory, where copies only store",
                "leave out 'atomic' of rfactor", dot,
            )  # fmt: skip
        for dot in self.dots:
            axes = axes_of(dot.result.type)
            if len(axes) != 2 or any(axis.is_symbolic for axis in axes):
                raise self._refused(
                    "the product is not one of matrices with numbers of rows and columns",
                    f"write {name}.tensorize with a number for each of its labels", dot,
                )
            rows = axes_of(self.dots[0].result.type)[0]
            if axes[0] != rows:
                raise self._refused(
                    f"products have rows along '{rows.name}' and along '{axes[0].name}'",
                    "compute one of them in a function of its own", dot,
                )

    def _check_product(self, dot: tile.DotOp) -> None:
        """Checks what a product is like, and finds its factors.

        Raises:
            CompileError: where no warpgroup multiplies such matrices.
        """
        name, columns = self.kernel.root.data, axes_of(dot.result.type)[1]
        wanted, count = ROWS * self.consumers, self._extent(columns)
        if self._extent(self.rows) % wanted:
            raise self._refused(
                f"{self.consumers} consumers multiply a multiple of {wanted} rows, and the tile has"
                f" {self._extent(self.rows)}",
                "write consumers:1 or consumers:2: the extents of tiles are powers of two"
                if wanted & (wanted - 1) else f"write {name}.tensorize({self.rows.name}:{wanted})",
                dot,
            )  # fmt: skip
        if count % 8 or count > COLUMNS:
            raise self._refused(
                f"a product has a multiple of 8 columns up to 256, and the tile has {count}",
                f"write {name}.tensorize({columns.name}:{COLUMNS // 2})", dot,
            )
        lhs = None if self._is_in_registers(dot.lhs) else self.boxes.of(dot.lhs, dot)
        rhs = self.boxes.of(dot.rhs, dot)
        self.factors[dot] = [lhs, rhs]
        width, element = rhs.type.width, element_of(dot.rhs.type)
        if width not in (8, 16):
            raise self._refused(
                f"tensor cores multiply elements of 8 or 16 bits, not of {element}",
                "declare the inputs with a type of 16 bits", dot,
            )  # fmt: skip
        if width == 8 and (lhs is None or lhs.is_transposed or not rhs.is_transposed):
            raise self._refused(
                f"of {element} tensor cores multiply factors in memory alone, whose last axis is "
                "the one that is summed", f"store them so, as in rdot(A[{self.rows.name}, k], "
                f"B[{columns.name}, k], k)", dot,
            )  # fmt: skip
        layout = warp.MmaLayoutAttr.of(
            [self.rows.name, columns.name], [WARPGROUP, 1],
            [16, count, 256 // width],
        )  # fmt: skip
        if self.layouts.setdefault(columns.name, layout) != layout:
            raise self._refused(
                f"products along '{columns.name}' have factors of 8 and of 16 bits",
                "compute one of them in a function of its own", dot,
            )

    def _is_in_registers(self, factor: SSAValue) -> bool:
        """Returns whether a first factor is computed of the results of other products."""
        names = axis_names(factor.type)
        return isinstance(factor.owner, tile.MapOp) and names[1] in self.layouts

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
        self._block(kernel.body.block, body)
        partition = warp.PartitionOp(
            "consumer", WARPGROUP, kernel.specialization["registers"], self.consumers,
            Region(body),
        )  # fmt: skip
        specialize = self.outer.insert(warp.SpecializeOp(Region(Block([partition]))))
        raise_constants(specialize)
        kept = {
            "precision", "math", "num_stages", "grid_labels", "grid_blocks", "programs", "least",
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
                self._ring(box.op, self._part_of(box))
        for op in operations_of(self.kernel, tile.StoreOp):
            # What is no matrix, as sums of rows, is stored by threads.
            if len(axes_of(op.value.type)) == 2:
                self._ring(op, self._part_of(self.boxes.of_store(op)))
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
        """The type of the part of a box that a group has: its own rows."""
        extents = [
            self.part if axis == self.rows.name else extent
            for axis, extent in zip(box.axes, box.type.extents)
        ]
        return box.type_of(extents)

    def _named(self, op: tile.LoadOp | tile.StoreOp) -> str:
        return (self.values[op.base].name_hint or "tensor").removesuffix("_ptr")

    def _ring(self, op: tile.LoadOp | tile.StoreOp, type: warp.DescriptorType) -> None:
        base, named = self.values[op.base], self._named(op)
        assert isinstance(base.type, MemRefType)
        if (base, type) not in self.descriptors:
            descriptor = self.outer.insert(warp.TmaDescriptorOp(base, type)).result
            descriptor.name_hint = f"{named}_box"
            self.descriptors[base, type] = descriptor
        # Numbers along other axes leave a matrix.
        shape = warp.BufferType.of(type).with_extents(type.squeezed)
        ring = warp.RingType.like(shape, self.consumers)
        self.rings[op] = self.outer.insert(warp.AllocOp(ring)).result
        self.rings[op].name_hint = f"{named}_tiles"

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

    def _op(self, op: Operation, builder: Builder) -> None:
        if op in self.sites:
            self._copy(self.sites[op], builder)
        match op:
            case tile.SizeOp():
                size = self.outer.insert(tile.SizeOp(op.label.data)).result
                size.name_hint = op.result.name_hint
                self.values[op.result] = size
            case tile.RangeOp() | tile.MaskOp():
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
        if not isinstance(op, tile.RangeOp | tile.MaskOp):
            return self.values[value]
        if (value, block) in self.made:
            return self.made[value, block]
        if isinstance(op, tile.RangeOp):
            axis, origin = op.axis, self.values[op.origin]
            type = self._type(op.result.type, op)
            if axis.name == self.rows.name:
                index = IndexBuilder(builder)
                below = index.mul(self.group, index.constant(self.part * op.stride))
                origin = index.add(origin, below, f"{axis.name}_part")
            new = tile.RangeOp(
                op.label.data, origin, None, axes_of(type)[0], op.stride, layout_of(type)
            )
            found = builder.insert(new).result
        else:
            index = self._operand(op.index, builder)
            end = None if op.end is None else self.values[op.end]
            divisor = None if op.divisor is None else op.divisor.value.data
            mask = tile.MaskOp(index, self.values[op.bound], divisor, op.whole is not None, end)
            found = builder.insert(mask).result
        found.name_hint = value.name_hint
        self.made[value, block] = found
        return found

    def _load(self, op: tile.LoadOp, builder: Builder) -> None:
        """Loads by threads what is not a factor, in the layout of the product."""
        axes = axes_of(self._type(op.result.type, op)) if axes_of(op.result.type) else ()
        indices, masks, inside = (
            [self._operand(value, builder) for value in values]
            for values in (op.indices, op.masks, op.inside)
        )
        copy = tile.LoadOp(self.values[op.base], indices, axes, masks, op.pad, inside, op.fill)
        copy.eviction_policy = op.eviction_policy
        self._define(op.result, builder.insert(copy).result)

    def _store_by_threads(self, op: tile.StoreOp, builder: Builder) -> None:
        indices, masks = (
            [self._operand(value, builder) for value in values]
            for values in (op.indices, op.masks)
        )
        value = self.values[op.value]
        builder.insert(tile.StoreOp(value, self.values[op.base], indices, masks))

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
        for axis, origin in zip(box.axes, box.origins):
            first = self.values[origin]
            if axis == self.rows.name:
                below = index.mul(self.group, index.constant(self.part))
                first = index.add(first, below, f"{axis}_part")
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
            descriptor = self.descriptors[self.values[box.op.base], type]
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
        descriptor = self.descriptors[self.values[op.base], self._part_of(box)]
        origin = self._origin(box, IndexBuilder(builder))
        builder.insert(warp.TmaStoreOp(buffer, descriptor, origin))
        builder.insert(warp.TmaStoreWaitOp())


@dataclass(frozen=True)
class ConvertTileToWarpPass(ModulePass):
    """Lets warpgroups multiply matrices in shared memory, in kernels whose warps are specialized.

    A kernel of the `warp` level is made of each, which is launched in its place where it can be:
    on devices with such products, for tensors that the copy engine takes. The consumers become a
    partition, of which each group has a part of the rows of the product. Its factors are copied to
    shared memory by descriptors, and so is the result back. Each copy is waited for at once: later
    passes let copies and products overlap. Tiles get the layout in which a warpgroup holds the
    result of a product.

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
            known = launch.specialized is not None
            if known or not isinstance(kernel, tile.KernelOp) or kernel.warp_specialize is None:
                continue
            found = _Converter(kernel).convert()
            Rewriter.insert_op(found, InsertPoint.after(kernel))
            launch.specialize(found.sym_name.data)
