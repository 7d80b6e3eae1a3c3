"""Products of warpgroups, and the layouts of what registers hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from dt_mlir.dialects.tile.types import (
    Axis,
    TileType,
    axes_of,
    element_of,
    layout_of,
    tile_type,
)
from dt_mlir.dialects.values import parse_value, parse_values, print_values
from dt_mlir.dialects.warp.types import (
    INTEGER_COLUMNS,
    BufferType,
    MmaLayoutAttr,
    OperandLayoutAttr,
)
from dt_mlir.element_types import compute_type, is_float


@irdl_op_definition
class MmaOp(IRDLOperation):
    """Starts a product of matrices, by the warpgroups of the partition.

    The second operand is in shared memory, the first there or in registers. The sum and the
    buffers must be left alone until `warp.mma_wait` has seen the product end; a product that adds
    to the sum of the one before may follow at once. MLIR: `nvgpu.warpgroup.mma`.
    """

    name = "warp.mma"
    GRAMMAR: ClassVar = "value `,` value (`acc` value)? attr-dict `:` type"

    lhs = operand_def(BufferType | TileType)
    """The first factor: rows and depth."""
    rhs = operand_def(BufferType)
    """The second factor: depth and columns."""
    acc = opt_operand_def(TileType)
    """The sum that the product is added to; without it there is none."""
    result = result_def(TileType)
    """The sum with the product."""

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self, lhs: SSAValue, rhs: SSAValue, acc: SSAValue | None, type: Attribute
    ) -> None:
        super().__init__(operands=[lhs, rhs, acc], result_types=[type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        lhs = parse_value(parser)
        parser.parse_punctuation(",")
        rhs = parse_value(parser)
        acc = parse_value(parser) if parser.parse_optional_keyword("acc") else None
        attributes = parser.parse_optional_attr_dict()
        if parser.parse_optional_punctuation(":"):
            type = parser.parse_type()
        elif acc is not None:
            type = acc.type
        else:
            parser.raise_error("the type of a product without a sum is written")
        op = cls(lhs, rhs, acc, type)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.lhs)
        printer.print_string(", ")
        printer.print_ssa_value(self.rhs)
        if self.acc is not None:
            printer.print_string(" acc ")
            printer.print_ssa_value(self.acc)
        printer.print_op_attributes(self.attributes)
        if self.acc is None or self.acc.type != self.result.type:
            printer.print_string(" : ")
            printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        rhs = self.rhs.type
        assert isinstance(rhs, BufferType)
        result, layout = self.result.type, layout_of(self.result.type)
        if self.acc is not None and self.acc.type != result:
            raise VerifyException("a product is added to a sum of its own type")
        if not isinstance(layout, MmaLayoutAttr):
            raise VerifyException("the result of a product is held in a layout '#warp.mma'")
        axes = axes_of(result)
        if tuple(axis.name for axis in axes) != layout.axis_names:
            raise VerifyException("the axes of a product are those of its layout")
        rows, columns = (axis.extent for axis in axes)
        if isinstance(self.lhs.type, BufferType):
            shape, element = self.lhs.type.extents, self.lhs.type.element_type
        else:
            shape = tuple(axis.extent for axis in axes_of(self.lhs.type))
            element = element_of(self.lhs.type)
            if layout_of(self.lhs.type) != OperandLayoutAttr.new([layout]):
                raise VerifyException("an operand in registers has the layout '#warp.operand'")
        if len(shape) != 2 or (rows, columns) != (shape[0], rhs.extents[-1]):
            raise VerifyException("the rows and columns of a product are those of its factors")
        if len(rhs.extents) != 2 or shape[1] != rhs.extents[0]:
            raise VerifyException("the factors of a product have one depth")
        if element != rhs.element_type or rhs.width not in (8, 16):
            raise VerifyException("tensor cores multiply factors of one type of 8 or 16 bits")
        if element_of(result) != compute_type(element):
            raise VerifyException(f"a product of {element} is summed in {compute_type(element)}")
        _, width, depth = (item.data for item in layout.instruction)
        odd = width > 32 and width % 16 != 0
        if not is_float(element) and (odd or width > INTEGER_COLUMNS):
            raise VerifyException(
                f"an instruction on {element} has 8, 16, 24 or 32 columns, or a multiple of 16 up "
                f"to {INTEGER_COLUMNS}"
            )
        if depth != 256 // rhs.width or shape[1] % depth:
            raise VerifyException(
                f"an instruction on elements of {rhs.width} bits has a depth of {256 // rhs.width}"
                ", which divides that of the factors"
            )


@irdl_op_definition
class MmaWaitOp(IRDLOperation):
    """Waits until at most so many of the partition's products are under way.

    What it gives are the sums that it is given. They are complete if no product is under way that
    adds to them; with `1`, the sum of the last product is not. NVVM:
    `nvvm.wgmma.wait.group.sync.aligned`.
    """

    name = "warp.mma_wait"
    GRAMMAR: ClassVar = "integer `for` `[` values `]` attr-dict"

    pending = prop_def(IntegerAttr)
    """The number of products that may still be under way."""
    values = var_operand_def(TileType)
    """The sums that are waited for."""
    sums = var_result_def(TileType)
    """The same sums."""

    def __init__(self, values: Sequence[SSAValue], pending: int = 0) -> None:
        super().__init__(
            operands=[values],
            properties={"pending": IntegerAttr(pending, i64)},
            result_types=[[value.type for value in values]],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        pending = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_keyword("for")
        op = cls(parse_values(parser), pending)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.pending.value.data} for ")
        print_values(printer, self.values)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if not self.values:
            raise VerifyException("a wait is for a sum at least")
        if [value.type for value in self.values] != [value.type for value in self.sums]:
            raise VerifyException("a wait gives the sums that it is given")
        if self.pending.value.data < 0:
            raise VerifyException("the number of products under way is not negative")


@irdl_op_definition
class ConvertLayoutOp(IRDLOperation):
    """Moves a tile from one layout of registers to another."""

    name = "warp.convert_layout"
    GRAMMAR: ClassVar = "value attr-dict `:` type"

    value = operand_def(TileType)
    """The tile."""
    result = result_def(TileType)
    """The same tile in another layout."""

    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, type: Attribute) -> None:
        super().__init__(operands=[value], result_types=[type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parse_value(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(value, parser.parse_type())
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        before, after = self.value.type, self.result.type
        extents = [[axis.extent for axis in axes_of(type)] for type in (before, after)]
        if element_of(before) != element_of(after) or extents[0] != extents[1]:
            raise VerifyException("a conversion changes the layout of a tile alone")
        if layout_of(before) is None or layout_of(after) is None:
            raise VerifyException("a conversion is from one layout to another")


@irdl_op_definition
class HalveOp(IRDLOperation):
    """The left and the right half of a tile's columns; each thread keeps what it has.

    The halves have the layout of a product with half as many columns. Triton: `tt.split`.
    """

    name = "warp.halve"
    GRAMMAR: ClassVar = "value attr-dict"

    value = operand_def(TileType)
    """The tile, with the layout of a product."""
    left = result_def(TileType)
    """The first half of its columns."""
    right = result_def(TileType)
    """The second half of its columns."""

    traits = traits_def(Pure())

    def __init__(self, value: SSAValue) -> None:
        half = _half_of(value.type)
        super().__init__(operands=[value], result_types=[half, half])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        place = parser.pos
        value = parse_value(parser)
        if columns_of(value.type) is None:
            parser.raise_error(f"{value.type} has no halves", place)
        op = cls(value)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if columns_of(self.value.type) is None:
            raise VerifyException(f"{self.value.type} has no halves")
        if any(result.type != _half_of(self.value.type) for result in self.results):
            raise VerifyException(f"a half of {self.value.type} is not a {self.left.type}")


def columns_of(type: Attribute) -> int | None:
    """Returns the columns of a product's tile that can be halved; None if there are none."""
    axes, layout = axes_of(type), layout_of(type)
    if not isinstance(layout, MmaLayoutAttr) or [a.name for a in axes] != [*layout.axis_names]:
        return None
    columns = axes[-1].extent
    # An instruction has 8 columns at least.
    return columns if isinstance(columns, int) and columns % 16 == 0 else None


def _half_of(type: Attribute) -> Attribute:
    """Returns the type of a half of a tile's columns."""
    axes, layout, columns = axes_of(type), layout_of(type), columns_of(type)
    assert isinstance(layout, MmaLayoutAttr)
    assert columns is not None
    rows, wide, depth = (item.data for item in layout.instruction)
    half = MmaLayoutAttr.of(
        layout.axis_names, [item.data for item in layout.warps],
        [rows, min(wide, columns // 2), depth],
    )  # fmt: skip
    return tile_type(element_of(type), [axes[0], Axis(axes[1].name, columns // 2)], half)
