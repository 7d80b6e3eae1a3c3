"""Kernels, program ids, sizes, ranges of indices and masks."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar, Literal, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
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

from dt_mlir.dialects.formats import NameDirective, names
from dt_mlir.dialects.identifiers import Identifier, Identifiers
from dt_mlir.dialects.kernel import GridKernelOp
from dt_mlir.dialects.tile.types import (
    Axis,
    TileType,
    axes_of,
    check_tile,
    element_of,
    layout_of,
    parse_axis,
    tile_type,
)
from dt_mlir.dialects.values import parse_value
from dt_mlir.traversal import operations, operations_of


@irdl_op_definition
class KernelOp(GridKernelOp):
    """A kernel as a block program: its body is what one program instance does.

    `grid_labels` and `grid_blocks` say what the blocks of the grid are, `programs` how many
    instances walk them, and `least` to what power of two at least the whole extent of a label is
    padded (a dot needs 16).
    """

    name = "tile.kernel"
    GRAMMAR: ClassVar = "symbol `(` argument, … `)` (`attributes` attr-dict)? region"

    def verify_(self) -> None:
        super().verify_()
        walks = bool(operations_of(self, NumProgramsOp))
        if walks != (self.programs is not None):
            raise VerifyException("'programs' and 'tile.num_programs' go together")
        known = {label.data for label in self.labels}
        for op in operations(self):
            if isinstance(op, SizeOp) and op.label.data not in known:
                raise VerifyException(f"'{op.label.data}' is not a label of the kernel")


@irdl_op_definition
class ProgramIdOp(IRDLOperation):
    """The number of the program instance in the grid."""

    name = "tile.program_id"

    result = result_def(IndexType())
    """The number, from 0."""

    assembly_format = "attr-dict"
    traits = traits_def(Pure())

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])


@irdl_op_definition
class NumProgramsOp(IRDLOperation):
    """The number of program instances of the launch."""

    name = "tile.num_programs"

    result = result_def(IndexType())
    """The number, at least 1."""

    assembly_format = "attr-dict"
    traits = traits_def(Pure())

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])


@irdl_op_definition
class AlternateOp(IRDLOperation):
    """The block that a walk takes which turns around after each round of instances.

    A round are as many blocks as there are instances. The last one, which may be shorter, is walked
    forwards, the one before it backwards, and so on. Of `n` blocks and `p` instances, in round
    `r = number / p`, that is `number` where `n / p - r` is even, and
    `r * p + p - 1 - number % p` where it is odd.
    """

    name = "tile.alternate"

    number = operand_def(IndexType())
    """The number of the block in a walk that does not turn around."""
    blocks = operand_def(IndexType())
    """The number of blocks, which the other one is below."""
    programs = operand_def(IndexType())
    """The number of program instances."""
    result = result_def(IndexType())
    """The block. Each of them is that of one number."""

    assembly_format = "$number `of` $blocks `by` $programs attr-dict"
    traits = traits_def(Pure())

    def __init__(self, number: SSAValue, blocks: SSAValue, programs: SSAValue) -> None:
        super().__init__(operands=[number, blocks, programs], result_types=[IndexType()])


@irdl_op_definition
class SizeOp(IRDLOperation):
    """The size of a label."""

    name = "tile.size"

    label = prop_def(Identifier)
    """The label."""
    result = result_def(IndexType())
    """Its size."""

    assembly_format = "custom<NameDirective>($label) attr-dict"
    custom_directives = (NameDirective,)
    traits = traits_def(Pure())

    def __init__(self, label: str) -> None:
        super().__init__(properties={"label": StringAttr(label)}, result_types=[IndexType()])


@irdl_op_definition
class RangeOp(IRDLOperation):
    """The indices along one axis: `origin`, `origin + step`, `origin + 2 * step`, … .

    The step is 1 where none is written. With a bound, the axis ends there: elements beyond do not
    exist, whatever is done with the tile. `tile-place-masks` makes axes physical: powers of two,
    without bounds, and masks where elements beyond the bound would matter.
    """

    name = "tile.range"
    GRAMMAR: ClassVar = (
        "axis (`over` label)? `from` value (`to` value)? (`step` integer)? (`in` layout)? attr-dict"
    )

    label = prop_def(Identifier)
    """The label that the axis walks."""
    origin = operand_def(IndexType())
    """The first index."""
    bound = opt_operand_def(IndexType())
    """The index at which the axis ends."""
    step = opt_prop_def(IntegerAttr)
    """The distance between two indices that follow each other."""
    result = result_def(TileType)
    """The indices, a tile of the one axis."""

    traits = traits_def(Pure())

    def __init__(
        self,
        label: str,
        origin: SSAValue,
        bound: SSAValue | None,
        axis: Axis,
        step: int = 1,
        layout: Attribute | None = None,
    ) -> None:
        super().__init__(
            operands=[origin, bound],
            properties={
                "label": StringAttr(label),
                "step": None if step == 1 else IntegerAttr(step, i64),
            },
            result_types=[tile_type(IndexType(), [axis], layout)],
        )

    def origin_of(self, indices: SSAValue) -> SSAValue:
        """Returns the first of the indices that are its result."""
        return self.origin

    @property
    def axis(self) -> Axis:
        """The axis."""
        return axes_of(self.result.type)[0]

    @property
    def stride(self) -> int:
        """The step; 1 where none is written."""
        return 1 if self.step is None else self.step.value.data

    @property
    def span(self) -> int | None:
        """The distance from the first index to that of the next tile; None of a whole label."""
        extent = self.axis.extent
        return extent * self.stride if isinstance(extent, int) else None

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        axis = parse_axis(parser)
        over = parser.parse_optional_keyword("over")
        label = parser.parse_identifier("a label") if over else _usual_label(axis)
        parser.parse_keyword("from")
        origin = parse_value(parser)
        bound = parse_value(parser) if parser.parse_optional_keyword("to") else None
        step = 1
        if parser.parse_optional_keyword("step"):
            step = parser.parse_integer(allow_boolean=False, allow_negative=False)
        layout = parser.parse_attribute() if parser.parse_optional_keyword("in") else None
        op = cls(label, origin, bound, axis, step, layout)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.axis}")
        if self.label.data != _usual_label(self.axis):
            printer.print_string(f" over {self.label.data}")
        printer.print_string(" from ")
        printer.print_ssa_value(self.origin)
        if self.bound is not None:
            printer.print_string(" to ")
            printer.print_ssa_value(self.bound)
        if self.step is not None:
            printer.print_string(f" step {self.stride}")
        layout = layout_of(self.result.type)
        if layout is not None:
            printer.print_string(" in ")
            printer.print_attribute(layout)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        check_tile(self.result.type)
        if len(axes_of(self.result.type)) != 1 or not isinstance(
            element_of(self.result.type), IndexType
        ):
            raise VerifyException("a range is a tile of indices along one axis")
        if self.stride < 1:
            raise VerifyException("the step of a range must be positive")
        if self.stride > 1 and self.axis.is_symbolic:
            raise VerifyException("a range of a whole label has no step")


@irdl_op_definition
class JoinedRangeOp(IRDLOperation):
    """The indices along one axis of all points of a box, the last of its sides the fastest.

    `%r, %c = tile.joined_range r_c (r: 2 from %r_start to %R, c: 32 from %c_start to %C)`: an axis
    of 64 elements, whose element `i` has the indices `%r_start + i // 32` and `%c_start + i % 32`.
    With bounds, the points at or beyond one do not exist; `tile-place-masks` makes such an axis
    physical as it does others, each side of the box by itself.
    """

    name = "tile.joined_range"
    GRAMMAR: ClassVar = (
        "identifier `(` (label `:` integer `from` value (`to` value)?), … `)` (`in` layout)? "
        "attr-dict"
    )

    labels = prop_def(Identifiers)
    """The label that each side of the box walks."""
    sides = prop_def(ArrayAttr[IntegerAttr])
    """The number of indices along each side."""
    origins = var_operand_def(IndexType())
    """The first index of each side."""
    bounds = var_operand_def(IndexType())
    """The index at which each side ends; none of a physical axis."""
    indices = var_result_def(TileType)
    """The indices of each side, tiles of the one axis."""

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    def __init__(
        self,
        name: str,
        sides: Sequence[tuple[str, int]],
        origins: Sequence[SSAValue],
        bounds: Sequence[SSAValue],
        layout: Attribute | None = None,
    ) -> None:
        axis = Axis(name, prod(extent for _, extent in sides))
        super().__init__(
            operands=[origins, bounds],
            properties={
                "labels": ArrayAttr(StringAttr(label) for label, _ in sides),
                "sides": ArrayAttr(IntegerAttr(extent, i64) for _, extent in sides),
            },
            result_types=[[tile_type(IndexType(), [axis], layout)] * len(sides)],
        )

    def side_of(self, indices: SSAValue) -> int:
        """Returns the number of the side of the box whose indices are one of its results."""
        return next(number for number, found in enumerate(self.indices) if found is indices)

    def origin_of(self, indices: SSAValue) -> SSAValue:
        """Returns the first of the indices that are one of its results."""
        return self.origins[self.side_of(indices)]

    @property
    def axis(self) -> Axis:
        """The axis."""
        return axes_of(self.indices[0].type)[0]

    @property
    def extents(self) -> list[int]:
        """The number of indices along each side."""
        return [side.value.data for side in self.sides]

    def set_physical(self, extents: Sequence[int]) -> None:
        """Gives the sides other extents, and no bounds; the results' types are for the caller."""
        self.sides = ArrayAttr(IntegerAttr(extent, i64) for extent in extents)
        origins = list(self.origins)
        self.operands = origins
        self.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, [len(origins), 0])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_identifier("an axis")
        origins: list[SSAValue] = []
        bounds: list[SSAValue] = []

        def side() -> tuple[str, int]:
            label = parser.parse_identifier("a label")
            parser.parse_punctuation(":")
            extent = parser.parse_integer(allow_boolean=False, allow_negative=False)
            parser.parse_keyword("from")
            origins.append(parse_value(parser))
            if parser.parse_optional_keyword("to"):
                bounds.append(parse_value(parser))
            return label, extent

        sides = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, side)
        layout = parser.parse_attribute() if parser.parse_optional_keyword("in") else None
        op = cls(name, sides, origins, bounds, layout)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.axis.name} (")
        for number, (label, extent) in enumerate(zip(names(self.labels), self.extents)):
            printer.print_string(f"{', ' if number else ''}{label}: {extent} from ")
            printer.print_ssa_value(self.origins[number])
            if self.bounds:
                printer.print_string(" to ")
                printer.print_ssa_value(self.bounds[number])
        printer.print_string(")")
        layout = layout_of(self.indices[0].type)
        if layout is not None:
            printer.print_string(" in ")
            printer.print_attribute(layout)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        count = len(self.origins)
        if count < 2:
            raise VerifyException("a joined range has two sides or more")
        if {len(self.labels), len(self.sides), len(self.indices)} != {count}:
            raise VerifyException("each side of a joined range has a label, an extent, an origin")
        if self.bounds and len(self.bounds) != count:
            raise VerifyException("either all sides of a joined range have a bound, or none has")
        if any(extent < 1 for extent in self.extents):
            raise VerifyException("the extent of a side must be positive")
        axis, layout = Axis(self.axis.name, prod(self.extents)), layout_of(self.indices[0].type)
        expected = tile_type(IndexType(), [axis], layout)
        for index in self.indices:
            check_tile(index.type)
            if index.type != expected:
                raise VerifyException(
                    "a joined range gives tiles of indices along one axis, which has as many "
                    "elements as its box"
                )


def _usual_label(axis: Axis) -> str:
    """Returns the label that an axis walks, where none is written."""
    return axis.name if isinstance(axis.extent, int) else axis.extent


@irdl_op_definition
class MaskOp(IRDLOperation):
    """Computes which indices along an axis are below a bound.

    `divisor` says that all are if it divides the bound; `whole` that all are if the bound is the
    padded extent of the axis; `within` that all that matter are if the bound is no less than a
    value, the end of what the indices walk. Then the mask costs nothing once sizes are known.
    """

    name = "tile.mask"
    GRAMMAR: ClassVar = (
        "value `below` value (`within` value)? (`divisor` integer)? (`whole`)? attr-dict"
    )

    index = operand_def(TileType)
    """The indices, a tile of one axis."""
    bound = operand_def(IndexType())
    """The bound."""
    end = opt_operand_def(IndexType())
    """A value that makes the mask true throughout where the bound is at least as large."""
    divisor = opt_prop_def(IntegerAttr)
    """A number that makes the mask true throughout where it divides the bound."""
    whole = opt_prop_def(UnitAttr)
    """True if the mask is true throughout where the axis is exactly as long as the bound."""
    result = result_def(TileType)
    """The mask, a tile of the same axis."""

    traits = traits_def(Pure())

    def __init__(
        self,
        index: SSAValue,
        bound: SSAValue,
        divisor: int | None = None,
        whole: bool = False,
        end: SSAValue | None = None,
    ) -> None:
        super().__init__(
            operands=[index, bound, end],
            properties={
                "divisor": None if divisor is None else IntegerAttr(divisor, i64),
                "whole": UnitAttr() if whole else None,
            },
            result_types=[tile_type(i1, axes_of(index.type), layout_of(index.type))],
        )

    def shortcut(self, dynamic: bool) -> Literal["divisor", "whole", "end"] | None:
        """Returns which of its promises the emitted text asks for, to leave the mask away.

        Args:
            dynamic: whether the kernel is compiled once for all sizes, and asks for none.
        """
        if dynamic:
            return None
        if self.divisor is not None:
            return "divisor"
        if self.whole is not None:
            return "whole"
        return None if self.end is None else "end"

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        index = parse_value(parser)
        parser.parse_keyword("below")
        bound = parse_value(parser)
        end = parse_value(parser) if parser.parse_optional_keyword("within") else None
        divisor = parser.parse_integer() if parser.parse_optional_keyword("divisor") else None
        whole = parser.parse_optional_keyword("whole") is not None
        op = cls(index, bound, divisor, whole, end)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.index)
        printer.print_string(" below ")
        printer.print_ssa_value(self.bound)
        if self.end is not None:
            printer.print_string(" within ")
            printer.print_ssa_value(self.end)
        if self.divisor is not None:
            printer.print_string(f" divisor {self.divisor.value.data}")
        if self.whole is not None:
            printer.print_string(" whole")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        check_tile(self.index.type)
        axes = axes_of(self.index.type)
        if len(axes) != 1 or not isinstance(element_of(self.index.type), IndexType):
            raise VerifyException("a mask is taken of the indices along one axis")
        if self.result.type != tile_type(i1, axes, layout_of(self.index.type)):
            raise VerifyException("a mask is a tile of 'i1' along the axis of its indices")
        if self.divisor is not None and self.divisor.value.data < 1:
            raise VerifyException("the divisor of a mask must be positive")
        if self.whole is not None and not axes[0].is_symbolic:
            raise VerifyException("only an axis of a whole label can be exactly as long as it")
