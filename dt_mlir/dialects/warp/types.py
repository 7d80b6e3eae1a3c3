"""The types of shared memory, barriers and descriptors, and the layouts of registers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import AnyFloat, ArrayAttr, IntAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.formats import name_array, names

SWIZZLES = (0, 32, 64, 128)
"""The widths, in bytes, by which rows of shared memory are swizzled against bank conflicts."""
WARPGROUP = 4
"""The warps that carry out a product together."""
COLUMNS = 256
"""The most columns of an instruction."""
INTEGER_COLUMNS = 224
"""The most columns of an instruction on integers that Triton has."""


class ArrayType(ParametrizedAttribute, TypeAttribute):
    """The common part of types of arrays that the copy engine and tensor cores read."""

    # Each type declares them itself: types are compared by their own fields alone.
    shape: ArrayAttr[IntAttr]
    element_type: Attribute
    swizzle: IntAttr

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of its axes."""
        return tuple(extent.data for extent in self.shape)

    @property
    def width(self) -> int:
        """The bits of an element."""
        assert isinstance(self.element_type, AnyFloat | IntegerType)
        return self.element_type.bitwidth

    @property
    def bytes(self) -> int:
        """The bytes of an array."""
        return prod(self.extents) * self.width // 8

    @property
    def squeezed(self) -> tuple[int, ...]:
        """The extents of its axes of more than one element."""
        return tuple(extent for extent in self.extents if extent != 1)

    def verify(self) -> None:
        if not self.extents or any(extent < 1 for extent in self.extents):
            raise VerifyException("an array has positive extents")
        if not isinstance(self.element_type, AnyFloat | IntegerType):
            raise VerifyException(f"an array has no elements of {self.element_type}")
        if self.swizzle.data not in SWIZZLES:
            raise VerifyException("a swizzle is of 0, 32, 64 or 128 bytes")


def _parse_array(parser: AttrParser) -> list[Attribute]:
    """Parses `[64, 64] x bf16, swizzle 128`."""
    extents = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE,
        lambda: parser.parse_integer(allow_boolean=False, allow_negative=False),
    )
    parser.parse_keyword("x")
    element = parser.parse_type()
    swizzle = 0
    if parser.parse_optional_punctuation(","):
        parser.parse_keyword("swizzle")
        swizzle = parser.parse_integer(allow_boolean=False, allow_negative=False)
    return [ArrayAttr(map(IntAttr, extents)), element, IntAttr(swizzle)]


def _print_array(printer: Printer, type: ArrayType) -> None:
    printer.print_string(f"[{', '.join(map(str, type.extents))}] x ")
    printer.print_attribute(type.element_type)
    if type.swizzle.data:
        printer.print_string(f", swizzle {type.swizzle.data}")


@irdl_attr_definition
class BufferType(ArrayType):
    """A buffer in shared memory: `!warp.buffer<[64, 64] x bf16, swizzle 128>`.

    `transposed` buffers are views of others with the two axes exchanged.
    """

    name = "warp.buffer"

    shape: ArrayAttr[IntAttr] = param_def()
    """The extents of its axes."""
    element_type: Attribute = param_def()
    """The type of its elements."""
    swizzle: IntAttr = param_def()
    """The width of the swizzle in bytes: 0, 32, 64 or 128."""
    transposed: IntAttr = param_def()
    """1 if the first axis is the one whose elements are adjacent."""

    def with_extents(self, extents: Sequence[int]) -> BufferType:
        """Returns the type of a buffer of other extents."""
        shape = ArrayAttr(map(IntAttr, extents))
        return BufferType.new([shape, self.element_type, self.swizzle, self.transposed])

    @classmethod
    def of(cls, type: ArrayType, transposed: bool = False) -> BufferType:
        """Returns the type of a buffer like an array."""
        return cls.new([type.shape, type.element_type, type.swizzle, IntAttr(int(transposed))])

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            found = _parse_array(parser)
            return [*found, IntAttr(int(parser.parse_optional_keyword("transposed") is not None))]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            _print_array(printer, self)
            if self.transposed.data:
                printer.print_string(" transposed")


@irdl_attr_definition
class RingType(ArrayType):
    """Buffers of one shape in shared memory: `!warp.ring<3 x [64, 64] x bf16, swizzle 128>`."""

    name = "warp.ring"

    shape: ArrayAttr[IntAttr] = param_def()
    """The extents of its axes."""
    element_type: Attribute = param_def()
    """The type of its elements."""
    swizzle: IntAttr = param_def()
    """The width of the swizzle in bytes: 0, 32, 64 or 128."""
    depth: IntAttr = param_def()
    """The number of buffers."""

    @classmethod
    def like(cls, type: ArrayType, depth: int) -> RingType:
        """Returns the type of so many buffers like an array."""
        return cls.new([type.shape, type.element_type, type.swizzle, IntAttr(depth)])

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            depth = parser.parse_integer(allow_boolean=False, allow_negative=False)
            parser.parse_keyword("x")
            return [*_parse_array(parser), IntAttr(depth)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.depth.data} x ")
            _print_array(printer, self)

    def verify(self) -> None:
        super().verify()
        if self.depth.data < 1:
            raise VerifyException("a ring has a buffer at least")


@irdl_attr_definition
class DescriptorType(ArrayType):
    """The description of a tensor for the copy engine.

    `!warp.descriptor<[64, 64] x bf16, swizzle 128>`: it copies boxes of that shape. Elements
    outside of the tensor are read as zero, and are not written. MLIR:
    `!nvgpu.tensormap.descriptor`.
    """

    name = "warp.descriptor"

    shape: ArrayAttr[IntAttr] = param_def()
    """The extents of its axes."""
    element_type: Attribute = param_def()
    """The type of its elements."""
    swizzle: IntAttr = param_def()
    """The width of the swizzle in bytes: 0, 32, 64 or 128."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return _parse_array(parser)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            _print_array(printer, self)


@irdl_attr_definition
class BarrierType(ParametrizedAttribute, TypeAttribute):
    """Barriers in shared memory: `!warp.mbarrier<3>`. MLIR: `!nvgpu.mbarrier.group`.

    Each has a phase that ends when all have arrived that it counts, and when all bytes have come
    that it expects. The next phase begins at once.
    """

    name = "warp.mbarrier"

    depth: IntAttr = param_def()
    """The number of barriers."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.depth.data))

    def verify(self) -> None:
        if self.depth.data < 1:
            raise VerifyException("there is a barrier at least")


@irdl_attr_definition
class MmaLayoutAttr(ParametrizedAttribute):
    """The layout in which warpgroups hold the result of a product.

    `#warp.mma<[x, y], warps [4, 1], instruction [16, 256, 16]>`: rows along `x`, columns along `y`;
    four warps have 16 rows each of an instruction whose product is 256 columns wide and 16 deep.
    """

    name = "warp.mma"

    axes: ArrayAttr[StringAttr] = param_def()
    """The axes of rows and columns."""
    warps: ArrayAttr[IntAttr] = param_def()
    """The warps along each."""
    instruction: ArrayAttr[IntAttr] = param_def()
    """The rows that a warp has of an instruction, its columns, and its depth."""

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The axes of rows and columns."""
        return names(self.axes)

    @classmethod
    def of(
        cls, axes: Sequence[str], warps: Sequence[int], instruction: Sequence[int]
    ) -> MmaLayoutAttr:
        """Returns the layout of these axes, warps, and this shape of an instruction."""
        numbers = (ArrayAttr(map(IntAttr, items)) for items in (warps, instruction))
        return cls.new([name_array(axes), *numbers])

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def numbers(keyword: str) -> ArrayAttr[IntAttr]:
            parser.parse_punctuation(",")
            parser.parse_keyword(keyword)
            return ArrayAttr(
                parser.parse_comma_separated_list(
                    parser.Delimiter.SQUARE,
                    lambda: IntAttr(parser.parse_integer(allow_boolean=False)),
                )
            )

        with parser.in_angle_brackets():
            axes = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parser.parse_identifier("an axis")
            )
            return [name_array(axes), numbers("warps"), numbers("instruction")]

    def print_parameters(self, printer: Printer) -> None:
        warps, instruction = (
            ", ".join(str(item.data) for item in items)
            for items in (self.warps, self.instruction)
        )
        with printer.in_angle_brackets():
            printer.print_string(
                f"[{', '.join(self.axis_names)}], warps [{warps}], instruction [{instruction}]"
            )

    def verify(self) -> None:
        if len(set(self.axis_names)) != 2 or len(self.axes) != 2 or len(self.warps) != 2:
            raise VerifyException("the result of a product has rows and columns")
        if len(self.instruction) != 3:
            raise VerifyException("an instruction has rows, columns and a depth")
        if self.warps.data[0].data % WARPGROUP or self.warps.data[1].data < 1:
            raise VerifyException("the warps along rows are warpgroups of four")
        rows, columns, depth = (item.data for item in self.instruction)
        if rows != 16 or columns % 8 or not 8 <= columns <= COLUMNS or depth not in (8, 16, 32):
            raise VerifyException(
                f"wgmma has 16 rows a warp, a multiple of 8 columns up to {COLUMNS}, and a depth "
                "of 8, 16 or 32"
            )


@irdl_attr_definition
class OperandLayoutAttr(ParametrizedAttribute):
    """The layout in which registers hold the first operand of a product.

    `#warp.operand<#warp.mma<…>>`: that of a product whose result has the layout inside.
    """

    name = "warp.operand"

    parent: MmaLayoutAttr = param_def()
    """The layout of the product's result."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [parser.parse_attribute()]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.parent)


@irdl_attr_definition
class RowsLayoutAttr(ParametrizedAttribute):
    """The layout in which the threads of a warp hold neighbours in a row.

    `#warp.rows<[x, y], warps 4>`: 32 neighbours along `y` go to the threads of a warp, and
    neighbours along `x` to different ones of four warps. Stores of such tiles write runs of
    neighbouring elements.
    """

    name = "warp.rows"

    axes: ArrayAttr[StringAttr] = param_def()
    """The axes of rows and columns."""
    warps: IntAttr = param_def()
    """The warps."""

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The axes of rows and columns."""
        return names(self.axes)

    @classmethod
    def of(cls, axes: Sequence[str], warps: int) -> RowsLayoutAttr:
        """Returns the layout of these axes and so many warps."""
        return cls.new([name_array(axes), IntAttr(warps)])

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            axes = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parser.parse_identifier("an axis")
            )
            parser.parse_punctuation(",")
            parser.parse_keyword("warps")
            warps = parser.parse_integer(allow_boolean=False, allow_negative=False)
            return [name_array(axes), IntAttr(warps)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"[{', '.join(self.axis_names)}], warps {self.warps.data}")

    def verify(self) -> None:
        if len(set(self.axis_names)) != 2 or len(self.axes) != 2:
            raise VerifyException("rows and columns are two axes")
        if self.warps.data < 1 or self.warps.data & (self.warps.data - 1):
            raise VerifyException("the number of warps is a power of two")
