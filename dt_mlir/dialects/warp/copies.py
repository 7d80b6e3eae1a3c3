"""Buffers in shared memory, and the copies between them, tensors and registers.

What has a counterpart in MLIR's `nvgpu` dialect is named after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    i64,
)
from xdsl.ir import BlockArgument, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.formats import name_array, names, parse_names, print_names
from dt_mlir.dialects.tile.types import TileType, axes_of, element_of
from dt_mlir.dialects.values import parse_value, parse_values, print_values
from dt_mlir.dialects.warp.barriers import parse_barrier, print_barrier
from dt_mlir.dialects.warp.types import BarrierType, BufferType, DescriptorType, RingType
from dt_mlir.element_types import value_type

SWIZZLED_ROWS = 8
"""The rows after which a swizzle repeats."""


@irdl_op_definition
class TmaDescriptorOp(IRDLOperation):
    """Describes a tensor to the copy engine, which then copies boxes of it.

    It is made on the host. The tensor's last axis must be contiguous, and its base and its rows
    aligned to 16 bytes. `axes [1, 0, 2]` says which axis of the tensor each axis of a box is, where
    they are not in order; the last one is the tensor's. `ends [n, _]` says at the size of which
    label the tensor ends along an axis whose storage goes on. MLIR: `nvgpu.tma.create.descriptor`.
    """

    name = "warp.tma_descriptor"
    GRAMMAR: ClassVar = (
        "value (`axes` `[` integer, … `]`)? (`ends` `[` label, … `]`)? attr-dict `:` type"
    )

    axes = opt_prop_def(ArrayAttr[IntAttr])
    """The axis of the tensor that each axis of a box is; absent where they are in order."""
    ends = opt_prop_def(ArrayAttr[StringAttr])
    """The label at whose size the tensor ends along each axis; empty where its storage ends."""
    base = operand_def(MemRefType)
    """The tensor, an argument of the kernel."""
    result = result_def(DescriptorType)
    """Its description."""

    traits = traits_def(Pure())

    def __init__(
        self, base: SSAValue, type: DescriptorType, ends: Sequence[str] = (),
        axes: Sequence[int] = (),
    ) -> None:  # fmt: skip
        properties = {
            "axes": ArrayAttr(map(IntAttr, axes)) if axes else None,
            "ends": name_array(ends) if ends else None,
        }
        super().__init__(operands=[base], result_types=[type], properties=properties)

    @property
    def end_labels(self) -> tuple[str, ...]:
        """The label at whose size the tensor ends along each axis, or empty; none if its storage
        ends."""
        return () if self.ends is None else names(self.ends)

    @property
    def permutation(self) -> tuple[int, ...]:
        """The axis of the tensor that each axis of a box is."""
        if self.axes is not None:
            return tuple(axis.data for axis in self.axes)
        assert isinstance(self.base.type, MemRefType)
        return tuple(range(self.base.type.get_num_dims()))

    @property
    def tensor(self) -> BlockArgument:
        """The tensor as the kernel's argument."""
        assert isinstance(self.base, BlockArgument)
        return self.base

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        base = parse_value(parser)
        axes, ends = list[int](), list[str]()
        if parser.parse_optional_keyword("axes"):
            axes = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE,
                lambda: parser.parse_integer(allow_boolean=False, allow_negative=False),
            )
        if parser.parse_optional_keyword("ends"):
            ends = [name.strip("_") and name for name in names(parse_names(parser))]
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        place = parser.pos
        type = parser.parse_type()
        if not isinstance(type, DescriptorType):
            parser.raise_error(f"{type} does not describe a tensor", place)
        op = cls(base, type, ends, axes)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.base)
        if self.axes is not None:
            printer.print_string(f" axes [{', '.join(map(str, self.permutation))}]")
        if self.ends is not None:
            printer.print_string(" ends ")
            print_names(printer, name_array([label or "_" for label in self.end_labels]))
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        assert isinstance(self.base.type, MemRefType)
        type = self.result.type
        assert isinstance(type, DescriptorType)
        if self.base.type.get_num_dims() != len(type.shape):
            raise VerifyException("a box has an extent for each axis of its tensor")
        if self.base.type.element_type != type.element_type:
            raise VerifyException("a box has elements of its tensor's type")
        if any(extent > 256 for extent in type.extents):
            raise VerifyException("the copy engine takes boxes of 256 elements along an axis")
        last, axes = len(type.shape) - 1, self.permutation
        if sorted(axes) != list(range(last + 1)) or axes[-1] != last:
            raise VerifyException("a box has each axis of its tensor once, the last one last")
        if self.ends is not None and len(self.ends) != len(type.shape):
            raise VerifyException("where a tensor ends is said for each of its axes, or not at all")


@irdl_op_definition
class AllocOp(IRDLOperation):
    """Allocates buffers in shared memory."""

    name = "warp.alloc"

    result = result_def(RingType)
    """The buffers."""

    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type: RingType) -> None:
        super().__init__(result_types=[type])


@irdl_op_definition
class IndexOp(IRDLOperation):
    """One of several buffers."""

    name = "warp.index"
    GRAMMAR: ClassVar = "value `[` value `]` attr-dict"

    ring = operand_def(RingType)
    """The buffers."""
    index = operand_def(IndexType())
    """The number of the one that is meant."""
    result = result_def(BufferType)
    """The buffer."""

    traits = traits_def(Pure())

    def __init__(self, ring: SSAValue, index: SSAValue) -> None:
        assert isinstance(ring.type, RingType)
        super().__init__(operands=[ring, index], result_types=[BufferType.of(ring.type)])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        place = parser.pos
        ring, index = parse_barrier(parser)
        if not isinstance(ring.type, RingType):
            parser.raise_error(f"{ring.type} has no buffers", place)
        op = cls(ring, index)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_barrier(printer, self.ring, self.index)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        assert isinstance(self.ring.type, RingType)
        if self.result.type != BufferType.of(self.ring.type):
            raise VerifyException(f"a buffer of {self.ring.type} is not a {self.result.type}")


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """The same buffer with its two axes exchanged; nothing is moved."""

    name = "warp.transpose"
    GRAMMAR: ClassVar = "value attr-dict"

    buffer = operand_def(BufferType)
    """The buffer."""
    result = result_def(BufferType)
    """Its transpose."""

    traits = traits_def(Pure())

    def __init__(self, buffer: SSAValue) -> None:
        super().__init__(operands=[buffer], result_types=[_transposed(buffer)])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        place = parser.pos
        buffer = parse_value(parser)
        if not isinstance(buffer.type, BufferType):
            parser.raise_error(f"{buffer.type} is not a buffer", place)
        op = cls(buffer)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.buffer)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        assert isinstance(self.buffer.type, BufferType)
        if len(self.buffer.type.shape) != 2:
            raise VerifyException("a transpose exchanges two axes")
        if self.result.type != _transposed(self.buffer):
            raise VerifyException(f"the transpose of {self.buffer.type} is not {self.result.type}")


def _transposed(buffer: SSAValue) -> BufferType:
    type = buffer.type
    assert isinstance(type, BufferType)
    shape = ArrayAttr(reversed(type.shape.data))
    flag = IntAttr(1 - type.transposed.data)
    return BufferType.new([shape, type.element_type, type.swizzle, flag])


@irdl_op_definition
class TmaLoadOp(IRDLOperation):
    """Starts to copy a box of a tensor into a buffer; its bytes arrive at a barrier.

    Elements outside of the tensor are zeros, and their bytes arrive as well. The buffer may lack
    axes along which the box has one element, and have one axis for several that follow each other,
    but for the last one. Or it is a matrix of panels, whose columns are the points of the first
    axes of the box and of the last one, which is as wide as the swizzle: shared memory holds the
    columns of a swizzle of all rows before the next ones. MLIR: `nvgpu.tma.async.load`.
    """

    name = "warp.tma_load"
    GRAMMAR: ClassVar = "value `[` values `]` `to` value `signal` value `[` value `]` attr-dict"

    descriptor = operand_def(DescriptorType)
    """The tensor's description."""
    origin = var_operand_def(IndexType())
    """The first index of the box along each axis."""
    buffer = operand_def(BufferType)
    """The buffer that the box goes to."""
    barriers = operand_def(BarrierType)
    """The barriers."""
    index = operand_def(IndexType())
    """The number of the one at which the bytes arrive."""

    def __init__(
        self,
        descriptor: SSAValue,
        origin: Sequence[SSAValue],
        buffer: SSAValue,
        barriers: SSAValue,
        index: SSAValue,
    ) -> None:
        super().__init__(operands=[descriptor, origin, buffer, barriers, index])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        descriptor = parse_value(parser)
        origin = parse_values(parser)
        parser.parse_keyword("to")
        buffer = parse_value(parser)
        parser.parse_keyword("signal")
        op = cls(descriptor, origin, buffer, *parse_barrier(parser))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.descriptor)
        print_values(printer, self.origin)
        printer.print_string(" to ")
        printer.print_ssa_value(self.buffer)
        printer.print_string(" signal ")
        print_barrier(printer, self.barriers, self.index)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        _check_box(self.descriptor, self.origin, self.buffer)


def _check_box(descriptor: SSAValue, origin: Sequence[SSAValue], buffer: SSAValue) -> None:
    type = descriptor.type
    assert isinstance(type, DescriptorType)
    if len(origin) != len(type.shape):
        raise VerifyException("a box has a first index along each axis")
    found = buffer.type
    assert isinstance(found, BufferType)
    alike = BufferType.of(found).with_extents(type.extents) == BufferType.of(type)
    if found.transposed.data or panel_axes(found, type) is None or not alike:
        raise VerifyException(f"a box of {type} does not fit into {buffer.type}")


def panel_axes(buffer: BufferType, box: DescriptorType) -> int | None:
    """Returns the number of the first axes of a box that number the panels of a buffer.

    Each panel has all rows, a multiple of 8, and as many of their columns as the swizzle is wide.

    Args:
        buffer: the buffer.
        box: what is copied to it or from it.

    Returns:
        The number of axes; 0 where the buffer has rows of the box; None if the box does not fit.
    """
    if _joins(buffer.squeezed, box.squeezed):
        return 0
    *sides, last = box.extents
    if len(buffer.extents) != 2 or last * box.width != 8 * box.swizzle.data:
        return None
    if buffer.extents[0] % SWIZZLED_ROWS:
        return None
    return next(
        (
            count for count in range(1, len(box.extents))
            if buffer.extents == (prod(sides[count:]), prod(sides[:count]) * last)
        ), None,
    )  # fmt: skip


def _joins(extents: Sequence[int], sides: Sequence[int]) -> bool:
    """Returns whether extents are products of those of neighbouring sides; the last is one side."""
    rest = list(sides)
    if not extents or extents[-1:] != sides[-1:]:
        return tuple(extents) == tuple(sides)
    for extent in extents:
        total = 1
        while rest and total < extent:
            total *= rest.pop(0)
        if total != extent:
            return False
    return not rest


@irdl_op_definition
class TmaStoreOp(IRDLOperation):
    """Starts to copy a buffer into a box of a tensor; what is outside of it is not written.

    MLIR: `nvgpu.tma.async.store`.
    """

    name = "warp.tma_store"
    GRAMMAR: ClassVar = "value `to` value `[` values `]` attr-dict"

    buffer = operand_def(BufferType)
    """The buffer that is copied."""
    descriptor = operand_def(DescriptorType)
    """The tensor's description."""
    origin = var_operand_def(IndexType())
    """The first index of the box along each axis."""

    def __init__(
        self, buffer: SSAValue, descriptor: SSAValue, origin: Sequence[SSAValue]
    ) -> None:
        super().__init__(operands=[buffer, descriptor, origin])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        buffer = parse_value(parser)
        parser.parse_keyword("to")
        descriptor = parse_value(parser)
        op = cls(buffer, descriptor, parse_values(parser))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.buffer)
        printer.print_string(" to ")
        printer.print_ssa_value(self.descriptor)
        print_values(printer, self.origin)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        _check_box(self.descriptor, self.origin, self.buffer)


@irdl_op_definition
class TmaStoreWaitOp(IRDLOperation):
    """Waits until all but so many of the partition's copies to tensors have read their buffers."""

    name = "warp.tma_store_wait"

    pending = prop_def(IntegerAttr)
    """The number of copies that may still be under way."""

    GRAMMAR: ClassVar = "integer attr-dict"

    def __init__(self, pending: int = 0) -> None:
        super().__init__(properties={"pending": IntegerAttr(pending, i64)})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        op = cls(parser.parse_integer(allow_boolean=False, allow_negative=False))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.pending.value.data}")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if self.pending.value.data < 0:
            raise VerifyException("the number of copies under way is not negative")


@irdl_op_definition
class FenceAsyncOp(IRDLOperation):
    """Orders what the partition has stored to shared memory before what the engines do with it.

    Products and copies reach shared memory by another way than threads do (the asynchronous
    proxy). Between stores of threads and a product or copy that reads them there must be a fence.
    NVVM: `nvvm.fence.proxy`.
    """

    name = "warp.fence_async"

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class LocalStoreOp(IRDLOperation):
    """Stores a tile from registers to a buffer."""

    name = "warp.local_store"
    GRAMMAR: ClassVar = "value `to` value attr-dict"

    value = operand_def(TileType)
    """The tile."""
    buffer = operand_def(BufferType)
    """The buffer that it goes to."""

    def __init__(self, value: SSAValue, buffer: SSAValue) -> None:
        super().__init__(operands=[value, buffer])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parse_value(parser)
        parser.parse_keyword("to")
        op = cls(value, parse_value(parser))
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(" to ")
        printer.print_ssa_value(self.buffer)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        assert isinstance(self.buffer.type, BufferType)
        extents = tuple(axis.extent for axis in axes_of(self.value.type))
        element = value_type(self.buffer.type.element_type)
        if extents != self.buffer.type.extents or element_of(self.value.type) != element:
            raise VerifyException(f"{self.value.type} does not fit into {self.buffer.type}")
