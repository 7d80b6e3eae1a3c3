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
from dt_mlir.dialects.tile.types import Axis, axes_of, axis_names, element_of, tile_type
from dt_mlir.dialects.warp.types import WARPGROUP
from dt_mlir.passes.convert_tile_to_warp_boxes import Box, Boxes
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
        self.dot = self._dot()
        self.rows, self.columns = axes_of(self.dot.result.type)
        self.boxes = Boxes(kernel, lambda message, hint, op: refused(kernel, message, hint, op))
        self._check()
        depth = 256 // self._width()
        self.layout = warp.MmaLayoutAttr.of(
            [self.rows.name, self.columns.name], [WARPGROUP, 1],
            [16, min(self._extent(self.columns), COLUMNS), depth],
        )  # fmt: skip
        self.part = self._extent(self.rows) // self.consumers
        self.values: dict[SSAValue, SSAValue] = {}
        self.top = Block(arg_types=[arg.type for arg in kernel.args])
        self.outer = Builder(InsertPoint.at_end(self.top))
        self.rings: dict[Operation, SSAValue] = {}
        self.descriptors: dict[tuple[SSAValue, Attribute], SSAValue] = {}
        self.made: dict[tuple[SSAValue, Block], SSAValue] = {}
        """Ranges and masks of a group's own rows, by the blocks that they are made in."""
        self.counter: SSAValue | None = None
        """The number of trips around the product so far."""

    def _refused(self, message: str, hint: str, op: Operation) -> CompileError:
        return refused(self.kernel, message, hint, op)

    def _extent(self, axis: Axis) -> int:
        assert isinstance(axis.extent, int)
        return axis.extent

    def _width(self) -> int:
        return self.boxes.of(self.dot.lhs, self.dot).type.width

    def _dot(self) -> tile.DotOp:
        dots = operations_of(self.kernel, tile.DotOp)
        if len(dots) != 1:
            raise self._refused(
                f"the kernel has {len(dots)} products of matrices, and one is specialized",
                "fuse what multiplies other matrices elsewhere, or leave warp_specialize out",
                self.kernel,
            )
        return dots[0]

    def _check(self) -> None:
        """Checks what the product is like.

        Raises:
            CompileError: where no warpgroup multiplies such matrices.
        """
        dot, name = self.dot, self.kernel.root.data
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
        axes = axes_of(dot.result.type)
        if len(axes) != 2 or any(axis.is_symbolic for axis in axes):
            raise self._refused(
                "the product is not one of matrices with numbers of rows and columns",
                f"write {name}.tensorize with a number for each of its labels", dot,
            )
        loop = dot.parent_op()
        carried = isinstance(dot.acc, SSAValue) and isinstance(dot.acc.owner, Block)
        if not isinstance(loop, scf.ForOp) or not carried:
            raise self._refused(
                "the product is not summed in a loop", "tensorize the label that is summed", dot
            )
        wanted = ROWS * self.consumers
        if self._extent(self.rows) % wanted:
            raise self._refused(
                f"{self.consumers} consumers multiply a multiple of {wanted} rows, and the tile has"
                f" {self._extent(self.rows)}", f"write {name}.tensorize({self.rows.name}:{wanted})",
                dot,
            )
        columns = self._extent(self.columns)
        if columns % 8 or (columns > COLUMNS and columns % COLUMNS):
            raise self._refused(
                f"a product has a multiple of 8 columns up to 256, and the tile has {columns}",
                f"write {name}.tensorize({self.columns.name}:{COLUMNS // 2})", dot,
            )
        if self._width() not in (8, 16):
            type = element_of(dot.lhs.type)
            raise self._refused(
                f"tensor cores multiply elements of 8 or 16 bits, not of {type}",
                "declare the inputs with a type of 16 bits", dot,
            )  # fmt: skip

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
        for value, name in ((self.dot.lhs, "lhs"), (self.dot.rhs, "rhs")):
            box = self.boxes.of(value, self.dot)
            self._ring(box.op, self._part_of(box), name)
        for op in operations_of(self.kernel, tile.StoreOp):
            # What is no matrix, as sums of rows, is stored by threads.
            if len(axes_of(op.value.type)) == 2:
                self._ring(op, self._part_of(self.boxes.of_store(op)), "out")
        barriers = self.outer.insert(warp.MBarrierCreateOp(self.consumers, 1)).result
        barriers.name_hint = "ready"
        self.ready = barriers

    def _part_of(self, box: Box) -> warp.DescriptorType:
        """The type of the part of a box that a group has: its own rows."""
        extents = [
            self.part if axis == self.rows.name else extent
            for axis, extent in zip(box.axes, box.type.extents)
        ]
        return box.type_of(extents)

    def _ring(self, op: tile.LoadOp | tile.StoreOp, type: warp.DescriptorType, name: str) -> None:
        base = self.values[op.base]
        assert isinstance(base.type, MemRefType)
        named = (base.name_hint or name).removesuffix("_ptr")
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
                value = self.values[op.value]
                copy = tile.ReduceOp(op.kind.data, value, op.axis.data)
                self._define(op.result, builder.insert(copy).result)
            case tile.FillOp():
                value, type = self.values[op.value], self._type(op.result.type, op)
                self._define(op.result, builder.insert(tile.FillOp(value, type)).result)
            case tile.MapOp():
                inputs = [self._operand(value, builder) for value in op.inputs]
                type = self._type(op.result.type, op)
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
                op.label.data, origin, None, axes_of(type)[0], op.stride, self.layout
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
        """The type of a tile of a group: its rows, in the layout of the product."""
        names = axis_names(type)
        if not set(names) <= {self.rows.name, self.columns.name}:
            raise self._refused(
                f"a tile with the axes {', '.join(names)} is neither a part of the product's result"
                " nor a factor", "compute it in a function of its own", op,
            )  # fmt: skip
        axes = [
            Axis(axis.name, self.part) if axis.name == self.rows.name else axis
            for axis in axes_of(type)
        ]
        return tile_type(element_of(type), axes, self.layout)

    def _counts(self, op: scf.ForOp) -> bool:
        """Returns whether a loop makes trips around the product."""
        return op.body.block.is_ancestor(self.dot)

    def _for(self, op: scf.ForOp, builder: Builder) -> None:
        counts = self._counts(op)
        index = IndexBuilder(builder)
        inits = [self.values[value] for value in op.iter_args]
        if counts:
            inits.append(self.counter or index.constant(0))
        body = Block(arg_types=[IndexType(), *(value.type for value in inits)])
        iv, *carried = op.body.block.args
        self._define(iv, body.args[0])
        for old, new in zip(carried, body.args[1:]):
            self._define(old, new)
        if counts:
            body.args[-1].name_hint = "trip"
            self.counter = body.args[-1]
        self._block(op.body.block, body)
        last = op.body.block.last_op
        assert isinstance(last, scf.YieldOp)
        yielded = [self.values[value] for value in last.operands]
        if counts and self.counter is not None:
            yielded.append(self.counter)
        body.add_op(scf.YieldOp(*yielded))
        lb, ub, step = (self.values[value] for value in (op.lb, op.ub, op.step))
        result = builder.insert(scf.ForOp(lb, ub, step, inits, Region(body)))
        for old, new in zip(op.results, result.results):
            self._define(old, new)
        if counts:
            result.results[-1].name_hint = "trips"
            self.counter = result.results[-1]

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

    def _product(self, op: tile.DotOp, builder: Builder) -> None:
        index = IndexBuilder(builder)
        boxes = [self.boxes.of(value, op) for value in (op.lhs, op.rhs)]
        types = [self._part_of(box) for box in boxes]
        total = sum(type.bytes for type in types)
        assert self.counter is not None
        phase = index.rem(self.counter, index.constant(STAGE), "phase")
        builder.insert(warp.MBarrierExpectOp(self.ready, self.group, total))
        factors: list[SSAValue] = []
        for box, type in zip(boxes, types):
            buffer = builder.insert(warp.IndexOp(self.rings[box.op], self.group)).result
            descriptor = self.descriptors[self.values[box.op.base], type]
            origin = self._origin(box, index)
            builder.insert(warp.TmaLoadOp(descriptor, origin, buffer, self.ready, self.group))
            factors.append(buffer)
        builder.insert(warp.MBarrierWaitOp(self.ready, self.group, phase))
        for number, (box, buffer) in enumerate(zip(boxes, factors)):
            if box.is_transposed:
                factors[number] = builder.insert(warp.TransposeOp(buffer)).result
        assert op.acc is not None
        acc = self.values[op.acc]
        lhs, rhs = factors
        product = builder.insert(warp.MmaOp(lhs, rhs, acc, acc.type)).result
        product.name_hint = "product"
        self._define(op.result, builder.insert(warp.MmaWaitOp([product])).sums[0])
        self.counter = index.add(self.counter, index.constant(1), "next")

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
