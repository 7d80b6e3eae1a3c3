"""Prints what one group of warps does as a `gluon.jit` function."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from dt_mlir.analysis.moving_addresses import Part
from dt_mlir.backend.gluon.types import layout_axes, register_layout, sliced
from dt_mlir.backend.triton import code
from dt_mlir.backend.triton.kernel import KernelPrinter
from dt_mlir.backend.triton.origins import Origins
from dt_mlir.backend.triton.scalars import constant_of, literal, triton_type
from dt_mlir.backend.triton.signature import Signature
from dt_mlir.dialects import tile, warp
from dt_mlir.dialects.tile.types import Axis, axes_of, element_of, layout_of
from dt_mlir.traversal import operations


class PartitionPrinter(KernelPrinter):
    """Prints a partition.

    Args:
        kernel: the kernel.
        signature: its parameters' names.
        handles: the names of what all partitions share: buffers, barriers and descriptors.
        helpers: collects the names of the combine functions that it uses.
        origins: collects the operations that code comes from, if they are wanted.
    """

    def __init__(
        self,
        kernel: warp.KernelOp,
        signature: Signature,
        handles: dict[SSAValue, str],
        helpers: set[str],
        origins: Origins | None = None,
    ) -> None:
        super().__init__(kernel, signature, helpers, origins)
        # Each function has names of its own.
        self.names = code.Names(signature.names.taken)
        self.values.update((value, code.name(name)) for value, name in handles.items())
        self.values.update(
            (arg, code.name(variable)) for arg, variable in signature.variables.items()
        )
        # Wrappers give the kernel sizes of 32 bits alone.
        self.far = False
        self.layouts: dict[Attribute, str] = {}

    def partition(
        self, op: warp.PartitionOp, name: str, parameters: Sequence[code.Parameter]
    ) -> ast.FunctionDef:
        """The function.

        Args:
            op: the partition.
            name: the function's name.
            parameters: what all partitions are given.
        """
        own: list[code.Parameter] = []
        for arg in op.body.block.args:
            variable = self._variable(arg, "i")
            self.values[arg] = code.name(variable)
            own.append(code.Parameter(variable, code.path("gl.constexpr")))
        for inner in operations(self.kernel):
            if isinstance(inner, arith.ConstantOp):
                self.values[inner.result] = literal(inner.value)
            elif isinstance(inner, tile.SizeOp):
                self.values[inner.result] = code.name(self.signature.sizes[inner.label.data])
        self._declare_layouts(op)
        self._block(op.body.block)
        groups = f", in {op.count} groups" if op.count > 1 else ""
        return code.function(
            name, [*own, *parameters], [f"{op.sym_name.data}: {_warps(op)}{groups}."],
            self.writer.statements, decorators=[code.path("gluon.jit")],
        )  # fmt: skip

    def _declare_layouts(self, partition: warp.PartitionOp) -> None:
        for op in operations(partition):
            # Gluon knows the layout of a half by that of the whole.
            for result in () if isinstance(op, warp.HalveOp) else op.results:
                layout = layout_of(result.type)
                if layout is None or layout in self.layouts:
                    continue
                axes = "_".join(layout_axes(layout)) or "operand"
                name = self.layouts[layout] = self.names.fresh(f"{axes}_layout")
                self.writer.declare(name, code.path("gl.constexpr"), register_layout(layout))

    def _layout(self, type: Attribute) -> ast.expr:
        layout = layout_of(type)
        assert layout is not None, "tiles of partitions have layouts"
        return sliced(code.name(self.layouts[layout]), layout_axes(layout), type)

    def _op(self, op: Operation) -> None:
        write = self.writer.expression
        match op:
            case warp.IndexOp():
                buffer = code.method(self.values[op.ring], "index", self.values[op.index])
                self._define(op.result, buffer, "buffer")
            case warp.TransposeOp():
                order = code.tuple_of([code.constant(1), code.constant(0)])
                buffer = code.method(self.values[op.buffer], "permute", order)
                self._define(op.result, buffer, "transposed")
            case warp.MBarrierWaitOp():
                write(code.call("mbarrier.wait", self._barrier(op), self.values[op.parity]))
            case warp.MBarrierArriveOp():
                write(code.call("mbarrier.arrive", self._barrier(op), count=code.constant(1)))
            case warp.MBarrierExpectOp():
                number = code.constant(op.bytes.value.data)
                write(code.call("mbarrier.expect", self._barrier(op), number))
            case warp.TmaLoadOp():
                signal = code.method(self.values[op.barriers], "index", self.values[op.index])
                write(code.call(
                    "tma.async_copy_global_to_shared", self.values[op.descriptor],
                    self._origin(op.origin), signal, self._box(op.buffer, op.descriptor),
                ))  # fmt: skip
            case warp.TmaStoreOp():
                write(code.call(
                    "tma.async_copy_shared_to_global", self.values[op.descriptor],
                    self._origin(op.origin), self._box(op.buffer, op.descriptor),
                ))  # fmt: skip
            case warp.TmaStoreWaitOp():
                write(code.call("tma.store_wait", code.constant(op.pending.value.data)))
            case warp.FenceAsyncOp():
                write(code.call("fence_async_shared"))
            case warp.LocalStoreOp():
                write(code.method(self.values[op.buffer], "store", self._stored(op)))
            case warp.MmaOp():
                self._mma(op)
            case warp.MmaWaitOp():
                self._mma_wait(op)
            case warp.ConvertLayoutOp():
                converted = code.call(
                    "gl.convert_layout", self.values[op.value], self._layout(op.result.type)
                )
                self._define(op.result, converted)
            case warp.HalveOp():
                self._halve(op)
            case scf.IfOp():
                self._if(op)
            case scf.YieldOp():
                pass
            case _:
                super()._op(op)

    def _if(self, op: scf.IfOp) -> None:
        """Prints a branch: what it gives otherwise is assigned before, if nothing computes it."""
        targets = [self._variable(result, "acc") for result in op.results]
        self.tensors.update(op.results)
        other = op.false_region.block if op.false_region.blocks else None
        last = None if other is None else other.last_op
        computed = other is not None and other.first_op is not last
        if isinstance(last, scf.YieldOp) and not computed:
            for variable, value in zip(targets, last.arguments):
                self.writer.assign(variable, self._initial(value))
        with self.writer.branch(self.values[op.cond]):
            self._branch(op.true_region.block, targets)
        if computed:
            assert other is not None
            with self.writer.otherwise():
                self._branch(other, targets)
        for result, variable in zip(op.results, targets):
            self.values[result] = code.name(variable)

    def _branch(self, block: Block, targets: Sequence[str]) -> None:
        """Prints a block, and assigns what it gives."""
        self._block(block)
        last = block.last_op
        if targets and isinstance(last, scf.YieldOp):
            values = [self.values[value] for value in last.arguments]
            self.writer.assign_all(
                targets, values[0] if len(values) == 1 else code.tuple_of(values)
            )

    def _stored(self, op: warp.LocalStoreOp) -> ast.expr:
        """A tile in the type of the buffer that takes it; bytes without a sign are i8 before."""
        assert isinstance(op.buffer.type, warp.BufferType)
        type, value = op.buffer.type.element_type, self.values[op.value]
        if type == element_of(op.value.type):
            return value
        return code.method(value, "to", triton_type(type))

    def _define_reduced(self, op: tile.ReduceOp, expression: ast.expr, hint: str) -> None:
        # It is computed where it stands, so that its tile needs no registers behind a product.
        self._assign(op.result, expression, hint)

    def _barrier(self, op: warp.BarrierOp) -> ast.expr:
        return code.method(self.values[op.barriers], "index", self.values[op.index])

    def _origin(self, indices: Sequence[SSAValue]) -> ast.expr:
        return ast.List([self.values[index] for index in indices], ast.Load())

    def _box(self, buffer: SSAValue, descriptor: SSAValue) -> ast.expr:
        """A buffer with the axes of a box."""
        assert isinstance(buffer.type, warp.BufferType)
        assert isinstance(descriptor.type, warp.DescriptorType)
        if buffer.type.extents == descriptor.type.extents:
            return self.values[buffer]
        shape = code.numbers(list(descriptor.type.extents))
        if not warp.panel_axes(buffer.type, descriptor.type):
            return code.method(self.values[buffer], "reshape", shape)
        # Panels follow each other in memory, which axes of a shape do not say.
        box = self.values[descriptor]
        return code.method(
            self.values[buffer], "_reinterpret", code.attribute(box, "dtype"), shape,
            code.attribute(box, "layout"),
        )  # fmt: skip

    def _mma(self, op: warp.MmaOp) -> None:
        keywords = {"is_async": code.constant(True)}
        if op.acc is None:
            acc = code.call(
                "gl.zeros", self._shape(op.result.type), triton_type(element_of(op.result.type)),
                self._layout(op.result.type),
            )  # fmt: skip
            keywords = {"use_acc": code.constant(False), **keywords}
        else:
            acc = self.values[op.acc]
        factors = self.values[op.lhs], self.values[op.rhs]
        self._assign(op.result, code.call("warpgroup_mma", *factors, acc, **keywords), "product")
        self.tensors.add(op.result)

    def _mma_wait(self, op: warp.MmaWaitOp) -> None:
        sums = code.tuple_of([self.values[value] for value in op.values])
        pending = code.constant(op.pending.value.data)
        waited = code.call("warpgroup_mma_wait", num_outstanding=pending, deps=sums)
        names = [self._variable(result, "sum") for result in op.sums]
        self.writer.assign_all(names, waited)
        for result, name in zip(op.sums, names):
            self.values[result] = code.name(name)
            self.tensors.add(result)

    def _halve(self, op: warp.HalveOp) -> None:
        rows, columns = (self._extent(axis) for axis in axes_of(op.left.type))
        shape = ast.List([rows, code.constant(2), columns], ast.Load())
        apart = code.method(self.values[op.value], "reshape", shape)
        order = code.tuple_of([code.constant(place) for place in (0, 2, 1)])
        names = [self._variable(result, "half") for result in op.results]
        halves = code.call("gl.split", code.method(apart, "permute", order))
        self.writer.assign_all(names, halves)
        for result, name in zip(op.results, names):
            self.values[result] = code.name(name)
            self.tensors.add(result)

    def _distances(self, value: SSAValue) -> ast.expr:
        op = value.owner
        assert isinstance(op, tile.RangeOp | tile.JoinedRangeOp)
        found = code.call(
            "gl.arange", code.constant(0), self._extent(op.axis), self._layout(value.type)
        )
        if isinstance(op, tile.JoinedRangeOp):
            return self._side(op, op.side_of(value), found)
        return found if op.stride == 1 else code.binary("*", found, code.constant(op.stride))

    def _all_true(self, mask: SSAValue, axis: Axis) -> ast.expr:
        shape = code.tuple_of([self._extent(axis)])
        true, layout = code.constant(True), self._layout(mask.type)
        return code.call("gl.full", shape, true, code.path("gl.int1"), layout)

    def _sum(self, parts: Sequence[Part], number: int, axes: Sequence[Axis]) -> ast.expr:
        # Offsets are of 32 bits, as indices are.
        terms = [
            self._spread_out(
                self.values[part.value] if part.factor == 1 else code.binary(
                    "*", self.values[part.value], code.constant(part.factor)
                ), part.value.type, axes,
            )
            for part in parts
        ]  # fmt: skip
        return code.total("+", [*terms, *([code.constant(number)] if number else [])])

    def _program(self, result: SSAValue, function: str, hint: str) -> None:
        self.tensors.add(result)
        self._assign(result, code.call(function, code.constant(0)), hint)

    def _bound(self, op: scf.ForOp) -> ast.expr:
        return self.values[op.ub]

    def _initial(self, value: SSAValue, hidden: bool = False) -> ast.expr:
        # Nothing is hidden: Gluon does not rewrite reductions.
        return self.values[value] if isinstance(value.type, IndexType) else super()._initial(value)

    def _fill(self, op: tile.FillOp) -> ast.expr:
        attr = constant_of(op.value)
        value = self.values[op.value] if attr is None else literal(attr)
        element = triton_type(element_of(op.result.type))
        layout = self._layout(op.result.type)
        return code.call("gl.full", self._shape(op.result.type), value, element, layout)


def _warps(op: warp.PartitionOp) -> str:
    count = op.warps.value.data
    shown = "a warp" if count == 1 else f"{count} warps"
    return shown if op.registers is None else f"{shown} of {op.registers.value.data} registers"
